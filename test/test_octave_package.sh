#!/usr/bin/env bash
# The Octave package as a user meets it: library installed, `pkg install` of the tarball, `pkg load`, a frame solved.
set -euo pipefail
source "$(dirname "$0")/kit.sh"
need octave-cli mkoctfile pkg-config make cc
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

cmake --install "$SS_BUILD_DIR" --prefix "$tree/usr" >"$tree/log" || { cat "$tree/log"; fail "cmake --install"; }
cmake --build "$SS_BUILD_DIR" --target octave_package >"$tree/log" || { cat "$tree/log"; fail "octave_package"; }
PKG_CONFIG_PATH=$(dirname "$(find "$tree/usr" -name stickslip.pc)")
export PKG_CONFIG_PATH
package=$(ls "$SS_BUILD_DIR"/octave/stickslip-*.tar.gz)
"$SS_BUILD_DIR/example_record_frames" "$tree/slope.h5" >/dev/null

# octave SCRIPT...   runs lines in an Octave that knows only the package.
octave() {
    HOME=$tree octave-cli --norc --quiet --no-history --eval \
        "pkg prefix $tree/pkg $tree/pkg; pkg local_list $tree/list; $*" </dev/null 2>&1
}

said=$(octave "pkg install $package") || fail "pkg install: $said"
said=$(octave "pkg load stickslip; p = ss_read('$tree/slope.h5'); r = ss_solve(p.simulation_000001.mbs_frame000001, 'nsgs');
    printf('%s %s', stickslip(), r.status)") || fail "the installed package: $said"
version=$(sed -n 's/^Version: //p' "$PKG_CONFIG_PATH/stickslip.pc")
[ "$said" = "$version converged" ] || fail "the installed package says '$said'"

# What `pkg describe` shows, and what `help` says about each function of the index.
said=$(octave "pkg describe stickslip") || fail "pkg describe: $said"
grep -q 'frictional contact' <<<"$said" || fail "pkg describe says: $said"
indexed=$(sed -n 's/^ //p' "$SS_SOURCE_DIR/bindings/octave/INDEX" | sort)
present=$(cd "$SS_SOURCE_DIR/bindings/octave/inst" && ls -- *.m | sed 's/\.m$//' | sort)
[ "$indexed" = "$present" ] || fail "INDEX and inst differ: $(diff <(echo "$indexed") <(echo "$present"))"
said=$(octave "pkg load stickslip; names = strsplit(strtrim('$(echo $present)'));
    for i = 1:numel(names)
      text = get_help_text(names{i});
      if isempty(regexp(text, ['^ *.*' names{i}])), printf('%s: no help\n', names{i}); end
      if isempty(strfind(text, 'Example')), printf('%s: no example\n', names{i}); end
    end") || fail "help: $said"
[ -z "$said" ] || fail "$said"

# Without the library, the reason is said.
said=$(PKG_CONFIG_PATH=/nonexistent octave "pkg install $package" && echo installed) || true
grep -q 'the library is not installed' <<<"$said" || fail "without the library pkg install says: $said"
