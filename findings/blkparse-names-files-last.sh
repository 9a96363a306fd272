#!/bin/sh
# blkparse 1.2.0 prints "Input file X.blktrace.0 added" to stdout, and behind the events it read.
#
# The line is written with the C library, events with a buffer of blkparse's own. On a terminal it
# comes first; with `blkparse -i X > file` it is the end of the file, after the summary, for each
# processor one. `-q` leaves the summary out, but not these lines. So what blkparse prints to a
# file is not events and a summary alone, and a reader that takes lines of events from the end
# meets these. `-o file` has none of them. Needs blktrace 1.2.0-5 of Debian 12; a missing one is
# installed. The recording is made up: one read, queued. Seen:
#
#   -q > file: 2 lines, the last "Input file made.blktrace.0 added"; -q -o file: 1 line
#
# Fails if blkparse behaves otherwise. Works in a temporary folder, which it removes.
set -eu

command -v blkparse >/dev/null || apt-get install -qq -y blktrace=1.2.0-5 </dev/null >/dev/null
version=$(blkparse -V 2>&1)
[ "$version" = "blkparse version 1.2.0" ] || { echo "this is about 1.2.0, and here is $version" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
cd "$folder"

python3 - <<'END' >made.blktrace.0
import struct, sys
sys.stdout.buffer.write(struct.pack(
    "<IIQQIIIIIHH", 0x65617407, 1, 1000, 8, 4096, 1 << 16 | 1, 1, 8 << 20, 0, 0, 0
))
END

blkparse -q -i made >redirected
blkparse -q -i made -o written >/dev/null
last=$(tail -n 1 redirected)
echo "$version: > file: $(wc -l <redirected) lines, the last \"$last\"; -o file: $(wc -l <written) line"
[ "$last" = "Input file made.blktrace.0 added" ] || exit 1
[ "$(wc -l <redirected)" = 2 ] && [ "$(wc -l <written)" = 1 ] || exit 1
