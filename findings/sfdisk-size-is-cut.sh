#!/bin/sh
# sfdisk 2.38.1 cuts a size with a unit to the disk without a word, and refuses it in sectors.
#
# A partition of 200 MiB does not fit on a disk of 100 MiB. As "size=200MiB" sfdisk makes one of
# 97 MiB and ends with exit code 0; as "size=409600", which is the same in sectors, it refuses. So a
# script that was meant for a larger disk goes on. Needs fdisk 2.38.1 of Debian 12; a missing one is
# installed. Seen:
#
#   size=200MiB: exit code 0, 198656 sectors; size=409600: exit code 1
#
# Fails if sfdisk behaves otherwise. Works in a temporary folder, which it removes.
set -eu
PATH=$PATH:/sbin:/usr/sbin

command -v sfdisk >/dev/null || apt-get install -qq -y fdisk=2.38.1-5+deb12u3 </dev/null >/dev/null
version=$(sfdisk --version)
[ "$version" = "sfdisk from util-linux 2.38.1" ] \
    || { echo "this is about util-linux 2.38.1, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

partition() {
    truncate -s 0 "$folder/$1.img"
    truncate -s 100M "$folder/$1.img"
    status=0
    echo "start=1MiB, size=$2" | sfdisk --label gpt "$folder/$1.img" >"$folder/$1" 2>&1 || status=$?
}

partition unit 200MiB
first=$status
sectors=$(sfdisk --dump "$folder/unit.img" | sed -n 's/.*size= *\([0-9]*\),.*/\1/p')
partition bare 409600
echo "size=200MiB: exit code $first, $sectors sectors; size=409600: exit code $status"
[ "$first" = 0 ] && [ "$sectors" -lt 409600 ] && [ "$status" = 1 ] \
    || { cat "$folder/unit" "$folder/bare" >&2; exit 1; }
