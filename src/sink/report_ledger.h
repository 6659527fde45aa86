/* SPDX-License-Identifier: MIT */
/*
 * report_ledger - the ledger as a table for people and as a JSON object. Control thread.
 */
#ifndef SINK_REPORT_LEDGER_H
#define SINK_REPORT_LEDGER_H

#include "base/record.h"
#include "counters/ledger.h"

/* At the end of a run: from top to bottom the way of a datagram, what was lost at each place, and the verdict. Of an interval one line. Standard output. */
void report_ledger_print(const struct ledger *l);

/* A new object; NULL when memory ran out. Members in udpsink-report(5). */
json_t *report_ledger_record(const struct ledger *l);

#endif
