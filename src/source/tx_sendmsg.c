/* SPDX-License-Identifier: MIT */
/* sendmsg(2): one message per call; under GSO a message is several datagrams. */
#include "source/tx.h"

const struct tx_ops tx_sendmsg = { .name = "sendmsg", .caps = TX_GSO | TX_ADDRESS, .send = tx_send_messages };
