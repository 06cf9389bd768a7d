# The commands that people use: `just NAME`, with the arguments of what is called. CONTRIBUTING.md says what each does.
# `cargo install just` installs it; every line runs without it, too.

set positional-arguments

list:
    @just --list --unsorted

build *arguments:
    cargo build "$@"

run *arguments:
    cargo run -- --config routes.toml "$@"

test *arguments:
    cargo test "$@"

site *names:
    cargo test --test site -- "$@"

fmt:
    cargo fmt

lint:
    cargo fmt --check
    cargo clippy --all-targets --locked -- -D warnings
    cargo clippy --no-default-features --locked -- -D warnings

licences:
    .ci/run licences

docs:
    UPDATE_EXPECT=1 cargo test --lib the_generated_documents

walks *names: build
    tests/walks/run "$@"

openapi *parts: build
    tests/openapi/run "$@"

mcp: build
    tests/mcp/run

login: build
    tests/login/run

packages: build
    tests/packages/run

varnish: build
    tests/varnish/run

litestream: build
    tests/litestream/run

clients *names:
    tests/clients/run "$@"

console *part:
    tests/console/run "$@"

console-build:
    cd console && npm ci && npm run build

blocks:
    tests/console/blocks/run

postgres *names:
    tests/postgres/run "$@"

plans *arguments: build
    tests/postgres/plans "$@"

cluster *arguments: build
    tests/cluster/run "$@"

s3:
    tests/s3/run

faults *names:
    tests/faults/run "$@"

fuzz minutes *targets:
    fuzz/run "$@"

bench name:
    cargo bench --bench "$1"

ci *lane:
    .ci/run "$@"
