#!/usr/bin/env bash
# The library alone: it builds, installs and runs where node, npm, SQLite, Jansson and zlib cannot be found.
set -euo pipefail
source "$(dirname "$0")/kit.sh"
need cc cmake pkg-config readelf
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
program_only='node|npm|sqlite|jansson|zlib'

# In front of every search: a pkg-config that does not know the program's packages, a node and an npm that fail.
hide_what_the_program_needs() {
    mkdir "$tree/bin"
    cat >"$tree/bin/pkg-config" <<EOF
#!/bin/sh
for word; do
    case \$word in sqlite3*|jansson*|zlib*) exit 1 ;; esac
done
exec "$(command -v pkg-config)" "\$@"
EOF
    printf '#!/bin/sh\necho "$0 was called" >&2\nexit 1\n' | tee "$tree/bin/node" >"$tree/bin/npm"
    chmod +x "$tree"/bin/*
    export PATH=$tree/bin:$PATH PKG_CONFIG=$tree/bin/pkg-config
    ! pkg-config --exists sqlite3 || fail "SQLite is not hidden: this test would show nothing"
}

# Unoptimised and without debug symbols: it is the list of files that is tested here, and it has to be quick.
build_and_install() {
    local generator="Unix Makefiles"
    ! command -v ninja >/dev/null || generator=Ninja
    {
        cmake -S "$SS_SOURCE_DIR" -B "$tree/build" -G "$generator" -DSTICKSLIP_PROGRAM=OFF \
            -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 &&
            cmake --build "$tree/build" -j 2 && cmake --install "$tree/build" --prefix "$tree/usr"
    } >"$tree/log" 2>&1 || { tail -n 40 "$tree/log"; fail "the library does not build alone"; }
    libdir=$(dirname "$(find "$tree/usr" -name libstickslip.a)")
    export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
}

asks_for_nothing_of_the_program() {
    local asked
    asked=$(cut -d= -f1 "$tree/build/CMakeCache.txt" | grep -iE "$program_only" || true)
    [ -z "$asked" ] || fail "CMake looked for what only the program needs: $asked"
    [ ! -e "$tree/usr/bin/stickslip" ] || fail "the program was installed"
    asked=$(readelf -d "$libdir/libstickslip.so" | grep NEEDED | grep -iE "$program_only|libz" || true)
    [ -z "$asked" ] || fail "libstickslip.so needs $asked"
}

# simulates FLAGS...   the example, compiled from where it was installed, finds the angle of friction.
simulates() {
    local said
    cc "$tree/usr/share/doc/stickslip/examples/simulate.c" -o "$tree/simulate" "$@" -lm
    said=$("$tree/simulate") || fail "the example does not run with $*"
    grep -q '^the block slides at 26\.' <<<"$said" || fail "the example says '$said' with $*"
}

hide_what_the_program_needs
build_and_install
asks_for_nothing_of_the_program
simulates $(pkg-config --cflags --libs stickslip)
static=$(pkg-config --static --cflags --libs stickslip)
simulates ${static/-lstickslip/-l:libstickslip.a}
