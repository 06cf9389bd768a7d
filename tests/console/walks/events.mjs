// What browsers have for streams of events: it hears of changes, and comes back by itself where it was.
import { eventually } from "../steps.mjs";

export const site = { roles: ["administrator"] };

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
};
