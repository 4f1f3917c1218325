#!/usr/bin/env bash
# Installs Debian packages by name: scripts/apt.sh PACKAGE...
# What is installed already costs one look at dpkg's list. Without root or apt it
# installs nothing, names what is missing and how to get it, and exits 1.
set -euo pipefail

say() { printf 'apt: %s\n' "$*" >&2; }

# missing prints those of its arguments that are not installed, one a line.
missing() {
	local pkg
	for pkg in "$@"; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$pkg" 2>/dev/null)" = installed ] || echo "$pkg"
	done
}

# lists_old holds when apt has no package lists or they are older than a day: an
# old list names versions that the mirror no longer has. The folder's own time
# counts; the files carry the mirror's.
lists_old() {
	local dir=/var/lib/apt/lists
	[ -z "$(find "$dir" -maxdepth 0 -mmin -1440 2>/dev/null)" ] || ! compgen -G "$dir/*_Packages*" >/dev/null
}

# patient runs apt-get and tries again while another one holds a lock or the mirror
# stumbles; between tries it fetches the lists anew. What apt-get says is shown only
# when it fails.
patient() {
	local try log
	log=$(mktemp)
	for try in 1 2 3 4 5; do
		if apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >"$log" 2>&1 </dev/null; then
			rm -f "$log"
			return 0
		fi
		tail -n 20 "$log" >&2
		[ "$try" -lt 5 ] || break
		say "apt-get $1 failed, trying again in $((try * 5)) s"
		sleep $((try * 5))
		[ "$1" = update ] || apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update >/dev/null 2>&1 </dev/null || true
	done
	rm -f "$log"
	say "apt-get $1 failed $try times, see above; once it works by hand, run this again"
	return 1
}

# Packages such as redis-server start a service when installed; what we install
# them for is the program alone. dpkg asks this file first.
forbid_services() {
	local policy=/usr/sbin/policy-rc.d
	[ -e "$policy" ] && return 0
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	trap 'rm -f /usr/sbin/policy-rc.d' EXIT
}

main() {
	local -a need
	command -v dpkg-query >/dev/null || { say "this is no Debian: install what stands for $* by hand"; exit 1; }
	mapfile -t need < <(missing "$@")
	[ "${#need[@]}" -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say "missing: ${need[*]}"
		say "not root, so nothing was installed; to get it: sudo apt-get install --no-install-recommends ${need[*]}"
		exit 1
	fi
	say "installing ${need[*]} and what they need; this can take minutes"
	export DEBIAN_FRONTEND=noninteractive
	forbid_services
	if lists_old; then patient update; fi
	patient install -y --no-install-recommends "${need[@]}"
	mapfile -t need < <(missing "$@")
	[ "${#need[@]}" = 0 ] || { say "still missing: ${need[*]}"; exit 1; }
}

main "$@"
