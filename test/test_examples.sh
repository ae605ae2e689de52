#!/usr/bin/env bash
# The examples say what their comments promise.
set -euo pipefail
source "$(dirname "$0")/kit.sh"

said=$("$SS_BUILD_DIR/example_simulate") || fail "example_simulate does not run"
# it takes a tenth of a millimetre, and with it 0.16 degrees, until the sliding is seen
echo "$said" | grep -Eq '^the block slides at 26\.[67] degrees, atan\(mu\) is 26\.6 degrees$' ||
    fail "example_simulate says '$said'"
