#!/usr/bin/env bash
# Checks the files of `deploy/` with the programs that read them. Each program is on PATH or unpacked in `artefacts/`.
set -euo pipefail
cd "$(dirname "$0")/../.."

program() { command -v "$1" || find artefacts -name "$1" -type f -perm -u+x | head -1; }

promtool=$(program promtool)
"$promtool" check rules deploy/prometheus/alerts.yaml
"$promtool" test rules deploy/prometheus/alerts.test.yaml
for conf in deploy/nats.conf deploy/kubernetes/nats.conf; do
  NATS_PASSWORD=secret "$(program nats-server)" -t -c "$conf"
done
LISTEN=127.0.0.1:8080 API_1=127.0.0.1:1 API_1_OPERATIONS=1 API_2=127.0.0.1:2 API_2_OPERATIONS=2 \
  "$(program haproxy)" -c -f deploy/haproxy.cfg
# No Debian package of kubectl is new enough, so this check runs only if it is installed.
! command -v kubectl >/dev/null || kubectl kustomize deploy/kubernetes >/dev/null
