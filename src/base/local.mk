# SPDX-License-Identifier: MIT
# The shared code is built once into one convenience library; programs and tests link it.
noinst_LTLIBRARIES += libudpsink.la
libudpsink_la_SOURCES = \
	%D%/util.h %D%/util.c \
	%D%/err.h %D%/err.c \
	%D%/log.h %D%/log.c \
	%D%/hist.h %D%/hist.c \
	%D%/num.h %D%/num.c \
	%D%/random.h %D%/random.c \
	%D%/weights.h %D%/weights.c \
	%D%/opt.h %D%/opt.c \
	%D%/opt_table.h %D%/opt_table.c %D%/opt_value.c %D%/opt_file.c %D%/opt_help.c \
	%D%/record.h %D%/record.c \
	%D%/clock.h %D%/clock.c \
	%D%/task.h %D%/task.c \
	%D%/cpu.h %D%/cpu.c \
	%D%/version.h %D%/version.c
libudpsink_la_LIBADD = $(JANSSON_LIBS)
