# What the machine's first process does: its devices, and then a session.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/user
mkdir -p /dev/shm
for folder in /dev/shm /run; do mount -t tmpfs tmpfs $folder; done
mkdir -m 700 $XDG_RUNTIME_DIR
for module in bochs evdev; do modprobe $module; done
/lib/systemd/systemd-udevd --daemon
udevadm trigger
udevadm settle --timeout 60
seatd >/tmp/seatd.log 2>&1 &
timeout 3000 dbus-run-session -- bash /tmp/shared/session.sh
sync
echo o >/proc/sysrq-trigger
sleep 60
