/**
 * Markup for nodes that have none: what WordPress's own editor writes for the same block.
 */
import type { Node } from "prosemirror-model";
import { delimited, readJson, writeJson } from "./grammar";
import { attribute, escapedText, insideOf, withAttributes } from "./html";
import { type Style, attrsOf } from "./schema";
import type { Place } from "./slices";
import type { Writer } from "./write";

interface Job {
  writer: Writer;
  node: Node;
  place: Place;
  style: Style;
  /** Markup of the inside. */
  inside: string;
}

/** The attributes of the delimiter with some of them set; `undefined` takes one away. What needs no change stays as it is written. */
export function jsonWith(json: string | null, changes: Record<string, unknown>): string | null {
  const now = readJson(json);
  if (now === null) return json;
  let changed = false;
  for (const [name, value] of Object.entries(changes)) {
    if (JSON.stringify(now[name]) === JSON.stringify(value)) continue;
    changed = true;
    if (value === undefined) delete now[name];
    else now[name] = value;
  }
  return changed ? writeJson(now) : json;
}

/** Classes of blocks that have nothing else in their tag. */
const CLASSES: Record<string, string> = {
  heading: "wp-block-heading",
  list: "wp-block-list",
  quote: "wp-block-quote",
  pullquote: "wp-block-pullquote",
  code: "wp-block-code",
  preformatted: "wp-block-preformatted",
  verse: "wp-block-verse",
  table_figure: "wp-block-table",
  image: "wp-block-image",
  gallery: "wp-block-gallery has-nested-images columns-default is-cropped",
  embed: "wp-block-embed",
  columns: "wp-block-columns",
  column: "wp-block-column",
  group: "wp-block-group",
  buttons: "wp-block-buttons",
  button: "wp-block-button",
  cover: "wp-block-cover",
  media_text: "wp-block-media-text is-stacked-on-mobile",
  details: "wp-block-details",
};

/** The inside of the opening tag of a node that has no other. */
export function usualTag(node: Node, classic: boolean): string {
  const { style } = attrsOf(node);
  const name = node.type.name === "player" ? `wp-block-${node.attrs["kind"] as string}` : CLASSES[node.type.name];
  const plain = style === "html" || style === "bare" || (style === null && classic) || (style === "old" && node.type.name === "list");
  return name === undefined || plain ? "" : ` class="${name}"`;
}

function delimiters({ node, style }: Job, name: string, html: string, changes: Record<string, unknown> = {}): string {
  if (style !== "block" && style !== "old") return html;
  return delimited(name, jsonWith(attrsOf(node).json, changes), `\n${html}\n`);
}

function tag({ node, style }: Job, usual: string): string {
  return attrsOf(node).tag ?? (style === "html" || usual === "" ? "" : ` class="${usual}"`);
}

function element(name: string, usual: string, block: string) {
  return (job: Job) => delimiters(job, block, `<${name}${tag(job, usual)}>${job.inside}</${name}>`);
}

function box(block: string, usual: string) {
  return (job: Job) => {
    const el = (job.node.attrs["el"] as string | undefined) ?? "div";
    return delimiters(job, block, `<${el}${attrsOf(job.node).tag ?? ` class="${usual}"`}>${job.inside}</${el}>`);
  };
}

function framed(block: string) {
  return (job: Job) => {
    const { before, inner, after } = job.node.attrs as Record<string, string>;
    const { tag } = attrsOf(job.node);
    return delimiters(job, block, `<div${tag ?? usualTag(job.node, false)}>${before}<div${inner}>${job.inside}</div>${after}</div>`);
  };
}

function object(block: string, usual: string, plain = usual) {
  return (job: Job) => delimiters(job, block, (job.node.attrs["source"] as string | null) ?? (job.style === "html" ? plain : usual));
}

function figcaption({ node, inside }: Job, usual = "wp-element-caption"): string {
  if (node.childCount === 0) return "";
  // Pictures of before WordPress 6.1 have captions without a class, and the editor knows them by that.
  const old = node.type.name === "image" && usual === "wp-element-caption" && isOldImage(node);
  return `<figcaption${(node.attrs["cap"] as string | null) ?? (old ? "" : ` class="${usual}"`)}>${inside}</figcaption>`;
}

function isOldImage(node: Node): boolean {
  return node.attrs["outer"] !== null || attribute(insideOf(node.attrs["img"] as string), "width") !== null;
}

function heading(job: Job): string {
  const level = job.node.attrs["level"] as number;
  const html = `<h${level}${tag(job, "wp-block-heading")}>${job.inside}</h${level}>`;
  return delimiters(job, "core/heading", html, { level: level === 2 ? undefined : level });
}

function paragraph(job: Job): string {
  if (job.place === "part" || job.style === "bare") return job.inside;
  return element("p", "", "core/paragraph")(job);
}

function list(job: Job): string {
  const ordered = job.node.attrs["ordered"] as boolean;
  const name = ordered ? "ol" : "ul";
  const usual = job.style === "block" ? "wp-block-list" : "";
  const inside = job.style === "html" && job.place !== "flow" ? `\n\t${job.inside}\n` : job.inside;
  return delimiters(job, "core/list", `<${name}${tag(job, usual)}>${inside}</${name}>`, { ordered: ordered ? true : undefined });
}

function listItem(job: Job): string {
  const html = `<li${attrsOf(job.node).tag ?? ""}>${job.inside}</li>`;
  return job.place === "inner" ? delimited("core/list-item", attrsOf(job.node).json, `\n${html}\n`) : html;
}

function pullquote(job: Job): string {
  const html = `<figure${tag(job, "wp-block-pullquote")}><blockquote${job.node.attrs["inner"] as string}>${job.inside}</blockquote></figure>`;
  return delimiters(job, "core/pullquote", html);
}

function code(job: Job): string {
  const html = `<pre${tag(job, "wp-block-code")}><code${job.node.attrs["inner"] as string}>${job.inside}</code></pre>`;
  return delimiters(job, "core/code", html);
}

function tableFigure(job: Job): string {
  const captioned = job.node.childCount > 1;
  if (job.style === "html" && !captioned) return job.inside;
  return delimiters(job, "core/table", `<figure${attrsOf(job.node).tag ?? ' class="wp-block-table"'}>${job.inside}</figure>`);
}

function table(job: Job): string {
  const section = (row: Node | null) => SECTIONS[(row?.attrs["section"] as string | undefined) ?? "body"] ?? "tbody";
  const open = attrsOf(job.node).tag ?? (job.writer.classic ? "" : ' class="has-fixed-layout"');
  return `<table${open}><${section(job.node.firstChild)}>${job.inside}</${section(job.node.lastChild)}></table>`;
}

function cell(name: string) {
  return (job: Job) => {
    const span = (key: string) => (job.node.attrs[key] === 1 ? null : String(job.node.attrs[key]));
    const inside = withAttributes(attrsOf(job.node).tag ?? "", { colspan: span("colspan"), rowspan: span("rowspan") });
    return `<${name}${inside}>${job.inside}</${name}>`;
  };
}

function image(job: Job): string {
  const { outer, link, img } = job.node.attrs as Record<string, string | null>;
  const picture = link === null ? img : `${link}${img}</a>`;
  if (job.place === "flow") {
    const cap = figcaption(job, "blocks-gallery-item__caption");
    return `<li class="blocks-gallery-item"><figure${attrsOf(job.node).tag ?? ""}>${picture}${cap}</figure></li>`;
  }
  if (job.style === "html" && job.node.childCount === 0) return picture ?? "";
  const figure = `<figure${attrsOf(job.node).tag ?? ' class="wp-block-image"'}>${picture}${figcaption(job)}</figure>`;
  return delimiters(job, "core/image", outer === null ? figure : `${outer}${figure}</div>`);
}

function gallery(job: Job): string {
  const open = attrsOf(job.node).tag ?? ' class="wp-block-gallery has-nested-images columns-default is-cropped"';
  if (job.style !== "old") return delimiters(job, "core/gallery", `<figure${open}>${job.inside}</figure>`);
  const behind = job.node.attrs["behind"] as string;
  return delimiters(job, "core/gallery", `<figure${open}><ul class="blocks-gallery-grid">${job.inside}</ul>${behind}</figure>`);
}

function caption(job: Job, parent: "gallery" | "table"): string {
  const usual = parent === "gallery" ? "blocks-gallery-caption wp-element-caption" : "wp-element-caption";
  return job.node.childCount === 0 ? "" : `<figcaption${attrsOf(job.node).tag ?? ` class="${usual}"`}>${job.inside}</figcaption>`;
}

function embed(job: Job): string {
  const { name, url } = job.node.attrs as { name: string; url: string };
  const inner = `<div class="wp-block-embed__wrapper">\n${escapedText(url)}\n</div>`;
  return delimiters(job, name, `<figure${tag(job, "wp-block-embed")}>${inner}${figcaption(job)}</figure>`, { url });
}

function player(job: Job): string {
  const { kind, media } = job.node.attrs as { kind: string; media: string };
  return delimiters(job, `core/${kind}`, `<figure${tag(job, `wp-block-${kind}`)}>${media}${figcaption(job)}</figure>`);
}

function button(job: Job): string {
  const link = (job.node.attrs["link"] as string | null) ?? '<a class="wp-block-button__link wp-element-button">';
  const name = /^<([a-z]+)/.exec(link)?.[1] ?? "a";
  return delimiters(job, "core/button", `<div${tag(job, "wp-block-button")}>${link}${job.inside}</${name}></div>`);
}

function verbatim(job: Job): string {
  const { source, name } = job.node.attrs as { source: string; name: string };
  // Blocks have only blocks in them.
  return job.place === "inner" && name === "" ? delimited("core/html", null, `\n${source}\n`) : source;
}

function cite(job: Job): string {
  return job.node.childCount === 0 ? "" : `<cite${attrsOf(job.node).tag ?? ""}>${job.inside}</cite>`;
}

/** Tags of the sections of a table, as the section of a row names them. */
export const SECTIONS: Record<string, string> = { head: "thead", body: "tbody", foot: "tfoot" };

const LINE = '<hr class="wp-block-separator has-alpha-channel-opacity"/>';
const SPACE = '<div style="height:100px" aria-hidden="true" class="wp-block-spacer"></div>';

const KINDS: Record<string, (job: Job) => string> = {
  paragraph,
  heading,
  list,
  list_item: listItem,
  quote: element("blockquote", "wp-block-quote", "core/quote"),
  cite,
  pullquote,
  code,
  preformatted: element("pre", "wp-block-preformatted", "core/preformatted"),
  verse: element("pre", "wp-block-verse", "core/verse"),
  table_figure: tableFigure,
  table,
  table_row: (job) => `<tr${attrsOf(job.node).tag ?? ""}>${job.inside}</tr>`,
  table_cell: cell("td"),
  table_header: cell("th"),
  image,
  gallery,
  caption: (job) => caption(job, job.place === "part" ? "table" : "gallery"),
  embed,
  player,
  columns: box("core/columns", "wp-block-columns"),
  column: box("core/column", "wp-block-column"),
  group: box("core/group", "wp-block-group"),
  cover: framed("core/cover"),
  media_text: framed("core/media-text"),
  details: (job) => delimiters(job, "core/details", `<details${tag(job, "wp-block-details")}>${job.inside}</details>`),
  summary: ({ node, inside }) => `<summary${attrsOf(node).tag ?? ""}>${inside}</summary>`,
  buttons: box("core/buttons", "wp-block-buttons"),
  button,
  separator: object("core/separator", LINE, "<hr />"),
  spacer: object("core/spacer", SPACE),
  more: object("core/more", "<!--more-->"),
  nextpage: object("core/nextpage", "<!--nextpage-->"),
  reusable: ({ node }) => delimited("core/block", attrsOf(node).json, null),
  file: object("core/file", ""),
  raw: (job) => delimiters(job, job.node.attrs["name"] as string, job.node.attrs["source"] as string),
  verbatim,
};

/** The markup of a node that has none. */
export function generate(writer: Writer, node: Node, place: Place): string {
  const kind = KINDS[node.type.name];
  if (kind === undefined) return "";
  return kind({ writer, node, place, style: writer.style(node, place), inside: writer.inside(node, place) });
}
