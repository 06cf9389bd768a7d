import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import { setApi } from "../src/api";
import type { Resource } from "../src/api/description";
import { createHttp } from "../src/api/http";
import { navigate, startRouter } from "../src/router";
import { RoleScreen } from "../src/screens/role";
import { othersOf, rowsOf } from "../src/screens/role/model";
import { Questions, Toasts } from "../src/ui";
import { BOOT, FakeServer, type Canned, type Seen } from "./fixtures/http";
import { sampleDescription, sampleResource } from "./forms/sample";

configure({ asyncUtilTimeout: 4000 });

const operation = (method: "GET" | "POST" | "DELETE", path: string): Resource["operations"][string] => ({ method, path, args: [], file: false, batch: false });
const roles = sampleResource({
  name: "roles", label: "Roles", singular: "Role", key: "slug",
  operations: {
    list: operation("GET", "/server/v1/roles"),
    create: operation("POST", "/server/v1/roles"),
    get: operation("GET", "/server/v1/roles/{slug}"),
    update: operation("POST", "/server/v1/roles/{slug}"),
    delete: operation("DELETE", "/server/v1/roles/{slug}"),
  },
});
const table = {
  resources: [
    { name: "posts", label: "Posts", actions: { create: "edit_posts", edit: "edit_posts", publish: "publish_posts", delete: "do_not_allow" } },
    { name: "notes", label: "Notes", actions: { publish: "publish_posts", create: "edit_posts", edit: "edit_posts" } },
    { name: "users", label: "Users", actions: { list: "list_users" } },
    { name: "open", label: "Open", actions: { read: "" } },
  ],
  capabilities: ["edit_posts", "list_users", "manage_options", "publish_posts", "read"].map((name) => ({ name, givable: name !== "list_users", uses: [] })),
};
const one = { slug: "proof", name: "Proof", capabilities: ["read", "edit_posts"], origin: "stored", locked: false, required: false, editable: true };
const all = [
  { ...one, slug: "administrator", name: "Administrator", capabilities: ["read", "edit_posts", "list_users"], origin: "declared", required: true },
  one,
  { ...one, slug: "fixed", name: "Fixed", origin: "declared", locked: true, editable: false },
];

let server: FakeServer;

function answer(request: Seen): Canned {
  if (request.method !== "GET") return { body: one, headers: { ETag: '"2"' } };
  if (request.address.includes("/capabilities")) return { body: table };
  const slug = /\/roles\/(\w+)/.exec(request.address)?.[1];
  return slug === undefined ? { body: all } : { body: all.find((role) => role.slug === slug), headers: { ETag: '"1"' } };
}

beforeEach(() => {
  server = new FakeServer(answer);
  const description = sampleDescription([roles], { roles: "roles" });
  setApi(createHttp(BOOT, server), description);
  startRouter("/admin");
});
afterEach(cleanup);

const sent = (method: string): Seen[] => server.seen.filter((request) => request.method === method);
const box = (name: string): HTMLInputElement => screen.getByRole("checkbox", { name });

function show(id: string | null): void {
  render(
    <>
      <RoleScreen resource={roles} id={id} params={{}} />
      <Questions />
      <Toasts />
    </>,
  );
}

it("resources that need the same are one row; what nobody or everybody may is no cell", () => {
  const { rows, actions } = rowsOf(table);
  expect(rows.map((row) => row.labels)).toEqual([["Posts", "Notes"], ["Users"]]);
  expect(actions).toEqual(["create", "edit", "publish", "list"]);
  expect(othersOf(table, rows)).toEqual(["manage_options", "read"]);
});

it("switches a capability with all its actions, and saves what is held against the version that was read", async () => {
  show("proof");
  await screen.findByRole("button", { name: "Save" });
  expect(box("Posts, Notes: create").checked).toBe(true);
  expect(box("Users: list").disabled).toBe(true);
  fireEvent.click(box("Posts, Notes: edit"));
  expect(box("Posts, Notes: create").checked).toBe(false);
  fireEvent.click(box("Posts, Notes: publish"));
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent("POST")).toHaveLength(1));
  expect(sent("POST")[0]?.body).toEqual({ name: "Proof", capabilities: ["read", "publish_posts"] });
  expect(sent("POST")[0]?.headers["If-Match"]).toBe('"1"');
});

it("a copy has what the caller may give", async () => {
  navigate("/r/roles/new?copy=administrator");
  show(null);
  fireEvent.input(await screen.findByLabelText(/Short name/), { target: { value: "second" } });
  fireEvent.input(screen.getByLabelText(/^Name/), { target: { value: "Second" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent("POST")[0]?.body).toEqual({ slug: "second", name: "Second", capabilities: ["read", "edit_posts"] }));
});

it("a locked role and what a required one keeps cannot be switched", async () => {
  show("fixed");
  expect(await screen.findByText(/The files lock this role/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  expect(box("read").disabled).toBe(true);
  cleanup();
  show("administrator");
  await screen.findByRole("button", { name: "Save" });
  expect([box("read").disabled, box("manage_options").disabled]).toEqual([true, false]);
});

it("a stored role is deleted, and its users get another one", async () => {
  show("proof");
  fireEvent.change(await screen.findByLabelText("Its users get"), { target: { value: "administrator" } });
  fireEvent.click(screen.getByRole("button", { name: "Delete role" }));
  const buttons = await waitFor(() => {
    const found = screen.getAllByRole("button", { name: "Delete role" });
    expect(found).toHaveLength(2);
    return found;
  });
  fireEvent.click(buttons[1] as HTMLElement);
  await waitFor(() => expect(sent("DELETE")[0]?.address).toContain("/roles/proof?reassign=administrator"));
});
