/** A file or picture of the library, or several; also one that is sent here. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Adapter, Id, Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { ChooseButton, DropArea } from "../files/drop";
import { fileOf, libraryOf, takesFiles, type LibraryFile } from "../files/file";
import { pickFiles } from "../files/picker";
import { Thumbnail } from "../files/thumbnail";
import { sendFiles } from "../files/uploads";
import { Button, Icon } from "../ui";
import { useLatest } from "../ui/hooks";
import { recordsOf, resourceOf } from "./records";
import { idsOf, valueOf } from "./relation";
import { moved } from "./list";
import type { ControlProps } from "./types";

/** Files by id; those that are gone are null. */
export function useFiles(target: Resource | null, ids: readonly Id[], adapter: Adapter): { known: Map<string, LibraryFile | null>; learn(file: LibraryFile): void } {
  const [known, setKnown] = useState(() => new Map<string, LibraryFile | null>());
  const missing = ids.filter((id) => !known.has(String(id)));
  useEffect(() => {
    if (target === null || missing.length === 0) {
      return undefined;
    }
    const abort = new AbortController();
    const settle = (files: LibraryFile[]): void =>
      setKnown((before) => new Map([...before, ...missing.map((id) => [String(id), null] as const), ...files.map((file) => [file.id, file] as const)]));
    recordsOf(adapter, target, missing, abort.signal).then(
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
  const target = resourceOf(form.description, field.relation?.resources[0]) ?? libraryOf(form.description);
  const { known, learn } = useFiles(target, idsOf(value), form.adapter);
  const many = field.kind === "array";
  const chosen = idsOf(value).map(String);
  // Files that arrive late are added to what is chosen by then.
  const latest = useLatest({ chosen, onChange });
  const types = Array.isArray(field.options["types"]) ? field.options["types"].map(String) : [];
  if (target === null) {
    return <p class="shown">{chosen.length === 0 ? t("forms.not_set") : chosen.join(", ")}</p>;
  }
  const take = (items: Item[]): void => {
    const files = items.map((item) => fileOf(target, item));
    files.forEach(learn);
    const fresh = files.map((file) => file.id);
    if (fresh.length > 0) {
      const before = latest.current.chosen.filter((id) => !fresh.includes(id));
      latest.current.onChange(valueOf(many ? [...before, ...fresh] : fresh.slice(-1), field));
    }
  };
  const send = (files: File[]): void => void sendFiles(target, many ? files : files.slice(0, 1)).then(take);
  const shown = (
    <div class="file" id={ids.id}>
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
            <Button icon="image" onClick={() => void pickFiles({ resource: target, many, types }).then(take)}>
              {t(chosen.length > 0 && !many ? "forms.replace" : "forms.choose")}
            </Button>
          )}
          {takesFiles(target) && <ChooseButton types={types} many={many} onFiles={send} />}
        </div>
      )}
    </div>
  );
  return readOnly || !takesFiles(target) ? shown : <DropArea onFiles={send}>{shown}</DropArea>;
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
  return (
    <figure class="file-chosen">
      {file === null || file === undefined ? <Icon name="document" size={32} /> : <Thumbnail file={file} width={240} alt={file.alt} />}
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
