# SPDX-License-Identifier: MIT
"""The fault rig itself: libfault.so, deny, liballoc.so, shown on a small victim."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from harness import SANITIZERS, Program, between, built, cases, equal, main, module, scratch, skip, test  # noqa: E402

VICTIM = "tests/fault/victim"


def victim(*args, fault=None, prefix=(), env=None):
    """Runs the victim to its end; returns its program, with .lines (stdout) and .report (calls, faults of each rule)."""
    report = scratch("report-%d" % len(os.listdir(scratch("."))))
    environment = {"FAULT": fault, "FAULT_REPORT": report, **module("libfault")} if fault is not None else {}
    p = Program([built(VICTIM), *map(str, args)], prefix=prefix, env={**environment, **(env or {})})
    p.code = p.wait()
    p.lines = p.stdout.splitlines()
    p.report = []
    if os.path.exists(report):
        with open(report, encoding="utf-8") as f:
            p.report = [tuple(int(n) for n in line.split("\t")[:2]) for line in f]
    return p


def results(*args, **options):
    p = victim(*args, **options)
    equal(p.code, 0, "exit status")
    return p.lines


def no_asan():
    if "address" in SANITIZERS or "thread" in SANITIZERS:
        skip("the sanitizer has an allocator of its own")


@test
def every_call():
    "libfault fails each call that it knows, and only that one"
    names = results("names")
    assert len(names) > 30
    for name in names:
        equal(results("call", name, 1), ["ok"], name + " without a rule")
        if SANITIZERS and name in ("mmap", "malloc", "calloc", "realloc", "aligned_alloc"):
            continue  # a sanitizer's own start would meet the fault
        equal(results("call", name, 1, fault=name + ":EBUSY"), ["EBUSY"], name)
        other = "getpeername" if name != "getpeername" else "getsockname"
        equal(results("call", other, 1, fault=name + ":EBUSY"), ["ok"], other + " beside it")


@test
@cases(when=["", "@3", "@3-", "@2-3", "%2", "@3-%2", "@1-4%4"])
def which_call(when):
    "libfault counts calls: connect:EINTR{when}"
    failed = {"": [1, 2, 3, 4, 5, 6], "@3": [3], "@3-": [3, 4, 5, 6], "@2-3": [2, 3], "%2": [2, 4, 6], "@3-%2": [4, 6],
              "@1-4%4": [4]}[when]
    p = victim("call", "connect", 6, fault="connect:EINTR" + when)
    equal([i for i, line in enumerate(p.lines, 1) if line == "EINTR"], failed, "calls that failed")
    equal(p.lines.count("ok"), 6 - len(failed), "calls that worked")
    equal(p.report, [(6, len(failed))], "report")


@test
def times():
    "libfault fails for a duration (R107): sendmsg fails before 300 ms and works after"
    begin = time.monotonic()
    equal(results("pause", 400, "sendmsg", fault="sendmsg:EPERM@0ms-300ms"), ["EPERM", "ok"])
    between(0.4, time.monotonic() - begin, 20, "seconds")
    equal(results("pause", 400, "sendmsg", fault="sendmsg:EPERM@300ms-"), ["ok", "EPERM"])


@test
def filters():
    "libfault looks at arguments: setsockopt by level and name, thread name"
    rule = "setsockopt:EPERM?level=1&name=2"
    equal(results("option", 1, 2, fault=rule), ["EPERM"])
    equal(results("option", 1, 15, fault=rule), ["ok"])
    equal(results("option", 0, 2, fault=rule), ["ok"])
    equal(results("option", 1, 2, fault="setsockopt:EPERM?name=0x2&thread=victim"), ["EPERM"])
    equal(results("option", 1, 2, fault="setsockopt:EPERM?name=2&thread=sink-0"), ["ok"])


@test
def several():
    "libfault takes several rules; the first that applies acts, each counts for itself"
    p = victim("call", "bind", 4, fault="bind:EACCES@2,bind:EADDRINUSE@2-3,socket:EMFILE@9")
    equal(p.lines, ["ok", "EACCES", "EADDRINUSE", "ok"])
    equal(p.report, [(4, 1), (4, 1), (4, 0)], "report")


@test
def short():
    "libfault cuts sendmmsg and recvmmsg short (R56)"
    equal(results("messages", 5), ["recvmmsg 5", "sendmmsg 5"])
    equal(results("messages", 5, fault="sendmmsg:short=2"), ["recvmmsg 5", "sendmmsg 2"])
    equal(results("messages", 5, fault="recvmmsg:short=3"), ["recvmmsg 3", "sendmmsg 5"])


@test
def gso():
    "libfault tells sendmsg with UDP_SEGMENT from one without (R51)"
    equal(results("gso"), ["ok", "ok"])
    equal(results("gso", fault="sendmsg:EIO?gso=1"), ["EIO", "ok"])


@test
def wall_clock():
    "libfault moves the wall clock from a call on (R74)"
    equal(results("clock", 4, fault="clock_gettime:jump=7200@3-?clock=0"), ["0", "0", "7200", "7200"])
    equal(results("clock", 3, fault="clock_gettime:jump=-7200@2?clock=0"), ["0", "-7200", "0"])


@test
def files():
    "libfault opens another file, or none (R82)"
    path = scratch("other")
    with open(path, "w", encoding="ascii") as f:
        f.write("another file\n")
    equal(results("cat", "/proc/cpuinfo", fault="fopen:file=%s?path=/proc/cpuinfo" % path), ["another file"])
    equal(results("cat", "/proc/cpuinfo", fault="fopen:ENOENT?path=/proc/cpuinfo"), ["ENOENT"])


@test
@cases(rule=["nosuchcall:EPERM", "bind:ENOSUCH", "bind", "bind:short=1", "bind:EPERM@x", "bind:EPERM@3-2", "bind:EPERM@1-2s",
             "bind:EPERM%0", "bind:EPERM?fd", "bind:EPERM?fd=x", "bind:EPERM?no_such=1", "sendmmsg:short=x", "open:file="])
def bad_rules(rule):
    "libfault refuses the rule {rule}"
    p = victim("call", "bind", 1, fault=rule)
    equal(p.code, 99, "exit status")
    assert "libfault: rule" in p.stderr, p.stderr


def deny(*rules):
    return [built("tests/fault/deny"), *rules, "--"]


@test
@cases(rule=["recvmmsg:EPERM", "setsockopt:EINVAL", "sched_setaffinity:EPERM", "epoll_create1:EMFILE"])
def denied(rule):
    "deny makes {rule} happen in the command, and nothing else"
    name, code = rule.split(":")
    p = victim("call", name, 2, prefix=deny(rule))
    if p.code == 77:
        skip(p.stderr.strip())
    equal(p.lines, [code, code])
    equal(results("call", "sendmsg", 1, prefix=deny(rule)), ["ok"], "another call")


@test
def denied_several():
    "deny takes several rules, and passes the command's status on"
    p = victim("call", "bind", 1, prefix=deny("bind:EACCES", "connect:EPERM"))
    if p.code == 77:
        skip(p.stderr.strip())
    equal(p.lines, ["EACCES"])
    equal(results("call", "connect", 1, prefix=deny("bind:EACCES", "connect:EPERM")), ["EPERM"])
    equal(Program(["sh", "-c", "exit 42"], prefix=deny("bind:EACCES")).wait(), 42, "status")


@test
@cases(args=["bind", "bind:ENOSUCH -- true", "nosuch:EPERM -- true", "bind:EPERM", "bind:EPERM -- /no/such/program"])
def deny_usage(args):
    "deny refuses '{args}' with status 125"
    p = Program([built("tests/fault/deny"), *args.split()])
    equal(p.wait(), 125, "exit status")
    assert p.stderr.startswith("deny: "), p.stderr


def allocations(receives, at, after=None):
    """Runs the workers under liballoc; returns {thread: [receives, allocations, frees, mappings, unmappings]}."""
    no_asan()
    report = scratch("alloc-%d" % len(os.listdir(scratch("."))))
    env = {**module("liballoc"), "ALLOC_REPORT": report, **({"ALLOC_AFTER": str(after)} if after else {})}
    equal(victim("workers", receives, at, env=env).code, 0, "exit status")
    with open(report, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return {row[0]: [int(n) for n in row[1:]] for row in rows}


@test
def allocation_found():
    "liballoc counts what a worker allocates in its steady state, per thread"
    equal(allocations(2000, 1500), {"sink-0": [2000, 0, 0, 0, 0], "sink-1": [2000, 1, 1, 1, 1]})


@test
def allocation_outside():
    "liballoc does not count the warm-up, nor what comes after the last receive call"
    equal(allocations(2000, 999)["sink-1"], [2000, 0, 0, 0, 0], "counts with an allocation before call 999")
    equal(allocations(2000, 1001)["sink-1"], [2000, 1, 1, 1, 1], "counts with an allocation before call 1001")
    equal(allocations(50, 20, after=10)["sink-1"], [50, 1, 1, 1, 1], "counts with ALLOC_AFTER=10")


@test
def allocation_short_run():
    "liballoc says nothing about a thread that never came to its steady state"
    equal(allocations(900, 500), {})


main()
