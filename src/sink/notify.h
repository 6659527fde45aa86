/* SPDX-License-Identifier: MIT */
/*
 * notify - tells a service manager that we are ready: one datagram to the socket named by $NOTIFY_SOCKET, as sd_notify(3) does.
 */
#ifndef SINK_NOTIFY_H
#define SINK_NOTIFY_H

/* state: "READY=1", "STOPPING=1". Nothing happens without $NOTIFY_SOCKET. Returns 0 or -errno. Main thread. */
int notify_send(const char *state);

#endif
