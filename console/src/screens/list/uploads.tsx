/** Files that become records: dropped on the list or chosen, several at once, each with its progress. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import type { Params } from "../../api/adapter";
import type { Resource } from "../../api/description";
import { isAbort } from "../../api/failure";
import { messageOf } from "../../api/http";
import { bytesText } from "../../displays";
import { language, t } from "../../i18n";
import { announce, Button } from "../../ui";

interface Upload {
  id: number;
  file: File;
  /** Share that is sent. */
  done: number;
  state: "waiting" | "running" | "done" | "failed";
  message: string;
  abort: AbortController;
}

const AT_ONCE = 2;
let last = 0;

export function Uploads({ resource, params }: { resource: Resource; params: Params }): JSX.Element | null {
  return resource.operations["create"]?.file === true ? <UploadPanel resource={resource} params={params} /> : null;
}

function UploadPanel({ resource, params }: { resource: Resource; params: Params }): JSX.Element {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const { site } = api().description;
  const change = (id: number, values: Partial<Upload>): void =>
    setUploads((before) => before.map((one) => (one.id === id ? { ...one, ...values } : one)));
  const add = (files: Iterable<File>): void => {
    const fresh = [...files].map((file): Upload => {
      const large = site.max_upload > 0 && file.size > site.max_upload;
      const message = large ? t("lists.too_large", { limit: bytesText(site.max_upload, language.value) }) : "";
      return { id: ++last, file, done: 0, state: large ? "failed" : "waiting", message, abort: new AbortController() };
    });
    setUploads((before) => [...before.filter((one) => one.state !== "done"), ...fresh]);
  };
  useEffect(() => {
    const running = uploads.filter((one) => one.state === "running").length;
    const next = uploads.filter((one) => one.state === "waiting").slice(0, AT_ONCE - running);
    for (const upload of next) void send(resource, params, upload, (values) => change(upload.id, values));
  }, [uploads]);
  return (
    <section
      class="uploads"
      aria-label={t("lists.upload")}
      data-over={over}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        add(event.dataTransfer?.files ?? []);
      }}
    >
      <div class="row">
        <Button icon="upload" kind="primary" onClick={() => input.current?.click()}>
          {t("lists.choose_files")}
        </Button>
        <span class="soft">{t("lists.drop_files", { limit: bytesText(site.max_upload, language.value) })}</span>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={site.upload_types.join(",")}
        aria-label={t("lists.choose_files")}
        onChange={(event) => {
          add(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }}
      />
      {uploads.length > 0 && (
        <ul class="upload-list">
          {uploads.map((upload) => (
            <UploadRow
              key={upload.id}
              upload={upload}
              onRetry={() => change(upload.id, { state: "waiting", done: 0, message: "", abort: new AbortController() })}
              onRemove={() => {
                upload.abort.abort();
                setUploads((before) => before.filter((one) => one.id !== upload.id));
              }}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

async function send(resource: Resource, params: Params, upload: Upload, tell: (values: Partial<Upload>) => void): Promise<void> {
  tell({ state: "running" });
  try {
    await api().adapter.upload(resource, upload.file, {}, {
      params,
      signal: upload.abort.signal,
      onProgress: (done, total) => tell({ done: total === 0 ? 0 : done / total }),
    });
    tell({ state: "done", done: 1 });
    announce(t("lists.uploaded", { name: upload.file.name }));
  } catch (error) {
    if (!isAbort(error)) tell({ state: "failed", message: messageOf(error) });
  }
}

function UploadRow({ upload, onRetry, onRemove }: { upload: Upload; onRetry: () => void; onRemove: () => void }): JSX.Element {
  const { file, state, done, message } = upload;
  return (
    <li class="upload">
      <span class="upload-name">{file.name}</span>
      {state === "failed" ? (
        <span class="field-error" role="alert">
          {message}
        </span>
      ) : (
        <progress max={1} value={done} aria-label={t("lists.progress_of", { name: file.name })} />
      )}
      {state === "failed" && <Button small icon="refresh" label={t("ui.retry")} onClick={onRetry} />}
      <Button small kind="quiet" icon={state === "done" ? "check" : "close"} label={t("ui.remove", { name: file.name })} onClick={onRemove} />
    </li>
  );
}
