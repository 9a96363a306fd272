#!/bin/sh
# fio 3.33 takes a blank off the end of a file name, and writes to another file.
#
# "scratch.img " (with a blank) is a valid name. Told to write there, fio writes to "scratch.img"
# beside it, with exit code 0 and no word of it. Needs fio 3.33-3 of Debian 12; a missing one is
# installed. Seen:
#
#   named "scratch.img ", written "scratch.img", exit code 0
#
# Fails if fio behaves otherwise. Works in a temporary folder, which it removes.
set -eu

command -v fio >/dev/null || apt-get install -qq -y fio=3.33-3 </dev/null >/dev/null
version=$(fio --version)
[ "$version" = fio-3.33 ] || { echo "this is about fio-3.33, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

truncate -s 1M "$folder/scratch.img" "$folder/scratch.img "
status=0
fio --name=try --filename="$folder/scratch.img " --rw=write --bs=4k --number_ios=4 \
    >"$folder/said" 2>&1 || status=$?

written=
for name in "scratch.img" "scratch.img "; do
    cmp -s -n 1048576 "$folder/$name" /dev/zero || written="$written\"$name\""
done
echo "$version: named \"scratch.img \", written $written, exit code $status"
[ "$written, $status" = '"scratch.img", 0' ] || { cat "$folder/said" >&2; exit 1; }
