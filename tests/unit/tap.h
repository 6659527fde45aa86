/* SPDX-License-Identifier: MIT */
/*
 * tap - what cmocka lacks: a skip that says why. Include it after <cmocka.h>.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

/* Ends the running test as skipped. tests/cmocka-tap.sh joins the line with cmocka's own and turns both into
 * "ok N - name # SKIP reason"; a plain skip() without a reason becomes a failure there. */
#define TAP_SKIP(...) \
	do { \
		print_message("skip: " __VA_ARGS__); \
		print_message("\n"); \
		skip(); \
	} while (0)

#endif
