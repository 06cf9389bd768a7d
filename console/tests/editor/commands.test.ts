// @vitest-environment node
import { splitBlock } from "prosemirror-commands";
import { history, undo } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { type Command, EditorState, NodeSelection, TextSelection } from "prosemirror-state";
import { describe, expect, it } from "vitest";
import { aligned } from "../../src/editor/change";
import { deleteBlock, duplicateBlock, insertBlocks, leaveBlock, leaveContainer, moveBlock, newLine, setAlign, setText } from "../../src/editor/commands";
import { convertToBlocks } from "../../src/editor/convert";
import { Content } from "../../src/editor/read";
import { indent, makeColumns, makeImage, makeNew, makeTable, tableCommands, toggleList, toggleQuote, withAlt, withButtonLink, withImageLink, withNumbers, withWidth } from "./blocks";

/** An editor without a page. `|` in the text is the cursor. */
class Bench {
  state: EditorState;
  private readonly content: Content;

  constructor(text: string) {
    this.content = Content.read(text.replace("|", ""));
    this.state = EditorState.create({ doc: this.content.doc, plugins: [history()] });
    const marked = Content.read(text).doc;
    let cursor = -1;
    marked.descendants((node, pos) => {
      const at = node.isText ? (node.text as string).indexOf("|") : -1;
      if (at >= 0) cursor = pos + at;
      return true;
    });
    if (cursor >= 0) this.state = this.state.apply(this.state.tr.setSelection(TextSelection.create(this.state.doc, cursor)));
  }

  run(command: Command): boolean {
    const did = command(this.state, (tr) => (this.state = this.state.apply(tr)));
    this.state.doc.check();
    return did;
  }

  type(text: string): this {
    this.state = this.state.apply(this.state.tr.insertText(text));
    return this;
  }

  select(kind: string): Node {
    let found: Node | null = null;
    this.state.doc.descendants((node, pos) => {
      if (found !== null || node.type.name !== kind) return found === null;
      found = node;
      this.state = this.state.apply(this.state.tr.setSelection(NodeSelection.create(this.state.doc, pos)));
      return false;
    });
    if (found === null) throw new Error(`no ${kind}`);
    return found;
  }

  get text(): string {
    return this.content.write(this.state.doc);
  }
}

const p = (text: string) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
const three = (a: string, b: string, c: string) => [a, b, c].map(p).join("\n\n");

describe("content without delimiters", () => {
  it("keeps an end of a block that nobody began as it is when it is converted", () => {
    const bench = new Bench("<p>\n<!-- /wp:paragraph -->>");
    bench.run(convertToBlocks);
    expect(bench.text).toContain("<p>\n<!-- /wp:paragraph -->");
    expect(bench.text).not.toContain("wp:html");
  });
});

describe("a sign that stands as it is", () => {
  it.each([["1 < 2", 3, "b", "1 &lt;b 2"], ["a & lt;", 3, "", "a & lt;"], ["<&amp;", 1, "x", "&lt;x&amp;"], ["&amp;&;", 2, "lt", "&amp;&amp;lt;"]])(
    "is written as a reference where what is typed behind it would begin something: %s",
    (text, at, typed, written) => {
      const bench = new Bench(text);
      bench.state = bench.state.apply(bench.state.tr.insertText(typed, 1 + at));
      expect(bench.text).toBe(written);
    },
  );
});

describe("items of a numbered list", () => {
  it("begin a numbered list below the item before, and join one that is there as it is", () => {
    const bench = new Bench("<ol>\n\t<li>a</li>\n\t<li>b|</li>\n</ol>");
    expect(bench.run(indent)).toBe(true);
    expect(bench.text).toMatch(/<li>a\s*<ol>\s*<li>b<\/li>\s*<\/ol>\s*<\/li>/);
    const other = new Bench("<ol><li>a<ul><li>x</li></ul></li><li>b|</li></ol>");
    other.run(indent);
    expect(other.text).toMatch(/<ul><li>x<\/li>\s*<li>b<\/li><\/ul>/);
  });
});

describe("details", () => {
  it("are walked through with Enter: from the line that is always shown, into what unfolds, and out behind it", () => {
    const bench = new Bench('<!-- wp:details -->\n<details class="wp-block-details"><summary>Su|</summary><!-- wp:paragraph -->\n<p></p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->');
    bench.type("m");
    bench.run(leaveBlock);
    bench.type("in");
    expect(bench.text).toContain("<summary>Sum</summary><!-- wp:paragraph -->\n<p>in</p>\n<!-- /wp:paragraph --></details>");
    bench.run(splitBlock);
    bench.run(leaveContainer);
    bench.type("behind");
    expect(bench.text).toMatch(/<p>in<\/p>\n<!-- \/wp:paragraph --><\/details>\n<!-- \/wp:details -->\n\n<!-- wp:paragraph -->\n<p>behind<\/p>/);
  });

  it("keep the line that is always shown where it is", () => {
    const bench = new Bench('<!-- wp:details -->\n<details class="wp-block-details"><summary>S</summary><!-- wp:paragraph -->\n<p>a|</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->');
    const before = bench.text;
    expect(bench.run(moveBlock(-1))).toBe(false);
    expect(bench.text).toBe(before);
  });
});

describe("blocks", () => {
  it("are moved, and stay what they are", () => {
    const bench = new Bench(three("a", "b|", "c"));
    expect(bench.run(moveBlock(-1))).toBe(true);
    expect(bench.text).toBe(three("b", "a", "c"));
    expect(bench.run(moveBlock(-1))).toBe(false);
    bench.type("!");
    expect(bench.text).toBe(three("b!", "a", "c"));
    bench.run(undo);
    bench.run(undo);
    expect(bench.text).toBe(three("a", "b", "c"));
  });

  it("are moved with their keys within lists, columns and galleries", () => {
    const bench = new Bench("<ul>\n\t<li>a</li>\n\t<li>b|</li>\n</ul>");
    bench.run(moveBlock(-1));
    expect(bench.text).toBe("<ul>\n\t<li>b</li>\n\t<li>a</li>\n</ul>");
  });

  it("are duplicated and deleted", () => {
    const bench = new Bench(three("a", "b|", "c"));
    bench.run(duplicateBlock);
    expect(bench.text).toBe([p("a"), p("b"), p("b"), p("c")].join("\n\n"));
    bench.run(deleteBlock);
    bench.run(deleteBlock);
    expect(bench.text.split("wp:paragraph").length).toBe(5);
    bench.run(deleteBlock);
    bench.run(deleteBlock);
    expect(bench.text).toBe("");
  });

  it("that need a child go with their last one", () => {
    const bench = new Bench(`${p("x")}\n\n<!-- wp:buttons -->\n<div class="wp-block-buttons"><!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link">G|o</a></div>\n<!-- /wp:button --></div>\n<!-- /wp:buttons -->`);
    bench.run(deleteBlock);
    expect(bench.text).toBe(p("x"));
  });

  it("are put in the place of an empty paragraph, else behind", () => {
    const bench = new Bench("");
    bench.run(insertBlocks([makeNew("separator")]));
    expect(bench.text).toContain("wp:separator");
    expect(bench.text).not.toContain("wp:paragraph");
    const second = new Bench(three("a|", "b", "c"));
    second.run(insertBlocks([makeTable(1, 1, false)]));
    expect(second.text.indexOf("wp:table")).toBeGreaterThan(second.text.indexOf("<p>a"));
    expect(second.text.indexOf("wp:table")).toBeLessThan(second.text.indexOf("<p>b"));
    second.type("cell");
    expect(second.text).toContain("<td>cell</td>");
  });

  it("are not put where they cannot be", () => {
    const bench = new Bench("<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>a|</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->");
    bench.run(insertBlocks([makeColumns(2)]));
    expect(bench.text.indexOf("wp:columns")).toBeGreaterThan(bench.text.indexOf("/wp:list -->"));
  });
});

describe("kinds of text", () => {
  it("change with what belongs to them", () => {
    const bench = new Bench('<!-- wp:paragraph {"align":"center","fontSize":"large"} -->\n<p class="has-text-align-center has-large-font-size">a|</p>\n<!-- /wp:paragraph -->');
    bench.run(setText("heading-3"));
    expect(bench.text).toBe('<!-- wp:heading {"textAlign":"center","level":3} -->\n<h3 class="wp-block-heading has-text-align-center">a</h3>\n<!-- /wp:heading -->');
    bench.run(setText("paragraph"));
    expect(bench.text).toBe('<!-- wp:paragraph {"align":"center"} -->\n<p class="has-text-align-center">a</p>\n<!-- /wp:paragraph -->');
  });

  it("keep the other attributes of a heading that changes its level", () => {
    const bench = new Bench('<!-- wp:heading {"level":3,"className":"x"} -->\n<h3 class="wp-block-heading x" id="y">a|</h3>\n<!-- /wp:heading -->');
    bench.run(setText("heading-2"));
    expect(bench.text).toBe('<!-- wp:heading {"className":"x"} -->\n<h2 class="wp-block-heading x" id="y">a</h2>\n<!-- /wp:heading -->');
  });

  it("are lists and quotes, and back", () => {
    const bench = new Bench(p("a|"));
    bench.run(toggleList(true));
    expect(bench.text).toBe('<!-- wp:list {"ordered":true} -->\n<ol class="wp-block-list"><!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->');
    bench.run(toggleList(false));
    expect(bench.text).toContain('<!-- wp:list -->\n<ul class="wp-block-list">');
    bench.run(toggleList(false));
    expect(bench.text).toBe(p("a"));
    bench.run(toggleQuote);
    expect(bench.text).toBe(`<!-- wp:quote -->\n<blockquote class="wp-block-quote">${p("a")}</blockquote>\n<!-- /wp:quote -->`);
    bench.run(toggleQuote);
    expect(bench.text).toBe(p("a"));
  });

  it("are aligned", () => {
    const bench = new Bench(`<!-- wp:image {"id":9,"align":"center"} -->\n<div class="wp-block-image"><figure class="aligncenter size-large"><img src="/a.png" alt="" class="wp-image-9"/></figure></div>\n<!-- /wp:image -->`);
    bench.select("image");
    bench.run(setAlign("wide"));
    expect(bench.text).toBe('<!-- wp:image {"id":9,"align":"wide"} -->\n<figure class="size-large wp-block-image alignwide"><img src="/a.png" alt="" class="wp-image-9"/></figure>\n<!-- /wp:image -->');
    bench.run(setAlign(null));
    expect(bench.text).toBe('<!-- wp:image {"id":9} -->\n<figure class="size-large wp-block-image"><img src="/a.png" alt="" class="wp-image-9"/></figure>\n<!-- /wp:image -->');
  });
});

describe("lines and ends", () => {
  it("in listings are line ends, and two of them leave", () => {
    const bench = new Bench('<!-- wp:code -->\n<pre class="wp-block-code"><code>a|</code></pre>\n<!-- /wp:code -->');
    bench.run(newLine);
    bench.run(newLine);
    expect(bench.text).toContain("<code>a\n\n</code>");
    bench.run(newLine);
    bench.type("b");
    expect(bench.text).toBe('<!-- wp:code -->\n<pre class="wp-block-code"><code>a</code></pre>\n<!-- /wp:code -->\n\n' + p("b"));
  });

  it("of captions and quotes are left by Enter", () => {
    const bench = new Bench('<!-- wp:image -->\n<figure class="wp-block-image"><img src="/a.png" alt=""/><figcaption>c|</figcaption></figure>\n<!-- /wp:image -->');
    expect(bench.run(leaveBlock)).toBe(true);
    bench.type("x");
    expect(bench.text.endsWith(p("x"))).toBe(true);
    const quote = new Bench(`<!-- wp:quote -->\n<blockquote class="wp-block-quote">${p("a")}\n\n${p("|")}</blockquote>\n<!-- /wp:quote -->`);
    expect(quote.run(leaveContainer)).toBe(true);
    quote.type("x");
    expect(quote.text).toBe(`<!-- wp:quote -->\n<blockquote class="wp-block-quote">${p("a")}</blockquote>\n<!-- /wp:quote -->\n\n${p("x")}`);
  });
});

describe("tables", () => {
  const table = (rows: string) => `<!-- wp:table -->\n<figure class="wp-block-table"><table>${rows}</table></figure>\n<!-- /wp:table -->`;

  it("get rows in the section of their neighbours", () => {
    const bench = new Bench(table("<thead><tr><th>h|</th></tr></thead><tbody><tr><td>b</td></tr></tbody>"));
    bench.run(tableCommands["row_before"] as Command);
    expect(bench.text.match(/<thead>.*<\/thead>/)?.[0].match(/<tr>/g)).toHaveLength(2);
    bench.run(undo);
    bench.run(tableCommands["row_after"] as Command);
    expect(bench.text).toContain("<thead><tr><th>h</th></tr></thead><tbody><tr><td></td></tr><tr><td>b</td></tr></tbody>");
  });

  it("get head, foot, columns and caption", () => {
    const bench = new Bench(table("<tbody><tr><td>a|</td></tr><tr><td>b</td></tr></tbody>"));
    bench.run(tableCommands["toggle_head"] as Command);
    bench.run(tableCommands["toggle_foot"] as Command);
    expect(bench.text).toContain("<thead><tr><th>a</th></tr></thead><tfoot><tr><td>b</td></tr></tfoot>");
    bench.run(tableCommands["column_after"] as Command);
    expect(bench.text).toContain("<tr><td>b</td><td></td></tr>");
    bench.run(tableCommands["toggle_caption"] as Command);
    expect(bench.state.doc.textContent).toBe("ab");
    bench.run(tableCommands["delete_table"] as Command);
    expect(bench.text).toBe("");
  });
});

describe("details", () => {
  const image = makeImage({ id: 7, url: "/a.png", alt: "x" }) as Node;

  it("of pictures", () => {
    expect(withAlt(image, 'a "b"')["img"]).toBe('<img src="/a.png" alt="a &quot;b&quot;" class="wp-image-7"/>');
    expect(withImageLink(image, "javascript:x")["link"]).toBe(null);
    expect(withImageLink(image, "/b")).toMatchObject({ link: '<a href="/b">', json: '{"id":7,"sizeSlug":"full","linkDestination":"custom"}' });
    expect(withWidth(image, 300)).toMatchObject({ tag: ' class="wp-block-image size-full is-resized"' });
    expect(makeImage({ url: "javascript:x" })).toBe(null);
  });

  it("of buttons and lists", () => {
    expect(withButtonLink(makeNew("buttons").firstChild as Node, "javascript:x")["link"]).toBe('<a class="wp-block-button__link wp-element-button">');
    expect(withNumbers(makeNew("ordered_list"), { start: 3, reversed: true })).toMatchObject({ json: '{"start":3,"reversed":true}', tag: ' class="wp-block-list" start="3" reversed' });
  });

  it("of texts without delimiters are a style", () => {
    const bare = Content.read("word").doc.firstChild as Node;
    expect(aligned(bare, "center", true)).toMatchObject({ style: "html", tag: ' style="text-align: center;"' });
    const back = bare.type.create(aligned(bare, "center", true), bare.content);
    expect(aligned(back, null, true)).toMatchObject({ tag: null });
  });
});

describe("classic content", () => {
  it("stays classic when somebody writes on", () => {
    const bench = new Bench("one|\n\ntwo");
    bench.run(insertBlocks([makeNew("heading")]));
    bench.type("H");
    expect(bench.text).toBe("one\n\n<h2>H</h2>\n\ntwo");
  });

  it("becomes blocks when somebody wants it", () => {
    const bench = new Bench('one|\nmore\n\n<p class="x" style="text-align:right" id="i">two</p>\n<h3>H</h3>\n<ul>\n\t<li>a</li>\n</ul>\n<hr />\n<!--more-->\n<dl><dt>kept</dt></dl>');
    expect(bench.run(convertToBlocks)).toBe(true);
    expect(bench.text).toBe(
      [
        p("one<br>more"),
        '<!-- wp:paragraph {"className":"x","align":"right"} -->\n<p class="x has-text-align-right" id="i">two</p>\n<!-- /wp:paragraph -->',
        '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading">H</h3>\n<!-- /wp:heading -->',
        '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
        '<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->',
        "<!-- wp:more -->\n<!--more-->\n<!-- /wp:more -->",
        "<!-- wp:html -->\n<dl><dt>kept</dt></dl>\n<!-- /wp:html -->",
      ].join("\n\n"),
    );
    bench.run(undo);
    expect(bench.text.startsWith("one\nmore\n\n")).toBe(true);
  });
});
