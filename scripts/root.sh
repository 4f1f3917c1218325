#!/usr/bin/env bash
# Builds the smallest root of its own (python3-minimal) twice, the second time from
# the lock of the first, and judges in it. Needs root and the Debian archive.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/apt.sh mmdebstrap
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir" # boxes reach the root through it

for n in 1 2; do
	bin/judgefarm languages build python3-minimal --languages-dir "$dir" >"$dir/out" 2>"$dir/log" || { tail -n 20 "$dir/log" >&2; exit 1; }
	tail -n 2 "$dir/out"
	cp "$dir/python3-minimal.lock" "$dir/lock.$n"
done
cmp "$dir/lock.1" "$dir/lock.2"
bin/judgefarm languages --languages-dir "$dir" --cache-dir "$dir/cache" --self-test python3-minimal

# A lock that the archive does not keep to: nothing is written, and it is said why.
sed -i 's/^python3-minimal \S*/python3-minimal 0.0/' "$dir/python3-minimal.lock"
cp "$dir/python3-minimal.yaml" "$dir/before"
if bin/judgefarm languages build python3-minimal --languages-dir "$dir" >/dev/null 2>"$dir/log"; then
	echo "a lock that cannot be kept was not refused" >&2
	exit 1
fi
grep -q 'remove the lock' "$dir/log"
cmp "$dir/before" "$dir/python3-minimal.yaml"
