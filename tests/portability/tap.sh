# SPDX-License-Identifier: MIT
# Sourced by the scripts here: TAP from shell, a scratch directory, and a clean environment for a make inside make check.
# shellcheck shell=sh
set -u
: "${TOP_SRCDIR:?run by make check}" "${TOP_BUILDDIR:?run by make check}"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CONFIG_SITE
tap_number=0
scratch=$(mktemp -d)
# A read-only copy of the sources must not survive the script either.
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

plan() { echo "1..$1"; }

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# check NAME COMMAND...: one test; it passes when the command does. What the command printed is shown when it fails.
check() {
	tap_name=$1
	shift
	tap_number=$((tap_number + 1))
	if "$@" >"$scratch/tap.out" 2>&1 </dev/null; then
		echo "ok $tap_number - $tap_name"
	else
		echo "not ok $tap_number - $tap_name"
		tail -n 60 "$scratch/tap.out" | sed 's/^/# /'
		return 1
	fi
}

# skip NAME REASON: one test that cannot run here.
skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

have() { command -v "$1" >/dev/null 2>&1; }

# The value that configure gave to a variable of the Makefile.
configured() { sed -n "s/^$1 = *//p" "$TOP_BUILDDIR/Makefile"; }

# nothing NAME-OF-KIND < list: fails and prints the list when there is something in it.
nothing() {
	if list=$(grep .); then
		printf '%s:\n%s\n' "$1" "$list"
		return 1
	fi
}
