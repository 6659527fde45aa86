#!/bin/sh
# SPDX-License-Identifier: MIT
# R27: no system call gets a header with bytes that nobody wrote, and nothing is read past a buffer or left allocated.
# shellcheck source=tests/portability/tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

here=${TOP_BUILDDIR:?run by make check}/tests/contract

command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
[ "${UDPSINK_SANITIZERS:-no}" = no ] || skip_all "built with sanitizers ($UDPSINK_SANITIZERS), which valgrind cannot run"

# clean PROGRAM FILTER: valgrind finds nothing, and the tests that match the filter (there have to be some) pass.
clean() {
	valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite,possible \
		"$here/$1" "$2" >"$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	[ $status -eq 0 ] && grep -q '^ok ' "$scratch/out"
}

plan 3
check 'R27 receiving: sizes, batches, control data' clean receive '*sizes*v4' || failed=1
check 'R27 receiving: cut datagrams, mapped addresses' clean receive '*truncation*dual' || failed=1
check 'R27 answering' clean reply '*source of the answer*' || failed=1
exit "${failed:-0}"
