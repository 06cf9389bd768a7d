#!/usr/bin/env bash
# Someone who has cloned the repository follows docs/front-ends.md to a site of Astro with previews, over the demo site.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
blocks "$root/docs/front-ends.md"
command -v npm >/dev/null || {
  "$root/tests/left-out" "there is no npm for the walk of the front end" || exit
  exit 0
}
cd "$folder"
cp -r "$root/routes.toml" "$root/schemas" "$root/fixtures" .
mkdir examples && cp -r "$root/examples/astro" examples
# The address of the document, with a port that is free.
port=$("$root/tests/free-port")
sed -i "s#localhost:4321#localhost:$port#g" blocks/*

# Packages that the test of the example has installed are copied, if the lock is the same; a site that is started goes on
# beside the walk.
front=
trap 'status=$?; [ -z "$front" ] || kill "$front"; stop; rm -rf "$folder"; [ "$status" = 0 ] || echo "the walk stopped: $current"' EXIT
npm() {
  local installed=$root/target/clients/examples/astro/node_modules
  if [ "$1" = ci ] && cmp -s package-lock.json "$installed/installed-lock"; then
    cp -r "$installed" .
  elif [ "$1" = ci ]; then
    command npm ci --silent --no-audit --no-fund --ignore-scripts || {
      "$root/tests/left-out" "npm cannot install the packages of the walk of the front end" || exit
      exit 0
    }
  elif [ "$1" = start ]; then
    HOST=127.0.0.1 PORT=$port node dist/server/entry.mjs >>"$folder/log" 2>&1 &
    front=$!
    command curl -s -o /dev/null --retry 100 --retry-delay 1 --retry-connrefused "http://localhost:$port/"
  else
    ASTRO_TELEMETRY_DISABLED=1 command npm --silent "$@" >>"$folder/log" 2>&1
  fi
}

step "start the server with where the site is read"
block "1. Start the server" toml >site.toml
start
play "2. Build the front end"
cd "$folder"
play "3. Preview a draft" "4. Publish"
