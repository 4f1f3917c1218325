# Sourced by the scripts that run tests in a machine of their own: what they share.

# The hostile sources that a machine thirty times slower compiles in some seconds, of
# each kind one or two: devices, time, memory, files of the host, plugins.
compile_attacks='TestAttacks/(D19_c_zero$|D20_cpp17_template|D23_c_|D24_c_shadow|D25_c_)'

# build_suite DIR SECONDS [TEST FLAGS]: the tests of judge/sandbox, the programs that
# they run, and run.sh, which the guest's init starts. All linked statically: a guest
# reads files of the host slowly. NO_COMPILER says that the guest has
# none that is quick enough.
build_suite() {
	local dir=$1 seconds=$2 package program flag flags=
	shift 2
	for flag in "$@"; do
		flags="$flags '$flag'"
	done
	mkdir -p "$dir/src/testdata" "$dir/cold"
	chmod 755 "$dir"
	for package in sandbox compile; do
		go test -c -o "$dir/$package.test" -ldflags '-linkmode external -extldflags -static' -tags 'netgo osusergo' "./judge/$package"
	done
	for program in deeds exact; do
		"${CC:-gcc}" -O1 -w -static -pthread -o "$dir/$program" "judge/sandbox/testdata/$program.c"
	done
	# Once in the root group, without the containers, and a part once more in a group that is delegated to the
	# worker alone, as a service manager does.
	cat >"$dir/run.sh" <<END
export JUDGEFARM_TEST_DEEDS=/run/work JUDGEFARM_TEST_SLOW=\${JF_SLOW:-4}
/run/work/sandbox.test -test.v -test.parallel \${JF_PARALLEL:-2} -test.failfast -test.timeout ${seconds}s -test.skip '^TestPods' $flags 2>&1 || exit
[ -n "${NO_COMPILER:-}" ] || /run/work/compile.test -test.v -test.timeout ${seconds}s -test.run '$compile_attacks' 2>&1 || exit
mkdir /sys/fs/cgroup/service
sh -c 'echo \$\$ >/sys/fs/cgroup/service/cgroup.procs
	exec /run/work/sandbox.test -test.v -test.timeout ${seconds}s -test.run "TestEnds|TestKilledWorker|TestJanitor"' 2>&1
END
}

# judge_log LOG SKIPS: prints what a machine said and fails unless every test passed
# and none was skipped but those of SKIPS, one "TestName: reason" a line; TestName/part
# is that part of it alone.
judge_log() {
	local log=$1 skips=$2 name skipped=""
	tr -d '\r' <"$log" | grep -aEv 'mmapper_init|SELinux|ubd device|=== (RUN|PAUSE|CONT|NAME)' || true
	for name in $(tr -d '\r' <"$log" | sed -n 's/^ *--- SKIP: \([^ ]*\).*/\1/p'); do
		if ! printf '%s\n' "$skips" | grep -q -e "^${name%%/*}: ." -e "^$name: ."; then
			skipped="$skipped $name"
		fi
	done
	if [ -n "$skipped" ]; then
		printf 'tests were skipped on this machine:%s\n' "$skipped" >&2
		return 1
	fi
	if ! grep -aq '^vm: exit' "$log"; then
		echo 'the machine came to no end: it hung, or it did not start' >&2
		return 1
	fi
	grep -aq '^vm: exit 0' "$log"
}
