/** A text field with choices that are found while somebody types; one choice or several. */

import * as zag from "@zag-js/combobox";
import { normalizeProps, useMachine } from "@zag-js/preact";
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isAbort } from "../api/failure";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button } from "./button";
import type { FieldIds } from "./field";
import { Icon } from "./icon";

export interface Choice {
  value: string;
  label: string;
  /** A second line, such as where it is. */
  hint?: string | undefined;
  disabled?: boolean | undefined;
  /** How deep it is in a tree. */
  level?: number | undefined;
}

interface ComboboxProps {
  /** Name for assistive technology, unless `field` ties it to a label. */
  label: string;
  field?: FieldIds | undefined;
  /** What is chosen, with its labels. */
  value: Choice[];
  onChange: (value: Choice[]) => void;
  multiple?: boolean | undefined;
  /** Choices that are known; filtered by what is typed. */
  choices?: Choice[] | undefined;
  /** Looks choices up; instead of `choices`. */
  search?: ((text: string, signal: AbortSignal) => Promise<Choice[]>) | undefined;
  /** Makes a choice of a text that matches nothing; the label of the offer. */
  create?: { label: (text: string) => string; make: (text: string) => Promise<Choice | null> } | undefined;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  readOnly?: boolean | undefined;
  /** Shows a choice in the list. */
  render?: ((choice: Choice) => ComponentChildren) | undefined;
}

const CREATE = "\u0000create";
/** How long somebody stops typing before a look-up. */
const PAUSE = 150;

export function Combobox(props: ComboboxProps): JSX.Element {
  const { label, field, value, multiple = false, disabled, readOnly, placeholder } = props;
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const found = useChoices(props, text, open);
  const typed = text.trim();
  const offered = useMemo(() => {
    const chosen = new Set(value.map((choice) => choice.value));
    const rest = multiple ? found.choices.filter((choice) => !chosen.has(choice.value)) : found.choices;
    const exact = found.choices.some((choice) => choice.label.toLowerCase() === typed.toLowerCase());
    const fresh = props.create !== undefined && typed !== "" && !exact && !found.loading;
    return fresh ? [...rest, { value: CREATE, label: props.create?.label(typed) ?? typed }] : rest;
  }, [found.choices, found.loading, typed, value, multiple, props.create]);
  const collection = useMemo(
    () => zag.collection({ items: offered, itemToValue: (one) => one.value, itemToString: (one) => one.label, isItemDisabled: (one) => one.disabled === true }),
    [offered],
  );
  const choose = async (wanted: string): Promise<void> => {
    const choice = wanted === CREATE ? await props.create?.make(typed) : offered.find((one) => one.value === wanted);
    if (choice === undefined || choice === null) return;
    props.onChange(multiple ? [...value.filter((one) => one.value !== choice.value), choice] : [choice]);
    if (multiple) setText("");
  };
  const id = useId();
  const single = multiple ? "" : (value[0]?.label ?? "");
  const service = useMachine(zag.machine, {
    id,
    ids: { input: field?.id ?? `${id}-input` },
    collection,
    value: [],
    inputValue: open ? text : single,
    inputBehavior: "autohighlight",
    selectionBehavior: "preserve",
    openOnClick: true,
    disabled: disabled === true,
    readOnly: readOnly === true,
    invalid: field?.["aria-invalid"] === "true",
    ...(placeholder === undefined ? {} : { placeholder }),
    positioning: { placement: "bottom-start", sameWidth: true, gutter: 4, strategy: "fixed" },
    closeOnSelect: !multiple,
    translations: { triggerLabel: t("ui.open_list"), clearTriggerLabel: t("ui.clear") },
    onOpenChange: (details: zag.OpenChangeDetails) => {
      // Typing opens it, too, and its first letter counts.
      if (details.open && !open && details.reason !== "input-change") setText("");
      setOpen(details.open);
    },
    onInputValueChange: (details: zag.InputValueChangeDetails) => {
      if (details.reason === "input-change") setText(details.inputValue);
    },
    onSelect: (details: zag.SelectionDetails) => void choose(details.itemValue),
  });
  const box = zag.connect(service, normalizeProps);
  const input = useTypedText(open ? text : single);
  return (
    <div {...box.getRootProps()} class={`combobox${multiple ? " combobox-many" : ""}`}>
      {multiple && value.length > 0 && <Chosen value={value} locked={disabled === true || readOnly === true} onChange={props.onChange} />}
      <div {...box.getControlProps()} class="combobox-control">
        <input
          {...(box.getInputProps() as object)}
          ref={input}
          class="input"
          aria-label={field === undefined ? label : undefined}
          aria-labelledby={field === undefined ? undefined : `${field.id}-label`}
          aria-describedby={field?.["aria-describedby"]}
          aria-required={field?.["aria-required"]}
        />
        {!multiple && value.length > 0 && disabled !== true && readOnly !== true && (
          <Button kind="quiet" small icon="close" label={t("ui.clear")} onClick={() => props.onChange([])} />
        )}
        <button {...box.getTriggerProps()} class="button button-quiet button-icon button-small" tabIndex={-1}>
          <Icon name="chevron-down" size={16} />
        </button>
      </div>
      {box.open && (
        <div {...box.getPositionerProps()} class="popup-place">
          <ul {...(box.getContentProps() as JSX.IntrinsicElements["ul"])} class="popup listbox" aria-busy={found.loading}>
            {offered.map((choice) => (
              <Row key={choice.value} choice={choice} box={box} render={props.render} />
            ))}
          </ul>
          {offered.length === 0 && (
            <p class="popup listbox-note" role="status">
              {found.loading ? t("ui.loading") : (found.failure ?? t("ui.no_matches"))}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

/**
 * The machine writes its text into the input after the page is painted. A key that was pressed before that is taken away by
 * it; so the text that is known by now is written again with each rendering, and the caret stays where it was.
 */
function useTypedText(text: string): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  useEffect(() => {
    const element = input.current;
    const keep = (): void => {
      caret.current = element?.selectionStart ?? null;
    };
    // Before the machine hears of it: the rendering that follows happens between two listeners.
    element?.addEventListener("input", keep, true);
    return () => element?.removeEventListener("input", keep, true);
  }, []);
  useLayoutEffect(() => {
    const element = input.current;
    if (element === null || element.value === text) return;
    element.value = text;
    if (document.activeElement === element && caret.current !== null) element.setSelectionRange(caret.current, caret.current);
  });
  return input;
}

function Row({ choice, box, render }: { choice: Choice; box: zag.Api; render: ComboboxProps["render"] }): JSX.Element {
  const level = Math.min(choice.level ?? 0, 8);
  return (
    <li {...(box.getItemProps({ item: choice }) as JSX.IntrinsicElements["li"])} class={`listbox-item level-${level}`}>
      {choice.value === CREATE && <Icon name="add" size={16} />}
      {render !== undefined && choice.value !== CREATE ? render(choice) : <span>{choice.label}</span>}
      {choice.hint !== undefined && <span class="listbox-hint">{choice.hint}</span>}
    </li>
  );
}

function Chosen({ value, locked, onChange }: { value: Choice[]; locked: boolean; onChange: (value: Choice[]) => void }): JSX.Element {
  return (
    <ul class="tokens">
      {value.map((choice) => (
        <li key={choice.value} class="token">
          <span>{choice.label}</span>
          {!locked && (
            <Button
              kind="quiet"
              small
              icon="close"
              label={t("ui.remove", { name: choice.label })}
              onClick={() => onChange(value.filter((one) => one.value !== choice.value))}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

interface Found {
  choices: Choice[];
  loading: boolean;
  failure: string | null;
}

/** The choices that fit a text: from those that are known, or by a look-up. */
function useChoices(props: ComboboxProps, text: string, open: boolean): Found {
  const { choices, search } = props;
  const [found, setFound] = useState<Found>({ choices: [], loading: false, failure: null });
  const look = useRef(search);
  look.current = search;
  const lookedUp = search !== undefined;
  useEffect(() => {
    if (!lookedUp || !open) return undefined;
    const abort = new AbortController();
    setFound((before) => ({ ...before, loading: true, failure: null }));
    const timer = setTimeout(() => {
      look.current?.(text.trim(), abort.signal).then(
        (all) => setFound({ choices: all, loading: false, failure: null }),
        (error: unknown) => {
          if (!isAbort(error)) setFound({ choices: [], loading: false, failure: messageOf(error) });
        },
      );
    }, text === "" ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, open, lookedUp]);
  return useMemo(() => {
    if (lookedUp) return found;
    const words = text.trim().toLowerCase();
    const fits = (choices ?? []).filter((choice) => choice.label.toLowerCase().includes(words));
    return { choices: fits, loading: false, failure: null };
  }, [lookedUp, found, choices, text]);
}
