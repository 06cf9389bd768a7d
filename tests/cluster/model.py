"""What clients have written, as far as they know, and threads that write and read."""

import queue
import random
import re
import threading
import time

from nodes import Cut

TITLES = ["The same", "The same again", "The same 2"]


class Post:
    def __init__(self, token):
        self.token, self.id, self.slug, self.tags = token, None, None, []
        # The last counter that was acknowledged; those that may have been written since.
        self.counter, self.maybe = 0, set()
        # Whether an acknowledged request has made or deleted it; None: not known.
        self.made, self.deleted, self.deleting = None, False, False
        # A request of unknown outcome may still be carried out, so nothing else is written.
        self.frozen = False

    def may_be(self):
        return {self.counter} | self.maybe


class Model:
    def __init__(self):
        self.lock, self.number = threading.Lock(), 0
        self.posts, self.comments, self.tags = [], [], []
        self.acknowledged = self.unknown = self.unavailable = 0

    def token(self, kind):
        with self.lock:
            self.number += 1
            return f"{kind}x{self.number}x"

    def note(self, outcome):
        with self.lock:
            if outcome == "acknowledged":
                self.acknowledged += 1
            elif outcome == "unknown":
                self.unknown += 1
            else:
                self.unavailable += 1


def counter(text):
    found = re.search(r"n=(\d+);", text)
    return int(found.group(1)) if found else None


class Probe(threading.Thread):
    """Reads from one node what was written through any, anonymously, until it shows it. `bound` is 0 for strict nodes."""

    def __init__(self, client, node, bound):
        super().__init__(daemon=True)
        self.client, self.node, self.bound = client, node, bound
        self.queue, self.ages, self.stale, self.skipped, self.idle = queue.Queue(4), [], 0, 0, True
        # What a node shows while it is cut off without a sign is counted apart.
        self.apart, self.apart_ages = False, []
        self.start()

    def offer(self, post, value, acknowledged):
        try:
            self.queue.put_nowait((post, value, acknowledged))
        except queue.Full:
            pass

    def run(self):
        turn = 0
        while True:
            post, value, acknowledged = self.queue.get()
            turn += 1
            self.probe(post, value, acknowledged, turn % 3 == 0)

    def shown(self, post, in_list):
        path = f"/posts?include={post.id}&_fields=id,content" if in_list else f"/posts/{post.id}"
        answer = self.client.send(self.node.port, "GET", path, anonymous=True)
        if answer.status == 503:
            raise Cut("503")
        body = answer.body
        if in_list and answer.status == 200:
            body = body[0] if body else None
        if answer.status in (401, 404) or body is None:
            return answer.began, None
        return answer.began, counter(body["content"]["rendered"])

    def probe(self, post, value, acknowledged, in_list):
        apart, tries, oldest = self.apart, 0, 0
        while True:
            try:
                began, shown = self.shown(post, in_list)
            except Cut:
                tries += 1
                if tries > 20:
                    self.skipped += 1
                    return
                threading.Event().wait(0.02)
                continue
            if shown is None and post.deleting:
                return
            age = began - acknowledged
            if shown is not None and shown >= value:
                (self.apart_ages if apart or self.apart else self.ages).append(oldest)
                return
            self.stale, oldest = self.stale + 1, max(oldest, age)
            if apart or self.apart:
                if age > 15:
                    self.client.audit.violation(f"{self.node.name} shows {shown} for {value} of {post.id} after {age:.3f} s")
                    return
            elif age > self.bound:
                what = "a list" if in_list else "an item"
                self.client.audit.violation(
                    f"{self.node.name} shows {shown} in {what} for {value} of {post.id}, {age:.3f} s after its write")
                return


class Writer(threading.Thread):
    """Writes posts, terms and comments; only this thread writes its posts."""

    def __init__(self, client, port, model, probes, seed, pace):
        super().__init__(daemon=True)
        self.client, self.port, self.model, self.probes, self.pace = client, port, model, probes, pace
        self.random, self.posts, self.ended = random.Random(seed), [], threading.Event()
        # Held while it writes.
        self.turn = threading.Lock()

    def write(self, method, path, body, expected):
        """The response, or None where the outcome is not known."""
        try:
            answer = self.client.send(self.port, method, path, body)
        except Cut:
            self.model.note("unknown")
            return None
        if answer.status == 503:
            self.model.note("unavailable")
            return None
        if answer.status != expected:
            self.client.audit.violation(f"{method} {path}: {answer.status} {answer.text[:300]}")
            return None
        self.model.note("acknowledged")
        return answer

    def run(self):
        while not self.ended.wait(self.pace):
            with self.turn:
                self.step()

    def step(self):
        live = [post for post in self.posts if post.made and not post.deleted and not post.frozen][-8:]
        chance = self.random.random()
        if not live or chance < 0.25:
            self.create()
        elif chance < 0.75:
            self.update(self.random.choice(live))
        elif chance < 0.82:
            self.delete(self.random.choice(live))
        elif chance < 0.94:
            self.comment(self.random.choice(live))
        else:
            self.tag()

    def create(self):
        post = Post(self.model.token("post"))
        post.tags = [tag["id"] for tag in self.model.tags if self.random.random() < 0.3][-3:]
        with self.model.lock:
            self.model.posts.append(post)
        body = {"title": self.random.choice(TITLES), "content": f"{post.token} n=0;", "status": "publish", "tags": post.tags}
        made = self.write("POST", "/posts", body, 201)
        if made:
            post.id, post.slug, post.made = made.body["id"], made.body["slug"], True
            self.posts.append(post)
            self.offer(post, 0)
        else:
            post.frozen = True
        return made

    def offer(self, post, value):
        now = time.monotonic()
        for probe in self.probes:
            probe.offer(post, value, now)

    def update(self, post):
        value = max(post.may_be()) + 1
        post.maybe = {value}
        done = self.write("POST", f"/posts/{post.id}", {"content": f"{post.token} n={value};"}, 200)
        if not done:
            post.frozen = True
            return
        post.counter, post.maybe = value, set()
        if counter(done.body["content"]["rendered"]) != value:
            self.client.audit.violation(f"update {value} of {post.id} responds {done.text[:300]}")
        self.offer(post, value)

    def delete(self, post):
        post.frozen = post.deleting = True
        if self.write("DELETE", f"/posts/{post.id}?force=true", None, 200):
            post.deleted = True

    def comment(self, post):
        comment = {"token": self.model.token("comment"), "post": post, "made": None}
        with self.model.lock:
            self.model.comments.append(comment)
        made = self.write("POST", "/comments", {"post": post.id, "content": comment["token"]}, 201)
        if made:
            comment["made"], comment["id"] = True, made.body["id"]

    def tag(self):
        name = self.model.token("tag")
        made = self.write("POST", "/tags", {"name": name}, 201)
        if made:
            with self.model.lock:
                self.model.tags.append({"id": made.body["id"], "name": name})
