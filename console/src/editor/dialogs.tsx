/** Dialogs of the editor: each asks for what a command needs. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { Button, Dialog, Field, announce } from "../ui";
import { insertBlocks, setAttrs } from "./commands";
import { Line, Markup } from "./inputs";
import { LinkDialog } from "./LinkDialog";
import { makeEmbed, makeRaw, makeReusable } from "./make";
import { nameOf } from "./node-views";
import { schema } from "./schema";
import { SettingsDialog } from "./Settings";
import type { Asked, Session } from "./session";
import { applied, shown } from "./source";
import type { EditorProps, ReusablePiece } from "./types";

export function Dialogs({ session, props }: { session: Session; props: EditorProps }): JSX.Element | null {
  const asked = session.asked.value;
  const open = useRef(false);
  useEffect(() => {
    // As long as the dialog is there, nothing else can have the focus.
    if (open.current && asked === null) session.view.focus();
    open.current = asked !== null;
  }, [asked]);
  if (asked === null) return null;
  const close = () => {
    session.asked.value = null;
  };
  switch (asked.kind) {
    case "link":
      return <LinkDialog session={session} props={props} onClose={close} />;
    case "embed":
      return <EmbedDialog session={session} onClose={close} />;
    case "reusable":
      return <ReusableDialog session={session} props={props} onClose={close} />;
    case "raw":
      return <RawDialog session={session} asked={asked} filtered={props.capabilities?.unfilteredHtml !== true} onClose={close} />;
    case "source":
      return <SourceDialog session={session} pos={asked.pos} filtered={props.capabilities?.unfilteredHtml !== true} onClose={close} />;
    case "settings":
      return <SettingsDialog session={session} props={props} onClose={close} />;
    default:
      return <HelpDialog onClose={close} />;
  }
}

interface Common {
  session: Session;
  onClose(): void;
}

/** The buttons at the end of a form in a dialog. */
export function Actions({ form, onClose, label }: { form: string; onClose(): void; label?: string }): JSX.Element {
  return (
    <>
      <Button onClick={onClose}>{t("ui.cancel")}</Button>
      <Button kind="primary" type="submit" form={form}>
        {label ?? t("editor.apply")}
      </Button>
    </>
  );
}

function EmbedDialog({ session, onClose }: Common): JSX.Element {
  const [address, setAddress] = useState("");
  const [wrong, setWrong] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const made = makeEmbed(address.trim());
    setWrong(made === null);
    if (made === null) return;
    // Without blocks, an address alone in a paragraph is embedded.
    const classic = session.view.state.doc.attrs["classic"] === true;
    const node = classic ? schema.node("paragraph", null, [schema.text(made.attrs["url"] as string)]) : made;
    onClose();
    session.run(insertBlocks([node]));
  };
  return (
    <Dialog title={t("editor.embed")} onClose={onClose} actions={<Actions form="editor-embed" onClose={onClose} label={t("editor.insert")} />}>
      <form id="editor-embed" onSubmit={submit}>
        <Field label={t("editor.address")} help={t("editor.embed_hint")} error={wrong ? t("editor.alert_address") : undefined}>
          {(ids) => <Line ids={ids} first mode="url" value={address} onText={setAddress} />}
        </Field>
      </form>
    </Dialog>
  );
}

/** What a search finds, a moment after the last key. */
export function useFound<T>(text: string, search: ((text: string, signal: AbortSignal) => Promise<T[]>) | undefined, least: number): T[] {
  const [found, setFound] = useState<T[]>([]);
  useEffect(() => {
    if (search === undefined || text.trim().length < least) {
      setFound([]);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      search(text.trim(), abort.signal).then(
        (results) => {
          if (abort.signal.aborted) return;
          setFound(results);
          announce(t("editor.results", { count: results.length }));
        },
        () => setFound([]),
      );
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}

function ReusableDialog({ session, props, onClose }: Common & { props: EditorProps }): JSX.Element {
  const [text, setText] = useState("");
  const found = useFound<ReusablePiece>(text, props.reusable === undefined ? undefined : (words, signal) => props.reusable?.search(words, signal) ?? Promise.resolve([]), 0);
  return (
    <Dialog title={t("editor.reusable")} onClose={onClose}>
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

interface AreaProps {
  title: string;
  form: string;
  value: string;
  filtered: boolean;
  error?: string | undefined;
  onInput(text: string): void;
  onSubmit(): void;
  onClose(): void;
}

/** A dialog with a text area for markup. */
function Area({ title, form, value, filtered, error, onInput, onSubmit, onClose }: AreaProps): JSX.Element {
  return (
    <Dialog title={title} kind="wide" onClose={onClose} actions={<Actions form={form} onClose={onClose} />}>
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <Field label={t("editor.source")} help={filtered ? t("editor.html_filtered") : undefined} error={error}>
          {(ids) => <Markup ids={ids} value={value} onText={onInput} />}
        </Field>
      </form>
    </Dialog>
  );
}

function RawDialog({ session, asked, filtered, onClose }: Common & { asked: Extract<Asked, { kind: "raw" }>; filtered: boolean }): JSX.Element {
  const node = asked.pos === null ? null : session.view.state.doc.nodeAt(asked.pos);
  const before = (node?.attrs["source"] as string | undefined) ?? "";
  const [text, setText] = useState(shown(before));
  const [wrong, setWrong] = useState(false);
  const submit = () => {
    const source = applied(before, text);
    const made = makeRaw(asked.name, source);
    if (!session.holds(made)) {
      setWrong(true);
      return;
    }
    onClose();
    if (asked.pos === null) session.run(insertBlocks([made]));
    else session.run(setAttrs(asked.pos, { ...node?.attrs, source }));
  };
  const title = asked.name === "core/shortcode" ? t("editor.shortcode") : t("editor.html");
  return (
    <Area title={title} form="editor-raw" value={text} filtered={filtered} error={wrong ? t("editor.fallback_source") : undefined} onInput={setText} onSubmit={submit} onClose={onClose} />
  );
}

function SourceDialog({ session, pos, filtered, onClose }: Common & { pos: number; filtered: boolean }): JSX.Element {
  const node = session.view.state.doc.nodeAt(pos);
  const [before] = useState(() => session.source(pos));
  const [text, setText] = useState(shown(before));
  const [wrong, setWrong] = useState(false);
  const submit = () => {
    const after = applied(before, text);
    if (after !== before && !session.putSource(pos, after)) {
      setWrong(true);
      return;
    }
    onClose();
  };
  const name = node === null ? "" : nameOf(node);
  return (
    <Area
      title={t("editor.source_of", { name })}
      form="editor-block-source"
      value={text}
      filtered={filtered}
      error={wrong ? t("editor.fallback_source") : undefined}
      onInput={setText}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}

function HelpDialog({ onClose }: { onClose(): void }): JSX.Element {
  const command = /Mac|iP(?:hone|ad)/.test(navigator.platform) ? "⌘" : "Ctrl";
  const rows: [string, string][] = [
    [`${command}+B, I, U, E`, t("editor.help_marks")],
    [`${command}+K`, t("editor.help_link")],
    [`/, ${command}+/`, t("editor.help_insert")],
    ["Alt+Shift+↑, ↓", t("editor.help_move")],
    [`${command}+Shift+D`, t("editor.help_duplicate")],
    ["Alt+Shift+⌫", t("editor.help_block")],
    [`${command}+Enter, ${command}+Shift+Enter`, t("editor.help_paragraph")],
    ["Escape", t("editor.help_leave")],
    ["Alt+F10", t("editor.help_toolbar")],
    [`${command}+Z, ${command}+Y`, t("editor.help_undo")],
    ["##, -, 1., >, ```, ---", t("editor.help_rules")],
    ["**…**, *…*, ~~…~~, `…`, [text](url)", t("editor.help_signs")],
  ];
  return (
    <Dialog title={t("editor.help")} onClose={onClose}>
      <dl class="editor-help">
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
