/** Synced patterns: content that several records share. */
import type { Node } from "prosemirror-model";
import { useState } from "preact/hooks";
import { t, textsOf } from "../../i18n";
import { Dialog, Field } from "../../ui";
import { insertBlocks } from "../commands";
import { delimited, readJson, writeJson } from "../grammar";
import { Line, useFound } from "../inputs";
import type { DialogProps, Kinds, Read } from "../kind";
import { attrsOf, schema } from "../schema";
import { object } from "../specs";
import type { ReusablePiece, ReusablePieces } from "../types";
import { ObjectView, element } from "../views";

const say = textsOf({
  en: { reusable: "Synced pattern", gone: "Pattern has been deleted or is unavailable", named: "Synced pattern: {title}" },
  de: { reusable: "Synchronisiertes Muster", gone: "Das Muster wurde gelöscht oder ist nicht verfügbar", named: "Synchronisiertes Muster: {title}" },
});
const label = () => say("reusable");

const read: Read = (reader, block, place) => {
  const ref = readJson(block.json)?.["ref"];
  if (!block.single || typeof ref !== "number" || !Number.isSafeInteger(ref)) return null;
  return reader.object(block.open, place, (slice) => schema.node("reusable", { slice, style: "block", json: block.json }));
};

export function makeReusable(id: number): Node {
  return schema.node("reusable", { json: writeJson({ ref: id }) });
}

/** The name of the piece, as soon as it is known. */
function named(node: Node, pieces: ReusablePieces | undefined, signal: AbortSignal): HTMLElement[] {
  const shown = element("span", "editor-object-name", label());
  const ref = readJson(attrsOf(node).json)?.["ref"];
  if (pieces !== undefined && typeof ref === "number") {
    pieces.load(ref, signal).then(
      (piece) => {
        shown.textContent = piece === null ? say("gone") : say("named", { title: piece.title });
      },
      () => {
        // The name is no more than a help.
      },
    );
  }
  return [shown];
}

function ReusableDialog({ session, props, onClose }: DialogProps) {
  const [text, setText] = useState("");
  const found = useFound<ReusablePiece>(text, props.reusable === undefined ? undefined : (words, signal) => props.reusable?.search(words, signal) ?? Promise.resolve([]), 0);
  return (
    <Dialog title={label()} onClose={onClose}>
      <div class="stack">
        <Field label={t("editor.search")}>{(ids) => <Line ids={ids} first value={text} onText={setText} />}</Field>
        <ul class="editor-results">
          {found.map((piece) => (
            <li key={piece.id}>
              <button
                type="button"
                class="editor-result"
                onClick={() => {
                  onClose();
                  session.run(insertBlocks([makeReusable(piece.id)]));
                }}
              >
                {piece.title}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

export default {
  reusable: {
    order: 350,
    spec: object("reusable"),
    label,
    read: { "core/block": read },
    write: ({ node }) => delimited("core/block", attrsOf(node).json, null),
    view: (node, _, __, { reusable }) => {
      const gone = new AbortController();
      return new ObjectView(node, (shown) => named(shown, reusable(), gone.signal), () => gone.abort());
    },
    insert: [
      {
        label,
        icon: "copy",
        order: 200,
        words: "pattern synced snippet block vorlage baustein",
        allowed: ({ reusable }) => reusable !== undefined,
        run: (session) => void session.ask({ kind: "block", Dialog: ReusableDialog }),
      },
    ],
  },
} satisfies Kinds;
