#!/bin/sh
# The averaged logs and histogram logs of fio 3.33 lack the window in which a job ends.
#
# log_avg_msec=500 and log_hist_msec=500 log a window when the next request after its end comes. A
# run of 1.75 s has windows until 1.5 s, and what came after is in no line: of 1,750 requests at a
# thousand a second the histograms have about 1,500. Rates by the lines of a log over the run time
# of the JSON are too low by that share. Needs fio 3.33-3 of Debian 12; a missing one is installed,
# and python3. Seen:
#
#   JSON 1,750 requests, histograms 1,500, last line of IOPS at 1,500 ms
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
fio --name=try --filename=data --size=1m --rw=randread --bs=4k --ioengine=psync --rate_iops=1000 \
    --time_based --runtime=1750ms --write_iops_log=a --log_avg_msec=500 --write_hist_log=a \
    --log_hist_msec=500 --output-format=json --output=out.json >/dev/null
python3 - "$version" <<'END'
import json, sys
total = json.load(open("out.json"))["jobs"][0]["read"]["total_ios"]
counted = sum(sum(map(int, line.split(",")[3:])) for line in open("a_clat_hist.1.log"))
last = max(int(line.split(",")[0]) for line in open("a_iops.1.log"))
print(f"{sys.argv[1]}: JSON {total} requests, histograms {counted}, last line of IOPS at {last} ms")
sys.exit(not (total >= 1700 and counted <= 0.92 * total and last <= 1600))
END
