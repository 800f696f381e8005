# The short way to every task; CMake does the work (see CMakePresets.json).
.DEFAULT_GOAL := build
.PHONY: help newcomer bare build run test install bench figures format format-check lint fuzz coverage symbols
.PHONY: completion instructions hash-cost mutate test-big-endian test-aarch64 test-i686 amalgamation install-python wheel deb reference clean
.PHONY: leveldb sqlite postgresql install-postgresql redis redis-docs redis-demo web site pictures test-site test-integrations

PREFIX ?= /usr/local
# What 'make install' takes; another one is taken as it is.
RELEASE ?= build/release
PYTHON ?= python3
FUZZ_SECONDS ?= 60
BENCH ?=
BARE ?=
MUTATE ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
sources = $(shell git ls-files -co --exclude-standard '*.c' '*.h' 2>/dev/null | grep . || \
            find . -name '*.[ch]' -not -path './build/*')

# configure-and-build PRESET
define configure-and-build
@cmake --preset $(1) >/dev/null
@cmake --build build/$(1)
endef

help:            ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' Makefile | expand -t 17

build:           ## library and command line tool, in build/release
	@scripts/setup.sh build
	$(call configure-and-build,release)

run: build       ## the main job: a word list becomes a set, and the promise is checked
	@scripts/setup.sh words
	@scripts/demo.sh build/release/tamis

test:            ## build everything with assertions and run all tests
	@scripts/setup.sh build test words
	$(call configure-and-build,dev)
	@ctest --test-dir build/dev --output-on-failure -j $(JOBS) -LE cpu-off-long

bare:            ## what README.md says, done on a bare Debian that debootstrap makes; BARE=--long for more
	@scripts/setup.sh bare
	@tests/newcomer/bare.sh $(BARE) .

newcomer:        ## a fresh clone, the README and four million real keys: a newcomer's first hour
	@scripts/setup.sh newcomer
	@tests/newcomer/first_hour.sh --tests .

install: $(if $(filter build/release,$(RELEASE)),build) ## library, headers, tool, man pages, pkg-config and CMake package, below PREFIX
	@cmake --install $(RELEASE) --prefix '$(PREFIX)' || \
	    { echo 'without root: make install PREFIX=$$HOME/.local' >&2; exit 1; }
	@if [ -z '$(DESTDIR)' ]; then scripts/setup.sh use || true; scripts/installed.sh '$(PREFIX)'; fi

bench:           ## measure speed beside calibrators and peers, draw the plots; BENCH: only 'tamis bench' with these options
	@scripts/setup.sh build bench
	$(call configure-and-build,bench)
	@if [ -n "$(BENCH)" ]; then build/bench/tamis bench $(BENCH); else scripts/bench.sh build/bench/tamis; fi

bench-table:     ## reads, size and speed of tables beside SQLite, LMDB and LevelDB; BENCH has options
	@scripts/setup.sh build bench
	$(call configure-and-build,bench)
	@build/bench/tamis table bench --peers --each 500 --replace 10 $(BENCH)
	@echo && build/bench/tamis table bench --peers --each 500 --replace 10 --names $(BENCH)
	@echo && build/bench/tamis table bench --grow -n 10M

figures: build   ## draw the plots in docs/
	@scripts/setup.sh figures
	@scripts/figures.sh build/release/tamis

format:          ## rewrite the sources in the house style
	@scripts/setup.sh lint
	@clang-format -i $(sources)

format-check:    ## fail if a source is not in the house style
	@scripts/setup.sh lint
	@clang-format --dry-run -Werror $(sources)

lint: format-check ## formatting, clang-tidy, shellcheck, mandoc
	@scripts/setup.sh build test $(integrations)
	@cmake --preset dev -B build/lint -DTAMIS_INTEGRATIONS=all -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	@scripts/lint.sh build/lint

fuzz:            ## run each fuzz target for FUZZ_SECONDS
	@scripts/setup.sh build fuzz
	$(call configure-and-build,fuzz)
	@scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

# Tests that fill a disk or limit files fail here, since the counters cannot be written: 'make test' judges.
coverage:        ## line coverage of the tests, in build/coverage/report
	@scripts/setup.sh build test words coverage
	$(call configure-and-build,coverage)
	@ctest --test-dir build/coverage -j $(JOBS) -LE 'install|abi|newcomer|amalgamation|python|cpu-off' || true
	@mkdir -p build/coverage/report
	@gcovr --root . --filter src/ --filter cli/ --print-summary --txt build/coverage/report.txt \
	    --html-details build/coverage/report/index.html \
	    build/coverage/CMakeFiles/tamis_objects.dir build/coverage/CMakeFiles/tamis_cli.dir

mutate:          ## change the code at random places and see whether tests fail; MUTATE: options, as '-n 50'
	@scripts/setup.sh build test
	@scripts/mutate.py $(MUTATE)

symbols:         ## write the list of exported symbols anew, after a change of the public headers
	@scripts/setup.sh build test
	@mkdir -p build/dev && sh tests/abi/test_symbols.sh . build/dev $(CC) --update

# The same program gives the same numbers on every machine with the same processor features.
instructions:    ## instructions of every operation, by callgrind, beside bench/results/instructions.csv
	@scripts/setup.sh build instructions
	$(call configure-and-build,release)
	@scripts/instructions.sh build/release/libtamis.a >build/instructions.csv
	@scripts/instructions.py bench/results/instructions.csv build/instructions.csv

hash-cost:       ## time and instructions of the hashes, beside each other
	@scripts/setup.sh build
	$(call configure-and-build,release)
	@scripts/hash-cost.sh build/release/libtamis.a

# The planner is left out: it stores no bytes, and its test has a limit of time. So are threads, by which no byte differs.
test-big-endian: ## the tests of formats and kernels on a big-endian machine, run by qemu
	@scripts/setup.sh build cross
	$(call configure-and-build,big-endian)
	@ctest --test-dir build/big-endian --output-on-failure -j $(JOBS) -L 'unit|golden|robust' \
	    -E 'unit_(plan|shared|allocation)|robust_(table_readers|cost|adversary)'

completion:      ## make the files for bash, zsh and fish in cli/completion anew, after a change of the help
	@scripts/setup.sh build test
	$(call configure-and-build,dev)
	@scripts/completion.py build/dev/tamis cli/completion

# With NEON and without; what stores no bytes, or is the same code as on every machine, is left out.
test-aarch64:    ## the tests of formats and kernels on 64-bit ARM, run by qemu
	@scripts/setup.sh build aarch64
	$(call configure-and-build,aarch64)
	@ctest --test-dir build/aarch64 --output-on-failure -j $(JOBS) -L 'unit|golden|robust|cpu-off' \
	    -E '^(unit_(plan.*|grow|table.*|summary.*|pages|allocation)|robust_(table|pages|cost|adversary)_?.*)$$'

test-i686:       ## the tests of formats and kernels on a 32-bit machine
	@scripts/setup.sh build i686
	$(call configure-and-build,i686)
	@ctest --test-dir build/i686 --output-on-failure -j $(JOBS) -L 'unit|golden|robust'

amalgamation:    ## the library as two files, tamis.c and tamis.h, in build/amalgamation
	@scripts/setup.sh amalgamation
	@scripts/amalgamate.py . build/amalgamation
	@echo "build/amalgamation: cc -O2 -c tamis.c"

install-python:  ## the Python module, below PREFIX, for the interpreter PYTHON
	@scripts/setup.sh python
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' PYTHON='$(PYTHON)' bindings/python/install.sh

wheel:           ## a wheel with the library inside and a source distribution, in build/wheel; one serves Python 3.9 and later
	@scripts/setup.sh python
	@$(PYTHON) bindings/python/build_backend/tamis_build.py sdist build/wheel
	@$(PYTHON) bindings/python/build_backend/tamis_build.py wheel build/wheel

# Folders of integrations/, each a client of the public headers with targets and tests of its own.
integrations = $(patsubst integrations/%/CMakeLists.txt,%,$(wildcard integrations/*/CMakeLists.txt))

# build-integrations TARGET
define build-integrations
@cmake --preset release -B build/integrations -DTAMIS_INTEGRATIONS=all >/dev/null
@cmake --build build/integrations --target $(1)
endef

# They are built beside the tool: what it has compiled serves them all.  One that was built before stays.
empty :=
built = $(shell sed -n 's/^TAMIS_INTEGRATIONS:[A-Z]*=//p' build/release/CMakeCache.txt 2>/dev/null | tr ';' ' ')
# build-integration NAME
define build-integration
@cmake --preset release -DTAMIS_INTEGRATIONS='$(subst $(empty) $(empty),;,$(sort $(built) $(1)))' >/dev/null
@cmake --build build/release --target $(1)
endef

redis:           ## the module for Redis and Valkey: build/release/integrations/redis/tamis.so
	@scripts/setup.sh build
	$(call build-integration,redis)
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || \
	    echo 'no server is installed here; on Debian, as root: apt install redis-server'
	@echo "redis-server --loadmodule $(CURDIR)/build/release/integrations/redis/tamis.so"

redis-docs: redis ## the table of commands in docs/redis.md anew, from what a server tells of them
	@scripts/setup.sh redis
	@/usr/bin/python3 integrations/redis/docs.py docs/redis.md build/release/integrations/redis/tamis.so

redis-demo: redis ## a cluster of three primaries and replicas on local ports, a set of real keys, the loss of a node
	@scripts/setup.sh redis words
	@/usr/bin/python3 integrations/redis/demo.py build/release/integrations/redis/tamis.so

sqlite:          ## the extension for SQLite: build/release/integrations/sqlite/tamis.so
	@scripts/setup.sh build sqlite
	$(call build-integration,sqlite)
	@scripts/setup.sh sqlite-shell || true
	@echo "sqlite3 -cmd '.load $(CURDIR)/build/release/integrations/sqlite/tamis'"

leveldb:         ## the filter policy for LevelDB, build/release/integrations/leveldb/libtamis-leveldb.a, and its tests
	@scripts/setup.sh build leveldb
	$(call build-integration,leveldb)

postgresql:      ## the extension for PostgreSQL; 'make install-postgresql' puts it into the server that is here
	@scripts/setup.sh build postgresql
	$(call build-integration,postgresql)
	@echo "as root: make install-postgresql; then, in a database: CREATE EXTENSION tamis"

install-postgresql: postgresql ## below the folders that pg_config names
	@cmake --install build/release --component postgresql

web:             ## the library for node and browsers, an npm package: build/integrations/integrations/web/package
	@scripts/setup.sh build web
	@cmake --preset release -B build/integrations -DTAMIS_INTEGRATIONS=web >/dev/null
	@cmake --build build/integrations --target web
	@echo "in a folder of yours: npm install $(CURDIR)/build/integrations/integrations/web/package"

site: web        ## planner, sets, documentation and reference as static pages: build/site/index.html
	@scripts/setup.sh site
	@integrations/web/site/site.sh build/integrations/integrations/web/package build/site

pictures: web    ## the pictures of the planner in docs/figures, taken from the site
	@scripts/setup.sh site test-site pictures
	@integrations/web/site/site.sh build/integrations/integrations/web/package build/site --tests
	@node integrations/web/site/pictures.mjs build/site build/site-modules/node_modules docs/figures

test-site: web   ## build the site and test it in Chromium
	@scripts/setup.sh site test-site python
	@cmake --build build/integrations --target tamis_cli
	@integrations/web/site/site.sh build/integrations/integrations/web/package build/site --tests
	@node integrations/web/tests/test_site.mjs build/site build/site-modules/node_modules build/integrations

test-integrations: ## build every integration and run its tests, in build/integrations
	@scripts/setup.sh build $(integrations)
	$(call build-integrations,all)
	@ctest --test-dir build/integrations --output-on-failure -j $(JOBS)

deb:             ## Debian packages, in build/deb; checked by lintian and by their own tests
	@scripts/setup.sh build deb redis sqlite sqlite-shell leveldb postgresql
	@packaging/deb.sh . build/deb
	@echo "deb: 4. checks: lintian, links, the packages' own tests, the example of README.md"
	@sh tests/packaging/test_deb.sh . build/deb
	@echo "deb: all is well"

reference:       ## the reference of the headers, by Doxygen, in build/reference/html
	@scripts/setup.sh reference
	@scripts/reference.sh build/reference

clean:           ## remove build/
	@rm -rf build
