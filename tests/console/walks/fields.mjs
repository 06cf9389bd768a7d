// The form of a record with fields of Advanced Custom Fields, from their export.
import { assert, open, press, settled, stored } from "../steps.mjs";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const text = (name) => ({ key: `field_${name}`, name, label: name[0].toUpperCase() + name.slice(1), type: "text" });
const groups = [{
  key: "group_parts", title: "Parts", show_in_rest: 1, location: [[{ param: "post_type", operator: "==", value: "post" }]],
  fields: [
    { key: "field_height", name: "height", label: "Height", type: "number" },
    { key: "field_day", name: "day", label: "Day", type: "date_picker" },
    { key: "field_opens", name: "opens", label: "Opens", type: "date_time_picker" },
    { key: "field_shade", name: "shade", label: "Shade", type: "select", choices: { dark: "Rather dark", pale: "Pale" }, allow_null: 1 },
    { key: "field_shot", name: "shot", label: "Shot", type: "image" },
    { key: "field_like", name: "like", label: "Like", type: "relationship", post_type: ["page"] },
    { key: "field_beside", name: "beside", label: "Beside", type: "post_object", post_type: ["post", "page"] },
    { key: "field_team", name: "team", label: "Team", type: "repeater", sub_fields: [text("name"), { key: "field_age", name: "age", label: "Age", type: "number" }] },
    { key: "field_body", name: "body", label: "Body", type: "flexible_content", layouts: {
      layout_q: { key: "layout_q", name: "quote", label: "Quote", sub_fields: [text("words")] },
      layout_l: { key: "layout_l", name: "line", label: "Line", sub_fields: [text("colour")] },
    } },
  ],
}];

export const site = {
  roles: ["administrator", "editor"],
  settings: ["site.prefix=wp"],
  prepare(folder, program) {
    execFileSync(program, ["init", folder], { stdio: "ignore" });
    writeFileSync(join(folder, "acf.json"), JSON.stringify(groups));
    execFileSync(program, ["import", join(folder, "acf.json"), "--propose", folder], { stdio: "ignore" });
    return join(folder, "routes.toml");
  },
};

export const walks = {
  async "an editor fills in the fields of a group, with rows and layouts"({ server, meet }) {
    const erin = await meet();
    const { page } = erin;
    const { body: harbour } = await server.ask("administrator", "POST", "/wp/v2/pages", { title: "Harbour", status: "publish" });
    const { body: post } = await server.ask("administrator", "POST", "/wp/v2/posts", { title: "Ferry", status: "publish" });
    await erin.logIn("editor", { destination: `/admin/r/posts/${post.id}` });
    await settled(page);
    const fields = page.getByRole("group", { name: "Fields" }).first();
    await fields.getByRole("combobox", { name: "Shade" }).selectOption({ label: "Rather dark" });
    await fields.getByRole("textbox", { name: "Day" }).fill("2026-01-31");
    await fields.getByRole("textbox", { name: "Opens" }).fill("2026-02-01T09:30");
    const team = fields.getByRole("group", { name: "Team" }).first();
    for (const name of ["Ann", "Ben"]) {
      await team.getByRole("button", { name: "Add an item" }).click();
      await team.getByRole("textbox", { name: "Name" }).last().fill(name);
    }
    await team.getByRole("spinbutton", { name: "Age" }).last().fill("41");
    const body = fields.getByRole("group", { name: "Body" }).first();
    await body.getByRole("button", { name: "Add an item" }).click();
    await body.getByRole("textbox", { name: "Words" }).fill("High water");
    await body.getByRole("button", { name: "Add an item" }).click();
    await body.getByRole("combobox", { name: "Kind of value:" }).last().selectOption({ label: "Line" });
    await body.getByRole("textbox", { name: "Colour" }).fill("red");
    await fields.getByRole("combobox", { name: "Like" }).fill("Harb");
    await page.getByRole("option", { name: "Harbour" }).click();
    // The list of several stays open for the next choice.
    await page.keyboard.press("Escape");
    await page.getByRole("option").first().waitFor({ state: "hidden" });
    await fields.getByRole("combobox", { name: "Beside" }).fill("Harb");
    await page.getByRole("option", { name: /Harbour.*Pages/s }).click();
    await erin.accessible("the fields of a group");
    await stored(page, () => press(page, "Save"));
    const shown = async () => (await server.ask("administrator", "GET", `/wp/v2/posts/${post.id}`)).body.acf;
    const first = {
      height: "", day: "20260131", opens: "2026-02-01 09:30:00", shade: "dark", shot: null, like: [harbour.id], beside: harbour.id, team: [{ name: "Ann", age: "" }, { name: "Ben", age: 41 }],
      body: [{ acf_fc_layout: "quote", words: "High water" }, { acf_fc_layout: "line", colour: "red" }],
    };
    assert.deepEqual(await shown(), first);

    // What nothing was filled in for is no obstacle to the next change.
    await open(erin, `/r/posts/${post.id}`);
    const beside = fields.getByRole("combobox", { name: "Beside" });
    await page.waitForFunction((input) => input.value === "Harbour", await beside.elementHandle());
    await fields.getByRole("textbox", { name: "Name" }).first().fill("Cleo");
    await body.getByRole("textbox", { name: "Colour" }).fill("green");
    await fields.getByRole("combobox", { name: "Shade" }).selectOption({ label: "Not set" });
    await stored(page, () => press(page, "Save"));
    const second = {
      ...first, shade: false, team: [{ name: "Cleo", age: "" }, first.team[1]],
      body: [first.body[0], { acf_fc_layout: "line", colour: "green" }],
    };
    assert.deepEqual(await shown(), second);
  },
};
