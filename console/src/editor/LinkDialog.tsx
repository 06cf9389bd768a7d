/** Asks where a link leads: an address, or something of the site that a search finds. */

import type { Mark, MarkType } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { t } from "../i18n";
import { Button, Dialog, Field } from "../ui";
import { fullAddress, hostAddress } from "./addresses";
import { attribute, insideOf, withAttributes } from "./html";
import { Actions, Line, useFound } from "./inputs";
import { safeAddress } from "./looks";
import { schema } from "./blocks";
import type { Session } from "./session";
import type { EditorProps, LinkTarget } from "./types";

const type = schema.marks["link"] as MarkType;

/** The link at the cursor and how far it reaches; else the selection. */
export function linkAt(state: EditorState): { from: number; to: number; mark: Mark | null } {
  const { from, to, $from } = state.selection;
  const parent = $from.parent;
  const start = $from.start();
  let found: { from: number; to: number; mark: Mark } | null = null;
  parent.forEach((node, offset) => {
    const mark = type.isInSet(node.marks);
    const at = start + offset;
    const touches = at <= from && from <= at + node.nodeSize && (from < at + node.nodeSize || from === to);
    if (mark === undefined) return;
    if (found !== null && found.to === at && mark.eq(found.mark)) found = { ...found, to: at + node.nodeSize };
    else if (touches && found === null) found = { from: runStart(parent, offset, mark) + start, to: at + node.nodeSize, mark };
  });
  return found ?? { from, to, mark: null };
}

/** Where the run of one mark begins that goes on at an offset. */
function runStart(parent: EditorState["doc"], offset: number, mark: Mark): number {
  let begin = offset;
  let before: { end: number; start: number }[] = [];
  parent.forEach((node, at) => {
    if (at < offset) before = mark.isInSet(node.marks) ? [...before, { start: at, end: at + node.nodeSize }] : [];
  });
  const first = before[0];
  if (first !== undefined) begin = first.start;
  return begin;
}

export function LinkDialog({ session, props, onClose }: { session: Session; props: EditorProps; onClose(): void }): JSX.Element {
  const place = useMemo(() => linkAt(session.view.state), []);
  const open = place.mark === null ? null : ((place.mark.attrs["open"] as string | null) ?? "");
  const href = (place.mark?.attrs["href"] as string | undefined) ?? "";
  const [address, setAddress] = useState(href);
  const [fresh, setFresh] = useState(attribute(insideOf(open ?? ""), "target") === "_blank");
  const [wrong, setWrong] = useState(false);
  const [active, setActive] = useState(0);
  const list = useId();
  const full = fullAddress(address);
  const found = useFound<LinkTarget>(full !== null || (href !== "" && address === href) ? "" : address, props.link === undefined ? undefined : (text, signal) => props.link?.search(text, signal) ?? Promise.resolve([]), 2);
  const here = Math.min(active, found.length - 1);
  useEffect(() => {
    document.getElementById(`${list}-${here}`)?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const apply = (address: string | null, title: string) => {
    const safe = safeAddress(address);
    setWrong(safe === null || safe === "");
    if (safe === null || safe === "") return;
    onClose();
    session.run((state, dispatch) => {
      dispatch?.(linked(state, place, { href: safe, fresh, open, title }));
      return true;
    });
  };
  /** What was written, where it is an address; else the record that is chosen. */
  const submit = () => {
    const target = found[here];
    if (full === null && target !== undefined) apply(target.url, target.title);
    else apply(full ?? hostAddress(address) ?? (address === href ? address : null), "");
  };
  const move = (event: TargetedKeyboardEvent<HTMLFormElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || found.length === 0 || !(event.target instanceof HTMLInputElement) || event.target.type !== "text") return;
    event.preventDefault();
    setActive((here + step + found.length) % found.length);
  };
  const remove = () => {
    onClose();
    session.run((state, dispatch) => {
      dispatch?.(state.tr.removeMark(place.from, place.to, type));
      return true;
    });
  };
  return (
    <Dialog
      title={t("editor.link")}
      onClose={onClose}
      actions={
        <>
          {place.mark !== null && (
            <Button kind="danger" onClick={remove}>
              {t("editor.link_remove")}
            </Button>
          )}
          <Actions form="editor-link" onClose={onClose} />
        </>
      }
    >
      <form
        id="editor-link"
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={move}
      >
        <Field label={props.link === undefined ? t("editor.address") : t("editor.address_or_search")} error={wrong ? t("editor.alert_address") : undefined}>
          {(ids) => (
            <Line
              ids={ids}
              first
              value={address}
              list={{ id: list, active: found.length === 0 ? null : `${list}-${here}` }}
              onText={(text) => {
                setAddress(text);
                setActive(0);
                setWrong(false);
              }}
            />
          )}
        </Field>
        <ul class="editor-results" id={list} role="listbox" aria-label={t("editor.link_results")} hidden={found.length === 0}>
          {found.map((target, place) => (
            <li
              key={target.url}
              id={`${list}-${place}`}
              class="editor-result"
              role="option"
              aria-selected={place === here}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => apply(target.url, target.title)}
            >
              <span>{target.title}</span>
              {target.hint !== undefined && <span class="editor-result-hint">{target.hint}</span>}
            </li>
          ))}
        </ul>
        <label class="check">
          <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.currentTarget.checked)} />
          {t("editor.link_new_window")}
        </label>
      </form>
    </Dialog>
  );
}

/** The text with a link; without a selected text, the title or the address becomes one. */
function linked(
  state: EditorState,
  place: { from: number; to: number },
  link: { href: string; fresh: boolean; open: string | null; title: string },
): Transaction {
  const inside = insideOf(link.open ?? "");
  const target = link.fresh ? { target: "_blank", rel: "noreferrer noopener" } : attribute(inside, "target") === "_blank" ? { target: null, rel: null } : {};
  const written = withAttributes(inside, { href: link.href, ...target });
  const plain = attribute(inside, "href") === null && !link.fresh;
  const mark = type.create({ href: link.href, open: plain ? null : `<a${written}>` });
  const tr = state.tr;
  if (place.from === place.to) {
    const text = schema.text(link.title === "" ? link.href : link.title, [...(state.storedMarks ?? state.selection.$from.marks()), mark]);
    return tr.replaceSelectionWith(text, false).scrollIntoView();
  }
  return tr.removeMark(place.from, place.to, type).addMark(place.from, place.to, mark);
}
