"""Drives the client that openapi-python-client makes of the description against a server: list, create, update, errors."""

import base64
import sys

from cms_client import AuthenticatedClient, Client
from cms_client.api.books import books_create
from cms_client.api.posts import posts_create, posts_get, posts_list, posts_update
from cms_client.models import Book, BookCreate, Error, Post, PostCreate, PostEdit, PostUpdate

base, user, password = sys.argv[1:4]


def same(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise SystemExit(f"{what}: {found!r}, not {expected!r}")


token = base64.b64encode(f"{user}:{password}".encode()).decode()
visitor = Client(base_url=base)
editor = AuthenticatedClient(base_url=base, token=token, prefix="Basic")

listed = posts_list.sync(client=visitor, per_page=3)
assert isinstance(listed, list)
same([type(post) for post in listed], [Post] * 3, "a page")
refused = posts_list.sync_detailed(client=visitor, per_page=1000)
assert isinstance(refused.parsed, Error)
same((refused.status_code.value, refused.parsed.code), (400, "rest_invalid_param"), "too long a page")

body = PostCreate.from_dict({"title": "Made", "status": "draft", "content": "Text"})
made = posts_create.sync_detailed(client=editor, body=body)
assert isinstance(made.parsed, (Post, PostEdit))
same((made.status_code.value, made.parsed.status), (201, "draft"), "created")
read = posts_get.sync_detailed(made.parsed.id, client=editor, context="edit")
# The response may be of several contexts: the generator takes the first schema that fits, which keeps other members.
assert isinstance(read.parsed, Post)
same(read.parsed.title["raw"], "Made", "the edit context has the raw title")
tag = read.headers["etag"]

change = PostUpdate.from_dict({"title": "Changed"})
changed = posts_update.sync_detailed(made.parsed.id, client=editor, body=change, if_match=tag)
assert isinstance(changed.parsed, (Post, PostEdit))
same(changed.parsed.title.rendered, "Changed", "an update")
late = posts_update.sync_detailed(made.parsed.id, client=editor, body=change, if_match=tag)
assert isinstance(late.parsed, Error)
same((late.status_code.value, late.parsed.code), (412, "rest_precondition_failed"), "a conflict")

# Own resources are there like all others.
book = books_create.sync_detailed(client=editor, body=BookCreate.from_dict({"title": "Book", "pages": 3}))
assert isinstance(book.parsed, Book), book
same((book.status_code.value, book.parsed.pages), (201, 3), "an own resource")

print("Python: list, create, update and errors by the client of openapi-python-client")
