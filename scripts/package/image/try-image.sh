#!/bin/bash
# Runs the container image of an OCI layout with runc or crun, without a daemon: as its own user, with a root file system that
# nobody may write, a hot restart with Sluice as PID 1, the health command, and `sluice drain` as a preStop hook has it.
# Needs root, umoci and one of both:
#   RUNTIME=runc scripts/package/image/try-image.sh dist/packages/sluice-image
set -euo pipefail
layout=$(readlink -f "${1:?name the folder of an OCI layout}")
tag=$(grep -o '"org.opencontainers.image.ref.name":"[^"]*"' "$layout/index.json" | cut -d'"' -f4)
work=$(mktemp -d)
name=sluice-try-$$
port=$((20000 + RANDOM % 10000))
admin=$((port + 1))
runtime=("${RUNTIME:-runc}" --root "$work/state")
finish() {
  "${runtime[@]}" delete --force "$name" 2>/dev/null || true
  wait || true
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "failed: $1"; cat "$work/log"; exit 1; }
ask() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "http://127.0.0.1:$port/" || true; }
epoch() { curl -s "http://127.0.0.1:$admin/server_info" | grep -o '"restart_epoch": [0-9]*' || true; }
until_epoch() { for _ in $(seq 300); do [ "$(epoch)" = "\"restart_epoch\": $1" ] && return; sleep 0.1; done; fail "no epoch $1"; }
inside() { "${runtime[@]}" exec "$name" "$@"; }

umoci unpack --image "$layout:$tag" "$work/bundle" 2>/dev/null
sed -i "s/port_value: 8080/port_value: $port/; s/port_value: 9901/port_value: $admin/; s/route: { cluster: app, .*/direct_response: { status: 200 }/" \
  "$work/bundle/rootfs/etc/envoy/envoy.yaml"
# The network is the machine's own, so that the script can ask; groups for resources may be missing.
node - "$work/bundle/config.json" <<'JS'
const fs = require('node:fs');
const path = process.argv[2];
const config = JSON.parse(fs.readFileSync(path, 'utf8'));
config.root.readonly = true;
config.process.terminal = false;
config.process.args.push('--parent-shutdown-time-s', '3', '--drain-time-s', '2');
const kept = ['pid', 'ipc', 'uts', 'mount'];
config.linux.namespaces = config.linux.namespaces.filter(({ type }) => kept.includes(type));
delete config.linux.resources;
config.mounts = config.mounts.filter(({ type, destination }) => type !== 'cgroup' && destination !== '/sys');
fs.writeFileSync(path, JSON.stringify(config));
JS
"${runtime[@]}" run --bundle "$work/bundle" "$name" >"$work/log" 2>&1 </dev/null &
until_epoch 0
[ "$(ask)" = 200 ] || fail "it does not serve"
echo "serves as $(awk '/^Uid/ { print $2 }' "/proc/$("${runtime[@]}" state "$name" | grep -o '"pid": *[0-9]*' | grep -o '[0-9]*')/status"), PID 1 is sluice-restarter"
inside /usr/local/bin/sluice-restarter status >"$work/status" || fail "the health command says no"
echo "health: $(tr -d ' \n' <"$work/status" | cut -c1-70)"
inside /usr/local/bin/envoy --version | tail -2 | head -1
(while [ ! -e "$work/stop" ]; do echo "$(ask)"; done >"$work/codes") &
"${runtime[@]}" kill "$name" HUP
until_epoch 1
sleep 4
touch "$work/stop"
echo "hot restart under load: $(wc -l <"$work/codes") requests, $(grep -vc 200 "$work/codes" || true) failed"
if grep -qv 200 "$work/codes"; then fail "requests were lost"; fi
inside /usr/local/bin/sluice drain --admin "127.0.0.1:$admin" --max 3 >/dev/null || fail "it does not drain"
echo "drained"
