import { cleanup, configure, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { navigate, place, startRouter } from "../src/router";
import { ListScreen } from "../src/screens/list";
import { Announcements, Questions, Toasts } from "../src/ui";
import { fakeApi, resourceOf } from "./fixtures/api";
import { type Canned, type FakeServer, failure, type Seen } from "./fixtures/http";

// What is loaded when it is needed takes its time on a busy machine.
configure({ asyncUtilTimeout: 4000 });

const RECORDS = [
  { id: 1, title: { rendered: "One &amp; only" }, status: "publish", author: 3, categories: [], tags: [], date: "2026-05-01T10:00:00" },
  { id: 2, title: { rendered: "Two" }, status: "draft", author: 3, categories: [], tags: [], date: "2026-05-02T10:00:00" },
  { id: 3, title: { rendered: "<script>alert(1)</script>" }, status: "draft", author: 0, categories: [], tags: [], date: null },
];
const STATUS = { type: "array", items: { enum: ["publish", "future", "draft", "pending", "private", "trash", "any"] } };
const LIST_ARGS = { search: { type: "string" }, per_page: { type: "integer" }, order: {}, orderby: { enum: ["date", "title"] }, status: STATUS, _count_by: {} };
const UPDATE_ARGS = { status: { type: "string", enum: ["publish", "draft"] }, sticky: { type: "boolean" } };

function answer(request: Seen): Canned {
  if (request.method === "OPTIONS") {
    return { body: { endpoints: [{ methods: ["GET"], args: LIST_ARGS }, { methods: ["POST"], args: UPDATE_ARGS }, { methods: ["DELETE"], args: {} }], schema: { properties: {} } } };
  }
  if (request.address.includes("_count_by")) return { body: [{ value: "publish", count: 1 }, { value: "draft", count: 2 }] };
  if (request.address.includes("/users?")) return { body: [{ id: 3, name: "Edda" }] };
  if (request.address.endsWith("/batch/v1")) {
    const { requests } = request.body as { requests: unknown[] };
    return { status: 207, body: { responses: requests.map((_, n) => (n === 0 ? { status: 200, body: {} } : { status: 403, body: { code: "rest_cannot_edit", message: "Not yours." } })) } };
  }
  return { body: RECORDS };
}

function show(reply: (request: Seen, count: number) => Canned = answer, query = ""): FakeServer {
  const { server } = fakeApi(reply);
  startRouter("/admin");
  navigate(`/r/posts${query}`, { replace: true });
  const posts = resourceOf("posts");
  function Shown() {
    // The screen follows the address.
    return <ListScreen key={place.value.path} resource={posts} id={null} params={{ resource: "posts" }} />;
  }
  render(
    <>
      <Shown />
      <Questions />
      <Toasts />
      <Announcements />
    </>,
  );
  return server;
}

beforeEach(() => localStorage.clear());
afterEach(cleanup);

describe("the list of a resource", () => {
  it("shows records with their names, states and related records; markup is text", async () => {
    const server = show();
    const row = await screen.findByRole("row", { name: /One & only/ });
    expect(within(row).getByText("Published")).toBeTruthy();
    await waitFor(() => expect(within(row).getByRole("link", { name: "Edda" }).getAttribute("href")).toBe("/admin/r/users/3"));
    expect(screen.getByRole("link", { name: "No title (#3)" })).toBeTruthy();
    expect(document.querySelector("tbody script")).toBeNull();
    // One request for all authors.
    expect(server.seen.filter((request) => request.address.includes("/users?"))).toHaveLength(1);
  });

  it("has states as tabs with counts, each with an address", async () => {
    show();
    const tab = await screen.findByRole("link", { name: /Draft\s*2/ });
    expect(tab.getAttribute("href")).toBe("/admin/r/posts?state=draft");
    expect(screen.getByRole("link", { name: /All\s*3/ }).getAttribute("aria-current")).toBe("page");
  });

  it("keeps the order and the search in the address", async () => {
    const server = show();
    await screen.findByRole("row", { name: /Two/ });
    fireEvent.click(screen.getByRole("button", { name: "Title" }));
    await waitFor(() => expect(place.value.search).toBe("sort=title"));
    await waitFor(() => expect(screen.getByRole("columnheader", { name: "Title" }).getAttribute("aria-sort")).toBe("ascending"));
    fireEvent.input(screen.getByRole("searchbox"), { target: { value: "lamp" } });
    await waitFor(() => expect(place.value.search).toBe("q=lamp&sort=title"));
    await waitFor(() => expect(server.seen.some((request) => /orderby=title&order=asc.*|search=lamp/.test(request.address) && request.address.includes("search=lamp"))).toBe(true));
  });

  it("selects with the keyboard, changes the selection in a batch, and keeps what failed selected", async () => {
    const server = show();
    const row = await screen.findByRole("row", { name: /One & only/ });
    await screen.findByRole("link", { name: /Draft\s*2/ });
    row.focus();
    fireEvent.keyDown(row, { key: " " });
    fireEvent.keyDown(row, { key: "ArrowDown", shiftKey: true });
    expect(await screen.findByText("2 selected")).toBeTruthy();
    expect(document.activeElement?.textContent).toContain("Two");
    fireEvent.click(screen.getByRole("button", { name: "Move to the trash" }));
    expect(await screen.findByText("1 item is in the trash.")).toBeTruthy();
    expect(await screen.findByText("1 item was not changed: Not yours.")).toBeTruthy();
    const batch = server.seen.find((request) => request.address.endsWith("/batch/v1"));
    expect(batch?.body).toEqual({ requests: [{ method: "DELETE", path: "/cms/v2/posts/1" }, { method: "DELETE", path: "/cms/v2/posts/2" }] });
    expect(await screen.findByText("1 selected")).toBeTruthy();
  });

  it("asks before it deletes permanently", async () => {
    const server = show(answer, "?state=trash");
    await screen.findByRole("row", { name: /Two/ });
    fireEvent.click(screen.getByRole("checkbox", { name: "Select “Two”" }));
    fireEvent.click(await screen.findByRole("button", { name: "Delete permanently" }));
    const dialog = await screen.findByRole("dialog", { name: "Delete 1 item permanently?" });
    fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(server.seen.some((request) => request.address.endsWith("/batch/v1"))).toBe(false);
  });

  it("says why it failed, and tries again", async () => {
    let broken = true;
    show((request) => (broken && request.address.includes("per_page=20") ? failure(500, "rest_internal") : answer(request)));
    expect(await screen.findByText("It is rest_internal.")).toBeTruthy();
    broken = false;
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("row", { name: /Two/ })).toBeTruthy();
  });

  it("says that nothing matches, and lets the filters go", async () => {
    show((request) => (request.address.includes("search=zzz") && !request.address.includes("_count") ? { body: [] } : answer(request)), "?q=zzz");
    expect(await screen.findByText("Nothing matches.")).toBeTruthy();
    fireEvent.click(screen.getAllByRole("button", { name: "Clear search and filters" })[0] as HTMLElement);
    await waitFor(() => expect(place.value.search).toBe(""));
    expect(await screen.findByRole("row", { name: /Two/ })).toBeTruthy();
  });
});
