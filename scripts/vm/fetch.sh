#!/bin/sh
# fetch.sh kernel ARCH: Debian's newest Linux 6.12 for amd64 or arm64.
# fetch.sh root ARCH: a small Debian of that architecture: what the tests of the box
# run, and nothing else.
# Either is unpacked below tmp/vm, nothing is installed, and its path is printed. What
# is there already is used for as long as the folder stays.
set -eu
cd "$(dirname "$0")/../.."
what=$1 arch=$2
dir=$PWD/tmp/vm/$what-$arch

programs='dash coreutils grep sed mount util-linux busybox-static
	libc6 libacl1 libattr1 libblkid1 libcap-ng0 libcrypt1 libgcc-s1 libgmp10 libmount1 libpcre2-8-0
	libselinux1 libsmartcols1 libtinfo6 libudev1 libuuid1'

# apt works with lists of its own: the host's may be old, and none are of a foreign
# architecture.
apt() {
	tool=$1
	shift
	"$tool" -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$dir/apt" \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$dir/apt/cache" \
		-o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}

# packages fetches them by name.
packages() {
	command -v apt-get >/dev/null || { echo "missing: apt-get, to fetch Debian's packages with" >&2; exit 1; }
	rm -rf "$dir"
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	apt apt-get update >&2
	[ "$what" = root ] || set -- "$(apt apt-cache depends "$1" | awk '$1 == "Depends:" { print $2; exit }')"
	(cd "$dir/apt" && apt apt-get download "$@") >&2
}

case $what in
kernel)
	found() { find "$dir/boot" -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1; }
	if [ -z "$(found)" ]; then
		packages "linux-image-6.12-$arch"
		dpkg-deb --fsys-tarfile "$dir"/apt/*.deb | tar -x -C "$dir" ./boot
		rm -rf "$dir/apt"
	fi
	found
	;;
root)
	if [ ! -e "$dir/done" ]; then
		# shellcheck disable=SC2086 # a list of names
		packages $programs
		cd "$dir"
		mkdir -p usr/bin usr/sbin usr/lib etc proc sys dev run tmp root
		ln -s usr/bin bin
		ln -s usr/sbin sbin
		ln -s usr/lib lib
		for deb in apt/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C .
		done
		ln -sf dash usr/bin/sh
		ln -s /bin/busybox usr/bin/ip
		echo 'root:x:0:0:root:/root:/bin/sh' >etc/passwd
		echo 'root:x:0:' >etc/group
		rm -rf apt
		touch etc/ld.so.cache # strict mode knows it by name
		touch done
	fi
	echo "$dir"
	;;
esac
