import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import { setApi } from "../src/api";
import type { Resource } from "../src/api/description";
import { createHttp } from "../src/api/http";
import { fieldsOf } from "../src/model/fields";
import type { JsonSchema } from "../src/model/json-schema";
import { startRouter } from "../src/router";
import { AssistantsScreen } from "../src/screens/assistants";
import { ReviewScreen } from "../src/screens/review";
import { comparedFields, membersWithoutField, reviewOf } from "../src/screens/review/model";
import { Questions, Toasts } from "../src/ui";
import { BOOT, FakeServer, type Canned, type Seen } from "./fixtures/http";
import { sampleDescription, sampleResource } from "./forms/sample";

configure({ asyncUtilTimeout: 4000 });

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const properties: Record<string, JsonSchema> = { id: { type: "integer", readonly: true }, title: wrapped, meta: { type: "object", properties: { source: { type: "string" } } } };
const operation = (method: "GET" | "POST" | "DELETE", path: string, args: string[] = []): Resource["operations"][string] => ({ method, path, args, file: false, batch: false });
const notes = sampleResource({ operations: { get: operation("GET", "/notes/{id}", ["context"]), update: operation("POST", "/notes/{id}") } });
const reviews = sampleResource({
  name: "reviews",
  label: "Reviews",
  operations: { list: operation("GET", "/reviews"), get: operation("GET", "/reviews/{id}"), update: operation("POST", "/reviews/{id}", ["state", "note", "seen"]) },
});
const passwords = sampleResource({
  name: "application_passwords",
  key: "uuid",
  parent: { resource: "users", parameter: "user_id" },
  operations: { delete: operation("DELETE", "/users/{user_id}/passwords/{uuid}") },
});
const audit = sampleResource({ name: "audit", operations: { list: operation("GET", "/audit", ["event"]) } });
const waiting = {
  id: 7, state: "pending", record: 12, resource: "notes", title: "Opening hours", client: "Assistant", user: 1, note: "", changed: "2026-05-01T10:00:00",
  notices: ["record_changed"], seen: "3-8", members: ["title", "meta.source", "own"],
  difference: [
    { member: "title", present: { raw: "Old" }, proposed: { raw: "New" } },
    { member: "meta.source", present: "", proposed: "A letter" },
    { member: "own", present: 1, proposed: 2 },
  ],
};
const programs = [
  { uuid: "u-1", user: 3, user_name: "Edda", name: "Claude", connected: true, scope: "draft", resources: [], last_used: null, last_ip: "", expires: null },
];
const calls = [
  { id: 2, date: "2026-05-01T10:00:00", event: "tool_called", subject: "posts/update", client: "claude 1", login: "edda" },
  { id: 1, date: "2026-05-01T09:00:00", event: "tool_called", subject: "posts/create", client: "other", login: "edda" },
];

let server: FakeServer;
let refusal: Canned | null;

function answer(request: Seen): Canned {
  if (request.method === "OPTIONS") {
    return { body: { endpoints: [{ methods: ["GET"], args: { context: {} } }, { methods: ["POST"], args: properties }], schema: { type: "object", properties, links: [] } } };
  }
  if (request.address.includes("/assistants")) return { body: { address: "https://example.org/mcp", oauth: true, programs, credentials: "application_passwords", trail: "audit" } };
  if (request.address.includes("/audit")) return { body: calls };
  if (request.method === "GET" && request.address.includes("/reviews/")) return { body: waiting };
  if (request.method === "GET") return { body: { id: 12, title: { raw: "Old", rendered: "Old" }, meta: { source: "" } }, headers: { Allow: "GET, POST" } };
  return refusal ?? { body: { ...waiting, state: "published" } };
}

beforeEach(() => {
  refusal = null;
  server = new FakeServer(answer);
  const description = sampleDescription([notes, reviews, passwords, audit]);
  description.site.reviews = "reviews";
  setApi(createHttp(BOOT, server), description);
  startRouter("/admin");
});
afterEach(cleanup);

const sent = (method: string): Seen[] => server.seen.filter((request) => request.method === method);

function show(): void {
  render(
    <>
      <ReviewScreen resource={reviews} id="7" params={{}} />
      <Questions />
      <Toasts />
    </>,
  );
}

it("a review is compared by the fields of the record's form; what no field shows is named", () => {
  const fields = fieldsOf({ properties, args: properties, hints: {}, parameters: [] });
  const { difference } = reviewOf(waiting);
  expect(comparedFields(fields, difference ?? []).map(({ field, before, after }) => [field.path, before, after])).toEqual([
    ["title", "Old", "New"],
    ["meta", { source: "" }, { source: "A letter" }],
  ]);
  expect(membersWithoutField(fields, difference ?? []).map((change) => change.member)).toEqual(["own"]);
});

it("shows what would change and what has happened since, and publishes what was seen", async () => {
  show();
  expect(await screen.findByText("New")).toBeTruthy();
  expect(screen.getByText(/has changed since this was proposed/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Publish" }));
  await waitFor(() => expect(sent("POST")).toHaveLength(1));
  expect(sent("POST")[0]?.body).toEqual({ state: "published", note: "", seen: "3-8" });
});

it("sends back with a note", async () => {
  show();
  const note = await screen.findByLabelText("Note");
  fireEvent.input(note, { target: { value: "Not so." } });
  fireEvent.click(screen.getByRole("button", { name: "Send back" }));
  await waitFor(() => expect(sent("POST")[0]?.body).toEqual({ state: "returned", note: "Not so." }));
});

it("reads again what has changed meanwhile", async () => {
  refusal = { status: 409, body: { code: "rest_review_outdated", message: "It has changed.", data: { status: 409 } } };
  show();
  fireEvent.click(await screen.findByRole("button", { name: "Publish" }));
  await waitFor(() => expect(sent("GET").filter((request) => request.address.includes("/reviews/"))).toHaveLength(2));
});

it("assistants: the address, the programs and what they called", async () => {
  render(
    <>
      <AssistantsScreen params={{}} />
      <Questions />
      <Toasts />
    </>,
  );
  expect(((await screen.findByRole("textbox", { name: "Address" })) as HTMLInputElement).value).toBe("https://example.org/mcp");
  expect(screen.getByRole("row", { name: /Claude.*Edda.*propose drafts.*never/ })).toBeTruthy();
  await screen.findByText("posts/update");
  const chosen = screen.getByRole("combobox", { name: "Program" }) as HTMLSelectElement;
  chosen.value = "other";
  chosen.dispatchEvent(new Event("change", { bubbles: true }));
  await waitFor(() => expect(screen.queryByText("posts/update")).toBeNull());
  fireEvent.click(screen.getByRole("button", { name: "Revoke: Claude" }));
  fireEvent.click(await screen.findByRole("button", { name: "Revoke" }).catch(() => screen.getAllByRole("button", { name: "Revoke" })[0] as HTMLElement));
  await waitFor(() => expect(sent("DELETE")[0]?.address).toContain("/users/3/passwords/u-1"));
});
