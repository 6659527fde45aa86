# SPDX-License-Identifier: MIT
"""udp_source's rate: plans, ways to wait, bursts, what it says of a rate that was missed, and starting together with others."""
import os
import shutil
import signal
import subprocess
import time

from harness import Namespace, Program, Source, between, built, cases, equal, fail, ip, main, module, private_net, scratch, skip, strace, test, \
    veth, wait_until
from receiver import STOP_S, Receiver

ATTEMPTS = 3  # the machine is shared: a delay of more than 10 ms can be another program's fault


def send(receiver, *args, status=0, **options):
    return Source(*args, receiver.target, **options).finish(status)


def undisturbed(body, what):
    """Tries until a run kept its schedule and body() finds nothing wrong with it: body returns (run, fault or None). A schedule that was moved each
    time is a skip: the machine is too busy to tell."""
    moved = True
    for _ in range(ATTEMPTS):
        run, wrong = body()
        moved &= bool(run.sum["pace"]["moved"]) or (run.sum["pace"]["late_max_ns"] or 0) > 10**7
        if not wrong:
            return
    if moved:
        skip("the machine is too busy: the schedule was moved in each of %d runs" % ATTEMPTS)
    fail("%s: %s; pace %r" % (what, wrong, run.sum["pace"]))


# ------------------------------------------------------------------ plans

# plan: datagrams, and the mean of what the plan has from the first datagram to the last
PLANS = {
    "1000:300ms": (300, 1000),
    "1k:200ms,5k:200ms": (1200, 3000),
    "0..4k/400ms": (800, 2000),
    "4k..0/400ms": (800, 2000),
    "2k:100ms,0:200ms,2k:100ms": (400, 1000),
    "160kbit:200ms,160kbit..320kbit/200ms": (500, 1250),  # 100 bytes of payload: 200 and 200..400 per second
}


@test
@cases(plan=list(PLANS), threads=[1, 3])
def plans(plan, threads):
    "--rate {plan}, {threads} thread(s): the run ends with the plan, exact to the datagram; the target is its mean"
    count, mean = PLANS[plan]
    size = 20 if "bit" in plan else 18
    receiver = Receiver()
    with receiver.running():
        run = send(receiver, "--rate", plan, "--threads", threads, "--payload", size)
    total = run.sum
    if not total["pace"]["moved"]:  # else --duration's rule holds: the end comes with the clock
        equal((total["sent"], run.record("header")["count"]), (count, None), "sent, and no other limit")
        between(0.9 * mean, total["pace"]["target_pps"], 1.1 * mean, "target")
    receiver.check(total, size)


@test
def shape_of_a_ramp():
    "--rate 0..8k/600ms: on the receiver's clock a quarter has come at half-time, and 9/16 at three quarters"
    def body():
        receiver = Receiver(stamps=True)
        with receiver.running():
            run = send(receiver, "--rate", "0..8k/600ms")
        stamps = [d.kernel_ns for d in receiver.got]
        for part, expected in ((0.25, 1 / 16), (0.5, 1 / 4), (0.75, 9 / 16)):
            share = sum(s - stamps[0] < part * 6e8 for s in stamps) / 2400
            if abs(share - expected) > 0.02:
                return run, "%.3f of all at %g of the time, expected %.3f" % (share, part, expected)
        return run, None
    undisturbed(body, "ramp")


@test
def first_limit_counts():
    "a plan, --count and --duration: the first to be reached ends the run; a plan whose last step has no time goes on"
    for args, expected in (
            (("--rate", "1k:200ms", "--count", 50), 50), (("--rate", "1k:200ms", "--count", 5000), 200),
            (("--rate", "1k:200ms", "--duration", "100ms"), 100), (("--rate", "1k:200ms", "--duration", "10s"), 200),
            (("--rate", "1k:100ms,5k", "--duration", "200ms"), 600), (("--rate", "1k:100ms,5k", "--count", 500), 500)):
        receiver = Receiver()
        for _ in range(ATTEMPTS):
            total = send(receiver, *args).sum
            if not total["pace"]["moved"]:
                break
        equal(total["sent"], expected, "sent with %s" % (args,))


@test
def bits_are_payload():
    "R60 --rate 30Mbit of 1470 bytes: 2551.02 datagrams per second; of sizes that vary the mean counts"
    receiver = Receiver()
    for args, pps, count in ((("--payload", 1470), 30e6 / 8 / 1470, 511), (("--payload", "100..300"), 30e6 / 8 / 200, 3750),
                             (("--payload", "100:3,500:1"), 30e6 / 8 / 200, 3750)):
        for _ in range(ATTEMPTS):
            total = send(receiver, "--rate", "30Mbit", "--duration", "200ms", *args).sum
            if not total["pace"]["moved"]:
                break
        between(pps - 0.001, total["pace"]["target_pps"], pps + 0.001, "target")
        equal(total["sent"], count, "sent")


@test
def wrong_plans():
    "R16 plans and options that make no sense are refused with a sentence, exit 2, and nothing is sent"
    receiver = Receiver()
    for args, word in (
            (("--rate", "fast"), "'fast' is no rate"), (("--rate", "100k..2M"), "needs a time"), (("--rate", "1k,2k"), "only the last"),
            (("--rate", "1k:"), "no time"), (("--rate", "0:1s"), "no datagram"), (("--rate", "0"), "pause"), (("--rate", "2G"), "more than"),
            (("--rate", "1Mbit", "--payload", 0), "have none"), (("--pace", "spin"), "--pace: needs a --rate"), (("--burst", 5), "--burst: needs"),
            (("--rate", 5, "--burst", 0), "--burst"), (("--rate", 5, "--pace", "nap"), "--pace"),
            (("--rate", 5, "--pace", "txtime", "--send"), "sendmmsg"), (("--rate", "1..5/1s", "--pace", "fq"), "one rate"),
            (("--rate", 5, "--pace", "fq", "--flow-order", "random"), "--flow-order"), (("--start-at", "soon"), "--start-at"),
            (("--start-at", "@1"), "ago"), (("--start-at", "+1s", "--start-on-stdin"), "--start-on-stdin")):
        run = send(receiver, *args, status=2)
        if word not in run.stderr or run.stdout or run.stderr.count("\n") != 1:
            fail("%s: stderr %r, stdout %r" % (args, run.stderr, run.stdout))
    equal(receiver.drain(), [], "datagrams")


# ------------------------------------------------------------------ waiting and bursts

@test
@cases(pace=["sleep", "hybrid", "spin"])
def ways_to_wait(pace):
    "--pace {pace}: everything is sent; spin never sleeps, the others do for each datagram that is 1 ms apart"
    prefix, read = strace("clock_nanosleep")
    receiver = Receiver()
    with receiver.running():
        run = send(receiver, "--rate", "1k:200ms", "--pace", pace, prefix=prefix)
    receiver.check(run.sum, 18)
    sleeps = sum("clock_nanosleep" in line for line in read(run))
    if pace == "spin":
        equal(sleeps, 0, "sleeps")
    else:
        between(10, sleeps, 300, "sleeps")  # fewer than 200 where it was late


@test
@cases(threads=[1, 2])
def bursts(threads):
    "--burst 50 at 1000 per second, {threads} thread(s): so many at once, every 50 ms, whatever the batch"
    def body():
        receiver = Receiver(stamps=True)
        with receiver.running():
            run = send(receiver, "--rate", 1000, "--burst", 50, "--batch", 8, "--count", 425, "--threads", threads)
        equal((run.sum["sent"], run.sum["pace"]["bursts"]), (425, 9), "sent and bursts")
        receiver.check(run.sum, 18)
        stamps = sorted(d.kernel_ns for d in receiver.got)
        starts = [0] + [i for i in range(1, len(stamps)) if stamps[i] - stamps[i - 1] > 2 * 10**7]
        wrong = None if starts == list(range(0, 425, 50)) else "bursts begin with datagrams %r" % starts
        return run, wrong
    undisturbed(body, "bursts")


@test
def burst_and_messages():
    "--burst 10 with GSO of 4: each burst ends with a short message"
    receiver = Receiver()
    total = send(receiver, "--rate", 1000, "--burst", 10, "--gso", 4, "--count", 100, "--payload", 30).sum
    equal((total["sent"], total["messages"], total["pace"]["bursts"]), (100, 30, 10), "sent, messages, bursts")
    receiver.drain()
    receiver.check(total, 30)


@test
def figures():
    "the percentiles of lateness and of gaps are in order, and the share on time goes with them; the text has the same figures"
    receiver = Receiver()
    with receiver.running():
        pace = send(receiver, "--rate", "2k:300ms").sum["pace"]
        text = send(receiver, "--rate", "2k:300ms", "--format", "text").stdout
    for name in ("late", "gap"):
        values = [pace["%s_%s_ns" % (name, p)] for p in ("p50", "p90", "p99", "p999", "max")]
        equal(values, sorted(values), name)
    between(0, pace["on_time"], 1, "on time")
    equal(pace["on_time"] >= 0.99, pace["late_p99_ns"] <= 20000 * 17 / 16, "on time, and 99 of 100 bursts within 20 us")
    for words in ("pace: target 2000.0, achieved ", "largest burst ", "within 20 us of their time ", "bursts late by us: p50 ", "gaps off by us: p50 "):
        if words not in text:
            fail("no %r in %s" % (words, text))


# ------------------------------------------------------------------ pacing by the queueing discipline

def tc(*words):
    """True when tc(8) did it."""
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    return subprocess.run(["tc", *" ".join(words).split()], capture_output=True, check=False).returncode == 0


@test
@cases(pace=["txtime", "fq"])
@private_net
def discipline_that_cannot_pace(pace):
    "--pace {pace}: refused where the outgoing interface has another queueing discipline, by its name and with the command; nothing is sent"
    tail = "fq" if pace == "fq" else "fq or etf"
    peer = Namespace()
    ip("link add veth0 numtxqueues 2 numrxqueues 2 type veth peer name peer0 numtxqueues 2 numrxqueues 2")
    ip("link set peer0 netns /proc/%d/fd/%d" % (os.getpid(), peer.fd))
    ip("addr add 198.18.0.1/24 dev veth0")
    ip("link set veth0 up")
    with peer:
        ip("addr add 198.18.0.2/24 dev peer0")
        ip("link set peer0 up")
        receiver = Receiver("198.18.0.2")
    local, found = Receiver(), 0
    for device, discipline, name, target in (
            ("lo", "", "noqueue", local.target), ("veth0", "pfifo limit 100", "pfifo", receiver.target), ("veth0", "mq", "mq", receiver.target),
            ("veth0", "tbf rate 1gbit burst 100kb latency 50ms", "tbf", receiver.target)):
        if discipline and not tc("qdisc replace dev veth0 root", discipline):
            continue
        found += 1
        run = Source("--rate", 1000, "--pace", pace, "--count", 10, target).finish(1)
        for words in ("--pace " + pace, "leave by %s, whose queueing discipline is %s" % (device, name), "only %s can" % tail,
                      "tc qdisc replace dev %s root fq" % device):
            if words not in run.stderr:
                fail("no %r in %r" % (words, run.stderr))
        equal(run.stdout, "", "stdout")
    equal((receiver.drain(), local.drain()), ([], []), "datagrams")
    if found < 2:
        skip("only lo was tried: tc could not set any discipline here")
    # The device that is asked for counts, not the route.
    run = Source("--rate", 1000, "--pace", pace, "--count", 10, "--bind-dev", "lo", receiver.target).finish(1)
    if "leave by lo," not in run.stderr:
        fail("stderr %r" % run.stderr)


@test
@cases(pace=["txtime", "fq"])
@private_net
def discipline_that_can_pace(pace):
    "--pace {pace} under fq: a burst that is handed over at once leaves datagram by datagram"
    with veth():
        receiver = Receiver("198.18.0.2", stamps=True)
    if not tc("qdisc replace dev veth0 root fq"):
        skip("this kernel has no fq")

    def body():
        receiver.got.clear()
        with receiver.running():
            run = send(receiver, "--rate", 20000, "--pace", pace, "--count", 4000)
        receiver.check(run.sum, 18)
        stamps = [d.kernel_ns for d in receiver.got]
        close = sum(b - a < 25000 for a, b in zip(stamps, stamps[1:]))
        return run, "%d of %d gaps are less than half of what they should be" % (close, len(stamps)) if close > len(stamps) / 4 else None
    undisturbed(body, "spacing")


# ------------------------------------------------------------------ targets that are missed

@test
def rate_that_cannot_be_reached():
    "a rate that is too high: exit 3, one sentence with target, achieved and the moved schedule; the sum is complete"
    receiver = Receiver()
    with receiver.running():
        run = send(receiver, "--rate", "500M", "--duration", "1200ms", status=3)
    total = run.sum
    equal((total["pace"]["missed"], total["pace"]["target_pps"], total["refused"]), (True, 5e8, {}), "pace")
    equal(total["pace"]["moved"] > 0, True, "moved")
    between(1, total["pace"]["achieved_pps"], 4.9e8, "achieved")
    equal(run.stderr.count("\n"), 1, "lines of " + run.stderr)
    for words in ("the rate was missed: ", "instead of 500000000.0 datagrams per second", "the schedule was moved %d times" % total["pace"]["moved"]):
        if words not in run.stderr:
            fail("no %r in %r" % (words, run.stderr))


def with_faults(fault, receiver, *args):
    report = scratch("faults-%d" % len(os.listdir(scratch("."))))
    with receiver.running():
        run = Source(*args, receiver.target, env={**module("libfault"), "FAULT": fault, "FAULT_REPORT": report})
        run.wait()
    return run


@test
def refused_datagrams_miss_the_target():
    "R107 every 10th datagram is refused with EPERM: the pace is kept, the target missed: exit 3, and the sentence tells of the firewall"
    receiver = Receiver()
    run = with_faults("send:EPERM%10?fd=3", receiver, "--send", "--rate", 2000, "--duration", "1100ms")
    equal((run.status(), run.sum["pace"]["missed"]), (3, True), "status")
    if "refused" not in run.stderr or "EPERM (a firewall rule" not in run.stderr:
        fail("stderr %r" % run.stderr)
    # One call for each datagram, refused or not: no spinning.
    equal((run.sum["calls"], run.sum["sent"] + run.sum["refused"]["EPERM"]), (run.sum["attempted"],) * 2, "calls")
    receiver.check(run.sum, 18)


@test
def refused_for_a_while():
    "R107 --rate 1000: EPERM for 200 ms of 600: the pace goes on and the run afterwards, one call per datagram"
    receiver = Receiver()
    run = with_faults("send:EPERM@0ms-200ms", receiver, "--send", "--rate", 1000, "--duration", "600ms")
    total = run.sum
    equal((run.status(), total["pace"]["missed"]), (0, None), "too short to tell")
    between(1, total["refused"]["EPERM"], 300, "refused")
    equal(total["calls"], total["attempted"], "calls")
    if total["sent"] < 100:
        fail("sent %d afterwards" % total["sent"])
    receiver.check(total, 18)


@test
def no_miss():
    "a run that kept its rate ends with 0; one that is short, or stopped by a signal, is not judged"
    def body():
        receiver = Receiver()
        with receiver.running():
            run = Source("--rate", "500:600ms,0:100ms,1500:500ms", receiver.target)
            status = run.wait()
        equal(run.sum["pace"]["missed"], status == 3, "exit status %d" % status)
        return run, "missed: %s" % run.stderr if status else None
    undisturbed(body, "kept rate")
    receiver = Receiver()
    equal(send(receiver, "--rate", "500M", "--duration", "200ms").sum["pace"]["missed"], None, "short")
    run = Source("--rate", "500M", "--duration", "60s", receiver.target)  # the default count would be over by then
    run.record("header")
    time.sleep(1.1)  # long enough to be judged, were it not for the signal
    equal((run.stop(signal.SIGINT), run.sum["pace"]["missed"]), (0, None), "stopped")
    equal("missed" in run.stderr, False, run.stderr)


# ------------------------------------------------------------------ start together

@test
@cases(rate=["", "--rate 1000"])
def start_at(rate):
    "--start-at {rate}: ready before the wait, nothing before the time, and two programs begin together"
    def body():
        at = time.time() + 0.7
        pairs = [Receiver(stamps=True) for _ in range(2)]
        runs = [Source("--start-at", "@%.6f" % at, *rate.split(), "--count", 100, r.target) for r in pairs]
        for run in runs:
            between(at - 0.001, run.record("ready")["start"], at + 0.001, "start")
        before = [len(r.drain()) for r in pairs]
        if time.time() < at:
            equal(before, [0, 0], "datagrams before the time")
        for run in runs:
            run.finish()
        equal([len(r.drain()) for r in pairs], [100, 100], "datagrams")
        first = [r.got[0].kernel_ns / 1e9 - at for r in pairs]
        if min(first) < -0.0005:  # the clocks are read apart
            fail("began %.6f s before the time" % -min(first))
        for run, receiver in zip(runs, pairs):
            receiver.check(run.sum, 18)
        return runs[0], "began %r s after the time" % (first,) if max(first) > 0.005 else None
    if rate:
        undisturbed(body, "start")
    elif all([body()[1] for _ in range(ATTEMPTS)]):
        skip("the machine is too busy: no start within 5 ms of the time in %d runs" % ATTEMPTS)


@test
@cases(end=["a line", "the end of input"], args=["", "--rate 1000", "--threads 2 --rate 1000"])
def start_on_stdin(end, args):
    "--start-on-stdin {args}: {end} begins; nothing is sent before"
    receiver = Receiver()
    read, write = os.pipe()
    run = Source("--start-on-stdin", *args.split(), "--count", 50, receiver.target, stdin=read)
    os.close(read)
    ready = run.record("ready")
    equal((ready["start"], ready["run_id"]), (None, run.record("header")["run_id"]), "ready")
    equal((receiver.drain(), run.status()), ([], None), "before")
    os.write(write, b"no line yet")
    equal((receiver.drain(), run.status()), ([], None), "before the end of the line")
    if end == "a line":
        os.write(write, b"\n")
        run.finish()
    os.close(write)
    total = run.finish().sum
    receiver.drain()
    receiver.check(total, 18)
    between(0, total["since_s"], 0, "beginning")
    if args:
        between(0.02, total["until_s"], 5, "end: the wait is not part of the run")


@test
@cases(option=["--start-on-stdin", "--start-at +60s"], number=["SIGINT", "SIGTERM", "SIGHUP"], args=["", "--rate 1k:2s --threads 2 --trailer"])
def signal_while_waiting(option, number, args):
    "{number} ends the wait of {option} {args} at once: exit 0, a sum of nothing, nothing sent"
    for attempt in range(ATTEMPTS):
        receiver = Receiver()
        read, write = os.pipe()
        run = Source(*option.split(), *args.split(), "--interval", "1s", receiver.target, stdin=read)
        os.close(read)
        run.record("ready")
        equal(run.stop(getattr(signal, number)), 0, "exit status")
        os.close(write)
        total = run.sum
        equal([total[k] for k in ("attempted", "sent", "messages", "calls", "bytes")], [0] * 5, "sum")
        equal((total["refused"], total["ns_per_datagram"]), ({}, None), "sum")
        if total["pace"]:
            equal([total["pace"][k] for k in ("bursts", "achieved_pps", "on_time", "late_max_ns", "missed")], [0] + [None] * 4, "pace")
        equal(receiver.drain(), [], "datagrams")
        if run.stop_s <= STOP_S:
            return
    fail("attempt %d still took %.3f s" % (attempt + 1, run.stop_s))


@test
def ready_in_text():
    "the text form says on stderr when it is ready, and for when"
    receiver = Receiver()
    run = Source("--format", "text", "--start-at", "+300ms", "--count", 1, receiver.target).finish()
    words = run.stderr.split()
    equal((words[:4], len(words), run.stderr.count("\n")), (["udp_source:", "ready:", "starts", "at"], 6, 1), "line")
    run = Source("--format", "text", "--start-on-stdin", "--count", 1, receiver.target).finish()  # standard input is at its end
    equal(run.stderr, "udp_source: ready: a line on standard input starts\n", "line")
    closed = Program(["sh", "-c", "exec \"$@\" <&-", "sh", built("udp_source"), "--start-on-stdin", receiver.target]).finish(2)
    equal("standard input is closed" in closed.stderr, True, closed.stderr)
    wait_until(lambda: len(receiver.drain()) == 2, what="2 datagrams")


main()
