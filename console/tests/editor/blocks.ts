// Blocks of the editor, as the tests make and change them.
import type { Node } from "prosemirror-model";
import { schema } from "../../src/editor/blocks";
import * as cover from "../../src/editor/blocks/cover";
import * as mediaText from "../../src/editor/blocks/media_text";
import * as framed from "../../src/editor/framed";
import { firstOf } from "../../src/editor/kind";
import type { FileItem, Picture } from "../../src/editor/types";

export { schema };
export { withButtonLink } from "../../src/editor/blocks/buttons";
export { columnWidth, makeColumns, withColumnWidth } from "../../src/editor/blocks/columns";
export { dimOf, makeCover, withDim } from "../../src/editor/blocks/cover";
export { isUnfolded, withUnfolded } from "../../src/editor/blocks/details";
export { makeEmbed } from "../../src/editor/blocks/embed";
export { makeGallery } from "../../src/editor/blocks/gallery";
export { makeImage, withAlt, withImageLink, withWidth } from "../../src/editor/blocks/image";
export { indent, outdent, toggleList, withNumbers } from "../../src/editor/blocks/list";
export { makeMediaText, withMediaWidth, withSide } from "../../src/editor/blocks/media_text";
export { toggleQuote } from "../../src/editor/blocks/quote";
export { makeRaw } from "../../src/editor/blocks/raw";
export { makeReusable } from "../../src/editor/blocks/reusable";
export { makeTable, tableCommands } from "../../src/editor/blocks/table";
export { isRight } from "../../src/editor/framed";
export { makeNew } from "../../src/editor/insert";

const mediaOf = (node: Node) => (node.type.name === "cover" ? cover.media : mediaText.media);

export const takesPicture = (node: Node) => mediaOf(node).takesPicture(node);
export const withPicture = (node: Node, picture: Picture) => mediaOf(node).withPicture(node, picture);
export const withPictureAlt = (node: Node, alt: string) => mediaOf(node).withAlt(node, alt);
export const pictureAlt = (node: Node) => framed.pictureAlt(mediaOf(node), node);
export const makeFile = (file: FileItem) => firstOf(schema, ({ ofFile }) => ofFile?.(file));
