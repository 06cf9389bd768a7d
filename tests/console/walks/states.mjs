// A record goes from state to state while nobody touches it: what is scheduled is published, and lists and forms follow.
import { assert, eventually, heading, open, press, publish, settled, stored } from "../steps.mjs";

export const site = { roles: ["administrator", "editor"] };

const posts = "/cms/v2/posts";

export const walks = {
  async "what is scheduled is published at its time"({ server, meet }) {
    const erin = await meet({ expected: [/412 \(Precondition Failed\)/] });
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/posts/new");
    await page.getByRole("textbox", { name: "Title", exact: true }).fill("Spring tide");
    await page.getByLabel("Date", { exact: true }).fill("2031-03-21T08:30");
    await stored(page, () => publish(page, "Schedule…"), /Scheduled/);
    await page.waitForURL(/\/r\/posts\/\d+$/);
    await settled(page);
    const id = Number(/\d+$/.exec(new URL(page.url()).pathname)[0]);
    assert.equal((await server.ask(null, "GET", `${posts}/${id}`)).status, 401);

    // Somebody else brings it forward; its time comes.
    const soon = new Date(Date.now() + 2000).toISOString().slice(0, 19);
    await server.ask("administrator", "POST", `${posts}/${id}`, { date_gmt: soon });
    await eventually("the record is public", async () => (await server.ask(null, "GET", `${posts}/${id}`)).status === 200);

    // The form is still open with the state of before: it says what has changed, and keeps what is typed.
    await page.getByRole("textbox", { name: "Excerpt", exact: true }).fill("Mind the quay.");
    await press(page, "Save");
    const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
    await dialog.getByRole("group", { name: "Status" }).getByText("Published").waitFor();
    await stored(page, () => dialog.getByRole("button", { name: "Save this choice" }).click());
    const { body } = await server.ask("administrator", "GET", `${posts}/${id}?context=edit`);
    assert.deepEqual([body.status, body.excerpt.raw], ["publish", "Mind the quay."]);
    await open(erin, "/r/posts?state=publish");
    await heading(page, "Posts").waitFor();
    await page.getByRole("link", { name: "Spring tide" }).waitFor();
  },
};
