# SPDX-License-Identifier: MIT
"""udp_sink counts what was sent: every engine, family, number of threads, way to wait, batch, and size from 0 to 65507."""
import random

from harness import Sink, Source, cases, equal, fail, main, need_ipv6, queued, socket_drops, test, wait_until
from sender import ENGINES, Sender, check_sums, pktgen, received, sums

FAMILIES = {"v4": ["127.0.0.1"], "v6": ["::1"], "dual": ["127.0.0.1", "::1"]}
LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "dual": "[::]:0"}
SIZES = [0, 1, 15, 16, 17, 100, 511, 512, 513, 1472, 1473, 4096, 4097, 9000, 65507]
HEADER = 16  # bytes of a pktgen header: shorter payloads cannot carry one
RECVMSG_FAMILY = ["recvmmsg", "recvmsg", "epoll"]


def open_sink(family, engines, *args):
    """All engines in turn, each for as many datagrams as one `mixed` has."""
    if family != "v4":
        need_ipv6()
    return Sink("--listen", LISTEN[family], "--engine", ",".join(engines), "--rcvbuf", "4M", *args)


def mixed(rounds):
    """Payloads of all sizes, in an order of each round's own, with numbered headers that fill them."""
    sizes = [size for r in range(rounds) for size in random.Random(r).sample(SIZES, len(SIZES))]
    numbers = iter(range(len(sizes)))
    return [pktgen(next(numbers) if size >= HEADER else 0, size) for size in sizes]


def check_run(total, sender, payloads, what, ordered):
    counters, short = total["total"], sum(len(p) < HEADER for p in payloads)
    sender.check(counters, what)
    check_sums(total)
    equal(counters["bytes"], sender.bytes, what + ": bytes stored")
    equal(counters["truncated"], 0, what + ": truncated")
    equal(counters["buffers"], len(payloads), what + ": buffers")
    equal(counters["pktgen_bad_magic"], short, what + ": datagrams too short for a header")
    equal(counters["pktgen_bad_repeat"], 0, what + ": headers inside the payloads that differ")
    if ordered:
        equal(counters["pktgen_disorder"], 0, what + ": payloads out of order")
    equal(total["socket_drops"], 0, what + ": drops")
    equal(total["unreliable"], False, what + ": unreliable")


def run_all(family, args, flows=1, rounds=2, ordered=True):
    """Every engine with the same traffic, in one process. The numbers of each run continue those before it, so that they do not jump."""
    payloads = mixed(rounds)
    sink = open_sink(family, ENGINES, "--buffer-size", 65507, "--count", len(payloads), "--check-pktgen=%d" % (3 if ordered else 2), *args)
    for i, engine in enumerate(ENGINES):
        sender = Sender(sink, *FAMILIES[family], flows=flows)
        sender.send(*payloads)
        total = sums(sink, i + 1)[i]
        equal(total["engine"], engine, "engine")
        check_run(total, sender, payloads, engine, ordered)
        if family == "dual" and total["total"]["ipv4"] is not None:
            halves = (total["total"]["ipv4"], total["total"]["ipv6"])
            equal(sum(halves), sender.count, engine + ": IPv4 + IPv6")
            equal(abs(halves[0] - halves[1]) <= flows, True, engine + ": IPv4 and IPv6 by halves: %d and %d" % halves)
    sink.finish()


@test
@cases(family=FAMILIES, pktinfo=["off", "on"], batch=[1, 2, 32, 1024])
def engines_and_options(family, pktinfo, batch):
    "R25 R28 {family}, pktinfo {pktinfo}, batch {batch}: every engine counts sizes 0 to 65507 exactly, payloads intact"
    run_all(family, ["--batch", batch, *(["--pktinfo"] if pktinfo == "on" else [])])


@test
@cases(family=FAMILIES, wait=["block", "poll", "spin"], workers=["one", "two", "shared"])
def workers_and_waiting(family, wait, workers):
    "R28 {family}, --wait {wait}, {workers} worker(s): every engine counts sizes 0 to 65507 exactly"
    threads = {"one": [], "two": ["--threads", 2], "shared": ["--threads", 2, "--shared-socket"]}[workers]
    # 8 flows: that they all meet the same of two sockets has a chance of 1 in 128 each time, and would do no harm.
    run_all(family, ["--wait", wait, *threads], flows=4 if family == "dual" else 8, ordered=False)


@test
@cases(engine=ENGINES, threads=[1, 2], family=["v4", "v6"])
def load(engine, threads, family):
    "R28 {engine}, {threads} thread(s), {family}: received + dropped by the socket = sent, at full speed"
    sink = open_sink(family, [engine], "--count", 0, "--threads", threads, "--batch", 64)
    target = "%s:%d" % ("127.0.0.1" if family == "v4" else "[::1]", sink.port)
    source = Source("--count", 5000, "--flows", 8, "--batch", 16, target).finish().sum
    equal((source["sent"], source["refused"]), (5000, {}), "sent")
    wait_until(lambda: queued(sink.port) == 0)
    drops = socket_drops(sink.port)
    total = received(sink)
    check_sums(total)
    equal(total["socket_drops"], drops, "drops, as in /proc/net/udp")
    equal(total["total"]["datagrams"] + drops, 5000, "received + dropped")
    equal(total["total"]["bytes"], 18 * total["total"]["datagrams"], "bytes")
    # The whole burst fits where --rcvbuf was granted: nothing may be lost.
    if sink.record("header")["sockets"][0]["rcvbuf"]["granted"] >= 4 << 20:
        equal(drops, 0, "drops")


@test
@cases(wait=["block", "poll", "spin"], iovecs=[1, 2])
def truncated(wait, iovecs):
    "R26 --wait {wait}, {iovecs} piece(s): 512 of 512, 513 and 65507 bytes: counted once each, two of them truncated"
    names = ENGINES if iovecs == 1 else [e for e in ENGINES if e in RECVMSG_FAMILY]
    sink = open_sink("v4", names, "--buffer-size", 512, "--nr-iovec", iovecs, "--wait", wait, "--count", 3)
    for i, engine in enumerate(names):
        sender = Sender(sink)
        sender.send(b"a" * 512, b"b" * 513, b"c" * 65507)
        counters = sums(sink, i + 1)[i]["total"]
        if engine == "read":  # it sees that a datagram was cut, not how long it was: unknown is not a number
            equal(counters["wire_bytes"], None, "read: bytes sent")
            equal((counters["datagrams"], counters["empty"]), (3, 0), "read: datagrams, empty")
        else:
            sender.check(counters, engine)
        equal(counters["truncated"], 2, engine + ": truncated")
        equal(counters["bytes"], 3 * 512, engine + ": bytes stored")
    sink.finish()


@test
@cases(size=[1, 64, 65507])
def exact_fit(size):
    "R26 a buffer of {size} bytes takes {size} bytes whole, on every engine"
    sink = open_sink("v4", ENGINES, "--buffer-size", size, "--count", 4)
    for i, engine in enumerate(ENGINES):
        sender = Sender(sink)
        sender.send(*[b"x" * size] * 3, b"")
        counters = sums(sink, i + 1)[i]["total"]
        sender.check(counters, engine)
        equal((counters["truncated"], counters["bytes"]), (0, 3 * size), engine + ": truncated, bytes stored")
    sink.finish()


@test
@cases(wait=["block", "poll"])
def no_copy(wait):
    "R26 --no-copy, --wait {wait}: all lengths are known, nothing is stored; read refuses"
    names = [e for e in ENGINES if e != "read"]
    sink = open_sink("v4", names, "--no-copy", "--wait", wait, "--count", len(SIZES))
    for i, engine in enumerate(names):
        sender = Sender(sink)
        sender.send(*[b"x" * size for size in SIZES])
        counters = sums(sink, i + 1)[i]["total"]
        sender.check(counters, engine)
        equal((counters["bytes"], counters["truncated"]), (0, len(SIZES) - 1), engine + ": stored, truncated")
    sink.finish()
    refused = Sink("--listen", "127.0.0.1:0", "--engine", "read", "--no-copy", ready=False)
    equal(refused.wait(), 1, "exit status")
    if "read" not in refused.stderr or "--no-copy" not in refused.stderr:
        fail("no reason why: %s" % refused.stderr)


@test
@cases(wait=["block", "poll"])
def pieces(wait):
    "R25 --nr-iovec 3, --wait {wait}: payloads lie in one piece; engines that cannot say so"
    names = [e for e in ENGINES if e in RECVMSG_FAMILY]
    sizes = [0, 1, 199, 200, 201, 399, 400, 401, 599, 600, 601]
    sink = open_sink("v4", names, "--nr-iovec", 3, "--buffer-size", 600, "--wait", wait, "--check-pktgen=2", "--count", len(sizes))
    for i, engine in enumerate(names):
        sender = Sender(sink)
        sender.send(*[pktgen(1, size) for size in sizes])
        counters = sums(sink, i + 1)[i]["total"]
        sender.check(counters, engine)
        equal((counters["truncated"], counters["bytes"]), (1, sender.bytes - 1), engine + ": truncated, bytes stored")
        equal((counters["pktgen_bad_repeat"], counters["pktgen_bad_magic"]), (0, 2), engine + ": payloads")
    sink.finish()
    for engine in set(ENGINES) - set(RECVMSG_FAMILY):
        refused = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--nr-iovec", 3, ready=False)
        equal(refused.wait(), 1, "exit status of " + engine)
        if engine not in refused.stderr or "--nr-iovec" not in refused.stderr:
            fail("no reason why: %s" % refused.stderr)


main()
