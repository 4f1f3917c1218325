#!/usr/bin/env bash
# Runs go test and prints what a person wants to see of it: a line a package, the
# output of packages that failed, and every skipped test with its reason.
#
#   scripts/gotest.sh [go test flags] PACKAGE...
#
# Where CI=true a skipped test is a failure: everything it could miss is installed.
# The whole output is kept in tmp/gotest.log, or in LOG.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p tmp
log=${LOG:-tmp/gotest.log}

status=0
go test -v "$@" 2>&1 | tee "$log" | awk '
	/^=== / { test = $3; next }
	/^ *--- PASS/ { next }
	/^\?   \t/ { n = 0; next }
	/^ok  \t/ { print; fflush(); n = 0; next }
	/^ *--- SKIP/ { skipped[++skips] = $3 ": " said[$3]; next }
	{ line[++n] = $0; said[test] = $0; sub(/^ +/, "", said[test]) }
	/^FAIL\t/ { for (i = 1; i <= n; i++) print line[i]; fflush(); n = 0; failed = 1 }
	END {
		if (!failed) for (i = 1; i <= n; i++) if (line[i] ~ /^(#|go: |panic)/ || broken) { print line[i]; broken = 1 }
		for (i = 1; i <= skips; i++) print "skipped " skipped[i]
	}' || status=$?

if grep -q '^ *--- SKIP' "$log" && [ "${CI:-}" = true ]; then
	echo "FAIL: tests were skipped, see above; CI allows none" >&2
	status=1
fi
exit "$status"
