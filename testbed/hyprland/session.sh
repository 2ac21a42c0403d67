# Hyprland, and the steps in it.
export LIBSEAT_BACKEND=seatd LIBGL_ALWAYS_SOFTWARE=1 LP_NATIVE_VECTOR_WIDTH=128 GSK_RENDERER=cairo XDG_SESSION_TYPE=wayland XDG_CURRENT_DESKTOP=Hyprland
export GTK_A11Y=atspi GDK_BACKEND=wayland GDK_DEBUG=no-portals QT_QPA_PLATFORM=wayland QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1
export GSETTINGS_BACKEND=keyfile ROWS=60
gsettings set org.gnome.desktop.interface toolkit-accessibility true
mkdir -p ~/.config/hypr
cat >~/.config/hypr/hyprland.conf <<'END'
monitor = , 1024x768, 0x0, 1
misc:disable_hyprland_logo = true
decoration:blur:enabled = false
decoration:shadow:enabled = false
animations:enabled = false
windowrule = match:class .*, float on
END
Hyprland --i-am-really-stupid >/tmp/hyprland.log 2>&1 &
for _ in $(seq 300); do
  ! hyprctl --instance 0 version 2>/dev/null | grep -m1 '^Tag' || break
  kill -0 $! || { cat /tmp/hyprland.log; exit 1; }
  sleep 1
done
hyprctl --instance 0 configerrors
HYPRLAND_INSTANCE_SIGNATURE=$(basename "$XDG_RUNTIME_DIR"/hypr/*)
WAYLAND_DISPLAY=$(cd "$XDG_RUNTIME_DIR" && ls | grep -xE 'wayland-[0-9]+')
export HYPRLAND_INSTANCE_SIGNATURE WAYLAND_DISPLAY
python3 -B /tmp/shared/try.py $(cat /tmp/shared/toolkits)
