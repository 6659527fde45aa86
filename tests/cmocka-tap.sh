#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one cmocka program and repairs its TAP: cmocka (1.1.7 at least) writes a skipped test as "not ok N # SKIP name", which
# is a failure to every reader of TAP, and has no place for the reason. TAP_SKIP() of tests/unit/tap.h prints the reason first.
# The exit status is the program's.
exec 4>&1
status=$({ {
	"$@"
	echo $? >&3
} | awk '
	/^skip: / { reason = substr($0, 7); next }
	/^(not )?ok [0-9]+ # SKIP / {
		number = ($1 == "not") ? $3 : $2
		name = $0
		sub(/^.* # SKIP /, "", name)
		if (reason != "")
			print "ok " number " - " name " # SKIP " reason
		else
			print "not ok " number " - " name " (skipped without a reason)"
		reason = ""
		next
	}
	{ print; fflush() }' >&4; } 3>&1)
exit "$status"
