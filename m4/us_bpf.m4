dnl SPDX-License-Identifier: MIT

dnl US_BPF: --enable-bpf=auto|yes|no, for programs in the kernel. CLANG and BPFTOOL make them, libbpf 1.0 loads them: LIBBPF_CFLAGS, LIBBPF_LIBS, US_BPF_TARGET,
dnl HAVE_BPF; us_bpf for the summary: the library's version, or none and why. The tools are asked to do what the build does, and nothing that was built is run.
AC_DEFUN([US_BPF], [
AC_ARG_ENABLE([bpf],
	[AS_HELP_STRING([--enable-bpf=auto|yes|no], [build --drop-reasons of udp_sink, a BPF program @<:@auto@:>@])], [], [enable_bpf=auto])
AC_ARG_VAR([CLANG], [clang, which compiles for the bpf machine])
AC_ARG_VAR([BPFTOOL], [bpftool, which makes a header of a BPF program])
us_bpf_lacks=
AS_CASE([$enable_bpf],
	[no], [us_bpf_lacks="--disable-bpf"],
	[auto|yes], [
	AC_CHECK_PROGS([CLANG], [clang])
	AC_PATH_PROG([BPFTOOL], [bpftool], [], [$PATH:/usr/sbin:/sbin])
	dnl libbpf 1.0 is the first whose functions return errors in one way only.
	PKG_CHECK_MODULES([LIBBPF], [libbpf >= 1.0], [], [us_bpf_lacks="libbpf 1.0 or later not found: install libbpf-dev"])
	AS_IF([test -z "$BPFTOOL"], [us_bpf_lacks="bpftool not found: install bpftool"])
	AS_IF([test -z "$CLANG"], [us_bpf_lacks="clang not found: install clang"])
	AS_IF([test -z "$us_bpf_lacks"], [US_BPF_TOOLS])],
	[AC_MSG_ERROR([--enable-bpf takes auto, yes or no (got "$enable_bpf")])])
AS_IF([test "$enable_bpf" = yes && test -n "$us_bpf_lacks"],
	[AC_MSG_ERROR([--enable-bpf: $us_bpf_lacks (Debian)])])
AS_IF([test -z "$us_bpf_lacks"],
	[us_bpf="libbpf `$PKG_CONFIG --modversion libbpf 2>/dev/null`"
	AC_DEFINE([HAVE_BPF], [1], [Define to 1 when BPF programs are built in.])],
	[us_bpf="none ($us_bpf_lacks)"
	LIBBPF_CFLAGS= LIBBPF_LIBS=])
AC_DEFINE_UNQUOTED([BPF_LACKS], ["$us_bpf_lacks"], [Why BPF programs are not built in; empty when they are.])
AC_SUBST([LIBBPF_CFLAGS])
AC_SUBST([LIBBPF_LIBS])
AC_SUBST([US_BPF_TARGET])
AM_CONDITIONAL([HAVE_BPF], [test -z "$us_bpf_lacks"])
])

dnl US_BPF_TOOLS: US_BPF_TARGET, in the byte order of the host; us_bpf_lacks where the tools do not work together for it.
AC_DEFUN([US_BPF_TOOLS], [
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error big
#endif]], [[]])], [US_BPF_TARGET=bpfel], [US_BPF_TARGET=bpfeb])
AC_MSG_CHECKING([whether $CLANG and $BPFTOOL make BPF programs for $US_BPF_TARGET])
cat >conftest.bpf.c <<_US_EOF
typedef unsigned char __u8; typedef unsigned short __u16; typedef unsigned int __u32; typedef unsigned long long __u64;
typedef int __s32; typedef long long __s64; typedef __u16 __be16; typedef __u32 __be32; typedef __u32 __wsum;
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
struct sk_buff { int len; } __attribute__((preserve_access_index));
SEC("raw_tp/kfree_skb") int conftest(__u64 *args) { return BPF_CORE_READ((struct sk_buff *)args@<:@0@:>@, len); }
char licence@<:@@:>@ SEC("license") = "GPL";
_US_EOF
AS_IF([($CLANG -target $US_BPF_TARGET -O2 -g $LIBBPF_CFLAGS -c conftest.bpf.c -o conftest.bpf.o &&
	"$BPFTOOL" gen object conftest.linked.o conftest.bpf.o &&
	"$BPFTOOL" gen skeleton conftest.linked.o name conftest >conftest.skel.h) >&AS_MESSAGE_LOG_FD 2>&1],
	[AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	us_bpf_lacks="clang or bpftool makes no BPF program for $host (config.log): install newer ones"])
rm -f conftest.bpf.c conftest.bpf.o conftest.linked.o conftest.skel.h
])
