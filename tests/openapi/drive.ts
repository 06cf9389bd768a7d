// Drives the generated client against a server; `tsc --strict` holds the types, the lines marked `expect-error` above all.
import { Client, Failure, type Post, type PostEdit } from "./client.js";

const [base, user, password] = process.argv.slice(2) as [string, string, string];
const visitor = new Client({ base });
const editor = new Client({ base, credentials: { user, password } });

function same(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
}

// Contexts decide the type.
const list = await visitor.call("posts.list", { query: { per_page: 3 } });
const first: Post = list.data[0]!;
same(list.data.length, 3, "a page");
same(list.total! > 3 && list.pages! > 1, true, "totals");
const edited = await editor.call("posts.list", { query: { context: "edit", per_page: 1 } });
const raw: PostEdit = edited.data[0]!;
same(typeof raw.title.raw, "string", "the edit context has the raw title");
// @ts-expect-error: the view context has none.
void first.title.raw;

// `fields` narrows it.
const narrow = await visitor.call("posts.list", { query: { per_page: 1 }, fields: ["id", "title"] });
same(Object.keys(narrow.data[0]!).sort(), ["id", "title"], "selected members");
void narrow.data[0]!.title.rendered;
// @ts-expect-error: it was not selected.
void narrow.data[0]!.content;

// Pages follow each other.
const ids: number[] = [];
for await (const post of visitor.items("posts.list", { query: { per_page: 20 }, fields: ["id"] })) {
  ids.push(post.id);
}
same(ids.length, list.total, "all documents of all pages");
same(new Set(ids).size, ids.length, "each once");

// Embedded documents have the type of what the link leads to.
const embedded = await visitor.call("posts.get", { params: { id: first.id }, embed: ["author"] });
const author = embedded.data._embedded?.author?.[0];
same(author !== undefined && "name" in author && typeof author.name, "string", "an embedded author");

// Writes, entity tags, errors.
const made = await editor.call("posts.create", { body: { title: "Made", status: "draft", content: "Text" } });
same(made.status, 201, "created");
// @ts-expect-error: a status that does not exist.
void (() => editor.call("posts.create", { body: { status: "gone" } }));
const read = await editor.call("posts.get", { params: { id: made.data.id }, query: { context: "edit" } });
const again = await editor.refresh("posts.get", {
  params: { id: made.data.id },
  query: { context: "edit" },
  ifNoneMatch: read.etag!,
});
same("notModified" in again, true, "not modified");
const changed = await editor.call("posts.update", { params: { id: made.data.id }, body: { title: "Changed" }, ifMatch: read.etag! });
same(changed.data.title.rendered, "Changed", "an update");
const late = await editor
  .call("posts.update", { params: { id: made.data.id }, body: { title: "Late" }, ifMatch: read.etag! })
  .catch((error: unknown) => error);
same(late instanceof Failure && [late.status, late.code], [412, "rest_precondition_failed"], "a conflict");
const refused = await visitor.call("settings.get", {}).catch((error: unknown) => error);
same(refused instanceof Failure && refused.status, 401, "a refusal");

// A file.
const picture = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);
const file = new File([picture], "dot.png", { type: "image/png" });
const uploaded = await editor.call("media.create", { body: { file, title: "Dot", alt_text: "A dot" } });
same([uploaded.status, uploaded.data.alt_text], [201, "A dot"], "an upload");

// Whole collections, out and in: what comes out changes nothing when it goes in, and a change is one.
const exported = [];
for await (const post of editor.lines("posts.list", { query: { context: "edit", per_page: 3 } })) {
  exported.push(post);
}
same(exported.length > 3 && typeof exported[0]!.title.raw, "string", "an export");
const results = [];
for await (const one of editor.import("posts.import", exported, { query: { upsert: "slug" } })) {
  results.push(one);
}
same(results.map((one) => one.result), exported.map(() => "unchanged"), "an import that changes nothing");
const many = Array.from({ length: 1001 }, (_, n) => ({ name: `Line ${n}` }));
const places = [];
for await (const one of editor.import("tags.import", many, {})) {
  places.push(one.status === 201 ? one.position : -1);
}
same(places, many.map((_, n) => n), "an import in several requests");
const unable = await editor.import("tags.import", [{}], { query: { upsert: "nothing" } }).next().catch((error: unknown) => error);
same(unable instanceof Failure && unable.status, 400, "an import that is refused");
const forbidden = await visitor.lines("posts.list", {}).next().catch((error: unknown) => error);
same(forbidden instanceof Failure && forbidden.status, 401, "an export that is refused");

// Own resources are there like all others.
const book = await editor.call("books.create", { body: { title: "Book", pages: 3 } });
same(book.data.pages, 3, "an own resource");
console.log(`${ids.length} posts, all of what the client does`);
