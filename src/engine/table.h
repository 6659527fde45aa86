/* SPDX-License-Identifier: MIT */
/*
 * table - the engines by name, for engine.c and for the engines themselves. Users go through engine_table and engine_find.
 */
#ifndef ENGINE_TABLE_H
#define ENGINE_TABLE_H

#include "engine/engine.h"

extern const struct engine_ops engine_recvmmsg, engine_recvmsg, engine_read, engine_recvfrom, engine_recv, engine_epoll, engine_null;

#endif
