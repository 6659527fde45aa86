# SPDX-License-Identifier: MIT
# What the kernel has counted.
libudpsink_la_SOURCES += \
	%D%/link.c %D%/link.h \
	%D%/mib.c %D%/mib.h \
	%D%/proc.c %D%/proc.h
