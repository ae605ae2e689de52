#!/usr/bin/env bash
# The examples say what their comments promise.
set -euo pipefail
source "$(dirname "$0")/kit.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

said=$("$SS_BUILD_DIR/example_embed") || fail "example_embed does not run"
# atan(0.4) is 0.3805: the first step of 0.01 rad beyond it
echo "$said" | grep -Eq '^slides at 0\.39 rad, atan\(mu\) is 0\.38 rad \(converged\); ' || fail "example_embed says '$said'"
# the page shows it as it is
sed '1,/^ \*\/$/d' "$SS_SOURCE_DIR/examples/embed.c" >"$work/embed.c"
awk '/^```c$/ {n++; text = ""; next} /^```$/ {if (n && text ~ /slides at/) printf "%s", text; n = 0} n {text = text $0 "\n"}' \
    "$SS_SOURCE_DIR/docs/api.md" | cmp -s - "$work/embed.c" || fail "docs/api.md does not show examples/embed.c"

said=$("$SS_BUILD_DIR/example_simulate") || fail "example_simulate does not run"
# it takes a tenth of a millimetre, and with it 0.16 degrees, until the sliding is seen
echo "$said" | grep -Eq '^the block slides at 26\.[67] degrees, atan\(mu\) is 26\.6 degrees$' ||
    fail "example_simulate says '$said'"
