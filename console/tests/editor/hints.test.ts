import { EditorState, TextSelection } from "prosemirror-state";
import { describe, expect, it } from "vitest";
import { hints } from "../../src/editor/hints";
import { overviewOf } from "../../src/editor/overview";
import { Content } from "../../src/editor/read";

const places = (state: EditorState): [number, number][] => hints(state, "Write").find().map(({ from, to }) => [from, to]);

describe("hints", () => {
  it("are in the one empty paragraph, and in the one with the cursor", () => {
    const empty = EditorState.create({ doc: Content.read("").doc });
    expect(places(empty)).toEqual([[0, 2]]);
    const { doc } = Content.read("<!-- wp:paragraph -->\n<p>Text</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p></p>\n<!-- /wp:paragraph -->");
    const state = EditorState.create({ doc });
    expect(places(state)).toEqual([]);
    expect(places(state.apply(state.tr.setSelection(TextSelection.create(doc, 7))))).toEqual([[6, 8]]);
  });

  it("are in empty parts of blocks, wherever the block has moved", () => {
    const details = "<!-- wp:details -->\n<details class=\"wp-block-details\"><summary></summary><!-- wp:paragraph -->\n<p>Inside</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->";
    const { doc } = Content.read(`<!-- wp:paragraph -->\n<p>Text</p>\n<!-- /wp:paragraph -->\n\n${details}`);
    const state = EditorState.create({ doc });
    expect(places(state)).toEqual([[7, 9]]);
    expect(places(state.apply(state.tr.insertText("More ", 1)))).toEqual([[12, 14]]);
    const filled = state.apply(state.tr.insertText("Seen", 8));
    expect(places(filled)).toEqual([]);
    // What was known of the old block is not said of the new one.
    expect(places(filled.apply(filled.tr.delete(8, 12)))).toEqual([[7, 9]]);
  });
});

describe("the number of words", () => {
  it("follows the block that changed", () => {
    const { doc } = Content.read("<!-- wp:paragraph -->\n<p>One two</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p>three</p>\n<!-- /wp:paragraph -->");
    const state = EditorState.create({ doc });
    expect(overviewOf(doc).words).toBe(3);
    expect(overviewOf(state.apply(state.tr.insertText("and ", 1)).doc).words).toBe(4);
    expect(overviewOf(doc).words).toBe(3);
  });
});
