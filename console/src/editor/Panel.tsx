/** Details of the block that the cursor is in: of a picture, a button, an embed, a numbered list. */

import type { Node } from "prosemirror-model";
import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { t } from "../i18n";
import { announce, Button, toast } from "../ui";
import { withAlt, withButtonLink, withImageLink, withNumbers, withWidth } from "./change";
import { setAttrs } from "./commands";
import { jsonWith } from "./generate";
import { attribute, insideOf } from "./html";
import { shownPicture } from "./looks";
import { makeEmbed, makeImage } from "./make";
import { nameOf } from "./node-views";
import { attrsOf } from "./schema";
import type { Session } from "./session";
import type { EditorProps } from "./types";

export function Panel({ session, props }: { session: Session; props: EditorProps }): JSX.Element | null {
  const node = session.panel.value;
  const pos = session.status.value?.panel?.pos;
  if (node === null || pos === undefined) return null;
  const set = (attrs: Record<string, unknown>) => setAttrs(pos, attrs)(session.view.state, session.view.dispatch);
  return (
    <div class="editor-panel" role="group" aria-label={nameOf(node)} key={`${node.type.name}-${pos}`}>
      <strong class="editor-panel-name">{nameOf(node)}</strong>
      {node.type.name === "image" && <ImageDetails node={node} set={set} />}
      {node.type.name === "image" && <CopyImage node={node} pos={pos} session={session} props={props} />}
      {node.type.name === "button" && (
        <Text label={t("editor.button_link")} value={attribute(insideOf((node.attrs["link"] as string | null) ?? ""), "href") ?? ""} url onChange={(text) => set(withButtonLink(node, text))} />
      )}
      {node.type.name === "embed" && <Text label={t("editor.address")} value={node.attrs["url"] as string} url onChange={(text) => embedded(text, node, set)} />}
      {node.type.name === "list" && <ListDetails node={node} set={set} />}
      {node.type.name === "raw" && (
        <Button small onClick={() => session.editRaw(pos)}>
          {t("editor.edit_source")}
        </Button>
      )}
    </div>
  );
}

type Set = (attrs: Record<string, unknown>) => void;

function embedded(address: string, node: Node, set: Set): void {
  const made = makeEmbed(address);
  if (made === null) return;
  const known = jsonWith(attrsOf(made).json, {});
  set({ ...made.attrs, slice: null, style: attrsOf(node).style, cap: node.attrs["cap"], json: known });
}

function ImageDetails({ node, set }: { node: Node; set: Set }): JSX.Element {
  const inside = insideOf(node.attrs["img"] as string);
  const link = node.attrs["link"] as string | null;
  const width = /(?:^|;)\s*width:\s*(\d{1,4})px/.exec(attribute(inside, "style") ?? "")?.[1] ?? "";
  return (
    <>
      <Text label={t("editor.alt")} value={attribute(inside, "alt") ?? ""} wide onChange={(text) => set(withAlt(node, text))} />
      <Text label={t("editor.image_link")} value={link === null ? "" : (attribute(insideOf(link), "href") ?? "")} url onChange={(text) => set(withImageLink(node, text))} />
      <Text label={t("editor.image_width")} value={width} number onChange={(text) => set(withWidth(node, /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null))} />
    </>
  );
}

/** An image of another site can be copied into the library, where the server takes addresses. */
function CopyImage({ node, pos, session, props }: { node: Node; pos: number; session: Session; props: EditorProps }): JSX.Element | null {
  const [busy, setBusy] = useState(false);
  const inside = insideOf(node.attrs["img"] as string);
  const address = attribute(inside, "src") ?? "";
  const copy = props.picture?.copy;
  if (copy === undefined || !/^https?:/i.test(address) || shownPicture(address) !== "") return null;
  const run = async () => {
    setBusy(true);
    try {
      const made = makeImage({ ...(await copy(address)), alt: attribute(inside, "alt") ?? "" });
      const place = session.view.isDestroyed ? null : placeOfImage(session.view.state.doc, pos, address);
      if (made !== null && place !== null) {
        const { json, tag, img } = made.attrs;
        const attrs = { ...place.node.attrs, slice: null, json, tag, img };
        setAttrs(place.pos, attrs)(session.view.state, session.view.dispatch);
        announce(t("editor.image_copied"));
      }
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  return (
    <Button small busy={busy} title={t("editor.image_copy_hint")} onClick={() => void run()}>
      {t("editor.image_copy")}
    </Button>
  );
}

/** Where an image is by now: the text may have changed while it was copied. */
function placeOfImage(doc: Node, pos: number, address: string): { node: Node; pos: number } | null {
  const is = (node: Node | null): node is Node => node?.type.name === "image" && attribute(insideOf(node.attrs["img"] as string), "src") === address;
  const here = pos <= doc.content.size ? doc.nodeAt(pos) : null;
  if (is(here)) return { node: here, pos };
  let found: { node: Node; pos: number } | null = null;
  doc.descendants((node, at) => {
    if (found === null && is(node)) found = { node, pos: at };
    return found === null;
  });
  return found;
}

function ListDetails({ node, set }: { node: Node; set: Set }): JSX.Element {
  const tag = attrsOf(node).tag ?? "";
  return (
    <>
      <Text
        label={t("editor.first_number")}
        value={attribute(tag, "start") ?? "1"}
        number
        onChange={(text) => set(withNumbers(node, { start: /^-?\d{1,9}$/.test(text) && text !== "1" ? Number(text) : null }))}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={attribute(tag, "reversed") !== null}
          onChange={(event) => set(withNumbers(node, { reversed: event.currentTarget.checked }))}
        />
        {t("editor.count_down")}
      </label>
    </>
  );
}

interface TextProps {
  label: string;
  value: string;
  wide?: boolean;
  url?: boolean;
  number?: boolean;
  onChange(text: string): void;
}

/** A field that takes effect when it is left, or with Enter. */
function Text({ label, value, wide, url, number, onChange }: TextProps): JSX.Element {
  const id = useId();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => {
    if (text !== value) onChange(text.trim());
  };
  return (
    <div class={`editor-panel-field${wide === true ? " editor-panel-wide" : ""}`}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="text"
        inputMode={url === true ? "url" : number === true ? "numeric" : "text"}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          done();
        }}
      />
    </div>
  );
}
