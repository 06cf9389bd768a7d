import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Failure } from "../src/api/failure";
import { errors } from "../src/i18n/de/errors";
import { useLanguage } from "../src/i18n";
import { errorText, loadErrorTexts } from "../src/i18n/errors";
import type { JsonSchema } from "../src/model/json-schema";
import { place } from "../src/model/messages";
import { sampleField } from "./forms/sample";

const root = join(import.meta.dirname, "../..");
const source = (path: string): string => readFileSync(join(root, path), "utf8");
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((found) => found[1] ?? "");

/** Every code that the server can send: its catalogue, the reasons why a value is refused, what declarations add. */
function codes(): string[] {
  const catalogue = source("crates/core/src/error.rs").split("catalogue! {")[1]?.split("\n}")[0] ?? "";
  const reasons = source("crates/schema/src/failure.rs").split("named! {")[1]?.split("\n}")[0] ?? "";
  const declared = readdirSync(join(root, "schemas"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".toml"));
  return [
    ...matches(catalogue, /^ {4}\w+ = "(\w+)",/gm),
    ...matches(reasons, /^ {8}\w+ = "(\w+)",/gm),
    ...matches(source("crates/core/src/error.rs"), /^pub const \w+: &str = "(\w+)"/gm),
    ...declared.flatMap((name) => matches(source(`schemas/${name}`), /^(\w+) = \{ (?:status = \d+, )?message = /gm)),
  ];
}

const isSentence = (key: string): boolean => key.includes(" ");

describe("errors in German", () => {
  beforeAll(async () => {
    await useLanguage("de");
    await loadErrorTexts("de");
  });
  afterAll(async () => {
    await useLanguage("en");
    await loadErrorTexts("en");
  });

  it("there is a text for every code of the server, and for no other", () => {
    const known = codes();
    expect(known.length).toBeGreaterThan(180);
    expect([...new Set(known)].filter((code) => !Object.hasOwn(errors, code))).toEqual([]);
    expect(Object.keys(errors).filter((code) => code !== "capability" && !isSentence(code) && !known.includes(code))).toEqual([]);
  });

  it("and for sentences that the server says without a code", () => {
    const below = (folder: string) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`);
    const files = [...below("src"), ...below("crates")].filter((name) => name.endsWith(".rs"));
    const all = files.map((name) => source(name).replace(/\{[^{}\n]*\}/g, "{number}")).join("\n");
    expect(Object.keys(errors).filter((key) => isSentence(key) && !all.includes(`"${key}"`))).toEqual([]);
    const said = "A password has at most 4096 bytes.";
    expect(new Failure(400, { code: "rest_invalid_param", message: "m", data: { params: { password: said } } }).params).toEqual({ password: "Ein Passwort hat höchstens 4096 Bytes." });
  });

  it("no text has a name that nothing fills", () => {
    for (const [code, text] of Object.entries(errors)) {
      expect(matches(text, /\{(\w+)\}/g).filter((name) => !["number", "params", "capability"].includes(name)), code).toEqual([]);
    }
  });

  const named = (name: string, schema: JsonSchema) => sampleField(schema, { name, path: name });
  const hours: JsonSchema = { type: "array", items: { type: "object", properties: { from: { type: "string" } } } };
  const fields = [named("starts", { type: "string" }), named("slug", { type: "string" }), named("hours", hours)];

  it.each(codes().map((code) => [code]))("%s, of a request and of a field", (code) => {
    const whole = new Failure(400, { code, message: "The server's words 7.", data: { status: 400, params: code === "rest_missing_callback_param" ? ["starts"] : {} } });
    expect(whole.message).not.toContain("server");
    expect(whole.message).not.toMatch(/[{}]/);
    const data = { params: { starts: "starts is wrong by 7." }, details: { starts: { code, message: "starts is wrong by 7.", data: null } } };
    const failure = new Failure(400, { code: "rest_invalid_param", message: "Refused.", data });
    const text = errorText(code, "starts is wrong by 7.");
    expect(failure.params).toEqual({ starts: text });
    expect(place(failure, fields)).toEqual({ fields: { starts: text }, rest: [] });
  });

  it("keep the number that the server says", () => {
    expect(errorText("rest_out_of_bounds", "pages may not be above -2.5.")).toBe("Die Zahl liegt außerhalb des Erlaubten; die Grenze ist -2.5.");
    expect(errorText("rest_too_many_items", "tags takes at most 3 items.")).toBe("Zu viele Einträge: höchstens 3.");
  });

  it("stand where the server's words say, and say the label above the form", () => {
    const details = { hours: { code: "rest_invalid_email", data: null }, force: { code: "rest_invalid_type", data: null } };
    const params = { hours: "hours[0][from] is no address.", force: "force is wrong." };
    expect(place(new Failure(400, { code: "rest_invalid_param", message: "Refused.", data: { params, details } }), fields)).toEqual({
      fields: { "hours.0.from": "Das ist keine E-Mail-Adresse." },
      rest: ["Force: Der Wert hat nicht den richtigen Typ."],
    });
  });

  it("of what is missing, of a value that another record has, of a right", () => {
    const missing = new Failure(400, { code: "rest_missing_callback_param", message: "Required parameters are absent: starts.", data: { params: ["starts"] } });
    expect([missing.message, missing.params]).toEqual(["Erforderliche Angaben fehlen: Starts.", { starts: "Diese Angabe ist erforderlich." }]);
    const taken = new Failure(409, { code: "rest_duplicate_value", message: "Another item has this slug.", data: { params: { slug: "Another item has this slug." } } });
    expect(place(taken, fields).fields).toEqual({ slug: "Ein anderer Eintrag hat diesen Wert schon." });
    const right = new Failure(403, { code: "rest_cannot_edit", message: "You may not. The capability `edit_pages` is missing.", data: { status: 403, capability: "edit_pages" } });
    expect(right.message).toBe("Diesen Eintrag dürfen Sie nicht bearbeiten. Es fehlt die Berechtigung „edit_pages“.");
  });

  it("are the server's words where there is no text", () => {
    const own = new Failure(400, { code: "rest_invalid_param", message: "Refused.", data: { params: { starts: "The tide is out." } } });
    expect(own.params).toEqual({ starts: "The tide is out." });
    expect(new Failure(418, { code: "toString", message: "A teapot." }).message).toBe("A teapot.");
  });
});

describe("errors in English", () => {
  it("are what the server says", () => {
    expect(new Failure(403, { code: "rest_forbidden", message: "You may not do this." }).message).toBe("You may not do this.");
  });
});
