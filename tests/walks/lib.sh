# What the walks share: a folder of their own, a server on a free port, and the blocks of a document.
#
# A walk is a person's way through the program with the documents alone. It prints its steps and stops at the first that
# does not do what the document says.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/target/debug/cms-server
folder=$(mktemp -d)
server=
trap 'status=$?; stop; rm -rf "$folder"; [ "$status" = 0 ] || echo "the walk stopped: $current"' EXIT
current=

# The program under the name that the documents use. Hashing is as cheap as it gets.
cms-server() { CMS_SITE__BCRYPT_COST=4 "$program" "$@"; }
cms() { cms-server "$@"; }
# Each response is a line.
curl() { command curl -sS "$@" && echo; }

step() {
  current=$1
  echo "  $1"
}

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# contains TEXT PART
contains() { [[ $1 == *"$2"* ]] || fail "expected: $2" "got: $1"; }
# is TEXT EXPECTED
is() { [[ $1 == "$2" ]] || fail "expected: $2" "got: $1"; }
# refused COMMAND…: it fails; what it said is in `said`.
refused() {
  if said=$("$@" 2>&1); then fail "this should fail: $*" "$said"; fi
}

# Starts the server in the present folder, with these arguments: its address is `site`.
start() {
  local port
  port=$("$root/tests/free-port")
  site=http://127.0.0.1:$port
  : >"$folder/log"
  CMS_SITE__BCRYPT_COST=4 "$program" --config routes.toml --set server.listen=127.0.0.1:$port "$@" 2>"$folder/log" &
  server=$!
  for _ in $(seq 300); do
    if grep -q '^ready in' "$folder/log"; then return 0; fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  stop
  if grep -q 'in use' "$folder/log"; then start "$@" && return; fi
  fail "the server does not start:" "$(cat "$folder/log")"
}

# Ends the server as a supervisor does.
stop() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  server=
}

# Splits a document into its blocks: `NUMBER.LANGUAGE` in `folder/blocks`, the heading above each in `NUMBER.heading`.
blocks() {
  rm -rf "$folder/blocks" && mkdir "$folder/blocks"
  awk -v out="$folder/blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```/ {
      number = sprintf("%s/%03d", out, ++n)
      file = number (length($0) > 3 ? "." substr($0, 4) : ".text")
      printf "" >file
      print heading >(number ".heading"); close(number ".heading")
      inside = 1; next
    }
    inside { print >file; next }
    /^#/ { heading = $0; sub(/^#+ */, "", heading) }
  ' "$1"
}

# block HEADING LANGUAGE: the first block of a language below a heading.
block() {
  local at
  for at in "$folder"/blocks/*."$2"; do
    if [ "$(cat "${at%.*}.heading")" = "$1" ]; then
      cat "$at"
      return
    fi
  done
  fail "there is no block of $2 below: $1"
}

# Text as it is compared: without line ends and indentation, on the port of the documents, next year where they say 2027.
plain() { sed -e "s#${site:-none}#http://127.0.0.1:8080#g" -e 's/^ *//; s/ *$//' | tr -d '\n\r'; }
# A document's text as of today.
today() { sed -e "s/2027-/$(($(date +%Y) + 1))-/g" -e "s#/2026/11/#/$(date +%Y/%m)/#g"; }

# Plays the commands below the headings of a document, in this shell, and compares what they print with the block that
# follows, where `…` may be anything. What builds or starts the program is the walk's own business.
play() {
  local heading at next out expected pattern
  for heading in "$@"; do
    for at in "$folder"/blocks/*.sh; do
      [ "$(cat "${at%.*}.heading")" = "$heading" ] || continue
      if grep -qE '^(cargo |alias |(cms|cms-server) --config routes.toml$)' "$at"; then continue; fi
      step "$heading: $(grep -v '^$' "$at" | head -1)"
      sed -e "s#http://127.0.0.1:8080#$site#g" -e "s#${literal:-none}#${secret:-none}#g" "$at" | today >"$folder/commands"
      # shellcheck disable=SC1091
      . "$folder/commands" >"$folder/printed"
      next=$(printf '%s/%03d' "$(dirname "$at")" $((10#$(basename "${at%.*}") + 1)))
      for expected in "$next.json" "$next.text"; do
        [ -f "$expected" ] && [ "$(cat "${expected%.*}.heading")" = "$heading" ] || continue
        # A secret is another one each time; later commands use it.
        if grep -q 'app-password add' "$at"; then
          literal=$(cat "$expected") secret=$(cat "$folder/printed")
          continue
        fi
        # Headers come in any order.
        if [ "$expected" = "$next.text" ]; then sort -o "$expected" "$expected" && sort -o "$folder/printed" "$folder/printed"; fi
        pattern=$(today <"$expected" | plain | sed -e 's/[][\\*?]/\\&/g' -e 's/…/*/g')
        out=$(plain <"$folder/printed")
        # shellcheck disable=SC2053
        [[ $out == $pattern ]] || fail "the document says: $(today <"$expected" | plain)" "the program says: $out"
      done
    done
  done
}
