/**
 * Uploads, a few at a time: each waits, is sent, is worked on by the server, and is done, failed, refused or cancelled.
 *
 * Nothing is sent twice by itself: after a failure of the network the server may have the file. Somebody decides.
 */

import { type Signal, signal } from "@preact/signals";
import type { Item } from "../api/adapter";
import { isAbort } from "../api/failure";
import { messageOf } from "../api/http";

export type UploadState = "waiting" | "sending" | "working" | "done" | "failed" | "refused" | "cancelled";

export interface Upload {
  id: number;
  file: File;
  state: UploadState;
  /** How much is sent, from 0 to 1. */
  part: number;
  /** Why it failed or was refused. */
  message: string | null;
  /** The record, once it is there. */
  item: Item | null;
}

export interface QueueOptions {
  send(file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Item>;
  /** Why a file is not sent; null: it is. */
  refuse(file: File): string | null;
  /** Called for each record. */
  onDone?(upload: Upload): void;
  atOnce?: number;
}

const AT_ONCE = 2;
const OVER: ReadonlySet<UploadState> = new Set<UploadState>(["done", "failed", "refused", "cancelled"]);

export class UploadQueue {
  readonly uploads: Signal<Upload[]> = signal([]);
  private last = 0;
  private readonly aborts = new Map<number, AbortController>();
  private readonly waiting = new Map<number, (upload: Upload) => void>();

  constructor(private readonly options: QueueOptions) {}

  /** Takes files in; each promise is fulfilled when its upload is over, however it ends. */
  add(files: Iterable<File>): Promise<Upload>[] {
    const fresh = [...files].map((file): Upload => {
      const message = this.options.refuse(file);
      return { id: ++this.last, file, state: message === null ? "waiting" : "refused", part: 0, message, item: null };
    });
    this.uploads.value = [...this.uploads.value, ...fresh];
    const ends = fresh.map((upload) => this.end(upload));
    this.next();
    return ends;
  }

  /** Stops an upload that is not over. */
  cancel(id: number): void {
    const upload = this.find(id);
    if (upload === undefined || OVER.has(upload.state)) return;
    this.set(id, { state: "cancelled" });
    this.aborts.get(id)?.abort();
    this.next();
  }

  cancelAll(): void {
    for (const upload of this.uploads.peek()) this.cancel(upload.id);
  }

  /** Sends a file again that failed or was cancelled. */
  retry(id: number): Promise<Upload> | null {
    const upload = this.find(id);
    if (upload === undefined || (upload.state !== "failed" && upload.state !== "cancelled")) return null;
    this.set(id, { state: "waiting", part: 0, message: null });
    const ends = this.end({ ...upload, state: "waiting" });
    this.next();
    return ends;
  }

  /** Forgets what is over. */
  clear(): void {
    this.uploads.value = this.uploads.value.filter((upload) => !OVER.has(upload.state));
  }

  /** Uploads that are not over. */
  get open(): number {
    return this.uploads.value.filter((upload) => !OVER.has(upload.state)).length;
  }

  private end(upload: Upload): Promise<Upload> {
    if (OVER.has(upload.state)) return Promise.resolve(upload);
    return new Promise((resolve) => this.waiting.set(upload.id, resolve));
  }

  private find(id: number): Upload | undefined {
    return this.uploads.peek().find((upload) => upload.id === id);
  }

  private set(id: number, change: Partial<Upload>): void {
    this.uploads.value = this.uploads.peek().map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
    const upload = this.find(id);
    if (upload === undefined || !OVER.has(upload.state)) return;
    this.waiting.get(id)?.(upload);
    this.waiting.delete(id);
  }

  private next(): void {
    const all = this.uploads.peek();
    const running = all.filter((upload) => upload.state === "sending" || upload.state === "working").length;
    const free = (this.options.atOnce ?? AT_ONCE) - running;
    for (const upload of all.filter((one) => one.state === "waiting").slice(0, Math.max(0, free))) void this.run(upload);
  }

  private async run({ id, file }: Upload): Promise<void> {
    const abort = new AbortController();
    this.aborts.set(id, abort);
    this.set(id, { state: "sending" });
    const mine = (): boolean => this.aborts.get(id) === abort && !abort.signal.aborted;
    try {
      const item = await this.options.send(
        file,
        (part) => {
          if (mine()) this.set(id, { part, state: part >= 1 ? "working" : "sending" });
        },
        abort.signal,
      );
      // The file was there before somebody stopped it.
      this.set(id, { state: "done", part: 1, item });
      const done = this.find(id);
      if (done !== undefined) this.options.onDone?.(done);
    } catch (error) {
      if (mine() && !isAbort(error)) this.set(id, { state: "failed", message: messageOf(error) });
      else if (mine()) this.set(id, { state: "cancelled" });
    } finally {
      if (this.aborts.get(id) === abort) this.aborts.delete(id);
      this.next();
    }
  }
}

/** How much of all uploads is sent, by their sizes. */
export function partOf(uploads: readonly Upload[]): number {
  const counted = uploads.filter((upload) => upload.state !== "refused" && upload.state !== "cancelled" && upload.state !== "failed");
  const total = counted.reduce((sum, upload) => sum + upload.file.size, 0);
  if (total === 0) return 0;
  return counted.reduce((sum, upload) => sum + upload.file.size * upload.part, 0) / total;
}
