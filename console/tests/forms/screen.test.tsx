import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { options } from "preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import { setApi } from "../../src/api";
import type { Resource } from "../../src/api/description";
import { createHttp } from "../../src/api/http";
import type { JsonSchema } from "../../src/model/json-schema";
import { ItemScreen } from "../../src/screens/item";
import { SingletonScreen } from "../../src/screens/singleton";
import { startShortcuts } from "../../src/shell/shortcuts";
import { BOOT, FakeServer, type Canned, type Seen } from "../fixtures/http";
import { sampleDescription, sampleResource } from "./sample";

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const properties: Record<string, JsonSchema> = {
  id: { type: "integer", readonly: true },
  title: wrapped,
  status: { type: "string", enum: ["publish", "draft"] },
  price: { type: "number" },
  hours: { type: "array", items: { type: "object", properties: { from: { type: "string" } } } },
  meta: { type: "object", properties: { source: { type: "string" } } },
};
const operation = (method: "GET" | "POST" | "DELETE", path: string, args: string[] = []): Resource["operations"][string] => ({ method, path, args, file: false, batch: false });
const notes = sampleResource({
  states: ["publish", "draft", "trash"],
  fields: { meta: { control: "meta" } },
  operations: { list: operation("GET", "/notes"), create: operation("POST", "/notes"), get: operation("GET", "/notes/{id}", ["context"]), update: operation("POST", "/notes/{id}"), delete: operation("DELETE", "/notes/{id}", ["force"]) },
});
const looks = sampleResource({ name: "looks", label: "Looks", key: null, operations: { get: operation("GET", "/looks"), update: operation("POST", "/looks") } });
const record = { id: 7, title: { raw: "Old", rendered: "Old" }, status: "draft", price: 5, hours: [{ from: "8" }], meta: { source: "" }, _links: {} };
const described = { endpoints: [{ methods: ["GET"], args: { context: {} } }, { methods: ["POST"], args: properties }, { methods: ["DELETE"], args: { force: {} } }], schema: { type: "object", properties, links: [] } };

let server: FakeServer;
let refusal: Canned | null;

function answer(request: Seen): Canned {
  if (request.method === "OPTIONS") {
    return { body: described };
  }
  if (request.method === "GET") {
    return { body: record, headers: { ETag: '"1-a"', Allow: "GET, POST, DELETE" } };
  }
  return refusal ?? { body: { ...record, ...(request.body as object) }, headers: { ETag: '"2"', Allow: "GET, POST, DELETE" } };
}

beforeEach(() => {
  localStorage.clear();
  refusal = null;
  server = new FakeServer(answer);
  setApi(createHttp(BOOT, server), sampleDescription([notes, looks]));
});
afterEach(cleanup);
startShortcuts();

/** The title, once the form is there and painted: what listens is registered then. */
const title = async (): Promise<HTMLInputElement> => {
  const input = await screen.findByRole("textbox", { name: "Title" });
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  return input as HTMLInputElement;
};
/** What was written; that the form says what it has open is something else. */
const sent = (): Seen[] => server.seen.filter((request) => request.method === "POST" && !request.address.endsWith("/presence"));
const save = (): void => {
  fireEvent.keyDown(document.body, { key: "s", ctrlKey: true });
};

it("a record opens, and Ctrl+S saves what was changed", async () => {
  render(<ItemScreen resource={notes} id="7" />);
  fireEvent.input(await title(), { target: { value: "New" } });
  save();
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ address: "/cms-json/notes/7", body: { title: { raw: "New" } } });
  expect(sent()[0]?.headers["If-Match"]).toBe('"1-a"');
});

it("messages stand at their fields, the focus goes to the first, and others stand above", async () => {
  refusal = { status: 400, body: { code: "rest_invalid_param", message: "Wrong.", data: { status: 400, params: { price: "price is too high.", meta: "meta[source] is wrong.", other: "other is wrong." }, details: { meta: { data: { param: "meta[source]" } } } } } };
  render(<ItemScreen resource={notes} id="7" />);
  fireEvent.input(await title(), { target: { value: "New" } });
  save();
  const price = await screen.findByRole("spinbutton", { name: "Price" });
  await waitFor(() => expect(document.activeElement).toBe(price));
  const message = document.getElementById(price.getAttribute("aria-describedby")?.split(" ").at(-1) ?? "");
  expect(message?.textContent).toBe("Price is too high.");
  expect(screen.getByRole("alert").textContent).toContain("other is wrong.");
  const source = document.querySelector('[data-field="meta"] input[aria-invalid="true"]');
  fireEvent.click(screen.getByRole("button", { name: /^Meta › / }));
  expect(source?.closest("details")?.open).toBe(true);
  expect(document.activeElement).toBe(source);
  fireEvent.input(price, { target: { value: "6" } });
  expect(price.getAttribute("aria-invalid")).toBeNull();
});

it("a key renders the row of its field, and no other", async () => {
  render(<ItemScreen resource={notes} id="7" />);
  const input = await title();
  fireEvent.input(input, { target: { value: "Old!" } });
  const rendered: string[] = [];
  const hooks = options as { diffed?: (vnode: { type: unknown }) => void };
  const before = hooks.diffed;
  hooks.diffed = (vnode) => {
    if (typeof vnode.type === "function") {
      rendered.push(vnode.type.name);
    }
    before?.(vnode);
  };
  fireEvent.input(input, { target: { value: "Old!!" } });
  await waitFor(() => expect(rendered).toContain("Row"));
  if (before === undefined) {
    delete hooks.diffed;
  } else {
    hooks.diffed = before;
  }
  expect(rendered.filter((name) => name === "Row")).toHaveLength(1);
  expect(rendered).not.toContain("FormFrame");
  expect(rendered).not.toContain("Item");
});

it("the buttons follow the state", async () => {
  render(<ItemScreen resource={notes} id="7" />);
  await title();
  expect(screen.getByRole("button", { name: "Save draft" })).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Publish" }));
  // It is looked at first; leaving the question changes nothing.
  const question = (): HTMLElement => screen.getByRole("dialog", { name: "Publish this?" });
  fireEvent.click(within(question()).getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(sent()).toEqual([]);
  fireEvent.click(screen.getByRole("button", { name: "Publish" }));
  fireEvent.click(within(question()).getByRole("button", { name: "Publish" }));
  await waitFor(() => expect(sent()[0]?.body).toEqual({ status: "publish" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Publish" })).toBeNull());
  expect(screen.getByRole("button", { name: "Save" })).toBeTruthy();
});

it("a new record is created with what was typed, and no more", async () => {
  render(<ItemScreen resource={notes} id={null} />);
  fireEvent.input(await title(), { target: { value: "First" } });
  fireEvent.click(screen.getByRole("button", { name: "Save draft" }));
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ address: "/cms-json/notes", body: { title: { raw: "First" }, status: "draft" } });
});

it("unsaved work from before is offered, and compared", async () => {
  const first = render(<ItemScreen resource={notes} id="7" />);
  fireEvent.input(await title(), { target: { value: "Half typed" } });
  first.unmount();
  render(<ItemScreen resource={notes} id="7" />);
  expect((await title()).value).toBe("Old");
  fireEvent.click(await screen.findByRole("button", { name: "Restore" }));
  expect((await title()).value).toBe("Half typed");
});

it("a document that is one alone is saved in the same way", async () => {
  render(<SingletonScreen resource={looks} id={null} params={{}} />);
  fireEvent.input(await screen.findByRole("spinbutton", { name: "Price" }), { target: { value: "9" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ address: "/cms-json/looks", body: { price: 9 } });
});
