"""The unmodified client wp-api-client (PyPI) against a running server: lists with every filter, writes, uploads, refusals.

Usage: wp_rest.py SITE LOGIN PASSWORD
"""

import io
import struct
import sys
import zlib

from wp_api import ApplicationPasswordAuth, WPClient
from wp_api.exceptions import WPAPIError, WPAPINotFoundError


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found!r} instead of {expected!r}")
    print(f"ok {what}")


def picture():
    """The smallest picture: one red dot."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


def main(site, login, password):
    wp = WPClient(site, auth=ApplicationPasswordAuth(login, password))
    stranger = WPClient(site)
    check("discovery", "wp/v2" in wp.discover_endpoints().get("namespaces", ["wp/v2"]), True)

    category = wp.categories.create(name="Lamps", description="d")
    tag = wp.tags.create(name="oil")
    post = wp.posts.create(title="One", content="Text", status="publish", categories=[category["id"]], tags=[tag["id"]])
    check("create", (post["title"]["raw"], post["categories"]), ("One", [category["id"]]))
    check("update", wp.posts.update(post["id"], title="Two")["title"]["raw"], "Two")
    check("read", stranger.posts.get(post["id"])["title"]["rendered"], "Two")
    for number in range(3):
        wp.posts.create(title=f"More {number}", content="x", status="publish")
    check("list", len(stranger.posts.list(per_page=2)), 2)
    check("second page", [p["title"]["rendered"] for p in stranger.posts.list(per_page=2, page=2, orderby="title", order="asc")], ["More 2", "Two"])
    check("by category", [p["id"] for p in stranger.posts.list(categories=[category["id"]])], [post["id"]])
    check("without category", len(stranger.posts.list(categories_exclude=[category["id"]])), 3)
    check("by tag", [p["id"] for p in stranger.posts.list(tags=[tag["id"]])], [post["id"]])
    check("search", [p["id"] for p in stranger.posts.list(search="Two")], [post["id"]])
    check("exclude", len(stranger.posts.list(exclude=[post["id"]])), 3)
    check("sticky", [p["sticky"] for p in stranger.posts.list(sticky=False)], [False] * 4)
    check("revisions", [r["parent"] for r in wp.posts.get_revisions(post["id"])], [post["id"]])

    page = wp.pages.create(title="Page", content="x", status="publish")
    check("pages", [p["id"] for p in stranger.pages.list()], [page["id"]])
    comment = wp.comments.create(post=post["id"], content="Bright")
    check("comments", [c["id"] for c in stranger.comments.list(post=[post["id"]])], [comment["id"]])
    check("edit a comment", wp.comments.update(comment["id"], content="Brighter")["content"]["raw"], "Brighter")
    check("who am I", wp.users.me()["name"], login)
    check("settings", wp.settings.update(title="Lamps")["title"], "Lamps")
    check("taxonomies", wp.taxonomies.get("category")["rest_base"], "categories")

    file = wp.media.upload(io.BytesIO(picture()), file_name="dot.png")
    file = wp.media.update(file["id"], title="A dot", alt_text="red")
    check("upload", (file["title"]["raw"], file["alt_text"], file["mime_type"]), ("A dot", "red", "image/png"))
    check("files", [m["id"] for m in stranger.media.list(media_type="image")], [file["id"]])

    check("to the trash", wp.posts.delete(post["id"])["status"], "trash")
    check("gone", wp.posts.delete(post["id"], force=True)["deleted"], True)
    try:
        wp.posts.get(post["id"])
        raise SystemExit("it is still there")
    except WPAPINotFoundError as error:
        check("nothing there", error.error_data["code"], "rest_post_invalid_id")
    try:
        stranger.posts.create(title="No")
        raise SystemExit("a stranger writes")
    except WPAPIError as error:
        print(f"ok a stranger does not write: {type(error).__name__}")


main(*sys.argv[1:])
