/** The queues of uploads: one for each resource, whatever screen is shown. */

import { signal } from "@preact/signals";
import { api, type Api } from "../api";
import type { Item, Params } from "../api/adapter";
import type { Resource } from "../api/description";
import { locale, t } from "../i18n";
import { formatOf } from "../i18n/formats";
import { announce } from "../ui";
import { refusalOf } from "./limits";
import { type Upload, UploadQueue } from "./queue";

export interface ResourceQueue {
  resource: Resource;
  queue: UploadQueue;
}

/** Those that were used since the page was loaded. */
export const queues = signal<ResourceQueue[]>([]);

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** A size for people, such as "1.4 MB". */
export function bytesText(bytes: number, tag: string = locale.value): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  return formatOf(Intl.NumberFormat, tag, { style: "unit", unit: UNITS[unit] ?? "byte", unitDisplay: "short", maximumFractionDigits: 1 } as const).format(size);
}

/** Why a file is not sent, in words; null: it is. */
export function refusalText(file: File, types: readonly string[] = []): string | null {
  const refusal = refusalOf(file, api().description.site, types);
  if (refusal === null) return null;
  switch (refusal.reason) {
    case "empty":
      return t("files.refused_empty");
    case "large":
      return t("files.refused_large", { size: bytesText(file.size), limit: bytesText(refusal.most) });
    case "type":
      return t("files.refused_type", { type: refusal.type });
  }
}

export function queueOf(resource: Resource, params: Params = {}): UploadQueue {
  const known = queues.peek().find((one) => one.resource.name === resource.name);
  if (known !== undefined) return known.queue;
  const queue = new UploadQueue({
    refuse: (file) => refusalText(file),
    send: (file, progress, abort) => send(api(), resource, file, progress, abort, params),
    onDone: (upload) => announce(t("files.uploaded", { name: upload.file.name })),
  });
  queues.value = [...queues.peek(), { resource, queue }];
  addEventListener("beforeunload", (event) => {
    if (queue.open > 0) event.preventDefault();
  });
  return queue;
}

/** Sends files to the library; the records of those that arrived, in the order of the files. */
export async function sendFiles(resource: Resource, files: Iterable<File>, params: Params = {}): Promise<Item[]> {
  const ends: Upload[] = await Promise.all(queueOf(resource, params).add(files));
  return ends.flatMap((upload) => (upload.item === null ? [] : [upload.item]));
}

/** Sends one file, outside of the queue. */
export async function send(services: Pick<Api, "adapter">, resource: Resource, file: File, progress: (part: number) => void, abort: AbortSignal, params: Params = {}): Promise<Item> {
  const { item } = await services.adapter.upload(resource, file, {}, {
    params,
    signal: abort,
    onProgress: (done, total) => progress(total === 0 ? 1 : done / total),
  });
  return item;
}
