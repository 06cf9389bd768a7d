#!/usr/bin/env bash
# A front-end developer declares events and venues with docs/content-types.md, then more with what its second half says.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
blocks "$root/docs/content-types.md"
cd "$folder"

step "write the files of the document"
cms-server init agenda >init.log
cd agenda
block "2. The schema of a venue" json >schemas/venue.json
block "3. The schema of an event" json >schemas/event.json
block "4. Namespace, role, state and resources" toml >site.toml
is "$(cms-server check --config routes.toml)" "$(block "5. Check and start" text)"
start
play "6. Use it"

step "a limit, an origin and a role for the web team, from docs/configuration.md"
stop
cat >>site.toml <<'TOML'

[cors]
origins = ["https://agenda.example.org"]

[limits.venues]
callers = "authenticated"
methods = ["POST"]
resources = ["venues"]
burst = 2
per_minute = 1

[roles.reader]
name = "Reader"
capabilities = ["read"]
TOML
step "books beside the events: a nested object, a list of choices, a unique ISBN"
cms-server --config routes.toml new resource books --like plain >"$folder/new.log"
contains "$(cat site.toml)" '[resources.books]'
cat >schemas/books.json <<'JSON'
{
  "$ref": "plain.json",
  "title": "book",
  "properties": {
    "title": { "description": "Title.", "type": "string", "maxLength": 200, "x-create-arg": { "required": true }, "x-write": "text_field" },
    "isbn": { "description": "ISBN.", "type": "string", "pattern": "^[0-9]{13}$", "x-unique": true },
    "formats": { "description": "Formats.", "type": "array", "uniqueItems": true, "items": { "type": "string", "enum": ["paper", "audio", "epub"] } },
    "size": {
      "description": "Size in millimetres.", "type": "object", "additionalProperties": false,
      "properties": { "width": { "type": "integer", "minimum": 1 }, "height": { "type": "integer", "minimum": 1 } }
    },
    "event": { "description": "The event that presents it.", "type": "integer", "x-relation": { "to": "events", "on_delete": "restrict" } }
  }
}
JSON
cat >>site.toml <<'TOML'
format = { description = "Only books in this format.", type = "string", x-filter = { column = "formats", op = "eq" } }
TOML
contains "$(cms-server check --config routes.toml)" "sound"
start
api=$site/cms-json/agenda/v1 books=$site/cms-json/cms/v2/books json='Content-Type: application/json'
admin="ada:$(echo 'another good password' | cms-server --config routes.toml user add ada ada@example.org --role administrator --password-stdin >&2 && cms-server --config routes.toml app-password add ada desk)"

book='{"title": "Tides", "isbn": "9780306406157", "formats": ["paper", "audio"], "size": {"width": 120, "height": 190}, "event": 1}'
made=$(curl -u "$admin" "$books" -H "$json" -d "$book")
contains "$made" '"size":{"width":120,"height":190}'
contains "$(curl -u "$admin" "$books" -H "$json" -d "$book")" '"status":409'
contains "$(curl -u "$admin" "$books" -H "$json" -d '{"title": "x", "isbn": "12"}')" 'isbn'
contains "$(curl -u "$admin" "$books" -H "$json" -d '{"title": "x", "formats": ["vinyl"]}')" 'formats[0] is not one of'
contains "$(curl -u "$admin" "$books" -H "$json" -d '{"title": "x", "size": {"width": 0}}')" 'size[width]'
is "$(curl "$books?format=audio&_fields=title")" '[{"title":"Tides"}]'
is "$(curl "$books?format=epub&_fields=title")" '[]'
contains "$(curl -X OPTIONS "$books")" '"uniqueItems":true'

step "what is sent back as it was read changes nothing"
id=$(sed 's/.*"id":\([0-9]*\).*/\1/' <<<"$made")
read_once=$(curl -u "$admin" "$books/$id?context=edit")
is "$(curl -u "$admin" -X PUT "$books/$id?context=edit" -H "$json" -d "$read_once")" "$read_once"

step "the event is not deleted as long as a book refers to it"
contains "$(curl -u "$admin" -X DELETE "$api/events/1?force=true")" '"status":409'

step "upcoming events, and those that are over"
is "$(curl -u "$admin" "$api/events" -H "$json" -d '{"title": "Past", "starts": "2001-01-01T10:00:00", "status": "publish"}' | grep -c '"id"')" 1
is "$(curl "$api/events?upcoming=false&_fields=title")" '[{"title":"Past"}]'
contains "$(curl "$api/events?upcoming=true&_fields=title")" 'Jazz night'

step "a reader may not write, and the answer says what is missing"
reader="rob:$(echo 'a third good password' | cms-server --config routes.toml user add rob rob@example.org --role reader --password-stdin >&2 && cms-server --config routes.toml app-password add rob desk)"
contains "$(curl -u "$reader" "$api/events" -H "$json" -d '{"title": "x", "starts": "2027-05-01T18:00:00"}')" 'edit_events'

step "the web front end's origin is let in, another one is not"
contains "$(curl -i "$api/venues" -H 'Origin: https://agenda.example.org')" 'access-control-allow-credentials: true'
refused grep -q 'allow-credentials' <<<"$(curl -i "$api/venues" -H 'Origin: https://elsewhere.example')"

step "the third venue within a minute is one too many"
for name in A B; do contains "$(curl -u "$admin" "$api/venues" -H "$json" -d "{\"name\": \"$name\"}")" '"id"'; done
contains "$(curl -i -u "$admin" "$api/venues" -H "$json" -d '{"name": "C"}')" 'retry-after'

step "rename a property, then remove one"
stop
sed -i 's/"isbn": { "description"/"code": { "x-was": "isbn", "description"/' schemas/books.json
contains "$(cms-server --config routes.toml migrate --dry-run)" 'rename the column `isbn` to `code`'
contains "$(cms-server --config routes.toml migrate)" 'rename the column'
sed -i '/"formats":/d' schemas/books.json
sed -i '/^format = /d' site.toml
refused cms-server --config routes.toml migrate
contains "$(cms-server --config routes.toml migrate --dry-run 2>/dev/null || true)" 'cms-server migrate --drop books.formats'
contains "$(cms-server --config routes.toml migrate --drop books.formats)" 'remove the column `formats`'
start
contains "$(curl "$site/cms-json/cms/v2/books/$id")" '"code":"9780306406157"'
