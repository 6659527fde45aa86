# SPDX-License-Identifier: MIT
"""How datagrams spread over udp_sink's workers: flows in a group of sockets, by CPU, on a shared socket, on a socket for each flow."""
import contextlib
import os
import socket

from harness import (Sink, Source, between, cases, equal, fail, main, module, need_ipv6, skip, strace, test, udp_socket, udp_table,
                     wait_until)
from sender import ENGINES, Sender, check_sums, command, paused, received, refusal, sequence, settle

LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "dual": "[::]:0"}
HOSTS = {"v4": ["127.0.0.1"], "v6": ["::1"], "dual": ["127.0.0.1", "::1"]}
KNOWS_SOURCE = [e for e in ENGINES if e not in ("read", "recv")]
EACH = ["recvmsg", "recvmmsg", "epoll"]  # engines for --connect-each


def need(family):
    if family != "v4":
        need_ipv6()


def counts(total):
    return [w["counters"]["datagrams"] for w in total["workers"]]


def jain(values):
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def idle_note(total):
    return [note for note in total["notes"] if "idle by design" in note]


def flows_to(port, family, n):
    """n sockets from ports of their own, to the addresses of the family in turn."""
    hosts = HOSTS[family]
    return [udp_socket(peer=(hosts[i % len(hosts)], port)) for i in range(n)]


def send_powers(sink, sockets):
    """2^i datagrams from socket i, so that the count of a worker tells which flows it had. Returns the sum."""
    sender = Sender(sink, HOSTS["v4"][0])
    for i, s in enumerate(sockets):
        sender.sockets = [s]
        sender.send(*[sequence(5, i, n) for n in range(2 ** i)])
    sender.settle()
    return sender.count


# ------------------------------------------------------------------------------------------------- a group of sockets

@test
@cases(engine=ENGINES)
def one_flow(engine):
    "R93 {engine}, 4 threads, one flow: one worker has all, and the report says that 3 are idle by design, where it can know"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", 4, "--count", 0)
    sender = Sender(sink)
    sender.send(*[b"x"] * 100)
    total = received(sink)
    check_sums(total)
    equal(sorted(counts(total)), [0, 0, 0, 100], "datagrams of the workers")
    equal(total["fairness"], 0.25, "fairness")
    if engine in KNOWS_SOURCE:
        equal((total["flows"], sorted(w["flows"] for w in total["workers"])), (1, [0, 0, 0, 1]), "flows")
        equal(idle_note(total), ["1 flow seen: 3 of 4 threads idle by design (a flow stays on one socket)"], "note")
    else:
        equal((total["flows"], [w["flows"] for w in total["workers"]], idle_note(total)), (None, [None] * 4, []), "flows, note")


@test
@cases(threads=[3], wait=["block", "poll"], family=LISTEN)
def flows_stay(threads, wait, family):
    "R93 {family}, --wait {wait}, 8 flows on {threads} threads, every engine: each flow is on one worker, sums add up, fairness is reported"
    need(family)
    for engine in KNOWS_SOURCE:
        sink = Sink("--listen", LISTEN[family], "--engine", engine, "--threads", threads, "--wait", wait, "--count", 0, "--check-sequence")
        sockets = flows_to(sink.port, family, 8)
        sent = send_powers(sink, sockets)
        total = received(sink)
        check_sums(total)
        equal((total["total"]["datagrams"], total["total"]["seq_in_order"], total["socket_drops"]), (sent, sent, 0), engine)
        had = [bin(n).count("1") for n in counts(total)]
        equal(sum(had), 8, engine + ": flows by worker, from their counts %r" % counts(total))
        for worker, n in zip(total["workers"], had):
            between(n - 1, worker["flows"], n, engine + ": flows of worker %d" % worker["index"])  # two may look alike to the estimate
        between(7, total["flows"], 8, engine + ": flows")
        between(jain(counts(total)) - 1e-9, total["fairness"], jain(counts(total)) + 1e-9, engine + ": fairness")


@test
def more_threads_than_flows():
    "R94 12 threads, 8 flows: each worker shows what it received, dropped and queued; as many flows as there are; who is idle is said"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--threads", 12, "--count", 0)
    sent = send_powers(sink, flows_to(sink.port, "v4", 8))
    total = received(sink)
    check_sums(total)
    equal((sum(counts(total)), len(total["workers"])), (sent, 12), "datagrams, workers")
    idle = sum(n == 0 for n in counts(total))
    for worker in total["workers"]:
        for name in ("socket_drops", "queue_max_bytes", "queue_limit_bytes", "flows"):
            between(0, worker[name], 1 << 40, name)
    equal(["of 12 threads idle by design" in n and " %d of" % idle in n for n in idle_note(total)], [True], "note in %r" % total["notes"])


@test
@cases(family=LISTEN)
def imbalance(family):
    "R94 {family}: one worker drops while another has nothing to do: drops and queues by worker, and a sentence"
    need(family)
    # 5 ms of work for each: the queue is long for long enough to be looked at.
    sink = Sink("--listen", LISTEN[family], "--engine", "recvmsg", "--threads", 2, "--count", 0, "--rcvbuf", 30000, "--work", "5ms")
    with udp_socket(peer=(HOSTS[family][0], sink.port)) as s:
        with paused(sink):
            for _ in range(300):
                s.send(b"x" * 100)
    total = received(sink)
    check_sums(total)
    drops = [w["socket_drops"] for w in total["workers"]]
    busy = max(range(2), key=lambda i: drops[i])
    equal((drops[1 - busy], counts(total)[1 - busy]), (0, 0), "drops and datagrams of the idle one")
    equal((total["socket_drops"], counts(total)[busy] + drops[busy]), (drops[busy], 300), "drops; received and dropped")
    equal(total["workers"][1 - busy]["queue_max_bytes"], 0, "longest queue of the idle one")
    between(1, total["workers"][busy]["queue_max_bytes"], total["queue_max_bytes"], "longest queue of the busy one")
    text = "worker %d dropped %d while worker %d was less than 10 %% busy: uneven spread" % (busy, drops[busy], 1 - busy)
    if text not in total["notes"]:
        fail("no %r in %r" % (text, total["notes"]))


# ------------------------------------------------------------------------------------------------------------ by CPU

@contextlib.contextmanager
def on_cpu(cpu):
    """Loopback processes a datagram on the CPU of its sender."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@test
@cases(family=LISTEN, threads=[2, 3])
def by_cpu(family, threads):
    "R93 {family}, --use-bpf: one flow goes to worker (CPU modulo {threads}), each worker gets what its CPUs sent"
    need(family)
    cpus = sorted(os.sched_getaffinity(0))[:4]
    sink = Sink("--listen", LISTEN[family], "--engine", "recvmmsg", "--threads", threads, "--use-bpf", "--count", 0)
    expected, flows = [0] * threads, [set() for _ in range(threads)]
    for host in HOSTS[family]:
        sender = Sender(sink, host)
        for n, cpu in enumerate(cpus * 2):
            with on_cpu(cpu):
                sender.send(*[b"x"] * (10 + n))
                sender.settle()
            expected[cpu % threads] += 10 + n
            flows[cpu % threads].add(host)
    total = received(sink)
    check_sums(total)
    equal(counts(total), expected, "datagrams of the workers")
    equal([w["flows"] for w in total["workers"]], [len(f) for f in flows], "flows of the workers")
    equal(total["flows"], len(HOSTS[family]), "flows")
    if len({cpu % threads for cpu in cpus}) < 2:
        skip("with CPUs %r there is nothing to spread" % cpus)


@test
def by_cpu_refused():
    "R93 --use-bpf without several sockets of one group, or with a stranger in the group, is refused"
    refusal("--port", 0, "--use-bpf", status=2, words=["--use-bpf", "--threads"])
    refusal("--port", 0, "--use-bpf", "--threads", 2, "--shared-socket", status=2, words=["--use-bpf", "--shared-socket"])
    refusal("--port", 0, "--use-bpf", "--threads", 2, "--check-sequence", status=2, words=["--use-bpf", "--check-sequence"])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("127.0.0.1", 0))
        at = "127.0.0.1:%d" % s.getsockname()[1]
        refusal("--listen", at, "--use-bpf", "--threads", 2, "--reuse-port", words=["--use-bpf", at, "shares"])


# ----------------------------------------------------------------------------------------------------- a shared socket

@test
@cases(engine=ENGINES, wait=["block", "poll"])
def shared(engine, wait):
    "R94 {engine}, --wait {wait}, --shared-socket: 3 workers take all of one flow together; drops belong to none of them"
    more = ["--listen", "127.0.0.2:0"] if wait == "poll" else []
    sink = Sink("--listen", "127.0.0.1:0", *more, "--engine", engine, "--threads", 3, "--wait", wait, "--shared-socket", "--rcvbuf", 30000,
                "--count", 0)
    sender = Sender(sink)
    sender.send(*[b"x"] * 200)
    sender.settle()
    with paused(sink), udp_socket(peer=("127.0.0.1", sink.port)) as s:
        for _ in range(300):
            s.send(b"y")
    settle(sink)
    drops = sum(row["drops"] for row in udp_table(sink.port))
    total = received(sink)
    check_sums(total)
    equal((total["total"]["datagrams"] + drops, total["socket_drops"]), (500, drops), "received and dropped; drops")
    equal([w["socket_drops"] for w in total["workers"]], [0, 0, 0], "drops of the workers")
    between(1, drops, 299, "drops")
    equal(idle_note(total), [], "notes about idle threads")


# ------------------------------------------------------------------------------------------------ a socket for each flow

def connected(port):
    """Rows of /proc/net/udp with a peer."""
    return [row for row in udp_table(port) if not row["remote"].endswith(":0000")]


@test
@cases(engine=EACH, threads=[1, 2], family=LISTEN)
def each_flow(engine, threads, family):
    "R94 {engine}, {family}, {threads} thread(s), --connect-each: each flow has its connected socket, nothing is lost or counted twice"
    need(family)
    check = ["--check-sequence"] if threads == 1 else []
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--threads", threads, "--connect-each", "--count", 0, *check)
    sockets = flows_to(sink.port, family, 9)
    sent = send_powers(sink, sockets)
    # A datagram may have met the socket of another flow just before that was connected; the next one finds the listener.
    for i, s in enumerate(sockets):
        s.send(sequence(5, i, 2 ** i))
    sent += len(sockets)
    wait_until(lambda: len(connected(sink.port)) >= 9, what="9 connected sockets")
    peers = sorted(int(row["remote"].rpartition(":")[2], 16) for row in connected(sink.port))
    equal(peers, sorted(s.getsockname()[1] for s in sockets), "ports of the peers")
    for n in (1, 2):
        for i, s in enumerate(sockets):
            s.send(sequence(5, i, 2 ** i + n))
    sent += 2 * len(sockets)
    total = received(sink)
    check_sums(total)
    counters = total["total"]
    equal((counters["datagrams"], total["socket_drops"]), (sent, 0), "datagrams, drops")
    if check:  # what still waits at the listener when the flow's socket is there may be read after what came to that one
        equal(counters["seq_in_order"] + counters["seq_reordered"], sent, "in order or nearly")
        equal(total["missing_at_least"], 0, "missing")
    equal((total["connected_sockets"], total["connect_failed"]), (9, 0), "connected, failed")
    equal(sum(w["connected_sockets"] for w in total["workers"]), 9, "connected of the workers")
    if family == "dual":
        equal((counters["ipv4"], counters["ipv6"]), (341 + 3 * 5, sent - 341 - 3 * 5), "IPv4, IPv6")


@test
@cases(family=LISTEN)
def each_flow_sequence(family):
    "R68 {family}, --connect-each --check-sequence, 2 threads: refused, because a flow may change its worker; or no number is called missing"
    need(family)
    args = ["--listen", LISTEN[family], "--engine", "recvmmsg", "--threads", 2, "--connect-each", "--count", 0, "--check-sequence"]
    sink = Sink(*args, ready=False)
    wait_until(lambda: sink.status() is not None or sink.records("ready"), what="start")
    if sink.status() is not None:
        refusal(*args, status=2, words=["--check-sequence", "--connect-each", "thread"])
        return
    sink.ready = sink.record("ready")
    sockets = flows_to(sink.port, family, 40)
    for n in range(4):
        for i, s in enumerate(sockets):
            s.send(sequence(5, i, n))
    total = received(sink)
    equal((total["total"]["datagrams"] + total["socket_drops"], total["missing_at_least"] <= total["socket_drops"]), (160, True),
          "received and dropped; missing %r of %r" % (total["missing_at_least"], total["socket_drops"]))


@test
@cases(family=LISTEN)
def each_flow_spread(family):
    "R93 R94 {family}, --connect-each, 2 threads: flows that come one after another spread over the workers as without it"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", "recvmmsg", "--threads", 2, "--connect-each", "--count", 0)
    flows = 64
    for n, s in enumerate(flows_to(sink.port, family, flows)):
        s.send(b"first")
        wait_until(lambda n=n: len(connected(sink.port)) >= n + 1, what="a socket for flow %d" % n)
        s.send(b"second")
    total = received(sink)
    equal((total["total"]["datagrams"], total["connected_sockets"]), (2 * flows, flows), "datagrams, connected sockets")
    # Of a fair coin, 12 or fewer of 64 have a chance of less than 1 in a million.
    between(13, min(w["connected_sockets"] for w in total["workers"]), flows // 2, "flows of the worker that has fewer")


@test
@cases(engine=EACH)
def each_flow_address(engine):
    "R94 {engine}, --connect-each on a wildcard: the socket of a flow is bound to the address that its datagrams were sent to"
    sink = Sink("--listen", "0.0.0.0:0", "--engine", engine, "--connect-each", "--count", 0, "--by-destination")
    hosts = ["127.0.0.1", "127.0.0.2", "127.0.0.77"]
    sender = Sender(sink, *hosts, flows=2)
    sender.send(*[b"x"] * 60)
    wait_until(lambda: len(connected(sink.port)) == 6, what="6 connected sockets")
    local = sorted(row["local"].partition(":")[0] for row in connected(sink.port))
    equal(local, sorted(2 * ["0100007F", "0200007F", "4D00007F"]), "local addresses")
    total = received(sink)
    equal({d["address"]: d["datagrams"] for d in total["destinations"]}, dict.fromkeys(hosts, 20), "destinations")


@test
@cases(engine=EACH, threads=[1, 2])
def too_many_flows(engine, threads):
    "R94 {engine}, {threads} thread(s), --max-flows 3: further flows stay at the listener, are counted once each, and a sentence says so"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--connect-each", "--max-flows", 3, "--count", 0)
    sockets = flows_to(sink.port, "v4", 8)
    sender = Sender(sink)
    for _ in range(5):
        for s in sockets:
            sender.sockets = [s]
            sender.send(b"x")
        sender.settle()
    total = received(sink)
    check_sums(total)
    sender.check(total["total"], engine)
    equal(total["connected_sockets"] + total["connect_failed"], 8, "flows with and without a socket")
    for worker in total["workers"]:
        between(0, worker["connected_sockets"], 3, "connected sockets of worker %d" % worker["index"])
    failed = total["connect_failed"]
    equal(failed >= 8 - 3 * threads, True, "flows without a socket: %d" % failed)
    equal([n for n in total["notes"] if "%d flows got no connected socket" % failed in n and "--max-flows" in n] != [], failed > 0,
          "a note about %d in %r" % (failed, total["notes"]))


def have_sockets(sink, sender, sockets):
    """Has each flow its socket? Those that have none send again."""
    peers = {int(row["remote"].rpartition(":")[2], 16) for row in connected(sink.port)}
    without = [s for s in sockets if s.getsockname()[1] not in peers]
    for s in without:
        sender.sockets = [s]
        sender.send(b"again")
    return not without


@test
@cases(engine=EACH, threads=[1, 2], result=["works", "fails"])
def each_flow_window(engine, threads, result):
    "R94 {engine}, {threads} thread(s), --connect-each: datagrams of any flow that come between bind(2) and a connect(2) that {result} are counted"
    prefix, _ = strace("connect")
    inject = "inject=connect:delay_enter=10000" + (":error=ENETUNREACH" if result == "fails" else "")
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--connect-each", "--count", 0,
                prefix=[*prefix, "-e", inject])
    sockets = flows_to(sink.port, "v4", 12)
    sender = Sender(sink)
    for s in sockets * 5:
        sender.sockets = [s]
        sender.send(b"x")
    sender.settle()
    if result == "works":  # a flow whose datagrams all met the sockets of others gets its own later
        wait_until(lambda: have_sockets(sink, sender, sockets), what="a socket for each flow")
    total = received(sink)
    check_sums(total)
    sender.check(total["total"], engine)
    equal((total["connected_sockets"], total["connect_failed"], total["socket_drops"]), (12, 0, 0) if result == "works" else (0, 12, 0),
          "connected, failed, drops")


@test
@cases(engine=EACH, fault=["connect:EINVAL", "bind:EADDRINUSE", "socket:EMFILE", "open files"])
def each_flow_refused(engine, fault):
    "R105 {engine}, --connect-each where {fault} stands in the way: counted once a flow, said, nothing is lost"
    options = {"env": {**module("libfault"), "FAULT": fault + "?thread=sink-0"}}
    if fault == "open files":
        options = {"prefix": command("__import__('resource').setrlimit(__import__('resource').RLIMIT_NOFILE, (20, 20))", )}
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--connect-each", "--count", 0, **options)
    sockets = flows_to(sink.port, "v4", 30)
    sender = Sender(sink)
    for _ in range(3):
        for s in sockets:
            sender.sockets = [s]
            sender.send(b"x")
        sender.settle()
    total = received(sink)
    sender.check(total["total"], engine)
    between(0 if fault != "open files" else 1, total["connected_sockets"], 0 if fault != "open files" else 29, "connected sockets")
    equal(total["connected_sockets"] + total["connect_failed"], 30, "flows with and without a socket")
    equal(["%d flows got no connected socket" % total["connect_failed"] in " ".join(total["notes"]), total["socket_drops"]], [True, 0], "note, drops")


@test
@cases(when=["3-", "5", "4-%2"])
def each_flow_unwatched(when):
    "R105 epoll, --connect-each where epoll_ctl(2) fails for some flows ({when}), as at fs.epoll.max_user_watches: counted, nothing is lost"
    fault = "epoll_ctl:ENOSPC@%s?thread=sink-0" % when  # the first two are the worker's own
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "epoll", "--connect-each", "--count", 0, env={**module("libfault"), "FAULT": fault})
    sockets = flows_to(sink.port, "v4", 10)
    sender = Sender(sink)
    for _ in range(3):
        for s in sockets:
            sender.sockets = [s]
            sender.send(b"x")
        sender.settle()
    total = received(sink)
    sender.check(total["total"], "epoll")
    equal((total["connected_sockets"], total["connect_failed"]), {"3-": (0, 10), "5": (9, 1), "4-%2": (6, 4)}[when], "connected, failed")


@test
@cases(threads=[1, 2], family=LISTEN)
def each_flow_again(threads, family):
    "R94 {family}, {threads} thread(s), --connect-each --repeat 2, three engines: the sockets end with the run, no run loses or drops anything"
    need(family)
    # Full batches would let several workers go over the count, into the next run.
    sink = Sink("--listen", LISTEN[family], "--engine", ",".join(EACH), "--threads", threads, "--connect-each", "--repeat", 2, "--count", 120,
                "--batch", 1)
    sockets = flows_to(sink.port, family, 6)
    listeners = threads
    for run, engine in enumerate(e for e in EACH for _ in range(2)):
        wait_until(lambda: len(udp_table(sink.port)) == listeners, what="only the listeners before run %d" % run)
        sender = Sender(sink)
        for _ in range(20):
            for s in sockets:
                sender.sockets = [s]
                sender.send(b"x" * (run + 1))
        total = wait_until(lambda n=run: sink.records("sum")[n:], what="sum of run %d" % run)[0]
        check_sums(total)
        equal((total["engine"], total["run"]), (engine, run % 2), "engine, run")
        sender.check(total["total"], "run %d" % run)
        equal((total["connected_sockets"], total["connect_failed"], total["socket_drops"]), (6, 0, 0), "connected, failed, drops in run %d" % run)
    sink.finish()


@test
@cases(engine=EACH)
def each_flow_overflows(engine):
    "R94 {engine}, --connect-each: drops of the flows' sockets are in the total"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--connect-each", "--count", 0, "--rcvbuf", 20000)
    sockets = flows_to(sink.port, "v4", 3)
    for s in sockets:
        s.send(b"first")
    wait_until(lambda: len(connected(sink.port)) == 3, what="3 connected sockets")
    settle(sink)
    with paused(sink):
        for s in sockets:
            for _ in range(200):
                s.send(b"x")
    settle(sink)
    drops = sum(row["drops"] for row in udp_table(sink.port))
    total = received(sink)
    between(3, drops, 599, "drops")
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 603 - drops), "drops, datagrams")


@test
@cases(engine=[e for e in ENGINES if e not in EACH])
def each_flow_needs_source(engine):
    "{engine} cannot do --connect-each: refused with the reason; so are other ways to connect, share and spread beside it"
    refusal("--port", 0, "--engine", engine, "--connect-each", words=["engine " + engine, "use "])
    for other in ("--shared-socket", "--reuse-port", "--use-bpf", "--connect=127.0.0.1:9"):
        refusal("--port", 0, "--connect-each", "--threads", 2, other, status=2, words=["--connect-each", other.partition("=")[0] + " "])


@test
@cases(engine=EACH, threads=[1, 2])
def each_flow_under_load(engine, threads):
    "R94 {engine}, {threads} thread(s), --connect-each, 40 flows at once: received + dropped = sent, a socket for each, nothing twice"
    check = ["--check-sequence"] if threads == 1 else []
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--connect-each", "--count", 0, "--rcvbuf", "4M", *check)
    sent = Source("--flows", 40, "--count", 8000, "--batch", 16, "127.0.0.1:%d" % sink.port).finish().sum["sent"]
    total = received(sink)
    check_sums(total)
    counters = total["total"]
    equal(counters["datagrams"] + total["socket_drops"], sent, "received and dropped")
    equal((total["connected_sockets"], total["connect_failed"]), (40, 0), "connected, failed")
    if check:
        equal((counters["seq_duplicate"], counters["foreign"]), (0, 0), "duplicate, foreign")
    if check and not total["socket_drops"]:
        equal(counters["seq_in_order"] + counters["seq_reordered"], sent, "in order or nearly")


main()
