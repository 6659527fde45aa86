#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command lines of netoptimizer's udp_flood run unchanged (what differs is in udp_source(1), MIGRATION); UDP-Lite."""
import socket

from harness import Source, cases, equal, main, need_ipv6, test, wait_until
from receiver import Receiver, loopback

UDPLITE = 136  # IPPROTO_UDPLITE

# What comes before the address, the port left out; sender and batch of the run, and the size of its datagrams.
LINES = {
    "-4 -u -c 50 -m 40": ("sendmsg", 32, 40),
    "-U -b 16 --count 50": ("sendmmsg", 16, 18),
    "--sendmmsg --batch 100 --count=50 --payload=64": ("sendmmsg", 100, 64),
    "-t -c 50 -d 0": ("sendto", 32, 18),
    "--write --pmtu 2 -c 50": ("write", 32, 18),
    "-T -c50 -m1472": ("write", 32, 1472),
    "--send --ipv4 -c 50 -v": ("send", 32, 18),
    "-S -c 50 --verbose=0": ("send", 32, 18),
    "-6 -U -c 50": ("sendmmsg", 32, 18),
    "-P -u -c 50": ("sendmsg", 32, 18),
    "--pktgen-header --sendmmsg -c 50 -m 100": ("sendmmsg", 32, 100),
    "-u -U -c 50": ("sendmmsg", 32, 18),  # the last one counts
}


@test
@cases(words=LINES)
def command_lines(words):
    "udp_flood {words}: sender, batch, size and number of datagrams are those"
    sender, batch, size = LINES[words]
    if "-6" in words:
        need_ipv6()
    receiver = Receiver(loopback("v6" if "-6" in words else "v4"))
    run = Source(*words.split(), "--port", receiver.port, receiver.address).finish()
    equal((run.record("header")["options"]["sender"], run.sum["sent"]), (sender, 50), "sender, sent")
    if sender == "sendmmsg":
        equal(run.record("header")["options"]["batch"], str(batch), "batch")
    got = wait_until(lambda: len(receiver.drain()) == 50 and receiver.got, what="50 datagrams")
    equal({d.size for d in got}, {size}, "sizes")
    if "pktgen" in words or "-P" in words:
        equal({d.data[:4] for d in got}, {bytes.fromhex("be9be955")}, "magic of pktgen")


@test
@cases(family=["v4", "v6"], sender=["sendmmsg", "sendto", "write"])
def lite(family, sender):
    "--lite, {sender}, {family}: datagrams of UDP-Lite where the kernel has it; elsewhere a sentence says so"
    address = loopback(family)
    try:
        s = socket.socket(socket.AF_INET if family == "v4" else socket.AF_INET6, socket.SOCK_DGRAM, UDPLITE)
    except OSError:
        run = Source("--lite", "--count", 1, "127.0.0.1:9000").finish(1)
        equal("UDP-Lite" in run.stderr, True, run.stderr)
        return
    with s:
        s.bind((address, 0))
        s.settimeout(5)
        target = ("[%s]:%d" if family == "v6" else "%s:%d") % (address, s.getsockname()[1])
        equal(Source("--lite", "-L", "--sender", sender, "--count", 5, "--payload", 30, target).finish().sum["sent"], 5, "sent")
        equal([len(s.recv(100)) for _ in range(5)], [30] * 5, "sizes")


@test
@cases(options=["--gso 4", "--sender gso", "--sender raw"])
def no_lite(options):
    "--lite {options}: refused with a sentence"
    run = Source("--lite", *options.split(), "127.0.0.1:9000").finish(2)
    equal("--lite" in run.stderr, True, run.stderr)


main()
