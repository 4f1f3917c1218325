#!/usr/bin/env bash
# soak.sh [RUNS [SEED]]: tens of thousands of runs through real daemons, one worker
# killed and started again at random; fails on whatever is left or grows. See
# cmd/judgefarm/soak_test.go. It runs in pid, mount and IPC namespaces of its own, so
# that all that is to be seen there is ours; as root.
set -euo pipefail
cd "$(dirname "$0")/.."
export JUDGEFARM_SOAK_RUNS=${1:-50000} JUDGEFARM_SOAK_SEED=${2:-}

[ "$(id -u)" = 0 ] || { echo "soak.sh makes cgroups and namespaces: run it as root" >&2; exit 1; }
mkdir -p tmp
go test -c -tags soak -o tmp/soak.test ./cmd/judgefarm
cd cmd/judgefarm
# The shell is PID 1 there and reaps whoever loses his parent.
exec unshare --pid --fork --kill-child --mount-proc --ipc sh -c \
	'../../tmp/soak.test -test.run "^TestSoak$" -test.count 1 -test.timeout 6h -test.v; exit $?'
