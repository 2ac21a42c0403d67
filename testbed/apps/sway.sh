#!/bin/sh
# A headless sway without Xwayland, in the folder $1, until the standard input ends. Prints what leads
# to it, then an empty line. Run it in a D-Bus session of its own.
sway --config "$1/sway.conf" >"$1/sway.log" 2>&1 &
sway=$!
tries=0
until display=$(ls "$XDG_RUNTIME_DIR" | grep -xE 'wayland-[0-9]+'); do
  tries=$((tries + 1))
  [ $tries -lt 200 ] || { cat "$1/sway.log" >&2; exit 1; }
  sleep 0.05
done
echo "SWAY_PID=$sway"
echo "WAYLAND_DISPLAY=$display"
echo "DBUS_SESSION_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS"
echo
cat >/dev/null
kill $sway
wait $sway
