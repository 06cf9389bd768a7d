/** A file beside the list: its texts, where it is used, and what can be done with it. */

import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { api } from "../api";
import type { Id, Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { href, places } from "../router";
import { announce, Button, confirmed, Failed, LinkButton, Skeleton, toast } from "../ui";
import { useLoad } from "../ui/hooks";
import { fileOf, kindOf, type LibraryFile } from "./file";
import { Summary } from "./summary";
import { changedTexts, readText, textsOf } from "./texts";
import { UsedBy } from "./used-by";
import "./files.css";

interface SideProps {
  resource: Resource;
  id: Id;
  onClose: () => void;
  /** Shows another file, such as one that was made of this one; null: none. */
  onShow: (id: Id) => void;
  /** The file beside this one in the list; null at its ends. */
  previous: Id | null;
  next: Id | null;
}

export function FileSide(props: SideProps): JSX.Element {
  const { resource, id, onClose } = props;
  const loaded = useLoad((signal) => api().adapter.one(resource, id, { signal }), [resource, id]);
  const heading = useRef<HTMLHeadingElement>(null);
  const label = useId();
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const item = loaded.data?.item;
  const read = item === undefined ? null : fileOf(resource, item);
  // What came last stays while another file is loaded: it is not that file.
  const file = read !== null && read.id === String(id) ? read : null;
  // Somebody writes the same text of one file after the other: the field keeps the focus.
  const field = useRef<string | null>(null);
  const step = (to: Id | null): void => {
    if (to === null) return announce(t("files.at_end"));
    const here = document.activeElement;
    field.current = here instanceof HTMLElement ? (here.dataset["text"] ?? null) : null;
    if (field.current !== null) heading.current?.focus({ preventScroll: true });
    props.onShow(to);
  };
  return (
    <aside
      class="file-side"
      aria-labelledby={label}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
        if (!event.altKey || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
        event.preventDefault();
        step(event.key === "ArrowDown" ? props.next : props.previous);
      }}
    >
      <header class="file-side-head">
        <h2 id={label} ref={heading} tabIndex={-1}>
          {file?.name || t("files.one_file")}
        </h2>
        <Button kind="quiet" small icon="chevron-up" label={t("files.previous")} disabled={props.previous === null} onClick={() => step(props.previous)} />
        <Button kind="quiet" small icon="chevron-down" label={t("files.next")} disabled={props.next === null} onClick={() => step(props.next)} />
        <Button kind="quiet" small icon="close" label={t("ui.close")} onClick={onClose} />
      </header>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {file === null ? loaded.error === null && <Skeleton lines={6} /> : <Details key={file.id} {...props} file={file} focus={field.current} onReplaced={loaded.reload} />}
    </aside>
  );
}

interface DetailsProps extends SideProps {
  file: LibraryFile;
  /** Name of the text that gets the focus; null: none. */
  focus: string | null;
  onReplaced: () => void;
}

function Details({ resource, file, focus, onClose, onShow, onReplaced }: DetailsProps): JSX.Element {
  return (
    <div class="file-side-body stack">
      <Summary resource={resource} file={file} onMade={onShow} onReplaced={onReplaced} />
      <Texts resource={resource} file={file} picture={kindOf(file.mime) === "image"} focus={focus} />
      <UsedBy resource={resource} file={file} />
      <div class="row">
        <LinkButton small icon="edit" href={href(places.item(resource.name, file.id))}>
          {t("files.all_fields")}
        </LinkButton>
        <span class="spread" />
        {resource.operations["delete"] !== undefined && <RemoveButton resource={resource} file={file} onRemoved={onClose} />}
      </div>
    </div>
  );
}

/** Texts are saved when somebody leaves a field. */
function Texts({ resource, file, picture, focus }: { resource: Resource; file: LibraryFile; picture: boolean; focus: string | null }): JSX.Element {
  const fields = textsOf(resource, picture);
  const [item, setItem] = useState<Item>(file.item);
  const [texts, setTexts] = useState<Record<string, string>>(() => Object.fromEntries(fields.map(({ name }) => [name, readText(file.item, name)])));
  const [note, setNote] = useState("");
  const latest = useRef({ item, texts });
  latest.current = { item, texts };
  const saving = useRef<Promise<void>>(Promise.resolve());
  const save = async (): Promise<void> => {
    const body = changedTexts(latest.current.item, latest.current.texts);
    if (Object.keys(body).length === 0) return;
    setNote(t("files.saving"));
    try {
      const saved = await api().adapter.update(resource, file.id, body);
      latest.current.item = saved.item;
      setItem(saved.item);
      setNote(t("files.saved"));
    } catch (error) {
      setNote("");
      toast.failed(error);
    }
  };
  const queue = (): void => {
    saving.current = saving.current.then(save);
  };
  // Going on to the next file saves, too.
  useEffect(() => queue, []);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus !== null) box.current?.querySelector<HTMLElement>(`[data-text="${focus}"]`)?.focus();
  }, []);
  return (
    <div class="stack" ref={box}>
      {fields.map(({ name, long }) => (
        <TextField key={name} name={name} long={long} value={texts[name] ?? ""} onInput={(text) => setTexts((before) => ({ ...before, [name]: text }))} onLeave={queue} />
      ))}
      <span class="soft" role="status">
        {note}
      </span>
    </div>
  );
}

type TextName = "alt_text" | "title" | "caption" | "description";

function TextField({ name, long, value, onInput, onLeave }: { name: string; long: boolean; value: string; onInput: (text: string) => void; onLeave: () => void }): JSX.Element {
  const id = useId();
  const help = name === "alt_text" ? t("files.alt_help") : null;
  const common = { id, value, "data-text": name, onBlur: onLeave, "aria-describedby": help === null ? undefined : `${id}-help` };
  return (
    <div class="field">
      <label class="field-label" htmlFor={id}>
        {t(`files.text_${name as TextName}`)}
      </label>
      {long ? (
        <textarea {...common} class="textarea" rows={2} onInput={(event) => onInput(event.currentTarget.value)} />
      ) : (
        <input {...common} class="input" onInput={(event) => onInput(event.currentTarget.value)} />
      )}
      {help !== null && (
        <p id={`${id}-help`} class="field-help">
          {help}
        </p>
      )}
    </div>
  );
}

function RemoveButton({ resource, file, onRemoved }: { resource: Resource; file: LibraryFile; onRemoved: () => void }): JSX.Element {
  const remove = async (): Promise<void> => {
    const force = resource.operations["delete"]?.args.includes("force") === true;
    if (!(await confirmed({ title: t("files.remove_question", { name: file.name }), text: t("files.remove_text"), action: t("files.remove"), danger: true }))) return;
    try {
      await api().adapter.remove(resource, file.id, { query: force ? { force: true } : {} });
      toast.done(t("files.removed", { name: file.name }));
      onRemoved();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Button small kind="danger" icon="trash" onClick={() => void remove()}>
      {t("files.remove")}
    </Button>
  );
}
