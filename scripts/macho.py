#!/usr/bin/env python3
"""Check an executable for macOS, as the dynamic linker there would.

Usage: macho.py EXECUTABLE SDK TARGET
       macho.py --join OUT EXECUTABLE...
       macho.py --universal EXECUTABLE IDENTIFIER
       macho.py --app BUNDLE IDENTIFIER VERSION

The first checks that it is a 64-bit executable for the target's processor, loads nothing but the system's
libraries, and that each undefined symbol is in the stub of the library that it is bound to and is not about to be
removed. The second makes one
universal executable of several. The third checks such a one: a slice for each processor, where a Mac expects
it, each with an Info.plist that has this identifier and is the same in both. The fourth checks the layout of an
app, and that it is an agent: no icon in the Dock, no menu bar.
"""

import os
import plistlib
import re
import struct
import sys

MAGIC = 0xFEEDFACF  # MH_MAGIC_64
EXECUTE = 2  # MH_EXECUTE
PROCESSORS = {"aarch64": 0x0100000C, "x86_64": 0x01000007}  # CPU_TYPE_ARM64, CPU_TYPE_X86_64
SYMTAB, LOAD_DYLIB, LOAD_WEAK_DYLIB = 0x2, 0xC, 0x80000018
SEGMENT_64 = 0x19  # LC_SEGMENT_64
FAT_MAGIC = 0xCAFEBABE
PAGE = 14  # slices are aligned to 2^14 bytes, the pages of Apple's processors
UNDEFINED, TYPE, STAB = 0x0, 0x0E, 0xE0  # N_UNDF, N_TYPE, N_STAB
FLAT = 0xFE  # DYNAMIC_LOOKUP_ORDINAL: bound to no library
# Deprecated functions that Apple is removing. Without one that it imports, dyld starts no program.
GOING = {"_CGWindowListCreateImage", "_CGWindowListCreateImageFromArray", "_CGDisplayCreateImage"}


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
    undefined, missing, going = 0, [], set()
    for i in range(count):
        name_at, kind, _, described, _ = struct.unpack_from("<IBBHQ", data, start + 16 * i)
        if kind & STAB or kind & TYPE != UNDEFINED:
            continue
        end = data.index(b"\0", strings + name_at)
        name = data[strings + name_at : end].decode()
        undefined += 1
        going |= GOING & {name}
        ordinal = described >> 8
        library = libraries[ordinal - 1] if 0 < ordinal <= len(libraries) else None
        if ordinal >= FLAT or name not in known.get(library, ()):
            missing.append(f"{name} of {library}")
    if going:
        fail(f"it does not start once these are gone: {sorted(going)}")
    if missing:
        fail(f"{len(missing)} symbols are in no stub: {missing[:20]}")
    print(
        f"{path}: Mach-O 64-bit executable {target}, {len(data) >> 20} MB, {len(libraries)} libraries, "
        f"all of {undefined} imported symbols are theirs"
    )


def section(data, wanted):
    """The contents of a section of the segment __TEXT."""
    commands, at = struct.unpack_from("<I", data, 16)[0], 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command == SEGMENT_64:
            for i in range(struct.unpack_from("<I", data, at + 64)[0]):
                start = at + 72 + 80 * i
                name, segment, _, length, offset = struct.unpack_from("<16s16sQQI", data, start)
                if segment.rstrip(b"\0") == b"__TEXT" and name.rstrip(b"\0") == wanted:
                    return data[offset : offset + length]
        at += size
    return None


def join(out, *paths):
    slices = [open(path, "rb").read() for path in paths]
    header, body, at = struct.pack(">2I", FAT_MAGIC, len(slices)), b"", 1 << PAGE
    for data in slices:
        processor, subtype = struct.unpack_from("<2I", data, 4)
        header += struct.pack(">5I", processor, subtype, at, len(data), PAGE)
        padded = data + b"\0" * (-len(data) % (1 << PAGE))
        body += padded
        at += len(padded)
    with open(out, "wb") as file:
        file.write(header.ljust(1 << PAGE, b"\0") + body)


def universal(path, identifier):
    with open(path, "rb") as file:
        data = file.read()
    magic, count = struct.unpack_from(">2I", data)
    if magic != FAT_MAGIC:
        fail(f"{path} is no universal executable")
    found = {}
    for i in range(count):
        processor, _, offset, size, align = struct.unpack_from(">5I", data, 8 + 20 * i)
        slice_ = data[offset : offset + size]
        if offset % (1 << align) or len(slice_) != size:
            fail(f"slice {i} is not where a Mac expects it")
        if struct.unpack_from("<4I", slice_)[0::3] != (MAGIC, EXECUTE):
            fail(f"slice {i} is no 64-bit executable")
        if struct.unpack_from("<I", slice_, 4)[0] != processor:
            fail(f"slice {i} is for another processor than the header says")
        plist = section(slice_, b"__info_plist")
        if plist is None:
            fail(f"slice {i} has no section __TEXT,__info_plist")
        found[processor] = plistlib.loads(plist)
    if set(found) != set(PROCESSORS.values()):
        fail(f"it has slices for {sorted(found)}, not for {sorted(PROCESSORS.values())}")
    first, second = found.values()
    if first != second or first.get("CFBundleIdentifier") != identifier:
        fail(f"the Info.plists are {first} and {second}")
    print(f"{path}: universal, {len(data) >> 20} MB, both slices have the Info.plist of {identifier}")


def app(path, identifier, version):
    with open(os.path.join(path, "Contents/Info.plist"), "rb") as file:
        info = plistlib.load(file)
    wanted = {
        "CFBundleIdentifier": identifier,
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "LSUIElement": True,
        "NSAppSleepDisabled": True,
    }
    for key, value in wanted.items():
        if info.get(key) != value:
            fail(f"{path}: {key} is {info.get(key)!r}, not {value!r}")
    for text in ("NSAccessibilityUsageDescription", "NSScreenCaptureUsageDescription"):
        if not info.get(text):
            fail(f"{path}: no {text}")
    binary = os.path.join(path, "Contents/MacOS", info["CFBundleExecutable"])
    if not os.access(binary, os.X_OK):
        fail(f"{binary} is no executable")
    universal(binary, identifier)
    known = {"Info.plist", "MacOS", "_CodeSignature", "CodeResources"}
    strange = set(os.listdir(os.path.join(path, "Contents"))) - known
    if strange:
        fail(f"{path}: {', '.join(sorted(strange))}")
    print(f"{path}: the app {identifier} {version}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--join"] and len(sys.argv) > 3:
        join(*sys.argv[2:])
    elif sys.argv[1:2] == ["--universal"] and len(sys.argv) == 4:
        universal(*sys.argv[2:])
    elif sys.argv[1:2] == ["--app"] and len(sys.argv) == 5:
        app(*sys.argv[2:])
    elif len(sys.argv) == 4:
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
