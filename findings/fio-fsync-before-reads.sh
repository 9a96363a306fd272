#!/bin/sh
# fsync=N of fio 3.33 flushes before every read, too, in a mix.
#
# The manual has "issue an fsync of the dirty data for every number of blocks given". In a mix of reads
# and writes the number of writes stays a multiple of N while reads come, and fio flushes before each of
# them. None comes after the last write. Needs fio 3.33-3 of Debian 12; a missing one is installed. Seen,
# of 4 MiB in requests of 4 KiB:
#
#   writes alone: 102 flushes after 1024 writes
#   70 % reads: 117 flushes after 317 writes, where one for ten would be 31
#
# Fails if fio behaves otherwise. Works in a temporary folder, which it removes.
set -eu

command -v fio >/dev/null || apt-get install -qq -y fio=3.33-3 </dev/null >/dev/null
version=$(fio --version)
[ "$version" = fio-3.33 ] || { echo "this is about fio-3.33, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
cd "$folder"
run() {
  fio --name=try --filename=data --ioengine=null --bs=4k --size=4m --fsync=10 --output-format=json "$@" |
    awk '/"(read|write|trim|sync)" :/ { part = $1 } /"total_ios"/ { gsub(/[^0-9]/, "", $3); n[part] = $3 }
         END { print n["\"write\""], n["\"sync\""] }'
}

set -- $(run --rw=write)
echo "$version: writes alone: $2 flushes after $1 writes"
[ "$1 $2" = "1024 102" ] || exit 1
set -- $(run --rw=rw --rwmixread=70)
echo "$version: 70 % reads: $2 flushes after $1 writes"
[ "$2" -gt $(($1 / 10 * 2)) ]
