#!/bin/bash
# The first process of the machine: its devices, and then a session.
exec >/dev/ttyS0 2>&1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/user
mkdir -p /dev/shm
for folder in /dev/shm /tmp /run; do mount -t tmpfs tmpfs $folder; done
mkdir -m 700 $XDG_RUNTIME_DIR /tmp/shared
tar -xf /dev/vdb -C /tmp/shared
for module in bochs evdev uinput; do modprobe $module; done
/lib/systemd/systemd-udevd --daemon
udevadm trigger
udevadm settle --timeout 20
seatd >/tmp/seatd.log 2>&1 &
dbus-run-session -- bash /tmp/shared/session.sh
sync
echo o >/proc/sysrq-trigger
sleep 60
