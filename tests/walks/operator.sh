#!/usr/bin/env bash
# An operator installs the server behind a proxy with docs/operating.md, makes backups, upgrades, and lets somebody in again.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$folder"
json='Content-Type: application/json'

step "install: the declarations in a folder of their own, the data in another one"
cms-server init etc >init.log
mkdir data && cd etc
cat >site.toml <<'TOML'
[server]
trusted_proxies = ["127.0.0.1/32"]

[site]
url = "https://www.example.org"
demo = false

[storage]
url = "sqlite:../data/site.db"
TOML
contains "$(cms-server check --config routes.toml)" sound
start --set server.admin_listen=127.0.0.1:0
first=$(sed -n 's/.*administrator is `admin` with the password \([A-Za-z0-9]*\).*/\1/p' "$folder/log")
[ -n "$first" ] || fail "no password was printed" "$(cat "$folder/log")"
is "$(stat -c %a ../data/site.db)" 600

step "accounts, beside the running server"
echo 'the password of zoe' | cms-server --config routes.toml user add zoe zoe@example.org --role editor --password-stdin
contains "$(cms-server --config routes.toml user list)" zoe
secret=$(cms-server --config routes.toml app-password add zoe laptop)
contains "$(cms-server --config routes.toml app-password list zoe)" laptop

step "an application password needs HTTPS here, and the log says so"
contains "$(curl -i -u "zoe:$secret" "$site/cms-json/cms/v2/users/me")" 401
if command -v nginx >/dev/null && command -v openssl >/dev/null; then
  step "docs/deploy/nginx.conf in front of it"
  mkdir "$folder/proxy" && proxy=18443
  openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=www.example.org -addext subjectAltName=DNS:www.example.org \
    -keyout "$folder/proxy/privkey.pem" -out "$folder/proxy/fullchain.pem" 2>/dev/null
  {
    echo "pid $folder/proxy/pid; error_log $folder/proxy/error.log; daemon on; events {}"
    echo "http { access_log off; client_body_temp_path $folder/proxy/body; proxy_temp_path $folder/proxy/temp;"
    echo "fastcgi_temp_path $folder/proxy/f; uwsgi_temp_path $folder/proxy/u; scgi_temp_path $folder/proxy/s;"
    sed -e "s#/etc/letsencrypt/live/www.example.org#$folder/proxy#; s#http://127.0.0.1:8080#$site#" \
      -e "s/listen 80;/listen 127.0.0.1:18480;/; s/listen 443/listen 127.0.0.1:$proxy/" "$root/docs/deploy/nginx.conf"
    echo "}"
  } >"$folder/proxy/nginx.conf"
  nginx -p "$folder/proxy" -c "$folder/proxy/nginx.conf"
  proxied() { curl --cacert "$folder/proxy/fullchain.pem" --connect-to "www.example.org:443:127.0.0.1:$proxy" "$@"; }
  contains "$(proxied -u "zoe:$secret" https://www.example.org/cms-json/cms/v2/users/me)" '"name":"zoe"'
  made=$(proxied -i -u "zoe:$secret" https://www.example.org/cms-json/cms/v2/posts -H "$json" -d '{"title": {"raw": "By proxy"}, "status": "publish"}')
  contains "$made" '"link":"https://www.example.org/'
  # Events come through as they are sent.
  hears() {
    for _ in $(seq 100); do ! grep -q "$1" "$folder/events" || return 0; sleep 0.1; done
    fail "the stream has no $1" "$(cat "$folder/events")"
  }
  proxied -N --max-time 60 -H 'Accept: text/event-stream' \
    'https://www.example.org/cms-json/server/v1/events?resources=posts' >"$folder/events" 2>/dev/null || true &
  hears '^id: '
  proxied -u "zoe:$secret" https://www.example.org/cms-json/cms/v2/posts -H "$json" -d '{"title": "Heard", "status": "publish"}' >made.log
  hears '"slug":"heard"'
  head -c 5000000 /dev/zero >"$folder/large"
  contains "$(proxied -u "zoe:$secret" https://www.example.org/cms-json/cms/v2/media -F "file=@$folder/large;filename=large.txt;type=text/plain")" '"status":'
  kill "$(cat "$folder/proxy/pid")"

  step "below a path of the host: a proxy that passes it on, and one that takes it away"
  port=$((20000 + RANDOM % 12000))
  "$program" --config routes.toml --set storage.url=sqlite:../data/below.db --set server.listen=127.0.0.1:$port \
    --set site.url=https://www.example.org/blog 2>"$folder/below.log" &
  below=$!
  for _ in $(seq 300); do ! grep -q '^ready in' "$folder/below.log" || break; sleep 0.1; done
  for target in "http://127.0.0.1:$port" "http://127.0.0.1:$port/"; do
    sed -e "s#location / {#location / { return 404; } location /blog/ {#; s#proxy_pass .*;#proxy_pass $target;#" "$folder/proxy/nginx.conf" >"$folder/proxy/below.conf"
    nginx -p "$folder/proxy" -c "$folder/proxy/below.conf"
    contains "$(proxied https://www.example.org/blog/login)" 'action="/blog/login"'
    is "$(proxied -o /dev/null -w '%{http_code}' https://www.example.org/blog/assets/style.css)" 200
    contains "$(proxied -i https://www.example.org/blog/admin)" 'ocation: /blog/login?redirect='
    contains "$(proxied https://www.example.org/blog/cms-json/)" '"url":"https://www.example.org/blog"'
    # What is beside the path is not asked of the server.
    is "$(proxied -o /dev/null -w '%{http_code}' https://www.example.org/login)" 404
    kill "$(cat "$folder/proxy/pid")"
    while [ -e "$folder/proxy/pid" ]; do sleep 0.05; done
  done
  kill $below && wait $below
else
  "$root/tests/left-out" "nginx or openssl is not installed: the proxy of the operator's walk"
fi

step "a forgotten password"
echo 'a new password of zoe' | cms-server --config routes.toml user passwd zoe
contains "$(cms-server --config routes.toml audit --last 5)" 'command line'
cms-server --config routes.toml app-password revoke zoe laptop
refused grep laptop <<<"$(cms-server --config routes.toml app-password list zoe)"

step "a backup while the server runs, checked"
contains "$(cms-server --config routes.toml backup ../site-backup.db)" whole
refused cms-server --config routes.toml backup ../site-backup.db
contains "$(cms-server --config routes.toml check --data)" whole
contains "$(cms-server --config routes.toml status)" users

step "a backup with files, and a rehearsal"
contains "$(cms-server --config routes.toml backup --with-files ../backups)" 'the database ('
contains "$(cms-server --config routes.toml restore --verify ../backups/*Z)" 'Nothing was changed'

step "restore is refused while the server runs, and rehearsed into another file"
refused cms-server --config routes.toml restore ../site-backup.db
contains "$said" 'stop the server first'
contains "$(cms-server --config routes.toml --set "storage.url=sqlite:$folder/try.db" restore ../site-backup.db)" restored

step "after a disaster"
stop
head -c 100000 /dev/urandom >../data/site.db
rm -f ../data/site.db-wal ../data/site.db-shm
refused cms-server --config routes.toml check --data
contains "$(cms-server --config routes.toml restore ../site-backup.db)" 'The old database is'
start
contains "$(cms-server --config routes.toml user list)" zoe

step "upgrade: the shipped declarations are replaced, one's own files stay"
stop
cms-server --config routes.toml backup ../before-upgrade.db
cd .. && cp -r etc etc-new
contains "$(cms-server init --upgrade etc-new)" schemas.before-1
cd etc-new
contains "$(cms-server check --config routes.toml --data)" whole
start
contains "$(command curl -sS -H 'Accept: application/json' "$site/")" '"software":"cms-server"'
