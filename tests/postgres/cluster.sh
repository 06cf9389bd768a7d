# A private PostgreSQL cluster in a temporary folder, on a free port. It ends with the shell that reads this file.
# CMS_TEST_POSTGRES names a database on it, CMS_TEST_POSTGRES_CONTROL is a program that takes the arguments of pg_ctl.

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql postgresql-client >/dev/null
fi
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
bin=${bin:-$(dirname "$(command -v initdb)")}
export PATH=$bin:$PATH

folder=$(mktemp -d)
port=$("$(dirname "${BASH_SOURCE[0]}")/../free-port")
# A server refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$folder"
  as=(runuser -u postgres --)
fi
export CMS_TEST_POSTGRES_CONTROL=$folder/control
cat >"$CMS_TEST_POSTGRES_CONTROL" <<END
#!/bin/sh
cd "$folder" && exec ${as[*]} "$bin/pg_ctl" -D "$folder/data" -s "\$@"
END
chmod 755 "$CMS_TEST_POSTGRES_CONTROL"
trap '"$CMS_TEST_POSTGRES_CONTROL" -m immediate stop 2>/dev/null || true; rm -rf "$folder"' EXIT
(cd "$folder" && "${as[@]}" "$bin/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 >/dev/null)
# Nothing here outlives the tests, so nothing has to reach the disk; what a killed server has written is there without it.
cat >>"$folder/data/postgresql.conf" <<END
port = $port
unix_socket_directories = '$folder'
listen_addresses = '127.0.0.1'
max_connections = 400
fsync = off
ssl = on
ssl_cert_file = 'server.pem'
ssl_key_file = 'server.key'
END
tls=$(dirname "${BASH_SOURCE[0]}")/../../fixtures/tls
for end in pem key; do
  cp "$tls/server1.$end" "$folder/data/server.$end"
  [ "$(id -u)" != 0 ] || chown postgres "$folder/data/server.$end"
  chmod 600 "$folder/data/server.$end"
done
# Users whom a server treats in other ways: one has a password, one has to encrypt.
cat - "$folder/data/pg_hba.conf" >"$folder/hba" <<END
host all guarded 127.0.0.1/32 scram-sha-256
hostnossl all encrypted 127.0.0.1/32 reject
END
cat "$folder/hba" >"$folder/data/pg_hba.conf"
"$CMS_TEST_POSTGRES_CONTROL" -l "$folder/log" -w start
base="postgres://postgres@127.0.0.1:$port"
psql -q "$base/postgres" -c "CREATE DATABASE tests"
psql -q "$base/tests" -c "CREATE EXTENSION pg_trgm"
psql -q "$base/postgres" -c "CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE encrypted LOGIN; CREATE ROLE limited LOGIN"
export CMS_TEST_POSTGRES="$base/tests?sslmode=disable"
