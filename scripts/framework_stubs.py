#!/usr/bin/env python3
"""Write text stubs (.tbd) of the macOS frameworks, for linking without Apple's SDK.

Usage: framework_stubs.py OUT CRATE_DIR...

A stub has exactly the symbols that a crate with bindings to the framework declares: a program that calls
anything else does not link. The crates are bindings generated from Apple's headers (objc2-*), or used by
programs on Macs. This workspace's own declarations are left out, as linking is to check them.
"""

import os
import re
import sys

# Symbols declared in this workspace from Apple's headers; no independent crate declares them.
SOURCES = "HIToolbox/TextInputSources.h"
BY_HEADER = {
    "Carbon": {
        "IsSecureEventInputEnabled": "HIToolbox/CarbonEventsCore.h",
        "TISCreateInputSourceList": SOURCES,
        "TISSelectInputSource": SOURCES,
        "kTISPropertyInputSourceID": SOURCES,
        "kTISPropertyInputSourceType": SOURCES,
        "kTISPropertyLocalizedName": SOURCES,
        "kTISTypeKeyboardLayout": SOURCES,
    }
}

# The libraries of libSystem: their stub comes with its own list of symbols.
SYSTEM = {"System", "c", "m", "dispatch", "pthread"}

# Functions that compiled Objective-C calls; no crate declares them.
RUNTIME = {"__objc_personality_v0", "OBJC_EHTYPE_id", "_objc_empty_cache"}

TARGETS = "[ arm64-macos, arm64e-macos, x86_64-macos ]"

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
LINK = re.compile(r'link\(\s*name\s*=\s*"([^"]+)"\s*(?:,\s*kind\s*=\s*"([^"]+)")?')
BLOCK = re.compile(r'(?:unsafe\s+)?extern\s+"C(?:-unwind)?"\s*\{|extern_c(?:_unwind)?!\s*\{')
NAME = re.compile(r"\b(?:fn|static(?:\s+mut)?)\s+([A-Za-z_]\w*)\s*[(<:]")
RENAMED = re.compile(r'link_name\s*=\s*"([^"]+)"')
ATTRIBUTES = re.compile(r"(?:#\[(?:[^\[\]]|\[[^\]]*\])*\]\s*)*\Z")


def block_end(source, start):
    depth, at = 1, start
    while depth and at < len(source):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return at


def declarations(crate):
    """The libraries that a crate links, and (libraries, symbols) of each extern block. A block
    without a link attribute belongs to the libraries that are named on empty blocks."""
    whole, blocks = set(), []
    for folder, _, files in os.walk(os.path.join(crate, "src")):
        for name in sorted(files):
            if not name.endswith(".rs"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                source = COMMENT.sub("", file.read())
            for found in BLOCK.finditer(source):
                body = source[found.end() : block_end(source, found.end())]
                symbols = set(NAME.findall(body)) | set(RENAMED.findall(body))
                before = source[max(0, found.start() - 2000) : found.start()]
                links = set(LINK.findall(ATTRIBUTES.search(before).group()))
                if links and not symbols:
                    whole |= links
                else:
                    blocks.append((links, symbols))
    return whole, blocks


def stub(path, install_name, symbols):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    names = ", ".join(f"'_{symbol}'" for symbol in sorted(symbols))
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f"--- !tapi-tbd\ntbd-version: 4\ntargets: {TARGETS}\n"
            f"install-name: '{install_name}'\nexports:\n"
            f"  - targets: {TARGETS}\n    symbols: [ {names} ]\n...\n"
        )


def main(out, crates):
    libraries = {}
    for crate in crates:
        whole, blocks = declarations(crate)
        for links, symbols in blocks:
            for library in links or whole:
                libraries.setdefault(library, set()).update(symbols)
        for library in whole:
            libraries.setdefault(library, set())
    for framework, symbols in BY_HEADER.items():
        libraries.setdefault((framework, "framework"), set()).update(symbols)
    if ("objc", "dylib") in libraries:
        libraries[("objc", "dylib")] |= RUNTIME
    total = 0
    for (name, kind), symbols in sorted(libraries.items()):
        if kind == "framework":
            folder = f"System/Library/Frameworks/{name}.framework"
            stub(f"{out}/{folder}/{name}.tbd", f"/{folder}/Versions/A/{name}", symbols)
        elif name not in SYSTEM:
            version = {"objc": ".A", "iconv": ".2"}.get(name, "")
            stub(f"{out}/usr/lib/lib{name}.tbd", f"/usr/lib/lib{name}{version}.dylib", symbols)
        else:
            continue
        total += len(symbols)
    print(f"{len(libraries)} libraries, {total} symbols")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
