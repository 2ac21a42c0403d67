#!/usr/bin/env python3
"""Check an executable for macOS, as the dynamic linker there would.

Usage: macho.py EXECUTABLE SDK TARGET

It must be a 64-bit executable for the target's processor, load nothing but the system's libraries,
and each undefined symbol must be in the stub of the library that it is bound to.
"""

import os
import re
import struct
import sys

MAGIC = 0xFEEDFACF  # MH_MAGIC_64
EXECUTE = 2  # MH_EXECUTE
PROCESSORS = {"aarch64": 0x0100000C, "x86_64": 0x01000007}  # CPU_TYPE_ARM64, CPU_TYPE_X86_64
SYMTAB, LOAD_DYLIB, LOAD_WEAK_DYLIB = 0x2, 0xC, 0x80000018
UNDEFINED, TYPE, STAB = 0x0, 0x0E, 0xE0  # N_UNDF, N_TYPE, N_STAB
FLAT = 0xFE  # DYNAMIC_LOOKUP_ORDINAL: bound to no library


def fail(why):
    sys.exit(f"macho: {why}")


def stubs(sdk):
    """The symbols of each stub, by the names of the libraries that it stands for."""
    found = {}
    for folder, _, files in os.walk(sdk):
        for name in files:
            if name.endswith(".tbd"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                symbols = set(re.findall(r"[_$.A-Za-z0-9]+", text))
                for library in re.findall(r"install-name:\s*'?([^'\s]+)'?", text):
                    found.setdefault(library, set()).update(symbols)
    return found


def main(path, sdk, target):
    with open(path, "rb") as file:
        data = file.read()
    magic, processor, _, kind, commands, _, _, _ = struct.unpack_from("<8I", data)
    if magic != MAGIC or kind != EXECUTE:
        fail(f"{path} is no 64-bit Mach-O executable")
    if processor != PROCESSORS[target.split("-")[0]]:
        fail(f"{path} is for another processor: {processor:#x}")
    libraries, symtab, at = [], None, 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command in (LOAD_DYLIB, LOAD_WEAK_DYLIB):
            (offset,) = struct.unpack_from("<I", data, at + 8)
            libraries.append(data[at + offset : at + size].split(b"\0")[0].decode())
        elif command == SYMTAB:
            symtab = struct.unpack_from("<4I", data, at + 8)
        at += size
    foreign = [name for name in libraries if not name.startswith(("/usr/lib/", "/System/Library/"))]
    if foreign:
        fail(f"it loads what no Mac has: {foreign}")
    if symtab is None:
        fail("it has no symbols")
    known = stubs(sdk)
    start, count, strings, _ = symtab
    undefined, missing = 0, []
    for i in range(count):
        name_at, kind, _, described, _ = struct.unpack_from("<IBBHQ", data, start + 16 * i)
        if kind & STAB or kind & TYPE != UNDEFINED:
            continue
        end = data.index(b"\0", strings + name_at)
        name = data[strings + name_at : end].decode()
        undefined += 1
        ordinal = described >> 8
        library = libraries[ordinal - 1] if 0 < ordinal <= len(libraries) else None
        if ordinal >= FLAT or name not in known.get(library, ()):
            missing.append(f"{name} of {library}")
    if missing:
        fail(f"{len(missing)} symbols are in no stub: {missing[:20]}")
    print(
        f"{path}: Mach-O 64-bit executable {target}, {len(data) >> 20} MB, {len(libraries)} libraries, "
        f"all of {undefined} imported symbols are theirs"
    )


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
