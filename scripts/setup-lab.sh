#!/bin/sh
# Installs what `make lab` needs: QEMU and the tools that its guest uses, by apt, and Debian's kernel
# as files below out/lab (it is unpacked there, never installed). Says what is missing, and ends
# with 2 then: without these there is no laboratory.
set -u

FOLDER=${1:-out/lab}

# tool:package:what it is for
TOOLS="qemu-system-x86_64:qemu-system-x86:the machine
busybox:busybox-static:the first programs of the guest
modprobe:kmod:modules of the guest
fio:fio:jobs in the guest
blktrace:blktrace:traces in the guest
nvme:nvme-cli:what another tool says of NVMe drives
nbd-client:nbd-client:the NBD client of the kernel
mdadm:mdadm:arrays
dmsetup:dmsetup:volumes
cryptsetup:cryptsetup-bin:encrypted volumes
mkfs.ext4:e2fsprogs:file systems
mkfs.f2fs:f2fs-tools:advised lines of F2FS
make-bcache:bcache-tools:advised lines of bcache
lvcreate:lvm2:advised lines of thin pools
losetup:mount:loop devices
addpart:util-linux:partitions"

missing() {
    echo "$TOOLS" | while IFS=: read -r tool package purpose; do
        PATH=$PATH:/sbin:/usr/sbin command -v "$tool" >/dev/null 2>&1 || printf "$1" "$package" "$purpose"
    done
}

fail() {
    printf '%s\n\nhint: %s\n' "$1" "$2" >&2
    exit 2
}

[ "$(id -u)" = 0 ] || fail "make lab needs root: the guest reads this file system as it is" "sudo make lab"
packages=$(missing '%s %.0s')
if [ -n "$packages" ] || [ ! -d "$FOLDER/kernel/lib/modules" ]; then
    command -v apt-get >/dev/null 2>&1 \
        || fail "make lab needs apt-get, for Debian's kernel and: $packages" "run it on Debian or Ubuntu"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null >&2 || echo "apt-get update failed; going on" >&2
fi
for package in $packages; do
    echo "installing $package" >&2
    apt-get install -qq --no-install-recommends -y "$package" </dev/null >/dev/null 2>&1
done
packages=$(missing '%s (%s) ')
[ -z "$packages" ] || fail "missing: $packages" "apt-get install them"

if [ ! -d "$FOLDER/kernel/lib/modules" ]; then
    name=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*-amd64\)$/\1/p' | head -n 1)
    [ -n "$name" ] || fail "apt knows no linux-image-amd64" "run it on Debian, on x86-64"
    echo "getting $name (70 MB; unpacked in $FOLDER/kernel, not installed)" >&2
    mkdir -p "$FOLDER" && cd "$FOLDER" || exit 2
    rm -rf unpacking
    apt-get download -qq "$name" </dev/null >&2 || fail "$name cannot be downloaded" "apt-get update"
    dpkg -x "$name"_*.deb unpacking || fail "$name cannot be unpacked" "is the disk full?"
    version=$(ls unpacking/lib/modules)
    # Tools are used with a folder of modules of their own; see `man depmod`.
    PATH=$PATH:/sbin:/usr/sbin depmod -b unpacking "$version" && mv unpacking kernel
    rm -f "$name"_*.deb
fi
