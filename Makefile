# replace_flow: see README.md for what it is, src/README.md for how it works.
#
#   make, make install     build and install for the server of PG_CONFIG
#   make installcheck      regression, isolation and TAP tests on an installed build
#   make check-style       the rules that a compiler does not check
#
# ./test/check does all of it on a bare machine.

MODULE_big = replace_flow
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c))

EXTENSION = replace_flow
EXTVERSION = 0.1.0
DATA_built = src/sql/replace_flow--$(EXTVERSION).sql

# The install script, in the order in which its pieces need each other.
SQL_PIECES = schema catalog capture flow using_flow where_flow expectation event worker view comment
SQL_FILES = $(SQL_PIECES:%=src/sql/%.sql)

# One file, one promise: a test is found by its name.
REGRESS = $(sort $(patsubst sql/%.sql,%,$(wildcard sql/*.sql)))
REGRESS_OPTS = --load-extension=replace_flow

ISOLATION = $(sort $(patsubst test/isolation/specs/%.spec,%,$(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --load-extension=replace_flow --inputdir=test/isolation --outputdir=test/isolation

TAP_TESTS = $(if $(wildcard test/t/*.pl),1,)
PROVE_TESTS = test/t/*.pl

# make STRICT=1: warnings are errors (not those of the server's headers)
ifdef STRICT
PG_CPPFLAGS = -isystem $(includedir_server)
PG_CFLAGS = -Wall -Wextra -Werror
endif

# make FAILPOINTS=1: tests can let the server fail at named points
ifdef FAILPOINTS
PG_CPPFLAGS += -DRF_FAILPOINTS
endif

EXTRA_CLEAN = $(DATA_built) test/isolation/output_iso

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(DATA_built): $(SQL_FILES) replace_flow.control
	@{ printf '%s\n' '\echo Use "CREATE EXTENSION replace_flow" to load this file. \quit'; cat $(SQL_FILES); } > $@
	@echo "assembled $@"

# Headers are few and everything is small: whatever changes, all is rebuilt.
$(OBJS): $(wildcard src/*.h)

.PHONY: check-style
check-style:
	@test/style/run
