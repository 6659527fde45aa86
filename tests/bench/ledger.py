#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ledger - a sink that is overloaded, and a ledger that has to be balanced: every engine, batch 1 and 64, one and two threads, over lo and over veth,
plain and GSO sources, and a GRO sink.

    ledger.py [COUNT [PLACE...]]       default: 50000000 datagrams per cell, loopback and veth

The sink has a small receive buffer and, where the source is a plain one, 3 us of work per datagram: a plain source is not faster than a sink without.
Private namespaces, root. A row is right when the verdict is `balanced` and sent is what the source says. Exit status 1 when one is not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from netns import enter_private, veth  # noqa: E402
from programs import Sink, Source, engines, leave  # noqa: E402

GRO = ("recvmsg", "recvmmsg", "epoll")


def cell(peer, engine, batch, threads, sender, count):
    gro = ["--gro"] if sender == "gro" else []
    work = ["--work", "3us"] if sender == "sendmmsg" else []
    address = "198.18.0.1" if peer else "127.0.0.1"
    sink = Sink("--ledger", "--engine", engine, "--batch", batch, "--threads", threads, "--listen", address + ":0", "--rcvbuf", 100000,
                "--until-quiet", "500ms", *gro, *work)
    args = ["--trailer", "--flows", 8, "--count", count, "--sender", "gso" if gro else sender, "%s:%d" % (address, sink.port)]
    if peer:
        with peer:
            source = Source(*args)
    else:
        source = Source(*args)
    sent = source.finish(timeout=count / 50000 + 60).sum["sent"]
    sink.wait(60)
    return sent, sink.sum["ledger"]


def cells():
    for engine in engines():
        for batch in (1, 64) if engine in ("recvmmsg", "epoll") else (1,):
            for threads in (1, 2):
                for sender in ("sendmmsg", "gso", "gro") if engine in GRO else ("sendmmsg", "gso"):
                    if engine != "null":
                        yield engine, batch, threads, sender


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50000000
    enter_private(user=False)
    peers = {"loopback": None, "veth": veth()}
    wrong = 0
    print("%-8s %-9s %5s %7s %-8s %12s %12s %12s %-8s  %s" % ("place", "engine", "batch", "threads", "sender", "sent", "received", "rcvbuf", "how",
                                                             "verdict"))
    for place in sys.argv[2:] or peers:
        for engine, batch, threads, sender in cells():
            sent, ledger = cell(peers[place], engine, batch, threads, sender, count)
            wrong += ledger["verdict"] != "balanced" or ledger["sent"] != sent
            print("%-8s %-9s %5d %7d %-8s %12d %12d %12s %-8s  %s" % (place, engine, batch, threads, sender, sent, ledger["received"],
                  ledger["drops"]["rcvbuf"], ledger["places"]["rcvbuf"]["quality"], ledger["verdict"]), flush=True)
    leave()
    sys.exit(1 if wrong else 0)


main()
