#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source passes other compilers without a warning: a language level without GNU extensions, clang, and musl's headers.
# Checked without making code, so that it is quick. CI builds with gcc as configured.
# shellcheck source=tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

flags="-I$TOP_SRCDIR/src -I$TOP_BUILDDIR/src -include $TOP_BUILDDIR/config.h -pthread
	-Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
	-Wformat=2 -Wundef -Wvla -Wwrite-strings -Werror -Werror=implicit-function-declaration -fsyntax-only"
libraries="$(configured JANSSON_CFLAGS) $(configured LIBEV_CFLAGS) $(configured LIBURING_CFLAGS) $(configured LIBBPF_CFLAGS)"

# each COMPILER FLAGS...: all sources but those for the kernel's machine; goes on after a failure, to show them all.
each() {
	rc=0
	for source in $(find "$TOP_SRCDIR/src" -name '*.c' ! -name '*.bpf.c' | sort); do
		# shellcheck disable=SC2086 # lists of words
		"$@" $flags "$source" || rc=1
	done
	return $rc
}

# musl-gcc hides /usr/include. What is no part of a C library (the kernel's headers, the libraries) is linked into a directory
# of its own, so that glibc's headers cannot slip in.
musl_headers() {
	mkdir "$scratch/musl"
	for header in linux asm-generic mtd ev.h jansson.h liburing.h liburing pcap.h pcap bpf; do
		[ ! -e "/usr/include/$header" ] || ln -s "/usr/include/$header" "$scratch/musl/"
	done
	multiarch=/usr/include/$(gcc -print-multiarch)
	for header in asm jansson_config.h; do
		for directory in "$multiarch" /usr/include; do
			[ ! -e "$directory/$header" ] || { ln -s "$directory/$header" "$scratch/musl/"; break; }
		done
	done
}

plan 3
name="R128 gcc -std=c11 compiles every source without a warning"
# shellcheck disable=SC2086
if have gcc; then check "$name" each gcc -std=c11 $libraries; else skip "$name" "gcc not found"; fi
name="R128 clang compiles every source without a warning"
# shellcheck disable=SC2086
if have clang; then check "$name" each clang $libraries; else skip "$name" "clang not found"; fi
name="R128 musl-gcc compiles every source without a warning"
if have musl-gcc; then
	musl_headers
	check "$name" each musl-gcc -isystem "$scratch/musl"
else
	skip "$name" "musl-gcc not found (Debian: musl-tools)"
fi
