# SPDX-License-Identifier: MIT
"""udp_sink ends when it should, soon, and with exact figures: by signal, --duration and --count, with and without traffic."""
import os
import signal
import statistics
import time

from harness import (SANITIZERS, Sink, Source, between, cases, equal, fail, free_port, main, private_net, queued, socket_drops, test,
                     udp_table, wait_until)
from receiver import namespace_counters
from sender import ENGINES, Sender, check_sums, received, settle, sums, tasks

# The bar of 200 ms is measured in tests/bench; a loaded machine may take longer, but not as long as any time-out here.
STOP_S = 5.0 if SANITIZERS else 1.0
LATE_S = 0.1   # what a worker may come too late on a busy machine, to see that nothing more came
TICK_S = 0.02  # how exact the end of a window is under block: a tick of the kernel's timer (10 ms at most), and our own reading
WAITS = ["block", "poll", "spin"]


def open_sink(*args, **options):
    return Sink("--listen", "127.0.0.1:0", *args, **options)


def clock_ran(until):
    """Nothing happens until then: what is waited for is the clock itself."""
    wait_until(lambda: time.monotonic() >= until, what="the clock")


def stop(sink, number=signal.SIGTERM):
    """Stops it in time; returns its sum."""
    equal(sink.stop(number), 0, "exit status")
    between(0, sink.stop_s, STOP_S, "seconds from the signal to the end")
    equal(len(sink.records("sum")), 1, "sum records")
    check_sums(sink.sum)
    return sink.sum


@test
@cases(engine=ENGINES, wait=["block --sk-timeout 60s", "poll", "spin"], few=[0, 3])
def idle(engine, wait, few):
    "R23 {engine}, --wait {wait}: SIGTERM after {few} datagrams ends it at once, and they are counted"
    # A time-out that is never met: only the signal ends a call that waits, for the first datagram or for a full batch.
    sink = open_sink("--engine", engine, "--wait", *wait.split(), "--count", 0)
    sender = Sender(sink)
    sender.send(*[b"x" * 18] * few)
    sender.settle()
    total = stop(sink)
    sender.check(total["total"], engine)
    if not few:
        equal((total["duration_s"], total["rate"]["pps"], total["since_s"]), (0, None, 0), "window without datagrams")


@test
@cases(few=["--count 0", "--count 1 --repeat 1000000"])
def without_sockets(few):
    "R23 null {few}: SIGTERM ends it at once, however short its runs are"
    sink = Sink("--engine", "null", *few.split(), "--interval", "10s")
    sink.record("sum" if "repeat" in few else "ready")
    equal(sink.stop(), 0, "exit status")
    between(0, sink.stop_s, STOP_S, "seconds from the signal to the end")
    check_sums(sink.sum)


@test
@private_net
@cases(engine=ENGINES, wait=WAITS)
def under_traffic(engine, wait):
    "R31 {engine}, --wait {wait}: SIGTERM in the middle of a flood; datagrams are those that the kernel handed out (UdpInDatagrams)"
    sink = open_sink("--engine", engine, "--wait", wait, "--count", 0)
    source = Source("--gso", 16, "--flows", 4, "--duration", "60s", "127.0.0.1:%d" % sink.port)
    wait_until(lambda: namespace_counters()["UdpInDatagrams"] > 3000, what="traffic")
    total = stop(sink)
    source.stop()
    kernel = namespace_counters()  # of a new namespace: they began with 0
    others = source.record("header")["gso"]["self_test_datagrams"]
    equal(total["total"]["datagrams"], kernel["UdpInDatagrams"] - others, "datagrams")
    between(0, total["socket_drops"], kernel["UdpRcvbufErrors"], "drops")
    between(3000, total["total"]["datagrams"] + total["socket_drops"], source.sum["sent"], "received + dropped, of those sent")


@test
@cases(number=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP], threads=[1, 3])
def signals(number, threads):
    "R23 {number.name} ends the run of {threads} thread(s), and leaves out those that would follow"
    sink = open_sink("--repeat", 5, "--threads", threads, "--count", 100)
    sender = Sender(sink, flows=8)
    sender.send(*[b"x"] * 40)
    sender.settle()
    sender.check(stop(sink, number)["total"], number.name)


@test
@cases(engine=ENGINES)
def drained(engine):
    "R28 {engine}: a queue that overflowed, read to its end: received + dropped (/proc/net/udp) = sent, and SIGTERM adds nothing"
    sink = open_sink("--engine", engine, "--count", 0, "--work", "20us")
    source = Source("--gso", 16, "--count", 8000, "--size", 18, "127.0.0.1:%d" % sink.port).finish()
    equal(source.sum["sent"], 8000, "sent")
    settle(sink)
    drops = socket_drops(sink.port)
    total = stop(sink)
    equal(total["socket_drops"], drops, "drops, as in /proc/net/udp")
    equal(total["total"]["datagrams"] + drops, 8000, "received + dropped")


@test
def bounded_drain():
    "R31 a sink slower than its source: interval reports keep their period, each with datagrams, and SIGTERM is obeyed"
    sink = open_sink("--work", "50us", "--batch", 256, "--count", 0, "--interval", "100ms")
    source = Source("--gso", 16, "--duration", "60s", "127.0.0.1:%d" % sink.port)
    begin = time.monotonic()
    wait_until(lambda: len(sink.records("period")) >= 8, what="eight periods")
    took = time.monotonic() - begin
    stop(sink)
    source.stop()
    periods = [p for p in sink.records("period") if not p["partial"]]
    between(0.09, statistics.median(p["duration_s"] for p in periods), 0.11, "period; 8 of them took %g s" % took)
    for p in periods[2:]:  # those before may lie before the source
        if not p["total"]["datagrams"]:
            fail("nothing received between %g and %g s" % (p["since_s"], p["until_s"]))
    equal(sink.sum["socket_drops"] > 0, True, "the source was faster")


def burst(sink, sender, n):
    """Sends so many, and waits until they were read; begin and end of that."""
    begin = time.monotonic()
    sender.send(*[b"x"] * n)
    sender.settle()
    return begin, time.monotonic()


@test
@cases(wait=["block", "block --sk-timeout 60s", "poll", "spin"])
def window(wait):
    "--wait {wait}: the window goes from the first datagram to the last, not to the stop nor to the end of a wait, on every engine"
    sinks = [(open_sink("--engine", engine, "--wait", *wait.split(), "--count", 0), engine) for engine in ENGINES]
    senders = [Sender(sink) for sink, _engine in sinks]
    early = [burst(sink, sender, 70) for (sink, _engine), sender in zip(sinks, senders)]
    clock_ran(time.monotonic() + 0.1)
    late = [burst(sink, sender, 7) for (sink, _engine), sender in zip(sinks, senders)]  # less than a batch
    clock_ran(time.monotonic() + 4 * LATE_S)
    for (sink, engine), sender, (first, read), (last, end) in zip(sinks, senders, early, late):
        total = stop(sink)
        sender.check(total["total"], engine)
        # A recvmmsg that waits for the rest of its batch when the stop comes: only then the end is not known, and that is said.
        cut = engine == "recvmmsg" and "60s" in wait
        equal(any("stopped while a batch was being filled" in n for n in total["notes"]), cut, "note of %s" % engine)
        longest = time.monotonic() - first if cut else end - first + LATE_S
        between(last - read - TICK_S, total["duration_s"], longest, "window of %s" % engine)
        between(0.999999, total["rate"]["pps"] * total["duration_s"] / sender.count, 1.000001, "pps * duration / datagrams")


def length(sink):
    """Length of its only run in seconds, as it says itself."""
    periods = sink.records("period")
    equal([p["partial"] for p in periods], [True], "periods, partial or not")
    return periods[0]["duration_s"]


@test
@cases(engine=[*ENGINES, "null"], wait=WAITS)
def duration_idle(engine, wait):
    "R23 R115 {engine}, --wait {wait}: --duration without traffic ends in time with exit status 0"
    sink = open_sink("--engine", engine, "--wait", wait, "--duration", "50ms", "--interval", "1h", *(
        ["--count", 1] if engine == "null" else [])).finish()
    between(0.05 if engine != "null" else 0, length(sink), 0.05 + STOP_S, "length of the run")
    equal(sink.sum["total"]["datagrams"], int(engine == "null"), "datagrams")


@test
@cases(wait=WAITS)
def duration_one(wait):
    "R23 R115 --wait {wait}: --duration with exactly one datagram ends in time, on every engine; its window is no wait"
    sinks = [(open_sink("--engine", engine, "--wait", wait, "--duration", "2s", "--interval", "1h"), engine) for engine in ENGINES]
    for sink, _engine in sinks:
        Sender(sink).send(b"x")
    for sink, engine in sinks:
        sink.finish()
        between(2, length(sink), 2 + STOP_S, "length of the run of %s" % engine)
        equal(sink.sum["total"]["datagrams"], 1, "datagrams of %s" % engine)
        between(0, sink.sum["duration_s"], LATE_S, "window of %s" % engine)


@test
@cases(engine=ENGINES, wait=WAITS)
def count(engine, wait):
    "R28 {engine}, --wait {wait}: --count is exact where more is there; the rest belongs to the runs that follow"
    sink = open_sink("--engine", engine, "--wait", wait, "--count", 50, "--repeat", 4, "--batch", 16,
                     *(["--sk-timeout", "60s"] if wait == "block" else []))
    sender = Sender(sink)
    sender.send(*[b"x" * n for n in range(170)])
    runs = sums(sink, 3)
    settle(sink)
    equal(sink.stop(), 0, "exit status")
    runs = sink.records("sum")
    equal([r["total"]["datagrams"] for r in runs], [50, 50, 50, 20], "datagrams of each run")
    equal([r["total"]["bytes"] for r in runs], [sum(range(n, min(n + 50, 170))) for n in (0, 50, 100, 150)], "bytes of each run")


@test
@cases(engine=ENGINES)
def count_of_several(engine):
    "R28 {engine}: --count with 2 threads: a batch more each at most, nothing lost between the runs"
    sink = open_sink("--engine", engine, "--threads", 2, "--count", 100, "--repeat", 9, "--batch", 8)
    sender = Sender(sink, flows=16)
    sender.send(*[b"x"] * 500)
    settle(sink)
    equal(sink.stop(), 0, "exit status")
    runs = [r["total"]["datagrams"] for r in sink.records("sum")]
    equal(sum(runs), 500, "datagrams of all runs: %r" % runs)
    for n in runs[:-1]:
        between(100, n, 100 + 2 * 8, "datagrams of a run: %r" % runs)
    between(4, len(runs), 6, "runs: %r" % runs)


@test
@cases(engine=ENGINES, n=[1, 40])
def count_unfilled(engine, n):
    "R31 {engine}: --count {n} ends with the last datagram, not when a batch of 32 is full or a call has waited in vain"
    sink = open_sink("--engine", engine, "--wait", "block", "--sk-timeout", "60s", "--count", n)
    Sender(sink).send(*[b"x"] * n)
    begin = time.monotonic()
    sink.finish()
    between(0, time.monotonic() - begin, STOP_S, "seconds until it ended")
    equal(sink.sum["total"]["datagrams"], n, "datagrams")


def catches(sink, number):
    """Its handler for the signal is in place."""
    with open("/proc/%d/status" % sink.pid, encoding="ascii") as f:
        mask = [line.split()[1] for line in f if line.startswith("SigCgt:")]
    return bool(mask and int(mask[0], 16) >> (number - 1) & 1)


def name_is(sink, name):
    with open("/proc/%d/comm" % sink.pid, encoding="utf-8") as f:
        return f.read().strip() == name


STARTING = {
    "at once": lambda sink: True,
    "when it is in memory": lambda sink: name_is(sink, "udp_sink"),
    "when it catches signals": lambda sink: catches(sink, signal.SIGTERM),
    "when its socket is there": lambda sink: udp_table(sink.port_asked),
    "when it has workers": lambda sink: tasks(sink, "Name"),
    "when it says ready": lambda sink: sink.records("ready"),
}


@test
@cases(moment=STARTING, number=[signal.SIGTERM, signal.SIGINT])
def starting(moment, number):
    "R23 R115 {number.name} while it starts, {moment}: it ends, and what it has printed is whole"
    port = free_port()
    sink = Sink("--listen", "127.0.0.1:%d" % port, "--threads", 2, ready=False)
    sink.port_asked = port
    wait_until(lambda: STARTING[moment](sink), what=moment)
    caught = catches(sink, number)
    status = sink.stop(number)
    between(0, sink.stop_s, STOP_S, "seconds from the signal to the end")
    if status != 0 and (caught or status != -number):
        fail("exit status %d; the signal %s caught" % (status, "was" if caught else "was not"))
    if sink.stdout and not sink.stdout.endswith("\n"):
        fail("half a line: %r" % sink.stdout)
    equal([r["total"]["datagrams"] for r in sink.records("sum")][1:], [], "sums of runs that followed")


@test
@cases(number=[signal.SIGTERM, signal.SIGINT])
def first_sender(number):
    "R23 R115 {number.name} while --connect waits for its first sender: exit status 0, and whole records"
    sink = open_sink("--connect")
    equal(sink.stop(number), 0, "exit status")
    between(0, sink.stop_s, STOP_S, "seconds from the signal to the end")
    equal([r["type"] for r in sink.records() if r["type"] != "header"], ["ready"], "records besides the header")


@test
@cases(engine=ENGINES, wait=["block", "poll"], kind=["ignored", "that end a call"])
def interrupted(engine, wait, kind):
    "R109 {engine}, --wait {wait}: signals {kind}, to all threads all the time, have no effect on counts and do not end it"
    ignored = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGWINCH)
    sink = open_sink("--engine", engine, "--wait", wait, "--threads", 2, "--count", 0)
    sender = Sender(sink, flows=8)
    for i in range(120):
        for tid in os.listdir("/proc/%d/task" % sink.pid):  # to a thread by its number, which the kernel then prefers
            os.kill(int(tid), ignored[i % len(ignored)] if kind == "ignored" else signal.SIGURG)
        if kind != "ignored":  # stopping also interrupts calls that have a time-out
            sink.send_signal(signal.SIGSTOP)
            sink.send_signal(signal.SIGCONT)
        sender.send(*[b"x" * 18] * 5)
    total = received(sink)
    check_sums(total)
    if kind != "ignored":  # an event to count
        equal(set(total["total"]["errors_by_errno"]) - {"EINTR"}, set(), "other errors")
        total["total"]["errors_by_errno"] = {}
    sender.check(total["total"], engine)


main()
