# SPDX-License-Identifier: MIT
libudpsink_la_SOURCES += \
	%D%/addr.h %D%/addr.c \
	%D%/cmsg.h %D%/cmsg.c \
	%D%/dns.h %D%/dns.c \
	%D%/group.h %D%/group.c \
	%D%/netlink.h %D%/netlink.c \
	%D%/netns.h %D%/netns.c \
	%D%/qdisc.h %D%/qdisc.c \
	%D%/range.h %D%/range.c \
	%D%/route.h %D%/route.c \
	%D%/rss.h %D%/rss.c \
	%D%/seqhdr.h %D%/seqhdr.c \
	%D%/sock.h %D%/sock.c \
	%D%/sock_buffer.h %D%/sock_buffer.c \
	%D%/sock_drain.c \
	%D%/sock_join.c \
	%D%/sock_steer.c \
	%D%/sock_opt.h %D%/sock_opt.c \
	%D%/sockset.h %D%/sockset.c \
	%D%/sockset_others.c \
	%D%/sockset_own.h \
	%D%/unwrap.h %D%/unwrap.c \
	%D%/sysctl.h %D%/sysctl.c \
	%D%/toeplitz.h %D%/toeplitz.c \
	%D%/wire.h %D%/wire.c
