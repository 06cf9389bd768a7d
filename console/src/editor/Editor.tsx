/** The editor of a record's content. */

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { Menu } from "../ui";
import { Dialogs } from "./dialogs";
import "./editor.css";
import { Handle } from "./Handle";
import { Panel } from "./Panel";
import { Session } from "./session";
import { SlashList } from "./SlashList";
import { applied, shown } from "./source";
import { Toolbar } from "./Toolbar";
import type { EditorProps } from "./types";

const MOST_GIVEN = 50;

/** The session of a mounted editor, which follows what the form says. */
function useSession(props: EditorProps, place: RefObject<HTMLDivElement | null>) {
  const latest = useRef(props);
  latest.current = props;
  const [session, setSession] = useState<Session | null>(null);
  const [source, setSource] = useState<string | null>(null);
  const sourceNow = useRef<string | null>(null);
  sourceNow.current = source;
  /** Values that were handed on and may still come back: a form may draw an older one after a newer one was handed on. */
  const given = useRef<string[]>([]);
  const seen = useRef(props.value);
  const hand = (value: string) => {
    given.current = [...given.current.slice(-MOST_GIVEN), value];
    latest.current.onChange(value);
  };

  useLayoutEffect(() => {
    if (place.current === null) return;
    const made = new Session(place.current, () => ({ ...latest.current, onChange: hand }));
    setSession(made);
    latest.current.handle?.({
      value: () => (sourceNow.current === null ? made.flush() : sourceNow.current),
      focus: () => made.view.focus(),
    });
    return () => {
      latest.current.handle?.(null);
      made.destroy();
    };
  }, []);

  useEffect(() => {
    if (session === null || props.value === seen.current) return;
    seen.current = props.value;
    const own = given.current.lastIndexOf(props.value);
    if (own >= 0) {
      given.current = given.current.slice(own);
      return;
    }
    given.current = [];
    if (sourceNow.current !== null) setSource(props.value);
    session.replace(props.value, true);
  }, [session, props.value]);

  useEffect(() => {
    session?.view.setProps({});
  }, [session, props.readOnly, props.label, props.describedBy, props.invalid]);

  return { session, source, setSource, hand };
}

export function Editor(props: EditorProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const { session, source, setSource, hand } = useSession(props, place);

  const [writing, setWriting] = useWriting();
  const toggle = () => {
    if (session === null) return;
    if (source === null) {
      setSource(session.flush());
      return;
    }
    session.replace(source, false);
    session.flush();
    setSource(null);
  };

  return (
    <div class={`editor${props.invalid === true ? " editor-wrong" : ""}`} onKeyDown={(event) => toToolbar(event, frame.current)}>
      {session !== null && <Toolbar session={session} props={props} source={source !== null} onSource={toggle} writing={writing} onWriting={() => setWriting(!writing)} />}
      {session !== null && source === null && props.readOnly !== true && <Panel session={session} props={props} />}
      <div ref={frame} class="editor-frame" hidden={source !== null}>
        <div ref={place} />
        {session !== null && frame.current !== null && source === null && (
          <>
            {props.readOnly !== true && <Handle session={session} frame={frame.current} />}
            <SlashList session={session} props={props} frame={frame.current} />
          </>
        )}
      </div>
      {source !== null && (
        <Source
          value={source}
          props={props}
          onInput={(text) => {
            props.onTyping?.();
            setSource(text);
            hand(text);
          }}
        />
      )}
      {session !== null && source === null && <Foot session={session} />}
      {session !== null && <Dialogs session={session} props={props} />}
    </div>
  );
}

/** Whether the screen shows the text and its title alone. */
function useWriting(): [boolean, (on: boolean) => void] {
  const [writing, setWriting] = useState(false);
  useLayoutEffect(() => {
    if (!writing) return undefined;
    document.documentElement.dataset["writing"] = "";
    return () => void delete document.documentElement.dataset["writing"];
  }, [writing]);
  return [writing, setWriting];
}

/** How long the text is, and its headings. */
function Foot({ session }: { session: Session }): JSX.Element {
  const { words, headings } = session.overview.value;
  const items = headings.map(({ level, text, pos }) => ({ name: String(pos), label: `${"\u2003".repeat(Math.max(0, level - 2))}${text}`, onSelect: () => session.go(pos) }));
  return (
    <div class="editor-foot soft">
      <span>{t("editor.words", { count: words })}</span>
      {items.length > 0 && (
        <Menu label={t("editor.outline")} icon="list" small placement="bottom-end" items={items}>
          {t("editor.outline")}
        </Menu>
      )}
    </div>
  );
}

/** Alt+F10 goes to the toolbar, as in other editors; Escape in it comes back. */
function toToolbar(event: KeyboardEvent, frame: HTMLElement | null): void {
  const bar = frame?.parentElement?.querySelector<HTMLElement>(".editor-toolbar");
  if (event.key === "F10" && event.altKey) {
    event.preventDefault();
    bar?.querySelector<HTMLElement>('button[tabindex="0"]')?.focus();
  } else if (event.key === "Escape" && bar?.contains(event.target as Node) === true && !event.defaultPrevented) {
    frame?.querySelector<HTMLElement>(".ProseMirror")?.focus();
  }
}

/** The whole content as it is stored. */
function Source({ value, props, onInput }: { value: string; props: EditorProps; onInput(text: string): void }): JSX.Element {
  const text = useRef(value);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    area.current?.focus();
  }, []);
  useEffect(() => {
    if (value === text.current) return;
    text.current = value;
    if (area.current !== null) area.current.value = shown(value);
  }, [value]);
  return (
    <textarea
      ref={area}
      class="textarea editor-source editor-source-whole"
      aria-label={`${props.label}: ${t("editor.source")}`}
      aria-describedby={props.describedBy}
      readOnly={props.readOnly === true}
      spellcheck={false}
      rows={24}
      defaultValue={shown(value)}
      onInput={(event) => {
        text.current = applied(text.current, event.currentTarget.value);
        onInput(text.current);
      }}
    />
  );
}
