#!/usr/bin/env bash
# The scripts of bindings/octave/test and bindings/octave/examples, in Octave with the MEX function of this build. A script
# passes if it ends without an error; it finds a directory of its own in $SS_SCRATCH.
set -euo pipefail
source "$(dirname "$0")/kit.sh"
need octave-cli mkoctfile
[ -e "$SS_BUILD_DIR/octave/stickslip_mex.mex" ] || fail "no MEX function in the build, although mkoctfile is there"
toolbox=$SS_SOURCE_DIR/bindings/octave
failed=0
for script in "$toolbox"/test/test_*.m "$toolbox"/examples/*_example.m; do
    SS_SCRATCH=$(mktemp -d)
    export SS_SCRATCH
    (cd "$SS_SCRATCH" && octave-cli --norc --quiet --no-history --eval "addpath('$toolbox/inst', '$toolbox/test',
        '$toolbox/examples', '$SS_BUILD_DIR/octave'); run('$script')") </dev/null || { echo "FAIL: $script" >&2; failed=1; }
    rm -rf "$SS_SCRATCH"
done
exit $failed
