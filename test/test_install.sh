#!/usr/bin/env bash
# What a packager and a user of the library meet: an installed tree, used through pkg-config and CMake.
set -euo pipefail
source "$(dirname "$0")/kit.sh"
need cc pkg-config nm readelf
consumer=$SS_SOURCE_DIR/test/install
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
prefix=$tree/usr

cmake --install "$SS_BUILD_DIR" --prefix "$prefix" >"$tree/log" || { cat "$tree/log"; fail "cmake --install"; }
libdir=$(dirname "$(find "$prefix" -name libstickslip.a)")
version=$(sed -n 's/^Version: //p' "$libdir/pkgconfig/stickslip.pc")
export PKG_CONFIG_PATH=$libdir/pkgconfig

# says_version PROGRAM   it runs, and speaks for the library that was just installed.
says_version() {
    local said
    said=$(LD_LIBRARY_PATH=$libdir "$1") || fail "$1 does not run"
    [ "$said" = "stickslip $version" ] || fail "$1 says '$said', not 'stickslip $version'"
}

# needs_library PROGRAM   true when the program is linked with the shared library.
needs_library() {
    readelf -d "$1" | grep -q 'NEEDED.*libstickslip\.so\.0'
}

with_pkg_config_shared() {
    cc "$consumer/consumer.c" -o "$tree/shared" $(pkg-config --cflags --libs stickslip)
    needs_library "$tree/shared" || fail "pkg-config: not linked with libstickslip.so.0"
    says_version "$tree/shared"
}

# Both libraries lie side by side and the linker would take the shared one, so the archive is named. Every
# object of it is linked, so that a dependency missing from Libs.private cannot hide.
with_pkg_config_static() {
    local libs
    libs=$(pkg-config --static --libs stickslip)
    libs=${libs/-lstickslip/-Wl,--whole-archive -l:libstickslip.a -Wl,--no-whole-archive}
    cc "$consumer/consumer.c" -o "$tree/static" $(pkg-config --cflags stickslip) $libs
    ! needs_library "$tree/static" || fail "pkg-config --static: linked with the shared library"
    says_version "$tree/static"
}

# The program of the README, as it is installed with the other examples, solves frames.
readme_program_solves_frames() {
    local said example=$prefix/share/doc/stickslip/examples/solve_frames.c
    sed -n '/^```c$/,/^```$/p' "$SS_SOURCE_DIR/README.md" | sed '/^```/d' >"$tree/readme.c"
    sed '1,/^ \*\/$/d' "$example" | cmp -s - "$tree/readme.c" || fail "examples/solve_frames.c is not the program of the README"
    cc -Wall -Wextra -Werror "$example" -o "$tree/solve_frames" $(pkg-config --cflags --libs stickslip)
    "$SS_BUILD_DIR/example_record_frames" "$tree/slope.h5" >/dev/null
    said=$(LD_LIBRARY_PATH=$libdir "$tree/solve_frames" "$tree/slope.h5") || fail "the program of the README fails"
    grep -Eq '^frame 3: converged, energy error [0-9.e-]+ J, worst at contact [0-9-]+$' <<<"$said" || fail "it says: $said"
}

# Embedding takes the installed library alone.
embedded_solver_finds_the_slope() {
    cc -Wall -Wextra -Werror "$prefix/share/doc/stickslip/examples/embed.c" -o "$tree/embed" \
        $(pkg-config --cflags --libs stickslip) -lm
    LD_LIBRARY_PATH=$libdir "$tree/embed" | grep -q '^slides at 0.39 rad' || fail "the installed examples/embed.c fails"
}

# The program as a function, on top of the installed library, which it finds beside itself.
program_is_a_library_too() {
    [ -x /usr/bin/python3 ] || return 0
    local said
    said=$(/usr/bin/python3 -c 'import ctypes, sys
program = ctypes.CDLL(sys.argv[1] + "/libstickslip_program.so")
sys.exit(program.ss_program_main(2, (ctypes.c_char_p * 2)(b"stickslip", b"--version")))' "$libdir") || fail "ss_program_main fails"
    [ "$said" = "$("$SS_PROGRAM" --version)" ] || fail "libstickslip_program.so says: $said"
}

with_cmake() {
    { cmake -S "$consumer" -B "$tree/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$tree/build"; } \
        >"$tree/log" 2>&1 || { cat "$tree/log"; fail "find_package(stickslip)"; }
    needs_library "$tree/build/consumer_shared" || fail "stickslip::stickslip is not the shared library"
    ! needs_library "$tree/build/consumer_static" || fail "stickslip::stickslip_static is not static"
    says_version "$tree/build/consumer_shared"
    says_version "$tree/build/consumer_static"
}

exports_only_our_names() {
    local exported foreign
    exported=$(nm -D --defined-only "$libdir/libstickslip.so" | awk '{print $3}')
    grep -qx ss_version <<<"$exported" || fail "ss_version is not exported"
    foreign=$(grep -v '^ss_' <<<"$exported" || true)
    [ -z "$foreign" ] || fail "exported without the ss_ prefix: $foreign"
}

# What the program needs besides is not the user's concern.
names_no_library_of_the_program() {
    local named
    named=$(pkg-config --static --libs stickslip | grep -oE -- '-l(sqlite3|jansson|z)( |$)' || true)
    [ -z "$named" ] || fail "stickslip.pc names what only the program needs: $named"
    named=$(readelf -d "$libdir/libstickslip.so" | grep -E 'NEEDED.*lib(sqlite3|jansson|z)\.' || true)
    [ -z "$named" ] || fail "libstickslip.so needs what only the program needs: $named"
}

installs_every_public_header() {
    diff -r "$SS_SOURCE_DIR/include/stickslip" "$prefix/include/stickslip" || fail "headers differ"
}

program_comes_with_its_papers() {
    [ -x "$prefix/bin/stickslip" ] || fail "program not installed"
    local file
    for file in man/man1/stickslip.1 bash-completion/completions/stickslip; do
        [ -s "$prefix/share/$file" ] || fail "$file is missing or empty"
    done
}

with_pkg_config_shared
with_pkg_config_static
readme_program_solves_frames
embedded_solver_finds_the_slope
program_is_a_library_too
with_cmake
exports_only_our_names
names_no_library_of_the_program
installs_every_public_header
program_comes_with_its_papers
