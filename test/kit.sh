# The shell side of test/kit.h, to be sourced by a test script.

# skip WHY   ends the test as skipped; a failure with STICKSLIP_REQUIRE_TOOLS=1.
skip() {
    echo "skip: $*" >&2
    if [ "${STICKSLIP_REQUIRE_TOOLS:-}" = 1 ]; then exit 1; else exit 77; fi
}

# need PROGRAM...   skips the test when one of the programs is not installed.
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "$program is not installed (tools/setup test)"
    done
}

# fail WHY   ends the test as failed.
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
