#!/bin/sh
# mkfs.xfs 6.1.0 refuses a stripe on a volume of 300 to 512 MiB, and speaks of the log.
#
# On 400 MiB it makes a file system without "-d su=64k,sw=1", and with it and "agcount=4". With the
# stripe alone it chooses more allocation groups, of which none holds the log of 64 MiB, and ends
# with "Log size must be at least 64MB." Needs xfsprogs 6.1.0 of Debian 12; a missing one is
# installed. Seen:
#
#   none: exit code 0; su=64k,sw=1: exit code 1; su=64k,sw=1,agcount=4: exit code 0
#   Log size must be at least 64MB.
#
# Fails if mkfs.xfs behaves otherwise. Works in a temporary folder, which it removes.
set -eu
PATH=$PATH:/sbin:/usr/sbin

command -v mkfs.xfs >/dev/null || apt-get install -qq -y xfsprogs=6.1.0-1 </dev/null >/dev/null
version=$(mkfs.xfs -V)
[ "$version" = "mkfs.xfs version 6.1.0" ] \
    || { echo "this is about mkfs.xfs 6.1.0, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

seen=
for options in none su=64k,sw=1 su=64k,sw=1,agcount=4; do
    rm -f "$folder/image"
    truncate -s 400M "$folder/image"
    words=$options
    [ "$options" != none ] || words=su=0,sw=0
    status=0
    mkfs.xfs -d "$words" "$folder/image" >"$folder/said-$options" 2>&1 || status=$?
    seen="$seen${seen:+; }$options: exit code $status"
done
echo "$seen"
grep "^Log size" "$folder/said-su=64k,sw=1"
wanted="none: exit code 0; su=64k,sw=1: exit code 1; su=64k,sw=1,agcount=4: exit code 0"
[ "$seen" = "$wanted" ] || { cat "$folder"/said-* >&2; exit 1; }
