/** Files to download. */
import { textsOf } from "../../i18n";
import { objectBlock } from "../element";
import { object as written } from "../generate";
import { writeJson } from "../grammar";
import { escapedText, escapedValue } from "../html";
import type { Kinds } from "../kind";
import { safePicture } from "../looks";
import { schema } from "../schema";
import { object } from "../specs";
import { ObjectView } from "../views";

const say = textsOf({
  en: { file: "File", named: "File: {name}", download: "Download" },
  de: { file: "Datei", named: "Datei: {name}", download: "Herunterladen" },
});

export default {
  file: {
    order: 240,
    spec: object("file", { source: "" }),
    label: (node) => {
      const name = /<a\s[^>]*>([^<]*)</.exec(node.attrs["source"] as string)?.[1] ?? "";
      return name === "" ? say("file") : say("named", { name });
    },
    read: { "core/file": objectBlock("file", /^\s*<div[\s>][\s\S]*<\/div>\s*$/) },
    write: written("core/file", ""),
    view: (node) => new ObjectView(node),
    insert: [
      {
        label: () => say("file"),
        icon: "file",
        order: 230,
        words: "download document pdf attachment datei dokument anhang",
        allowed: ({ file }) => file?.pick !== undefined,
        run: (session, { file }) => session.insertFile(file, []),
      },
    ],
    ofFile: (file) => {
      const url = safePicture(file.url) ?? "";
      if (url === "") return null;
      const src = escapedValue(url);
      const source =
        `<div class="wp-block-file"><a href="${src}">${escapedText(file.name)}</a>` +
        `<a href="${src}" class="wp-block-file__button wp-element-button" download>${escapedText(say("download"))}</a></div>`;
      return schema.node("file", { json: writeJson({ ...(file.id === undefined ? {} : { id: file.id }), href: url }), source });
    },
  },
} satisfies Kinds;
