/** Parts of the editor's dialogs and bars. */

import type { JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { announce, Button, Dialog, Field, type FieldIds } from "../ui";

interface LineProps {
  ids: FieldIds;
  value: string;
  mode?: "text" | "url" | "numeric";
  /** Gets the focus when the dialog opens, rather than the button that closes it. */
  first?: boolean;
  /** The list of choices below it, and the one that Enter takes. */
  list?: { id: string; active: string | null };
  onText(text: string): void;
}

function useFirst<T extends HTMLElement>(first: boolean): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (!first) return;
    const frame = requestAnimationFrame(() => element.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  return element;
}

export function Line({ ids, value, mode, first, list, onText }: LineProps): JSX.Element {
  const element = useFirst<HTMLInputElement>(first === true);
  const combobox: JSX.IntrinsicElements["input"] =
    list === undefined
      ? {}
      : { role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": list.active !== null, "aria-activedescendant": list.active ?? undefined };
  return <input {...ids} {...combobox} ref={element} class="input" type="text" inputMode={mode ?? "text"} value={value} onInput={(event) => onText(event.currentTarget.value)} />;
}

export function Markup({ ids, value, onText }: LineProps): JSX.Element {
  const element = useFirst<HTMLTextAreaElement>(true);
  return (
    <textarea
      {...ids}
      ref={element}
      class="textarea editor-source"
      rows={14}
      spellcheck={false}
      value={value}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

interface PanelTextProps {
  label: string;
  value: string;
  wide?: boolean;
  mode?: "text" | "url" | "numeric";
  onChange(text: string): void;
}

/** A field of the bar that takes effect when it is left, or with Enter. */
export function PanelText({ label, value, wide, mode, onChange }: PanelTextProps): JSX.Element {
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
        inputMode={mode ?? "text"}
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

interface PercentProps {
  label: string;
  value: number | null;
  /** Nothing is a value, too. */
  empty?: boolean;
  onChange(value: number | null): void;
}

export function Percent({ label, value, empty, onChange }: PercentProps): JSX.Element {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          class="input"
          type="number"
          min={0}
          max={100}
          step="any"
          value={value ?? ""}
          onChange={(event) => {
            const number = event.currentTarget.valueAsNumber;
            if (Number.isFinite(number)) onChange(Math.min(100, Math.max(0, Math.round(number * 100) / 100)));
            else if (empty === true) onChange(null);
          }}
        />
      )}
    </Field>
  );
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
export function Area({ title, form, value, filtered, error, onInput, onSubmit, onClose }: AreaProps): JSX.Element {
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
