#!/bin/sh
# Builds dist/ssdscope-VERSION-cp311-abi3-PLATFORM.whl, which needs no cargo to install, and
# dist/ssdscope-VERSION.tar.gz, which builds that wheel again. Both say the commit that they are of.
set -eu

UV=${UV:-uv}
DIST=${1:-dist}
RECORDED=crates/python/COMMIT

# As crates/python/build.rs asks.
commit=$(git describe --always --exclude='*' --abbrev=7 --dirty=' with changes' 2>/dev/null) \
    || commit=unknown
trap 'rm -f "$RECORDED"' EXIT
trap 'exit 130' INT TERM HUP
printf '%s\n' "$commit" >"$RECORDED"

rm -f "$DIST"/ssdscope-*.whl "$DIST"/ssdscope-*.tar.gz
SSDSCOPE_COMMIT=$commit "$UV" build --quiet --sdist --wheel --out-dir "$DIST"
