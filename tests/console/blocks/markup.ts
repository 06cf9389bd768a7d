// Markup that the console's editor writes: each kind of node with its variants, and old markup that somebody has changed.
import type { Node } from "prosemirror-model";
import * as change from "../../../console/src/editor/change";
import { type Colour, coloursOf, withColour } from "../../../console/src/editor/colours";
import { asBlocks } from "../../../console/src/editor/convert";
import type { Part } from "../../../console/src/editor/kind";
import { Content } from "../../../console/src/editor/read";
import * as blocks from "../../../console/tests/editor/blocks";

interface Sample {
  name: string;
  text: string;
  /** Written anew: the other editor is to write the same. */
  fresh: boolean;
}

const { schema } = blocks;
const samples: Sample[] = [];
const empty = Content.read("");

function add(name: string, ...nodes: (Node | null)[]): void {
  const found = nodes.filter((node) => node !== null);
  if (found.length !== nodes.length) throw new Error(`${name} was not made`);
  const doc = schema.node("doc", null, found);
  doc.check();
  samples.push({ name, text: empty.write(doc), fresh: true });
}

const text = (content: string, ...marks: string[]) => schema.text(content, marks.map((name) => schema.mark(name)));
const rich = [
  text("Plain "),
  text("bold", "strong"),
  text(" and "),
  text("both", "strong", "em"),
  schema.text(" link", [schema.mark("link", { href: "https://example.org/?a=1&b=2" })]),
  schema.node("hard_break"),
  text("x < y & z > 0 \u00a0 \"q\" ", "code_text"),
  text("sub", "sub"),
  text("gone", "strike"),
];
const p = (...content: Node[]) => schema.node("paragraph", null, content);
const look = (node: Node, attrs: Record<string, unknown>) => node.type.create(attrs, node.content);
const picture = { id: 7, url: "https://example.org/a.jpg", alt: "A \"quoted\" & <b>", caption: "<p>A caption</p>" };

add("paragraph", p(...rich));
add("empty paragraph", p(), p(text("a")));
for (const align of ["left", "center", "right"] as const) {
  add(`paragraph ${align}`, look(p(...rich), change.aligned(p(), align, false)));
  for (const level of [1, 2, 3, 4, 5, 6]) {
    const heading = schema.node("heading", { level }, rich);
    add(`heading ${level} ${align}`, heading, look(heading, change.aligned(heading, align, false)));
  }
  const verse = schema.node("verse", null, [text("a\n  b")]);
  add(`verse ${align}`, verse, look(verse, change.aligned(verse, align, false)));
}

const item = (...content: Node[]) => schema.node("list_item", null, content);
const list = (ordered: boolean, ...items: Node[]) => schema.node("list", { ordered }, items);
add("list", list(false, item(p(...rich)), item(p(text("b")), list(true, item(p(text("c")), list(false, item(p(text("d")))))))));
const numbers = list(true, item(p(text("a"))), item(p(text("b"))));
add("ordered list", numbers, look(numbers, blocks.withNumbers(numbers, { start: 4 })), look(numbers, blocks.withNumbers(numbers, { reversed: true })));

const quote = schema.node("quote", null, [p(...rich), list(false, item(p(text("in")))), schema.node("cite", null, [text("Somebody", "em")])]);
add("quote", quote, schema.node("quote", null, [p(text("a"))]), look(quote, change.aligned(quote, "right", false)));
add("pullquote", schema.node("pullquote", null, [p(...rich), schema.node("cite", null, [text("Somebody")])]), schema.node("pullquote", null, [p(text("a"))]));
add("code", schema.node("code", null, [text("if (a < b && c > d) {\n  [gallery]\n}\n<!-- wp:more -->")]));
add("preformatted", schema.node("preformatted", null, [text("a\n  b"), text("c", "strong")]));

const table = (): Node => {
  const cells = (kind: string) => [schema.node(kind, null, rich), schema.node(kind, null, [text("b")])];
  const wide = schema.node("table_row", null, [schema.node("table_cell", { colspan: 2 }, [text("c")])]);
  const centred = schema.node("table_cell", null, [text("d")]);
  const aligned = look(centred, change.aligned(centred, "center", false));
  return schema.node("table_figure", null, [
    schema.node("table", null, [
      schema.node("table_row", { section: "head" }, cells("table_header")),
      schema.node("table_row", null, cells("table_cell")),
      schema.node("table_row", null, [aligned, centred]),
      wide,
      schema.node("table_row", { section: "foot" }, cells("table_cell")),
    ]),
    schema.node("caption", null, [text("Caption")]),
  ]);
};
add("table", table(), blocks.makeTable(2, 3, true), blocks.makeTable(2, 2, false), look(table(), change.aligned(table(), "wide", false)));

const image = blocks.makeImage(picture) as Node;
add("image", image, blocks.makeImage({ url: "https://example.org/b.jpg" }), blocks.makeImage({ ...picture, sizes: { large: { url: "https://example.org/a-1024x768.jpg" } } }));
for (const align of change.alignments(image)) add(`image ${align}`, look(image, change.aligned(image, align, false)));
add("image look", look(image, blocks.withImageLink(image, "https://example.org/")), look(image, blocks.withWidth(image, 320)), look(image, blocks.withAlt(image, "x")));
const sized = look(image, blocks.withWidth(image, 320));
add("image look taken back", look(sized, blocks.withWidth(sized, null)), look(image, blocks.withImageLink(look(image, blocks.withImageLink(image, "https://a.example/")), null)));
const gallery = blocks.makeGallery([picture, { id: 8, url: "https://example.org/c.jpg" }]) as Node;
add("gallery", gallery, schema.node("gallery", gallery.attrs, [...gallery.content.content, schema.node("caption", null, [text("All")])]));
for (const url of ["https://www.youtube.com/watch?v=x&t=1", "https://vimeo.com/1", "https://open.spotify.com/track/1", "https://example.org/page"]) {
  const embed = blocks.makeEmbed(url) as Node;
  add(`embed ${url}`, embed, look(embed, change.aligned(embed, "center", false)), embed.type.create(embed.attrs, [text("Caption")]));
}
for (const mime of ["audio/mpeg", "video/mp4", "image/png", "application/pdf"]) {
  add(`file ${mime}`, blocks.makeFile({ id: 9, url: "https://example.org/f?a=1&b=2", name: "A <file>", mime }));
}
add("player with caption", schema.node("player", { kind: "video", json: '{"id":1}', media: '<video controls src="https://example.org/v.mp4"></video>' }, [text("Caption")]));

const filled = schema.node("columns", null, [schema.node("column", null, [p(...rich), image]), schema.node("column", null, [p(text("b"))])]);
add("columns", blocks.makeColumns(3), filled, look(filled, change.aligned(filled, "wide", false)));
const group = schema.node("group", { json: '{"layout":{"type":"constrained"}}' }, [p(text("a")), filled]);
add("group", blocks.makeNew("group"), group, look(group, change.aligned(group, "full", false)));
const button = schema.node("button", null, [text("Go")]);
add("buttons", blocks.makeNew("buttons"), schema.node("buttons", null, [button, look(button, blocks.withButtonLink(button, "https://example.org/?a=1&b=2"))]));
for (const kind of ["separator", "spacer", "more", "nextpage", "list", "ordered_list", "quote", "pullquote", "code", "verse", "preformatted", "heading"]) {
  add(`new ${kind}`, blocks.makeNew(kind));
}
add("reusable", blocks.makeReusable(12));
add("raw", blocks.makeRaw("core/html", "<div onclick=\"x()\">a</div>"), blocks.makeRaw("core/shortcode", "[gallery ids=\"1,2\"]"));

// Frames: covers, pictures beside text, details.
const kept = (node: Node, attrs: Record<string, unknown> | null) => look(node, attrs ?? node.attrs);
const large = { ...picture, sizes: { large: { url: "https://example.org/a-1024x768.jpg" } } };
const over = { ...picture, alt: "" };
for (const [name, made] of [["cover", blocks.makeCover], ["media_text", blocks.makeMediaText]] as const) {
  const one = made(over);
  add(name, one, made(null), made(large), made({ url: "https://example.org/b.jpg" }), kept(made(null), blocks.withPicture(made(null), large)), kept(made(large), blocks.withPicture(made(large), over)));
  add(`${name} text`, look(one, blocks.withPictureAlt(one, "A \"q\" & b")), one.type.create(one.attrs, [p(...rich), list(false, item(p(text("a"))))]));
  for (const align of change.alignments(one)) add(`${name} ${align}`, look(one, change.aligned(one, align, false)));
}
const cover = blocks.makeCover(over);
for (const ratio of [0, 20, 34, 50, 100]) add(`cover under ${ratio}`, look(cover, blocks.withDim(cover, ratio)));
const beside = blocks.makeMediaText(over);
const right = look(beside, blocks.withSide(beside, true));
add("media_text sides", right, look(right, blocks.withSide(right, false)), look(right, blocks.withMediaWidth(right, 30)), look(beside, blocks.withMediaWidth(beside, 66)));
const narrow = look(beside, blocks.withMediaWidth(beside, 30));
add("media_text turned", look(narrow, blocks.withSide(narrow, true)), look(narrow, blocks.withMediaWidth(narrow, 50)));
const details = schema.node("details", null, [schema.node("summary", null, rich), p(...rich), list(false, item(p(text("a"))))]);
const unfolded = look(details, blocks.withUnfolded(details, true));
add("details", blocks.makeNew("details"), details, unfolded, look(unfolded, blocks.withUnfolded(unfolded, false)), look(details, change.aligned(details, "wide", false)));
const columns = (width: number | null) => schema.node("columns", null, filled.content.content.map((column) => look(column, blocks.withColumnWidth(column, width))));
add("columns of a width", columns(33.33), columns(50), columns(null));

// Colours of every kind that has some, named and not, put on and taken off.
const COLOURS: Colour[] = [{ slug: "vivid-red" }, { slug: "color1" }, { value: "#112233" }];
const coloured = (node: Node, part: Part, colour: Colour | null) => look(node, withColour(node, part, colour));
const kinds: Node[] = [
  p(...rich), schema.node("heading", { level: 3 }, rich), list(false, item(p(text("a")))), quote, schema.node("pullquote", null, [p(text("a"))]), schema.node("code", null, [text("a")]),
  schema.node("preformatted", null, [text("a")]), schema.node("verse", null, [text("a")]), filled, group, beside, details, button, cover,
];
for (const kind of kinds) {
  for (const part of coloursOf(kind, false)) {
    for (const colour of COLOURS) {
      const name = `${kind.type.name} ${part} ${JSON.stringify(colour)}`;
      const one = coloured(kind, part, colour);
      const within = (node: Node) => (node.type.name === "button" ? schema.node("buttons", null, [node]) : node);
      add(name, within(one), within(coloured(coloured(one, part, COLOURS[0] as Colour), part, colour)));
      // What is said of the overlay stays said.
      if (part === "overlay") continue;
      add(`${name} taken back`, within(coloured(one, part, null)), within(coloured(coloured(one, "text", { value: "#ffeedd" }), "background", { slug: "black" })));
    }
  }
}
const wide = filled.child(0);
add("column with a colour and a width", schema.node("columns", null, [look(coloured(wide, "background", { value: "#abcdef" }), blocks.withColumnWidth(coloured(wide, "background", { value: "#abcdef" }), 25)), wide]));

/** Markup of older editors, after a word was typed into each of its texts. */
const OLD = [
  "<!-- wp:heading {\"level\":3} -->\n<h3>Old</h3>\n<!-- /wp:heading -->",
  "<!-- wp:list -->\n<ul><li>a<ul><li>b</li></ul></li></ul>\n<!-- /wp:list -->",
  "<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><p>a</p><cite>c</cite></blockquote>\n<!-- /wp:quote -->",
  "<!-- wp:image {\"id\":9,\"align\":\"center\"} -->\n<div class=\"wp-block-image\"><figure class=\"aligncenter\"><img src=\"https://example.org/a.jpg\" alt=\"\" class=\"wp-image-9\"/><figcaption>c</figcaption></figure></div>\n<!-- /wp:image -->",
  "<!-- wp:image {\"id\":9,\"align\":\"left\",\"width\":160,\"height\":120} -->\n<div class=\"wp-block-image\"><figure class=\"alignleft is-resized\"><img src=\"https://example.org/a.jpg\" alt=\"\" class=\"wp-image-9\" width=\"160\" height=\"120\"/></figure></div>\n<!-- /wp:image -->",
  "<!-- wp:table -->\n<figure class=\"wp-block-table\"><table class=\"\"><tbody><tr><td>a</td><td></td></tr></tbody></table></figure>\n<!-- /wp:table -->",
  "<!-- wp:button -->\n<div class=\"wp-block-button\"><a class=\"wp-block-button__link\">A button</a></div>\n<!-- /wp:button -->",
  "<!-- wp:paragraph {\"align\":\"center\",\"fontSize\":\"large\",\"textColor\":\"red\"} -->\n<p class=\"has-text-align-center has-red-color has-text-color has-large-font-size\" id=\"x\">a &amp; b</p>\n<!-- /wp:paragraph -->",
  "<!-- wp:cover {\"url\":\"https://example.org/a.jpg\",\"id\":9,\"dimRatio\":30} -->\n<div class=\"wp-block-cover\"><span aria-hidden=\"true\" class=\"wp-block-cover__background has-background-dim-30 has-background-dim\"></span><img class=\"wp-block-cover__image-background wp-image-9\" alt=\"\" src=\"https://example.org/a.jpg\" data-object-fit=\"cover\"/><div class=\"wp-block-cover__inner-container\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph --></div></div>\n<!-- /wp:cover -->",
  "<!-- wp:media-text {\"mediaId\":9,\"mediaType\":\"image\"} -->\n<div class=\"wp-block-media-text alignwide\"><figure class=\"wp-block-media-text__media\"><img src=\"https://example.org/a.jpg\" alt=\"\" class=\"wp-image-9\"/></figure><div class=\"wp-block-media-text__content\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph --></div></div>\n<!-- /wp:media-text -->",
  "<!-- wp:group -->\n<div class=\"wp-block-group\"><div class=\"wp-block-group__inner-container\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph --></div></div>\n<!-- /wp:group -->",
];
for (const old of OLD) {
  const content = Content.read(old);
  const changed = typedIn(content.doc);
  const written = content.write(changed);
  if (written === old || content.doc.firstChild?.type.name === "verbatim") throw new Error(`not changed: ${old}`);
  samples.push({ name: `old: ${old.slice(0, 60)}`, text: written, fresh: false });
}

// Old markup that can be coloured, coloured.
for (const old of OLD) {
  const content = Content.read(old);
  let count = 0;
  const walk = (node: Node): Node => {
    const children = node.isTextblock ? node.content : schemaFragment(node.content.content.map(walk));
    const [part] = node.type.name === "doc" ? [] : coloursOf(node, false);
    count += part === undefined ? 0 : 1;
    return node.isText ? node : node.type.create(part === undefined ? node.attrs : withColour(node, part, { slug: "black" }), children, node.marks);
  };
  const coloured = walk(content.doc);
  if (count > 0) samples.push({ name: `old, coloured: ${old.slice(0, 60)}`, text: content.write(coloured), fresh: false });
}

// Content without delimiters that somebody has converted.
const CLASSIC = [
  "one\nmore &amp; <em>x</em>\n\n<p class=\"lead\" style=\"text-align:center\" id=\"i\">two</p>\n<h3 align=\"right\">H</h3>\n<blockquote cite=\"x\">q\n\nr</blockquote>",
  "<ol start=\"2\">\n\t<li class=\"x\">a\n<ul>\n\t<li>b</li>\n</ul>\n</li>\n</ol>\n<table class=\"t\"><tr class=\"odd\"><th class=\"v\">a</th><td align=\"right\">b</td></tr></table>",
  "<pre>a\n  b</pre>\n<pre><code>c [d]</code></pre>\n<hr class=\"x\" />\n<!--more-->\n<dl><dt>a</dt></dl>\n<img class=\"alignleft\" src=\"https://example.org/a.jpg\" alt=\"\" width=\"1\" />",
];
for (const classic of CLASSIC) {
  const content = Content.read(classic);
  const doc = schema.node("doc", null, asBlocks(content.doc));
  samples.push({ name: `converted: ${classic.slice(0, 40)}`, text: content.write(doc), fresh: false });
}

function typedIn(node: Node): Node {
  if (node.isTextblock) return node.copy(node.content.append(schema.node("paragraph", null, [text(" more")]).content));
  const children: Node[] = [];
  node.forEach((child) => children.push(typedIn(child)));
  return node.copy(schema.node("doc", null, [p()]).content.cut(0, 0).append(schemaFragment(children)));
}

function schemaFragment(children: Node[]) {
  return children.reduce((all, child) => all.addToEnd(child), empty.doc.content.cut(0, 0));
}

console.log(JSON.stringify(samples));
