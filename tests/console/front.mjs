// A small front end for walks: it shows the title of what a preview link opens, and keeps what its pages are told.
import { createServer } from "node:http";

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** What runs in its pages: it shows each message, and says of itself what `says` is. */
const script = (says, console) => `
  window.told = [];
  addEventListener("message", async (event) => {
    told.push({ origin: event.origin, data: event.data });
    ${says === null ? "" : `document.querySelector("h1").textContent = await (await fetch("/title" + location.search)).text();`}
  });
  ${says === null ? "" : `parent.postMessage({ type: ${JSON.stringify(says)} }, ${JSON.stringify(console)});`}`;

/**
 * Starts it. `origin` is its own; `cms` is the server's, once there is one; `says` is what its pages tell the console, which
 * makes them read the title again by themselves; `shown` counts the pages.
 */
export async function startFront() {
  const front = { origin: "", cms: "", says: null, shown: 0 };
  const title = async (query) => {
    const response = await fetch(`${front.cms}/cms-json/cms/v2/${query.get("type")}s/${query.get("id")}?preview=${query.get("token")}`);
    const body = await response.json();
    return response.ok ? body.title.rendered : `${response.status} ${body.code}`;
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, front.origin);
    response.setHeader("Cache-Control", "no-store");
    if (pathname === "/title") return response.end(await title(searchParams));
    if (pathname !== "/preview") return response.writeHead(404).end();
    front.shown += 1;
    const heading = escaped(await title(searchParams));
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Content-Security-Policy", `frame-ancestors ${front.cms}`);
    response.end(`<!doctype html><html lang="en"><head><title>The front end</title><link rel="icon" href="data:,">
      <meta name="viewport" content="width=device-width"><style>body{margin:0 auto;max-width:60rem;padding:2rem;font-family:serif}</style></head>
      <body><main><h1>${heading}</h1><p>Path: ${escaped(searchParams.get("path") ?? "")}</p></main>
      <script>${script(front.says, front.cms)}</script></body></html>`);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  // It ends with the walks.
  server.unref();
  // Another site than the server's, as front ends are.
  front.origin = `http://localhost:${server.address().port}`;
  return front;
}
