# SPDX-License-Identifier: MIT
# What the kernel has counted.
libudpsink_la_SOURCES += \
	%D%/counter.c %D%/counter.h \
	%D%/dev.c %D%/dev.h \
	%D%/ethtool.c %D%/ethtool.h \
	%D%/ethtool_show.c %D%/ethtool_show.h \
	%D%/link.c %D%/link.h \
	%D%/lnstat.c %D%/lnstat.h \
	%D%/mib.c %D%/mib.h \
	%D%/nstat.c %D%/nstat.h \
	%D%/proc.c %D%/proc.h \
	%D%/snapshot.c %D%/snapshot.h \
	%D%/softnet.c %D%/softnet.h \
	%D%/softnet_show.c %D%/softnet_show.h
