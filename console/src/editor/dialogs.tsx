/** Dialogs of the editor: each asks for what a command needs. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { Dialog } from "../ui";
import { Area } from "./inputs";
import { nameOf } from "./kind";
import { LinkDialog } from "./LinkDialog";
import { SettingsDialog } from "./Settings";
import type { Session } from "./session";
import { applied, shown } from "./source";
import type { EditorProps } from "./types";

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
    case "block":
      return <asked.Dialog session={session} props={props} onClose={close} />;
    case "source":
      return <SourceDialog session={session} pos={asked.pos} filtered={props.capabilities?.unfilteredHtml !== true} onClose={close} />;
    case "settings":
      return <SettingsDialog session={session} props={props} onClose={close} />;
    default:
      return <HelpDialog onClose={close} />;
  }
}

interface SourceProps {
  session: Session;
  pos: number;
  filtered: boolean;
  onClose(): void;
}

function SourceDialog({ session, pos, filtered, onClose }: SourceProps): JSX.Element {
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
