# SPDX-License-Identifier: MIT
"""What udp_sink's rows and checks mean: the label names the system call that was made, and each check counts what it says."""
import re

from harness import Sink, cases, equal, fail, main, need_ipv6, strace, test
from sender import ENGINES, Sender, pktgen, received, sequence, sums

CALLS = "read,recvfrom,recvmsg,recvmmsg"
# What each engine's call looks like to the kernel; recv(3) is recvfrom(2) without an address.
CALL_OF = {"read": "read", "recv": "recvfrom", "recvfrom": "recvfrom", "recvmsg": "recvmsg", "recvmmsg": "recvmmsg", "epoll": "recvmmsg"}
FAMILIES = {"v4": "127.0.0.1", "v6": "::1", "mapped": "127.0.0.1"}
LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "mapped": "[::]:0"}


def traced(engine, *args, payloads=3):
    """(label, lines of the receive calls that brought a datagram)"""
    prefix, read = strace(CALLS)
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--wait", "block", "--count", payloads, "--buffer-size", 77, *args, prefix=prefix)
    Sender(sink).send(*[b"x" * 33] * payloads)
    total = sums(sink, 1)[0]
    sink.wait()
    # The wake of an eventfd and the like are reads of 8 bytes; ours have the payload's length, or are messages.
    lines = [line.split(None, 1)[1] for line in read(sink)]
    return total["label"], [line for line in lines if re.search(r'(= 33$|msg_len=33|"x{8})', line) and "resumed" not in line]


@test
@cases(engine=ENGINES, asked=["nothing", "control", "name", "both"])
def labels(engine, asked):
    "R63 {engine}, asked for {asked}: the call is the one that the label names, with name and control as it says"
    able = {"name": engine not in ("read", "recv"), "control": engine in ("recvmsg", "recvmmsg", "epoll")}
    args = (["--pktinfo"] if asked in ("control", "both") else []) + (
        ["--check-sender", "127.0.0.1"] if asked in ("name", "both") and able["name"] else [])
    label, calls = traced(engine, *args)
    equal({re.match(r"\w+", c).group() for c in calls}, {CALL_OF[engine]}, "system calls of " + label)
    if not calls:
        fail("no call seen")
    named = "sa_family=AF_INET" in calls[0] or "sin_port" in calls[0]
    control = "IP_PKTINFO" in calls[0]
    equal((named, control), ("+name" in label, "+control" in label), "%s: name, control in %s" % (label, calls[0]))
    equal(named, engine == "recvfrom" or "--check-sender" in args, "name")
    equal(control, able["control"] and "--pktinfo" in args, "control")


@test
@cases(args=["", "--waitforone", "--timeout 1s", "--dontwait"])
def flags(args):
    "R63 recvmmsg --batch 64 {args}: the batch, the flags and the time-out are in the call"
    prefix, read = strace(CALLS)
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--batch", 64, "--count", 3, *args.split(), prefix=prefix)
    Sender(sink).send(*[b"x"] * 3)
    sums(sink, 1)
    sink.wait()
    # The worker's: what main tried before, to see that the engine can run, never waits.
    calls = [line for line in read(sink) if "recvmmsg(" in line and not line.startswith("%d " % sink.pid)]
    vlen = [int(m.group(1)) for m in (re.search(r"(?:\]|0x[0-9a-f]+), (\d+), ", c) for c in calls) if m]
    # The first is for a single datagram, and the last ones for what --count leaves.
    equal((vlen[0], set(vlen) <= {1, 2, 64}), (1, True), "lengths of batches: %r" % vlen)
    for word, wanted in (("MSG_WAITFORONE", "waitforone" in args), ("MSG_DONTWAIT", "dontwait" in args), ("tv_sec=", "timeout" in args)):
        equal(any(word in c for c in calls), wanted, word)


@test
@cases(family=FAMILIES)
def sender(family):
    "R71 {family}: --check-sender counts datagrams of other hosts as foreign, and in nothing else"
    if family != "v4":
        need_ipv6()
    sink = Sink("--listen", LISTEN[family], "--engine", "recvmmsg", "--check-sender", FAMILIES[family], "--count", 0, "--recv-ttl",
                *(["--by-destination"] if family != "v6" else []))
    ours = Sender(sink, FAMILIES[family])
    ours.send(b"abc", b"")
    if family != "v6":  # a second address of the host that may send
        Sender(sink, "127.0.0.1", bind=("127.0.0.77", 0)).send(b"stray", b"", b"stray too")
    total = received(sink)
    counters = total["total"]
    equal((counters["datagrams"], counters["bytes"], counters["empty"]), (2, 3, 1), "datagrams, bytes, empty")
    equal(counters["foreign"], 0 if family == "v6" else 3, "foreign")
    equal(sum(total["ttl"].values()), 2, "values of TTL")
    if family != "v6":
        equal([d["datagrams"] for d in total["destinations"]], [2], "destinations")


@test
@cases(engine=["recvmmsg", "read"], threads=[1, 2])
def numbers(engine, threads):
    "R68 R71 {engine}, {threads} thread(s): in order, reordered, duplicate, missing and without a header are apart; another run is foreign"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--check-sequence", "--count", 0, "--threads", threads)
    first, second = Sender(sink), Sender(sink)
    first.send(*[sequence(7, 0, n) for n in (0, 1, 3, 2, 3, 5)])  # 2 late, 3 twice, 4 missing
    first.settle()
    second.send(*[sequence(7, 1, n) for n in (0, 1, 2)], b"no header", b"")
    second.settle()
    Sender(sink).send(*[sequence(8, 0, n) for n in (0, 9)], sequence(8, 1, 1, size=18))  # a stray of another run
    total = received(sink)
    t = total["total"]
    equal((t["datagrams"], t["foreign"], t["seq_no_header"]), (11, 3, 2), "datagrams, foreign, without header")
    equal((t["seq_in_order"], t["seq_reordered"], t["seq_duplicate"], t["seq_skipped"]), (7, 1, 1, 2), "in order, reordered, duplicate, skipped")
    equal(t["seq_in_order"] + t["seq_reordered"] + t["seq_duplicate"] + t["seq_stale"] + t["seq_no_header"], t["datagrams"], "sum")
    equal(t["bytes"], 9 * 26 + 9, "bytes")
    equal(sink.stderr.count("\n"), 0, "log lines: %s" % sink.stderr)


@test
@cases(level=[1, 2, 3], order=[">", "<"])
def pktgen_levels(level, order):
    "R68 --check-pktgen={level}, byte order {order}: what that level looks at is counted, and nothing more"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--check-pktgen=%d" % level, "--count", 0)
    torn = bytearray(pktgen(3, 64, order))
    torn[40] ^= 1  # in the third of four headers
    Sender(sink).send(pktgen(1, 64, order), pktgen(2, 18, order), bytes(torn), pktgen(9, 64, order), pktgen(8, 64, order), b"y" * 64, b"short")
    t = received(sink)["total"]
    # 3: 9 does not follow 3, and 8 not 9; 1 and 2: 8 is older than 9.
    equal((t["pktgen_disorder"], t["pktgen_bad_magic"], t["pktgen_bad_repeat"]), (2 if level == 3 else 1, 2, int(level > 1)),
          "disorder, bad magic, bad repeat")
    equal(t["datagrams"], 7, "datagrams")


main()
