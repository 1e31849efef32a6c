#!/bin/sh
# Installs the released program `rosenblatt` for Linux or macOS: the program, its manual pages and its completions.
#
#   curl -fsSL @REPOSITORY@/releases/latest/download/install.sh | sh
#   sh install.sh [--to DIR] [--version VERSION] [--gpu] [--uninstall]
#
# --to DIR           put the program into DIR (default: ~/.local/bin); pages and completions go into share beside it
# --version VERSION  install this version
# --gpu              Linux with glibc 2.17 or later: the program that can use an NVIDIA GPU
# --uninstall        remove what this script installed
#
# ROSENBLATT_DOWNLOAD names another place for the archives and SHA256SUMS: a folder, or an address
# that begins with https://, file:// or http://127.0.0.1.
#
# The script checks the archive against SHA256SUMS and runs the program once before it replaces anything.
# Nothing changes unless all of it succeeds.
set -eu

version='@VERSION@'
releases='@REPOSITORY@/releases/download'

say() { printf '%s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# The archive for this machine.
find_target() {
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no released program for the processor $machine; build one: cargo install rosenblatt-cli" ;;
    esac
    system=$(uname -s)
    case $system in
    Linux)
        library=musl
        if [ "$gpu" = yes ]; then
            # A program for glibc does not start where the system has musl.
            case $(ldd --version 2>&1 || true) in
            *musl*) fail "this system has musl, and the program for GPUs needs glibc; install without --gpu" ;;
            esac
            library=gnu
        fi
        target=$machine-unknown-linux-$library
        ;;
    Darwin)
        [ "$gpu" = no ] || fail "--gpu is for NVIDIA GPUs on Linux"
        # Under Rosetta an Apple processor calls itself x86_64.
        if [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then machine=aarch64; fi
        target=$machine-apple-darwin
        ;;
    MINGW* | MSYS* | CYGWIN*) fail "on Windows, use install.ps1" ;;
    *) fail "there is no released program for $system; build one: cargo install rosenblatt-cli" ;;
    esac
}

# fetch NAME: from the download's address into the temporary folder.
fetch() {
    case $from in
    https://*) protocol='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]*) protocol='=http' ;;
    http://*) fail "$from is not encrypted; use https://" ;;
    file://*)
        cp "${from#file://}/$1" "$temporary/$1" 2>/dev/null || fail "${from#file://}/$1 cannot be read"
        return
        ;;
    *)
        cp "$from/$1" "$temporary/$1" 2>/dev/null || fail "$from/$1 cannot be read"
        return
        ;;
    esac
    if command -v curl >/dev/null 2>&1; then
        curl -fsSL --proto "$protocol" --retry 3 -o "$temporary/$1" "$from/$1" || fail "the download failed: $from/$1"
    elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$temporary/$1" "$from/$1" || fail "the download failed: $from/$1"
    else
        fail "neither curl nor wget is installed"
    fi
}

sha256() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 <"$1"
    elif command -v openssl >/dev/null 2>&1; then
        openssl dgst -sha256 -r <"$1"
    else
        fail "no program computes SHA-256 here; install sha256sum, shasum or openssl"
    fi | cut -d ' ' -f 1
}

# A name for a file that is complete but not yet in place, in the same folder, so that a rename puts it there.
waiting() { printf '%s/.%s.rosenblatt-%s' "$(dirname "$1")" "$(basename "$1")" "$$"; }

clean_up() {
    if [ -f "$temporary/places" ]; then
        while IFS= read -r place; do rm -f "$(waiting "$place")"; done <"$temporary/places"
    fi
    rm -rf "$temporary"
}

# place SOURCE DESTINATION: copies it beside its place.
place() {
    [ -f "$1" ] || return 0
    [ ! -d "$2" ] || fail "$2 is a folder"
    mkdir -p "$(dirname "$2")" || fail "$(dirname "$2") cannot be made; choose another folder with --to"
    say "$2" >>"$temporary/places"
    cp "$1" "$(waiting "$2")" || fail "$2 cannot be written; choose another folder with --to"
}

uninstall() {
    [ -f "$list" ] || fail "$list is missing, so this script installed nothing in $to"
    while IFS= read -r place; do
        rm -f "$place" || fail "$place cannot be removed"
        say "removed $place"
    done <"$list"
    rm -f "$list"
    rmdir "$share/rosenblatt" 2>/dev/null || true
}

install() {
    case $version in
    @*) fail "this script is a template; name a version with --version and a place with ROSENBLATT_DOWNLOAD" ;;
    esac
    from=${ROSENBLATT_DOWNLOAD:-$releases/v$version}
    from=${from%/}
    find_target
    name=rosenblatt-$version-$target
    temporary=$(mktemp -d) || fail "there is no room for temporary files"
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM

    say "downloading $name.tar.gz from $from"
    fetch SHA256SUMS
    expected=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$temporary/SHA256SUMS")
    [ "${#expected}" = 64 ] || fail "SHA256SUMS has no sum for $name.tar.gz"
    fetch "$name.tar.gz"
    found=$(sha256 "$temporary/$name.tar.gz")
    # Why there is none has been printed already.
    [ -n "$found" ] || exit 1
    [ "$found" = "$expected" ] || fail "$name.tar.gz is damaged or was changed: its SHA-256 is $found, expected $expected"
    tar -xzf "$temporary/$name.tar.gz" -C "$temporary" || fail "$name.tar.gz cannot be unpacked"
    unpacked=$temporary/$name
    [ -f "$unpacked/rosenblatt" ] || fail "$name.tar.gz holds no program"

    place "$unpacked/rosenblatt" "$to/rosenblatt"
    for page in "$unpacked"/man/*.1; do place "$page" "$share/man/man1/${page##*/}"; done
    place "$unpacked/completions/rosenblatt.bash" "$share/bash-completion/completions/rosenblatt"
    place "$unpacked/completions/_rosenblatt" "$share/zsh/site-functions/_rosenblatt"
    place "$unpacked/completions/rosenblatt.fish" "$share/fish/vendor_completions.d/rosenblatt.fish"
    cp "$temporary/places" "$temporary/list"
    place "$temporary/list" "$list"

    program=$(waiting "$to/rosenblatt")
    chmod 755 "$program"
    answer=$("$program" --version 2>&1) || fail "the program does not run here: $answer"
    [ "$answer" = "rosenblatt $version" ] || fail "expected rosenblatt $version, but the program calls itself $answer"

    # All files are on their disks: from here on there are renames only, and no signal stops halfway.
    trap '' HUP INT TERM
    if [ -f "$list" ]; then cp "$list" "$temporary/before"; else : >"$temporary/before"; fi
    while IFS= read -r place; do mv -f "$(waiting "$place")" "$place"; done <"$temporary/places"
    # What an older version had and this one has not.
    while IFS= read -r place; do
        grep -qxF "$place" "$temporary/places" || rm -f "$place"
    done <"$temporary/before"
    say "installed rosenblatt $version as $to/rosenblatt; manual pages and completions are in $share"
    case :$PATH: in
    *":$to:"*) ;;
    *) say "to find it, add this line to your shell's profile:  export PATH=\"$to:\$PATH\"" ;;
    esac
    first=$(command -v rosenblatt 2>/dev/null || true)
    case $first in
    '' | "$to/rosenblatt") ;;
    *) say "note: $first comes first on your PATH" ;;
    esac
    say "try it:  rosenblatt demo"
}

main() {
    to='' gpu=no action=install
    while [ $# -gt 0 ]; do
        case $1 in
        --to | --version)
            [ $# -ge 2 ] || fail "$1 needs a value"
            if [ "$1" = --to ]; then to=$2; else version=${2#v}; fi
            shift
            ;;
        --gpu) gpu=yes ;;
        --uninstall) action=uninstall ;;
        *) fail "unknown option $1; there are --to DIR, --version VERSION, --gpu and --uninstall" ;;
        esac
        shift
    done
    if [ -z "$to" ]; then
        [ -n "${HOME:-}" ] || fail "HOME is not set; name a folder with --to"
        to=$HOME/.local/bin
    fi
    case $to in
    /*) ;;
    *) to=$PWD/$to ;;
    esac
    to=${to%/}
    share=$to/share
    [ "${to##*/}" != bin ] || share=${to%/bin}/share
    list=$share/rosenblatt/installed
    $action
}

# The last line, so that half a script does nothing.
main "$@"
