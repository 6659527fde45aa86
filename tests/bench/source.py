#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""source - what a datagram costs udp_source, sender by sender.

    source.py [SIZE...]      payloads in bytes; 18 and 1472 when none is given

Each round measures every sender once, in random order, over a window of 0.2 s; 15 rounds after one that is thrown away. CPU time is that of
the sending thread. The datagrams go over loopback to a socket that nobody reads: its queue is full, so that the kernel drops them there, and
what is measured is sending with the receive path up to the queue, which runs in the sender's context. Columns: CPU ns per datagram (median),
datagrams per second of CPU time, and that rate as a multiple of sendmmsg's with the 95 % interval of paired.py. The bar, for the 18 bytes of a
smallest frame (copying counts in larger ones): gso sends at least 4 times as many as sendmmsg. Exit status 1 when it is not met. About 70 s."""
import os
import random
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import paired  # noqa: E402
from check import Skip  # noqa: E402
from programs import Source, by, leave  # noqa: E402

SENDERS = ["write", "send", "sendto", "sendmsg", "sendmmsg", "gso", "uring", "uring --zerocopy"]
BASE, BAR, BAR_SIZE = "sendmmsg", 4, 18
ROUNDS, WINDOW_MS = 15, 200


def cost(sender, size, port):
    """CPU ns per datagram in one window."""
    run = Source("--sender", *sender.split(), "--payload", size, "--cpus", max(os.sched_getaffinity(0)), "--duration", "%dms" % WINDOW_MS,
                 "127.0.0.1:%d" % port).finish()
    if run.sum["refused"] or (sender == "gso" and run.sum["gso"]["segments"] == 1):
        raise RuntimeError("not the traffic that was meant: %r %s" % (run.sum, run.stderr))
    return run.sum["cpu"]["ns_per_datagram"]


def usable(sender):
    """Whether this build and this kernel have it."""
    try:
        by(sender)
    except Skip as reason:
        print("%s: %s" % (sender, reason), flush=True)
        return False
    return True


def measure(size, port, senders):
    found = {sender: [] for sender in senders}
    for number in range(1 + ROUNDS):
        for sender in random.sample(senders, len(senders)):
            value = cost(sender, size, port)
            if number:
                found[sender].append(value)
    return found


def main():
    met, senders = True, [sender for sender in SENDERS if usable(sender)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as full:
        full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        full.bind(("127.0.0.1", 0))
        for size in [int(a) for a in sys.argv[1:]] or [18, 1472]:
            found = measure(size, full.getsockname()[1], senders)
            print("payload %d\n%-16s %10s %14s  %s" % (size, "sender", "cpu ns", "per CPU second", "multiple of " + BASE))
            for sender in senders:
                middle, multiple = paired.median(found[sender]), paired.ratio(found[BASE], found[sender])
                print("%-16s %10.1f %14.0f  %s" % (sender, middle, 1e9 / middle, multiple), flush=True)
            if size == BAR_SIZE:
                met = paired.ratio(found[BASE], found["gso"]).low >= BAR
                print("gso at least %d times %s: %s" % (BAR, BASE, "ok" if met else "NOT MET"), flush=True)
    leave()
    sys.exit(0 if met else 1)


main()
