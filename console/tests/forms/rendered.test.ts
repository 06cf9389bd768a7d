import { describe, expect, it } from "vitest";
import { fieldsOf } from "../../src/model/fields";
import { conflictsOf } from "../../src/model/conflicts";
import { renderedSides, type RenderedBlock } from "../../src/model/rendered";

/** Blocks as lines; what differs is between braces. */
function lines(blocks: RenderedBlock[]): string[] {
  return blocks.map((block) => {
    const words = block.runs.map((run) => {
      const text = run.marks.length === 0 ? run.text : `<${run.marks.join(" ")}>${run.text}</>`;
      return run.changed ? `{${text}}` : text;
    });
    return `${block.changed ? "*" : ""}${block.kind}${block.depth > 0 ? block.depth : ""}: ${words.join("")}`;
  });
}

const paragraph = (html: string): string => `<!-- wp:paragraph -->\n<p>${html}</p>\n<!-- /wp:paragraph -->`;

describe("two versions of a text with markup", () => {
  it("are compared as they read, without tags", () => {
    const { before, after } = renderedSides(paragraph("The <strong>old</strong> house."), paragraph("The <strong>new</strong> house."));
    expect(lines(before)).toEqual(["p: The {<strong>old</>} house."]);
    expect(lines(after)).toEqual(["p: The {<strong>new</>} house."]);
  });

  it("a mark alone is a difference", () => {
    const { before, after } = renderedSides(paragraph("One word."), paragraph("One <em>word</em>."));
    expect(lines(before)).toEqual(["p: One {word}."]);
    expect(lines(after)).toEqual(["p: One {<em>word</>}."]);
  });

  it("blocks that are new, and blocks of another kind, are marked", () => {
    const { before, after } = renderedSides(paragraph("A") + paragraph("B"), `<h2>A</h2>${paragraph("B")}<ul><li>C<ul><li>D</li></ul></li></ul>`);
    expect(lines(before)).toEqual(["*p: A", "p: B"]);
    expect(lines(after)).toEqual(["*h2: A", "p: B", "*li1: {C}", "*li2: {D}"]);
  });

  it("pictures have their texts and their files, and blocks that the server makes their names", () => {
    const picture = `<!-- wp:image --><figure class="wp-block-image"><img src="https://x.example/a/b.jpg?x=1" alt="A boat"/><figcaption>Low tide</figcaption></figure><!-- /wp:image -->`;
    const { after } = renderedSides("", `${picture}<!-- wp:latest-posts {"postsToShow":3} /-->`);
    expect(lines(after)).toEqual(["*figure: {A boat · b.jpg}", "*figcaption: {Low tide}", "*figure: {latest-posts}"]);
  });

  it("a text without paragraphs has them where lines are empty; nothing of scripts is shown", () => {
    const { after } = renderedSides("", "One\n\nTwo<script>alert(1)</script>");
    expect(lines(after)).toEqual(["*p: {One}", "*p: {Two}"]);
  });

  it("the same text differs nowhere", () => {
    const { before, after } = renderedSides(paragraph("A"), `<!-- wp:paragraph {"align":"left"} -->\n<p class="x">A</p>\n<!-- /wp:paragraph -->`);
    expect(lines([...before, ...after])).toEqual(["p: A", "p: A"]);
  });
});

it("dates that show the same minute, and their twins in UTC, are no conflict", () => {
  const time = { type: ["string", "null"], format: "date-time" } as const;
  const properties = { date: { ...time, type: ["string", "null"] as ["string", "null"] }, date_gmt: { ...time, type: ["string", "null"] as ["string", "null"] }, title: { type: "string" as const } };
  const fields = fieldsOf({ properties, args: properties, hints: {}, parameters: [] });
  const at = (date: string, title: string) => ({ date, date_gmt: date, title });
  const conflicts = (mine: string, theirs: string) => conflictsOf(fields, at("2026-01-01T10:00:00", "a"), at(mine, "a"), at(theirs, "b")).map((one) => one.field.path);
  expect(conflicts("2026-01-01T15:35:10", "2026-01-01T15:35:40")).toEqual(["title"]);
  expect(conflicts("2026-01-01T15:35:10", "2026-01-01T15:36:00")).toEqual(["date", "title"]);
});
