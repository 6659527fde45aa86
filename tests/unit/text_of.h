/* SPDX-License-Identifier: MIT */
/*
 * text_of - what a printer prints, as a string. Include it after <cmocka.h>.
 *
 *	text_begin();
 *	softnet_show_text(text_out, ...);
 *	assert_string_equal(text_end(), "...");
 */
#ifndef TESTS_TEXT_OF_H
#define TESTS_TEXT_OF_H

#include <stdio.h>
#include <stdlib.h>

static FILE *text_out;
static char *text_data;
static size_t text_size;

static void text_begin(void)
{
	free(text_data);
	text_data = NULL;
	text_out = open_memstream(&text_data, &text_size);
	assert_non_null(text_out);
}

/* Valid until the next text_begin; the last one is freed by text_begin or the caller's text_free. */
static const char *text_end(void)
{
	assert_int_equal(fclose(text_out), 0);
	return text_data;
}

static void text_free(void)
{
	free(text_data);
	text_data = NULL;
}

#endif
