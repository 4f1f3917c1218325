#!/bin/sh
# uml.sh [TEST FLAGS]: runs the tests of judge/sandbox in user-mode Linux on a pure
# cgroup v2 tree and ends with their status. Needs Debian's package user-mode-linux,
# Go, gcc; boots in two seconds and never takes longer than TIMEOUT.
set -eu
cd "$(dirname "$0")/../.."
. scripts/vm/lib.sh
timeout=${TIMEOUT:-1000}
skips='TestThreadsEndBeforeASecondOfWall: user-mode Linux has one CPU
TestHybridCgroups: the machine has cgroup v2 alone
TestStrictForbids: ptrace of user-mode Linux has no register sets
TestStrictAllows: ptrace of user-mode Linux has no register sets
TestStrictEnds: ptrace of user-mode Linux has no register sets
TestStrictConformance: ptrace of user-mode Linux has no register sets
TestStrictHonest: ptrace of user-mode Linux has no register sets
TestStrictTracerBreaks: ptrace of user-mode Linux has no register sets
TestStrictKilledWorker: ptrace of user-mode Linux has no register sets
TestStrictPaths: ptrace of user-mode Linux has no register sets
TestStrictDying: ptrace of user-mode Linux has no register sets
TestStrictUnderSignals: ptrace of user-mode Linux has no register sets
TestTracedRunner: user-mode Linux has no Landlock
TestTracedAttacks: user-mode Linux has no Landlock
TestTracedReachesNothing: user-mode Linux has no Landlock
TestTracedOwn: user-mode Linux has no Landlock
TestTracedCPU: user-mode Linux has no Landlock
TestTracedRefuses: user-mode Linux has no Landlock
TestTracedKilledWorker: user-mode Linux has no Landlock
TestTracedUnderSignals: user-mode Linux has no Landlock
TestTracedNamedPipes: user-mode Linux has no Landlock
TestTracedProcIsReadOnly: user-mode Linux has no Landlock
TestTracedNoCapabilities: user-mode Linux has no Landlock
TestTracedNoCapabilitiesOfRoot: user-mode Linux has no Landlock
TestTracedPinnedSlots: user-mode Linux has no Landlock
TestTracedStdinIsNoDirectory: user-mode Linux has no Landlock
TestTracedMemoryThatHides: user-mode Linux has no Landlock
TestTracedSealed: user-mode Linux has no Landlock
TestTracedDiskHidden: user-mode Linux has no Landlock
TestTracedDiskHeld: user-mode Linux has no Landlock
TestTracedMemoryOfChild: user-mode Linux has no Landlock
TestTracedNestedDeep: user-mode Linux has no Landlock
TestTracedCannotRemove: user-mode Linux has no Landlock
TestTracedAnswers: user-mode Linux has no Landlock
TestTracedProc: user-mode Linux has no Landlock
TestTracedCopies: user-mode Linux has no Landlock
TestTracedLinks: user-mode Linux has no Landlock
TestTracedArchives: user-mode Linux has no Landlock
TestTracedOrdinaryUser: user-mode Linux has no Landlock
TestOutputThatCannotBeKept/traced: user-mode Linux has no Landlock
TestNameTooLongToSeek/traced: user-mode Linux has no Landlock
TestDeadCountAsTasks/traced: user-mode Linux has no Landlock'

if ! command -v linux.uml >/dev/null; then
	echo "missing: linux.uml; apt-get install user-mode-linux" >&2
	exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
build_suite "$dir" "$timeout" "$@"
"${CC:-gcc}" -O2 -Wall -shared -fPIC -o "$dir/xstate.so" scripts/vm/xstate.c # see there
# user-mode Linux passes what it does not know to init as its environment. Three tests at
# once on its only CPU: each waits for half of its time.
LD_PRELOAD="$dir/xstate.so" timeout -k 5 "$timeout" linux.uml mem=1536M root=/dev/root rootfstype=hostfs rootflags=/ rw \
	init="$PWD/scripts/vm/init.sh" JF_DIR="$dir" JF_PARALLEL="${JF_PARALLEL:-3}" JF_SLOW="${JF_SLOW:-4}" con=null con0=fd:0,fd:1 quiet \
	</dev/null >"$dir/log" 2>&1 || true
judge_log "$dir/log" "$skips"
