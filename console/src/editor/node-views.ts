/**
 * How kinds of nodes look that are more than an element: pictures, cards, sources.
 *
 * Every text goes in as text. Nothing of the content is parsed by the page, and nothing is asked from elsewhere but pictures.
 */
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, NodeViewConstructor } from "prosemirror-view";
import { t } from "../i18n";
import { colourOf } from "./colours";
import { readJson } from "./grammar";
import { attribute, insideOf } from "./html";
import { looks, namedColour, shownPicture } from "./looks";
import { attrsOf } from "./schema";
import { dimOf, isRight, mediaWidth, pictureAlt, pictureTag } from "./settings";
import type { ReusablePieces } from "./types";

function element<K extends keyof HTMLElementTagNameMap>(name: K, kind: string, text?: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (kind !== "") made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

function show(dom: HTMLElement, kind: string, node: Node): void {
  dom.dataset["kind"] = kind;
  delete dom.dataset["align"];
  for (const [name, value] of Object.entries(looks(attrsOf(node).tag))) {
    if (name === "data-align") dom.dataset["align"] = value;
  }
}

/** A figure whose inside is its caption. */
abstract class Figure implements NodeView {
  readonly dom: HTMLElement = element("figure", "");
  readonly contentDOM: HTMLElement = element("figcaption", "");
  protected readonly body: HTMLElement = element("div", "editor-figure");
  protected node: Node;

  constructor(node: Node, kind: string) {
    this.node = node;
    this.body.contentEditable = "false";
    this.contentDOM.dataset["placeholder"] = t("editor.caption");
    this.dom.append(this.body, this.contentDOM);
    show(this.dom, kind, node);
  }

  protected abstract draw(): void;

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const same = node.hasMarkup(this.node.type, this.node.attrs);
    this.node = node;
    this.contentDOM.classList.toggle("editor-empty", node.childCount === 0);
    if (!same) {
      show(this.dom, this.dom.dataset["kind"] ?? "", node);
      this.draw();
    }
    return true;
  }

  selectNode(): void {
    this.dom.classList.add("ProseMirror-selectednode");
  }

  deselectNode(): void {
    this.dom.classList.remove("ProseMirror-selectednode");
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

class ImageView extends Figure {
  private readonly image = element("img", "");

  constructor(node: Node) {
    super(node, "image");
    this.body.append(this.image);
    this.image.addEventListener("error", () => this.body.classList.add("editor-missing"));
    this.image.addEventListener("load", () => this.body.classList.remove("editor-missing"));
    this.contentDOM.classList.toggle("editor-empty", node.childCount === 0);
    this.draw();
  }

  protected draw(): void {
    const inside = insideOf(this.node.attrs["img"] as string);
    const alt = attribute(inside, "alt") ?? "";
    const shown = shownPicture(attribute(inside, "src"));
    this.image.src = shown;
    this.body.classList.toggle("editor-missing", shown === "");
    this.image.title = shown === "" ? (attribute(inside, "src") ?? "") : "";
    this.image.alt = alt === "" ? t("editor.image_without_alt") : alt;
    const width = /(?:^|;)\s*width:\s*(\d{1,4})px/.exec(attribute(inside, "style") ?? "")?.[1] ?? attribute(inside, "width");
    this.image.style.width = width !== null && /^\d{1,4}$/.test(width) ? `${width}px` : "";
  }
}

/** A frame with blocks in it: a cover, or media with text beside them. */
class FrameView implements NodeView {
  readonly dom = element("div", "");
  readonly contentDOM = element("div", "editor-inside");
  private readonly body = element("div", "editor-figure");
  private node: Node;

  constructor(node: Node) {
    this.node = node;
    this.body.contentEditable = "false";
    this.draw();
  }

  private draw(): void {
    show(this.dom, this.node.type.name, this.node);
    this.dom.style.cssText = looks(attrsOf(this.node).tag)["style"] ?? "";
    const right = this.node.type.name === "media_text" && isRight(this.node);
    this.dom.replaceChildren(...(right ? [this.contentDOM, this.body] : [this.body, this.contentDOM]));
    const width = mediaWidth(this.node);
    if (this.node.type.name === "media_text") this.dom.style.gridTemplateColumns = width === 50 ? "" : right ? `minmax(0, 1fr) ${width}%` : `${width}% minmax(0, 1fr)`;
    const tag = pictureTag(this.node);
    const inside = insideOf(tag ?? "<img>");
    const shown = shownPicture(attribute(inside, "src"));
    const name = tag === null ? nameOf(this.node) : pictureAlt(this.node);
    if (shown === "") return this.body.replaceChildren(element("span", "editor-object-name", name === "" ? nameOf(this.node) : name));
    const image = element("img", "");
    image.src = shown;
    image.alt = name === "" ? t("editor.image_without_alt") : name;
    this.body.replaceChildren(image, ...this.overlay());
  }

  /** What lies over the picture of a cover. */
  private overlay(): HTMLElement[] {
    const dim = this.node.type.name === "cover" ? dimOf(this.node) : null;
    if (dim === null) return [];
    const colour = colourOf(this.node, "overlay");
    const over = element("div", "editor-overlay");
    over.style.backgroundColor = colour === null ? "" : "slug" in colour ? (namedColour(colour.slug) ?? "") : colour.value;
    if (over.style.backgroundColor === "") over.style.backgroundColor = "black";
    over.style.opacity = String(dim / 100);
    return [over];
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const same = node.hasMarkup(this.node.type, this.node.attrs);
    this.node = node;
    if (!same) this.draw();
    return true;
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

/** A card for what is shown elsewhere. */
class CardView extends Figure {
  constructor(node: Node) {
    super(node, node.type.name);
    this.body.classList.add("editor-card");
    this.contentDOM.classList.toggle("editor-empty", node.childCount === 0);
    this.draw();
  }

  protected draw(): void {
    const { name, detail } = cardTexts(this.node);
    this.body.replaceChildren(element("strong", "", name), element("span", "editor-card-detail", detail));
  }
}

function cardTexts(node: Node): { name: string; detail: string } {
  if (node.type.name === "embed") {
    const provider = readJson(attrsOf(node).json)?.["providerNameSlug"];
    return { name: typeof provider === "string" && provider !== "" ? t("editor.embed_of", { provider }) : t("editor.embed"), detail: node.attrs["url"] as string };
  }
  const src = attribute(insideOf(/^\s*<[^>]*>/.exec(node.attrs["media"] as string)?.[0]?.trim() ?? ""), "src") ?? "";
  return { name: node.attrs["kind"] === "video" ? t("editor.video") : t("editor.audio"), detail: src };
}

/** An object that cannot be typed in, with a name and perhaps its source. */
class ObjectView implements NodeView {
  readonly dom: HTMLElement;
  private node: Node;
  private readonly reusable: ReusablePieces | undefined;
  private readonly gone = new AbortController();

  constructor(node: Node, view: EditorView, getPos: () => number | undefined, reusable: ReusablePieces | undefined, edit: (pos: number) => void) {
    this.node = node;
    this.reusable = reusable;
    this.dom = element("div", "editor-object");
    show(this.dom, node.type.name, node);
    this.draw();
    if (node.type.name !== "raw") return;
    this.dom.addEventListener("dblclick", () => {
      const pos = getPos();
      if (pos !== undefined && view.editable) edit(pos);
    });
  }

  private draw(): void {
    const { name, attrs } = this.node.type.name === "verbatim" || this.node.type.name === "raw" ? { name: nameOf(this.node), attrs: this.node.attrs } : { name: nameOf(this.node), attrs: {} as Record<string, unknown> };
    if (this.node.type.name === "separator") return this.dom.replaceChildren(element("hr", ""));
    const label = element("span", "editor-object-name", name);
    const source = attrs["source"];
    if (typeof source !== "string" || source.trim() === "") return this.dom.replaceChildren(label);
    this.dom.replaceChildren(label, element("pre", "editor-object-source", source.length > 4000 ? `${source.slice(0, 4000)}…` : source));
    if (this.node.type.name === "raw") this.dom.title = t("editor.edit_source_hint");
  }

  private async load(label: HTMLElement): Promise<void> {
    const ref = readJson(attrsOf(this.node).json)?.["ref"];
    if (this.reusable === undefined || typeof ref !== "number") return;
    try {
      const piece = await this.reusable.load(ref, this.gone.signal);
      label.textContent = piece === null ? t("editor.reusable_gone") : t("editor.reusable_named", { title: piece.title });
    } catch {
      // The name is no more than a help.
    }
  }

  named(): this {
    const label = this.dom.querySelector<HTMLElement>(".editor-object-name");
    if (label !== null && this.node.type.name === "reusable") void this.load(label);
    return this;
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const same = node.hasMarkup(this.node.type, this.node.attrs);
    this.node = node;
    if (!same) {
      this.draw();
      this.named();
    }
    return true;
  }

  destroy(): void {
    this.gone.abort();
  }

  stopEvent(): boolean {
    return false;
  }

  ignoreMutation(): boolean {
    return true;
  }
}

/** What a block is called for people. */
export function nameOf(node: Node): string {
  const name = (node.attrs["name"] as string | undefined) ?? "";
  switch (node.type.name) {
    case "verbatim":
      return name === "" ? t("editor.kept_markup") : t("editor.kept_block", { name: name.replace(/^core\//, "") });
    case "raw":
      return name === "core/shortcode" ? t("editor.shortcode") : t("editor.html");
    case "file": {
      const link = /<a\s[^>]*>([^<]*)</.exec((node.attrs["source"] as string | null) ?? "")?.[1] ?? "";
      return link === "" ? t("editor.file") : t("editor.file_named", { name: link });
    }
    case "player":
      return node.attrs["kind"] === "video" ? t("editor.video") : t("editor.audio");
    case "heading":
      return t("editor.heading", { level: node.attrs["level"] as number });
    case "list":
      return node.attrs["ordered"] === true ? t("editor.ordered_list") : t("editor.list");
    default:
      return simpleName(node.type.name);
  }
}

function simpleName(kind: string): string {
  switch (kind) {
    case "paragraph":
      return t("editor.paragraph");
    case "list_item":
      return t("editor.list_item");
    case "quote":
      return t("editor.quote");
    case "pullquote":
      return t("editor.pullquote");
    case "code":
      return t("editor.code_block");
    case "preformatted":
      return t("editor.preformatted");
    case "verse":
      return t("editor.verse");
    case "table_figure":
    case "table":
      return t("editor.table");
    case "image":
      return t("editor.image");
    case "gallery":
      return t("editor.gallery");
    case "embed":
      return t("editor.embed");
    case "columns":
      return t("editor.columns");
    case "column":
      return t("editor.column");
    case "group":
      return t("editor.group");
    case "cover":
      return t("editor.cover");
    case "media_text":
      return t("editor.media_text");
    case "details":
      return t("editor.details");
    case "summary":
      return t("editor.summary");
    case "buttons":
      return t("editor.button_row");
    case "button":
      return t("editor.button");
    case "separator":
      return t("editor.separator");
    case "spacer":
      return t("editor.spacer");
    case "more":
      return t("editor.more");
    case "nextpage":
      return t("editor.nextpage");
    default:
      return kind === "reusable" ? t("editor.reusable") : kind;
  }
}

/** Node views by kind. `edit` opens the source of the node at a place. */
export function nodeViews(reusable: () => ReusablePieces | undefined, edit: (pos: number) => void): Record<string, NodeViewConstructor> {
  const object: NodeViewConstructor = (node, view, getPos) => new ObjectView(node, view, getPos, reusable(), edit).named();
  const card: NodeViewConstructor = (node) => new CardView(node);
  return {
    image: (node) => new ImageView(node),
    cover: (node) => new FrameView(node),
    media_text: (node) => new FrameView(node),
    embed: card,
    player: card,
    separator: object,
    spacer: object,
    more: object,
    nextpage: object,
    reusable: object,
    file: object,
    raw: object,
    verbatim: object,
  };
}
