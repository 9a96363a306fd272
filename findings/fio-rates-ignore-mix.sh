#!/bin/sh
# rate_iops of fio 3.33 takes no notice of rwmixread.
#
# rate_iops=100 is a hundred reads and a hundred writes a second: each direction runs at a rate of its
# own, and one that is ahead gives its turn to the other. So a mix of 70 % reads is one of 50 % as soon
# as the drive keeps up. Needs fio 3.33-3 of Debian 12; a missing one is installed. Seen, in a second:
#
#   rwmixread=70: 100 reads and 100 writes
#   rwmixread=90: 100 reads and 100 writes
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
  fio --name=try --filename=data --ioengine=null --rw=randrw --bs=4k --size=4m --rate_iops=100 \
      --runtime=1 --output-format=json "$@" |
    awk '/"(read|write|trim)" :/ { part = $1 } /"total_ios"/ { gsub(/[^0-9]/, "", $3); n[part] = $3 }
         END { print n["\"read\""], n["\"write\""] }'
}

for share in 70 90; do
  set -- $(run --rwmixread=$share)
  echo "$version: rwmixread=$share: $1 reads and $2 writes"
  for count in "$1" "$2"; do
    [ "$count" -ge 90 ] && [ "$count" -le 101 ] || exit 1
  done
done
