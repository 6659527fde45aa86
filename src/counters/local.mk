# SPDX-License-Identifier: MIT
# What the kernel has counted.
libudpsink_la_SOURCES += \
	%D%/counter.c %D%/counter.h \
	%D%/dev.c %D%/dev.h \
	%D%/ethtool.c %D%/ethtool.h \
	%D%/ethtool_show.c %D%/ethtool_show.h \
	%D%/facts.c %D%/facts.h \
	%D%/ledger.c %D%/ledger.h \
	%D%/ledger_count.c %D%/ledger_count.h \
	%D%/link.c %D%/link.h \
	%D%/lnstat.c %D%/lnstat.h \
	%D%/mib.c %D%/mib.h \
	%D%/nstat.c %D%/nstat.h \
	%D%/proc.c %D%/proc.h \
	%D%/reasons.c %D%/reasons.h \
	%D%/reasons_list.c \
	%D%/reasons_names.c %D%/reasons_names.h \
	%D%/snapshot.c %D%/snapshot.h \
	%D%/sockstat.c %D%/sockstat.h \
	%D%/softnet.c %D%/softnet.h \
	%D%/softnet_show.c %D%/softnet_show.h
