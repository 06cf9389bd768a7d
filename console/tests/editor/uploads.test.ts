import { afterEach, describe, expect, it, vi } from "vitest";
import { Session } from "../../src/editor/session";
import type { EditorProps, FileItem, Picture } from "../../src/editor/types";
import { upload } from "../../src/editor/uploads";
import { toast } from "../../src/ui";

/** An editor whose uploads end when the test says so. */
class Bench {
  readonly ends = new Map<string, { done(): void; fail(): void }>();
  readonly session: Session;
  private readonly props: EditorProps;

  constructor(text: string) {
    const coming = <T>(file: File, made: T): Promise<T> =>
      new Promise((resolve, reject) => this.ends.set(file.name, { done: () => resolve(made), fail: () => reject(new Error("no")) }));
    this.props = {
      value: text,
      onChange: () => undefined,
      label: "Content",
      picture: { upload: (file) => coming<Picture>(file, { url: `https://site.example/${file.name}` }) },
      file: { upload: (file) => coming<FileItem>(file, { url: `https://site.example/${file.name}`, name: file.name, mime: file.type }) },
    };
    const place = document.createElement("div");
    document.body.append(place);
    this.session = new Session(place, () => this.props);
  }

  give(names: string[], at: number): void {
    const types: Record<string, string> = { png: "image/png", mp4: "video/mp4", mp3: "audio/mpeg", pdf: "application/pdf" };
    upload(this.session.view, names.map((name) => new File(["x"], name, { type: types[name.slice(-3)] ?? "" })), at, this.props);
  }

  async end(name: string, how: "done" | "fail" = "done"): Promise<void> {
    this.ends.get(name)?.[how]();
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.session.view.state.doc.check();
  }

  /** The names of files and the texts, in their order. */
  shown(): string[] {
    const found: string[] = [];
    for (const [, name, text] of this.session.flush().matchAll(/(?:src|href)="https:\/\/site\.example\/([^"]+)"(?![^<]*class="wp-block-file__button)|<(?:p|li)[^>]*>([^<]*)</g)) {
      const one = name ?? text ?? "";
      if (one !== found.at(-1)) found.push(one);
    }
    return found.filter((one) => one !== "");
  }

  cards(): number {
    return this.session.view.dom.querySelectorAll(".editor-upload").length;
  }
}

const paragraph = (text: string): string => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
const ALL = ["1.png", "2.png", "3.png"];
const ORDERS = [["1.png", "2.png", "3.png"], ["3.png", "2.png", "1.png"], ["2.png", "3.png", "1.png"]];

afterEach(() => {
  vi.restoreAllMocks();
  document.body.textContent = "";
});

describe("files that are given together", () => {
  it.each(ORDERS)("are all put into an empty text, in their order, whenever they arrive: %s %s %s", async (...order) => {
    const bench = new Bench("");
    bench.give(ALL, 1);
    expect(bench.cards()).toBe(3);
    for (const name of order) await bench.end(name);
    expect(bench.shown()).toEqual(ALL);
    expect(bench.cards()).toBe(0);
  });

  it.each(ORDERS)("come behind the text that they were dropped on: %s %s %s", async (...order) => {
    const bench = new Bench(`${paragraph("above")}\n\n${paragraph("below")}`);
    bench.give(ALL, 3);
    for (const name of order) await bench.end(name);
    expect(bench.shown()).toEqual(["above", ...ALL, "below"]);
  });

  it("come into an empty paragraph below a text", async () => {
    const bench = new Bench(`${paragraph("above")}\n\n${paragraph("")}`);
    bench.give(ALL, bench.session.view.state.doc.content.size - 1);
    for (const name of ["2.png", "1.png", "3.png"]) await bench.end(name);
    expect(bench.shown()).toEqual(["above", ...ALL]);
  });

  it("come without the one that fails", async () => {
    const failed = vi.spyOn(toast, "failed").mockImplementation(() => undefined as never);
    const bench = new Bench("");
    bench.give(ALL, 1);
    await bench.end("3.png");
    await bench.end("1.png", "fail");
    await bench.end("2.png");
    expect(bench.shown()).toEqual(["2.png", "3.png"]);
    expect(failed).toHaveBeenCalledTimes(1);
  });

  it("keep their place while somebody writes and deletes", async () => {
    const bench = new Bench(`${paragraph("above")}\n\n${paragraph("middle")}\n\n${paragraph("below")}`);
    const { view } = bench.session;
    bench.give(ALL, 10);
    await bench.end("1.png");
    view.dispatch(view.state.tr.insertText("far ", 1));
    // The paragraph that they were dropped on goes.
    const middle = view.state.doc.child(1);
    const from = view.state.doc.child(0).nodeSize;
    view.dispatch(view.state.tr.delete(from, from + middle.nodeSize));
    await bench.end("3.png");
    await bench.end("2.png");
    expect(bench.shown()).toEqual(["far above", ...ALL, "below"]);
  });

  it("may be of any kind", async () => {
    const bench = new Bench("");
    const names = ["1.mp4", "2.png", "3.mp3", "4.pdf"];
    bench.give(names, 1);
    for (const name of [...names].reverse()) await bench.end(name);
    expect(bench.shown()).toEqual(names);
  });

  it("come behind a list, and into a column", async () => {
    const list = new Bench(`<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>one</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->`);
    list.give(ALL, 4);
    for (const name of ["3.png", "1.png", "2.png"]) await list.end(name);
    expect(list.shown()).toEqual(["one", ...ALL]);
    const columns = new Bench(
      `<!-- wp:columns -->\n<div class="wp-block-columns"><!-- wp:column -->\n<div class="wp-block-column">${paragraph("left")}</div>\n<!-- /wp:column -->\n\n<!-- wp:column -->\n<div class="wp-block-column">${paragraph("right")}</div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->`,
    );
    columns.give(ALL, 4);
    for (const name of ["3.png", "1.png", "2.png"]) await columns.end(name);
    expect(columns.shown()).toEqual(["left", ...ALL, "right"]);
  });

  it("are counted where they are too many or of no use", () => {
    const info = vi.spyOn(toast, "info").mockImplementation(() => undefined as never);
    const bench = new Bench("");
    upload(bench.session.view, Array.from({ length: 52 }, (_, place) => new File(["x"], `${place}.png`, { type: "image/png" })), 1, { value: "", onChange: () => undefined, label: "", picture: { upload: () => new Promise(() => undefined) } });
    expect(bench.cards()).toBe(50);
    upload(bench.session.view, [new File(["x"], "a.pdf", { type: "application/pdf" })], 1, { value: "", onChange: () => undefined, label: "" });
    expect(info).toHaveBeenCalledTimes(2);
  });
});
