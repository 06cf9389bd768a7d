/** Code listings. */
import { textblockTypeInputRule } from "prosemirror-inputrules";
import { textsOf } from "../../i18n";
import { textColours } from "../colours";
import { elementIn, elementOf } from "../element";
import { delimiters, tag } from "../generate";
import { readInline } from "../inline";
import type { Kinds, Read, ReadElement } from "../kind";
import { schema, typeOf } from "../schema";
import { text } from "../specs";

const say = textsOf({ en: { code: "Code" }, de: { code: "Code" } });
const label = () => say("code");

const readCode: Read = (reader, block, place) => {
  const pre = elementIn(block, /^pre$/);
  const code = pre === null ? null : elementOf(pre.inside);
  const content = code?.name === "code" ? readInline(code.inside, "code") : null;
  if (pre === null || code === null || content === null) return null;
  const parts = { head: block.open + pre.head + code.head, inside: code.inside, tail: code.tail + pre.tail + (block.close ?? ""), place };
  const attrs = { style: "block", json: block.json, tag: pre.tag ?? "", inner: code.tag ?? "" };
  return reader.make(parts, (slice) => schema.node("code", { slice, ...attrs }, content));
};

/** `<pre><code>…</code></pre>`. */
const readElement: ReadElement = (reader, html, _, place) => {
  const match = /^<pre([^>]*)><code([^>]*)>([\s\S]*)<\/code><\/pre>$/.exec(html);
  const content = match === null ? null : readInline(match[3] as string, "code");
  if (match === null || content === null) return null;
  const inside = match[3] as string;
  const head = html.slice(0, html.length - inside.length - "</code></pre>".length);
  const attrs = { style: "html", tag: match[1] === "" ? null : match[1], inner: match[2] };
  return reader.make({ head, inside, tail: "</code></pre>", place }, (slice) => schema.node("code", { slice, ...attrs }, content));
};

export default {
  code: {
    order: 20,
    spec: text("pre", { code: true, whitespace: "pre", toDOM: () => ["pre", { "data-kind": "code" }, ["code", 0]] }, { inner: "" }),
    label,
    read: { "core/code": readCode },
    elements: { pre: readElement },
    write: (job) => delimiters(job, "core/code", `<pre${tag(job)}><code${job.node.attrs["inner"] as string}>${job.inside}</code></pre>`),
    usual: "wp-block-code",
    plain: true,
    colours: textColours,
    texts: [{ name: "code", label }],
    insert: [{ label, icon: "code", order: 110, words: "listing snippet source programm quelltext", classic: true }],
    rules: () => [textblockTypeInputRule(/^```$/, typeOf("code"), { slice: null, json: null, tag: null })],
  },
} satisfies Kinds;
