/* SPDX-License-Identifier: MIT */
/*
 * next - for a preload library: the function that our wrapper stands in front of; and memory for the time before that is known.
 *
 * dlsym may allocate (the C libraries differ), and so enter a malloc wrapper that is just looking itself up. That request is served from a small pool
 * that is never given back; next_find sees to it, but free and realloc have to recognise such memory later. Any thread.
 */
#ifndef FAULT_NEXT_H
#define FAULT_NEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The next definition of `name`, remembered in *slot (initially NULL). Ends the program when there is none. */
void *next_find(void **slot, const char *name);

/* Is p from the pool? It must not be given to the C library then, and need not be freed. */
bool next_is_early(const void *p);

/* realloc for such memory: a copy from malloc. */
void *next_move(const void *p, size_t size);

#endif
