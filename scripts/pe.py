#!/usr/bin/env python3
"""Fails if a program imports what Windows 10 1809 lacks, or has no manifest.

    pe.py WINMD... PROGRAM

The .winmd files (of the crate windows-bindgen) are Microsoft's metadata: the DLL of each function,
and the first Windows that has it (SupportedOSPlatform). Unchecked are half of the functions, which
have no such attribute, the C library, which has no metadata, and COM, which is not imported.
First this checks that it would find what is wrong.
"""
import struct
import sys

OLDEST = (10, 0, 17763)
C_LIBRARY = ("msvcrt.dll", "api-ms-win-crt-")
# Functions that every 64-bit Windows has and the metadata lacks. The compiler and Rust's library
# use them.
OTHERS = {("kernel32.dll", "__C_specific_handler"), ("ntdll.dll", "NtCreateNamedPipeFile")}
# The DLL that, since Windows 8, exports functions which the metadata lists under another DLL.
SAME = {"combase.dll": "ole32.dll"}


def read(data, form, at):
    return struct.unpack_from("<" + form, data, at)


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Pe:
    """A PE file: its data directories, by their addresses in memory."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        (at,) = read(self.data, "I", 0x3C)
        if self.data[at:at + 4] != b"PE\0\0":
            raise ValueError(f"{path} is no program of Windows")
        count, size = read(self.data, "2xH12xH", at + 4)
        optional = at + 24
        (self.wide,) = read(self.data, "H", optional)
        self.wide = self.wide == 0x20B
        self.directories = optional + (112 if self.wide else 96)
        self.sections = [read(self.data, "8x4I", optional + size + 40 * i) for i in range(count)]

    def at(self, address):
        """The offset in the file of an address in memory."""
        for size, start, raw, place in self.sections:
            if start <= address < start + max(size, raw):
                return address - start + place
        raise ValueError(f"no section has {address:#x}")

    def directory(self, number):
        return read(self.data, "I", self.directories + 8 * number)[0]

    def imports(self):
        """Each (DLL, function)."""
        # The table, the size of its entries, and the offsets in an entry of the names' table and
        # the DLL's name.
        for number, size, names, name in (1, 20, 0, 12), (13, 32, 16, 4):
            entry = self.directory(number) and self.at(self.directory(number))
            while entry and (library := read(self.data, "I", entry + name)[0]):
                library = text(self.data, self.at(library))
                thunk = self.at(read(self.data, "I", entry + names)[0])
                form = "Q" if self.wide else "I"
                while value := read(self.data, form, thunk)[0]:
                    by_number = value >> (63 if self.wide else 31)
                    yield library, f"#{value & 0xFFFF}" if by_number else text(self.data, self.at(value) + 2)
                    thunk += struct.calcsize(form)
                entry += size


# The columns of each table of metadata (ECMA-335, II.22): a number's size in bytes, a heap (s, g, b),
# a table, or several tables under one coded index (with the bits of its tag).
TYPE = (2, 0x02, 0x01, 0x1B)
SCOPE = (2, 0x00, 0x1A, 0x23, 0x01)
PARENT = (3, 0x02, 0x01, 0x1A, 0x06, 0x1B)
ANY = (5, 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A, 0x00, 0x0E, 0x17, 0x14, 0x11, 0x1A, 0x1B, 0x20, 0x23, 0x26, 0x27, 0x28)
CONSTANT = (2, 0x04, 0x08, 0x17)
MARSHAL = (1, 0x04, 0x08)
SECURITY = (2, 0x02, 0x06, 0x20)
SEMANTICS = (1, 0x14, 0x17)
METHOD = (1, 0x06, 0x0A)
FORWARDED = (1, 0x04, 0x06)
MAKER = (3, 0x06, 0x0A)


class T(int):
    """An index into one table."""


TABLES = {
    0x00: [2, "s", "g", "g", "g"],
    0x01: [SCOPE, "s", "s"],
    0x02: [4, "s", "s", TYPE, T(0x04), T(0x06)],
    0x04: [2, "s", "b"],
    0x06: [4, 2, 2, "s", "b", T(0x08)],
    0x08: [2, 2, "s"],
    0x09: [T(0x02), TYPE],
    0x0A: [PARENT, "s", "b"],
    0x0B: [2, CONSTANT, "b"],
    0x0C: [ANY, MAKER, "b"],
    0x0D: [MARSHAL, "b"],
    0x0E: [2, SECURITY, "b"],
    0x0F: [2, 4, T(0x02)],
    0x10: [4, T(0x04)],
    0x11: ["b"],
    0x12: [T(0x02), T(0x14)],
    0x14: [2, "s", TYPE],
    0x15: [T(0x02), T(0x17)],
    0x17: [2, "s", "b"],
    0x18: [2, T(0x06), SEMANTICS],
    0x19: [T(0x02), METHOD, METHOD],
    0x1A: ["s"],
    0x1B: ["b"],
    0x1C: [2, FORWARDED, "s", T(0x1A)],
}


class Metadata:
    """The tables of a .winmd file."""

    def __init__(self, path):
        pe = Pe(path)
        data = pe.data
        root = pe.at(read(data, "I", pe.at(pe.directory(14)) + 8)[0])
        (length,) = read(data, "I", root + 12)
        at = root + 16 + length
        (count,) = read(data, "2xH", at)
        at += 4
        self.heaps = {}
        for _ in range(count):
            offset, size = read(data, "II", at)
            name = text(data, at + 8)
            at += 8 + (len(name) // 4 + 1) * 4
            self.heaps[name] = data[root + offset:root + offset + size]
        stream = self.heaps["#~"]
        heaps, present = read(stream, "6xBxQ8x", 0)
        numbers = [n for n in range(64) if present >> n & 1]
        rows = dict(zip(numbers, read(stream, f"{len(numbers)}I", 24)))
        at = 24 + 4 * len(numbers)

        def column(kind):
            if isinstance(kind, str):
                return "I" if heaps & {"s": 1, "g": 2, "b": 4}[kind] else "H"
            if isinstance(kind, T):
                return "I" if rows.get(kind, 0) > 0xFFFF else "H"
            if isinstance(kind, tuple):
                return "I" if max(rows.get(t, 0) for t in kind[1:]) >= 1 << 16 - kind[0] else "H"
            return {2: "H", 4: "I"}[kind]

        self.tables = {}
        for number in numbers:
            if number > 0x1C:
                break
            form = "<" + "".join(column(kind) for kind in TABLES[number])
            size = struct.calcsize(form) * rows[number]
            self.tables[number] = list(struct.iter_unpack(form, stream[at:at + size]))
            at += size

    def name(self, at):
        return text(self.heaps["#Strings"], at)

    def functions(self):
        """Each function with its DLL, and the first Windows that has it, if that is known."""
        types = self.tables[0x01]
        blob = self.heaps["#Blob"]
        since = {}
        for parent, maker, value in self.tables[0x0C]:
            if parent & 31 or maker & 7 != 3:  # a function's attribute, of a type of another module
                continue
            owner = self.tables[0x0A][(maker >> 3) - 1][0]
            if owner & 7 == 1 and self.name(types[(owner >> 3) - 1][1]) == "SupportedOSPlatformAttribute":
                # A byte with the value's length, the prolog 01 00, and the text with its length.
                length = blob[value + 3]
                since[parent >> 5] = blob[value + 4:value + 4 + length].decode()
        for _, member, name, scope in self.tables[0x1C]:
            library = self.name(self.tables[0x1A][scope - 1][0]).lower()
            yield library, self.name(name), since.get(member >> 1)


def is_newer(platform):
    """Whether "windows10.0.19041", or "windowsserver2022", came after Windows 10 1809."""
    of_servers = platform.removeprefix("windowsserver")
    if of_servers != platform:
        return int(of_servers) > 2019
    return tuple(map(int, platform.removeprefix("windows").split("."))) > OLDEST


def wrong(imports, known):
    """A line for each import that Windows 10 1809 lacks."""
    libraries = {library for library, _ in known}
    for library, function in sorted({(library.lower(), function) for library, function in imports}):
        library = SAME.get(library, library)
        if library.startswith(C_LIBRARY) or (library, function) in OTHERS:
            continue
        if library not in libraries:
            yield f"{library}: not a DLL of Windows"
        elif (library, function) not in known:
            yield f"{function}: not in {library}"
        elif (since := known[library, function]) and is_newer(since):
            yield f"{function} of {library}: only since {since}"


def prove(known):
    """Fails if the check could find no fault."""
    new = next((function for function, since in known.items() if since and is_newer(since)), None)
    bad = [new, ("KERNEL32.dll", "NoSuchFunction"), ("nosuch.dll", "CreateFileW")]
    good = [("KERNEL32.dll", "CreateFileW"), ("msvcrt.dll", "malloc")]
    found = new and list(wrong(bad + good, known))
    if not found or len(found) != len(bad):
        sys.exit(f"pe: the check is broken: it finds {found}")


def main(*metadata, program):
    known = {}
    for path in metadata:
        known.update(((library, name), since) for library, name, since in Metadata(path).functions())
    prove(known)
    pe = Pe(program)
    if b"<disableWindowFiltering" not in pe.data:
        sys.exit(f"pe: {program} has no manifest, so no list has the windows of Start and of Search")
    imports = set(pe.imports())
    if not any(library.lower() == "kernel32.dll" for library, _ in imports):
        sys.exit(f"pe: no imports are found in {program}")
    lines = list(wrong(imports, known))
    if lines:
        sys.exit("\n".join(f"pe: {line}" for line in lines))
    libraries = {library.lower() for library, _ in imports}
    print(f"{len(imports)} imports of {len(libraries)} DLLs, none newer than Windows 10 1809")


if __name__ == "__main__":
    main(*sys.argv[1:-1], program=sys.argv[-1])
