import { describe, expect, it } from "vitest";
import { DISPLAYS, displayOf } from "../src/displays/choice";
import { displays } from "../src/displays";
import * as de from "../src/i18n/de";
import * as en from "../src/i18n/en";
import { format, type Message } from "../src/i18n";
import { layouts } from "../src/layouts";
import { LAYOUTS } from "../src/model/view-state";
import { DESCRIPTION, resourceOf } from "./fixtures/api";

describe("tables", () => {
  it("have a component for each display and each layout", () => {
    expect(Object.keys(displays).sort()).toEqual([...DISPLAYS].sort());
    expect(Object.keys(layouts).sort()).toEqual([...LAYOUTS].sort());
  });

  it("choose a display by declaration, relation, format, type", () => {
    const posts = resourceOf("posts");
    expect(displayOf(posts, "x", { display: "colour" }, { type: "string" })).toBe("colour");
    expect(displayOf(posts, "x", { display: "unknown" }, { type: "integer" })).toBe("number");
    expect(displayOf(posts, "author", { relation: { resources: ["users"], many: false } }, { type: "integer" })).toBe("relation");
    expect(displayOf(posts, "status", {}, { type: "string", enum: ["draft"] })).toBe("state");
    expect(displayOf(posts, "date", {}, { type: ["string", "null"], format: "date-time" })).toBe("date-time");
    expect(displayOf(posts, "x", {}, { type: "string", enum: ["a"] })).toBe("enum");
    expect(displayOf(posts, "x", {}, { type: "object", properties: { rendered: {} } })).toBe("html");
    expect(displayOf(posts, "x", {}, { type: "array", items: { type: "string" } })).toBe("list");
    expect(displayOf(posts, "x", {}, { anyOf: [{ type: "string" }] })).toBe("json");
    expect(displayOf(posts, "x", {}, {})).toBe("json");
  });
});

describe("texts", () => {
  it("are the same in every language, with the same values", () => {
    const names = (message: Message): string[] => {
      const forms = typeof message === "string" ? [message] : Object.values(message);
      return [...new Set(forms.flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();
    };
    expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
    for (const [area, texts] of Object.entries(en)) {
      const other = (de as Record<string, Record<string, Message>>)[area] ?? {};
      expect(Object.keys(other).sort(), area).toEqual(Object.keys(texts).sort());
      for (const [key, message] of Object.entries(texts)) expect(names(other[key] ?? ""), `${area}.${key}`).toEqual(names(message as Message));
    }
  });

  it("have the plural form of the language", () => {
    const message = { one: "{count} item", other: "{count} items" };
    expect(format(message, { count: 1 }, "en")).toBe("1 item");
    expect(format(message, { count: 0 }, "en")).toBe("0 items");
    expect(format(message, { count: 1234 }, "de")).toBe("1.234 items");
    expect(format("{a} {b}", { a: "x" }, "en")).toBe("x {b}");
  });
});

describe("files", () => {
  const files = Object.entries(import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true }));

  it("have at most 600 lines", () => {
    expect(files.filter(([, text]) => text.split("\n").length > 600).map(([name]) => name)).toEqual([]);
  });

  it("write no style into markup as text: the policy of the page refuses it", () => {
    const screens = files.filter(([name]) => name.endsWith(".tsx"));
    expect(screens.filter(([, text]) => /\sstyle="|dangerouslySetInnerHTML/.test(text)).map(([name]) => name)).toEqual([]);
  });

  it("name no resource: what is special about one is declared", () => {
    // Words of the contract, of HTML and of icons, too: arguments, features, operations, attributes, icons.
    const words = ["search", "settings", "media", "types"];
    const names = DESCRIPTION.resources.map((resource) => resource.name).filter((name) => !words.includes(name));
    const quoted = new RegExp(`["'\`/](${names.join("|")})["'\`/?]`);
    const named = files.flatMap(([file, text]) => {
      const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^(import|export) .*from .*$/gm, "").replace(/import\("[^"]*"\)/g, "");
      const found = quoted.exec(code);
      return found === null ? [] : [`${file}: ${found[0]}`];
    });
    expect(named).toEqual([]);
  });
});
