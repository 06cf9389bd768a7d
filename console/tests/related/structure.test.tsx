import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import { BelowPanel } from "../../src/related/below";
import { Structure } from "../../src/related/structure";
import { Announcements, Questions } from "../../src/ui";
import { fakeApi, resourceOf } from "../fixtures/api";
import type { FakeServer, Seen } from "../fixtures/http";

afterEach(cleanup);

const pages = resourceOf("pages");
const FIELDS = { order: "menu_order", parent: "parent" };
const RECORDS = [
  { id: 1, title: { raw: "Home" }, parent: 0, menu_order: 1 },
  { id: 2, title: { raw: "About" }, parent: 0, menu_order: 2 },
  { id: 3, title: { raw: "Team" }, parent: 0, menu_order: 3 },
];

function answer(request: Seen): { status: number; body: unknown; headers?: Record<string, string> } {
  if (request.method === "GET") return { status: 200, body: RECORDS, headers: { "X-cms-Total": "3", "X-cms-TotalPages": "1" } };
  return { status: 207, body: { responses: [{ status: 200, body: {} }] } };
}

async function shown(): Promise<FakeServer> {
  const { server } = fakeApi(answer);
  render(
    <>
      <Structure resource={pages} query={{}} preset={{}} fields={FIELDS} label="Menu" />
      <Announcements />
      <Questions />
    </>,
  );
  await screen.findByText("Team");
  return server;
}

const names = (): string[] => [...document.querySelectorAll(".structure-name")].map((name) => name.textContent ?? "");
const handle = (name: string): HTMLElement => screen.getByRole("button", { name: new RegExp(`^Move ${name}\\.`) });

describe("a tree with an order", () => {
  it("is moved by keys, announced, and saved in one batch with what differs", async () => {
    const server = await shown();
    fireEvent.keyDown(handle("Team"), { key: "ArrowRight" });
    await screen.findByText("Team: place 1 of 1 on level 2, below About.");
    fireEvent.click(screen.getByRole("button", { name: "Save the order" }));
    await waitFor(() => expect(server.seen.some((request) => request.method === "POST")).toBe(true));
    expect(server.seen.filter((request) => request.method === "POST").map((request) => request.body)).toEqual([{ requests: [{ method: "POST", path: "/cms/v2/pages/3", body: { parent: 2 } }] }]);
  });

  it("says what cannot be", async () => {
    await shown();
    fireEvent.keyDown(handle("Home"), { key: "ArrowRight" });
    await screen.findByText("Home cannot be moved there.");
    expect(screen.queryByRole("button", { name: "Save the order" })).toBeNull();
  });

  it("is moved by buttons, too, and goes back as it was", async () => {
    await shown();
    fireEvent.click(screen.getByRole("button", { name: "Move Team up" }));
    await waitFor(() => expect(names()).toEqual(["Home", "Team", "About"]));
    fireEvent.click(screen.getByRole("button", { name: "Discard" }));
    await waitFor(() => expect(names()).toEqual(["Home", "About", "Team"]));
  });

  it("is moved by dragging", async () => {
    await shown();
    const rows = [...document.querySelectorAll<HTMLElement>(".structure-row")];
    const target = rows[0] as HTMLElement;
    target.getBoundingClientRect = () => ({ top: 0, height: 30, left: 0, right: 100, bottom: 30, width: 100, x: 0, y: 0 }) as DOMRect;
    fireEvent(handle("Team"), new MouseEvent("dragstart", { bubbles: true }));
    await waitFor(() => expect(rows[2]?.dataset["dragged"]).toBe("true"));
    fireEvent(target, new MouseEvent("dragover", { bubbles: true, cancelable: true, clientY: 2 }));
    await waitFor(() => expect(target.dataset["drop"]).toBe("before"));
    fireEvent(target, new MouseEvent("drop", { bubbles: true, cancelable: true }));
    await waitFor(() => expect(names()).toEqual(["Team", "Home", "About"]));
  });
});

describe("records below a record", () => {
  const keys = resourceOf("application_passwords");

  it("are made with a text that is shown once, and revoked after a question", async () => {
    const made = { uuid: "u1", name: "Phone", created: 1, password: "abcd EFGH ijkl" };
    const { server } = fakeApi((request) => {
      if (request.method === "OPTIONS") {
        return { status: 200, body: { endpoints: [{ methods: ["POST"], args: { name: { type: "string", required: true } } }], schema: { properties: { uuid: { type: "string", readonly: true }, name: { type: "string" } } } } };
      }
      if (request.method === "POST") return { status: 201, body: made };
      const { password: _, ...later } = made;
      return { status: 200, body: request.address.includes("/u1") ? later : [later] };
    });
    render(
      <>
        <BelowPanel resource={keys} parameter="user_id" owner={7} />
        <Questions />
      </>,
    );
    fireEvent.click(await screen.findByRole("button", { name: /application.password/i }));
    fireEvent.input(await screen.findByLabelText(/^Name/), { target: { value: "Phone" } });
    fireEvent.click(screen.getByRole("button", { name: "Create" }));
    expect((await screen.findByText("abcd EFGH ijkl")).tagName).toBe("CODE");
    fireEvent.click(screen.getByRole("button", { name: "I have kept it" }));
    await waitFor(() => expect(screen.queryByText("abcd EFGH ijkl")).toBeNull());
    fireEvent.click(screen.getByRole("button", { name: "Revoke Phone" }));
    const question = await screen.findByRole("dialog", { name: "Revoke “Phone”?" });
    fireEvent.click([...question.querySelectorAll("button")].at(-1) as HTMLElement);
    await waitFor(() => expect(server.seen.some((request) => request.method === "DELETE" && request.address.endsWith("/users/7/application-passwords/u1"))).toBe(true));
  });
});
