#!/bin/sh
# bssplit of fio 3.33 gives sizes that nobody asked for, unless norandommap stands beside it.
#
# Random requests visit each block once, and fio notes the blocks in a map. A request of several blocks
# whose later blocks were visited is cut to those before. So 4k/50:16k/50 also reads 8 and 12 KiB, and
# has fewer of 16 KiB the longer it runs. Needs fio 3.33-3 of Debian 12; a missing one is installed.
# Seen, of 4 MiB:
#
#   with the map: requests of 4096 8192 12288 16384 bytes
#   norandommap: requests of 4096 16384 bytes
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
sizes() {
  rm -f log
  fio --name=try --filename=data --ioengine=null --rw=randread --bssplit=4k/50:16k/50 --size=4m \
      --write_iolog=log "$@" >/dev/null
  awk 'NF == 5 { print $5 }' log | sort -nu | tr '\n' ' '
}

mapped=$(sizes)
repeated=$(sizes --norandommap)
echo "$version: with the map: requests of ${mapped}bytes"
echo "$version: norandommap: requests of ${repeated}bytes"
[ "$mapped" = "4096 8192 12288 16384 " ] && [ "$repeated" = "4096 16384 " ]
