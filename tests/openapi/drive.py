"""Drives the generated Python client against a server; `mypy --strict` holds the types, the lines that it has to refuse
(`type: ignore`) above all: an exception that is not needed is an error."""

import base64
import sys
from typing import assert_type

import httpx
from cms import Answer, Client, Failure, File, NotModified, Post, PostEdit, PostFields, PostsListError

base, user, password = sys.argv[1:4]


def same(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise SystemExit(f"{what}: {found!r}, not {expected!r}")


visitor, editor = Client(base), Client(base, user, password)

# Contexts decide the type.
listed = visitor.posts_list({"per_page": 3})
assert_type(listed, Answer[list[Post]])
same(len(listed.data), 3, "a page")
same((listed.total or 0) > 3 and (listed.pages or 0) > 1, True, "totals")
edited = editor.posts_list({"per_page": 1}, context="edit")
assert_type(edited.data, list[PostEdit])
same(isinstance(edited.data[0]["title"]["raw"], str), True, "the edit context has the raw title")
first = listed.data[0]
same("raw" in first["title"], False, "the view context has none")


def refused_by_mypy() -> None:
    first["title"]["raw"]  # type: ignore[typeddict-item]
    visitor.posts_list({"orderby": "nothing"})  # type: ignore[call-overload]
    editor.posts_create({"status": "gone"})  # type: ignore[call-overload]


# `fields` narrows it.
narrow = visitor.posts_list({"per_page": 1}, fields=["id", "title"])
assert_type(narrow.data, list[PostFields])
same(sorted(narrow.data[0]), ["id", "title"], "selected members")

# Pages follow each other.
ids = [post["id"] for post in visitor.each(visitor.posts_list({"per_page": 20}, fields=["id"])) if "id" in post]
same(len(ids), listed.total, "all documents of all pages")
same(len(set(ids)), len(ids), "each once")
pages = list(visitor.each_page(visitor.posts_list({"per_page": 20})))
same(len(pages), pages[0].pages, "all pages")

# Lists in a query; embedded documents have the type of what the link leads to.
some = visitor.posts_list({"include": ids[:2], "orderby": "include"})
same([post["id"] for post in some.data], ids[:2], "a list in the query")
embedded = visitor.posts_get(first["id"], embed=["author"]).data["_embedded"]
author = embedded["author"][0]
same("name" in author and isinstance(author["name"], str), True, "an embedded author")

# Writes, entity tags, errors.
made = editor.posts_create({"title": "Made", "status": "draft", "content": "Text"})
same(made.status, 201, "created")
read = editor.posts_get(made.data["id"], context="edit")
try:
    editor.posts_get(made.data["id"], context="edit", if_none_match=read.etag)
    raise SystemExit("a document that has not changed")
except NotModified:
    pass
changed = editor.posts_update(made.data["id"], {"title": "Changed"}, if_match=read.etag)
same(changed.data["title"]["rendered"], "Changed", "an update")
try:
    editor.posts_update(made.data["id"], {"title": "Late"}, if_match=read.etag)
    raise SystemExit("an update of an old document")
except Failure as late:
    same((late.status, late.code), (412, "rest_precondition_failed"), "a conflict")
try:
    visitor.settings_get()
    raise SystemExit("settings without an account")
except Failure as refused:
    same(refused.status, 401, "a refusal")
code: PostsListError = "rest_invalid_param"
try:
    visitor.posts_list({"per_page": 1000})
    raise SystemExit("too long a page")
except Failure as wrong:
    same((wrong.status, wrong.code), (400, code), "an error code")

# A file.
picture = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
uploaded = editor.media_create({"file": File("dot.png", picture, "image/png"), "title": "Dot", "alt_text": "A dot"})
same((uploaded.status, uploaded.data["alt_text"]), (201, "A dot"), "an upload")

# Several requests at once.
batch = editor.batch_v1_batch(
    {
        "requests": [
            {"method": "POST", "path": "/cms/v2/tags", "body": {"name": "Batch one"}},
            {"method": "POST", "path": "/cms/v2/tags", "body": {"name": "Batch two"}},
        ]
    }
)
same((batch.status, [one["status"] for one in batch.data.get("responses", []) if one]), (207, [201, 201]), "a batch")

# Whole collections, out and in: what comes out changes nothing when it goes in, and a change is one.
exported = list(editor.posts_list_lines({"per_page": 3}, context="edit"))
same((len(exported) > 3, type(exported[0]["title"]["raw"])), (True, str), "an export")
results = list(editor.posts_import({"upsert": "slug"}, documents=exported))
same([one["result"] for one in results], ["unchanged"] * len(exported), "an import that changes nothing")
places = [one["position"] for one in editor.tags_import(documents=({"name": f"Row {n}"} for n in range(1001)))]
same(places, list(range(1001)), "an import in several requests")
try:
    next(visitor.posts_list_lines())
    raise SystemExit("an export that is refused")
except Failure as forbidden:
    same(forbidden.status, 401, "an export that is refused")

# Own resources are there like all others.
book = editor.books_create({"title": "Book", "pages": 3})
same(book.data["pages"], 3, "an own resource")

# What is busy is asked again, unless it may have made the change; a foreign link gets no credentials.
pauses: list[float] = []
answers = [
    httpx.Response(429, headers={"retry-after": "7"}, json={"code": "rest_too_many_requests"}),
    httpx.Response(503, headers={"retry-after": "900"}, json={"code": "rest_busy"}),
    httpx.Response(200, json=[], headers={"link": '<http://elsewhere.test/>; rel="next"'}),
    httpx.Response(503, json={"code": "rest_outcome_unknown", "message": "It is not known."}),
]
fake = httpx.Client(transport=httpx.MockTransport(lambda request: answers.pop(0)))
patient = Client("http://site.test", "ann", "secret", http=fake, sleep=pauses.append)
following = patient.each_page(patient.posts_list())
same((next(following).data, pauses), ([], [7.0, 60.0]), "pauses")
try:
    next(following)
    raise SystemExit("a foreign address")
except Failure as foreign:
    same(foreign.code, "foreign_address", "a foreign address")
try:
    patient.posts_create({"title": "Once"})
    raise SystemExit("an unknown outcome")
except Failure as unknown:
    same((unknown.code, len(answers), len(pauses)), ("rest_outcome_unknown", 0, 2), "an unknown outcome")

print(f"Python: {len(ids)} posts, all of what the client does")
