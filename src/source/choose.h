/* SPDX-License-Identifier: MIT */
/*
 * choose - which sender this run really has, and how many datagrams in a message: --sender auto, --gso, and what the host can do.
 */
#ifndef SOURCE_CHOOSE_H
#define SOURCE_CHOOSE_H

#include "source/flows.h"

/* Main, when the sockets are open and before threads exist. Sets conf->sender and conf->segments. What is less than asked is said by a notice; it
 * is an error where it was required. */
int choose_sender(struct source_conf *conf, const struct flows *flows, struct err *err);

#endif
