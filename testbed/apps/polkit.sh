#!/bin/bash
# Runs a test program as an administrator of a machine with polkit, in namespaces of its own: the
# real dbus-daemon, polkitd, PAM and agents. The session is one that logind would have: its files and
# its control group, which libsystemd's sd_pid_get_session(3) and polkitd read.
#
# Usage: polkit.sh PASSWORD PROGRAM [ARGUMENT…]; PROGRAM is in target/<profile>/deps, and finds
# POLKIT_PASSWORD in its environment.
set -eu
user=deskline-admin id=4321
slice=user.slice/user-$id.slice
groups=
for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
  [ -e "$root/cgroup.procs" ] && groups="$groups $root/$slice/session-deskline.scope"
done
if [ "${1-}" != --inside ]; then
  # shellcheck disable=SC2086
  mkdir -p $groups
  unshare --mount --pid --fork --kill-child --mount-proc "$0" --inside "$@" && code=0 || code=$?
  for group in $groups; do
    until rmdir "$group"; do sleep 0.05; done
    rmdir -p --ignore-fail-on-non-empty "${group%/*}" 2>/dev/null || true
  done
  exit "$code"
fi
password=$2 program=$3
shift 3

mount -t tmpfs tmpfs /run
cp -r /etc /run/etc
echo "$user:x:$id:$id::/run/home:/bin/sh" >> /run/etc/passwd
echo "$user:$(openssl passwd -6 "$password"):19000:0:99999:7:::" >> /run/etc/shadow
sed -i "s/^sudo:.*/&$user/" /run/etc/group
mount --bind /run/etc /etc
install -d -o "$id" /run/home
# Some sources are in a folder that only root may read.
mkdir -p /run/target /run/dbus /run/systemd/sessions /run/systemd/users /run/systemd/seats
mount --bind "$(dirname "$(dirname "$program")")" /run/target
program=/run/target/deps/$(basename "$program")

cat > /run/systemd/sessions/deskline <<END
UID=$id
USER=$user
ACTIVE=1
STATE=active
REMOTE=0
TYPE=x11
CLASS=user
SEAT=seat0
END
printf 'NAME=%s\nSTATE=active\nDISPLAY=deskline\nSESSIONS=deskline\n' "$user" > "/run/systemd/users/$id"
printf 'ACTIVE=deskline\nACTIVE_UID=%s\nSESSIONS=deskline\n' "$id" > /run/systemd/seats/seat0
dbus-daemon --system --fork --nopidfile
/usr/lib/polkit-1/polkitd --no-debug &
# Do not use exec: libsystemd takes the control group of process 1 for the root.
(
  for group in $groups; do
    echo "$BASHPID" > "$group/cgroup.procs"
  done
  exec setpriv --reuid "$id" --regid "$id" --init-groups \
    env -i PATH="$PATH" HOME=/run/home POLKIT_PASSWORD="$password" "$program" "$@"
)
