# SPDX-License-Identifier: Apache-2.0
#
# The commands people type; CMake builds (CMakePresets.json, scripts/build). `make help` lists them. Each command installs the packages it
# needs (scripts/bootstrap) and builds the targets it uses.

.DEFAULT_GOAL := all
MAKEFLAGS += --no-print-directory

.PHONY: all run check test conformance soak bench fuzz fmt lint clean help bootstrap bootstrap-test bootstrap-bench release debug tsan

all: bootstrap              ## build/release: kc and the SDK libraries, for cmake --install
	@scripts/build release kc sdk

run: bootstrap              ## build and run a complete control plane on this machine; data in ./data
	@scripts/build release kc
	@exec build/release/kc up

check: bootstrap-test       ## run the unit tests that a change reaches; T=runtime/reflector: only these
	@scripts/check $(T)

test: bootstrap-test        ## run all checks and tests, as CI does
	@scripts/test

conformance: bootstrap-test ## compare with recordings and documents of kube-apiserver v1.34
	@scripts/build release -DKC_TESTS=ON kc kc_fields_runner kc_extract_runner
	@FIELDS_CASES=$${FIELDS_CASES:-200000} EXTRACT_CASES=$${EXTRACT_CASES:-6000} CEL_EXPRESSIONS=$${CEL_EXPRESSIONS:-200000} scripts/conformance

soak: release debug         ## run the long versions of tests/system and tests/attack, all tests under TSan, and make test on fresh chroots (root): many hours
	@scripts/soak

bench: bootstrap-bench      ## run the benchmarks: ratios to a peer in the same run
	@scripts/build release -DKC_TESTS=ON -DKC_BENCH=ON kc benchmarks
	@scripts/bench

fuzz: bootstrap-test        ## run each fuzzer for FUZZ_SECONDS (default 60), or only FUZZ=name
	@scripts/build fuzz
	@scripts/fuzz

fmt: bootstrap-test         ## format all C sources
	@scripts/format

lint: debug                 ## run clang-tidy and shellcheck
	@scripts/lint

clean:                      ## remove everything built
	rm -rf build

help:                       ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bootstrap:
	@scripts/bootstrap

bootstrap-test:
	@scripts/bootstrap --test

bootstrap-bench:
	@scripts/bootstrap --bench

release debug tsan: bootstrap-test
	@scripts/build $@ -DKC_TESTS=ON
