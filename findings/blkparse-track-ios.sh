#!/bin/sh
# blkparse 1.2.0 -t prints waits for the dispatch that are no times if the scheduler is `none`.
#
# The manual has `-t` "display time deltas per IO": behind D how long a request waited for its
# dispatch, behind C how long the device took. blkparse counts the first from the event I, by which
# a request enters a scheduler. With the scheduler `none`, as is usual for NVMe, there is no I, and
# the wait is counted from whatever the memory held: for reads that waited 10,000 ns, thousands of
# millions of seconds, or the time since the trace began. Behind C the time is right. Needs blktrace
# 1.2.0-5 of Debian 12; a missing one is installed. The recordings are made up: a read with Q, G, D
# and C, and one with an I, 5,000 ns before D. Seen:
#
#   with I: 5000 90000; without: 11209906834616665517 90000, the first another number each time
#
# Fails if blkparse behaves otherwise. Works in a temporary folder, which it removes.
set -eu

command -v blkparse >/dev/null || apt-get install -qq -y blktrace=1.2.0-5 </dev/null >/dev/null
version=$(blkparse -V)
[ "$version" = "blkparse version 1.2.0" ] || { echo "this is about 1.2.0, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
cd "$folder"

python3 - <<'END'
import struct
READ, QUEUE, GET, ISSUE, COMPLETE, INSERT = 1 << 16 | 1 << 24, 1, 4, 7, 8, 12
EVENTS = ((0, QUEUE), (0, GET), (5_000, INSERT), (10_000, ISSUE), (100_000, COMPLETE))
for name, left_out in (("inserted", 0), ("none", INSERT)):
    with open(f"{name}.blktrace.0", "wb") as file:
        for number, (after, action) in enumerate(EVENTS, 1):
            if action != left_out:
                file.write(struct.pack(
                    "<IIQQIIIIIHH", 0x65617407, number, 5_000_000_000 + after, 8, 4096,
                    READ | action, 1, 8 << 20, 0, 0, 0,
                ))
END

# Prints what stands in brackets behind D and behind C.
waits() {
    blkparse -q -t -i "$1" | awk '($6 == "D" || $6 == "C") && sub(/.*\( */, "") {
        sub(/\).*/, ""); printf "%s ", $0 }'
}

with=$(waits inserted)
without=$(waits none)
echo "$version: with I $with; without $without"
[ "$with" = "5000 90000 " ] || exit 1
case "$without" in
"10000 "* | "5000 "*) exit 1 ;;
*" 90000 ") ;;
*) exit 1 ;;
esac
