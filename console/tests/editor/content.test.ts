// @vitest-environment node
import fc from "fast-check";
import { splitBlock } from "prosemirror-commands";
import { history, undo } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { EditorState, TextSelection } from "prosemirror-state";
import { describe, expect, it } from "vitest";
import { Content } from "../../src/editor/read";
import { fixtures, themeTests } from "./samples";
import { markups, texts } from "./texts";

/** All that is read and written again, node by node, not by the shortcut for a document that is the same object. */
function rewritten(content: Content): string {
  return content.write(content.doc.copy(content.doc.content));
}

/** Where each block of a document is in its text. */
function ranges(content: Content, text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let at = 0;
  content.doc.forEach((node) => {
    const own = content.writeBlock(content.doc, node);
    const start = text.indexOf(own, at);
    at = start + own.length;
    found.push({ start, end: at });
  });
  return found;
}

/** The part of `before` that differs in `after`. */
function difference(before: string, after: string): { start: number; end: number } {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < least - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { start, end: before.length - tail };
}

function stateOf(content: Content): EditorState {
  return EditorState.create({ doc: content.doc, plugins: [history()] });
}

/** Places in the text where something can be typed. */
function places(doc: Node): number[] {
  const found: number[] = [];
  doc.descendants((node, pos) => {
    if (!node.isTextblock) return true;
    for (let at = 0; at <= node.content.size; at++) found.push(pos + 1 + at);
    return false;
  });
  return found;
}

/** Blocks that the editor is to know. */
const KNOWN =
  /^(?:|core\/(?:paragraph|heading|list|list-item|quote|pullquote|code|preformatted|verse|table|image|gallery|embed|separator|spacer|columns?|group|cover|media-text|details|buttons?|more|nextpage|block|html|shortcode|file|audio|video)|core-embed\/.*)$/;

const TYPED = fc.constantFrom("a", "<", "&", "&amp;", "-->", "<!-- wp:more -->", "</p>", "[b]", "ä", " ", '"', "<script>");

const samples = [...themeTests, ...fixtures].filter(({ text }) => text.trim() !== "");

/** Many random contents take their time on a busy machine. */
const LONG = 60_000;

describe("content that nobody changes", { timeout: LONG }, () => {
  it("is taken from the fixtures", () => {
    expect(fixtures.length).toBeGreaterThan(20);
  });

  it.skipIf(themeTests.length === 0)("can be edited: nine of ten core blocks of the theme tests", () => {
    const objects = new Set<string>();
    const counts = { edited: 0, kept: 0 };
    for (const { text } of themeTests) {
      Content.read(text).doc.descendants((node) => {
        const name = node.attrs["name"] as string | undefined;
        if (node.type.name !== "verbatim") counts.edited += node.isBlock ? 1 : 0;
        else if (name !== undefined && KNOWN.test(name)) counts.kept++;
        else objects.add(name ?? "");
        return true;
      });
    }
    expect(counts.edited).toBeGreaterThan(1000);
    expect(counts.kept / (counts.kept + counts.edited)).toBeLessThan(0.1);
    expect(objects).toContain("core/latest-posts");
  });

  it.each(samples)("stays byte for byte: $name", ({ text }) => {
    const content = Content.read(text);
    content.doc.check();
    expect(rewritten(content)).toBe(text);
  });

  it("stays byte for byte: any text", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const content = Content.read(text);
        content.doc.check();
        expect(rewritten(content)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it("stays byte for byte: blocks of every kind", () => {
    fc.assert(
      fc.property(markups, (text) => {
        const content = Content.read(text);
        content.doc.check();
        expect(rewritten(content)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("is read in time in proportion to its length", () => {
    for (const part of ["<p>a\n\n", "<!-- wp:group --><div>", "<ul><li>", "<blockquote>", "<b>", "a\n\n", "<table><tr><td>", "&amp;", "<svg>", "<p", "[x]"]) {
      const text = part.repeat(200_000 / part.length);
      const start = performance.now();
      expect(rewritten(Content.read(text))).toBe(text);
      expect(performance.now() - start, part).toBeLessThan(5000);
    }
  });
});

describe("content that somebody changes", { timeout: LONG }, () => {
  const any = fc.oneof(fc.constantFrom(...samples.map(({ text }) => text)), markups);

  it("differs only in the block that was typed in, and undo gives it back", () => {
    fc.assert(
      fc.property(any, fc.double({ min: 0, max: 0.999, noNaN: true }), TYPED, (text, part, typed) => {
        const content = Content.read(text);
        const all = places(content.doc);
        if (all.length === 0 || text.trim() === "") return;
        let state = stateOf(content);
        const place = all[Math.floor(part * all.length)] as number;
        state = state.apply(state.tr.insertText(typed, place));
        const after = content.write(state.doc);
        const range = ranges(content, text)[state.doc.resolve(place).index(0)];
        const changed = difference(text, after);
        expect(changed.start).toBeGreaterThanOrEqual(range?.start ?? 0);
        expect(changed.end).toBeLessThanOrEqual(range?.end ?? 0);
        undo(state, (tr) => (state = state.apply(tr)));
        expect(content.write(state.doc.copy(state.doc.content))).toBe(text);
      }),
      { numRuns: 250 },
    );
  });

  it("says what was typed when it is read again", () => {
    fc.assert(
      fc.property(any, fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), TYPED), { minLength: 1, maxLength: 4 }), (text, edits) => {
        const content = Content.read(text);
        let state = stateOf(content);
        for (const [part, typed] of edits) {
          const all = places(state.doc);
          if (all.length > 0) state = state.apply(state.tr.insertText(typed, all[Math.floor(part * all.length)] as number));
        }
        const after = content.write(state.doc);
        const again = Content.read(after);
        expect(rewritten(again)).toBe(after);
        expect(words(again.doc)).toBe(words(state.doc));
      }),
      { numRuns: 250 },
    );
  });

  it("keeps every block as it was when blocks are moved", () => {
    fc.assert(
      fc.property(any, fc.double({ min: 0, max: 0.999, noNaN: true }), (text, part) => {
        const content = Content.read(text);
        if (content.doc.childCount < 2) return;
        const from = Math.floor(part * (content.doc.childCount - 1));
        const [node, next] = [content.doc.child(from), content.doc.child(from + 1)];
        let start = 0;
        for (let index = 0; index < from; index++) start += content.doc.child(index).nodeSize;
        let state = stateOf(content);
        state = state.apply(state.tr.delete(start, start + node.nodeSize).insert(start + next.nodeSize, node));
        const after = content.write(state.doc);
        content.doc.forEach((one) => expect(after).toContain(content.writeBlock(content.doc, one)));
        undo(state, (tr) => (state = state.apply(tr)));
        expect(content.write(state.doc)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it("differs only in the blocks that were split or deleted", () => {
    fc.assert(
      fc.property(any, fc.double({ min: 0, max: 0.999, noNaN: true }), fc.boolean(), (text, part, whole) => {
        const content = Content.read(text);
        const all = places(content.doc);
        if (all.length === 0 || content.doc.childCount < 3) return;
        let state = stateOf(content);
        const place = all[Math.floor(part * all.length)] as number;
        const $place = state.doc.resolve(place);
        const index = $place.index(0);
        if (whole) state = state.apply(state.tr.delete($place.before(1), $place.after(1)));
        else splitBlock(state.apply(state.tr.setSelection(TextSelection.create(state.doc, place))), (tr) => (state = state.apply(tr)));
        const after = content.write(state.doc);
        content.doc.forEach((one, _, at) => {
          if (at !== index) expect(after).toContain(content.writeBlock(content.doc, one));
        });
        expect(rewritten(Content.read(after))).toBe(after);
      }),
      { numRuns: 300 },
    );
  });
});

/** The text of a document, without the white space that pages do not show. */
function words(doc: Node): string {
  const parts: string[] = [];
  doc.descendants((node) => {
    if (node.type.name === "verbatim" || node.type.name === "raw") parts.push(node.attrs["source"] as string);
    if (node.isText) parts.push(node.text as string);
    if (node.isTextblock) parts.push(" ");
    return true;
  });
  return parts.join("").replace(/\s+/g, "");
}
