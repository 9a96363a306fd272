#!/bin/sh
# Installs the tools that some tests compare ssdscope with, where apt and root allow it.
# Elsewhere it says which tests will be skipped. It never fails: the tools are optional.
set -u

# tool:package:what it is for
TOOLS="fio:fio:comparison of run with fio
chromium:chromium:rendering of the report page
zstd:zstd:traces compressed with zstd
valgrind:valgrind:instruction counts of make bench
losetup:mount:block devices, on loop devices (with root)
addpart:util-linux:block devices with partitions
mkfs.ext4:e2fsprogs:refusal of ext file systems, and mounts
mkfs.xfs:xfsprogs:refusal of xfs
mkfs.btrfs:btrfs-progs:refusal of btrfs
mkfs.f2fs:f2fs-tools:advised lines of F2FS
sfdisk:fdisk:advised lines of partitions
pvcreate:lvm2:advised lines of LVM
modprobe:kmod:advised lines that drivers of the kernel take
cryptsetup:cryptsetup-bin:advised lines of dm-crypt
nbdinfo:libnbd-bin:NBD with the clients of libnbd
nbdfuse:libnbd-bin:a simulated drive as a block device
nbdkit:nbdkit:NBD beside another server
qemu-io:qemu-utils:exports in QEMU
qemu-nbd:qemu-utils:refusal of an image that a virtual machine uses
qemu-system-x86_64:qemu-system-x86:a simulated drive as a disk of a virtual machine
sqlite3:sqlite3:a database on a simulated drive"

missing_packages() {
    echo "$TOOLS" | while IFS=: read -r tool package _; do
        command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$package"
    done
}

packages=$(missing_packages)
[ -z "$packages" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    echo "installing $packages" >&2
    apt-get update -qq </dev/null >&2 || echo "apt-get update failed; going on" >&2
    for package in $packages; do
        apt-get install -qq --no-install-recommends -y "$package" </dev/null >/dev/null 2>&1 \
            || echo "could not install $package" >&2
    done
fi

echo "$TOOLS" | while IFS=: read -r tool package purpose; do
    command -v "$tool" >/dev/null 2>&1 \
        || echo "missing: $tool (package $package); skipped: $purpose" >&2
done
exit 0
