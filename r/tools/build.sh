#!/bin/sh
# Builds the engine as a static library. Where the sources of all crates came along (the package as it is published), it is
# built of these alone: no network, nothing written outside, two jobs.
set -e
PATH="$PATH:$HOME/.cargo/bin"
cd rust
target="${ROSENBLATT_TARGET:-$PWD/target}"
if [ -f vendor.tar.xz ]; then
    [ -d vendor ] || tar -xJf vendor.tar.xz 2>/dev/null ||
        "$R_HOME/bin/R" --vanilla --no-echo -e 'utils::untar("vendor.tar.xz", tar = "internal")'
    CARGO_HOME="$PWD/cargo-home"
    export CARGO_HOME
    mkdir -p "$CARGO_HOME"
    printf '[source.crates-io]\nreplace-with = "vendored"\n\n[source.vendored]\ndirectory = "%s/vendor"\n' "$PWD" \
        >"$CARGO_HOME/config.toml"
    cargo build --lib --release --jobs 2 --offline --locked --target-dir "$target"
else
    cargo build --lib --release --jobs 2 --target-dir "$target"
fi
cp "$target/release/librosenblatt_r.a" ..
if [ -f vendor.tar.xz ]; then
    rm -rf vendor engine cargo-home
    [ -n "$ROSENBLATT_TARGET" ] || rm -rf target
fi
