#!/usr/bin/python3
"""The person's clipboard on Wayland, by data control. `copy` puts the person's data on it, prints "ready" and
serves it until another owner comes. `show` prints a line a type."""

import array
import os
import socket
import struct
import sys

from copied import COPIED, show


class Wayland:
    def __init__(self):
        path = os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"])
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.last, self.rest, self.fds = 1, b"", []

    def new(self):
        self.last += 1
        return self.last

    def send(self, target, opcode, body, fds=()):
        message = struct.pack("<II", target, (8 + len(body)) << 16 | opcode) + body
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([message], ancillary)

    def events(self):
        """(target, opcode, body), one after the other."""
        while True:
            while len(self.rest) >= 8:
                target, word = struct.unpack_from("<II", self.rest)
                if len(self.rest) < word >> 16:
                    break
                body, self.rest = self.rest[8 : word >> 16], self.rest[word >> 16 :]
                yield target, word & 0xFFFF, body
            read, fds, _, _ = socket.recv_fds(self.socket, 65536, 16)
            if not read:
                raise EOFError("the compositor is gone")
            self.rest += read
            self.fds += fds

    def until_synced(self):
        callback = self.new()
        self.send(1, 0, struct.pack("<I", callback))
        for target, opcode, body in self.events():
            if target == callback:
                return
            yield target, opcode, body


def string(text):
    text = text.encode() + b"\0"
    return struct.pack("<I", len(text)) + text + b"\0" * (-len(text) % 4)


def read_string(body):
    (length,) = struct.unpack_from("<I", body)
    return body[4 : 3 + length].decode()


wayland = Wayland()
registry = wayland.new()
wayland.send(1, 1, struct.pack("<I", registry))
names = {}
for target, _, body in wayland.until_synced():
    if target == registry:
        names[read_string(body[4:])] = struct.unpack_from("<I", body)[0]


def bind(interface):
    made = wayland.new()
    body = struct.pack("<I", names[interface]) + string(interface) + struct.pack("<II", 1, made)
    wayland.send(registry, 0, body)
    return made


# wlroots' protocol, or its copy of another name.
control = next(name for name in names if name.endswith("_data_control_manager_v1"))
seat, manager, device = bind("wl_seat"), bind(control), wayland.new()
wayland.send(manager, 1, struct.pack("<II", device, seat))

if sys.argv[1] == "copy":
    source = wayland.new()
    wayland.send(manager, 0, struct.pack("<I", source))
    for kind in COPIED:
        wayland.send(source, 0, string(kind))
    wayland.send(device, 0, struct.pack("<I", source))
    for _ in wayland.until_synced():
        pass
    print("ready", flush=True)
    for target, opcode, body in wayland.events():
        if target == source and opcode == 0:
            with open(wayland.fds.pop(0), "wb") as pipe:
                pipe.write(COPIED[read_string(body)])
        elif target == source:
            break
else:
    offers, selection = {}, 0
    for target, opcode, body in wayland.until_synced():
        if target == device and opcode == 0:
            offers[struct.unpack("<I", body)[0]] = []
        elif target == device and opcode == 1:
            (selection,) = struct.unpack("<I", body)
        elif target in offers:
            offers[target].append(read_string(body))
    for kind in sorted(offers.get(selection, [])):
        reader, writer = os.pipe()
        wayland.send(selection, 0, string(kind), [writer])
        os.close(writer)
        with open(reader, "rb") as pipe:
            data = pipe.read()
        show(kind, data)
