# SPDX-License-Identifier: MIT
"""udp_source when the kernel refuses, takes less than asked, or interrupts (tests/fault/libfault.so): the sum still says what arrived."""
import os

from harness import Source, between, cases, equal, fail, main, module, scratch, test
from receiver import Receiver

SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write"]


def faulty(receiver, fault, *args, status=0):
    """Runs the source with these faults. Returns the run; .faults: how many each rule made, and each must have made some."""
    report = scratch("faults-%d" % len(os.listdir(scratch("."))))
    env = {**module("libfault"), "FAULT": fault, "FAULT_REPORT": report}
    with receiver.running():
        run = Source(*args, receiver.target, env=env).finish(status)
    with open(report, encoding="utf-8") as f:
        run.faults = [int(line.split("\t")[1]) for line in f]
    if 0 in run.faults:
        fail("a fault did not happen: %s %r" % (fault, run.faults))
    return run


@test
@cases(short=[1, 7, 31])
def short_counts(short):
    "R56 sendmmsg takes at most {short} of each batch: nothing is lost or counted twice"
    receiver = Receiver()
    total = faulty(receiver, "sendmmsg:short=%d" % short, "--count", 2000, "--batch", 32, "--rate", "50k").sum
    equal((total["sent"], total["messages"], total["refused"]), (2000, 2000, {}), "sent")
    receiver.check(total, 18)


@test
@cases(sender=SENDERS, error=["ENOBUFS", "EPERM"])
def refused_now_and_then(sender, error):
    "R107 {sender}: every 10th call is refused with {error}: counted, continued, numbers without gaps"
    receiver = Receiver()
    # One message per call also with sendmmsg, so that a refused call is a refused datagram.
    run = faulty(receiver, "%s:%s%%10?fd=3" % (sender, error), "--" + sender, "--batch", 1, "--count", 1000, "--rate", "20k")
    equal((run.sum["attempted"], run.sum["refused"]), (1000, {error: run.faults[0]}), "refused")
    equal(run.faults, [100], "faults")
    receiver.check(run.sum, 18)


@test
@cases(sender=["sendmmsg", "send"])
def refused_for_a_while(sender):
    "R107 {sender}: EPERM for 300 ms without a rate: no spinning, and the run goes on afterwards"
    receiver = Receiver()
    run = faulty(receiver, "%s:EPERM@0ms-300ms" % sender, "--" + sender, "--duration", "500ms", "--batch", 4)
    # A pause of 0.1 ms after each: 3000 at most, far less than a loop without a pause makes.
    between(1, run.sum["refused"]["EPERM"], 3000, "refused")
    equal(run.sum["attempted"], run.sum["sent"] + run.sum["refused"]["EPERM"], "attempted")
    if not run.sum["sent"]:
        fail("nothing was sent afterwards")
    receiver.check(run.sum, 18)


@test
@cases(sender=SENDERS, error=["EINTR", "EAGAIN"])
def tried_again(sender, error):
    "R109 {sender}: every second call ends with {error}: no effect on the counts"
    receiver = Receiver()
    total = faulty(receiver, "%s:%s%%2?fd=3" % (sender, error), "--" + sender, "--batch", 5, "--count", 500, "--rate", "20k").sum
    equal((total["sent"], total["refused"]), (500, {}), "sent")
    receiver.check(total, 18)


@test
def one_too_large():
    "R56 one datagram of a batch is refused with EMSGSIZE: counted once, the rest of the batch is sent"
    receiver = Receiver()
    # The kernel stops in front of it, refuses it at the next call, then takes the rest.
    run = faulty(receiver, "sendmmsg:short=10@1,sendmmsg:EMSGSIZE@2", "--batch", 32, "--count", 64)
    equal((run.sum["attempted"], run.sum["sent"], run.sum["refused"]), (64, 63, {"EMSGSIZE": 1}), "sum")
    receiver.check(run.sum, 18)


@test
@cases(sender=["sendmsg", "sendmmsg", "gso"], error=["EIO", "EINVAL", "EMSGSIZE"], call=[1, 1000])
def gso_refused(sender, error, call):
    "R51 {sender}: UDP_SEGMENT refused with {error} at call {call}: the same datagrams go out plain, one line says why"
    receiver = Receiver()
    args = ["--sender", sender, "--gso", 4, "--batch", 1, "--count", 4500, "--payload", 30, "--rate", "100k"]
    # Descriptor 3 is the flow's socket: the self-test is let alone.
    fault = "%s:%s@%d?gso=1&fd=3" % ("sendmsg" if sender == "sendmsg" else "sendmmsg", error, call)
    run = faulty(receiver, fault, *args)
    equal((run.sum["sent"], run.sum["refused"]), (4500, {}), "sent")
    equal(run.sum["messages"], 4500 - 3 * (call - 1), "messages")
    equal(run.sum["gso"], {"segments": 1, "refused": error}, "gso")
    receiver.check(run.sum, 30)
    text = faulty(Receiver(), fault, *args, "--format", "text").stdout
    equal([line.split()[-1] for line in text.splitlines() if "GSO" in line], [error], "line about GSO")


@test
@cases(sender=["sendmsg", "sendmmsg", "gso", "auto"], call=[1, 100])
def gso_required(sender, call):
    "R51 {sender} --gso require: a refusal at call {call} ends the run with exit 1 and a sentence; the sum is what was sent"
    receiver = Receiver()
    name = {"sendmsg": "sendmsg", "auto": "gso"}.get(sender, sender)
    run = faulty(receiver, "%s:EIO@%d?gso=1&fd=3" % ("sendmsg" if sender == "sendmsg" else "sendmmsg", call), "--sender", sender, "--gso",
                 "require", "--batch", 1, "--count", 100000, "--rate", "500k", status=1)
    if name + " with UDP_SEGMENT, which --gso require asks for: Input/output error" not in run.stderr:
        fail("stderr %r" % run.stderr)
    segments = run.record("header")["gso"]["obtained"]
    equal((run.sum["sent"], run.sum["refused"]), ((call - 1) * segments, {}), "sent")
    receiver.check(run.sum, 18)


# fault, datagrams per message that are left of --gso max, and why; the self-test sends with sendmsg, the flows with sendmmsg.
SELF_TESTS = {
    "refused": ("sendmsg:EIO", 1, "Input/output error"),
    "refused as too many": ("sendmsg:EINVAL@1", 64, ""),
    "refused as invalid": ("sendmsg:EINVAL", 1, "Invalid argument"),
    "refused as too large": ("sendmsg:EMSGSIZE@1", 1, "Message too long"),
    "refused with a short last one": ("sendmsg:EIO@2", 1, "Input/output error"),
    "lost": ("recv:EAGAIN@100", 1, "did not arrive as they were sent"),
    "lost in the short batch": ("recv:EAGAIN@200", 1, "did not arrive as they were sent"),
    "without sockets": ("socket:EMFILE@2", 1, "Too many open files"),
}


@test
@cases(what=list(SELF_TESTS))
def self_test(what):
    "R51 the self-test of GSO, {what}: what is left of --gso max is sent, one line says why; --gso require does not begin"
    fault, segments, why = SELF_TESTS[what]
    receiver = Receiver()
    run = faulty(receiver, fault, "--gso", "max", "--count", 300, "--rate", "50k", "--batch", 1)
    equal(run.record("header")["gso"]["obtained"], segments, "datagrams per message")
    equal((run.sum["sent"], run.sum["messages"]), (300, -(-300 // segments)), "sent")
    equal((run.sum["gso"]["refused"], why in run.stderr, run.stderr.count("\n")), (None, True, 1 if why else 0), "gso")
    receiver.check(run.sum, 18)
    if segments == 1:
        run = faulty(Receiver(), fault, "--gso", "require", status=1)
        equal((why in run.stderr, "--gso require" in run.stderr, run.stdout), (True, True, ""), "refusal")


@test
def wall_clock_jumps():
    "R74 the wall clock jumps by two hours: duration, rate and pace do not notice"
    receiver = Receiver()
    run = faulty(receiver, "clock_gettime:jump=7200@50-?clock=0,clock_gettime:jump=-7200@20?clock=0", "--count", 300, "--rate", 1000,
                 "--payload", 26, "--interval", "100ms")
    between(0.25, run.sum["duration_s"], 20, "duration")
    between(1, run.sum["pps"], 1200, "pps")
    equal(sum(p["sent"] for p in run.records("period")), 300, "sum of the periods")
    equal(run.sum["pace"]["late_max_ns"] < 20 * 10**9, True, "lateness")


@test
@cases(sender=SENDERS)
def program_error(sender):
    "{sender}: EBADF is no event of the network: exit 1, the call is named, the sum is printed"
    receiver = Receiver()
    run = faulty(receiver, "%s:EBADF@3?fd=3" % sender, "--" + sender, "--batch", 1, "--count", 100, status=1)
    equal((run.sum["sent"], run.sum["attempted"]), (2, 2), "sent")
    if sender + ": Bad file descriptor" not in run.stderr:
        fail("stderr %r" % run.stderr)
    receiver.check(run.sum, 18)


@test
@cases(fault=["socket:EMFILE@3", "bind:EADDRINUSE@2", "connect:ENETUNREACH@3", "setsockopt:EPERM?name=21&level=1",
              "pthread_create:EAGAIN@2", "sched_setaffinity:EINVAL", "getrandom:ENOSYS"])
def start_fails(fault):
    "a start that fails with {fault} sends nothing, exits 1 and says what failed"
    word = {"socket": "socket", "bind": "bind", "connect": "connect", "setsockopt": "SO_SNDTIMEO", "pthread_create": "thread",
            "sched_setaffinity": "CPU", "getrandom": "--run-id"}[fault.split(":")[0]]
    receiver = Receiver()
    run = faulty(receiver, fault, "--flows", 4, "--threads", 3, "--cpus", min(os.sched_getaffinity(0)), status=1)
    if word not in run.stderr or run.stderr.count("\n") != 1:
        fail("stderr %r" % run.stderr)
    equal(receiver.got, [], "datagrams")


main()
