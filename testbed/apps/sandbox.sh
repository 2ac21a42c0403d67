#!/bin/sh
# Starts a program as Flatpak does: in a process namespace of its own, with a proxy before the
# accessibility bus.
#
# Usage: sandbox.sh BUS FOLDER PROGRAM [ARGUMENT…]
set -eu
bus=$1 proxy=$2/proxy
shift 2
xdg-dbus-proxy "$bus" "$proxy" &
until [ -S "$proxy" ]; do sleep 0.05; done
exec bwrap --dev-bind / / --unshare-pid --proc /proc --die-with-parent \
  env AT_SPI_BUS_ADDRESS="unix:path=$proxy" "$@"
