#!/bin/sh
# Installs Deskline @VERSION@ for this user, without root:
#
#   sh install.sh [--prefix DIR]     DIR/bin, DIR/libexec, DIR/share [default: ~/.local]
#
# Takes the archive beside this script, or downloads it; either must have the checksum written below.
set -eu

version=@VERSION@
download=${DESKLINE_DOWNLOAD:-@REPOSITORY@/releases/download/v$version}
checksums='@CHECKSUMS@'

die() { echo "install.sh: $*" >&2; exit 1; }

sum() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

platform() {
    case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "there is no package for $(uname -s)" ;;
    esac
    case $(uname -m) in
    x86_64 | amd64) echo $os-x64 ;;
    aarch64 | arm64) echo $os-arm64 ;;
    *) die "there is no package for $(uname -m)" ;;
    esac
}

main() {
    prefix=$HOME/.local
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix) [ $# -ge 2 ] || die "--prefix needs a folder"; prefix=$2; shift 2 ;;
        --prefix=*) prefix=${1#*=}; shift ;;
        *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
        esac
    done
    name=deskline-$version-$(platform)
    wanted=$(echo "$checksums" | sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p")
    [ -n "$wanted" ] || die "this release has no $name"

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    archive=$work/$name.tar.gz
    here=$(dirname "$0")/$name.tar.gz
    if [ -f "$here" ]; then
        cp "$here" "$archive"
    elif command -v curl >/dev/null; then
        curl --fail --location --silent --show-error --max-time 600 --output "$archive" "$download/$name.tar.gz"
    elif command -v wget >/dev/null; then
        wget --quiet --timeout 600 --output-document "$archive" "$download/$name.tar.gz"
    else
        die "curl or wget is needed to download $download/$name.tar.gz"
    fi
    got=$(sum "$archive")
    [ "$got" = "$wanted" ] || die "the checksum of $name.tar.gz is $got, not $wanted. Nothing was installed"

    tar -xzf "$archive" -C "$work"
    mkdir -p "$prefix/bin" "$prefix/share"
    # Not overwritten in place: the old program may be running.
    cp "$work/$name/bin/deskline" "$prefix/bin/.deskline.new"
    mv "$prefix/bin/.deskline.new" "$prefix/bin/deskline"
    mkdir -p "$prefix/libexec"
    if [ -d "$work/$name/libexec/Deskline.app" ]; then
        rm -rf "$prefix/libexec/Deskline.app"
        cp -R "$work/$name/libexec/Deskline.app" "$prefix/libexec/"
    else
        cp "$work/$name/libexec/deskline-grab" "$prefix/libexec/.deskline-grab.new"
        mv "$prefix/libexec/.deskline-grab.new" "$prefix/libexec/deskline-grab"
    fi
    cp -R "$work/$name/share/." "$prefix/share/"
    echo "Installed $prefix/bin/deskline, $("$prefix/bin/deskline" --version)."
    case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "$prefix/bin is not in PATH: call it by its path, or add the folder." ;;
    esac
    # macOS has no private desktop.
    options=" -- --desktop private"
    [ "$(uname -s)" != Darwin ] || options=
    echo "Next: deskline doctor, then deskline install claude-code$options (or another client)."
}

# A function, so that a download of this script that breaks off runs nothing.
main "$@"
