#!/bin/sh
# PID 1 of the user-mode Linux guest: mounts what a host has, with cgroup v2 alone,
# runs $JF_RUN and powers off. The root is the host's own file system, so everything
# that is written goes to file systems in memory.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
echo 1 >/proc/sys/kernel/printk # the tests make the kernel talk much
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs run /run
mkdir /run/work && mount --bind "$JF_DIR" /run/work
mount -t tmpfs tmp /tmp && chmod 1777 /tmp
[ ! -d /dev/shm ] || mount -t tmpfs shm /dev/shm
ip link set lo up 2>/dev/null
echo "vm: $(uname -r), controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
cd /run/work/src || echo "vm: no source directory"
sh /run/work/run.sh
echo "vm: exit $?"
echo o >/proc/sysrq-trigger
sleep 5
