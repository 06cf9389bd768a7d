/** Markup that people write themselves: HTML and shortcodes. */
import type { Node } from "prosemirror-model";
import { useState } from "preact/hooks";
import { t, textsOf } from "../../i18n";
import { Button } from "../../ui";
import { insertBlocks, setAttrs } from "../commands";
import { onlyText } from "../element";
import { delimiters } from "../generate";
import { Area } from "../inputs";
import type { BlockProps, DialogProps, Kinds, Read, Row } from "../kind";
import { schema } from "../schema";
import type { Session } from "../session";
import { applied, shown } from "../source";
import { object } from "../specs";
import { ObjectView, nameAndSource } from "../views";

const say = textsOf({
  en: { html: "Custom HTML", shortcode: "Shortcode", hint: "Double click to edit the source" },
  de: { html: "Individuelles HTML", shortcode: "Shortcode", hint: "Doppelklick: Quelltext bearbeiten" },
});

type Name = "core/html" | "core/shortcode";
const labelOf = (name: Name) => say(name === "core/shortcode" ? "shortcode" : "html");

const read: Read = (reader, block, place) => {
  const text = onlyText(block);
  if (text === null) return null;
  const source = text.replace(/^\n/, "").replace(/\n$/, "");
  return reader.object(block.open + text + (block.close ?? ""), place, (slice) => schema.node("raw", { slice, style: "block", json: block.json, name: block.name, source }));
};

export function makeRaw(name: Name, source: string): Node {
  return schema.node("raw", { name, source });
}

/** Opens the source of a block, or of one that is to be inserted. */
function ask(session: Session, name: Name, pos: number | null): void {
  session.ask({ kind: "block", Dialog: (props) => <RawDialog {...props} name={name} pos={pos} /> });
}

function RawDialog({ session, props, name, pos, onClose }: DialogProps & { name: Name; pos: number | null }) {
  const node = pos === null ? null : session.view.state.doc.nodeAt(pos);
  const before = (node?.attrs["source"] as string | undefined) ?? "";
  const [text, setText] = useState(shown(before));
  const [wrong, setWrong] = useState(false);
  const submit = () => {
    const source = applied(before, text);
    const made = makeRaw(name, source);
    if (!session.holds(made)) {
      setWrong(true);
      return;
    }
    onClose();
    if (pos === null) session.run(insertBlocks([made]));
    else session.run(setAttrs(pos, { ...node?.attrs, source }));
  };
  return (
    <Area title={labelOf(name)} form="editor-raw" value={text} filtered={props.capabilities?.unfilteredHtml !== true} error={wrong ? t("editor.fallback_source") : undefined} onInput={setText} onSubmit={submit} onClose={onClose} />
  );
}

function RawDetails({ session, pos }: BlockProps) {
  return (
    <Button small onClick={() => session.editSource(pos)}>
      {t("editor.edit_source")}
    </Button>
  );
}

const row = (name: Name, order: number, words: string): Row => ({
  name: name.replace("core/", ""),
  label: () => labelOf(name),
  icon: "code",
  order,
  words,
  run: (session) => ask(session, name, null),
});

export default {
  raw: {
    order: 370,
    spec: object("raw", { name: "core/html", source: "" }),
    label: (node) => labelOf(node.attrs["name"] as Name),
    read: { "core/html": read, "core/shortcode": read },
    write: (job) => delimiters(job, job.node.attrs["name"] as string, job.node.attrs["source"] as string),
    view: (node, view, getPos, { edit }) => {
      const made = new ObjectView(node, nameAndSource);
      made.dom.title = say("hint");
      made.dom.addEventListener("dblclick", () => {
        const pos = getPos();
        if (pos !== undefined && view.editable) edit(pos);
      });
      return made;
    },
    Details: RawDetails,
    edit: (session, pos) => ask(session, session.view.state.doc.nodeAt(pos)?.attrs["name"] as Name, pos),
    insert: [row("core/shortcode", 330, "code plugin"), row("core/html", 340, "markup raw code custom quelltext")],
  },
} satisfies Kinds;
