#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exact - received = sent, to the last datagram: every engine, 1 and 2 threads, IPv4, IPv6 and dual stack.

    exact.py [COUNT [RATE [FAMILY...]]]

Default: 10000000 datagrams per cell, 400k per second with engines that take several per call, 200k with the others

Loopback only. The rate is one that the sink can take; on a machine that cannot, socket drops show it, and the row says so: a row is
EXACT when received = sent, ACCOUNTED when received + socket drops = sent, and WRONG otherwise. Exit status 1 when a row is WRONG or
not exact. With the defaults it takes about 25 minutes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from programs import Sink, Source, engines, leave  # noqa: E402
from udp import free_port  # noqa: E402

BATCHING = ("recvmmsg", "epoll")
FAMILIES = {"ipv4": ("127.0.0.1", ["127.0.0.1"]), "ipv6": ("[::1]", ["[::1]"]), "dual": ("*", ["127.0.0.1", "[::1]"])}


def cell(engine, threads, family, count, rate):
    listen, targets = FAMILIES[family]
    port = free_port()
    group = ["--threads", threads] if threads > 1 else []
    sink = Sink("--listen", listen, "--port", port, "--engine", engine, "--batch", 64, "--pktinfo", "--rcvbuf", "64M",
                "--count", count, "--duration", count // rate * 3 + 10, *group)
    sent = 0
    for i, target in enumerate(targets):
        part = count // len(targets) + (count % len(targets) if i == 0 else 0)
        source = Source("--rate", rate, "--gso", 16, "--count", part, "--flows", 16, "%s:%d" % (target, port))
        sent += source.finish(timeout=count / rate * 5 + 30).sum["sent"]
    if sink.status() is None and sum(1 for _ in sink.records("sum")) == 0:
        sink.wait(count / rate * 3 + 60)
    return sent, sink.sum


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    families = sys.argv[3:] or FAMILIES
    bad = 0
    print("%-10s %7s %6s %12s %12s %10s %9s  %s" % ("engine", "threads", "family", "sent", "received", "drops", "cpu ns", "verdict"))
    for engine in engines():
        if engine == "null":
            continue
        for threads in (1, 2):
            for family in families:
                sent, total = cell(engine, threads, family, count, rate or (400000 if engine in BATCHING else 200000))
                received, drops = total["total"]["datagrams"], total["socket_drops"]
                verdict = "EXACT" if received == sent else "ACCOUNTED" if received + drops == sent else "WRONG"
                bad += verdict != "EXACT"
                print("%-10s %7d %6s %12d %12d %10d %9.0f  %s" % (engine, threads, family, sent, received, drops,
                                                                  total["cpu"]["ns_per_datagram"], verdict), flush=True)
    leave()
    sys.exit(1 if bad else 0)


main()
