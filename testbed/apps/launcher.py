#!/usr/bin/python3
"""A launcher, or a lock screen with the argument "lock": takes the keyboard, and is not a window.
Prints "ready" when it has the keyboard, and each key; ends with its standard input."""

import os
import socket
import struct
import sys
import threading

from wayland import Wayland

SIZE = 64
EXCLUSIVE, TOP = 1, 2


class Client(Wayland):
    """Answers events that need an answer, and prints keys."""

    def hear(self, keyboard, configures):
        while read := self.socket.recv(65536):
            self.rest += read
            while len(self.rest) >= 8:
                target, word = struct.unpack_from("<II", self.rest)
                length, opcode = word >> 16, word & 0xFFFF
                if len(self.rest) < length:
                    break
                body, self.rest = self.rest[8:length], self.rest[length:]
                if target == keyboard and opcode == 1:
                    print("ready", flush=True)
                if target == keyboard and opcode == 3:
                    print("key", struct.unpack_from("<III", body)[2], flush=True)
                if target in configures and opcode == 0:
                    configures[target](body)


wayland = Client()
compositor, shm = wayland.bind("wl_compositor"), wayland.bind("wl_shm")
seat = wayland.bind("wl_seat")
keyboard = wayland.new()
wayland.send(seat, 1, struct.pack("<I", keyboard))
surface = wayland.new()
wayland.send(compositor, 0, struct.pack("<I", surface))


def paint(width, height):
    memory = os.memfd_create("buffer")
    os.ftruncate(memory, width * height * 4)
    pool, buffer = wayland.new(), wayland.new()
    body = struct.pack("<Ii", pool, width * height * 4)
    message = struct.pack("<II", shm, (8 + len(body)) << 16) + body
    socket.send_fds(wayland.socket, [message], [memory])
    wayland.send(pool, 0, struct.pack("<Iiiiii", buffer, 0, width, height, width * 4, 1)[:24])
    wayland.send(surface, 1, struct.pack("<Iii", buffer, 0, 0))
    wayland.send(surface, 2, struct.pack("<iiii", 0, 0, width, height))
    wayland.send(surface, 6, b"")


def text(value):
    value = value.encode() + b"\0"
    return struct.pack("<I", len(value)) + value + b"\0" * (-len(value) % 4)


if sys.argv[1:] == ["lock"]:
    manager, output = wayland.bind("ext_session_lock_manager_v1"), wayland.bind("wl_output")
    lock, its = wayland.new(), wayland.new()
    wayland.send(manager, 1, struct.pack("<I", lock))
    wayland.send(lock, 1, struct.pack("<III", its, surface, output))
    acknowledge = 1
else:
    shell, its = wayland.bind("zwlr_layer_shell_v1"), wayland.new()
    wayland.send(shell, 0, struct.pack("<IIII", its, surface, 0, TOP) + text("launcher"))
    wayland.send(its, 0, struct.pack("<II", SIZE, SIZE))
    wayland.send(its, 4, struct.pack("<I", EXCLUSIVE))
    wayland.send(surface, 6, b"")
    acknowledge = 6


def configured(body):
    serial, width, height = struct.unpack_from("<III", body)
    wayland.send(its, acknowledge, struct.pack("<I", serial))
    paint(width or SIZE, height or SIZE)


wayland.socket.settimeout(None)
threading.Thread(target=wayland.hear, args=(keyboard, {its: configured}), daemon=True).start()
sys.stdin.read()
