import { afterEach, describe, expect, it } from "vitest";
import { api, startApi } from "../src/api";
import { createHttp } from "../src/api/http";
import { fieldsOf } from "../src/model/fields";
import type { JsonSchema } from "../src/model/json-schema";
import { helpBeside, say, useTranslations, words } from "../src/model/labels";
import { labelOfField } from "../src/model/record";
import { DESCRIPTION, resourceOf } from "./fixtures/api";
import { BOOT, FakeServer } from "./fixtures/http";

afterEach(() => useTranslations());

describe("names", () => {
  // The server's tests have the same pairs.
  it.each([
    ["menu_order", "Menu order"],
    ["menuOrder", "Menu order"],
    ["menu-order", "Menu order"],
    ["cms:menu/order", "Cms menu order"],
    ["featured_media", "Featured media"],
    ["id", "ID"],
    ["date_gmt", "Date UTC"],
    ["avatar_urls", "Avatar urls"],
    ["SEO_title", "SEO title"],
    ["MP3 file", "Mp3 file"],
    ["email", "E-mail"],
    ["größe", "Größe"],
    ["_", "_"],
    ["", ""],
  ])("%s is read as %s", (name, expected) => expect(words(name)).toBe(expected));
});

describe("texts of the declarations", () => {
  const TEXTS = { "Menu order": "Reihenfolge", "Place among others.": "Platz unter anderen.", "Half past": "Halb", constructor: "Erbauer" };
  const options = {
    schema: { title: "post", properties: { menu_order: { type: "string", description: "Place among others.", enum: ["half_past", "other"] } } },
    endpoints: [{ methods: ["POST"], args: { menu_order: { type: "string", description: "Place among others.", enum: ["half_past", "other"], default: "half_past" } } }],
  };

  it("are in the language of the page", async () => {
    const server = new FakeServer(({ method }) => ({ body: method === "OPTIONS" ? options : { ...DESCRIPTION, texts: TEXTS } }));
    await startApi(createHttp(BOOT, server), null, "de");
    expect(server.seen[0]?.address).toBe("/cms-json/console/v1/description?lang=de");
    const { schema, args } = await api().schemas.of(resourceOf("posts"));
    const [field] = fieldsOf({ properties: (schema.properties ?? {}) as Record<string, JsonSchema>, args: args["create"] as Record<string, JsonSchema>, hints: {}, parameters: [] });
    expect([field?.label, field?.help]).toEqual(["Reihenfolge", "Platz unter anderen."]);
    expect(field?.choices?.map(({ label }) => label)).toEqual(["Halb", "Other"]);
    expect(field?.default).toBe("half_past");
    expect(labelOfField(resourceOf("settings"), "menu_order")).toBe("Reihenfolge");
    expect([say("Nothing"), say("toString")]).toEqual(["Nothing", "toString"]);
  });

  it("are those of the declarations in a language without translations", async () => {
    await startApi(createHttp(BOOT, new FakeServer(({ method }) => ({ body: method === "OPTIONS" ? options : { ...DESCRIPTION, texts: TEXTS } }))), null, "de");
    await startApi(createHttp(BOOT, new FakeServer(({ method }) => ({ body: method === "OPTIONS" ? options : DESCRIPTION }))), null, "en");
    expect(say("Menu order")).toBe("Menu order");
    const { schema } = await api().schemas.of(resourceOf("posts"));
    expect(schema.properties?.["menu_order"]?.description).toBe("Place among others.");
  });

  it("came with the page where they are in the language that is wanted", async () => {
    const server = new FakeServer(({ address }) => ({ body: { ...DESCRIPTION, version: address.split("lang=")[1] } }));
    const http = createHttp({ ...BOOT, description: { ...DESCRIPTION, version: "page" }, language: "de" }, server);
    expect((await startApi(http, null, "de")).description.version).toBe("page");
    expect((await startApi(http, null, "en")).description.version).toBe("en");
    expect(server.seen).toHaveLength(1);
  });

  it("say nothing beside a label that says as much", () => {
    expect(helpBeside("Titel", "title", "Titel des Eintrags.")).toBe("");
    expect(helpBeside("Titel", "title", "Höchstens 40 Zeichen.")).toBe("Höchstens 40 Zeichen.");
  });
});
