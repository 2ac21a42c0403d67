#!/usr/bin/python3
"""Keeps a keyboard on the seat, as a person's desk has it: without one, no app gets the focus.
Prints "ready" when the keyboard exists; ends with the compositor."""

import os
import socket
import struct

from wayland import Wayland

KEYMAP = b"""xkb_keymap { xkb_keycodes { include "evdev" }; xkb_types { include "complete" };
xkb_compatibility { include "complete" }; xkb_symbols { include "pc+us" }; };\0"""


def keyboard(wayland):
    seat, manager = wayland.bind("wl_seat"), wayland.bind("zwp_virtual_keyboard_manager_v1")
    made = wayland.new()
    wayland.send(manager, 0, struct.pack("<II", seat, made))
    keymap = os.memfd_create("keymap")
    os.write(keymap, KEYMAP)
    body = struct.pack("<II", 1, len(KEYMAP))
    message = struct.pack("<II", made, (8 + len(body)) << 16) + body
    socket.send_fds(wayland.socket, [message], [keymap])
    wayland.sync()
    return made


if __name__ == "__main__":
    wayland = Wayland()
    keyboard(wayland)
    print("ready", flush=True)
    wayland.socket.settimeout(None)
    while wayland.socket.recv(65536):
        pass
