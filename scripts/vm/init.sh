#!/bin/sh
# PID 1 of a guest: mounts what a host has, with cgroup v2 alone, runs run.sh of
# JF_DIR and powers off. The root is the host's own file system, so everything that
# is written goes to file systems in memory; with JF_COPY what is run lies there too,
# and only the test that wants a file which is not in memory writes to JF_DIR/cold.
# JF_WANT names what the machine is used for and so must have.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
[ -c /dev/zero ] || mount -t devtmpfs dev /dev
echo 1 >/proc/sys/kernel/printk # the tests make the kernel talk much
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs run /run
mkdir /run/work
if [ -n "$JF_COPY" ]; then
	cp -r "$JF_DIR/." /run/work
	mkdir /run/cold
	mount --bind "$JF_DIR/cold" /run/cold
	export JUDGEFARM_TEST_COLD=/run/cold
else
	mount --bind "$JF_DIR" /run/work
fi
mount -t tmpfs tmp /tmp && chmod 1777 /tmp
[ ! -d /dev/shm ] || mount -t tmpfs shm /dev/shm
ip link set lo up 2>/dev/null
echo "vm: $(uname -r), $(nproc) CPUs, up for $(cut -d' ' -f1 /proc/uptime) s, controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
missing=
for want in $(echo "$JF_WANT" | tr , ' '); do
	case $want in
	smp) [ "$(nproc)" -gt 1 ] ;;
	psi) [ -r /proc/pressure/cpu ] ;;
	landlock) mount -t securityfs sec /sys/kernel/security && grep -q landlock /sys/kernel/security/lsm ;;
	peak) mkdir /sys/fs/cgroup/x && [ -e /sys/fs/cgroup/x/cgroup.kill ] &&
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control && [ -e /sys/fs/cgroup/x/memory.peak ] && rmdir /sys/fs/cgroup/x ;;
	*) grep -qw "$want" /sys/fs/cgroup/cgroup.controllers ;;
	esac || missing="$missing $want"
done
[ -z "$missing" ] || { echo "vm: this machine lacks$missing"; echo o >/proc/sysrq-trigger; }
cd /run/work/src || echo "vm: no source directory"
sh /run/work/run.sh
echo "vm: exit $?, up for $(cut -d' ' -f1 /proc/uptime) s"
echo o >/proc/sysrq-trigger
sleep 5
