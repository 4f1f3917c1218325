#!/usr/bin/env bash
# Installs the compilers and interpreters that the language definitions name.
#
#   scripts/toolchains.sh --core    those of the small core (make demo)
#   scripts/toolchains.sh --all     of every bundled language (the default)
#   add --check to install nothing and only say what is there
#
# What is there costs a look. Without root or apt nothing is installed: what is
# missing is named, with the status 1, and the rest is of use as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

set=all check=
for arg in "$@"; do
	case $arg in
	--core) set=core ;;
	--all) set=all ;;
	--check) check=1 ;;
	*) echo "usage: scripts/toolchains.sh [--core|--all] [--check]" >&2; exit 2 ;;
	esac
done

say() { printf 'toolchains: %s\n' "$*" >&2; }
definitions() { go run ./scripts/_toolchains "$@"; }

# installed_npm holds when NAME@VERSION lies below the prefix.
installed_npm() {
	grep -qs "\"version\": \"${1##*@}\"" "$2/node_modules/${1%@*}/package.json"
}

# npm_packages installs NAME@VERSION... where every box can read them. No script of
# a package is run.
npm_packages() {
	local prefix pkg need=()
	prefix=$(definitions prefix)
	for pkg in "$@"; do
		installed_npm "$pkg" "$prefix" || need+=("$pkg")
	done
	[ "${#need[@]}" -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		say "missing: ${need[*]}; to get it: sudo npm install --prefix $prefix --ignore-scripts ${need[*]}"
		return 1
	fi
	command -v npm >/dev/null || scripts/apt.sh npm || return 1
	say "installing ${need[*]} below $prefix"
	# All in one go: npm would remove what it did not install itself.
	(umask 022 && mkdir -p "$prefix" && npm install --fetch-retries 5 --prefix "$prefix" --no-audit --no-fund --ignore-scripts --loglevel=error "$@" >&2) || return 1
	chmod -R a+rX "$prefix"
}

if [ -z "$check" ]; then
	list=$(definitions packages "$set")
	mapfile -t apt < <(sed -n 's/^apt //p' <<<"$list")
	mapfile -t npm < <(sed -n 's/^npm //p' <<<"$list")
	[ "${#apt[@]}" = 0 ] || scripts/apt.sh "${apt[@]}" || true
	[ "${#npm[@]}" = 0 ] || npm_packages "${npm[@]}" || true
fi
# The programs decide, not the packages.
definitions check "$set" | { if [ -n "$check" ]; then cat; else grep -v ' there$' || true; fi; }
