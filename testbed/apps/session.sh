#!/bin/sh
# A headless session of the compositor $1, in the folder $2, until the standard input ends. Prints
# the session's environment, then an empty line.
if [ "$1" = private ]; then
  exec "$2/deskline" desktop --wayland --size="${width}x$height" -- sh -c \
    'echo "COMPOSITOR_PID=$(ls "$XDG_RUNTIME_DIR" | sed -n "s/^sway-ipc.*[.]\([0-9]*\)[.]sock$/\1/p")"
    env
    echo
    cat'
fi
if [ -z "$DBUS_SESSION_BUS_ADDRESS" ]; then
  # The bus's services print to its standard output.
  exec 3>&1 >&2
  exec dbus-run-session -- sh "$0" "$@"
fi
compositor=$1
folder=$2

fail() {
  cat "$folder/compositor.log" >&2
  exit 1
}

# Tries a command for at most 20 s.
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail
    sleep 0.05
  done
}

# GNOME and KDE look for services on the system bus, and cast the screen through PipeWire.
services() {
  export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/system-bus"
  dbus-daemon --session --fork --address="$DBUS_SYSTEM_BUS_ADDRESS"
  pipewire >"$folder/pipewire.log" 2>&1 &
  wait_for test -S "$XDG_RUNTIME_DIR/pipewire-0"
  wireplumber --profile main-systemwide >"$folder/wireplumber.log" 2>&1 &
}

overview() {
  gdbus call --session -d org.gnome.Shell -o /org/gnome/Shell \
    -m "org.freedesktop.DBus.Properties.$1" org.gnome.Shell OverviewActive $2
}
overview_is() { overview Get | grep -q "$1"; }
leave_overview() {
  overview Set '<false>'
  overview_is false
}

case $compositor in
sway) set -- sway --config "$folder/sway.conf" ;;
labwc) set -- labwc ;;
kwin)
  services
  [ "$hands" = false ] || export KWIN_WAYLAND_NO_PERMISSION_CHECKS=1
  set -- kwin_wayland --virtual --width "$width" --height "$height" --scale "$scale" \
    --output-count $((1 + 0${second:+1}))
  ;;
kwin5)
  # A program with file capabilities does not start if it cannot get them. A copy has none.
  cp "$(command -v kwin_wayland)" "$folder"
  set -- "$folder/kwin_wayland" --virtual --no-lockscreen --width "$width" --height "$height" --scale "$scale"
  ;;
gnome)
  services
  set -- gnome-shell --headless --wayland --no-x11 --virtual-monitor "${width}x$height" \
    ${second:+--virtual-monitor "${width}x$height"}
  ;;
x11)
  # Do not listen on the abstract socket, because the network namespace is the machine's.
  Xvfb :7 -screen 0 1600x900x24 -nolisten local -nolisten tcp >"$folder/xvfb.log" 2>&1 &
  wait_for test -S /tmp/.X11-unix/X7
  export DISPLAY=:7
  set -- xfwm4 --compositor=off
  ;;
esac
ready() {
  kill -0 $compositor_pid || fail
  if [ "$compositor" = x11 ]; then
    xprop -root _NET_SUPPORTING_WM_CHECK | grep -q window
  else
    display=$(ls "$XDG_RUNTIME_DIR" | grep -xE 'wayland-[0-9]+')
  fi
}

# Starts the compositor and what it lacks, and prints the session's environment, then an empty line.
start() {
  "$@" >"$folder/compositor.log" 2>&1 &
  compositor_pid=$!
  wait_for ready
  [ "$compositor" = x11 ] || export WAYLAND_DISPLAY="$display"
  dbus-update-activation-environment --all
  if [ "$compositor" = gnome ]; then
    # The shell starts in its overview, in which no app has the keyboard. If the overview is left
    # before it has fully appeared, an invisible cover stays over the screen in one of seven sessions,
    # and takes all clicks.
    wait_for grep -q "GNOME Shell started" "$folder/compositor.log"
    wait_for overview_is true
    wait_for leave_overview
    [ -z "$second" ] || gdctl set --layout-mode logical --logical-monitor --primary --monitor Meta-0 \
      --logical-monitor --right-of Meta-0 --scale "$second" --monitor Meta-1 >"$folder/gdctl.log" 2>&1
    [ "$scale" = 1 ] || gdctl set --layout-mode "$layout" --logical-monitor --primary --scale "$scale" --monitor Meta-0 >"$folder/gdctl.log" 2>&1
    if [ "$bare" = false ]; then
      python3 "$folder/seat.py" >"$folder/seat.log" 2>&1 &
      wait_for grep -q ready "$folder/seat.log"
    fi
  fi
  if [ "$compositor" = labwc ]; then
    # sway also gives the focus if there is no keyboard.
    python3 "$folder/keyboard.py" >"$folder/keyboard.log" 2>&1 &
    wait_for grep -q ready "$folder/keyboard.log"
  fi
  if [ "$compositor" = kwin ] || [ "$compositor" = kwin5 ]; then
    wait_for gdbus call --session -d org.kde.KWin -o /KWin -m org.freedesktop.DBus.Peer.Ping
  fi
  {
    echo "COMPOSITOR_PID=$compositor_pid"
    if [ "$compositor" = x11 ]; then
      echo "DISPLAY=$DISPLAY"
    else
      echo "WAYLAND_DISPLAY=$display"
    fi
    echo "DBUS_SESSION_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS"
    [ -z "$DBUS_SYSTEM_BUS_ADDRESS" ] || echo "DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SYSTEM_BUS_ADDRESS"
    echo
  } >&3
}

start "$@"
# Each line is a request for another compositor: this one, and all of its apps with it, is killed.
while read -r _; do
  kill -KILL $compositor_pid
  wait $compositor_pid
  unset WAYLAND_DISPLAY
  rm -f "$XDG_RUNTIME_DIR"/wayland-* "$folder"/seat.log "$folder"/keyboard.log
  start "$@"
done
kill -KILL $compositor_pid
wait $compositor_pid
