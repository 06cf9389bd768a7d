/** What the editor does not know: one object with its source. */
import { textsOf } from "../../i18n";
import { delimited } from "../grammar";
import type { Kinds } from "../kind";
import { schema } from "../schema";
import { object } from "../specs";
import { ObjectView, nameAndSource } from "../views";

const say = textsOf({ en: { block: "Block: {name}", markup: "Markup" }, de: { block: "Block: {name}", markup: "Markup" } });

const DELIMITER = /<!--\s*\/?wp:/;

export default {
  verbatim: {
    order: 380,
    spec: object("verbatim", { name: "", source: "", closers: "" }),
    label: ({ attrs }) => (attrs["name"] === "" ? say("markup") : say("block", { name: (attrs["name"] as string).replace(/^core\//, "") })),
    write: ({ node, place }) => {
      const { source, name } = node.attrs as { source: string; name: string };
      // Blocks have only blocks in them.
      return place === "inner" && name === "" ? delimited("core/html", null, `\n${source}\n`) : source;
    },
    view: (node) => new ObjectView(node, nameAndSource),
    converted: (node) => {
      const { source, name } = node.attrs as { source: string; name: string };
      // A delimiter in it would end the block around it.
      return name === "" && !DELIMITER.test(source) ? schema.node("raw", { name: "core/html", source }) : node;
    },
  },
} satisfies Kinds;
