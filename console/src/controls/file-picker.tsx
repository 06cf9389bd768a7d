/** A dialog that chooses files of the library, or sends new ones to it. */

import type { JSX } from "preact";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Adapter } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button, Dialog, Icon, Loading, toast } from "../ui";
import { isWanted, listFiles, uploadFile, type LibraryFile } from "./files";

interface PickerProps {
  resource: Resource;
  adapter: Adapter;
  description: Description;
  many: boolean;
  /** MIME types, or their first part; empty: any. */
  types: readonly string[];
  onDone(files: LibraryFile[]): void;
}

export function FilePicker({ resource, adapter, description, many, types, onDone }: PickerProps): JSX.Element {
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<LibraryFile[]>([]);
  const [progress, setProgress] = useState<number | null>(null);
  const [fresh, setFresh] = useState<LibraryFile[]>([]);
  const library = useLibrary(adapter, resource, search, types);
  const files = [...fresh, ...library.files.filter((file) => !fresh.some((one) => one.id === file.id))];
  const toggle = (file: LibraryFile): void => {
    const on = chosen.some((one) => one.id === file.id);
    setChosen(on ? chosen.filter((one) => one.id !== file.id) : many ? [...chosen, file] : [file]);
  };
  const send = async (list: FileList | null): Promise<void> => {
    for (const file of list ?? []) {
      setProgress(0);
      try {
        const made = await uploadFile(adapter, description, resource, file, setProgress);
        setFresh((before) => [made, ...before]);
        setChosen((before) => (many ? [...before, made] : [made]));
      } catch (error) {
        toast.problem(messageOf(error));
      }
    }
    setProgress(null);
  };
  return (
    <Dialog
      title={t(many ? "forms.pick_files" : "forms.pick_file")}
      kind="wide"
      onClose={() => onDone([])}
      actions={
        <>
          <Button onClick={() => onDone([])}>{t("ui.cancel")}</Button>
          <Button kind="primary" disabled={chosen.length === 0} onClick={() => onDone(chosen)}>
            {t("forms.use_files", { count: chosen.length })}
          </Button>
        </>
      }
    >
      <div class="stack">
        <div class="row">
          <input class="input picker-search" type="search" aria-label={t("forms.search_in", { name: resource.label })} placeholder={t("forms.search_in", { name: resource.label })} value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          {resource.operations["create"] !== undefined && <UploadButton types={types} accepted={description.site.upload_types} many={many} onFiles={(list) => void send(list)} />}
          {progress !== null && <progress aria-label={t("forms.uploading")} value={progress} max={1} />}
        </div>
        {library.failure !== null && <p class="notice notice-bad">{library.failure}</p>}
        <ul class="picker" aria-label={resource.label}>
          {files.map((file) => (
            <li key={file.id}>
              <button type="button" class="picker-file" aria-pressed={chosen.some((one) => one.id === file.id)} onClick={() => toggle(file)} onDblClick={() => onDone([file])}>
                {file.preview === null ? <Icon name="document" size={40} /> : <img src={file.preview} alt="" loading="lazy" />}
                <span>{file.name}</span>
              </button>
            </li>
          ))}
        </ul>
        {library.loading && <Loading />}
        {!library.loading && files.length === 0 && <p class="soft">{t("ui.no_matches")}</p>}
        {library.more && !library.loading && (
          <div>
            <Button onClick={library.next}>{t("ui.more")}</Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

export function UploadButton({ types, accepted, many, onFiles }: { types: readonly string[]; accepted: readonly string[]; many: boolean; onFiles(files: FileList | null): void }): JSX.Element {
  const wanted = accepted.filter((mime) => isWanted(mime, types));
  return (
    <label class="button upload">
      <Icon name="upload" />
      {t("forms.upload")}
      <input
        type="file"
        class="hidden-visually"
        multiple={many}
        accept={wanted.length > 0 ? wanted.join(",") : undefined}
        onChange={(event) => {
          onFiles(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}

interface Library {
  files: LibraryFile[];
  more: boolean;
  loading: boolean;
  failure: string | null;
  next(): void;
}

/** How long somebody stops typing before a look-up. */
const PAUSE = 200;

function useLibrary(adapter: Adapter, resource: Resource, search: string, types: readonly string[]): Library {
  const [page, setPage] = useState(1);
  const [state, setState] = useState({ files: [] as LibraryFile[], more: false, loading: true, failure: null as string | null });
  useEffect(() => setPage(1), [search]);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true, failure: null }));
    const load = (): void => {
      listFiles(adapter, resource, search, page, types, abort.signal).then(
        (found) => setState((before) => ({ files: page === 1 ? found.files : [...before.files, ...found.files], more: found.more, loading: false, failure: null })),
        (error: unknown) => {
          if (!abort.signal.aborted) {
            setState((before) => ({ ...before, loading: false, failure: messageOf(error) }));
          }
        },
      );
    };
    const timer = setTimeout(load, search === "" ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [search, page]);
  return { ...state, next: () => setPage(page + 1) };
}

/** Opens the dialog from code that is no component, such as the content editor. */
export function pickFiles(props: Omit<PickerProps, "onDone">): Promise<LibraryFile[]> {
  return new Promise((resolve) => {
    const host = document.createElement("div");
    document.body.append(host);
    const done = (files: LibraryFile[]): void => {
      render(null, host);
      host.remove();
      resolve(files);
    };
    render(<FilePicker {...props} onDone={done} />, host);
  });
}
