#!/usr/bin/python3
"""A slow Wayland client: it requests the seat's pointer whether or not the seat has one, and what a
starting Xwayland requests of a pointer. Prints "alive" if the compositor still answers then.
"""

import struct

from wayland import Wayland

wayland = Wayland()
seat, relative = wayland.bind("wl_seat"), wayland.bind("zwp_relative_pointer_manager_v1")
wayland.sync()
pointer, motion = wayland.new(), wayland.new()
wayland.send(seat, 0, struct.pack("<I", pointer))
wayland.send(relative, 1, struct.pack("<II", motion, pointer))
wayland.sync()
print("alive")
