/** The row of buttons above the text. */

import { toggleMark } from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import type { JSX, TargetedFocusEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Key, t } from "../i18n";
import { Button, Icon, Menu, type MenuItem } from "../ui";
import { schema } from "./blocks";
import { deleteBlock, duplicateBlock, moveBlock, setAlign, setText, textChoices } from "./commands";
import { convertToBlocks } from "./convert";
import { insertions } from "./insert";
import { type Align, type Kind, kindsOf } from "./kind";
import type { Session, Status } from "./session";
import type { EditorProps } from "./types";

interface Props {
  session: Session;
  props: EditorProps;
  source: boolean;
  onSource(): void;
  /** The screen shows the text and its title alone. */
  writing: boolean;
  onWriting(): void;
}

/** One stop of the Tab key; the arrow keys walk within. */
export function Toolbar({ session, props, source, onSource, writing, onWriting }: Props): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const status = session.status.value;
  useEffect(() => {
    const bar = element.current;
    if (bar === null) return;
    const all = buttons(bar);
    const now = all.find((one) => one.dataset["stop"] === "true") ?? all[0];
    for (const one of all) one.tabIndex = one === now ? 0 : -1;
  });
  return (
    <div ref={element} class="editor-toolbar" role="toolbar" aria-label={t("editor.toolbar")} onKeyDown={walk} onFocusIn={stop}>
      {!source && status !== null && <Tools session={session} props={props} status={status} />}
      <div class="editor-tools editor-tools-end">
        <Button kind="quiet" small aria-pressed={source} onClick={onSource}>
          {t("editor.source")}
        </Button>
        <Button kind="quiet" small icon="align-full" label={t("editor.writing")} aria-pressed={writing} onClick={onWriting} />
        <Button kind="quiet" small icon="help" label={t("editor.help")} onClick={() => session.ask({ kind: "help" })} />
      </div>
    </div>
  );
}

function buttons(bar: HTMLElement): HTMLButtonElement[] {
  return Array.from(bar.querySelectorAll<HTMLButtonElement>("button")).filter((one) => !one.disabled && one.closest(".popup") === null);
}

/** The button that had the focus is the one that Tab comes back to. */
function stop(event: TargetedFocusEvent<HTMLDivElement>): void {
  for (const one of buttons(event.currentTarget)) {
    const here = one === event.target;
    one.tabIndex = here ? 0 : -1;
    one.dataset["stop"] = String(here);
  }
}

function walk(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const bar = event.currentTarget;
  const all = buttons(bar);
  const at = all.indexOf(event.target as HTMLButtonElement);
  if (at < 0) return;
  const forward = getComputedStyle(bar).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  const back = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
  const next = { [forward]: at + 1, [back]: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  all[(next + all.length) % all.length]?.focus();
}

function Tools({ session, props, status }: { session: Session; props: EditorProps; status: Status }): JSX.Element {
  const locked = props.readOnly === true;
  const mark = (name: string, icon: string, label: Key) => (
    <Tool
      icon={icon}
      label={t(label)}
      pressed={status.marks.includes(name)}
      disabled={locked || !session.can(toggleMark(schema.marks[name] as never))}
      onClick={() => session.toggle(name)}
    />
  );
  return (
    <>
      <div class="editor-tools">
        <Menu label={t("editor.insert_block")} icon="add" small placement="bottom-start" disabled={locked} items={insertItems(session, props)}>
          {t("editor.insert")}
        </Menu>
        <Kinds session={session} status={status} locked={locked} />
      </div>
      <div class="editor-tools">
        {mark("strong", "bold", "editor.bold")}
        {mark("em", "italic", "editor.italic")}
        {mark("underline", "underline", "editor.underline")}
        {mark("strike", "strike", "editor.strike")}
        {mark("code_text", "code", "editor.code")}
        <Tool
          icon="link"
          label={t("editor.link")}
          pressed={status.marks.includes("link")}
          disabled={locked}
          onClick={() => session.ask({ kind: "link" })}
        />
      </div>
      <div class="editor-tools">
        {ofKinds("tools").map(({ name, icon, label, run }) => (
          <Tool key={name} icon={icon} label={label()} pressed={status.tools.includes(name)} disabled={locked} onClick={() => session.run(run)} />
        ))}
        <Aligns session={session} status={status} locked={locked} />
        {kindsOf(schema).map(([kind, { menu }]) => {
          const checks = status.menus[kind];
          return menu !== undefined && checks !== undefined && <menu.Menu key={kind} session={session} checks={checks} />;
        })}
        <Tool icon="palette" label={t("editor.settings")} disabled={locked || !status.settings} onClick={() => session.ask({ kind: "settings" })} />
        <Menu label={t("editor.block_actions")} icon="block" small disabled={locked || status.block === null} items={blockItems(session)} />
      </div>
      <div class="editor-tools">
        <Tool icon="undo" label={t("editor.undo")} disabled={locked || !status.undo} onClick={() => session.run(undo)} />
        <Tool icon="redo" label={t("editor.redo")} disabled={locked || !status.redo} onClick={() => session.run(redo)} />
      </div>
      {status.classic && !locked && (
        <div class="editor-tools">
          <Button kind="quiet" small title={t("editor.blocks_convert_hint")} onClick={() => session.run(convertToBlocks)}>
            {t("editor.blocks_convert")}
          </Button>
        </div>
      )}
    </>
  );
}

interface ToolProps {
  icon: string;
  label: string;
  pressed?: boolean;
  disabled: boolean;
  onClick(): void;
}

/** Does not take the focus from the text when it is pressed with a pointer. */
function Tool({ icon, label, pressed, disabled, onClick }: ToolProps): JSX.Element {
  return (
    <Button
      kind="quiet"
      small
      icon={icon}
      label={label}
      aria-pressed={pressed}
      aria-disabled={disabled ? "true" : undefined}
      onMouseDown={(event: MouseEvent) => event.preventDefault()}
      onClick={() => {
        if (!disabled) onClick();
      }}
    />
  );
}

function Kinds({ session, status, locked }: { session: Session; status: Status; locked: boolean }): JSX.Element {
  const choices = textChoices().map(([, choice]) => choice);
  const current = choices.find(({ name }) => name === status.kind);
  const items: MenuItem[] = choices.map(({ name, label }) => ({
    name,
    label: label(),
    checked: name === status.kind,
    disabled: !session.can(setText(name)) && name !== status.kind,
    onSelect: () => session.setText(name),
  }));
  return (
    <Menu label={t("editor.text_kind")} small placement="bottom-start" disabled={locked || current === undefined} items={items}>
      <span class="editor-kind">{current === undefined ? t("editor.format") : current.label()}</span>
      <Icon name="chevron-down" size={14} />
    </Menu>
  );
}

const ALIGNS: [Align | null, Key][] = [
  [null, "editor.align_none"],
  ["left", "editor.align_left"],
  ["center", "editor.align_center"],
  ["right", "editor.align_right"],
  ["wide", "editor.align_wide"],
  ["full", "editor.align_full"],
];

function Aligns({ session, status, locked }: { session: Session; status: Status; locked: boolean }): JSX.Element {
  const items: MenuItem[] = ALIGNS.filter(([align]) => align === null || status.aligns.includes(align)).map(([align, key]) => ({
    name: align ?? "none",
    label: t(key),
    icon: align === null ? "text" : `align-${align}`,
    checked: status.align === align,
    onSelect: () => session.run(setAlign(align)),
  }));
  return <Menu label={t("editor.align")} icon={`align-${status.align ?? "left"}`} small disabled={locked || status.aligns.length === 0} items={items} />;
}

function insertItems(session: Session, props: EditorProps): MenuItem[] {
  return insertions(session, props).map(({ name, label, icon, run }) => ({ name, label, icon, onSelect: run }));
}

/** What kinds say for the toolbar, in order. */
function ofKinds<K extends "tools" | "actions">(what: K): NonNullable<Kind[K]>[number][] {
  return kindsOf(schema).flatMap(([, kind]): NonNullable<Kind[K]>[number][] => [...(kind[what] ?? [])]);
}

/** What can be done with the block that the cursor is in. */
function blockItems(session: Session): MenuItem[] {
  return [
    { name: "up", label: t("editor.move_up"), icon: "chevron-up", disabled: !session.can(moveBlock(-1)), onSelect: () => act(session, moveBlock(-1), "moved_up") },
    { name: "down", label: t("editor.move_down"), icon: "chevron-down", disabled: !session.can(moveBlock(1)), onSelect: () => act(session, moveBlock(1), "moved_down") },
    { name: "duplicate", label: t("editor.duplicate"), icon: "copy", onSelect: () => act(session, duplicateBlock, "duplicated") },
    ...ofKinds("actions").filter(({ run, always }) => always === true || session.can(run)).map(({ name, label, icon, run }) => ({ name, label: label(), icon, disabled: !session.can(run), onSelect: () => session.run(run) })),
    { name: "source", label: t("editor.edit_source"), icon: "code", separated: true, onSelect: () => session.editCurrent() },
    { name: "delete", label: t("editor.delete_block"), icon: "trash", danger: true, separated: true, onSelect: () => act(session, deleteBlock, "deleted") },
  ];
}

function act(session: Session, command: Parameters<Session["run"]>[0], what: Parameters<Session["say"]>[0]): void {
  session.say(session.run(command) ? what : "cannot_move");
}
