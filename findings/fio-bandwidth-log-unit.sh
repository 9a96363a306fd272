#!/bin/sh
# The bandwidth log of fio 3.33 has two units, and no column says which.
#
# The manual has "value is in KiB/sec". That holds with log_avg_msec. Without it a line stands for
# one request, and its value is kilobytes of 1,000 bytes a second: of a request of 65,536 bytes that
# took T ns it is 65,536,000,000 / T, which is 2.4 % more than KiB/s. Needs fio 3.33-3 of Debian 12;
# a missing one is installed. Seen:
#
#   one by one: 8 of 8 values are kB/s of the request's latency, 0 are KiB/s
#   averaged over half a second, requests of 64 KiB in values of KiB/s (multiples of 128)
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
truncate -s 4M data

fio --name=try --filename=data --rw=read --bs=64k --number_ios=8 \
    --write_bw_log=one --write_lat_log=one >/dev/null
single=$(paste -d, one_bw.1.log one_clat.1.log | tr -d ' ' | awk -F, '
    function near(a, b) { return (a - b < 2 && b - a < 2) }
    { kb += near($2, 65536e6 / $7); kib += near($2, 65536e9 / $7 / 1024) }
    END { print kb + 0 " of " NR " values are kB/s of the request'"'"'s latency, " kib + 0 " are KiB/s" }')

fio --name=try --filename=data --rw=read --bs=64k --rate=1m --size=4m \
    --write_bw_log=windows --log_avg_msec=500 >/dev/null
windows=$(tr -d ' ' <windows_bw.1.log | awk -F, '
    function whole(share) { n = int(share + 0.5); return n > 0 && (share / n - 1) ^ 2 < 0.006 ^ 2 }
    { kib += whole($2 / 128); kb += whole($2 / 131.072) }
    END { print (kib > NR / 2 && kb == 0) ? "KiB/s" : "not KiB/s alone" }')

echo "$version: one by one: $single"
echo "$version: averaged over half a second, requests of 64 KiB in values of $windows"
[ "$single" = "8 of 8 values are kB/s of the request's latency, 0 are KiB/s" ] || exit 1
[ "$windows" = "KiB/s" ]
