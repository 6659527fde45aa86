#!/bin/sh
# SPDX-License-Identifier: MIT
# The distribution builds in the source tree and out of a read-only one, leaves the user's flags alone, decides without running
# programs, and gives the same bytes wherever, whenever and by whomever it is built.
# shellcheck source=tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

one=$scratch/one/udpsink
two=$scratch/two/another/name
out=$scratch/out/of/tree
user_cppflags=-DUSER_GAVE_THIS user_cflags='-O1 -g' user_ldflags=-Wl,-O1

distribution() {
	mkdir -p "${one%/*}" "${two%/*}" "$out" &&
		make -s -C "$TOP_BUILDDIR" distdir distdir="$one" &&
		cp -pR "$one" "$two" && chmod -R a-w "$two" && touch "$scratch/stamp"
}

# The caches of configure may be shared: what differs is where and by whom.
configure_at() {
	directory=$1
	shift
	(cd "$directory" && "$@" --quiet --cache-file="$scratch/cache" \
		CPPFLAGS="$user_cppflags" CFLAGS="$user_cflags" LDFLAGS="$user_ldflags")
}

in_tree() {
	configure_at "$one" ./configure && make -s -C "$one" -j2
}

out_of_tree() {
	(
		umask 077
		export LC_ALL=C.UTF-8 TZ=Asia/Kathmandu USER=somebody LOGNAME=somebody HOME="$scratch"
		configure_at "$out" "$two/configure" && make -s -C "$out" -j2
	) || return
	find "$two" -newer "$scratch/stamp" | nothing "changed in the read-only source tree"
}

user_flags() {
	for pair in "CPPFLAGS=$user_cppflags" "CFLAGS=$user_cflags" "LDFLAGS=$user_ldflags" LIBS=; do
		value=$(sed -n "s/^${pair%%=*} = *//p" "$out/Makefile")
		[ "$value" = "${pair#*=}" ] || { echo "${pair%%=*} became '$value', the user gave '${pair#*=}'"; return 1; }
	done
}

same_bytes() {
	rc=0
	for file in udp_sink udp_source contrib/completion/udp_sink; do
		cmp "$one/$file" "$out/$file" || rc=1
	done
	return $rc
}

no_traces() {
	for word in "$scratch" "$TOP_SRCDIR" "$(uname -n)"; do
		# A short host name may be a part of any word.
		[ ${#word} -ge 6 ] || continue
		grep -laF -e "$word" "$out/udp_sink" "$out/udp_source" | sed "s|\$| names $word|"
	done | nothing "machine in the program"
}

same_tarball() {
	rm -f "$scratch/cache"
	for directory in "$one" "$out"; do
		SOURCE_DATE_EPOCH=1700000000 make -s -C "$directory" dist || return
	done
	cmp "$one"/udpsink-*.tar.xz "$out"/udpsink-*.tar.xz
}

# A host that differs from the build machine makes configure refuse to run what it compiled; the compiler itself stays.
cross_configure() {
	mkdir "$scratch/cross"
	build=$("$TOP_SRCDIR/build-aux/config.guess")
	host=aarch64-linux-gnu
	case $build in aarch64*) host=x86_64-linux-gnu ;; esac
	(cd "$scratch/cross" && "$two/configure" --quiet --build="$build" --host=$host CC=gcc AR=ar PKG_CONFIG=pkg-config) || return
	grep -nE 'rpl_|define (malloc|realloc) ' "$scratch/cross/config.h" | nothing "replaced functions"
}

plan 8
check "make distdir" distribution || exit 0
check "builds in the source tree" in_tree
check "builds out of a read-only source tree" out_of_tree
check "CPPFLAGS, CFLAGS, LDFLAGS and LIBS stay as the user gave them" user_flags
check "R133 programs are the same bytes in both" same_bytes
check "R133 no path and no host name in the programs" no_traces
check "R133 tarballs are the same bytes" same_tarball
check "R130 configure works for another host" cross_configure
