"""The unmodified client python-wordpress-xmlrpc against a running server: it posts, edits, lists, uploads, deletes.

Usage: desk.py XMLRPC_URL LOGIN PASSWORD
"""

import collections
import collections.abc
import datetime
import struct
import sys
import zlib

# The client was written before Python 3.10 moved this name.
collections.Iterable = collections.abc.Iterable

from wordpress_xmlrpc import Client, WordPressComment, WordPressPage, WordPressPost, WordPressTerm  # noqa: E402
from wordpress_xmlrpc.compat import xmlrpc_client  # noqa: E402
from wordpress_xmlrpc.exceptions import InvalidCredentialsError  # noqa: E402
from wordpress_xmlrpc.methods import comments, demo, media, options, posts, taxonomies, users  # noqa: E402


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found!r} instead of {expected!r}")
    print(f"ok {what}")


def fault(code, call):
    try:
        call()
    except xmlrpc_client.Fault as error:
        return check(f"fault {code}", error.faultCode, code)
    raise SystemExit(f"no fault where {code} was due")


def picture():
    """The smallest picture: one red dot."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


def main(url, login, password):
    client = Client(url, login, password)
    check("hello", client.call(demo.SayHello()), "Hello!")
    check("sum", client.call(demo.AddTwoNumbers(3, 4)), 7)

    post = WordPressPost()
    post.title = "A lamp <and> an öil can"
    post.content = "<p>Light.</p>"
    post.excerpt = "Short."
    post.post_status = "publish"
    post.date = datetime.datetime(2020, 1, 2, 3, 4, 5)
    post.terms_names = {"category": ["Desk"], "post_tag": ["lamp", "oil"]}
    post.id = client.call(posts.NewPost(post))
    check("an id is a text", isinstance(post.id, str), True)

    read = client.call(posts.GetPost(post.id))
    check("title", read.title, post.title)
    check("content", read.content, post.content)
    check("date", read.date, post.date)
    check("terms", sorted(term.name for term in read.terms), ["Desk", "lamp", "oil"])
    check("status", read.post_status, "publish")
    check("comments are closed unless told otherwise", read.comment_status, "closed")

    read.title = "Another lamp"
    read.terms = [term for term in read.terms if term.name != "oil"]
    check("edit what was read", client.call(posts.EditPost(read.id, read)), True)
    again = client.call(posts.GetPost(post.id))
    check("changed title", again.title, "Another lamp")
    check("kept content", again.content, post.content)
    check("fewer terms", sorted(term.name for term in again.terms), ["Desk", "lamp"])
    check("date stays", again.date, post.date)

    for number in range(3):
        more = WordPressPost()
        more.title, more.post_status = f"More {number}", "publish"
        client.call(posts.NewPost(more))
    listed = client.call(posts.GetPosts({"number": 2, "orderby": "title", "order": "ASC"}))
    check("list", [item.title for item in listed], ["Another lamp", "More 0"])
    listed = client.call(posts.GetPosts({"number": 2, "offset": 2, "orderby": "title", "order": "ASC"}))
    check("its second page", [item.title for item in listed], ["More 1", "More 2"])

    page = WordPressPage()
    page.title, page.post_status = "A page", "publish"
    page.id = client.call(posts.NewPost(page))
    pages = client.call(posts.GetPosts({"post_type": "page"}, results_class=WordPressPage))
    check("pages", [item.title for item in pages], ["A page"])

    term = WordPressTerm()
    term.taxonomy, term.name, term.description = "category", "Shelf", "Where lamps stand"
    term.id = client.call(taxonomies.NewTerm(term))
    term = client.call(taxonomies.GetTerm("category", term.id))
    check("term", (term.name, term.description), ("Shelf", "Where lamps stand"))
    term.name = "Board"
    check("edit a term", client.call(taxonomies.EditTerm(term.id, term)), True)
    check("terms", "Board" in [item.name for item in client.call(taxonomies.GetTerms("category"))], True)
    check("delete a term", client.call(taxonomies.DeleteTerm("category", term.id)), True)
    check("taxonomy", client.call(taxonomies.GetTaxonomy("post_tag")).hierarchical, False)

    again.comment_status = "open"
    check("open it", client.call(posts.EditPost(post.id, again)), True)
    comment = WordPressComment()
    comment.content = "Bright"
    number = client.call(comments.NewComment(post.id, comment))
    check("comment", client.call(comments.GetComment(number)).content, "Bright")
    check("counts", client.call(comments.GetCommentCount(post.id))["approved"], 1)
    check("delete a comment", client.call(comments.DeleteComment(number)), True)

    bits = xmlrpc_client.Binary(picture())
    made = client.call(media.UploadFile({"name": "dot.png", "type": "image/png", "bits": bits}))
    check("upload", (made["type"], made["file"]), ("image/png", "dot.png"))
    check("media item", client.call(media.GetMediaItem(made["id"])).link, made["url"])
    check("media library", len(client.call(media.GetMediaLibrary({"number": 5}))), 1)
    again.thumbnail = made["id"]
    check("thumbnail is taken", client.call(posts.EditPost(post.id, again)), True)
    check("thumbnail", client.call(posts.GetPost(post.id)).thumbnail["link"], made["url"])

    check("profile", client.call(users.GetProfile()).username, login)
    check("authors", [author.display_name for author in client.call(users.GetAuthors())], [login])
    check("blogs", client.call(users.GetUsersBlogs())[0].xmlrpc, url)
    check("options", [option.name for option in client.call(options.GetOptions(["blog_title"]))], ["blog_title"])
    check("set options", client.call(options.SetOptions({"blog_tagline": "Lamps"}))[0].value, "Lamps")
    types = client.call(posts.GetPostTypes())
    check("types", types["post"].name, "post")
    check("statuses", "draft" in client.call(posts.GetPostStatusList()), True)

    check("to the trash", client.call(posts.DeletePost(post.id)), True)
    check("it lies there", client.call(posts.GetPost(post.id)).post_status, "trash")
    check("gone", client.call(posts.DeletePost(post.id)), True)
    fault(404, lambda: client.call(posts.GetPost(post.id)))
    try:
        Client(url, login, "wrong").call(users.GetProfile())
        raise SystemExit("a wrong password was taken")
    except InvalidCredentialsError:
        print("ok a wrong password")


main(*sys.argv[1:])
