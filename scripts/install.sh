#!/usr/bin/env bash
# Installs what judgefarm needs on a bare Debian machine that has Go, make and git.
#
#   scripts/install.sh build   a C compiler: the box is started by a few lines of C; Go's modules
#   scripts/install.sh core    build, and C, C++, Python, Java and Node to judge with
#   scripts/install.sh test    build, every language, redis-server, runc, the machine with cgroup v2
#
# Nothing is installed twice. Without root or apt it names what is missing: a
# missing compiler is an error, a missing language only a language less.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf '\n%s\n' "$*" >&2; exit 1; }

# need_go refuses a Go that is older than go.mod asks for.
need_go() {
	local want have
	want=$(awk '$1 == "go" { print $2; exit }' go.mod)
	command -v go >/dev/null || fail "Go is missing: install Go $want or newer and put its bin directory on the PATH."
	have=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//; s/-.*//')
	if [ "$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -n 1)" != "$want" ]; then
		fail "Go $have ($(command -v go)) is too old: go.mod asks for $want."
	fi
}

# need_roots sees to the certificates that Go fetches modules with.
need_roots() {
	if [ -z "${SSL_CERT_FILE:-}${SSL_CERT_DIR:-}" ] && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then
		scripts/apt.sh ca-certificates || true
	fi
}

# need_cc sees to a C compiler that can link, which cgo needs.
need_cc() {
	if have_cc; then return; fi
	scripts/apt.sh gcc libc6-dev || true
	have_cc || fail "A C compiler is missing: building the box needs gcc and libc6-dev (apt-get install gcc libc6-dev)."
}

have_cc() {
	local dir ok=1
	command -v "${CC:-gcc}" >/dev/null || return 1
	dir=$(mktemp -d)
	printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' >"$dir/a.c"
	"${CC:-gcc}" -o "$dir/a" "$dir/a.c" 2>/dev/null && ok=0
	rm -rf "$dir"
	return "$ok"
}

# need_modules fetches the modules of what "go list -deps ARGS" names, and tries again
# when one does not come: go asks for each once, and a build without it is none.
need_modules() {
	local try said
	for try in 1 2 3 4 5; do
		said=$(go list -deps "$@" 2>&1 >/dev/null) && return 0
		grep -q '://' <<<"$said" || return 0 # a fault of the sources: the build tells it better
		printf 'install: go list -deps %s: %s\n' "$*" "$(tail -n 5 <<<"$said")" >&2
		[ "$try" = 5 ] || sleep $((try * 5))
	done
	fail "Go's modules could not be fetched in $try tries, see above; $(go env GOPROXY) is where they were asked for."
}

what=${1:-core}
need_go
need_roots
need_cc
need_modules ./...
case $what in
build) ;;
core)
	scripts/toolchains.sh --core || echo "install: going on with the languages that are here" >&2
	;;
test)
	need_modules -test ./...
	need_modules -modfile=tools/go.mod tool
	scripts/apt.sh curl redis-server runc user-mode-linux gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	scripts/toolchains.sh --all
	;;
*)
	fail "usage: scripts/install.sh build|core|test"
	;;
esac
