#!/usr/bin/env bash
# test.sh STICKSLIP FRAMES.h5   builds the plug-in out of tree and solves the frames with it.
# STICKSLIP_INCLUDE names the headers; without it, those of the source tree this file is in, or installed ones.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1 frames=$2
include=${STICKSLIP_INCLUDE:-}
if [ -z "$include" ] && [ -e "$here/../../include/stickslip/solver.h" ]; then
    include=$here/../../include
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test.sh: $*" >&2
    exit 1
}

{ cmake -S "$here" -B "$work" ${include:+-DSTICKSLIP_INCLUDE="$include"} && cmake --build "$work"; } >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "does not build"; }

"$program" solvers --plugin "$work/my_solver.so" | grep -q '^ *richardson ' || fail "is not listed"
"$program" solve "$frames" --plugin "$work/my_solver.so" --solver richardson --set damping=1.5 \
    --iterations 100000 --stop 'relative_energy<1e-6' || fail "does not solve $frames"
