/** One record that somebody decides about: who wrote it, what, about what, and the buttons. */

import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { api, findState } from "../../api";
import type { Item } from "../../api/adapter";
import type { Resource, State } from "../../api/description";
import { isObject } from "../../api/failure";
import { displays } from "../../displays";
import { t } from "../../i18n";
import { tone } from "../../model/list-states";
import { ANSWERS, placeOfAnswer, type Subject, SUBJECT, subjectOf, type Verdict, type VerdictName } from "../../model/moderation";
import { inert, labelOf, stripHtml, valueAt } from "../../model/record";
import { CONTENT, DATE } from "../../model/roles";
import { href, places } from "../../router";
import { Button, toast } from "../../ui";
import { useLatest } from "../../ui/hooks";
import { STATE } from "./actions";

interface EntryProps {
  resource: Resource;
  states: State[];
  item: Item;
  id: string;
  choices: Verdict[];
  current: boolean;
  selected: boolean;
  answering: boolean;
  onFocus: () => void;
  onSelect: () => void;
  onAct: (name: VerdictName) => void;
  onAnswer: (on: boolean) => void;
}

const ICONS: Record<VerdictName, string> = { approve: "check", hold: "clock", spam: "block", trash: "trash", restore: "restore" };

export function Entry(props: EntryProps): JSX.Element {
  const { resource, item, id, choices, current } = props;
  const label = labelOf(resource, item, (own) => `${resource.singular} ${own}`);
  const answers = placeOfAnswer(resource, item);
  const opens = resource.operations["get"] !== undefined;
  return (
    <li class="queue-entry" data-entry={id} data-current={current} data-selected={props.selected} tabIndex={current ? 0 : -1} aria-label={t("people.entry", { name: label })} onFocus={props.onFocus}>
      <label class="select-box">
        <input type="checkbox" checked={props.selected} aria-label={t("people.select", { name: label })} onChange={props.onSelect} />
      </label>
      <div class="queue-body">
        <Head {...props} label={label} />
        <Context item={item} />
        <Text item={item} />
        <div class="queue-actions">
          {choices.map((choice) => (
            <Button key={choice.name} small kind={choice.name === "approve" ? "primary" : "normal"} icon={ICONS[choice.name]} aria-label={`${t(`people.do_${choice.name}`)}: ${label}`} onClick={() => props.onAct(choice.name)}>
              {t(`people.do_${choice.name}`)}
            </Button>
          ))}
          {answers !== null && (
            <Button small kind="quiet" icon="comment" aria-expanded={props.answering} onClick={() => props.onAnswer(!props.answering)}>
              {t("people.reply")}
            </Button>
          )}
          {opens && (
            <a class="button button-quiet button-small" href={href(places.item(resource.name, id))} aria-label={`${t("people.open")}: ${label}`}>
              {t("people.open")}
            </a>
          )}
        </div>
        {props.answering && answers !== null && <Answer resource={resource} preset={answers} to={label} waits={choices.some((choice) => choice.name === "approve") && findState(resource, String(item[STATE]))?.review === true} onApprove={() => props.onAct("approve")} onClose={() => props.onAnswer(false)} />}
      </div>
    </li>
  );
}

function Head({ resource, item, label }: EntryProps & { label: string }): JSX.Element {
  const state = findState(resource, String(item[STATE]));
  const email = text(item["author_email"]);
  const url = text(item["author_url"]);
  const ip = text(item["author_ip"]);
  const When = displays["date-time"];
  return (
    <div class="queue-head">
      <strong>{label}</strong>
      {email !== "" && email !== label && <span class="soft">{email}</span>}
      {/^https?:\/\//i.test(url) && (
        <a href={url} rel="noreferrer noopener nofollow" target="_blank" class="soft">
          {url.replace(/^https?:\/\//i, "")}
        </a>
      )}
      {ip !== "" && <code class="soft">{ip}</code>}
      <span class="spread" />
      {state !== undefined && <span class={`badge badge-${tone(state)}`}>{state.label}</span>}
      <span class="soft">
        <When value={item[DATE]} item={item} field={DATE} resource={resource} hints={{}} schema={{}} />
      </span>
    </div>
  );
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What the record is about, and what it answers. */
function Context({ item }: { item: Item }): JSX.Element | null {
  const subject = subjectOf(item, SUBJECT);
  const answered = subjectOf(item, ANSWERS);
  if (subject === null && answered === null) return null;
  return (
    <p class="queue-context soft">
      {subject !== null && (
        <>
          {t("people.about")} <Place subject={subject} />
        </>
      )}
      {answered !== null && (
        <>
          {" · "}
          {t("people.answers")} <Place subject={answered} />
        </>
      )}
    </p>
  );
}

/** A link into the console, where it has the record. */
function Place({ subject }: { subject: Subject }): JSX.Element {
  const path = itemPath(subject.href);
  const title = stripHtml(subject.title);
  const label = title === "" ? `#${subject.href.split("/").pop() ?? ""}` : title;
  if (path !== null) return <a href={href(path)}>{label}</a>;
  return subject.link === null ? <span>{label}</span> : <a href={subject.link}>{label}</a>;
}

function itemPath(address: string): string | null {
  const { description } = api();
  const match = /^(.*)\/([^/?#]+)\/?$/.exec(address);
  if (match === null) return null;
  const resource = description.resources.find((one) => {
    const list = one.operations["list"]?.path;
    return list !== undefined && one.key !== null && (match[1] ?? "").endsWith(list);
  });
  return resource === undefined ? null : places.item(resource.name, match[2] ?? "");
}

const LONG = 600;

/** The text, without its markup: nothing that a visitor wrote is run or loaded. Lines stay. */
function Text({ item }: { item: Item }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const value = item[CONTENT];
  const raw = isObject(value) ? (valueAt(value, "rendered") ?? valueAt(value, "raw")) : value;
  const lines = linesOf(text(raw));
  const long = lines.length > LONG;
  return (
    <div class="queue-text">
      {whole || !long ? lines : `${lines.slice(0, LONG).trimEnd()} …`}
      {long && !whole && (
        <Button kind="quiet" small onClick={() => setWhole(true)}>
          {t("people.whole_text")}
        </Button>
      )}
    </div>
  );
}

/** The text of HTML with its paragraphs and line breaks. */
export function linesOf(html: string): string {
  const page = new DOMParser().parseFromString(inert(html).replace(/<br\s*\/?>(\r?\n)?/gi, "\n").replace(/<\/(p|div|li|blockquote|h[1-6])>/gi, "$&\n"), "text/html");
  for (const element of page.querySelectorAll("script, style, template")) element.remove();
  return (page.body.textContent ?? "").replace(/\n{3,}/g, "\n\n").trim();
}

interface AnswerProps {
  resource: Resource;
  preset: Item;
  to: string;
  /** The record waits: answering lets it pass. */
  waits: boolean;
  onApprove: () => void;
  onClose: () => void;
}

function Answer({ resource, preset, to, waits, onApprove, onClose }: AnswerProps): JSX.Element {
  const id = useId();
  const [written, setWritten] = useState("");
  const [busy, setBusy] = useState(false);
  const latest = useLatest(written);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = async (): Promise<void> => {
    if (latest.current.trim() === "") return field.current?.focus();
    setBusy(true);
    try {
      await api().adapter.create(resource, { ...preset, [CONTENT]: latest.current });
      toast.done(t("people.replied", { name: to }));
      onClose();
      if (waits) onApprove();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <div class="queue-answer">
      <label htmlFor={id} class="field-label">
        {t("people.reply_to", { name: to })}
      </label>
      <textarea
        ref={field}
        id={id}
        class="textarea"
        rows={4}
        value={written}
        onInput={(event) => setWritten(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && written === "") onClose();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <div class="row">
        <Button kind="primary" busy={busy} onClick={() => void send()}>
          {t(waits ? "people.reply_and_approve" : "people.send_reply")}
        </Button>
        <Button onClick={onClose}>{t("ui.cancel")}</Button>
      </div>
    </div>
  );
}
