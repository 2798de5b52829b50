#!/bin/bash
# Runs the service under a real `systemd --user`: start, hot restart by reload, crash of everything with
# the listening socket kept, stop. Needs root for a mount namespace of its own, where the user manager
# believes that systemd booted the machine; touches nothing outside. Run it after `npm run build`:
#   unshare --mount scripts/systemd/try-user-manager.sh
# Options that need mounts or users are
# left out, the filters of system calls and address families are in force.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 10000))
admin=$((port + 1))
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 XDG_CONFIG_HOME=$work/config
mkdir -p "$XDG_CONFIG_HOME/systemd/user"
finish() {
  systemctl --user stop sluice 2>/dev/null || true
  systemctl --user exit 2>/dev/null || true
  wait || true
  rm -rf "$work"
}
trap finish EXIT

cat >"$work/bootstrap.yaml" <<YAML
admin: { address: { socket_address: { address: 127.0.0.1, port_value: $admin } } }
static_resources:
  listeners:
    - name: web
      address: { socket_address: { address: 127.0.0.1, port_value: $port } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: web
                route_config:
                  virtual_hosts:
                    - { name: all, domains: ['*'], routes: [{ match: { prefix: / }, direct_response: { status: 200 } }] }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: { '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
YAML

# The unit of this folder without what a user manager cannot do.
command="$(command -v node) $root/dist/src/restarter-main.js -c $work/bootstrap.yaml --base-id $port"
sed -e '/^DynamicUser/,/^ProtectControl/d' \
  -e "s|^ExecStart=.*|ExecStart=$command --parent-shutdown-time-s 2 --drain-time-s 1|" \
  "$root/scripts/systemd/sluice.service" >"$XDG_CONFIG_HOME/systemd/user/sluice.service"

manager=$(command -v systemd || echo /lib/systemd/systemd)
"$manager" --user --log-target=console --log-level=warning &
for _ in $(seq 50); do systemctl --user is-system-running >/dev/null 2>&1 && break || sleep 0.1; done

show() { systemctl --user show sluice -p ActiveState -p StatusText -p NFileDescriptorStore | paste -sd' '; }
status() { curl -s -o /dev/null -w '%{http_code}' --max-time 20 "http://127.0.0.1:$port/"; }
epoch() { curl -s "http://127.0.0.1:$admin/server_info" | grep -o '"restart_epoch": [0-9]*' || true; }
until_epoch() { for _ in $(seq 100); do [ "$(epoch)" = "\"restart_epoch\": $1" ] && return; sleep 0.1; done; echo "no epoch $1"; exit 1; }

systemctl --user start sluice
echo "started:  $(show) answer=$(status)"
systemctl --user reload sluice
until_epoch 1
echo "reloaded: $(show) answer=$(status)"
# What a crash of everything is: no process is left that could close or hand over a socket.
systemctl --user kill --signal=KILL sluice
echo "killed:   $(show) answer=$(status)"
until_epoch 0
echo "back:     $(show) answer=$(status)"
systemctl --user stop sluice
echo "stopped:  $(show)"
