// An editor rebuilds the site with a button, and sees how the call went.
import { createServer } from "node:http";
import { assert, eventually, heading, open, settled, stored, press } from "../steps.mjs";

const calls = [];
const waiting = [];
let held = false;
let status = 200;
// The receiver answers when it is let go on.
const receiver = createServer((request, response) => {
  calls.push(request.url);
  const answer = () => response.writeHead(status).end();
  if (held) waiting.push(answer);
  else answer();
});
await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
receiver.unref();
const { port } = receiver.address();

export const site = {
  roles: ["administrator", "editor", "author"],
  settings: ['outbound.networks=["127.0.0.0/8"]', `outbound.ports=[${port}]`],
};

const card = (page, name = "Rebuild the site") => page.getByRole("region", { name, exact: true });

export const walks = {
  async "an administrator marks a webhook, and an editor presses its button"({ server, meet }) {
    const [ada, erin, ann] = [await meet(), await meet(), await meet({ locale: "de-DE" })];
    await ada.logIn("administrator");
    await settled(ada.page);
    assert.equal(await card(ada.page).count(), 0);
    await open(ada, "/r/webhooks/new");
    await ada.page.getByRole("textbox", { name: /^Name/ }).fill("Front end");
    await ada.page.getByRole("textbox", { name: /^URL/ }).fill(`http://127.0.0.1:${port}/build`);
    await ada.page.getByRole("textbox", { name: /^Format/ }).fill("build");
    await ada.page.getByRole("switch", { name: /^Rebuild/ }).check();
    await stored(ada.page, () => press(ada.page, "Create"), /saved|created/i);

    const { page } = erin;
    await erin.logIn("editor");
    await settled(page);
    const button = card(page).getByRole("button", { name: "Rebuild: Front end" });
    await card(page).getByText("Not called yet").waitFor();
    held = true;
    await button.click();
    await card(page).getByText("Pending").waitFor();
    assert.ok(await button.isDisabled());
    await erin.accessible("a call that is pending");
    held = false;
    waiting.splice(0).forEach((answer) => answer());
    await card(page).getByText("Sent", { exact: true }).waitFor();
    await card(page).getByText(/^Called .*, answered 200\.$/).waitFor();
    assert.deepEqual(calls, ["/build"]);
    status = 503;
    await button.click();
    await card(page).getByText("Failed", { exact: true }).waitFor();
    await card(page).getByText(/answered 503\.$/).waitFor();
    await erin.accessible("a call that has failed");

    const { body: [hook] } = await server.ask("administrator", "GET", "/server/v1/webhooks");
    await server.ask("administrator", "POST", `/server/v1/webhooks/${hook.id}`, { enabled: false });
    await open(erin, "/");
    await card(page).getByText("Paused", { exact: true }).waitFor();
    assert.ok(await button.isDisabled());

    // It speaks the reader's language, and is not there for those who may not.
    await ann.logIn("author");
    await settled(ann.page);
    await heading(ann.page, "Übersicht").waitFor();
    assert.equal(await card(ann.page, "Website neu bauen").count(), 0);
    const gert = await meet({ locale: "de-DE" });
    await gert.logIn("editor");
    await card(gert.page, "Website neu bauen").getByText("Angehalten").waitFor();
    assert.equal(calls.length, 2);
  },

  async "an administrator reads why a delivery failed, sends it again, and pauses the webhook"({ server, meet }) {
    const ada = await meet();
    const { page } = ada;
    status = 410;
    calls.length = 0;
    const { body: hook } = await server.ask("administrator", "POST", "/server/v1/webhooks", { name: "Index", url: `http://127.0.0.1:${port}/index`, resources: ["posts"] });
    const publish = (title) => server.ask("administrator", "POST", "/cms/v2/posts", { title, status: "publish" });
    await publish("One");
    await eventually("the receiver has refused it", async () => (await server.ask("administrator", "GET", `/server/v1/webhooks/${hook.id}`)).body.state === "refused");
    await ada.logIn("administrator", { destination: `/admin/r/webhooks/${hook.id}` });
    await settled(page);
    await page.getByText("Refused", { exact: true }).waitFor();
    await page.getByRole("main").getByText("Deliveries", { exact: true }).click();
    await page.getByRole("link", { name: /^msg_/ }).click();
    const answer = page.getByRole("group", { name: "Response" }).first();
    await answer.getByText("The receiver answered 410.").waitFor();
    await page.getByRole("group", { name: "Request" }).first().getByText(/"type":"published"/).waitFor();
    await ada.accessible("a delivery");
    status = 200;
    await press(page, "Redeliver");
    await eventually("it is sent again", () => calls.length === 2);

    // A webhook that is saved is tried again; while it is off, nothing is sent.
    const enabled = page.getByRole("switch", { name: /^Enabled/ });
    const save = async (on) => {
      await open(ada, `/r/webhooks/${hook.id}`);
      await enabled.setChecked(on);
      await stored(page, () => press(page, "Save"));
    };
    await save(false);
    await ada.accessible("a webhook");
    await publish("Two");
    assert.equal(calls.length, 2);
    await save(true);
    await eventually("both are delivered", () => calls.length === 4);
    await page.reload();
    await page.getByText("Active", { exact: true }).waitFor();
  },
};
