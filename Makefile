# The short way to every task; CMake does the work (see CMakePresets.json).
.DEFAULT_GOAL := build
.PHONY: build run test install bench figures format format-check lint fuzz coverage clean help

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
sources = $(shell git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build/*')

help:            ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 16

build:           ## library and command line tool, in build/release
	@scripts/setup.sh build
	@cmake --preset release >/dev/null && cmake --build build/release

run: build       ## the main job: a word list becomes a set, and the promise is checked
	@scripts/setup.sh words
	@scripts/demo.sh build/release/tamis

test:            ## build everything with assertions and run all tests
	@scripts/setup.sh build test words
	@cmake --preset dev >/dev/null && cmake --build build/dev
	@ctest --test-dir build/dev --output-on-failure -j 2

install: build   ## library, headers, tool, man pages, pkg-config and CMake package, below PREFIX
	@cmake --install build/release --prefix $(PREFIX)

bench:           ## measure speed beside the calibrators and the peers
	@scripts/setup.sh build bench
	@cmake --preset bench >/dev/null && cmake --build build/bench
	@scripts/bench.sh build/bench/tamis

figures: build   ## draw the plots in docs/
	@scripts/setup.sh figures
	@scripts/figures.sh build/release/tamis

format:          ## rewrite the sources in the house style
	@scripts/setup.sh lint
	@clang-format -i $(sources)

format-check:    ## fail if a source is not in the house style
	@scripts/setup.sh lint
	@clang-format --dry-run -Werror $(sources)

lint: format-check ## formatting, clang-tidy
	@scripts/setup.sh build test
	@cmake --preset dev -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	@scripts/lint.sh build/dev

fuzz:            ## run each fuzz target for FUZZ_SECONDS
	@scripts/setup.sh build fuzz
	@cmake --preset fuzz >/dev/null && cmake --build build/fuzz
	@scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

coverage:        ## line coverage of the tests, in build/coverage
	@scripts/setup.sh build test words coverage
	@cmake --preset coverage >/dev/null && cmake --build build/coverage
	@ctest --test-dir build/coverage -j 2 >/dev/null; \
	gcovr --root . --filter 'src/' --filter 'cli/' --object-directory build/coverage --print-summary

clean:           ## remove build/
	@rm -rf build
