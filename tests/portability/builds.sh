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

# The optional libraries are left out: it builds, says so, refuses what needs them, and still knows the same options.
without_libraries() {
	mkdir "$scratch/without" || return
	configure_at "$scratch/without" "$two/configure" --without-liburing --without-libpcap --disable-bpf --enable-werror || return
	make -s -C "$scratch/without" -j2 CFLAGS=-O0 udp_source udp_sink || return
	"$scratch/without/udp_source" --version -v | grep -q 'liburing none, libpcap none' || { echo "--version -v names a library"; return 1; }
	refuses udp_source "--sender uring 127.0.0.1" "built without liburing" && refuses udp_source "--pcap $0 127.0.0.1" "built without libpcap" &&
		refuses udp_sink "--listen 127.0.0.1:0 --duration 1ms --drop-reasons" "built without BPF (--disable-bpf)" || return
	"$out/udp_source" --dump-options >"$scratch/with.options" && "$scratch/without/udp_source" --dump-options | cmp - "$scratch/with.options"
}

# refuses PROGRAM ARGUMENTS SENTENCE
refuses() {
	# shellcheck disable=SC2086 # a list of words
	! "$scratch/without/$1" $2 2>"$scratch/refused" || { echo "$2 is not refused"; return 1; }
	grep -q "$3" "$scratch/refused" || { cat "$scratch/refused"; return 1; }
}

# --with-liburing=yes does without nothing, and does not take what is no choice; the other libraries share its macro.
strict_library() {
	mkdir "$scratch/strict" || return
	! (cd "$scratch/strict" && PKG_CONFIG_LIBDIR=/nowhere JANSSON_CFLAGS=' ' JANSSON_LIBS=-ljansson "$two/configure" --quiet --cache-file="$scratch/strict/cache" \
		--with-liburing=yes) >"$scratch/strict.log" 2>&1 || { echo "configure went on without liburing"; return 1; }
	grep -q 'liburing 2.3 or later not found' "$scratch/strict.log" || { cat "$scratch/strict.log"; return 1; }
	! (cd "$scratch/strict" && "$two/configure" --quiet --cache-file="$scratch/strict/cache" --with-liburing=perhaps) >"$scratch/strict.log" 2>&1 &&
		grep -q 'takes auto, yes or no' "$scratch/strict.log" || { cat "$scratch/strict.log"; return 1; }
}

# A clang that makes nothing: --enable-bpf=yes stops, auto goes on without and says why.
strict_bpf() {
	mkdir "$scratch/bpf" || return
	! (cd "$scratch/bpf" && "$two/configure" --quiet --cache-file="$scratch/bpf/cache" --enable-bpf=yes CLANG=false) >"$scratch/bpf.log" 2>&1 ||
		{ echo "configure went on without BPF"; return 1; }
	why=$(sed -n 's/^configure: error: --enable-bpf: \(.*\) (Debian)$/\1/p' "$scratch/bpf.log")
	[ -n "$why" ] || { cat "$scratch/bpf.log"; return 1; }
	(cd "$scratch/bpf" && "$two/configure" --cache-file="$scratch/bpf/cache" CLANG=false) >"$scratch/bpf.log" 2>&1 &&
		grep -qF "bpf: none ($why)" "$scratch/bpf.log" || { tail -n 20 "$scratch/bpf.log"; return 1; }
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

plan 11
check "make distdir" distribution || exit 0
check "builds in the source tree" in_tree
check "builds out of a read-only source tree" out_of_tree
check "CPPFLAGS, CFLAGS, LDFLAGS and LIBS stay as the user gave them" user_flags
check "R133 programs are the same bytes in both" same_bytes
check "R133 no path and no host name in the programs" no_traces
check "R133 tarballs are the same bytes" same_tarball
check "R130 configure works for another host" cross_configure
check "R51 builds without liburing, libpcap and BPF, and refuses what needs them" without_libraries
check "--with-liburing=yes needs it, and other words are refused" strict_library
check "--enable-bpf=yes needs what makes BPF programs, auto does without" strict_bpf
