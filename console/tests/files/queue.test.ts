import { describe, expect, it } from "vitest";
import type { Item } from "../../src/api/adapter";
import { Failure, NetworkFailure } from "../../src/api/failure";
import { acceptOf, refusalOf } from "../../src/files/limits";
import { partOf, UploadQueue } from "../../src/files/queue";

interface Sent {
  file: File;
  progress: (part: number) => void;
  resolve: (item: Item) => void;
  reject: (error: unknown) => void;
}

function file(name: string, bytes = 10, type = "image/png"): File {
  return new File([new Uint8Array(bytes)], name, { type });
}

function queueOf(atOnce = 2): { queue: UploadQueue; sent: Sent[]; done: string[] } {
  const sent: Sent[] = [];
  const done: string[] = [];
  const queue = new UploadQueue({
    atOnce,
    refuse: (one) => (one.size > 100 ? "too large" : null),
    onDone: (upload) => done.push(upload.file.name),
    send: (one, progress, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
        sent.push({ file: one, progress, resolve, reject });
      }),
  });
  return { queue, sent, done };
}

const states = (queue: UploadQueue): string[] => queue.uploads.value.map((upload) => upload.state);
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe("limits", () => {
  const site = { max_upload: 1000, upload_types: ["image/png", "image/jpeg", "application/pdf"] };

  it("refuse what the server would refuse", () => {
    expect(refusalOf({ size: 10, type: "image/png" }, site)).toBeNull();
    expect(refusalOf({ size: 1001, type: "image/png" }, site)).toEqual({ reason: "large", most: 1000 });
    expect(refusalOf({ size: 0, type: "image/png" }, site)).toEqual({ reason: "empty" });
    expect(refusalOf({ size: 10, type: "text/html" }, site)).toEqual({ reason: "type", type: "text/html" });
    expect(refusalOf({ size: 10, type: "image/jpg" }, site)).toBeNull();
    expect(refusalOf({ size: 10, type: "application/pdf" }, site, ["image"])).toEqual({ reason: "type", type: "application/pdf" });
  });

  it("leave a type that the browser does not know to the server", () => {
    expect(refusalOf({ size: 10, type: "" }, site)).toBeNull();
  });

  it("say what a file chooser offers", () => {
    expect(acceptOf(site, ["image"])).toBe("image/png,image/jpeg");
    expect(acceptOf({ upload_types: [] })).toBeUndefined();
  });
});

describe("a queue of uploads", () => {
  it("sends a few at a time and refuses at once", async () => {
    const { queue, sent, done } = queueOf();
    const ends = queue.add([file("a"), file("large", 200), file("b"), file("c")]);
    expect(states(queue)).toEqual(["sending", "refused", "sending", "waiting"]);
    expect((await ends[1])?.message).toBe("too large");
    sent[0]?.resolve({ id: 1 });
    expect((await ends[0])?.item).toEqual({ id: 1 });
    await settle();
    expect(states(queue)).toEqual(["done", "refused", "sending", "sending"]);
    expect(done).toEqual(["a"]);
    expect(queue.open).toBe(2);
  });

  it("tells how much is sent, and when the server works on it", () => {
    const { queue, sent } = queueOf();
    void queue.add([file("a", 30), file("b", 10)]);
    sent[0]?.progress(0.5);
    expect(queue.uploads.value[0]?.part).toBe(0.5);
    expect(partOf(queue.uploads.value)).toBeCloseTo(15 / 40);
    sent[1]?.progress(1);
    expect(states(queue)).toEqual(["sending", "working"]);
  });

  it("stops one upload, and the next begins", async () => {
    const { queue, sent } = queueOf(1);
    const ends = queue.add([file("a"), file("b")]);
    queue.cancel(queue.uploads.value[0]?.id ?? 0);
    expect((await ends[0])?.state).toBe("cancelled");
    expect(states(queue)).toEqual(["cancelled", "sending"]);
    expect(sent.map((one) => one.file.name)).toEqual(["a", "b"]);
    // A late answer of a stopped upload does not disturb.
    sent[0]?.progress(0.9);
    expect(queue.uploads.value[0]?.part).toBe(0);
  });

  it("stops one that has not begun", () => {
    const { queue, sent } = queueOf(1);
    void queue.add([file("a"), file("b")]);
    queue.cancel(queue.uploads.value[1]?.id ?? 0);
    expect(states(queue)).toEqual(["sending", "cancelled"]);
    expect(sent).toHaveLength(1);
  });

  it("keeps failures with their message, and sends again only when asked", async () => {
    const { queue, sent } = queueOf();
    const [first, second] = queue.add([file("a"), file("b")]);
    sent[0]?.reject(new Failure(400, { message: "No picture." }));
    sent[1]?.reject(new NetworkFailure(null));
    expect((await first)?.message).toBe("No picture.");
    expect((await second)?.state).toBe("failed");
    expect(sent).toHaveLength(2);
    const again = queue.retry(queue.uploads.value[0]?.id ?? 0);
    expect(states(queue)).toEqual(["sending", "failed"]);
    sent[2]?.resolve({ id: 7 });
    expect((await again)?.item).toEqual({ id: 7 });
    expect(queue.retry(queue.uploads.value[0]?.id ?? 0)).toBeNull();
  });

  it("sends a stopped one again", async () => {
    const { queue, sent } = queueOf();
    void queue.add([file("a")]);
    queue.cancel(1);
    await settle();
    const again = queue.retry(1);
    sent[1]?.resolve({ id: 2 });
    expect((await again)?.state).toBe("done");
  });

  it("forgets what is over, and stops everything else", async () => {
    const { queue, sent } = queueOf(1);
    const ends = queue.add([file("a"), file("b"), file("c")]);
    sent[0]?.resolve({ id: 1 });
    await ends[0];
    queue.clear();
    expect(queue.uploads.value.map((upload) => upload.file.name)).toEqual(["b", "c"]);
    queue.cancelAll();
    expect(states(queue)).toEqual(["cancelled", "cancelled"]);
  });
});
