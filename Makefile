# A thin front door to CMake and CTest: every target is one or two commands you can also type yourself.
#   make            sets up the machine and builds build/release/stickslip
#   make help       shows the rest
MAKEFLAGS += --no-print-directory
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
C_FILES = git ls-files -co --exclude-standard -- '*.c' '*.h'
# Ninja when it is there; asked when a recipe runs, because tools/setup may just have installed it.
define build
	@CMAKE_GENERATOR="$$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)" cmake --preset $(1) >/dev/null
	@cmake --build build/$(1) -j $(JOBS)
endef

.PHONY: all release library debug asan tsan fuzz octave test demo bench bench-octave bench-python bench-peers bench-recorders how-wrong node-engines bench-self bench-speed siconos race-engines study-coordinates format check-format install wheel clean help setup setup-library setup-test
all: release

##  build
release: setup        ## optimised build: build/release/stickslip (what plain `make` does)
library: setup-library ## the library and its examples alone, without what the program needs: build/library
debug: setup          ## unoptimised build with assertions: build/debug
asan: setup           ## build with address and undefined behaviour sanitizers: build/asan
tsan: setup-test      ## build with the thread sanitizer, with clang: build/tsan
release library debug asan tsan:
	$(call build,$@)

octave: setup         ## the Octave package, for `pkg install`: build/release/octave/stickslip-*.tar.gz
	@tools/setup octave
	$(call build,release)
	@cmake --build build/release --target octave_package
	@ls build/release/octave/stickslip-*.tar.gz

##  run
test: setup-test      ## release, asan and tsan builds, then all their tests as one CTest run
	@tools/test -j $(JOBS)
demo: release         ## a guided tour: simulate, record, compare solvers, report, replay
	@tools/demo
bench: release        ## the benchmark programs of bench/
	@for program in build/release/bench_*; do if [ -x "$$program" ]; then "$$program" || exit; fi; done
bench-octave: setup   ## time per step of scenes in RPIsim's form, from Octave; RPISIM=folder of its release compares
	@tools/setup octave
	$(call build,release)
	@octave-cli --norc --quiet --no-history --eval "addpath('bindings/octave/inst', 'bindings/octave/bench', \
	    'build/release/octave'); bench_rpisim('$(RPISIM)')"
bench-python: release ## what a call from Python costs beyond the same call from C
	@for script in bindings/python/bench/*.py; do PYTHONPATH=build/release/python /usr/bin/python3 "$$script" || exit; done
node-engines:         ## MuJoCo 3, Rapier, Jolt and PhysX as npm packages, for how-wrong; not part of any build
	@cd recorders/node && npm ci --no-audit --no-fund
how-wrong: setup      ## engines judged by their own answers on the same scenes: how-wrong/how-wrong.html
	@tools/setup engines
	$(call build,release)
	@tools/how-wrong build/release
bench-recorders: setup ## what recording costs a program that uses ODE, Bullet or MuJoCo
	@tools/setup engines
	$(call build,release)
	@tools/bench-recorders build/release
bench-self: setup     ## our kernels against the limits of this machine, and their instruction counts
	@tools/setup bench
	$(call build,release)
	@build/release/bench_self
bench-speed: setup    ## threads and a million contacts, for docs/speed.md: seven minutes, 3 GB
	$(call build,release)
	@tools/bench-self
bench-peers: setup    ## compare with Siconos (solvers), ODE, Bullet, MuJoCo (simulator); FILES="...", QUICK=1
	@tools/setup peers
	$(call build,release)
	@tools/bench-peers $(if $(QUICK),--quick) $(FILES)
siconos: setup        ## Siconos' solvers as a plug-in: build it and install it below PREFIX (default /usr/local)
	@tools/setup peers
	$(call build,release)
	@cmake --install build/release --component siconos --prefix "$(or $(PREFIX),/usr/local)"
race-engines: setup   ## error against time of our simulator, ODE, Bullet and MuJoCo: build/race-engines; QUICK=1, FRESH=1, SCENES="..."
	@tools/setup peers
	$(call build,release)
	@tools/race-engines $(if $(QUICK),--quick) $(if $(FRESH),--fresh) $(SCENES)
study-coordinates: setup ## minimal and maximal coordinates, beside MuJoCo on the same model files: study-coordinates/
	@tools/setup peers
	$(call build,release)
	@tools/study-coordinates
fuzz: setup-test      ## run each libFuzzer target of fuzz/ for FUZZ_SECONDS (default 60), with clang: build/fuzz
	$(call build,fuzz)
	@tools/fuzz $(FUZZ_SECONDS)

##  source
format:               ## clang-format on every C file
	@$(C_FILES) | xargs clang-format -i
check-format:         ## show what clang-format would change
	@/usr/bin/python3 tools/check format

##  machine
setup:                ## install the packages the build needs (Debian); quick when they are installed
	@tools/setup build
setup-library:        ## ... those the library alone needs
	@tools/setup library
setup-test:           ## ... and those the tests need
	@tools/setup build test
install: release      ## install below PREFIX (default /usr/local; DESTDIR is honoured)
	@cmake --install build/release --prefix $(PREFIX)
wheel: release        ## the Python package as one wheel for all Pythons, with everything it needs: dist/
	@tools/setup wheel
	@tools/wheel build/release
clean:                ## remove build/ and dist/
	@rm -rf build dist
help:                 ## this list
	@awk -F '##' '/^##/ { print "\n" $$2 } \
	    /^[a-z-]+:.*##/ { sub(/:.*/, "", $$1); printf "    make %-14s %s\n", $$1, $$2 }' Makefile
