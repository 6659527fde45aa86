#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--pcap: the datagrams of a capture in their order, with their bytes and at their times; what is left out, and what is refused."""
import socket
import struct

from captures import ETHERNET, LINKS, NULL, RAW, SLL, SLL2, can_replay, capture, ip
from harness import Source, between, cases, equal, fail, main, private_net, scratch, skip, test, wait_until
from receiver import Receiver
from traffic import send


def numbered(n, gap_ns=0):
    """n packets whose payloads are their numbers, 4 to 60 bytes."""
    return [(i * gap_ns, ip(struct.pack(">I", i) * (1 + i % 15))) for i in range(n)]


def payloads(n):
    return [struct.pack(">I", i) * (1 + i % 15) for i in range(n)]


def built_in():
    if not can_replay():
        skip("built without libpcap")


@test
@cases(link=[ETHERNET, RAW, SLL, SLL2, NULL], nanoseconds=[True, False])
def links(link, nanoseconds):
    "link type {link}, nanoseconds {nanoseconds}: each payload once, in order, byte for byte"
    built_in()
    receiver = Receiver()
    run = send(receiver, "--pcap", capture(numbered(300, 1000), link, nanoseconds))
    equal([d.data for d in receiver.got], payloads(300), "payloads")
    equal((run.sum["sent"], run.sum["bytes"]), (300, sum(map(len, payloads(300)))), "sent, bytes")
    facts = run.record("header")["pcap"]
    equal((facts["packets"], facts["datagrams"], set(facts["left_out"].values()), facts["backwards"], facts["truncated"]), (300, 300, {0}, 0, False), "facts")
    equal(facts["span_s"], 299e-6, "span")


@test
@cases(sender=["sendmsg", "sendto", "send", "write", "raw"])
def senders(sender):
    "--sender {sender} --pcap: the same"
    built_in()
    receiver = Receiver()
    run = Source("--sender", sender, "--pcap", capture(numbered(40, 1000)), receiver.target)
    if run.wait() and "CAP_NET_RAW" in run.stderr:
        skip("no right to raw sockets")
    wait_until(lambda: len(receiver.drain()) == 40, what="40 datagrams")
    equal([d.data for d in receiver.got], payloads(40), "payloads")


@test
@cases(speed=["1", "2", "0.5"])
def times(speed):
    "--pcap-speed {speed}: each gap is that of the capture, divided by it"
    built_in()
    at = [0, 3, 4, 20, 21, 22, 60, 100]  # ms
    path = capture([(ms * 10**6, ip(b"%d" % ms)) for ms in at])
    for attempt in range(5):  # a busy machine
        receiver = Receiver(stamps=True)
        run = send(receiver, "--pcap", path, "--pcap-speed", speed)
        begin = receiver.got[0].kernel_ns
        off = [abs((d.kernel_ns - begin) / 1e6 - ms / float(speed)) for d, ms in zip(receiver.got, at)]
        if max(off) < 0.5:
            between(0.06 / float(speed), run.sum["duration_s"], 0.2 / float(speed), "duration")
            return
    fail("off by %r ms" % off)


@test
@cases(words=["--pcap-speed max", "--rate 20k"])
def without_times(words):
    "{words}: the times of the capture, an hour, are not used"
    built_in()
    receiver = Receiver()
    run = send(receiver, "--pcap", capture(numbered(1000, 3600 * 10**6)), *words.split())
    equal([d.data for d in receiver.got], payloads(1000), "payloads")
    equal((run.sum["pace"] is None, run.record("header")["pcap"]["span_s"]), ("max" in words, 999 * 3.6), "pace, span")


@test
@cases(words=["--count 25", "--count 4", "--duration 240ms"])
def again(words):
    "10 datagrams in 90 ms, {words}: from the beginning again after the mean gap, or ended before"
    built_in()
    receiver = Receiver()
    run = send(receiver, "--pcap", capture(numbered(10, 10**7)), *words.split())
    n = run.sum["sent"]
    equal(n, int(words.split()[1]) if "count" in words else 24, "sent")
    equal([d.data for d in receiver.got], [payloads(10)[i % 10] for i in range(n)], "payloads")


@test
@cases(words=["", "--pcap-speed max", "--rate 50k", "--flows 4", "--dst-range 127.0.0.1-127.0.0.3"])
def threads(words):
    "2 threads {words}: together each datagram once"
    built_in()
    receiver = Receiver("0.0.0.0")
    target = [] if "--dst-range" in words else ["127.0.0.1:%d" % receiver.port]
    ports = ["--port", receiver.port] if "--dst-range" in words else []
    run = Source("--pcap", capture(numbered(501, 1000)), "--threads", 2, *words.split(), *ports, *target).finish()
    equal(run.sum["sent"], 501, "sent")
    wait_until(lambda: len(receiver.drain()) == 501, what="501 datagrams")
    equal(sorted(d.data for d in receiver.got), sorted(payloads(501)), "payloads")


@test
def left_out():
    "what is no whole UDP datagram is left out and counted by kind, in a notice too; --pcap-filter takes a part"
    built_in()
    others = [ip(b"tcp", 6), ip(b"icmp", 1), ip(b"head", 17, 0x2000), ip(b"tail", 17, 5), b"\0" * 30]
    short = ip(b"cut off" * 10)
    path = capture([(0, ip(b"first")), *((1, p) for p in others), (2000, ip(b"second")), (1000, ip(b"earlier"))])
    with open(path, "ab") as f:
        frame = LINKS[ETHERNET] + short
        f.write(struct.pack("=IIII", 1700000001, 0, 60, len(frame)) + frame[:60])
    receiver = Receiver()
    run = send(receiver, "--pcap", path)
    equal([d.data for d in receiver.got], [b"first", b"second", b"earlier"], "payloads")
    facts = run.record("header")["pcap"]
    equal(facts["left_out"], {"not_udp": 3, "fragments": 2, "cut": 1, "bad": 0, "too_large": 0}, "left out")
    equal((facts["packets"], facts["datagrams"], facts["backwards"]), (9, 3, 1), "facts")
    equal("6 of 9 packets were left out: 3 not UDP, 2 fragments, 1 cut by the capture" in run.stderr, True, run.stderr)
    receiver = Receiver()
    run = send(receiver, "--pcap", path, "--pcap-filter", "udp and len < 48")  # Ethernet, IPv4 and UDP headers are 42
    equal([d.data for d in receiver.got], [b"first"], "payloads")
    equal(run.record("header")["pcap"]["packets"], 3, "packets")  # the cut one has another length; so have the two fragments


@test
def cut_files():
    "a file that ends anywhere: what is whole goes out and a warning says so, or a sentence names the file; nothing breaks"
    built_in()
    with open(capture(numbered(3, 1000), name="whole.pcap"), "rb") as f:
        whole = f.read()
    sizes = [24 + sum(16 + 14 + 28 + len(p) for p in payloads(i)) for i in range(4)]
    for size in range(0, len(whole) + 1, 3):
        path, receiver = scratch("cut.pcap"), Receiver()
        with open(path, "wb") as f:
            f.write(whole[:size])
        n = sum(size >= s for s in sizes) - 1
        run = Source("--pcap", path, receiver.target)
        equal(run.wait(), 0 if n > 0 else 2, "exit status at %d bytes: %s" % (size, run.stderr))
        if n > 0:
            equal((run.sum["sent"], run.record("header")["pcap"]["truncated"]), (n, size not in sizes), "sent, truncated at %d" % size)
            equal("ends within a packet" in run.stderr, size not in sizes, run.stderr)
        else:
            equal(("cut.pcap" in run.stderr, receiver.drain()), (True, []), run.stderr)


@test
def refused():
    "what cannot be is refused with a sentence, exit 2, and nothing is sent"
    built_in()
    path, nothing, noise = capture(numbered(3)), capture([(0, ip(b"", 6))], name="tcp.pcap"), scratch("noise")
    with open(noise, "wb") as f:
        f.write(b"not a capture" * 100)
    receiver = Receiver()
    for words, says in ((["--pcap", "/nonexistent.pcap"], "/nonexistent.pcap"), (["--pcap", noise], noise), (["--pcap", nothing], "no UDP"),
                        (["--pcap", path, "--pcap-filter", "udp dst prot 53"], "pcap-filter"), (["--pcap", path, "--pcap-filter", "tcp"], "no UDP"),
                        (["--pcap", path, "--pcap-speed", "0"], "--pcap-speed"), (["--pcap", path, "--pcap-speed", "fast"], "--pcap-speed"),
                        (["--pcap", path, "--pcap-speed", "2", "--rate", "5"], "--rate"), (["--pcap-speed", "2"], "needs --pcap"),
                        (["--pcap-filter", "udp"], "needs --pcap"), (["--pcap", path, "--payload", "5"], "--payload"),
                        (["--pcap", path, "--header", "none"], "--header"), (["--pcap", path, "--fill", "zero"], "--fill"),
                        (["--pcap", path, "--trailer"], "--trailer"), (["--pcap", path, "--withhold", "3"], "--withhold"),
                        (["--pcap", path, "--gso", "4"], "--gso"), (["--pcap", path, "--pcap-speed", "max", "--burst", "4"], "--burst"),
                        (["--pcap", path, "--pace", "fq"], "--pace fq")):
        run = Source(*words, receiver.target)
        equal((run.wait(), says in run.stderr, run.stderr.count("\n")), (2, True, 1), "%r: %s" % (words, run.stderr))
    equal(receiver.drain(), [], "datagrams")


@test
def from_stdin():
    "--pcap - reads standard input"
    built_in()
    receiver = Receiver()
    with open(capture(numbered(20, 1000)), "rb") as f:
        run = Source("--pcap", "-", receiver.target, stdin=f).finish()
    equal(run.sum["sent"], 20, "sent")
    equal([d.data for d in receiver.drain()], payloads(20), "payloads")


@test
@private_net
def replayed_capture():
    "a capture of our own traffic on lo, replayed: the same datagrams"
    built_in()
    receiver = Receiver()
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    except PermissionError:
        skip("no right to packet sockets")
    with tap:
        tap.bind(("lo", 0x0800))
        tap.settimeout(5)
        made = Source("--payload", "18..400", "--count", 50, "--rate", "10k", receiver.target).finish()
        frames = []
        while len(frames) < 50:
            frame, address = tap.recvfrom(65536)
            if address[2] == socket.PACKET_HOST and frame[36:38] == struct.pack(">H", receiver.port):
                frames.append(frame[14:])
    first = [d.data for d in receiver.drain()]
    equal(len(first), made.sum["sent"], "datagrams")
    again_at = Receiver()
    send(again_at, "--pcap", capture([(i * 1000, f) for i, f in enumerate(frames)]))
    equal([d.data for d in again_at.got], first, "payloads")


main()
