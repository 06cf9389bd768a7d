/** The dialog that chooses files of the library, or sends new ones to it. */

import type { JSX } from "preact";
import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { argument, type Item } from "../api/adapter";
import { versionOf } from "../api/changes";
import type { Resource } from "../api/description";
import { isAbort } from "../api/failure";
import type { Query } from "../api/query";
import { language, t } from "../i18n";
import { announce, Button, Dialog, Empty, Failed, Icon, Loading, toast } from "../ui";
import { useLatest, useSettled } from "../ui/hooks";
import { ChooseButton, DropArea } from "./drop";
import { fileOf, isWanted, libraryOf, type LibraryFile, takesFiles } from "./file";
import { partOf, type Upload } from "./queue";
import { Thumbnail } from "./thumbnail";
import { queueOf, refusalText } from "./uploads";
import "./files.css";

export interface PickOptions {
  /** Several files may be chosen. */
  many?: boolean;
  /** MIME types, or their first part, such as "image"; none: any. */
  types?: readonly string[];
  /** The library; without it the first one of the description. */
  resource?: Resource | null;
  title?: string;
}

/** Lets somebody choose files; an empty list when they close the dialog. */
export function pickFiles(options: PickOptions = {}): Promise<Item[]> {
  const resource = options.resource ?? libraryOf(api().description);
  if (resource === null) return Promise.resolve([]);
  const place = document.createElement("div");
  document.body.append(place);
  return new Promise((resolve) => {
    const done = (items: Item[]): void => {
      render(null, place);
      place.remove();
      resolve(items);
    };
    render(<Picker {...options} resource={resource} onDone={done} />, place);
  });
}

interface PickerProps extends PickOptions {
  resource: Resource;
  onDone: (items: Item[]) => void;
}

export function Picker({ resource, many = false, types = [], title, onDone }: PickerProps): JSX.Element {
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<LibraryFile[]>([]);
  const library = useLibrary(resource, useSettled(search.trim(), 200), types);
  const toggle = (file: LibraryFile): void => {
    // Of one file, a press chooses: what was just sent is chosen already, and stays.
    const on = many && chosen.some((one) => one.id === file.id);
    setChosen(on ? chosen.filter((one) => one.id !== file.id) : many ? [...chosen, file] : [file]);
  };
  const take = (files: File[]): void => {
    const wanted = many ? files : files.slice(0, 1);
    const fitting = wanted.filter((file) => {
      const refusal = types.length === 0 ? null : refusalText(file, types);
      if (refusal !== null) toast.problem(`${file.name}: ${refusal}`);
      return refusal === null;
    });
    for (const end of queueOf(resource).add(fitting)) {
      void end.then((upload: Upload) => {
        if (upload.item !== null) {
          const file = fileOf(resource, upload.item);
          setChosen((before) => (many ? [...before, file] : [file]));
        } else if (upload.message !== null) {
          toast.problem(`${upload.file.name}: ${upload.message}`);
        }
      });
    }
  };
  const label = title ?? t(many ? "files.pick_many" : "files.pick_one");
  return (
    <Dialog title={label} kind="wide" onClose={() => onDone([])} actions={<Actions chosen={chosen} many={many} onDone={onDone} />}>
      <DropArea onFiles={take} paste={takesFiles(resource)}>
        <div class="stack">
          <div class="row">
            <input
              class="input picker-search"
              type="search"
              aria-label={t("files.search")}
              placeholder={t("files.search")}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
            {takesFiles(resource) && <ChooseButton onFiles={take} many={many} types={types} />}
            {takesFiles(resource) && <span class="soft">{t("files.or_drop")}</span>}
            <Sending resource={resource} />
          </div>
          <Found library={library} chosen={chosen} resource={resource} onToggle={toggle} onTake={(file) => onDone(many ? unique([...chosen, file]) : [file.item])} />
        </div>
      </DropArea>
    </Dialog>
  );
}

function unique(files: LibraryFile[]): Item[] {
  return [...new Map(files.map((file) => [file.id, file.item])).values()];
}

function Actions({ chosen, many, onDone }: { chosen: LibraryFile[]; many: boolean; onDone: (items: Item[]) => void }): JSX.Element {
  return (
    <>
      {many && chosen.length > 0 && (
        <span class="soft" role="status">
          {t("files.chosen", { count: chosen.length })}
        </span>
      )}
      <span class="spread" />
      <Button onClick={() => onDone([])}>{t("ui.cancel")}</Button>
      <Button kind="primary" disabled={chosen.length === 0} onClick={() => onDone(unique(chosen))}>
        {t("files.use", { count: chosen.length })}
      </Button>
    </>
  );
}

function Sending({ resource }: { resource: Resource }): JSX.Element | null {
  const queue = queueOf(resource);
  const { open } = queue;
  if (open === 0) return null;
  return (
    <span class="row">
      <progress max={1} value={partOf(queue.uploads.value)} aria-label={t("files.progress_all")} />
      <span class="soft">{t("files.sending", { count: open })}</span>
    </span>
  );
}

interface FoundProps {
  library: Library;
  chosen: LibraryFile[];
  resource: Resource;
  onToggle: (file: LibraryFile) => void;
  onTake: (file: LibraryFile) => void;
}

/** One button for each file; arrows lead from one to the next. */
function Found({ library, chosen, resource, onToggle, onTake }: FoundProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState(0);
  const { files } = library;
  const here = Math.min(at, Math.max(0, files.length - 1));
  const go = (event: KeyboardEvent): void => {
    const next = stepIn(event, here, files.length, columnsOf(list.current));
    if (next === null) return;
    event.preventDefault();
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>(".picker-file")[next]?.focus();
  };
  return (
    <>
      {library.failure !== null && <Failed error={library.failure} onRetry={library.reload} />}
      <ul ref={list} class="picker" aria-label={resource.label} onKeyDown={go}>
        {files.map((file, place) => (
          <li key={file.id}>
            <button
              type="button"
              class="picker-file"
              tabIndex={place === here ? 0 : -1}
              aria-pressed={chosen.some((one) => one.id === file.id)}
              onFocus={() => setAt(place)}
              onClick={() => onToggle(file)}
              onDblClick={() => onTake(file)}
            >
              <span class="picker-picture">
                <Thumbnail file={file} width={160} />
                <span class="picker-mark">
                  <Icon name="check" size={16} />
                </span>
              </span>
              <span class="picker-name">{file.name}</span>
            </button>
          </li>
        ))}
      </ul>
      {library.loading && <Loading />}
      {!library.loading && library.failure === null && files.length === 0 && <Empty title={t("files.none")} icon="image" />}
      {library.more && !library.loading && (
        <div>
          <Button onClick={library.next}>{t("ui.more")}</Button>
        </div>
      )}
    </>
  );
}

/** Where a key leads in rows of so many columns; null: it is no such key. */
export function stepIn(event: Pick<KeyboardEvent, "key">, at: number, count: number, columns: number): number | null {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -at, End: count - 1 - at };
  const step = steps[event.key];
  if (step === undefined || count === 0) return null;
  const next = at + step;
  return next < 0 || next >= count ? at : next;
}

function columnsOf(list: HTMLElement | null): number {
  const items = [...(list?.children ?? [])] as HTMLElement[];
  const top = items[0]?.offsetTop;
  const place = items.findIndex((item) => item.offsetTop !== top);
  return Math.max(1, place < 0 ? items.length : place);
}

interface Library {
  files: LibraryFile[];
  more: boolean;
  loading: boolean;
  failure: unknown;
  next: () => void;
  reload: () => void;
}

const PAGE = 40;
/** Kinds that lists can be narrowed to. */
const KINDS = new Set(["image", "video", "audio", "text", "application"]);

/** What a list can be narrowed to by itself; the rest is left out here. */
export function typeQuery(resource: Resource, types: readonly string[]): Query {
  if (types.length === 0) return {};
  const kinds = types.map((type) => type.replace(/\/\*?$/, ""));
  if (kinds.every((kind) => KINDS.has(kind)) && argument(resource, "list", "media_type")) return { media_type: kinds };
  if (kinds.every((kind) => kind.includes("/")) && argument(resource, "list", "mime_type")) return { mime_type: kinds };
  return {};
}

function useLibrary(resource: Resource, search: string, types: readonly string[]): Library {
  const [state, setState] = useState({ items: [] as Item[], more: false, loading: true, failure: null as unknown });
  const [page, setPage] = useState(1);
  const [times, setTimes] = useState(0);
  const version = versionOf(resource.name);
  const latest = useLatest(types);
  useEffect(() => setPage(1), [search, version]);
  useEffect(() => {
    const abort = new AbortController();
    const query: Query = { per_page: PAGE, page, search: search === "" ? undefined : search, context: argument(resource, "list", "context") ? "edit" : undefined, ...typeQuery(resource, latest.current) };
    setState((before) => ({ ...before, loading: true, failure: null }));
    api()
      .adapter.list(resource, query, { signal: abort.signal })
      .then(
        (found) => {
          setState((before) => ({ items: page === 1 ? found.items : [...before.items, ...found.items], more: found.more, loading: false, failure: null }));
          if (search !== "") announce(t("files.found", { count: found.total ?? found.items.length }));
        },
        (failure: unknown) => {
          if (!isAbort(failure)) setState((before) => ({ ...before, loading: false, failure }));
        },
      );
    return () => abort.abort();
  }, [resource, search, page, version, times]);
  const files = useMemo(() => state.items.map((item) => fileOf(resource, item)).filter((file) => isWanted(file.mime, latest.current)), [state.items, resource, language.value]);
  return { files, more: state.more, loading: state.loading, failure: state.failure, next: () => setPage((n) => n + 1), reload: () => setTimes((n) => n + 1) };
}
