# SPDX-License-Identifier: MIT
# Programs that run in the kernel, and the headers by which src/counters loads them. Only there is libbpf seen.
EXTRA_DIST += %D%/reasons.bpf.c
libudpsink_la_SOURCES += %D%/reasons_map.h

if HAVE_BPF
CLEANFILES += %D%/reasons.bpf.o %D%/reasons.linked.o %D%/reasons.skel.h
# Compiled from within the source tree: type information keeps names and lines of the sources, which must be the same wherever it is built. The linker
# leaves out what is for debuggers.
%D%/reasons.bpf.o: %D%/reasons.bpf.c %D%/reasons_map.h
	@$(MKDIR_P) %D%
	$(AM_V_GEN)(cd $(top_srcdir) && $(CLANG) -target $(US_BPF_TARGET) -O2 -g -Wall -Wextra -fdebug-compilation-dir=. -Isrc $(LIBBPF_CFLAGS) \
		-c %D%/reasons.bpf.c -o $(abs_top_builddir)/$@)
%D%/reasons.skel.h: %D%/reasons.bpf.o
	$(AM_V_GEN)$(BPFTOOL) gen object %D%/reasons.linked.o %D%/reasons.bpf.o && \
		$(BPFTOOL) gen skeleton %D%/reasons.linked.o name reasons_bpf >$@.tmp && mv $@.tmp $@
# By a variable: automake takes an object that is named here for one with a rule of its own.
reasons_object = src/counters/libudpsink_la-reasons.lo
$(reasons_object): %D%/reasons.skel.h
endif
