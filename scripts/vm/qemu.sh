#!/bin/sh
# qemu.sh [TEST FLAGS]: runs the tests of judge/sandbox in an emulated machine with
# Debian's Linux 6.12 on a pure cgroup v2 tree and ends with their status. Where
# user-mode Linux has one CPU and no cpuset, PSI or Landlock, this one has two CPUs and
# all of them. ARCH=arm64 is a machine of that architecture with a small Debian; else
# it is a PC with this machine's own files.
# Needs root (virtiofsd), Debian's qemu-system-x86 or qemu-system-arm, Go, gcc.
# Everything is emulated: minutes, bounded by TIMEOUT.
set -eu
cd "$(dirname "$0")/../.."
. scripts/vm/lib.sh
timeout=${TIMEOUT:-1500}
arch=${ARCH:-amd64}
share=/usr/lib/qemu/virtiofsd # the one in C, of Debian 12
skips='TestHybridCgroups: the machine has cgroup v2 alone'
# The compilers of the host, read over virtiofs and emulated, reach the limit of CPU
# time of the hostile sources' tests; user-mode Linux runs those.
export NO_COMPILER=1

case $arch in
amd64)
	emulator=qemu-system-x86_64 machine=pc console=ttyS0 root=/
	;;
arm64)
	emulator=qemu-system-aarch64 machine=virt console=ttyAMA0
	root=$(scripts/vm/fetch.sh root arm64)
	export GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
	# Not here: containers, how exact times are, and the suite once more for each level
	# and user, which takes half an hour.
	set -- -test.skip '^(TestPods|TestAccuracy|TestOvershoot|TestLevel|TestUsernsOrdinary|TestOrdinary|TestPtrace.*User)' "$@"
	;;
esac
for tool in "$emulator" "$share" "${CC:-gcc}"; do
	command -v "$tool" >/dev/null || { echo "missing: $tool; see scripts/install.sh and the Makefile" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "qemu.sh shares the guest's files by virtiofsd, which needs root" >&2; exit 1; }
kernel=$(scripts/vm/fetch.sh kernel "$arch")
dir=$(mktemp -d -p "${root%/}/tmp")
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null || true; rm -rf "$dir"' EXIT
build_suite "$dir" "$timeout" "$@"
cp scripts/vm/init.sh "$dir"
"$share" --socket-path="$dir/fs.sock" -o source="$root" -o cache=always -o sandbox=chroot >"$dir/fs.log" 2>&1 &
served=$!
for _ in $(seq 100); do
	[ -S "$dir/fs.sock" ] && break
	sleep 0.1
done
# The kernel hands what it does not know to init as its environment. With
# mitigations every switch between boxes would cost an emulated flush.
timeout -k 5 "$timeout" "$emulator" -M "$machine,memory-backend=mem" \
	-object memory-backend-memfd,id=mem,size=2048M,share=on -m 2048 \
	-accel tcg,thread=multi -cpu max -smp 2 -display none -serial stdio -monitor none -no-reboot -nic none \
	-kernel "$kernel" -append "console=$console quiet panic=-1 mitigations=off rootfstype=virtiofs root=hostfs rw \
		init=/tmp/${dir##*/}/init.sh JF_DIR=/tmp/${dir##*/} JF_COPY=1 JF_WANT=smp,psi,landlock,cpuset,peak JF_SLOW=${JF_SLOW:-8}" \
	-chardev socket,id=fs,path="$dir/fs.sock" -device vhost-user-fs-pci,chardev=fs,tag=hostfs \
	</dev/null >"$dir/log" 2>&1 || true
judge_log "$dir/log" "$skips"
