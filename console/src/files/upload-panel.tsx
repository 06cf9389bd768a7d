/** What is being sent, above every screen: it goes on while somebody does something else. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { href, places } from "../router";
import { Button, Icon } from "../ui";
import { fileOf, iconOf } from "./file";
import { Thumbnail } from "./thumbnail";
import { partOf, type Upload, type UploadQueue } from "./queue";
import { bytesText, queues, type ResourceQueue } from "./uploads";
import "./files.css";

export function UploadPanel(): JSX.Element | null {
  const used = queues.value.filter(({ queue }) => queue.uploads.value.length > 0);
  const [folded, setFolded] = useState(false);
  if (used.length === 0) return null;
  const all = used.flatMap(({ queue }) => queue.uploads.value);
  const open = used.reduce((sum, { queue }) => sum + queue.open, 0);
  const failed = all.filter((upload) => upload.state === "failed" || upload.state === "refused").length;
  const clear = (): void => used.forEach(({ queue }) => queue.clear());
  return (
    <section class="upload-panel" aria-label={t("files.uploads")}>
      <header class="upload-head">
        <strong role="status">{headline(open, all.length, failed)}</strong>
        <span class="spread" />
        {open > 0 && (
          <Button kind="quiet" small onClick={() => used.forEach(({ queue }) => queue.cancelAll())}>
            {t("files.cancel_all")}
          </Button>
        )}
        <Button kind="quiet" small icon={folded ? "chevron-up" : "chevron-down"} label={t(folded ? "files.unfold" : "files.fold")} aria-expanded={!folded} onClick={() => setFolded(!folded)} />
        {open === 0 && <Button kind="quiet" small icon="close" label={t("ui.close")} onClick={clear} />}
      </header>
      {open > 0 && <progress class="upload-all" max={1} value={partOf(all)} aria-label={t("files.progress_all")} />}
      {!folded && (
        <ul class="upload-rows">
          {used.flatMap((one) => one.queue.uploads.value.map((upload) => <Row key={`${one.resource.name}/${upload.id}`} upload={upload} {...one} />))}
        </ul>
      )}
    </section>
  );
}

function headline(open: number, all: number, failed: number): string {
  if (open > 0) return t("files.sending", { count: open });
  return failed > 0 ? t("files.sent_but", { count: failed }) : t("files.sent", { count: all });
}

function Row({ upload, queue, resource }: { upload: Upload } & ResourceQueue): JSX.Element {
  const { file, state, item } = upload;
  return (
    <li class="upload-row" data-state={state}>
      {item === null ? <Icon name={iconOf(file.type)} size={24} /> : <Thumbnail file={fileOf(resource, item)} width={40} />}
      <div class="upload-text">
        <span class="upload-name">{item === null ? file.name : <a href={href(places.item(resource.name, fileOf(resource, item).id))}>{file.name}</a>}</span>
        <Status upload={upload} />
      </div>
      <RowActions upload={upload} queue={queue} />
    </li>
  );
}

function Status({ upload }: { upload: Upload }): JSX.Element {
  const { file, state, part, message } = upload;
  switch (state) {
    case "sending":
      return <progress max={1} value={part} aria-label={t("files.progress_of", { name: file.name })} />;
    case "working":
      return <span class="soft">{t("files.state_working")}</span>;
    case "failed":
    case "refused":
      return (
        <span class="field-error" role="alert">
          {message}
        </span>
      );
    case "done":
      return <span class="soft">{bytesText(file.size)}</span>;
    default:
      return <span class="soft">{t(state === "waiting" ? "files.state_waiting" : "files.state_cancelled")}</span>;
  }
}

function RowActions({ upload, queue }: { upload: Upload; queue: UploadQueue }): JSX.Element {
  const { id, file, state } = upload;
  if (state === "done") return <Icon name="check" />;
  const again = state === "failed" || state === "cancelled";
  const open = state === "waiting" || state === "sending" || state === "working";
  return (
    <span class="row">
      {again && <Button kind="quiet" small icon="refresh" label={t("files.retry", { name: file.name })} onClick={() => void queue.retry(id)} />}
      {open && <Button kind="quiet" small icon="close" label={t("files.cancel", { name: file.name })} onClick={() => queue.cancel(id)} />}
    </span>
  );
}
