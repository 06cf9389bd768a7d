#!/usr/bin/env bash
# Someone who has just cloned the repository follows docs/getting-started.md, over the demo site.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
blocks "$root/docs/getting-started.md"
cd "$folder"
cp -r "$root/routes.toml" "$root/schemas" "$root/fixtures" .

step "start over nothing"
start
contains "$(cat log)" 'This is a new database. Its administrator is `admin` with the password'
base64 -d >photo.png <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
play "3. Read" "4. Create an application password" "5. Write" "6. Upload a picture" "7. Undo"
