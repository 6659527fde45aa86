#!/bin/sh
# SPDX-License-Identifier: MIT
# Real cross builds; where qemu-user is there the unit tests run on the foreign machine, of which s390x is big-endian.
# On Debian 12, for ARCH = arm64, s390x:
#   dpkg --add-architecture ARCH; apt-get update
#   apt-get install crossbuild-essential-ARCH qemu-user libev-dev:ARCH libjansson-dev:ARCH libcmocka-dev:ARCH
# shellcheck source=tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

# Why this host cannot be built for here; nothing when it can.
lacks() {
	have "$1-gcc" || { echo "$1-gcc not found"; return; }
	for package in jansson cmocka; do
		PKG_CONFIG_LIBDIR=/usr/lib/$1/pkgconfig pkg-config --exists "$package" || { echo "no $package for $1"; return; }
	done
	[ -e "/usr/lib/$1/libev.so" ] || echo "no libev for $1"
}

build() {
	host=$1
	mkdir "$scratch/$host" && cd "$scratch/$host" || return
	PKG_CONFIG_LIBDIR=/usr/lib/$host/pkgconfig "$TOP_SRCDIR/configure" --quiet --host="$host" --enable-werror &&
		make -s -j2
}

unit_tests() {
	cd "$scratch/$1" || return
	# Only tests/unit: they make no traffic. Programs have no extension.
	tests=$(make -s print-unit-tests)
	[ -n "$tests" ] || { echo "no unit tests are built"; return 1; }
	# shellcheck disable=SC2086 # a list of words
	make -s -j2 $tests || return
	make -s -j2 check-TESTS TESTS="$tests" LOG_COMPILER="sh $TOP_SRCDIR/tests/cmocka-tap.sh timeout 120 $2"
}

plan 4
for pair in aarch64-linux-gnu:qemu-aarch64 s390x-linux-gnu:qemu-s390x; do
	host=${pair%:*}
	qemu=${pair#*:}
	reason=$(lacks "$host")
	name="R130 builds for $host"
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		check "$name" build "$host" || reason="the build failed"
	fi
	name="R135 unit tests pass on $host"
	[ -n "$reason" ] || have "$qemu" || reason="$qemu not found (Debian: qemu-user)"
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		check "$name" unit_tests "$host" "$qemu"
	fi
done
