// Content types that only their declarations describe: the events and venues of docs/content-types.md, and books with nested values.
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, eventually, heading, open, press, publish, stored } from "../steps.mjs";

/** The first block of a language below a heading of a document. */
function block(text, title, language) {
  const below = text.slice(text.indexOf(`## ${title}\n`));
  const begin = below.indexOf(`\`\`\`${language}\n`) + language.length + 4;
  return below.slice(begin, below.indexOf("\n```", begin) + 1);
}

const BOOK = {
  title: "book",
  type: "object",
  properties: {
    id: { type: "integer", readonly: true },
    title: { description: "Title.", type: "string", maxLength: 40, "x-create-arg": { required: true }, "x-write": "text_field" },
    isbn: { description: "Thirteen digits.", type: "string", pattern: "^[0-9]{13}$", "x-unique": true },
    formats: { description: "Formats.", type: "array", uniqueItems: true, items: { type: "string", enum: ["paper", "audio", "epub"] } },
    size: {
      description: "Size in millimetres.", type: "object", additionalProperties: false,
      properties: { width: { type: "integer", minimum: 1 }, height: { type: "integer", minimum: 1 } },
    },
    chapters: {
      description: "Chapters.", type: "array",
      items: {
        type: "object", additionalProperties: false,
        properties: { name: { type: "string", maxLength: 60 }, pages: { type: "integer", minimum: 1 }, notes: { type: "array", items: { type: "string" } } },
      },
    },
    cover: { description: "Colour of the cover.", type: "string", format: "hex-color" },
    event: { description: "The event that presents it.", type: "integer", "x-relation": { to: "events", on_delete: "restrict" } },
  },
};

const BOOKS = `
[resources.books]
namespace = "core"
family = "plain"
schema = "schemas/books.json"
kind = "book"
routes = ["crud"]
capabilities = "venue"
sort = { id = "id", title = "title" }
search = { title = "title" }
`;

export const site = {
  prepare(folder, program) {
    const agenda = join(folder, "agenda");
    execFileSync(program, ["init", agenda], { stdio: ["ignore", "ignore", "pipe"] });
    const text = readFileSync("docs/content-types.md", "utf8");
    writeFileSync(join(agenda, "schemas/venue.json"), block(text, "2. The schema of a venue", "json"));
    writeFileSync(join(agenda, "schemas/event.json"), block(text, "3. The schema of an event", "json"));
    writeFileSync(join(agenda, "site.toml"), block(text, "4. Namespace, role, state and resources", "toml"));
    appendFileSync(join(agenda, "site.toml"), BOOKS);
    writeFileSync(join(agenda, "schemas/books.json"), JSON.stringify(BOOK));
    return join(agenda, "routes.toml");
  },
  roles: ["administrator", "organiser"],
};

const venues = "/agenda/v1/venues";
const events = "/agenda/v1/events";
const books = "/cms/v2/books";

export const walks = {
  async "an organiser writes down a venue and an event"({ server, meet }) {
    const olga = await meet();
    await olga.logIn("organiser");
    const { page } = olga;
    const nav = page.getByRole("navigation", { name: "Main navigation" });
    await nav.getByRole("link", { name: "Venues" }).click();
    await heading(page, "Venues").waitFor();
    await page.getByRole("main").getByRole("link", { name: /venue/i }).first().click();
    await page.getByRole("textbox", { name: "Name (required)" }).fill("Harbour Hall");
    await page.getByRole("textbox", { name: "City" }).fill("Bergen");
    await page.getByRole("spinbutton", { name: "Capacity" }).fill("300");
    await olga.accessible("a new venue");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    const { body: [hall] } = await server.ask("organiser", "GET", venues);
    assert.deepEqual([hall.name, hall.city, hall.capacity, hall.slug], ["Harbour Hall", "Bergen", 300, "harbour-hall"]);

    await nav.getByRole("link", { name: "Events" }).click();
    await page.getByRole("main").getByRole("link", { name: /event/i }).first().click();
    await page.getByRole("textbox", { name: "Title" }).fill("Jazz night");
    await page.getByLabel(/^Starts/).fill("2027-03-12T20:00");
    await page.getByRole("spinbutton", { name: "Price" }).fill("15");
    await page.getByRole("combobox", { name: "Venues" }).fill("Harb");
    await page.getByRole("option", { name: /Harbour Hall/ }).click();
    await page.getByRole("button", { name: "Remove Harbour Hall" }).waitFor();
    await stored(page, () => publish(page));
    const { body: [jazz] } = await server.ask("organiser", "GET", events);
    assert.deepEqual([jazz.title, jazz.price, jazz.venues, jazz.status], ["Jazz night", 15, [hall.id], "publish"]);
    assert.equal(jazz.starts.slice(0, 16), "2027-03-12T20:00");

    // A state of its own is one of the choices.
    await page.getByRole("combobox", { name: "Status" }).selectOption({ label: "Cancelled" });
    await stored(page, () => press(page, "Save"));
    await eventually("the event is cancelled", async () => (await server.ask("organiser", "GET", `${events}/${jazz.id}`)).body.status === "cancelled");
    await nav.getByRole("link", { name: "Events" }).click();
    await page.getByRole("link", { name: /Cancelled/ }).click();
    await page.getByRole("link", { name: "Jazz night" }).waitFor();
  },

  async "a book inside which there are lists and objects"({ server, meet }) {
    const ada = await meet({ expected: [/400 \(Bad Request\)/, /409 \(Conflict\)/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/books/new");
    await page.getByRole("textbox", { name: "Title" }).fill("Tides");
    await page.getByRole("textbox", { name: "Isbn" }).fill("9780306406157");
    await page.getByRole("checkbox", { name: "paper" }).check();
    await page.getByRole("checkbox", { name: "audio" }).check();
    await page.getByRole("spinbutton", { name: "Width" }).fill("120");
    await page.getByRole("spinbutton", { name: "Height" }).fill("190");
    const chapters = page.getByRole("group", { name: "Chapters", exact: true });
    for (const [place, name] of ["Ebb", "Flood"].entries()) {
      await chapters.getByRole("button", { name: "Add an item" }).last().click();
      await chapters.getByRole("textbox", { name: "Name" }).nth(place).fill(name);
      await chapters.getByRole("spinbutton", { name: "Pages" }).nth(place).fill(String(10 + place));
    }
    await page.getByRole("combobox", { name: "Event" }).fill("Jazz");
    await page.getByRole("option", { name: /Jazz night/ }).click();
    await ada.accessible("a new book");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    const { body: [tides] } = await server.ask("administrator", "GET", books);
    assert.deepEqual(tides.formats, ["paper", "audio"]);
    assert.deepEqual(tides.size, { width: 120, height: 190 });
    assert.deepEqual(tides.chapters.map(({ name, pages }) => [name, pages]), [["Ebb", 10], ["Flood", 11]]);
    assert.equal(typeof tides.event, "number");

    // The order of chapters, by keys alone.
    await open(ada, `/r/books/${tides.id}`);
    const handles = page.getByRole("group", { name: "Chapters", exact: true }).getByRole("button", { name: /^Move: / });
    await handles.first().focus();
    await page.keyboard.press("ArrowDown");
    await stored(page, () => press(page, "Save"));
    const moved = await server.ask("administrator", "GET", `${books}/${tides.id}`);
    assert.deepEqual(moved.body.chapters.map(({ name }) => name), ["Flood", "Ebb"]);

    // What the server refuses stands at its field; the number is taken already.
    await open(ada, "/r/books/new");
    await page.getByRole("textbox", { name: "Title" }).fill("Tides again");
    await page.getByRole("textbox", { name: "Isbn" }).fill("9780306406157");
    await press(page, "Create");
    await page.getByRole("alert").first().waitFor();
    const isbn = page.getByRole("textbox", { name: "Isbn" });
    await page.waitForFunction(() => document.querySelector('[data-field="isbn"] [aria-invalid="true"]') !== null);
    await isbn.fill("12");
    await press(page, "Create");
    await page.waitForFunction(() => document.querySelector('[data-field="isbn"] .field-error') !== null);
    await ada.accessible("a book that was refused");
    assert.equal((await server.ask("administrator", "GET", books)).body.length, 1);
    await isbn.fill("9780306406158");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    assert.equal((await server.ask("administrator", "GET", books)).body.length, 2);
  },
};
