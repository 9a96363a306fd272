#!/bin/sh
# fio 3.33 refuses to write to a mounted device, and ends with exit code 0.
#
# A script that asks for the exit code alone takes the refusal for a run. Needs root, a loop device
# and the packages fio 3.33-3, e2fsprogs and mount of Debian 12; a missing fio is installed. Seen:
#
#   fio: /dev/loop0 appears mounted, and 'allow_mounted_write' isn't set. Aborting.
#   exit code 0
#
# Fails if fio says something else or ends otherwise. Whatever it makes is undone.
set -eu

command -v fio >/dev/null || apt-get install -qq -y fio=3.33-3 </dev/null >/dev/null
version=$(fio --version)
[ "$version" = fio-3.33 ] || { echo "this is about fio-3.33, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
device=
undo() {
    umount "$folder/mnt" 2>/dev/null || true
    [ -z "$device" ] || losetup --detach "$device"
    rm -rf "$folder"
}
trap undo EXIT
trap 'exit 130' INT TERM HUP

truncate -s 16M "$folder/scratch.img"
mkfs.ext4 -q "$folder/scratch.img"
device=$(losetup --find --show "$folder/scratch.img")
mkdir "$folder/mnt"
mount -o ro,noload "$device" "$folder/mnt"
before=$(sha256sum <"$folder/scratch.img")

status=0
said=$(fio --name=try --filename="$device" --rw=randwrite --bs=4k --number_ios=16 2>&1) || status=$?

echo "$version: $(echo "$said" | grep -m 1 mounted)"
echo "exit code $status"
[ "$before" = "$(sha256sum <"$folder/scratch.img")" ] || { echo "it has written" >&2; exit 1; }
echo "$said" | grep -q "appears mounted" || { echo "$said" >&2; exit 1; }
[ "$status" = 0 ] || { echo "changed: the exit code was 0" >&2; exit 1; }
