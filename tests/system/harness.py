# SPDX-License-Identifier: MIT
"""harness - what every system test needs: TAP, programs under test, ports, private networks. Standard library, Python 3.9.

A test script:

    from harness import Sink, Source, cases, equal, main, queued, test, wait_until

    @test
    @cases(engine=["recv", "recvmmsg"], threads=[1, 2])
    def counts_exactly(engine, threads):
        "R28 {engine} with {threads} threads receives what was sent"
        sink = Sink("--engine", engine, "--threads", threads, "--listen", "127.0.0.1:0", "--count", 0)
        sent = Source("--count", 100, "127.0.0.1:%d" % sink.port).finish().sum["sent"]
        wait_until(lambda: queued(sink.port) == 0)
        equal(sink.stop(), 0, "exit status")
        equal(sink.sum["total"]["datagrams"], sent, "datagrams")

    main()

Each case is one TAP point, named by the docstring. A test fails by an exception (assert, equal, fail), and is skipped by
skip("why"). Whatever a test started is killed, by pid, when it ends; every wait has a deadline, and each test has one of its own.
@private_net gives a test an empty network namespace of its own, veth() a second one joined to it.
"""
import fnmatch
import itertools
import json
import os
import signal
import sys
import traceback

import programs
import udp
from check import WAIT, Failure, Skip, between, equal, fail, skip, wait_until  # noqa: F401 (for the tests)
from netns import Namespace, NoNamespace, die_with_parent, enter_private, ip, veth  # noqa: F401
from programs import (TOP_BUILDDIR, Program, Sink, Source, built, by, engines, module, port_of, scratch, strace,  # noqa: F401
                      strict_json)
from udp import free_port, have_ipv6, need_ipv6, queued, socket_drops, udp_socket, udp_table  # noqa: F401

TOP_SRCDIR = os.environ.get("TOP_SRCDIR", os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))
SANITIZERS = [s for s in os.environ.get("UDPSINK_SANITIZERS", "no").split(",") if s not in ("no", "")]
TEST_LIMIT = 120    # seconds that one test may take
SHOWN_PROGRAMS = 4  # of those a failed test started

_cases = []


def cases(**lists):
    """One case for each combination; names in braces in the docstring are filled in."""
    def mark(function):
        function.cases = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
        return function
    return mark


def private_net(function=None, *, user=False):
    """The test runs in a new network namespace with lo up. Without root, or with user=True, in a new user namespace too: root inside,
    no privilege outside (what SO_RCVBUFFORCE and friends ask for)."""
    def mark(f):
        f.private = {"user": user or os.geteuid() != 0}
        return f
    return mark(function) if function else mark


def test(function):
    """Registers a test; stands above the other decorators."""
    for values in getattr(function, "cases", [{}]):
        name = (function.__doc__ or function.__name__.replace("_", " ")).strip().splitlines()[0]
        if values and "{" not in name:
            name += " (" + ", ".join("%s=%s" % v for v in values.items()) + ")"
        _cases.append((name.format(**values), function, values))
    return function


def _on_alarm(_number, _frame):
    fail("the test took more than %d s" % getattr(_on_alarm, "limit", TEST_LIMIT))


def _attempt(function, values):
    """Runs one case in this process. Returns (result, lines): ok, skip or fail."""
    _on_alarm.limit = getattr(function, "limit", TEST_LIMIT)
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.alarm(_on_alarm.limit)
    try:
        function(**values)
        return "ok", []
    except (Skip, NoNamespace) as reason:
        return "skip", [str(reason)]
    except Exception:  # pylint: disable=broad-except
        lines = traceback.format_exc().splitlines()
        for program in programs.started()[-SHOWN_PROGRAMS:]:
            lines += program.describe()
        return "fail", lines
    finally:
        signal.alarm(0)
        programs.bury_all()


def _attempt_private(function, values):
    """The same in a child process that moved into namespaces of its own."""
    sys.stdout.flush()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        result = "fail", ["the test process died"]
        try:
            die_with_parent()
            programs.disown()
            udp.disown()
            enter_private(**function.private)
            result = _attempt(function, values)
        except NoNamespace as reason:
            result = "skip", [str(reason)]
        finally:
            programs.leave()
            with os.fdopen(write, "w") as out:
                json.dump(result, out)
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()  # bounded: the child has an alarm, and its end closes the pipe
    os.waitpid(pid, 0)
    return json.loads(text) if text else ("fail", ["the test process died"])


def main():
    """Runs all cases (or those whose name matches an argument, as a shell pattern), prints TAP, exits 1 when one failed."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _f: sys.exit(128 + n))
    chosen = [c for c in _cases if len(sys.argv) < 2 or any(fnmatch.fnmatch(c[0], p) for p in sys.argv[1:])]
    print("1..%d" % len(chosen), flush=True)
    failed = False
    for number, (name, function, values) in enumerate(chosen, 1):
        run = _attempt_private if hasattr(function, "private") else _attempt
        result, lines = run(function, values)
        failed |= result == "fail"
        name = name.replace("#", "\\#")
        print("%sok %d - %s%s" % ("not " if result == "fail" else "", number, name,
                                  " # SKIP " + " ".join(lines) if result == "skip" else ""), flush=True)
        for line in lines if result == "fail" else []:
            print("# " + line.replace("\n", "\n# "), flush=True)
    sys.exit(1 if failed else 0)
