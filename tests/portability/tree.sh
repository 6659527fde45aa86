#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of CONTRIBUTING.md that a machine can check.
# shellcheck source=tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"
cd "$TOP_SRCDIR" || exit 99

licence() {
	{
		find src tests man contrib m4 -type f ! -name '*.json' ! -name '*.pyc' ! -name '*.o' ! -name 'lt*.m4' ! -name 'libtool.m4' \
			! -path '*/.deps/*' ! -path '*/.libs/*' ! -name '.dirstamp' \
			\( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.awk' -o -name '*.m4' -o -name '*.mk' -o -name '*.bash' -o -name '*.[1-8]' \)
		echo configure.ac Makefile.am autogen.sh quickstart packages.list .ci/run | tr ' ' '\n'
	} | while read -r file; do
		head -n 4 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file"
	done | nothing "no SPDX-License-Identifier in the first lines"
}

# directions FOLDER ALLOWED...: sources of the folder include only from the allowed ones.
directions() {
	folder=$1
	shift
	allowed=$(echo "$@" | tr ' ' '|')
	grep -rHnE '^#include "' --include='*.[ch]' "src/$folder" | grep -vE "#include \"($allowed)/" |
		nothing "src/$folder may include from: $*"
}

include_directions() {
	directions base base &&
		directions net base net &&
		directions bpf bpf &&
		directions counters base net bpf counters &&
		directions engine base net engine &&
		directions sink base net counters engine sink &&
		directions source base net counters source
}

includes() {
	grep -rHnE '^#include [<"](config\.h|.*\.c)[">]' --include='*.[ch]' src tests |
		nothing "config.h comes from the command line, and a source is no header"
}

event_loop() {
	grep -rlE '^#include <ev\.h>' src | grep -vE '^src/sink/(control|sampler)\.[ch]$' |
		nothing "only sink/control.c and sink/sampler.c may see ev.h"
}

long_files() {
	find src -name '*.[ch]' | while read -r file; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 400 ] || echo "$file: $lines"
	done | nothing "files over 400 lines"
}

# A function's body begins and ends with a brace in the first column.
long_functions() {
	find src -name '*.c' -exec awk '
		/^[{]/ { start = FNR }
		/^[}]/ && start { if (FNR - start > 60) print FILENAME ":" start ": " FNR - start " lines"; start = 0 }
		FNR == 1 { start = 0 }' {} + | nothing "functions over 60 lines"
}

unfinished() {
	grep -rnE '\<(TODO|FIXME|XXX)\>' --include='*.[ch]' --include='*.py' src tests | nothing "unfinished"
}

run_time_probes() {
	grep -nE 'AC_(RUN_IFELSE|TRY_RUN|FUNC_(MALLOC|REALLOC|STRTOD))' configure.ac m4/us_*.m4 |
		nothing "probes that run a program, or replace malloc, break cross builds"
}

plan 8
check "each file names its licence" licence
check "folders include in one direction" include_directions
check "no source includes config.h or a source" includes
check "the event loop stays in the control thread" event_loop
check "files are at most 400 lines" long_files
check "functions are at most 60 lines" long_functions
check "nothing is marked as unfinished" unfinished
check "R130 configure runs nothing that it built" run_time_probes
