// What browsers have for streams of events: it hears of changes, and comes back by itself where it was.
import { eventually, open } from "../steps.mjs";

export const site = { roles: ["administrator", "editor"] };

export const walks = {
  async "an EventSource hears of changes, and of what it has missed"({ server, meet }) {
    const ada = await meet();
    const { page } = ada;
    ada.excuse(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/);
    await ada.logIn("administrator");
    await page.evaluate(() => {
      globalThis.heard = [];
      globalThis.opened = false;
      const events = new EventSource("/cms-json/server/v1/events?resources=posts");
      events.onmessage = ({ data }) => globalThis.heard.push(JSON.parse(data).slug);
      events.onopen = () => (globalThis.opened = true);
    });
    await eventually("the stream is open", () => page.evaluate(() => globalThis.opened));
    const publish = (title) => server.ask("administrator", "POST", "/cms/v2/posts", { title, status: "publish" });
    const heard = () => page.evaluate(() => globalThis.heard.join(" "));
    await publish("One");
    await eventually("the first is heard", async () => (await heard()) === "one");
    await server.stop();
    await server.restart();
    await publish("Two");
    await publish("Three");
    await eventually("the others are heard, each once", async () => (await heard()) === "one two three");
  },

  async "a stream in the name of the session tells of drafts"({ server, meet }) {
    const ada = await meet();
    const { page } = ada;
    await ada.logIn("administrator");
    const nonce = await page.evaluate(async () => (await fetch("/nonce")).text());
    await page.evaluate((nonce) => {
      globalThis.heard = [];
      for (const query of ["", `&_cmsnonce=${nonce}`]) {
        const events = new EventSource(`/cms-json/server/v1/events?resources=posts${query}`);
        events.onmessage = ({ data }) => globalThis.heard.push(`${query === "" ? "anonymous" : "ada"} ${JSON.parse(data).slug}`);
        events.onopen = () => (globalThis.opened = (globalThis.opened ?? 0) + 1);
      }
    }, nonce.trim());
    await eventually("the streams are open", () => page.evaluate(() => globalThis.opened === 2));
    await server.ask("administrator", "POST", "/cms/v2/posts", { title: "Draft", slug: "draft", status: "draft" });
    await server.ask("administrator", "POST", "/cms/v2/posts", { title: "Public", slug: "public", status: "publish" });
    const heard = () => page.evaluate(() => globalThis.heard.toSorted().join(", "));
    await eventually("each hears what it may read", async () => (await heard()) === "ada draft, ada public, anonymous public");
  },

  async "a list and a record show at once what others do"({ server, meet }) {
    const [ada, ben] = [await meet(), await meet()];
    const { body: made } = await server.ask("administrator", "POST", "/cms/v2/posts", { title: "Ferry times", status: "draft" });
    await ada.logIn("administrator", { destination: "/admin/r/posts" });
    await ada.page.getByRole("link", { name: "Ferry times" }).waitFor();
    await ben.logIn("editor", { destination: `/admin/r/posts/${made.id}` });
    const opened = ada.page.locator("[data-row]", { hasText: "Ferry times" });
    await eventually("the list shows who has it open", async () => (await opened.innerText()).includes("editor"));
    await server.ask("administrator", "POST", `/cms/v2/posts/${made.id}`, { title: "Ferry fares" });
    await ada.page.getByRole("link", { name: "Ferry fares" }).waitFor();
    await open(ada, `/r/posts/${made.id}`);
    await ben.page.getByText("Open here as well: administrator").waitFor();
  },
};
