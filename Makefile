# SPDX-License-Identifier: Apache-2.0
#
# The commands people type; the build itself is CMake's (CMakePresets.json). `make help` lists them.

.DEFAULT_GOAL := all
MAKEFLAGS += --no-print-directory

.PHONY: all run test soak bench fuzz fmt lint clean help bootstrap release debug tsan clang

all: release                ## build/release/kc

run: release                ## start a whole plane on this machine; everything is kept in ./data
	@exec build/release/kc up

test: bootstrap             ## every check and test, as CI runs them
	@scripts/test

soak: release               ## the long version of tests/system: about a quarter of an hour
	@scripts/soak

bench: release              ## benchmarks, as ratios against a peer in the same run
	@scripts/bootstrap --bench
	@scripts/bench

fuzz: fuzz-build            ## each fuzzer for FUZZ_SECONDS (default 60), or only FUZZ=name
	@scripts/fuzz

fmt: bootstrap              ## format all C sources
	@scripts/format

lint: debug                 ## clang-tidy and shellcheck
	@scripts/lint

clean:                      ## remove everything built
	rm -rf build

help:                       ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bootstrap:
	@scripts/bootstrap

.PHONY: fuzz-build
fuzz-build: bootstrap
	@cmake --preset fuzz >/dev/null && cmake --build build/fuzz

release debug tsan clang: bootstrap
	@cmake --preset $@ >/dev/null && cmake --build build/$@
