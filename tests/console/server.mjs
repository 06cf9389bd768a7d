// A server of its own for each walk: an empty or demo database in a temporary folder, users of every role.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = process.env.CMS_TEST_PROGRAM ?? join(process.cwd(), "target/debug/cms-server");

/** A body by its type; documents in lines become a list. */
function read(text, headers) {
  if (text === "") return null;
  if (!headers.get("content-type")?.includes("ndjson")) return JSON.parse(text);
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

export const PASSWORD = "a long enough password";
export const ROLES = ["administrator", "editor", "author", "contributor", "subscriber"];

/**
 * Starts a server.
 * `config`: the declarations (default: the shipped ones). `settings`: further `--set`s. `roles`: users, each named as its role.
 * `imports`: files that the program imports. `prepare`: writes declarations into a folder and names the file that begins them;
 * `{folder}` in the settings is that folder.
 */
export async function start({ config = "routes.toml", settings = [], roles = ["administrator"], demo = false, imports = [], prepare } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "console-"));
  const declared = prepare === undefined ? config : prepare(folder, program);
  const args = ["--config", declared];
  const sets = [
    "server.access_log=false", "server.listen=127.0.0.1:0", "site.bcrypt_cost=4", `site.demo=${demo}`,
    `storage.url=sqlite:${join(folder, "site.db")}`, `media.url=file:${join(folder, "files")}`, "limits.wrong_credentials.burst=10000", ...settings,
  ];
  for (const set of sets) args.push("--set", set.replaceAll("{folder}", folder));
  for (const role of roles) {
    execFileSync(program, [...args, "user", "add", role, `${role}@example.com`, "--role", role, "--password-stdin"],
      { input: PASSWORD, stdio: ["pipe", "ignore", "pipe"] });
  }
  for (const file of imports) execFileSync(program, [...args, "import", file], { stdio: ["ignore", "ignore", "pipe"] });
  const secrets = {};
  const secret = (role) => (secrets[role] ??= execFileSync(program, [...args, "app-password", "add", role, "walk"], { encoding: "utf8" }).trim());

  let child;
  let origin;
  const log = [];
  const launch = async (listen) => {
    const all = listen === undefined ? args : [...args, "--set", `server.listen=${listen}`];
    child = spawn(program, all, { stdio: ["ignore", "ignore", "pipe"] });
    origin = await new Promise((resolve, reject) => {
      child.once("exit", () => reject(new Error(`the server ended:\n${log.join("")}`)));
      child.stderr.on("data", (chunk) => {
        log.push(String(chunk));
        const found = /^ready in .*: (http:\/\/[^/\s]*)/m.exec(log.join(""));
        if (found) resolve(found[1]);
      });
    });
    child.removeAllListeners("exit");
  };
  const end = () => new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once("exit", resolve);
    child.kill();
  });
  await launch();
  const prefix = sets.includes("site.prefix=wp") ? "wp" : "cms";

  /** A request as `role` by an application password, with a text as its body; `path` is below the base. */
  const send = async (role, method, path, body, type) => {
    const response = await fetch(`${origin}/${prefix}-json${path}`, {
      method,
      headers: {
        ...(role === null ? {} : { Authorization: `Basic ${Buffer.from(`${role}:${secret(role)}`).toString("base64")}` }),
        ...(body === undefined ? {} : { "Content-Type": type }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: read(text, response.headers) };
  };
  /** The same with JSON. */
  const ask = (role, method, path, body) => send(role, method, path, body === undefined ? undefined : JSON.stringify(body), "application/json");
  return {
    folder,
    prefix,
    get origin() { return origin; },
    get log() { return log.join(""); },
    ask,
    send,
    /** Takes the server away, and starts it again at the same address. */
    stop: end,
    restart: () => launch(origin.replace("http://", "")),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    write: (name, text) => writeFileSync(join(folder, name), text),
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
