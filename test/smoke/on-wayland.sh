#!/usr/bin/env bash
# Runs a command in a Wayland session without a screen: Sway, which tells what it shows, on a D-Bus session of its own.
set -euo pipefail

if [ "${1-}" != --in-session ]; then
  unset DISPLAY
  exec dbus-run-session -- "${BASH_SOURCE[0]}" --in-session "$@"
fi
shift

directory="$(mktemp -d)"
compositor=
trap 'if [ -n "$compositor" ]; then kill "$compositor"; fi; rm -rf "$directory"' EXIT
echo 'xwayland disable' > "$directory/config"
export XDG_RUNTIME_DIR="$directory" XDG_SESSION_TYPE=wayland
WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 sway --config "$directory/config" &> "$directory/log" &
compositor=$!
for ((tries = 0; tries < 100; tries++)); do
  SWAYSOCK="$(find "$directory" -name 'sway-ipc.*.sock')"
  WAYLAND_DISPLAY="$(find "$directory" -name 'wayland-*' ! -name '*.lock' -printf '%f')"
  if [ -n "$SWAYSOCK" ] && [ -n "$WAYLAND_DISPLAY" ]; then break; fi
  if ! kill -0 "$compositor"; then break; fi
  sleep 0.1
done
if [ -z "$SWAYSOCK" ] || [ -z "$WAYLAND_DISPLAY" ]; then
  cat "$directory/log" >&2
  exit 1
fi
export SWAYSOCK WAYLAND_DISPLAY
"$@"
