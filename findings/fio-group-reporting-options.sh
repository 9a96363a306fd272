#!/bin/sh
# fio 3.33 with group_reporting prints the sum of all sections under the name of the first and the
# options of the last.
#
# Sections without stonewall are one group, so a reader beside a writer are one entry of `jobs`. Its
# `jobname` is "reader", and its "job options" are the writer's: rw=randwrite, bs=8k. Whoever takes
# the pattern or the size of a result from there has those of other requests. Without
# group_reporting each entry has its own. Needs fio 3.33-3 of Debian 12; a missing one is installed,
# and python3. Seen:
#
#   group_reporting: 1 entry, named reader, rw=randwrite bs=8k, 64 reads and 64 writes
#   without: 2 entries, reader rw=randread, writer rw=randwrite
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
printf '%s\n' '[global]' filename=data size=1m number_ios=64 ioengine=psync \
    '[reader]' rw=randread bs=4k '[writer]' rw=randwrite bs=8k >jobs.fio

# Prints what the entries of `jobs` say: entries OPTION...
entries() {
    fio --output-format=json --output=out.json "$@" jobs.fio >/dev/null
    python3 -c '
import json
for job in json.load(open("out.json"))["jobs"]:
    told = job["job options"]
    print(job["jobname"], told["rw"], told["bs"], job["read"]["total_ios"], job["write"]["total_ios"])'
}

together=$(entries --group_reporting=1)
apart=$(entries | paste -sd ';')
echo "$version: with group_reporting: $together"
echo "$version: without: $apart"
[ "$together" = "reader randwrite 8k 64 64" ] || exit 1
[ "$apart" = "reader randread 4k 64 0;writer randwrite 8k 0 64" ]
