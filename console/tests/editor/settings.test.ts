// @vitest-environment node
import type { Node } from "prosemirror-model";
import { describe, expect, it } from "vitest";
import { aligned } from "../../src/editor/change";
import { type Colour, colourOf, coloursOf, withColour } from "../../src/editor/colours";
import type { Part } from "../../src/editor/kind";
import { Content } from "../../src/editor/read";
import { columnWidth, dimOf, isRight, makeCover, makeMediaText, pictureAlt, schema, takesPicture, withColumnWidth, withDim, withMediaWidth, withPicture, withPictureAlt, withSide, withUnfolded } from "./blocks";

/** The first node of a kind in a text, changed, and the text that comes of it. */
function changed(text: string, kind: string, change: (node: Node) => Record<string, unknown> | null): string {
  const content = Content.read(text);
  const walk = (node: Node): Node => {
    if (node.type.name === kind) return node.type.create({ ...node.attrs, ...change(node) }, node.content, node.marks);
    const children: Node[] = [];
    node.forEach((child) => children.push(walk(child)));
    return node.isText ? node : node.type.create(node.attrs, children, node.marks);
  };
  return content.write(walk(content.doc));
}

function nodeOf(text: string, kind: string): Node {
  let found: Node | null = null;
  Content.read(text).doc.descendants((node) => {
    if (node.type.name === kind) found ??= node;
    return true;
  });
  if (found === null) throw new Error(`no ${kind} in ${text}`);
  return found;
}

const p = "<!-- wp:paragraph -->\n<p>x</p>\n<!-- /wp:paragraph -->";
const COVER = `<!-- wp:cover {"url":"a.jpg","id":7,"dimRatio":50} -->\n<div class="wp-block-cover"><img class="wp-block-cover__image-background wp-image-7" alt="A" src="a.jpg" data-object-fit="cover"/><span aria-hidden="true" class="wp-block-cover__background has-background-dim"></span><div class="wp-block-cover__inner-container">${p}</div></div>\n<!-- /wp:cover -->`;
const MEDIA = `<!-- wp:media-text {"mediaId":7,"mediaType":"image","mediaWidth":30} -->\n<div class="wp-block-media-text is-stacked-on-mobile" style="grid-template-columns:30% auto"><figure class="wp-block-media-text__media"><img src="a.jpg" alt="A" class="wp-image-7 size-full"/></figure><div class="wp-block-media-text__content">${p}</div></div>\n<!-- /wp:media-text -->`;
const DETAILS = `<!-- wp:details -->\n<details class="wp-block-details"><summary>S</summary>${p}</details>\n<!-- /wp:details -->`;
const COLUMNS = `<!-- wp:columns -->\n<div class="wp-block-columns"><!-- wp:column {"width":"66.66%"} -->\n<div class="wp-block-column" style="flex-basis:66.66%">${p}</div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->`;

describe("blocks in frames", () => {
  it.each([["cover", COVER], ["media_text", MEDIA], ["details", DETAILS]])("can be edited, and keep what is around the text: %s", (kind, text) => {
    expect(nodeOf(text, kind).type.name).toBe(kind);
    const written = changed(text, "paragraph", () => ({}));
    expect(written).toBe(text);
    const typed = Content.read(text.replace("<p>x</p>", "<p>x more</p>"));
    expect(typed.write(typed.doc)).toBe(text.replace("x</p>", "x more</p>"));
  });

  it.each([
    ["without the element around the inside", COVER.replace("wp-block-cover__inner-container", "other")],
    ["with an element that does not end", MEDIA.replace("</figure>", "")],
    ["with text beside it", COVER.replace(`${p}</div>`, `${p}</div>more</p>`)],
    ["without a line that is always shown", DETAILS.replace("<summary>S</summary>", "")],
  ])("stay as they are %s", (_, text) => {
    const content = Content.read(text);
    expect(content.doc.firstChild?.type.name).toBe("verbatim");
    expect(content.write(content.doc.copy(content.doc.content))).toBe(text);
  });

  it("get another picture, with what is said of the old one", () => {
    const picture = { id: 9, url: "https://e.org/b.jpg", alt: "B \"q\"", sizes: { large: { url: "https://e.org/b-1024.jpg" } } };
    const cover = changed(COVER, "cover", (node) => withPicture(node, picture));
    expect(cover).toContain('{"url":"https://e.org/b-1024.jpg","id":9,"dimRatio":50,"alt":"B \\u0022q\\u0022","sizeSlug":"large"}');
    expect(cover).toContain('<img class="wp-block-cover__image-background wp-image-9 size-large" alt="B &quot;q&quot;" src="https://e.org/b-1024.jpg" data-object-fit="cover"/><span');
    expect(changed(MEDIA, "media_text", (node) => withPicture(node, { id: 9, url: "/b.jpg" }))).toContain('<figure class="wp-block-media-text__media"><img src="/b.jpg" alt="" class="wp-image-9 size-full"/></figure>');
    expect(withPicture(nodeOf(COVER, "cover"), { url: "javascript:alert(1)" })).toBeNull();
  });

  it("keep a film, a link and a picture that stands still", () => {
    expect(takesPicture(nodeOf(MEDIA.replace(/<img[^>]*>/, '<video controls src="v.mp4"></video>'), "media_text"))).toBe(false);
    expect(takesPicture(nodeOf(COVER.replace(/<img[^>]*>/, '<div class="wp-block-cover__image-background has-parallax" style="background-image:url(a.jpg)"></div>'), "cover"))).toBe(false);
    expect(takesPicture(makeCover(null))).toBe(true);
    expect(takesPicture(makeMediaText(null))).toBe(true);
  });

  it("say what their picture shows, in the delimiter, too, where it is there", () => {
    const cover = changed(COVER, "cover", (node) => withPictureAlt(node, "C"));
    expect([cover.includes('"alt":"C"'), cover.includes('alt="C"')]).toEqual([true, true]);
    const media = changed(MEDIA, "media_text", (node) => withPictureAlt(node, "C"));
    expect([media.includes('"alt"'), media.includes('alt="C"')]).toEqual([false, true]);
    expect(pictureAlt(nodeOf(media, "media_text"))).toBe("C");
  });

  it("cover their picture more or less", () => {
    const to = (ratio: number) => changed(COVER, "cover", (node) => withDim(node, ratio));
    expect(to(30)).toContain('class="wp-block-cover__background has-background-dim-30 has-background-dim"');
    expect(to(34)).toContain("has-background-dim-30 ");
    expect(to(100)).not.toContain("dimRatio");
    expect(changed(to(30), "cover", (node) => withDim(node, 50))).toBe(COVER);
    expect(dimOf(nodeOf(to(100), "cover"))).toBe(100);
  });

  it("change the side of their picture and come back", () => {
    const right = changed(MEDIA, "media_text", (node) => withSide(node, true));
    expect(right).toContain('class="wp-block-media-text is-stacked-on-mobile has-media-on-the-right" style="grid-template-columns:auto 30%"><div class="wp-block-media-text__content">');
    expect(right).toContain("</div><figure");
    expect(isRight(nodeOf(right, "media_text"))).toBe(true);
    expect(changed(right, "media_text", (node) => withSide(node, false))).toBe(MEDIA);
    expect(changed(MEDIA, "media_text", (node) => withMediaWidth(node, 50))).not.toMatch(/mediaWidth|style=/);
  });

  it("are unfolded at first, or not", () => {
    const open = changed(DETAILS, "details", (node) => withUnfolded(node, true));
    expect(open).toContain('<!-- wp:details {"showContent":true} -->\n<details class="wp-block-details" open><summary>');
    expect(changed(open, "details", (node) => withUnfolded(node, false))).toBe(DETAILS);
  });

  it("have columns of a width", () => {
    expect(columnWidth(nodeOf(COLUMNS, "column"))).toBe(66.66);
    const half = changed(COLUMNS, "column", (node) => withColumnWidth(node, 50));
    expect(half).toContain('<!-- wp:column {"width":"50%"} -->\n<div class="wp-block-column" style="flex-basis:50%">');
    expect(changed(COLUMNS, "column", (node) => withColumnWidth(node, null))).toContain('<!-- wp:column -->\n<div class="wp-block-column">');
  });
});

describe("colours", () => {
  const paragraph = '<!-- wp:paragraph {"align":"center","style":{"typography":{"fontSize":"20px"}}} -->\n<p class="has-text-align-center" style="font-size:20px">x</p>\n<!-- /wp:paragraph -->';
  const set = (text: string, kind: string, part: Part, colour: Colour | null) => changed(text, kind, (node) => withColour(node, part, colour));

  it("of the site are named, others are a style", () => {
    expect(set(p, "paragraph", "text", { slug: "vivid-red" })).toBe('<!-- wp:paragraph {"textColor":"vivid-red"} -->\n<p class="has-vivid-red-color has-text-color">x</p>\n<!-- /wp:paragraph -->');
    expect(set(p, "paragraph", "background", { slug: "color1" })).toContain('class="has-color-1-background-color has-background"');
    const own = set(paragraph, "paragraph", "background", { value: "#abcdef" });
    expect(own).toContain('"style":{"typography":{"fontSize":"20px"},"color":{"background":"#abcdef"}}');
    expect(own).toContain('class="has-text-align-center has-background" style="font-size:20px;background-color:#abcdef"');
  });

  it("replace each other, and nothing is left of them when they are taken away", () => {
    for (const part of ["text", "background"] as const) {
      let text = paragraph;
      for (const colour of [{ slug: "vivid-red" }, { value: "#112233" }, { slug: "black" }]) text = set(text, "paragraph", part, colour);
      expect(colourOf(nodeOf(text, "paragraph"), part)).toEqual({ slug: "black" });
      expect(text).not.toMatch(/vivid-red|#112233/);
      expect(set(text, "paragraph", part, null)).toBe(paragraph);
    }
    const both = set(set(p, "paragraph", "text", { value: "#112233" }), "paragraph", "background", { slug: "black" });
    expect(set(both, "paragraph", "background", null)).toBe(set(p, "paragraph", "text", { value: "#112233" }));
  });

  it("of a button are those of its link, and of a cover that of what lies over the picture", () => {
    const button = schema.node("button", null, [schema.text("Go")]);
    const red = button.type.create(withColour(button, "background", { slug: "vivid-red" }), button.content);
    expect(red.attrs["link"]).toBe('<a class="wp-block-button__link wp-element-button has-vivid-red-background-color has-background">');
    expect(red.attrs["tag"]).toBeNull();
    const cover = set(COVER, "cover", "overlay", { value: "#112233" });
    expect(cover).toContain('"customOverlayColor":"#112233","isUserOverlayColor":true');
    expect(cover).toContain('class="wp-block-cover__background has-background-dim" style="background-color:#112233"></span>');
    expect(coloursOf(nodeOf(COVER, "cover"), false)).toEqual(["overlay"]);
  });

  it("are for markup of today: older markup had none, or others", () => {
    for (const [kind, text] of [
      ["heading", "<!-- wp:heading -->\n<h2>x</h2>\n<!-- /wp:heading -->"],
      ["list", "<!-- wp:list -->\n<ul><li>x</li></ul>\n<!-- /wp:list -->"],
      ["button", '<!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link">x</a></div>\n<!-- /wp:button -->'],
      ["cover", COVER.replace(/<span.*?<\/span>/, "")],
      ["media_text", MEDIA.replace(" is-stacked-on-mobile", "")],
      ["media_text", MEDIA.replace("is-stacked-on-mobile", "is-stacked-on-mobile has-media-on-the-right")],
      ["media_text", MEDIA.replace('"mediaId"', '"customBackgroundColor":"#ebf5fe","mediaId"')],
    ] as const) {
      expect(coloursOf(nodeOf(text, kind), false), text).toEqual([]);
    }
    expect(takesPicture(nodeOf(COVER.replace(/<span.*?<\/span>/, ""), "cover"))).toBe(false);
  });

  it("are for blocks: not for content without delimiters, nor beside a gradient", () => {
    expect(coloursOf(nodeOf("<p>x</p>", "paragraph"), true)).toEqual([]);
    expect(coloursOf(nodeOf(p.replace("paragraph -->", 'paragraph {"gradient":"x"} -->'), "paragraph"), false)).toEqual([]);
    expect(coloursOf(nodeOf(p, "paragraph"), false)).toEqual(["text", "background"]);
  });

  it("stay when the alignment changes", () => {
    const red = set(p, "paragraph", "text", { slug: "vivid-red" });
    const centred = changed(red, "paragraph", (node) => aligned(node, "center", false));
    expect(centred).toContain('class="has-vivid-red-color has-text-color has-text-align-center"');
    expect(changed(centred, "paragraph", (node) => aligned(node, null, false))).toBe(red);
  });
});
