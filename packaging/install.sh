#!/bin/sh
# Installs the program of a release: install.sh [VERSION]. It goes to PREFIX/bin (default: ~/.local), after its checksum was
# compared. CMS_SERVER_RELEASES is the address of the releases, whose default the release writes below.
set -eu

releases=${CMS_SERVER_RELEASES:-@RELEASES@}
version=${1:-@VERSION@}
prefix=${PREFIX:-$HOME/.local}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) target=x86_64-unknown-linux-musl ;;
  Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  *) fail "there is no program for $(uname -s) on $(uname -m); it can be built from its source" ;;
esac
if command -v sha256sum >/dev/null; then
  check="sha256sum -c"
elif command -v shasum >/dev/null; then
  check="shasum -a 256 -c"
else
  fail "neither sha256sum nor shasum is here, so the checksum cannot be compared"
fi

name=cms-server-v$version-$target
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for file in "$name.tar.gz" SHA256SUMS; do
  from=$releases/v$version/$file
  curl -fsSL --retry 3 --max-time 300 -o "$folder/$file" "$from" || fail "$from cannot be had"
done
(
  cd "$folder"
  # One line, of this file: none would compare nothing.
  grep " [ *]\{0,1\}$name.tar.gz\$" SHA256SUMS >own || fail "SHA256SUMS does not name $name.tar.gz"
  $check own >/dev/null || fail "$name.tar.gz is not what the release has published"
  tar -xzf "$name.tar.gz"
)
mkdir -p "$prefix/bin"
# Moved, not copied: a server that runs keeps its program.
cp "$folder/$name/cms-server" "$prefix/bin/cms-server.new"
mv -f "$prefix/bin/cms-server.new" "$prefix/bin/cms-server"
echo "$prefix/bin/cms-server: $("$prefix/bin/cms-server" --version)"
case ":$PATH:" in
  *":$prefix/bin:"*) echo "next: cms-server, in an empty folder" ;;
  *) echo "next: $prefix/bin/cms-server, in an empty folder ($prefix/bin is not in PATH)" ;;
esac
