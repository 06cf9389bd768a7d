/**
 * Text to nodes.
 *
 * Content is cut into blocks (`grammar.ts`), markup outside blocks at blank lines and elements (`flow.ts`). What is known and can be
 * written back byte for byte becomes a node that can be edited; everything else becomes one object with its source.
 */
import type { Node } from "prosemirror-model";
import { blockReaders, schema } from "./blocks";
import { readFlow } from "./flow";
import { type Block, type Piece, hasBlocks, parse, readJson, textOf } from "./grammar";
import { type Place, Slices } from "./slices";
import { Writer } from "./write";

/** A node and the text between it and the one before, or the beginning. */
export interface Found {
  before: string;
  node: Node;
}

/** Several nodes and the text behind the last. */
export interface Series {
  found: Found[];
  rest: string;
}

export interface Parts {
  head: string;
  inside: string;
  tail: string;
  place: Place;
}

const MAX_DEPTH = 40;

export class Reader {
  readonly slices: Slices;
  readonly classic: boolean;
  private readonly writer: Writer;
  private depth = 0;

  constructor(slices: Slices, classic: boolean) {
    this.slices = slices;
    this.classic = classic;
    this.writer = new Writer(this.slices, classic);
  }

  /** A node with a slice of its own; null when its inside would be written in another way than it was read. */
  make(parts: Parts, build: (slice: number) => Node): Node | null {
    const node = this.slices.take(parts, build);
    return this.writer.inside(node, parts.place) === parts.inside ? node : null;
  }

  /** A node without an inside that can be typed in. */
  object(text: string, place: Place, build: (slice: number) => Node): Node {
    return this.slices.take({ head: text, inside: "", tail: "", place }, build);
  }

  verbatim(source: string, name: string, place: Place, closers = ""): Node {
    return this.object(source, place, (slice) => schema.node("verbatim", { slice, name, source, closers }));
  }

  /** Tries to read a node; what it took up is dropped when it cannot. */
  attempt(read: () => Node | null): Node | null {
    const length = this.slices.length;
    const node = read();
    if (node === null) this.slices.cut(length);
    return node;
  }

  /** Reads one level deeper; null beyond a depth that no ordinary text has: nodes are walked recursively. */
  deeper<T>(read: () => T): T | null {
    if (this.depth >= MAX_DEPTH) return null;
    this.depth++;
    try {
      return read();
    } finally {
      this.depth--;
    }
  }

  /** The children of a parent, joined to what they were neighbours of; with a paragraph where there are none. */
  children(found: Found[]): Node[] {
    found.forEach(({ before, node }, index) => {
      const last = found[index - 1];
      if (last !== undefined) this.slices.follows(last.node, node, before);
    });
    return found.map(({ node }) => node);
  }

  block(block: Block, place: Place): Node {
    const closers = missing(block);
    const read = closers === "" ? this.attempt(() => this.deeper(() => this.known(block, place))) : null;
    return read ?? this.verbatim(textOf(block), block.name, place, closers);
  }

  /** The node of a block, or null when it cannot be edited. */
  private known(block: Block, place: Place): Node | null {
    const read = blockReaders.get(block.name) ?? blockReaders.get(block.name.replace(/\/.*/, "/*"));
    return read === undefined || readJson(block.json) === null ? null : read(this, block, place);
  }

  /** Markup without delimiters. */
  flow(html: string, place: Place): Series {
    return readFlow(this, html, place);
  }

  /** Blocks and markup between them. */
  pieces(pieces: Piece[], place: Place): Series {
    const found: Found[] = [];
    let before = "";
    for (const piece of pieces) {
      if (typeof piece !== "string") {
        found.push({ before, node: this.block(piece, place) });
        before = "";
        continue;
      }
      const series = readFlow(this, piece, place);
      series.found.forEach((one, index) => found.push(index === 0 ? { ...one, before: before + one.before } : one));
      before = series.found.length === 0 ? before + series.rest : series.rest;
    }
    return { found, rest: before };
  }
}

/** The delimiters that would end what is open at the end of a block; empty when nothing is. */
function missing(block: Block): string {
  if (block.single) return "";
  const last = block.inside[block.inside.length - 1];
  const within = last === undefined || typeof last === "string" ? "" : missing(last);
  if (block.close !== null) return "";
  const short = block.name.startsWith("core/") ? block.name.slice(5) : block.name;
  return `${within}<!-- /wp:${short} -->`;
}

/**
 * The documents of one record, with the slices that they were read from.
 *
 * Slices are only ever added, so that a document from before, which undo brings back, can be written, too.
 */
export class Content {
  readonly doc: Node;
  private readonly slices = new Slices();
  private readonly texts = new WeakMap<Node, string>();
  private readonly writers = { classic: new Writer(this.slices, true), other: new Writer(this.slices, false) };

  private constructor(text: string) {
    this.doc = this.another(text);
  }

  static read(text: string): Content {
    return new Content(text);
  }

  /** The document of another text, such as one that was changed as source. */
  another(text: string): Node {
    const reader = new Reader(this.slices, text.trim() !== "" && !hasBlocks(text));
    const { found, rest } = reader.pieces(parse(text), "top");
    const children = reader.children(found);
    const filled = children.length === 0 ? [schema.node("paragraph")] : children;
    const doc = schema.node("doc", { classic: reader.classic, lead: found[0]?.before ?? "", trail: rest }, filled);
    this.texts.set(doc, text);
    return doc;
  }

  /** The nodes of a text that is to become a part of a document. */
  nodes(text: string, place: Place, classic: boolean): Node[] {
    const reader = new Reader(this.slices, classic);
    return reader.children(reader.pieces(parse(text), place).found);
  }

  /** The text of a document. A document that was not changed gives the text that it was read from. */
  write(doc: Node): string {
    const known = this.texts.get(doc);
    if (known !== undefined) return known;
    const inside = this.writer(doc).document(doc);
    const text = inside === "" ? "" : `${doc.attrs["lead"] as string}${inside}${doc.attrs["trail"] as string}`;
    this.texts.set(doc, text);
    return text;
  }

  /** The text of one block of a document. */
  writeBlock(doc: Node, node: Node, place: Place = "top"): string {
    return this.writer(doc).node(node, place);
  }

  /** How a block in a document is placed: its text depends on it. */
  placeOf(doc: Node, pos: number): Place {
    const $pos = doc.resolve(pos);
    let place: Place = "top";
    for (let depth = 1; depth <= $pos.depth; depth++) place = this.writer(doc).placeIn($pos.node(depth), place);
    return place;
  }

  private writer(doc: Node): Writer {
    return this.writers[doc.attrs["classic"] === true ? "classic" : "other"];
  }
}
