"""A Wayland client's end of the wire."""

import os
import socket
import struct


class Wayland:
    def __init__(self):
        path = os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"])
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(5)
        self.socket.connect(path)
        self.last, self.rest = 1, b""
        self.registry = self.new()
        self.globals = {}
        self.send(1, 1, struct.pack("<I", self.registry))
        self.sync()

    def new(self):
        self.last += 1
        return self.last

    def send(self, target, opcode, body):
        self.socket.sendall(struct.pack("<II", target, (8 + len(body)) << 16 | opcode) + body)

    def bind(self, interface, version=1):
        made = self.new()
        name = interface.encode() + b"\0"
        name += b"\0" * (-len(name) % 4)
        length = struct.pack("<I", len(interface) + 1)
        number = struct.pack("<I", self.globals[interface])
        self.send(self.registry, 0, number + length + name + struct.pack("<II", version, made))
        return made

    def sync(self):
        callback = self.new()
        self.send(1, 0, struct.pack("<I", callback))
        while True:
            read = self.socket.recv(65536)
            if not read:
                raise EOFError("the compositor is gone")
            self.rest += read
            while len(self.rest) >= 8:
                target, word = struct.unpack_from("<II", self.rest)
                if len(self.rest) < word >> 16:
                    break
                body, self.rest = self.rest[8 : word >> 16], self.rest[word >> 16 :]
                if target == self.registry:
                    number, length = struct.unpack_from("<II", body)
                    self.globals[body[8 : 7 + length].decode()] = number
                elif target == callback:
                    return
