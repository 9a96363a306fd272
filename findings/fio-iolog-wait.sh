#!/bin/sh
# fio 3.33 replays `wait` of an iolog of version 2 otherwise than its manual says.
#
# The manual has "wait for offset microseconds", relative to the previous wait. fio waits until so
# many milliseconds have passed since it began: after "wait 500 0" and "wait 1000 0" the last read
# comes at one second. A line with the offset alone, "wait 500", is passed over in silence. So a
# log that was written by the manual is replayed a thousand times too slowly, and its pauses do not
# add up. Needs fio 3.33-3 of Debian 12; a missing one is installed. Seen:
#
#   wait 500 0, wait 1000 0: between 700 and 1,100 ms, 3 reads
#   wait 500, wait 1000: below 100 ms, 3 reads
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
truncate -s 1M data

# Prints the milliseconds from the first read to the last, and the reads: replayed FIRST SECOND.
replayed() {
    printf '%s\n' 'fio version 2 iolog' 'data add' 'data open' 'data read 0 4096' "data $1" \
        'data read 4096 4096' "data $2" 'data read 8192 4096' 'data close' >log
    fio --name=try --ioengine=psync --read_iolog=log --output-format=terse --terse-version=3 \
        2>/dev/null | awk -F';' '/^3;/ { print $9, $6 / 4 }'
}

with_length=$(replayed 'wait 500 0' 'wait 1000 0')
without=$(replayed 'wait 500' 'wait 1000')
echo "$version: wait 500 0, wait 1000 0: $with_length reads"
echo "$version: wait 500, wait 1000: $without reads"
echo "$with_length" | awk '{ exit !($1 > 700 && $1 < 1100 && $2 == 3) }' || exit 1
echo "$without" | awk '{ exit !($1 < 100 && $2 == 3) }' || exit 1
