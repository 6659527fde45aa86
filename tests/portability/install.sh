#!/bin/sh
# SPDX-License-Identifier: MIT
# make install puts the known files under DESTDIR and prefix, and nothing else; make uninstall takes them away again.
# shellcheck source=tap.sh
. "${TOP_SRCDIR:?run by make check}/tests/portability/tap.sh"

cat >"$scratch/expected" <<'END'
bin/udp_source
sbin/udp_sink
share/bash-completion/completions/udp_sink
share/bash-completion/completions/udp_source
share/man/man1/udp_source.1
share/man/man5/udpsink-report.5
share/man/man7/udpsink-engines.7
share/man/man8/udp_sink.8
END

list() { (cd "$1" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort); }

install_destdir() {
	make -s -C "$TOP_BUILDDIR" install DESTDIR="$scratch/dest" prefix=/opt/u || return
	list "$scratch/dest" >"$scratch/list"
	sed 's|^|opt/u/|' "$scratch/expected" | diff -u - "$scratch/list"
}

install_prefix() {
	make -s -C "$TOP_BUILDDIR" install prefix="$scratch/prefix" || return
	list "$scratch/prefix" >"$scratch/list"
	diff -u "$scratch/expected" "$scratch/list"
}

completion_dir() {
	make -s -C "$TOP_BUILDDIR" install DESTDIR="$scratch/other" prefix=/opt/u bashcompletiondir=/elsewhere || return
	[ -f "$scratch/other/elsewhere/udp_sink" ] && [ ! -e "$scratch/other/opt/u/share/bash-completion" ]
}

uninstall() {
	make -s -C "$TOP_BUILDDIR" uninstall DESTDIR="$scratch/dest" prefix=/opt/u || return
	list "$scratch/dest" | nothing "left behind"
}

plan 4
check "R132 make install DESTDIR installs the known files" install_destdir
check "R132 make install into a private prefix touches nothing outside it" install_prefix
check "R132 the completion directory can be chosen and respects DESTDIR" completion_dir
check "make uninstall leaves no file" uninstall
