/** A file or picture of the library, or several; also one that is sent here. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button, Icon, toast } from "../ui";
import { FilePicker, UploadButton } from "./file-picker";
import { fileOf, libraryOf, uploadFile, type LibraryFile } from "./files";
import { recordsOf, resourceOf } from "./records";
import { idsOf, valueOf } from "./relation";
import { moved } from "./list";
import type { ControlProps } from "./types";

/** Files by id; those that are gone are absent. */
function useFiles(props: ControlProps): { known: Map<string, LibraryFile | null>; learn(file: LibraryFile): void } {
  const { field, form, value } = props;
  const [known, setKnown] = useState(() => new Map<string, LibraryFile | null>());
  const target = resourceOf(form.description, field.relation?.resource) ?? libraryOf(form.description);
  const missing = idsOf(value).filter((id) => !known.has(String(id)));
  useEffect(() => {
    if (target === null || missing.length === 0) {
      return undefined;
    }
    const abort = new AbortController();
    const settle = (files: LibraryFile[]): void =>
      setKnown((before) => new Map([...before, ...missing.map((id) => [String(id), null] as const), ...files.map((file) => [file.id, file] as const)]));
    recordsOf(form.adapter, target, missing, abort.signal).then(
      (items) => settle(items.map((item) => fileOf(target, item))),
      () => {
        if (!abort.signal.aborted) {
          settle([]);
        }
      },
    );
    return () => abort.abort();
  }, [target?.name, missing.join(",")]);
  return { known, learn: (file) => setKnown((before) => new Map(before).set(file.id, file)) };
}

export function FileControl(props: ControlProps): JSX.Element {
  const { field, ids, value, onChange, readOnly, form } = props;
  const [picking, setPicking] = useState(false);
  const [progress, setProgress] = useState<number | null>(null);
  const { known, learn } = useFiles(props);
  const target = resourceOf(form.description, field.relation?.resource) ?? libraryOf(form.description);
  const many = field.kind === "array";
  const chosen = idsOf(value).map(String);
  const types = Array.isArray(field.options["types"]) ? field.options["types"].map(String) : [];
  if (target === null) {
    return <p class="shown">{chosen.length === 0 ? t("forms.not_set") : chosen.join(", ")}</p>;
  }
  const take = (files: LibraryFile[]): void => {
    files.forEach(learn);
    const fresh = files.map((file) => file.id);
    if (fresh.length > 0) {
      onChange(valueOf(many ? [...chosen.filter((id) => !fresh.includes(id)), ...fresh] : fresh, field));
    }
  };
  const send = async (list: FileList | null): Promise<void> => {
    for (const file of list ?? []) {
      setProgress(0);
      try {
        take([await uploadFile(form.adapter, form.description, target, file, setProgress)]);
      } catch (error) {
        toast.problem(messageOf(error));
      }
    }
    setProgress(null);
  };
  return (
    <div
      class="file"
      id={ids.id}
      onDragOver={(event) => !readOnly && event.preventDefault()}
      onDrop={(event) => {
        if (!readOnly && (event.dataTransfer?.files.length ?? 0) > 0) {
          event.preventDefault();
          void send(event.dataTransfer?.files ?? null);
        }
      }}
    >
      {chosen.map((id, place) => (
        <Chosen
          key={id}
          id={id}
          file={known.get(id)}
          readOnly={readOnly}
          onRemove={() => onChange(valueOf(chosen.filter((one) => one !== id), field))}
          onMove={many && chosen.length > 1 ? (by) => onChange(valueOf(moved(chosen, place, Math.min(chosen.length - 1, Math.max(0, place + by))), field)) : undefined}
        />
      ))}
      {!readOnly && (
        <div class="row">
          {target.operations["list"] !== undefined && (
            <Button icon="image" onClick={() => setPicking(true)}>
              {t(chosen.length > 0 && !many ? "forms.replace" : "forms.choose")}
            </Button>
          )}
          {target.operations["create"] !== undefined && <UploadButton types={types} accepted={form.description.site.upload_types} many={many} onFiles={(list) => void send(list)} />}
        </div>
      )}
      {progress !== null && <progress aria-label={t("forms.uploading")} value={progress} max={1} />}
      {picking && (
        <FilePicker
          resource={target}
          adapter={form.adapter}
          description={form.description}
          many={many}
          types={types}
          onDone={(files) => {
            setPicking(false);
            take(files);
          }}
        />
      )}
    </div>
  );
}

interface ChosenProps {
  id: string;
  file: LibraryFile | null | undefined;
  readOnly: boolean;
  onRemove(): void;
  onMove: ((by: number) => void) | undefined;
}

function Chosen({ id, file, readOnly, onRemove, onMove }: ChosenProps): JSX.Element {
  const name = file?.name ?? (file === null ? t("forms.unknown_record", { id }) : `#${id}`);
  const preview = file?.preview ?? null;
  return (
    <figure class="file-chosen">
      {preview === null ? <Icon name="document" size={32} /> : <img src={preview} alt={file?.alt ?? ""} />}
      <figcaption>{name}</figcaption>
      {!readOnly && (
        <span class="row">
          {onMove !== undefined && <Button kind="quiet" small icon="chevron-up" label={t("forms.move_up", { name })} onClick={() => onMove(-1)} />}
          {onMove !== undefined && <Button kind="quiet" small icon="chevron-down" label={t("forms.move_down", { name })} onClick={() => onMove(1)} />}
          <Button kind="quiet" small icon="close" label={t("ui.remove", { name })} onClick={onRemove} />
        </span>
      )}
    </figure>
  );
}
