#!/bin/sh
# SPDX-License-Identifier: MIT
# R129: a header that is there but lacks what is needed stops configure with the name of what is missing; it asks for declarations and members, not for files.
# shellcheck source=tests/portability/tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

# An older header: the real one, with a name taken out of it again.
older() {
	mkdir -p "$scratch/$1/$(dirname "$2")"
	printf '#include_next <%s>\n%s\n' "$2" "$3" >"$scratch/$1/$2"
}

# refuses FOLDER NAME: configure ends, and says what it misses.
refuses() {
	mkdir -p "$scratch/build-$1"
	if (cd "$scratch/build-$1" && "$TOP_SRCDIR/configure" --quiet CPPFLAGS="-I$scratch/$1" >out 2>&1); then
		echo 'configure went through'
		return 1
	fi
	cat "$scratch/build-$1/out"
	grep -q "$2" "$scratch/build-$1/config.log" && grep -q 'lacks a \(declaration\|member\)' "$scratch/build-$1/out"
}

# In a tree that was configured itself (./configure && make check) another build directory is refused.
[ ! -f "$TOP_SRCDIR/config.status" ] || skip_all 'the source tree is configured: configure takes no other build directory'

older macro sys/socket.h '#undef SO_BUSY_POLL'
plan 2
check 'R129 a socket option that the header lacks' refuses macro SO_BUSY_POLL || failed=1
older member netinet/in.h '#define ipi_spec_dst ipi_spec_dst_is_not_there'
check 'R129 a member that the struct of the header lacks' refuses member ipi_spec_dst || failed=1
exit "${failed:-0}"
