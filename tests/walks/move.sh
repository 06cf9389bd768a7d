#!/usr/bin/env bash
# The owner of a WordPress moves the site with docs/wordpress.md, in an hour: look, import, compare, switch, and leave again.
# The old site is a server of ours that has the same dump.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
blocks "$root/docs/wordpress.md"
old="" new=""
trap 'status=$?; for server in $server $old $new; do stop; done; rm -rf "$folder"; [ "$status" = 0 ] || echo "the walk stopped: $current"' EXIT
wp() { cms-server --config routes.toml --set site.prefix=wp "$@"; }
# What a GET of the site answers.
answer() { curl -g "$site/wp-json/wp/v2/$1"; }

step "the old site: a type of its own, values of plugins, redirects, a picture in a text"
grep -v '^-- Dump completed' "$root/fixtures/site.sql" >"$folder/dump.sql"
cat >>"$folder/dump.sql" <<'SQL'
INSERT INTO `wp_posts` (ID,post_author,post_type,post_status,post_title,post_name,post_content,post_date,post_date_gmt,post_modified,post_modified_gmt) VALUES
(31,1,'boat','publish','Ida','ida','<img src="https://old.example/wp-content/uploads/2024/01/tree-%C3%A9.png">','2024-02-02 04:00:00','2024-02-02 03:00:00','2024-02-02 04:00:00','2024-02-02 03:00:00'),
(32,1,'post','publish','Tide tables','tide-tables','High water','2024-02-03 04:00:00','2024-02-03 03:00:00','2024-02-03 04:00:00','2024-02-03 03:00:00');
INSERT INTO `wp_postmeta` VALUES (30,31,'length','12'),(31,31,'crew','a:2:{i:0;s:3:"Ada";i:1;s:2:"Bo";}'),(32,32,'_wp_old_slug','tides-of-2023');
INSERT INTO `wp_redirection_items` (id,url,regex,status,action_type,action_code,action_data,match_type,title) VALUES
(1,'/harbour/',0,'enabled','url',301,'https://old.example/2024/02/tide-tables/','url','Moved');
-- Dump completed on 2026-01-02  3:04:05
SQL
sed -i -e 's#https://old.example#https://old.example.org#g; s#Tree é.jpg#tree-é.png#; s#image/jpeg#image/png#' \
  -e "s#'g',0,'attachment'#'https://old.example.org/wp-content/uploads/2024/01/tree-é.png',0,'attachment'#" "$folder/dump.sql"
mkdir -p "$folder/pictures/2024/01"
base64 -d >"$folder/pictures/2024/01/tree-é.png" <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
cd "$folder" && cms-server init old >init.log && cd old
cp ../dump.sql site.sql
cms-server import site.sql --propose . >proposed.log
wp import site.sql --attachments ../pictures >imported.log
start --set site.prefix=wp
old=$server old_site=$site server=
wp --set "site.url=$old_site" import site.sql --attachments ../pictures >imported.log
secret=$(wp app-password add ada moving)
sed -i "s#https://old.example.org#$old_site#g" "$folder"/blocks/*
# It is on this machine, which a server asks nothing by itself.
export CMS_OUTBOUND__NETWORKS='["127.0.0.0/8"]' CMS_OUTBOUND__PORTS="[${old_site##*:}]"

cd "$folder" && cms-server init new >init.log && cd new
cp ../dump.sql site.sql
cp -r ../pictures uploads
# holds HEADING: runs the first commands below it, and finds each line of the output that the document has.
holds() {
  local line
  step "$1: $(block "$1" sh | head -1)"
  eval "$(block "$1" sh)" >"$folder/printed"
  while read -r line; do
    contains "$(<"$folder/printed")" "$line"
  done < <(block "$1" text)
}

play "2. Look at it"
contains "$(<site.toml)" 'base = "boat"'
contains "$(<"$folder/printed")" 'nothing was written'
holds "3. Import"
play "An administrator for an export"
contains "$(wp user list)" anna
step "a second run brings nothing"
contains "$(wp import site.sql --attachments uploads)" '0 addresses in 0 items'
step "the new site is as the old one"
contains "$(wp compare "$old_site" --pause 0)" '0 differences'

step "compare: what somebody has changed at the old site is told"
post() { curl -u "ada:$secret" "$old_site/wp-json/wp/v2/$1" -H 'Content-Type: application/json' -d "$2" >posted; }
post posts/32 '{"title": "Tide tables & moon"}'
post posts '{"title": "Storm", "status": "publish"}'
holds "4. Compare"

step "switch: the addresses of files follow, accounts log in, and old addresses lead to the records"
sed -i "/^\[site\]/a $(block "5. Switch" toml | grep ^url)" site.toml
eval "$(block "5. Switch" sh | head -1)" >switched
contains "$(<switched)" '1 addresses in 1 items lead to the files here'
start
new=$server
contains "$(answer boat/31)" 'https://www.example.org/wp-content/uploads/2024/01/tree-%C3%A9.png'
contains "$(answer boat/31)" '"meta":{"crew":["Ada","Bo"],"length":12}'
is "$(curl -o /dev/null -w '%{http_code}' "$site/wp-content/uploads/2024/01/tree-%C3%A9.png")" 200
contains "$(curl -i "$site/wp-login.php" -d log=ada -d pwd=test12345)" 'et-cookie:'
contains "$(curl -i "$site/harbour/")" 'ocation: https://www.example.org/2024/02/tide-tables/'
contains "$(curl -i "$site/2024/02/tides-of-2023/")" 'ocation: https://www.example.org/2024/02/tide-tables/'

step "leave again: a fresh site takes the export, and gives the same back"
eval "$(block "Leave again" sh)" >exported.log
mkdir ../left && cp -r routes.toml site.toml schemas ../left
cd ../left
wp import ../new/site.xml --attachments ../new/uploads >imported.log
wp export --wxr again.xml >exported.log
# A published record without a slug gets one: the styles of the site have none.
same() { grep -vE '<pubDate>|<wp:post_name><!\[CDATA\[(own-styles)?\]\]>' "$1"; }
diff <(same ../new/site.xml) <(same again.xml) >differences || fail "the sites differ:" "$(<differences)"

step "a site that one cannot dump: it is read, and read again for what has changed"
cd "$folder" && cms-server init live >init.log && cd live
echo "$secret" >secret.txt
live() { wp import "$old_site" --user ada --password-file secret.txt --pause 0 "$@"; }
live --propose . >proposed.log
contains "$(cms-server check --config routes.toml)" sound
contains "$(live --attachments uploads --fetch)" '1 boat publish'
test -s "uploads/2024/01/tree-é.png"
post posts/32 '{"title": "Tides", "content": "Low water"}'
live --attachments uploads --fetch >changed.log
# The guid of a file is its address: REST has no other one for readers.
compared=$(wp compare "$old_site" --pause 0)
contains "$compared" '1 value   /wp/v2/media.guid.rendered'
contains "$compared" '1 differences'
