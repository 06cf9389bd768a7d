#!/usr/bin/env python3
"""How long criteria, sort keys, counts, whole collections and imports take over many rows, on SQLite. Standard library alone.

    benches/criteria.py                     100,000 items of a type with a table of its own, and of a content type
    benches/criteria.py --rows 10000 --only content

CMS_PROGRAM names another program than target/dist/cms-server.
"""

import argparse
import base64
import http.client
import json
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
from urllib.parse import quote

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("CMS_PROGRAM", os.path.join(ROOT, "target/dist/cms-server"))
LINES = "application/x-ndjson"
VENUES = 100


def declare(folder, family, indexed):
    """Venues, and events with a property of each class of operators. `indexed`: as `check` proposes."""
    def own(**doc):
        index = {"x-index": True} if indexed and doc.get("type") in ("string", "number", "integer") else {}
        return {"description": "Property.", "x-filterable": True, **index, **doc}
    shared = {"id": {"type": "integer", "description": "Id.", "readonly": True, "x-column": "id"}}
    if family == "content":
        shared |= {"title": {"type": "string", "description": "Title.", "x-column": "title", "x-write": "text_field"},
                   "slug": {"type": "string", "description": "Slug.", "x-column": "slug", "x-write": "slug"},
                   "status": {"type": "string", "description": "State.", "x-column": "status", "enum": ["draft", "publish"]}}
    else:
        shared = {"id": {"type": "integer", "description": "Id.", "readonly": True}, "title": own(type="string")}
    venue = {"id": {"type": "integer", "description": "Id.", "readonly": True}, "title": own(type="string"), "city": own(type="string")}
    event = shared | {
        "start": own(type="string", format="date-time"), "price": own(type="number"), "form": own(type="string", enum=["talk", "walk"]),
        "code": own(type="string"), "note": own(type="string"),
        "tags": own(type="array", items={"type": "string"}),
        "venue": own(type="integer", **{"x-relation": {"to": "venues"}}),
        "stages": own(type="array", items={"type": "integer"}, **{"x-relation": {"to": "venues"}})}
    for name, properties in (("venue", venue), ("event", event)):
        with open(os.path.join(folder, f"schemas/{name}.json"), "w") as file:
            json.dump({"title": name, "type": "object", "properties": properties}, file)
    routes = "content" if family == "content" else "crud"
    address = 'address = "/events/{slug}/"\nsupports = ["title", "author"]\n' if family == "content" else ""
    acts = ["create", "edit", "edit_others", "edit_published", "publish", "delete", "delete_others", "delete_published"]
    with open(os.path.join(folder, "site.toml"), "w") as file:
        file.write("[namespaces.own]\npath = \"own/v1\"\n\n[capabilities.own]\nread = \"\"\nedit_private = \"edit_posts\"\n"
                   "read_private = \"edit_posts\"\n" + "".join(f'{act} = "edit_posts"\n' for act in acts))
        file.write('\n[resources.venues]\nfamily = "plain"\nnamespace = "own"\nschema = "schemas/venue.json"\nroutes = ["crud"]\n'
                   'capabilities = "own"\n')
        title = "title_key" if family == "content" else "title"
        file.write(f'\n[resources.events]\nfamily = "{family}"\nkind = "event"\nnamespace = "own"\nschema = "schemas/event.json"\n'
                   f'routes = ["{routes}"]\ncapabilities = "own"\n{address}'
                   f'sort = {{ id = "id", start = "start", title = "{title}" }}\n\n[resources.events.endpoints.list]\n'
                   'orderby = { type = "string", enum = ["id"], default = "id", x-param = "orderby" }\n')


class Site:
    """The program over a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.base = ["--config", os.path.join(folder, "routes.toml"), "--set", f"storage.url=sqlite:{folder}/site.db",
                     "--set", "site.demo=false", "--set", "cache.responses=false", "--set", "server.listen=127.0.0.1:0"]

    def run(self, *args, text=""):
        return subprocess.run([PROGRAM, *self.base, *args], input=text, capture_output=True, text=True, check=True).stdout

    def start(self):
        self.process = subprocess.Popen([PROGRAM, *self.base], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            at = line.find("http://")
            if line.startswith("ready"):
                host, _, path = line[at + 7:].split()[0].partition("/")
                self.host, self.rest = host, "/" + path.rstrip("/")
                break
        # It writes nothing more that is wanted, and must not wait for a reader.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.connection = http.client.HTTPConnection(self.host, timeout=600)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, route, body=None, headers=()):
        secret = base64.b64encode(f"admin:{self.password}".encode()).decode()
        self.connection.request(method, self.rest + route, body, {"Authorization": f"Basic {secret}", **dict(headers)})
        answer = self.connection.getresponse()
        return answer

    def get(self, route, **headers):
        answer = self.ask("GET", route, headers=headers)
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{route}: {answer.status} {text[:300]}")
        return answer, text

    def peak(self):
        """Most memory of the process, in megabytes, since the last call."""
        with open(f"/proc/{self.process.pid}/status") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")
        return peak // 1024


def event(n, family):
    chance = random.Random(n)
    body = {"title": f"Event {n * 7919 % 100_000:06}", "price": n % 100, "form": "talk" if n % 3 else "walk", "code": f"c{n % 1000}",
            "tags": [f"t{n % 50}", f"t{n % 7}"], "venue": 1 + n % VENUES, "stages": [1 + n % VENUES, 1 + n * 7 % VENUES],
            "note": " ".join(chance.choices(["red", "blue", "boat", "lamp", "tower", "rope", "cake"], k=8))}
    if n % 10:
        body["start"] = f"20{n % 30:02}-{1 + n % 12:02}-{1 + n % 28:02}T{n // 60 % 24:02}:{n % 60:02}:00"
    if family == "content":
        body["status"] = "publish"
    return json.dumps(body) + "\n"


def load(site, family, rows):
    taken, route = 0.0, "/own/v1/venues/import"
    venues = "".join(json.dumps({"title": f"Venue {n}", "city": f"city {n}"}) + "\n" for n in range(VENUES))
    pieces = [(route, venues)]
    pieces += [("/own/v1/events/import", "".join(event(n, family) for n in range(first, min(first + 1000, rows))))
               for first in range(0, rows, 1000)]
    for route, text in pieces:
        begin = time.perf_counter()
        answer = site.ask("POST", route, text, {"Content-Type": LINES})
        results = answer.read().decode().splitlines()
        taken += time.perf_counter() - begin
        failed = [line for line in results if '"created"' not in line]
        if failed:
            raise SystemExit(f"{route}: {failed[0]}")
    return taken


def median(site, routes):
    times = []
    for route in routes:
        begin = time.perf_counter()
        site.get(route)
        times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times)


def queries():
    """Name and the queries of each case; the numbers differ, so that nothing is remembered."""
    def each(text):
        return ["/own/v1/events?_fields=id&" + quote(text.format(n=n), safe="=&[]-") for n in range(2, 17)]
    return [
        ("eq, 1 in 100", each("where[price]={n}")),
        ("eq, 1 in 1,000", each("where[code]=c{n}")),
        ("in, 3 in 1,000", each("where[code][in]=c{n},c5{n},c7{n}")),
        ("ne", each("where[code][ne]=c{n}")),
        ("gt, 1 in 100", each("where[price][gt]=98.{n}")),
        ("ge and lt of a time, 3 in 1,000",
         each("where[start][ge]=2012-01-{n:02}T00:00:00&where[start][lt]=2012-02-{n:02}T00:00:00")),
        ("set=false, 1 in 10", each("where[start][set]=false&where[price][ne]={n}")),
        ("contains", each("where[note][contains]=lamp rope&where[price][ne]={n}")),
        ("any of a list, 1 in 50", each("where[tags][any]=t{n}")),
        ("related (one), 1 in 100", each("where[venue.city]=city {n}")),
        ("related (several), 2 in 100", each("where[stages.city]=city {n}")),
        ("order_by=-start,title", each("order_by=-start,title&exclude={n}")),
        ("order_by=title,-start", each("order_by=title,-start&exclude={n}")),
        ("order_by=start,title and where", each("order_by=start,title&where[price]={n}")),
        ("_count_by=form", each("_count_by=form&exclude={n}")),
        ("_count_by=code", each("_count_by=code&exclude={n}")),
        ("_count_by=stages", each("_count_by=stages&exclude={n}")),
        ("_count_by=stages and where", each("_count_by=stages&where[price]={n}")),
    ]


def walk(site, order, pages):
    """Milliseconds of the first and of the last pages of a walk by 100."""
    route, times = f"/own/v1/events?_fields=id&order_by={order}&per_page=100&_cursor=", []
    for _ in range(pages):
        begin = time.perf_counter()
        answer, _ = site.get(route)
        times.append(1000 * (time.perf_counter() - begin))
        link = answer.getheader("link")
        if link is None:
            break
        route = link.split("<")[1].split(">")[0].split(site.rest, 1)[1]
    return statistics.median(times[:20]), statistics.median(times[-20:]), len(times)


def whole(site, query):
    site.peak()
    begin = time.perf_counter()
    answer = site.ask("GET", f"/own/v1/events?context=edit&{query}", headers={"Accept": LINES})
    lines = size = 0
    while piece := answer.read(1 << 16):
        lines, size = lines + piece.count(b"\n"), size + len(piece)
    return lines, size, time.perf_counter() - begin, site.peak()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", choices=["plain", "content"])
    options = parser.parse_args()
    for family in [options.only] if options.only else ["plain", "content"]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "init", folder], check=True, capture_output=True)
            site = Site(folder)
            declare(folder, family, False)
            site.run("user", "add", "admin", "admin@example.org", "--role", "administrator", "--password-stdin", text="an account password\n")
            site.password = site.run("app-password", "add", "admin", "bench").strip()
            found = {}
            for indexed in (False, True):
                declare(folder, family, indexed)
                begin = time.perf_counter()
                site.start()
                print(f"{family}, indexed {indexed}: started in {time.perf_counter() - begin:.2f} s", flush=True)
                if not indexed:
                    site.peak()
                    taken = load(site, family, options.rows)
                    print(f"import of {options.rows}: {taken:.1f} s, {options.rows / taken:.0f} a second, {site.peak()} MB at most", flush=True)
                for name, routes in queries():
                    found.setdefault(name, []).append(median(site, routes))
                    print(f"  {name}: {found[name][-1]:.1f} ms", flush=True)
                for order in ("-start,title", "title,-start"):
                    first, last, pages = walk(site, order, options.rows // 100 + 1)
                    print(f"  walk by {order}, {pages} pages: {first:.1f} ms at first, {last:.1f} ms at last", flush=True)
                for query in ("", "order_by=-start,title"):
                    lines, size, taken, peak = whole(site, query)
                    print(f"  whole {query}: {lines} lines, {size >> 20} MB in {taken:.1f} s, {lines / taken:.0f} a second, {peak} MB at most", flush=True)
                site.stop()
            print(f"\n| {family} | without index, ms | with, ms |\n| --- | --- | --- |")
            for name, (without, with_index) in found.items():
                print(f"| {name} | {without:.1f} | {with_index:.1f} |")
            print(flush=True)


if __name__ == "__main__":
    main()
