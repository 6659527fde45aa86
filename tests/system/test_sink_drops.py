# SPDX-License-Identifier: MIT
"""What udp_sink's sockets dropped: exactly, by worker and period, of the run it belongs to, and as the kernel says."""
import socket
import struct

from harness import (Sink, between, cases, equal, fail, main, need_ipv6, private_net, test, udp_socket, udp_table, wait_until)
from receiver import namespace_counters
from sender import ENGINES, Sender, check_sums, paused, received, segmented, settle, sums, tasks

LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "mapped": "[::]:0"}
HOST = {"v4": "127.0.0.1", "v6": "::1", "mapped": "127.0.0.1"}
CONTROL = ["recvmsg", "recvmmsg", "epoll"]
SMALL = ["--rcvbuf", 20000]  # bytes: some tens of datagrams


def need(family):
    if family != "v4":
        need_ipv6()


def kernel(port):
    """Drops of each socket of a port, by inode, which is the order in which they were made."""
    return [row["drops"] for row in sorted(udp_table(port), key=lambda row: row["inode"])]


def overflow(sink, *sockets, each=200):
    """Sends from each socket while the sink stands still, more than fits, and lets it read the rest. Returns how many were dropped, as the
    kernel says."""
    ports = {s.getpeername()[1] for s in sockets}
    before = sum(sum(kernel(port)) for port in ports)
    with paused(sink):
        for s in sockets:
            for _ in range(each):
                s.send(b"overflow")
    for port in ports:
        settle(sink, port)
    dropped = sum(sum(kernel(port)) for port in ports) - before
    between(1, dropped, each * len(sockets) - 1, "drops that the test made")
    return dropped


def to(sink, family="v4"):
    return udp_socket(peer=(HOST[family], sink.port))


# -------------------------------------------------------------------------------------------------------------- exact

@test
@cases(engine=ENGINES, family=["v4", "mapped"], wait=["block", "poll"])
def exact(engine, family, wait):
    "R77 {engine}, {family}, --wait {wait}: received + dropped = sent, drops as in /proc/net/udp, also those after the last datagram received"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--wait", wait, "--count", 0, *SMALL)
    s = to(sink, family)
    drops = overflow(sink, s)
    total = received(sink)
    check_sums(total)
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 200 - drops), "drops, datagrams")
    equal(total["workers"][0]["socket_drops"], drops, "drops of the worker")
    notes = [n for n in total["notes"] if "dropped" in n]
    text = "the sockets dropped %d: receive buffer " % drops
    equal([(n.startswith(text), "of %d bytes" % total["queue_limit_bytes"] in n, "--rcvbuf" in n) for n in notes], [(True,) * 3], "note")
    equal(total["queue_limit_bytes"], 40000, "limit of the queue, as the kernel books it")


@test
def no_drops():
    "R77 nothing dropped: no note, and zeros"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--threads", 2)
    Sender(sink).send(*[b"x"] * 10)
    total = received(sink)
    equal((total["socket_drops"], [w["socket_drops"] for w in total["workers"]]), (0, [0, 0]), "drops")
    equal([n for n in total["notes"] if "dropped" in n], [], "notes")


@test
@cases(engine=ENGINES)
def twice(engine):
    "R77 {engine}: a socket that overflows twice in a run, with traffic between: the sum of both"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--count", 0, *SMALL)
    s, sender = to(sink), Sender(sink)
    first = overflow(sink, s, each=300)
    sender.send(*[b"between"] * 50)
    sender.settle()
    second = overflow(sink, s, each=150)
    total = received(sink)
    equal((total["socket_drops"], total["total"]["datagrams"]), (first + second, 500 - first - second), "drops, datagrams")


@test
@cases(engine=CONTROL, family=LISTEN)
def rxq_ovfl(engine, family):
    "R77 {engine}, {family}, --rxq-ovfl: the cumulative count is taken as such, and is the state of the last datagram: less than the socket's"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--count", 0, "--rxq-ovfl", "--batch", 8, *SMALL)
    s, sender = to(sink, family), Sender(sink, HOST[family])
    first = overflow(sink, s)
    sender.send(*[b"after"] * 300)
    sender.settle()
    # Dropped behind the last datagram that is received: no message can tell.
    second = overflow(sink, s)
    total = received(sink)
    equal((total["rxq_ovfl"], total["socket_drops"]), (first, first + second), "told with the datagrams; of the socket")
    equal(total["total"]["datagrams"], 700 - first - second, "datagrams")


@test
@cases(engine=CONTROL)
def gro_buffers(engine):
    "R77 R50 {engine}, --gro: a full socket drops whole buffers: buffers received + drops = buffers sent"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--gro", "--count", 0, "--rcvbuf", 100000)
    s = to(sink)
    with paused(sink):
        for _ in range(100):
            segmented(s, b"g" * 10000, 1000)
    settle(sink)
    drops = sum(kernel(sink.port))
    total = received(sink)
    between(1, drops, 99, "drops that the test made")
    equal((total["socket_drops"], total["total"]["buffers"], total["total"]["datagrams"]), (drops, 100 - drops, 10 * (100 - drops)),
          "drops, buffers, datagrams")


def bad_checksum(port, count):
    """UDP datagrams with a checksum that is wrong, made by hand. Up to 76 bytes the kernel drops them before it looks for a socket
    (CHECKSUM_BREAK), longer ones when they are read."""
    payload = bytes(200)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP) as s:
        for _ in range(count):
            s.sendto(struct.pack("!HHHH", 7, port, 8 + len(payload), 1) + payload, ("127.0.0.1", 0))


@test
@cases(engine=ENGINES, wait=["block", "poll"])
@private_net
def checksum(engine, wait):
    "R77 {engine}, --wait {wait}: datagrams with a wrong checksum are drops of the socket, never datagrams"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--wait", wait, "--count", 0)
    sender = Sender(sink)
    before = namespace_counters()["UdpInCsumErrors"]
    for _ in range(3):
        sender.send(b"good")
        bad_checksum(sink.port, 2)
    sender.send(b"good")
    total = received(sink)
    equal(namespace_counters()["UdpInCsumErrors"] - before, 6, "checksum errors of the kernel")
    equal((total["total"]["datagrams"], total["socket_drops"]), (4, 6), "datagrams, drops")


@test
@private_net
def checksum_note():
    "R77 drops by a wrong checksum: a larger buffer is not praised as the cure"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0)
    bad_checksum(sink.port, 5)
    wait_until(lambda: namespace_counters()["UdpInCsumErrors"] >= 5, what="checksum errors")
    total = received(sink)
    equal(total["socket_drops"], 5, "drops")
    if [n for n in total["notes"] if "--rcvbuf" in n and "checksum" not in n]:
        fail("notes: %r" % total["notes"])


# -------------------------------------------------------------------------------------------------- sockets and workers

@test
@cases(engine=ENGINES, threads=[3], addresses=[1, 2])
def by_worker(engine, threads, addresses):
    "R94 {engine}, {threads} threads, {addresses} address(es): each worker has the drops of its own sockets, as in /proc/net/udp"
    listen = [word for n in range(addresses) for word in ("--listen", "127.0.0.%d:0" % (n + 1))]
    sink = Sink(*listen, "--engine", engine, "--threads", threads, "--count", 0, *SMALL)
    sockets = [udp_socket(peer=("127.0.0.%d" % (n + 1), port)) for n, port in enumerate(sink.ports) for _ in range(8)]
    drops = overflow(sink, *sockets, each=60)
    by_address = [kernel(port) for port in sink.ports]  # bound worker by worker
    total = received(sink)
    check_sums(total)
    equal([w["socket_drops"] for w in total["workers"]], [sum(rows) for rows in zip(*by_address)], "drops of the workers")
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 60 * len(sockets) - drops), "drops, datagrams")


@test
@cases(engine=ENGINES)
def shared(engine):
    "R94 {engine}, --shared-socket: drops are counted once, in the total; no worker has them"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", 3, "--shared-socket", "--count", 0, "--interval", "50ms", *SMALL)
    drops = overflow(sink, to(sink))
    total = received(sink)
    check_sums(total)
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 200 - drops), "drops, datagrams")
    for record in [total, *sink.records("period")]:
        equal([w["socket_drops"] for w in record["workers"]], [0, 0, 0], "drops of the workers")
    equal(sum(p["socket_drops"] for p in sink.records("period")), drops, "drops of the periods")


# --------------------------------------------------------------------------------------------------------------- time

@test
@cases(threads=[1, 2])
def before_the_run(threads):
    "R77 {threads} thread(s): what the socket dropped before the run began is not the run's"
    shared_socket = ["--shared-socket", "--threads", threads] if threads > 1 else []
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--connect", "--count", 0, "--rxq-ovfl", *shared_socket, *SMALL)
    s = to(sink)
    drops = overflow(sink, s)  # it waits for the first sender
    drained = sink.record("header")["connect"]
    equal(drained, {"drained_peer": 200 - drops, "drained_foreign": 0}, "thrown away")
    for _ in range(5):
        s.send(b"measured")
    total = received(sink)
    equal((total["total"]["datagrams"], total["socket_drops"]), (5, 0), "datagrams, drops")
    equal([n for n in total["notes"] if "dropped" in n], [], "notes")
    equal(total["rxq_ovfl"], drops, "since the beginning of the socket, as the kernel tells it")


@test
@cases(threads=[1, 2])
def of_each_run(threads):
    "R77 {threads} thread(s), every engine, --repeat 2: each run has its own drops, those without have none"
    count = 300
    # One socket, so that the count ends a run exactly, and a batch of 1, so that two workers do not go beyond.
    sink = Sink("--listen", "127.0.0.1:0", "--engine", ",".join(ENGINES), "--repeat", 2, "--count", count, "--batch", 1, "--threads", threads,
                "--shared-socket", *SMALL)
    s, expected = to(sink), []
    for run in range(2 * len(ENGINES)):
        # Workers of a run end before its sum is printed, and begin when its counts have begun.
        wait_until(lambda: len(tasks(sink, "Name")) == threads, what="workers of run %d" % run)
        sent = 150 + 40 * (run % 3)
        drops = overflow(sink, s, each=sent) if run % 3 else 0
        sender = Sender(sink)
        sender.send(*[b"rest"] * (count - (sent - drops if run % 3 else 0)))
        expected.append(drops)
        sums(sink, run + 1)
    totals = sums(sink, len(expected))
    sink.finish()
    equal([t["socket_drops"] for t in totals], expected, "drops of the runs")
    equal([t["total"]["datagrams"] for t in totals], [count] * len(expected), "datagrams of the runs")
    equal([bool([n for n in t["notes"] if "dropped" in n]) for t in totals], [d > 0 for d in expected], "notes")


@test
@cases(engines=[ENGINES[0], ",".join(ENGINES)], threads=[1, 2])
def between_runs(engines, threads):
    "R77 {engines}, {threads} thread(s), short runs: what is dropped between two of them is in the later one; all of them make the kernel's count"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engines, "--repeat", 1000, "--duration", "30ms", "--threads", threads, *SMALL)
    sockets, drops, sent = [to(sink) for _ in range(4)], 0, 0
    for run in range(10):
        sums(sink, run + 1)  # the next one is about to begin
        drops += overflow(sink, *sockets, each=50)
        sent += 50 * len(sockets)
    received(sink)
    totals = sink.records("sum")
    equal(sum(t["socket_drops"] for t in totals), drops, "drops of all runs")
    equal(sum(t["total"]["datagrams"] for t in totals), sent - drops, "datagrams of all runs")
    equal(sum(w["socket_drops"] for t in totals for w in t["workers"]), drops, "drops of all workers")


@test
@cases(threads=[1, 2], engine=["recvmmsg", "epoll", "read"])
def of_each_period(threads, engine):
    "R77 {engine}, {threads} thread(s), --interval: drops stand in the period in which they happened; periods add up to the sum"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--count", 0, "--interval", "30ms", *SMALL)
    s, expected = to(sink), []

    def periods(more):
        """Waits for so many more; returns how many there are."""
        have = len(sink.records("period"))
        wait_until(lambda: len(sink.records("period")) >= have + more, what="periods")
        return len(sink.records("period"))
    for each in (100, 250, 170):
        begin = periods(2)
        drops = overflow(sink, s, each=each)
        expected.append((begin, periods(3), drops))
    total = received(sink)
    check_sums(total)
    records = sink.records("period")
    values = [r["socket_drops"] for r in records]
    for begin, end, drops in expected:
        equal([v for v in values[begin:end] if v], [drops], "drops of periods %d to %d of %r" % (begin, end, values))
    equal((sum(values), total["socket_drops"]), (sum(d for _, _, d in expected),) * 2, "drops of all periods, of the run")
    for i in range(threads):
        equal(sum(r["workers"][i]["socket_drops"] for r in records), total["workers"][i]["socket_drops"], "drops of worker %d" % i)
    equal(sum(r["total"]["datagrams"] for r in records), total["total"]["datagrams"], "datagrams of the periods")
    for record in records:
        equal(sum(w["socket_drops"] for w in record["workers"]), record["socket_drops"], "drops of the workers in a period")
        equal([n for n in record["notes"] if "dropped %d" % record["socket_drops"] in n] != [], record["socket_drops"] > 0, "note of a period")


@test
def after_the_last_period():
    "R77 --interval: drops between the last period and the end are in a partial period and in the sum"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--interval", "1h", *SMALL)
    drops = overflow(sink, to(sink))
    total = received(sink)
    equal([(p["partial"], p["socket_drops"]) for p in sink.records("period")], [(True, drops)], "partial period")
    equal(total["socket_drops"], drops, "drops")


@test
@cases(format=["text", "classic"])
def other_formats(format):
    "R77 R102 --format {format}: the drops are in the last column of the text table; the classic columns stay as they are"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--format", format, *SMALL)
    port = [int(line.split(":")[-1].split(",")[0]) for line in wait_until(lambda: [x for x in sink.stderr.splitlines() if "ready" in x],
                                                                        what="ready")][0]
    with udp_socket(peer=("127.0.0.1", port)) as s:
        drops = overflow(sink, s)
    equal(sink.stop(), 0, "exit status")
    row = [line for line in sink.stdout.splitlines() if line.startswith("recvmsg")][0]
    if format == "text":
        equal((row.split()[-1], row.split()[2 if "+" not in row else 3]), (str(drops), str(200 - drops)), "drops, datagrams of the row")
        equal(sink.stdout.count("the sockets dropped %d: receive buffer " % drops), 1, "notes")
    else:
        equal((row.split()[3], sink.stdout.count("dropped")), (str(200 - drops), 0), "datagrams, words about drops")


@test
@private_net
def kernel_counters():
    "R77 the namespace's counters agree: InDatagrams = buffers, RcvbufErrors = InErrors = drops, and nothing is added twice"
    before = namespace_counters()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--threads", 2, "--count", 0, *SMALL)
    sockets = [to(sink) for _ in range(8)]
    drops = overflow(sink, *sockets, each=100)
    total = received(sink)
    delta = {name: value - before[name] for name, value in namespace_counters().items() if name in before}
    equal((delta["UdpInDatagrams"], delta["UdpRcvbufErrors"], delta["UdpInErrors"]), (total["total"]["buffers"], drops, drops), "kernel")
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 800 - drops), "drops, datagrams")


main()
