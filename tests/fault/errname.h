/* SPDX-License-Identifier: MIT */
/* errname - errno by name ("EPERM"), for the fault rig. glibc's strerrorname_np goes the other way and musl has neither. */
#ifndef FAULT_ERRNAME_H
#define FAULT_ERRNAME_H

#include <stddef.h>

/* The number of text[0..len), or 0 when there is no such name. */
int errname_parse(const char *text, size_t len);

/* The name of a number, or NULL. */
const char *errname_of(int code);

#endif
