// Values inside values, as plugins declare them: lists of objects of lists, one of several shapes, maps, bounds.
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { assert, eventually, open, press, settled, stored } from "../steps.mjs";

export const site = {
  prepare(folder, program) {
    const museum = join(folder, "museum");
    execFileSync(program, ["init", museum], { stdio: ["ignore", "ignore", "pipe"] });
    copyFileSync("fixtures/nested/site.toml", join(museum, "site.toml"));
    copyFileSync("fixtures/nested/exhibition.json", join(museum, "schemas/exhibition.json"));
    return join(museum, "routes.toml");
  },
  roles: ["administrator"],
};

const exhibitions = "/cms/v2/exhibitions";

const add = (place) => place.getByRole("button", { name: "Add an item" }).last().click();
const group = (place, name) => place.getByRole("group", { name, exact: true });
const text = (place, name) => place.getByRole("textbox", { name: new RegExp(`^${name}( \\(required\\))?$`) });
const number = (place, name) => place.getByRole("spinbutton", { name: new RegExp(`^${name}( \\(required\\))?$`) });

export const walks = {
  async "values inside values are filled in, refused at their places, mended and changed"({ server, meet }) {
    const ada = await meet({ expected: [/400 \(Bad Request\)/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/exhibitions/new");
    await text(page, "Title").fill("Light on water");
    const rooms = group(page, "Rooms");
    await add(rooms);
    await text(rooms, "Name").fill("N");
    await number(rooms, "Floor").fill("9");
    await group(rooms, "Kind (required)").getByRole("radio", { name: "On the stairs" }).check();
    await add(group(rooms, "Cases"));
    await text(rooms, "Label").fill("Lenses");
    await text(rooms, "Sensor").fill("10.0.0.999");
    const objects = group(rooms, "Objects");
    await add(objects);
    await text(objects, "Name").fill("Fresnel lens");
    await number(objects, "Value").fill("12000.5");
    for (const material of ["glass", "brass"]) {
      await objects.getByRole("textbox", { name: "Materials" }).fill(material);
      await page.keyboard.press("Enter");
    }
    const hours = group(page, "Hours");
    for (const [day, open] of [["mon", "10:00-16:00"], ["funday", "11:00-15:00"]]) {
      await add(hours);
      await hours.getByPlaceholder("Name").last().fill(day);
      await hours.getByRole("textbox", { name: `Value of ${day}` }).fill(open);
    }
    const ticket = group(page, "Ticket");
    await ticket.getByRole("combobox").selectOption({ label: "Prices by age" });
    await number(ticket, "Adults").fill("0");
    const contacts = group(page, "Contacts");
    await add(contacts);
    await contacts.getByPlaceholder("Name").fill("groups");
    await text(contacts, "Name").fill("Nina");
    await text(contacts, "E-mail").fill("nina");
    const light = group(page, "Light");
    await number(light, "Lux").fill("75");
    await ada.accessible("values inside values");

    // Each message stands at the value that is wrong: first what the form knows, then what the server says.
    const refused = async (messages) => {
      await press(page, "Create");
      await eventually(`the messages ${messages}`, async () => (await page.locator(".field-error").allTextContents()).join("\n") === messages.join("\n"));
      await ada.accessible("values that were refused");
    };
    await refused(["Needs at least 2 characters.", "Must be at most 4.", "Is no e-mail address.", "Must be a multiple of 50."]);
    await page.getByRole("alert").getByRole("button", { name: "Rooms › Item 1 › Floor" }).click();
    await page.waitForFunction(() => document.activeElement?.closest('[data-field="rooms"]') !== null);
    await text(rooms, "Name").first().fill("North hall");
    await number(rooms, "Floor").fill("2");
    await number(light, "Lux").fill("100");
    await text(contacts, "E-mail").fill("nina@example.com");
    await refused(["Sensor is neither an IPv4 nor an IPv6 address.", "Hours takes no property funday.", "Adults may not be below 1."]);
    assert.equal(await text(rooms, "Sensor").getAttribute("aria-invalid"), "true");
    assert.equal(await number(ticket, "Adults").getAttribute("aria-invalid"), "true");
    await text(rooms, "Sensor").fill("10.0.0.9");
    await hours.getByPlaceholder("Name").last().fill("tue");
    await number(ticket, "Adults").fill("5");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    const read = async () => (await server.ask("administrator", "GET", exhibitions)).body[0];
    const { id, title, _links, ...made } = await read();
    const shown = [{ name: "Fresnel lens", value: 12000.5, materials: ["glass", "brass"] }];
    assert.equal(title, "Light on water");
    assert.deepEqual(made, {
      rooms: [{ name: "North hall", floor: 2, kind: "stairs", cases: [{ label: "Lenses", sensor: "10.0.0.9", objects: shown }] }],
      hours: { mon: "10:00-16:00", tue: "11:00-15:00" },
      ticket: { adults: 5 },
      contacts: { groups: { name: "Nina", email: "nina@example.com" } },
      light: { lux: 100 },
    });

    // What is opened again is as it was; one of several shapes becomes another one, and a list gets as many as it may have.
    await open(ada, `/r/exhibitions/${id}`);
    assert.equal(await page.getByRole("main").getByText("Not saved yet").count(), 0);
    await group(page, "Ticket").getByRole("combobox").selectOption({ label: "One price" });
    await group(page, "Ticket").getByRole("spinbutton").fill("7");
    for (const name of ["South hall", "Gallery"]) {
      await add(rooms);
      const room = rooms.getByRole("group", { name: `Item ${name === "Gallery" ? 3 : 2}`, exact: true });
      await text(room, "Name").fill(name);
      await room.getByRole("radio", { name: "Large hall" }).check();
    }
    const addRoom = rooms.locator(":scope > .list > div > button, :scope > .list > button").filter({ hasText: "Add an item" });
    assert.equal(await addRoom.count(), 0, "a fourth room is offered");
    await rooms.getByRole("button", { name: "Move: Item 3" }).focus();
    await page.keyboard.press("ArrowUp");
    await stored(page, () => press(page, "Save"));
    const after = await read();
    assert.deepEqual(after.rooms.map(({ name }) => name), ["North hall", "Gallery", "South hall"]);
    assert.deepEqual(after.rooms[0], made.rooms[0]);
    assert.equal(after.ticket, 7);
    await settled(page);
  },
};
