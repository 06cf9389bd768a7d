// Drives the events of the generated client against a server of its own, which it ends and starts again:
// `events.js USER PASSWORD PROGRAM ARGUMENTS…`. The program has an address with a port of its choice at first.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client, type EventReset, Failure, type SiteEvent, type WebhookBody, type Webhooks } from "./client.js";

const [user, password, program, ...args] = process.argv.slice(2) as [string, string, string, ...string[]];

function same(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
}

let server: ChildProcess;

/** Starts the server, and returns the address of its interface. */
async function start(listen: string): Promise<string> {
  server = spawn(program, [...args, "--set", `server.listen=${listen}`], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: server.stderr! })) {
    const base = /^ready in .*: (http:\/\/.*)\/$/.exec(line)?.[1];
    if (base !== undefined) {
      server.stderr!.resume();
      return base;
    }
  }
  throw new Error("the server does not start");
}

async function end(signal: NodeJS.Signals): Promise<void> {
  server.kill(signal);
  await once(server, "exit");
}

/** A stream whose openings can be awaited. */
function listen(request: Parameters<Client["events"]>[0], own: Partial<Client["options"]> = { credentials: { user, password } }) {
  const waiting: (() => void)[] = [];
  const opened = (): Promise<void> => new Promise((done) => waiting.push(done));
  const fetched: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    waiting.splice(0).forEach((done) => done());
    return response;
  };
  return { opened, events: new Client({ base, fetch: fetched, ...own }).events(request) };
}

type Told = IteratorResult<SiteEvent | EventReset, void>;

function change(told: Told): SiteEvent {
  if (told.done || told.value.type === "reset") {
    throw new Error(`no change: ${JSON.stringify(told)}`);
  }
  return told.value;
}

let base = await start("127.0.0.1:0");
try {
  const address = new URL(base).host;
  const editor = new Client({ base, credentials: { user, password } });
  const publish = async (title: string) => (await editor.call("posts.create", { body: { title, status: "publish" } })).data.id;

  // A change, as soon as it is made.
  const abort = new AbortController();
  const posts = listen({ resources: ["posts"], signal: abort.signal });
  let [open, next] = [posts.opened(), posts.events.next()];
  await open;
  let id = await publish("One");
  const event = change(await next);
  same([event.type, event.resource, event.record, event.slug], ["published", "posts", id, "one"], "an event");
  // @ts-expect-error: events have no contents.
  void event.title;

  // What happens while the server is away, killed and ended, is told afterwards.
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    next = posts.events.next();
    await end(signal);
    await start(address);
    id = await publish(`After ${signal}`);
    same(change(await next).record, id, `an event after ${signal}`);
  }

  // A connection that is lost before its first event goes on where it began.
  const early = listen({ resources: ["posts"] });
  [open, next] = [early.opened(), early.events.next()];
  await open;
  const again = early.opened();
  await end("SIGTERM");
  await start(address);
  id = await publish("Early");
  same(change(await next).record, id, "an event after a restart before the first one");
  await again;
  await early.events.return();

  // From a position on; only what is wanted; to visitors, too.
  const known = event.id;
  const visitor = listen({ resources: ["posts"], events: ["created"], after: known }, {});
  for (const slug of ["after-sigkill", "after-sigterm", "early"]) {
    same(change(await visitor.events.next()).slug, slug, "an event after a position");
  }
  await visitor.events.return();

  // A position that is lost is told.
  const lost = listen({ resources: ["posts"], after: 999_999_999 });
  const reset = (await lost.events.next()).value;
  same(reset && reset.type === "reset" && reset.id >= known, true, "a reset");
  next = lost.events.next();
  id = await publish("Later");
  same(change(await next).record, id, "an event after a reset");
  await lost.events.return();

  // Refusals are failures, the signal ends the stream, also while the server is away.
  for (const [request, own, status] of [
    [{ resources: ["nothing"] }, {}, 400],
    [{}, { credentials: { user, password: "wrong" } }, 401],
  ] as const) {
    const refused = await listen({ ...request, resources: [...("resources" in request ? request.resources : [])] }, own)
      .events.next().catch((error: unknown) => error);
    same(refused instanceof Failure && refused.status, status, "a refusal");
  }
  next = posts.events.next();
  same(change(await next).slug, "early", "the first stream is still there");
  same(change(await posts.events.next()).slug, "later", "and goes on");
  next = posts.events.next();
  abort.abort();
  same((await next).done, true, "the signal ends the stream");
} finally {
  await end("SIGKILL");
}
const away = new AbortController();
const nobody = listen({ signal: away.signal }).events.next();
away.abort();
same((await nobody).done, true, "the signal ends a stream without a server");

// Pauses grow, and begin anew after a sign of life; a server that is silent counts as broken.
const pauses: number[] = [];
const timer = globalThis.setTimeout;
globalThis.setTimeout = ((run: () => void, time: number) => {
  pauses.push(time);
  return timer(run, time);
}) as typeof setTimeout;
const answers = ["retry: 8\n\nid: 7\n\n", 503, null, null, "data: {\"type\":\"updated\",", "id: 8\n:\n\n", "silent", "data: {\"id\":9}\n\n"];
const asked: (string | null)[] = [];
const scripted: typeof fetch = async (url, init) => {
  asked.push(new URL(String(url)).searchParams.get("after"));
  const answer = answers.shift();
  if (answer === null || answer === undefined) {
    throw new TypeError("the network is down");
  }
  if (typeof answer === "number") {
    return new Response("{}", { status: answer });
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (answer === "silent") {
        init!.signal!.addEventListener("abort", () => controller.error(new Error("ended")));
      } else {
        controller.enqueue(new TextEncoder().encode(answer));
        controller.close();
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};
const told = await new Client({ base: "http://127.0.0.1:9", fetch: scripted }).events({ after: 5, silence: 0.3 }).next();
globalThis.setTimeout = timer;
same(told.value, { id: 9 }, "the event behind all failures");
same(asked, ["5", "7", "7", "7", "7", "7", "8", "8"], "each goes on where the last one was");
const grown = pauses.filter((time) => time !== 300);
same(grown.map((time) => Math.ceil(Math.log2(time / 8))), [0, 1, 2, 3, 4, 0, 1], `pauses: ${grown.join(" ")}`);

// The bodies of webhooks are told apart by their type.
const body = { type: "several", events: [{ type: "gone" }] } as unknown as WebhookBody;
const types = body.type === "several" ? body.events.map((one) => one.type) : [body.type];
const gone: Webhooks["gone"]["body"]["type"] = types[0]! as "gone";
const signature: keyof Webhooks["gone"]["headers"] = "webhook-signature";
same([gone, signature], ["gone", "webhook-signature"], "types of webhooks");
console.log("events: restarts, positions, resets, refusals and pauses by the client's stream");
