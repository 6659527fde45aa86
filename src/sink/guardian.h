/* SPDX-License-Identifier: MIT */
/*
 * guardian - sets net.ipv4.ip_early_demux and udp_early_demux for the time of a run, and puts them back whatever happens to us.
 *
 * A child process waits on a socket pair; at end of file, that is at any death of the parent, SIGKILL too, it restores both values. When the child was
 * killed, the parent does it at its end. They are also kept
 * in a state file until then, so that a start after a crash of both finds the values to restore. The file is locked: two runs in one network
 * namespace cannot both hold the setting. Both sysctls govern IPv6 as well, and have no effect on `lo`.
 */
#ifndef SINK_GUARDIAN_H
#define SINK_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sink/conf.h"

struct guardian {
	int ip, udp;           /* values in force now, -1 = not readable */
	int ip_before, udp_before;
	bool holds;            /* we changed them */
	int line;              /* to the child; its end of file is our end */
	int lock;              /* the state file, which the child holds as well */
	pid_t child;
	char state[128];       /* path of the state file */
};

/* Main, before threads and before sockets (the child keeps nothing else open). CONF_DEMUX_KEEP: only reads. Refused with the reason when not
 * permitted or held by another run. */
int guardian_start(struct guardian *g, enum conf_demux mode, struct err *err);

/* Restores, and waits until that is done. */
void guardian_stop(struct guardian *g);

#endif
