import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean } from "../../src/editor/clean";
import { sliceOf } from "../../src/editor/clipboard";
import { safeAddress, safePicture, safeStyle } from "../../src/editor/looks";
import { fromMarkdown, looksLikeMarkdown } from "../../src/editor/markdown";
import { Content } from "../../src/editor/read";
import { schema } from "./blocks";

const WORD = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style>p.MsoNormal{margin:0}</style></head><body lang=EN><!--StartFragment-->
<p class=MsoTitle>Title</p><h1 style='mso-margin-top-alt:auto'>One<o:p></o:p></h1>
<p class=MsoNormal style='margin-bottom:8pt'><span style='font-size:11.0pt;font-family:"Calibri"'>Plain <b>bold</b> and <i style='mso-bidi-font-style:normal'>slanted</i>, <span style='font-weight:bold'>styled</span><o:p>&nbsp;</o:p></span></p>
<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span></span><![endif]>First</p>
<p class=MsoListParagraphCxSpMiddle style='mso-list:l0 level2 lfo1'><span style='mso-list:Ignore'>1.<span>&nbsp; </span></span>Inner</p>
<p class=MsoListParagraphCxSpLast style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>·</span>Second</p>
<table class=MsoTableGrid border=1><tr><td width=10><p class=MsoNormal>a</p></td><td><p>b</p><p>c</p></td></tr><tr><td>d</td></tr></table>
<!--EndFragment--></body></html>`;

const GOOGLE = `<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1"><h2 dir="ltr" style="line-height:1.38"><span style="font-size:16pt;font-weight:400">Heading</span></h2><p dir="ltr"><span style="font-weight:700;white-space:pre-wrap;">Bold</span><span> and </span><span style="font-style:italic;">slanted</span> <a href="https://www.google.com/url?q=https://example.org/%3Fa%3D1&amp;sa=D" style="text-decoration:none;"><span style="text-decoration:underline;">link</span></a></p><ul><li dir="ltr"><p role="presentation"><span>one</span></p></li><ul><li><p>two</p></li></ul></ul></b><br class="Apple-interchange-newline">`;

describe("foreign markup", () => {
  it("of Word becomes clean", () => {
    expect(clean(WORD).split("\n")).toEqual([
      "<h1>Title</h1>",
      "<h1>One</h1>",
      "<p>Plain <strong>bold</strong> and <em>slanted</em>, <strong>styled</strong></p>",
      "<ul><li>First<ol><li>Inner</li></ol></li><li>Second</li></ul>",
      "<table><tbody><tr><td>a</td><td>b<br>c</td></tr><tr><td>d</td><td></td></tr></tbody></table>",
    ]);
  });

  it("of Google Docs becomes clean", () => {
    expect(clean(GOOGLE).split("\n")).toEqual([
      "<h2>Heading</h2>",
      '<p><strong>Bold</strong> and <em>slanted</em> <a href="https://example.org/?a=1">link</a></p>',
      "<ul><li>one<ul><li>two</li></ul></li></ul>",
    ]);
  });

  it.each([
    ["<p onclick=x()>a<script>alert(1)</script><img src=x onerror=alert(1)></p>", "<p>a</p>"],
    ['<a href="javascript:alert(1)">a</a><a href=" java\nscript:x">b</a><a href="/c">c</a>', '<p>ab<a href="/c">c</a></p>'],
    ["<svg onload=alert(1)><p>a</p></svg><iframe srcdoc=x></iframe><style>p{}</style>b", "<p>b</p>"],
    ['<img src="data:image/svg+xml,x"><img src="https://example.org/a.png" alt=\'"><script>\'>', '<p><img src="https://example.org/a.png" alt="&quot;&gt;&lt;script&gt;"/></p>'],
    ["<div>a<div>b<br>c</div></div>", "<p>a</p>\n<p>b<br>c</p>"],
    ["<pre>a\n  <b>b</b> [c]</pre>", "<pre><code>a\n  b &#91;c]</code></pre>"],
    ["<table><tr><td><p>only</p></td></tr></table>", "<p>only</p>"],
    ["<p style='display:none'>hidden</p><p>&nbsp;</p><p>a&nbsp;b</p>", "<p>a&nbsp;b</p>"],
    ["<blockquote><p>a</p><p>b</p></blockquote><hr>", "<blockquote><p>a</p>\n<p>b</p></blockquote>\n<hr/>"],
  ])("%s", (html, expected) => {
    expect(clean(html)).toBe(expected);
  });

  it("leaves nothing that could run, whatever it is", () => {
    const parts = fc.constantFrom("<p>", "<a href='javascript:x'>", "<img src=x onerror=y>", "<script>", "</p>", "<table><tr><td>", "text", "<li>", "<ul>", "<b>", "</b>", "<svg>", "<style>", '"', "'", "<", ">", "&lt;script&gt;");
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 15 }), (all) => {
        const html = clean(all.join(""));
        expect(html).not.toMatch(/<(?:script|svg|style|img)|javascript:|<[a-z][^>]*\son/i);
        const slice = sliceOf(html, false);
        const doc = schema.node("doc", null, slice.content.size === 0 ? [schema.node("paragraph")] : slice.content);
        doc.check();
        doc.descendants((node) => expect(node.type.name).not.toBe("verbatim"));
      }),
      { numRuns: 300 },
    );
  });

  it("becomes blocks", () => {
    const doc = schema.node("doc", null, sliceOf(clean(GOOGLE), false).content);
    expect(Content.read("").write(doc).split("\n").slice(0, 3)).toEqual(["<!-- wp:heading -->", '<h2 class="wp-block-heading">Heading</h2>', "<!-- /wp:heading -->"]);
  });
});

describe("Markdown", () => {
  it.each([
    ["# A *b*", "<h1>A <em>b</em></h1>"],
    ["Title\n===\n\ntext\nmore", "<h1>Title</h1>\n<p>text more</p>"],
    ["- a\n- b\n  1. c\n  2. d\n- e", "<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li><li>e</li></ul>"],
    ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
    ["- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"],
    ["> a\n> b", "<blockquote><p>a b</p></blockquote>"],
    ["```js\na < b [c]\n```", "<pre><code>a &lt; b &#91;c]</code></pre>"],
    ["a | b\n--- | ---\n1 | **2**", "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>"],
    ["**a** and `b<c` ~~d~~ snake_case_name", "<p><strong>a</strong> and <code>b&lt;c</code> <s>d</s> snake_case_name</p>"],
    ["[a](https://example.org \"t\") [b](javascript:x) ![c](https://example.org/c.png)", '<p><a href="https://example.org">a</a> b <img src="https://example.org/c.png" alt="c"/></p>'],
    ["<script>x</script> a\\*b", "<p>&lt;script&gt;x&lt;/script&gt; a*b</p>"],
    ["a  \nb\n\n---", "<p>a<br>b</p>\n<hr/>"],
  ])("%s", (text, html) => {
    expect(fromMarkdown(text)).toBe(html);
  });

  it("is told from other text", () => {
    for (const text of ["# A", "- a\n- b", "see [a](https://example.org)", "```\nx\n```", "**a** b"]) expect(looksLikeMarkdown(text)).toBe(true);
    for (const text of ["A # b", "one - two", "2 * 3 * 4", "plain\ntext", "- single", "https://example.org/a_b_c"]) expect(looksLikeMarkdown(text)).toBe(false);
  });

  it("gives markup that the editor reads", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("# a\n", "- b\n", "  - c\n", "1. d\n", "> e\n", "```\n", "\n", "**f** ", "[g](h) ", "|a|b|\n|-|-|\n", "_x_", "<b>", "`")), (parts) => {
        const slice = sliceOf(fromMarkdown(parts.join("")), false);
        if (slice.content.size > 0) schema.node("doc", null, slice.content).check();
      }),
      { numRuns: 300 },
    );
  });
});

describe("addresses", () => {
  it("that could run or load something are none", () => {
    for (const bad of ["javascript:x", " JaVaScRiPt:x", "java\tscript:x", "\u0001javascript:x", "data:text/html,x", "vbscript:x", "blob:x", "file:///x", "javascript&colon;x", "x&#58;y:z"]) {
      expect(safeAddress(bad), bad).toBe(null);
    }
    for (const good of ["https://example.org/a:b", "/a", "a/b?c=d:e", "#x", "mailto:a@example.org", "tel:+1", "//example.org", "?a=b", ""]) {
      expect(safeAddress(good), good).toBe(good);
    }
    expect(safePicture("mailto:x")).toBe(null);
  });

  it("are not in styles", () => {
    expect(safeStyle("color: red; background: url(https://example.org); position: fixed; font-size: 20px; color: expression(x)")).toBe("color: red; font-size: 20px");
  });
});
