#!/bin/sh
# uml.sh [TEST FLAGS]: runs the tests of judge/sandbox in user-mode Linux on a pure
# cgroup v2 tree and ends with their status. Needs Debian's package user-mode-linux,
# Go, gcc; boots in two seconds and never takes longer than TIMEOUT.
set -eu
cd "$(dirname "$0")/../.."
timeout=${TIMEOUT:-280}

if ! command -v linux.uml >/dev/null; then
	echo "missing: linux.uml; apt-get install user-mode-linux" >&2
	exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" "$dir/src/testdata"
chmod 755 "$dir"

# Statically linked: the guest reads files of the host slowly.
go test -c -o "$dir/sandbox.test" -ldflags '-linkmode external -extldflags -static' -tags 'netgo osusergo' ./judge/sandbox
gcc -O1 -w -static -pthread -o "$dir/deeds" judge/sandbox/testdata/deeds.c
# Once in the root group, and a part once more in a group that is delegated to the
# worker alone, as a service manager does.
cat >"$dir/run.sh" <<END
export JUDGEFARM_TEST_DEEDS=/run/work JUDGEFARM_TEST_SLOW=\${JF_SLOW:-4}
/run/work/sandbox.test -test.v -test.failfast -test.timeout ${timeout}s $* 2>&1 || exit
mkdir /sys/fs/cgroup/service
sh -c 'echo \$\$ >/sys/fs/cgroup/service/cgroup.procs
	exec /run/work/sandbox.test -test.v -test.timeout ${timeout}s -test.run "TestEnds|TestKilledWorker|TestJanitor"' 2>&1
END
# user-mode Linux passes what it does not know to init as its environment.
timeout -k 5 "$timeout" linux.uml mem=1536M root=/dev/root rootfstype=hostfs rootflags=/ rw \
	init="$PWD/scripts/vm/init.sh" JF_DIR="$dir" con=null con0=fd:0,fd:1 quiet \
	</dev/null >"$dir/log" 2>&1 || true
tr -d '\r' <"$dir/log" | grep -Ev 'mmapper_init|SELinux|ubd device|=== RUN|=== PAUSE|=== CONT' || true
# User-mode Linux has one CPU; every other test must run here.
if skipped=$(grep -aE '^ *--- SKIP' "$dir/log" | grep -v TestThreadsEndBeforeASecondOfWall); then
	printf 'tests were skipped on the v2 machine:\n%s\n' "$skipped" >&2
	exit 1
fi
grep -q '^vm: exit 0' "$dir/log"
