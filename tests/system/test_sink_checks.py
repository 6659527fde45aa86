# SPDX-License-Identifier: MIT
"""udp_sink does what it says: the system calls of each engine, and the checks of sequence numbers, pktgen headers and senders."""
import os
import re
import struct

from harness import Sink, Source, cases, equal, fail, ip, main, private_net, queued, strace, test, udp_socket, wait_until
from sender import ENGINES, PKTGEN_MAGIC, Sender, check_sums, pktgen, received, sequence, settle

COUNT = 20  # datagrams of a traced run
BATCH = 64
RECEIVES = ("read", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64")
WAITS = ("ppoll", "ppoll_time64", "epoll_wait", "epoll_pwait", "epoll_pwait2")
CALL_OF = {"read": "read", "recv": "recvfrom", "recvfrom": "recvfrom", "recvmsg": "recvmsg", "recvmmsg": "recvmmsg", "epoll": "recvmmsg"}


# ------------------------------------------------------------------ labels and system calls

class Call:
    """A finished system call."""

    def __init__(self, name, arguments, result):
        self.name, self.arguments, self.result = name.replace("_time64", ""), arguments, -1 if result == "?" else int(result)  # ?: a signal ended it

    @property
    def fd(self):
        return int(re.match(r"\d+|$", self.arguments).group() or -1)

    @property
    def flags(self):
        """Names of the MSG_ flags that it was given; those inside a message header are what the kernel gave back."""
        given = re.sub(r"msg_flags=[\w|]+", "", self.arguments)
        return set(re.findall(r"MSG_\w+", given))

    @property
    def length(self):
        """recvmmsg: number of messages asked for; its time-out."""
        m = re.search(r", (\d+), [\w|]+, (NULL|\{tv_sec=\d+, tv_nsec=\d+\})[^,]*$", self.arguments)
        return (int(m.group(1)), m.group(2)) if m else fail("recvmmsg of another form: %s" % self.arguments[-200:])


def finished_calls(lines):
    """thread id -> its calls. Calls that another thread's line cut in two are put together."""
    calls, begun = {}, {}
    for line in lines:
        tid, text = line.split(None, 1)
        if text.endswith(" <unfinished ...>"):
            begun[tid] = text[:-len(" <unfinished ...>")]
            continue
        m = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        text = begun.pop(tid) + m.group(1) if m else text
        m = re.match(r"(\w+)\((.*)\) += (-?\d+|\?)", text)
        if m:
            calls.setdefault(int(tid), []).append(Call(*m.groups()))
    return calls


def all_at_once(sink, engines, count):
    Sender(sink, flows=8).send(*[b"x" * 18] * count * len(engines))


def sleeping(sink, received):
    """A period with so many datagrams was printed, and a worker sleeps: it has seen the empty queue. (Stopped by strace is another state.)"""
    def state(task):
        with open("/proc/%d/task/%s/stat" % (sink.pid, task)) as f:
            name, rest = f.read().split("(", 1)[1].rsplit(") ", 1)
        return name, rest[0]

    if sum(p["total"]["datagrams"] for p in sink.records("period")) < received:
        return False
    try:
        return any(name.startswith("sink-") and letter == "S" for name, letter in map(state, os.listdir("/proc/%d/task" % sink.pid)))
    except (FileNotFoundError, ProcessLookupError):  # one that ended
        return False


def with_waits(sink, engines, count):
    """Each engine sleeps before its last datagram."""
    sender = Sender(sink)
    for i in range(len(engines)):
        sender.send(*[b"x" * 18] * (count - 1))
        wait_until(lambda n=i: sleeping(sink, count * n + count - 1), what="a worker that sleeps")
        sender.send(b"x" * 18)


def traced(engines, *words, count=COUNT, feed=all_at_once):
    """Runs the engines under strace, so many datagrams for each. Yields the sum record of each run, our sockets, and the calls of its workers.
    A single engine is ended by a signal: several threads do not stop at --count exactly, as the run of another engine would need."""
    prefix, read = strace("all")
    several = len(engines) > 1
    sink = Sink("--listen", "127.0.0.1:0", "--engine", ",".join(engines), "--batch", BATCH, "--count", count if several else 0, *words, prefix=prefix)
    feed(sink, engines, count)
    if several:
        sink.finish()
    else:
        received(sink)
    calls = finished_calls(read(sink))
    sockets = {call.fd for call in calls.pop(sink.pid) if call.name == "bind"}
    workers = [mine for _tid, mine in sorted(calls.items())]  # in order of their start, as the runs are
    threads = sink.ready["workers"]
    equal((len(sink.records("sum")), len(workers)), (len(engines), threads * len(engines)), "runs, and their workers")
    for i, run in enumerate(sink.records("sum")):
        yield run, sockets, [call for mine in workers[i * threads:(i + 1) * threads] for call in mine]


def receives(calls, sockets):
    """Those that receive from our sockets."""
    return [call for call in calls if call.name in RECEIVES and call.fd in sockets]


WITH_NAME = [engine for engine in ENGINES if engine not in ("read", "recv")]
WITH_CONTROL = [engine for engine in WITH_NAME if engine != "recvfrom"]

# What is asked for: engines that can; those that get a name; those that get a control buffer.
LABELS = {
    "": (ENGINES, ["recvfrom"], []),
    "--pktinfo": (ENGINES, ["recvfrom"], WITH_CONTROL),
    "--recv-ttl": (ENGINES, ["recvfrom"], WITH_CONTROL),
    "--check-sender 127.0.0.1": (WITH_NAME, WITH_NAME, []),
    "--check-sender 127.0.0.1 --pktinfo": (WITH_NAME, WITH_NAME, WITH_CONTROL),
    "--by-destination": (WITH_CONTROL, [], WITH_CONTROL),
    "--threads 2": (ENGINES, WITH_NAME, []),  # the flows of each worker are counted
}


@test
@cases(words=LABELS)
def labels(words):
    "R63 '{words}': each engine makes the call of its name, with name and control buffer as its label says, and no other"
    engines, name, control = LABELS[words]
    together = [[engine] for engine in engines] if "--threads" in words else [engines]
    for run, sockets, calls in (one for some in together for one in traced(some, *words.split())):
        engine, ours = run["engine"], receives(calls, sockets)
        equal({call.name for call in ours}, {CALL_OF[engine]}, "receive calls of " + engine)
        equal(len(ours), run["total"]["calls"], "number of calls of " + engine)
        filled = [call for call in ours if call.result > 0]
        for word, pattern, wanted in (("+name", r"\{sa_family=AF_INET", name), ("+control", r"msg_control=\[\{cmsg_len=", control)):
            equal({bool(re.search(pattern, call.arguments)) for call in filled}, {engine in wanted}, "%s in the calls of %s" % (word, engine))
        batch = "/%d" % BATCH if engine in ("recvmmsg", "epoll") else ""
        equal(run["label"], engine + batch + " +name" * (engine in name) + " +control" * (engine in control), "label")


@test
def nothing_else():
    "R63 with every view of a datagram, a worker makes no call per datagram but the one that receives it"
    for run, sockets, calls in traced(WITH_CONTROL, "--pktinfo", "--recv-ttl", "--recv-tos", "--rxq-ovfl", "--by-destination", "--check-sender",
                                      "127.0.0.1", "--check-sequence", "--check-pktgen", "--work", "1us", count=100):
        got = [i for i, call in enumerate(calls) if call in receives(calls, sockets) and call.result > 0]
        # A clock is read where a queue is seen empty; that is a call only where the vDSO has no clock.
        others = [call.name for call in calls[got[0]:got[-1]] if call.name not in (*RECEIVES, *WAITS, "clock_gettime", "getrusage")]
        equal(len(others) < 10, True, "other calls of %s: %r" % (run["engine"], others))


# What is asked of --recvmmsg --batch 64: flags, time-out, pieces of a message.
ASKED = {
    "": (set(), "NULL", 1),
    "--wait block": (set(), "NULL", 1),
    "--wait poll": ({"MSG_DONTWAIT"}, "NULL", 1),
    "--spin": ({"MSG_DONTWAIT"}, "NULL", 1),
    "--dontwait": ({"MSG_DONTWAIT"}, "NULL", 1),
    "--waitforone": ({"MSG_WAITFORONE"}, "NULL", 1),
    "--waitforone --timeout 5ms": ({"MSG_WAITFORONE"}, "{tv_sec=0, tv_nsec=5000000}", 1),
    "--timeout 2.5": (set(), "{tv_sec=2, tv_nsec=500000000}", 1),
    "--timeout 0": (set(), "NULL", 1),
    "--nr-iovec 3": (set(), "NULL", 3),
    "--no-copy": (set(), "NULL", 1),
}


@test
@cases(words=ASKED)
def arguments(words):
    "R63 '--recvmmsg --batch 64 {words}': batches of 1, then 64; flags, time-out and pieces as asked"
    flags, timeout, pieces = ASKED[words]
    for run, sockets, calls in traced(["recvmmsg"], *words.split(), count=2 * BATCH):
        ours = receives(calls, sockets)
        equal((ours[0].length[0], max(call.length[0] for call in ours)), (1, BATCH), "messages asked for, first and at most")
        equal({frozenset(call.flags) for call in ours}, {frozenset(flags | {"MSG_TRUNC"})}, "flags")
        equal({call.length[1] for call in ours}, {timeout}, "time-outs")
        equal(set(re.findall(r"msg_iovlen=(\d+)", " ".join(c.arguments for c in ours))), {str(pieces)}, "pieces")
        if words == "--no-copy":
            equal(set(re.findall(r"iov_len=(\d+)", " ".join(c.arguments for c in ours))), {"0"}, "lengths of buffers")
        waits = {call.name for call in calls if call.name in WAITS}
        equal(bool(waits), words == "--wait poll", "calls that wait: %r" % waits)
        equal(run["total"]["datagrams"], 2 * BATCH, "datagrams")


@test
@cases(wait=["block", "poll", "spin"])
def waiting(wait):
    "R63 --wait {wait}: the calls of each engine block or not, and what sleeps is what its name says"
    feed = all_at_once if wait == "spin" else with_waits
    for run, sockets, calls in traced(ENGINES, "--wait", wait, "--interval", "20ms", feed=feed):
        engine, ours = run["engine"], receives(calls, sockets)
        blocks = wait == "block" and engine != "epoll"
        if engine != "read":  # it has no flags: O_NONBLOCK is set, as bad waits would show
            equal({"MSG_DONTWAIT" in call.flags for call in ours}, {not blocks}, "MSG_DONTWAIT of " + engine)
        waits = {call.name for call in calls if call.name in WAITS}
        equal(any("epoll" in name for name in waits), engine == "epoll", "epoll_wait of %s: %r" % (engine, waits))
        equal(any("ppoll" in name for name in waits), wait == "poll" and engine != "epoll", "ppoll of %s: %r" % (engine, waits))


# ------------------------------------------------------------------ sequence numbers

SEQUENCE = ("in_order", "reordered", "duplicate", "stale", "skipped", "no_header")

# Numbers of one stream, and what they are: in_order, reordered, duplicate, stale, skipped.
NUMBERS = {
    "in order": (list(range(20)), (20, 0, 0, 0, 0)),
    "begins late": ([500, 501, 502], (3, 0, 0, 0, 0)),
    "two missing": ([0, 1, 4, 5], (4, 0, 0, 0, 2)),
    "each twice": ([0, 0, 1, 1, 2, 2], (3, 0, 3, 0, 0)),
    "neighbours changed": ([0, 2, 1, 4, 3, 5], (4, 2, 0, 0, 2)),
    "late, and late again": ([0, 1, 5, 3, 3, 2], (3, 2, 1, 0, 3)),
    "last of the window": ([0, 1000, 745], (2, 1, 0, 0, 999)),
    "before the window": ([0, 1000, 744], (2, 0, 0, 1, 999)),
    "first number again, far behind": ([0, 1000, 0], (2, 0, 0, 1, 999)),
    "far ahead, then on": ([7, 100000, 100001, 99999], (3, 1, 0, 0, 99992)),
    "around 2^32": ([2 ** 32 - 1, 2 ** 32 + 1, 2 ** 32], (2, 1, 0, 0, 1)),
}


def check_sequence(total, sent, expected, foreign=0, no_header=0):
    """Counters of --check-sequence, and the rules they obey."""
    c = total["total"]
    check_sums(total)
    equal([c["seq_" + name] for name in SEQUENCE], [*expected, no_header], "counters " + ", ".join(SEQUENCE))
    equal(c["foreign"], foreign, "foreign")
    equal(c["datagrams"] + c["foreign"], sent, "datagrams + foreign")
    equal(sum(c["seq_" + name] for name in SEQUENCE if name != "skipped"), c["datagrams"], "sum of what datagrams can be")
    equal(total["missing_at_least"], c["seq_skipped"] - c["seq_reordered"], "missing at least")


@test
@cases(kind=NUMBERS)
def numbers(kind):
    "R68 {kind}: in order, reordered, duplicate, stale and skipped are separate, on every engine"
    numbers_, expected = NUMBERS[kind]
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "all", "--check-sequence", "--count", len(numbers_))
    sender = Sender(sink)
    sender.send(*[sequence(5, 1, n) for n in numbers_] * len(ENGINES))
    sink.finish()
    runs = sink.records("sum")
    equal(len(runs), len(ENGINES), "runs")
    for total in runs:
        check_sequence(total, len(numbers_), expected)
    equal(sink.stderr, "", "standard error: nothing is logged for a datagram")


@test
def streams():
    "R68 streams are apart; what carries no header, or half of one, is counted as such"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--check-sequence", "--count", 0)
    sender = Sender(sink)
    for n in range(10):
        sender.send(sequence(5, 0, n), sequence(5, 65535, 100 + 2 * n), sequence(5, 256, 9 - n))
    wrong = sequence(5, 0, 10)
    sender.send(b"x" * 18, b"", sequence(5, 0, 10, size=17), b"\0" + wrong[1:], wrong[:2] + b"\x07" + wrong[3:])
    total = received(sink)
    sender.check(total["total"], "all")
    # 256 came backwards: each number jumped over those before it, which came late. None is missing there: nine and nine.
    check_sequence(total, sender.count, (10 + 10 + 1, 9, 0, 0, 9 + 9), no_header=5)


@test
@cases(engine=ENGINES)
def other_run(engine):
    "R71 {engine}: datagrams of another run of a source are foreign, and in no other counter"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--check-sequence", "--count", 0, "--buffer-size", 100)
    sender = Sender(sink)
    sender.send(*[sequence(5, 1, n, size=100) for n in range(10)])
    sender.settle()
    sender.send(*[sequence(6, stream, n, size=size) for stream in (1, 2) for n in (3, 10, 500) for size in (18, 200)])
    sender.send(*[sequence(5, 1, n, size=100) for n in range(10, 15)])
    total = received(sink)
    check_sequence(total, 27, (15, 0, 0, 0, 0), foreign=12)
    c = total["total"]
    equal((c["datagrams"], c["bytes"], c["wire_bytes"], c["truncated"], c["empty"]), (15, 1500, 1500, 0, 0), "what is not foreign")
    equal(abs(total["rate"]["pps"] * total["duration_s"] - 15) < 1e-3, True, "rate * duration = %g" % (total["rate"]["pps"] * total["duration_s"]))


@test
def first_names_the_run():
    "R71 each run of the sink begins anew: its first datagram names the run of the source, also when its worker is another one"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg,epoll", "--check-sequence", "--count", 3, "--threads", 2)
    for i, run in enumerate((7, 8)):
        peers = [udp_socket(peer=("127.0.0.1", sink.port)) for _ in range(16)]  # of both sockets: 2^-15 is the chance of one only
        peers[0].send(sequence(run, 0, 0))
        wait_until(lambda: queued(sink.port) == 0, what="the first datagram of a run")
        for n, peer in enumerate(peers[1:], 1):
            peer.send(sequence(run + 100, n, 0))
        wait_until(lambda: queued(sink.port) == 0, what="the foreign ones")
        peers[0].send(sequence(run, 0, 1))
        peers[1].send(sequence(run, 1, 0))
        total = wait_until(lambda n=i: sink.records("sum")[n:], what="the end of the run")[0]
        check_sequence(total, 18, (3, 0, 0, 0, 0), foreign=15)
    sink.finish()


@test
@cases(threads=[1, 2])
def second_source(threads):
    "R71 {threads} thread(s): a second udp_source starts in the middle of the first: all of its datagrams are foreign, none of the first is missing"
    sink = Sink("--listen", "127.0.0.1:0", "--check-sequence", "--count", 0, "--rcvbuf", "4M", "--threads", threads, "--interval", "10ms")
    target = "127.0.0.1:%d" % sink.port
    first = Source("--count", 4000, "--rate", "8k", "--flows", 4, "--size", 40, target)
    wait_until(lambda: any(p["total"]["datagrams"] for p in sink.records("period")), what="datagrams of the first")
    second = Source("--count", 1000, "--flows", 4, target)
    equal((first.finish().sum["sent"], second.finish().sum["sent"]), (4000, 1000), "sent")
    total = received(sink)
    equal(total["socket_drops"], 0, "drops")
    check_sequence(total, 5000, (4000, 0, 0, 0, 0), foreign=1000)
    equal(total["total"]["bytes"], 4000 * 40, "bytes")


# ------------------------------------------------------------------ pktgen

def stamped(number, sec, usec, order=">"):
    return struct.pack(order + "IIII", PKTGEN_MAGIC, number, sec, usec)


def broken(number, order):
    """The second and the third of four headers differ from the first."""
    good, other = stamped(number, 1, 1, order), stamped(number + 1, 1, 1, order)
    return good + other + other + good


# Payloads of one order, and what they are: disorder at levels 1 and 2, at level 3, wrong magic, wrong repeats (levels 2 and 3).
PKTGEN = {
    "in order": (lambda o: [pktgen(n, 48, o) for n in range(1, 20)], (0, 0, 0, 0)),
    "one back": (lambda o: [pktgen(n, 48, o) for n in (1, 2, 3, 2, 3, 4)], (1, 1, 0, 0)),
    "some missing": (lambda o: [pktgen(n, 48, o) for n in (1, 2, 5, 6, 9)], (0, 2, 0, 0)),
    "twice": (lambda o: [pktgen(n, 48, o) for n in (1, 2, 2, 3)], (0, 1, 0, 0)),
    "clock goes back": (lambda o: [stamped(1, 5, 10, o), stamped(2, 5, 9, o), stamped(3, 4, 999999, o), stamped(4, 4, 999999, o)], (2, 2, 0, 0)),
    "numbers wrap": (lambda o: [pktgen(n, 16, o) for n in (2 ** 32 - 2, 2 ** 32 - 1, 0, 1)], (0, 0, 0, 0)),
    "no header": (lambda o: [pktgen(1, 48, o), b"x" * 48, b"", pktgen(2, 15, o), pktgen(2, 48, o)], (0, 0, 3, 0)),
    "repeats differ": (lambda o: [pktgen(1, 64, o), broken(2, o), pktgen(3, 64, o)], (0, 0, 0, 2)),
    "a rest of a header": (lambda o: [pktgen(1, 63, o), pktgen(2, 17, o), pktgen(3, 31, o), pktgen(4, 16, o)], (0, 0, 0, 0)),
    "both byte orders": (lambda o: [pktgen(n, 48, o if n % 2 else "<>"[o == "<"]) for n in range(1, 9)], (0, 0, 0, 0)),
}


@test
@cases(kind=PKTGEN, order=["network", "little"])
def pktgen_headers(kind, order):
    "--check-pktgen, {order} byte order, {kind}: levels 1 to 3, every engine"
    make, (disorder, strict, magic, repeat) = PKTGEN[kind]
    payloads = make(">" if order == "network" else "<")
    sinks = [Sink("--listen", "127.0.0.1:0", "--engine", "all", "--check-pktgen=%d" % level, "--count", len(payloads)) for level in (1, 2, 3)]
    for sink in sinks:
        Sender(sink).send(*payloads * len(ENGINES))
    for level, sink in enumerate(sinks, 1):
        sink.finish()
        runs = sink.records("sum")
        equal(len(runs), len(ENGINES), "runs")
        for total in runs:
            check_sums(total)
            got = [total["total"]["pktgen_" + name] for name in ("disorder", "bad_magic", "bad_repeat")]
            equal(got, [strict if level == 3 else disorder, magic, repeat if level > 1 else 0],
                  "level %d, %s: disorder, wrong magic, wrong repeats" % (level, total["engine"]))


@test
def pktgen_cut():
    "--check-pktgen looks at what was stored of a datagram that was cut"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "all", "--check-pktgen=3", "--buffer-size", 40, "--count", 3)
    Sender(sink).send(*[pktgen(1, 100), pktgen(2, 32) + b"x" * 100, pktgen(3, 40)] * len(ENGINES))
    sink.finish()
    for total in sink.records("sum"):  # of the second the headers are whole, its rest is shorter than one
        equal([total["total"]["pktgen_" + n] for n in ("disorder", "bad_magic", "bad_repeat")], [0, 0, 0], total["engine"])
        equal(total["total"]["truncated"], 2, "truncated, " + total["engine"])


# ------------------------------------------------------------------ senders

# Listener, --check-sender, addresses that send to it; those at the beginning are ours.
SENDERS = {
    "IPv4": ("127.0.0.1:0", "127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "127.1.0.1"]),
    "IPv6": ("[::1]:0", "::1", ["::1"], ["2001:db8::1", "2001:db8::2"]),
    "IPv4 at a dual-stack socket": ("[::]:0", "127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "::1"]),
    "IPv4 written as IPv6": ("[::]:0", "::ffff:127.0.0.2", ["127.0.0.2"], ["127.0.0.1", "::1", "2001:db8::1"]),
    "IPv4 written as IPv6, IPv4 socket": ("127.0.0.1:0", "::ffff:127.0.0.2", ["127.0.0.2"], ["127.0.0.1"]),
    "IPv6 at a dual-stack socket": ("[::]:0", "2001:db8::1", ["2001:db8::1"], ["2001:db8::2", "::1", "127.0.0.1"]),
    "IPv6 that never comes": ("127.0.0.1:0", "::1", [], ["127.0.0.1", "127.0.0.2"]),
}


@test
@private_net
@cases(kind=SENDERS)
def senders(kind):
    "R71 --check-sender, {kind}: other hosts are foreign, whatever their port, and in no other counter"
    listen, sender, ours, others = SENDERS[kind]
    for address in ("2001:db8::1", "2001:db8::2") if ":" in listen else ():
        ip("addr add %s/128 dev lo nodad" % address)
    for engine in WITH_NAME:
        control = ["--by-destination", "--recv-ttl"] if engine in WITH_CONTROL else []
        sink = Sink("--listen", listen, "--engine", engine, "--check-sender", sender, "--check-pktgen=2", "--buffer-size", 500, "--count", 0, *control)
        for address in [*ours, *others]:
            for _port in range(2):
                with udp_socket(bind=(address, 0), peer=("::1" if ":" in address else "127.0.0.1", sink.port)) as peer:
                    for payload in (b"", b"x" * 100, pktgen(1, 600)):
                        peer.send(payload)
        settle(sink)
        total = received(sink)
        check_sums(total)
        c, mine = total["total"], 2 * len(ours)
        equal((c["datagrams"], c["foreign"]), (3 * mine, 6 * len(others)), "datagrams and foreign of " + engine)
        equal([c[n] for n in ("empty", "truncated", "bytes", "wire_bytes")], [mine, mine, 600 * mine, 700 * mine], "other counters of " + engine)
        equal((c["pktgen_bad_magic"], c["pktgen_bad_repeat"]), (2 * mine, 0), "pktgen counters of " + engine)
        if c["ipv4"] is not None:
            v4 = sum("." in address for address in ours)
            equal((c["ipv4"], c["ipv6"]), (6 * v4, 6 * (len(ours) - v4)), "IPv4 and IPv6 of " + engine)
        if control:
            equal(sum(d["datagrams"] for d in total["destinations"]), 3 * mine, "datagrams by destination of " + engine)
            equal(sum(total["ttl"].values()), 3 * mine, "TTL values of " + engine)


main()
