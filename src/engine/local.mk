# SPDX-License-Identifier: MIT
libudpsink_la_SOURCES += \
	%D%/engine.h %D%/engine.c %D%/table.h \
	%D%/wait.h %D%/wait.c \
	%D%/mmsg.h %D%/mmsg.c \
	%D%/reply.h %D%/reply.c \
	%D%/slot.h %D%/slot.c \
	%D%/drain.h %D%/oneshot.h \
	%D%/recvmmsg.c %D%/recvmsg.c %D%/read.c %D%/recvfrom.c %D%/recv.c %D%/epoll.c %D%/null.c
