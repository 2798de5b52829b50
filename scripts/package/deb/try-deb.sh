#!/bin/bash
# Installs the Debian package in a root of its own, serves with it as its user, upgrades it under load, removes and
# purges it. The root is this machine's with a layer above that is thrown away; root is needed, and nothing outside
# is touched:
#   unshare --mount scripts/package/deb/try-deb.sh PACKAGE.deb
# There is no systemd inside: what a reload of the service sends (SIGHUP) is sent by hand.
set -euo pipefail
package=$(readlink -f "${1:?name a Debian package}")
work=$(mktemp -d)
mount -t tmpfs tmpfs "$work"
mkdir "$work"/{upper,layer,root,next}
root=$work/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/layer" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
finish() {
  [ -z "${service:-}" ] || kill "$service" 2>/dev/null || true
  wait || true
  umount --lazy "$root/proc" "$root/dev" "$root/run" "$root" "$work" || true
  rmdir "$work"
}
trap finish EXIT
inside() { chroot "$root" "$@"; }
fail() { echo "failed: $1"; exit 1; }
port=$((20000 + RANDOM % 10000))
epoch() { curl -s "http://127.0.0.1:$((port + 1))/server_info" | grep -o '"restart_epoch": [0-9]*' || true; }
until_epoch() { for _ in $(seq 300); do [ "$(epoch)" = "\"restart_epoch\": $1" ] && return; sleep 0.1; done; fail "no epoch $1"; }

inside dpkg --install "${package}" >/dev/null
inside sluice --version | tail -2 | head -1
inside id sluice
inside sluice --mode validate -c /etc/sluice/bootstrap.yaml
sed -i "s/port_value: 8080/port_value: $port/; s/port_value: 9901/port_value: $((port + 1))/" "$root/etc/sluice/bootstrap.yaml"
sed -i 's/route: { cluster: app, .*/direct_response: { status: 200 }/' "$root/etc/sluice/bootstrap.yaml"

# The line of the unit, as the unit's user.
line=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/sluice.service" | sed 's/--parent-shutdown-time-s 60 --drain-time-s 45/--parent-shutdown-time-s 3 --drain-time-s 2/')
setsid chroot --userspec=sluice:sluice "$root" $line --base-id "$port" 2>"$work/log" &
service=$!
until_epoch 0
ask() { curl -s -o /dev/null -w '%{http_code}\n' --max-time 10 "http://127.0.0.1:$port/" || true; }
[ "$(ask)" = 200 ] || fail "it does not serve: $(cat "$work/log")"
echo "serves as $(ps -o user= -p "$service" | tr -d ' ')"

# The next version, by its number.
dpkg-deb --raw-extract "$package" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/next" "$root/run/next.deb" >/dev/null
(while [ ! -e "$work/stop" ]; do ask; done >"$work/codes") &
load=$!
inside dpkg --install /run/next.deb >/dev/null
kill -HUP "$service"
until_epoch 1
sleep 4
touch "$work/stop"
wait "$load"
echo "upgraded under load: $(wc -l <"$work/codes") requests, $(grep -vc 200 "$work/codes" || true) failed"
grep -qv 200 "$work/codes" && fail "requests were lost"
grep -q "port_value: $port" "$root/etc/sluice/bootstrap.yaml" || fail "the upgrade changed the bootstrap"

kill "$service"
wait "$service" || true
service=
inside dpkg --remove sluice >/dev/null
[ -e "$root/etc/sluice/bootstrap.yaml" ] || fail "the removal took the bootstrap"
[ ! -e "$root/usr/lib/sluice" ] || fail "the removal left the program"
inside dpkg --purge sluice >/dev/null
[ ! -e "$root/etc/sluice" ] || fail "the purge left the bootstrap"
echo "removed and purged"
