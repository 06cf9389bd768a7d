/**
 * Classic content, which has no delimiters, turned into blocks.
 */
import type { Node } from "prosemirror-model";
import type { Command } from "prosemirror-state";
import { alignOf, aligned, alignments } from "./change";
import { usualTag } from "./generate";
import { jsonWith } from "./grammar";
import { attribute, withAttributes, withClasses } from "./html";
import { kindOf } from "./kind";
import { attrsOf } from "./schema";

/** A node that is generated, as its place asks for. */
export function fresh(node: Node): Node {
  if (node.isInline) return inlineFresh(node);
  const converted = kindOf(node).converted?.(node);
  if (converted !== undefined) return converted;
  const children: Node[] = [];
  node.forEach((child) => children.push(fresh(child)));
  const kept = "slice" in (node.type.spec.attrs ?? {}) ? { slice: null, style: null } : {};
  const gone = node.type.spec.attrs?.["source"]?.default === null ? { source: null } : {};
  return node.type.create({ ...node.attrs, ...kept, ...gone, ...tagFresh(node) }, children, node.marks);
}

/** The blocks of a classic document. */
export function asBlocks(doc: Node): Node[] {
  return doc.content.content.map(fresh);
}

/** Writes a classic document as blocks from now on. */
export const convertToBlocks: Command = (state, dispatch) => {
  if (state.doc.attrs["classic"] !== true) return false;
  if (dispatch !== undefined) {
    const tr = state.tr.replaceWith(0, state.doc.content.size, asBlocks(state.doc));
    dispatch(tr.setDocAttribute("classic", false));
  }
  return true;
};

/** A line end that made a break becomes one that says so. */
function inlineFresh(node: Node): Node {
  return node.type.name === "hard_break" ? node.type.create(null, null, node.marks) : node;
}

/** What tags of classic content say, as blocks say it: their alignment, classes and `id`. */
function tagFresh(node: Node): Record<string, unknown> {
  const { tag } = attrsOf(node);
  if (tag === null || tag === undefined) return {};
  const align = alignOf(node);
  if (kindOf(node).dropsTag === true) return { tag: align !== null && alignments(node).includes(align) ? aligned(node.type.create(), align, false)["tag"] : null };
  let bare = node.type.create({ ...node.attrs, tag: null, json: null, style: null });
  const classes = (attribute(tag, "class") ?? "").split(/\s+/).filter((name) => name !== "" && !/^(?:has-text-)?align/.test(name) && !name.startsWith("wp-block-"));
  const id = attribute(tag, "id");
  if (id !== null || classes.length > 0) {
    const written = withAttributes(withClasses(usualTag(bare, false), () => false, classes), id === null ? {} : { id });
    // The `id` is read from the element itself.
    bare = bare.type.create({ ...bare.attrs, tag: written, json: jsonWith(null, { className: classes.length === 0 ? undefined : classes.join(" ") }) });
  }
  const attrs = align !== null && alignments(bare).includes(align) ? aligned(bare, align, false) : bare.attrs;
  return { tag: attrs["tag"], json: attrs["json"] };
}
