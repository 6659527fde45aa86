#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bars - what udp_sink promises to cost, measured here and now, each against its bar.

    bars.py [NAME...]        all, or some of: tax statistics ledger instructions idle stop

  tax           CPU ns per datagram of udp_sink --engine recvmmsg --batch 64 --pktinfo / a bare recvmmsg loop with the same flags      <= 1.03
  statistics    the bare loop with our counters published once per batch / without                                            <= 1.03
  ledger        udp_sink --ledger --interval 100ms / without                                                                  <= 1.01
  instructions  user-space instructions per datagram of --engine null --batch 64 (valgrind --tool=callgrind)                      <= 60
  idle          CPU time of a sink without traffic, each engine and way to wait but spin, largest                                  < 0.5 %
  stop          SIGTERM to the end of the process, each engine and way to wait, with and without traffic, largest               <= 200 ms

Ratios: 60 rounds of windows of 0.4 s, in random order within a round, as paired.py describes; the bar passes when the whole 95 % interval lies below it.
The receiver runs on the first CPU allowed to us and the source on the last; the source is faster than the receivers, so that they never
wait: the line says how busy the least busy window was. Loopback only, about five minutes. Exit status 1 when a bar is not met."""
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import paired  # noqa: E402
from check import wait_until  # noqa: E402
from programs import Program, Sink, Source, built, engines, leave, scratch  # noqa: E402
from udp import free_port, queued  # noqa: E402

ROUNDS, WINDOW_MS, RCVBUF = 60, 400, 4 << 20
WAITS = ["block", "poll", "spin"]
_results = []


def bar(name, text, met):
    _results.append(met)
    print("%-13s %s  %s" % (name, text, "ok" if met else "NOT MET"), flush=True)


def cpus():
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def flood(port, seconds):
    """A source that is faster than any receiver here. UDP_SEGMENT: the kernel cuts the datagrams apart again before they reach the socket."""
    return Source("--gso", 16, "--size", 18, "--flows", 1, "--duration", seconds, "--cpus", cpus()[1], "127.0.0.1:%d" % port)


# ------------------------------------------------------------------ ratios of CPU time

def bare(port, *args):
    return Program([built("tests/bench/bare_recvmmsg"), "--port", str(port), "--batch", "64", "--pktinfo", "--rcvbuf", str(RCVBUF),
                    "--duration", str(WINDOW_MS), "--cpu", str(cpus()[0]), *args]).finish().sum


def ours(port, *args):
    return Sink(*args, "--engine", "recvmmsg", "--batch", 64, "--pktinfo", "--rcvbuf", RCVBUF, "--duration", "%dms" % WINDOW_MS,
                "--cpus", cpus()[0], "--listen", "127.0.0.1:%d" % port).finish().sum


SIDES = {"udp_sink": ours, "accounted": lambda port: ours(port, "--ledger", "--interval", "100ms"), "bare": bare, "published": lambda port: bare(port, "--statistics")}


def windows(sides):
    """side -> its ns per datagram, one for each round; and how busy the least busy window was."""
    port, found, busy = free_port(), {side: [] for side in sides}, 1.0
    source = flood(port, ROUNDS * len(sides) * (WINDOW_MS / 1000 + 0.3) + 30)
    for _ in range(ROUNDS):
        for side in random.sample(sides, len(sides)):
            cpu = SIDES[side](port)["cpu"]
            found[side].append(cpu["ns_per_datagram"])
            busy = min(busy, cpu["busy"])
    source.stop()
    return found, busy


def compare(name, a, b, limit):
    found, busy = windows([a, b])
    r = paired.ratio(found[a], found[b])
    bar(name, "%s / %s = %s of %.1f ns, %d rounds, %d %% busy at least; bar %.2f" %
        (a, b, r, paired.median(found[b]), r.n, 100 * busy, limit), r.below(limit))


def tax():
    compare("tax", "udp_sink", "bare", 1.03)


def statistics():
    compare("statistics", "published", "bare", 1.03)


def ledger():
    compare("ledger", "accounted", "udp_sink", 1.01)


# ------------------------------------------------------------------ instructions

def callgrind(count):
    log = scratch("callgrind-%d" % count)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + log, built("udp_sink"), "--engine", "null", "--batch", "64",
               "--count", str(count), "--format", "json"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    with open(log, encoding="utf-8") as f:
        return int(re.search(r"^(?:summary|totals): (\d+)", f.read(), re.MULTILINE).group(1))


def instructions():
    """Start and end fall out of the difference."""
    few, many = 1000000, 3000000
    each = (callgrind(many) - callgrind(few)) / (many - few)
    bar("instructions", "%.2f per datagram; bar 60" % each, each <= 60)


# ------------------------------------------------------------------ idle and stop

def cpu_ns(pid):
    """CPU time of all threads, from the scheduler's own account (ns)."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task), encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def ways():
    return [(engine, wait) for engine in engines() if engine != "null" for wait in WAITS]


def start(engine, wait):
    return Sink("--engine", engine, "--wait", wait, "--listen", "127.0.0.1:0", "--count", 0, "--cpus", cpus()[0])


def idle():
    worst, seconds = (0, ""), 3
    for engine, wait in ways():
        if wait == "spin":
            continue
        sink = start(engine, wait)
        before, begin = cpu_ns(sink.pid), time.monotonic()
        time.sleep(seconds)
        share = (cpu_ns(sink.pid) - before) / (time.monotonic() - begin) / 1e7
        worst = max(worst, (share, "%s, --wait %s" % (engine, wait)))
        sink.stop()
    bar("idle", "%.3f %% of a CPU at most (%s); bar 0.5 %%" % worst, worst[0] < 0.5)


def stop():
    worst = 0, ""
    for engine, wait in ways():
        for traffic in (False, True):
            sink = start(engine, wait)
            source = flood(sink.port, 20) if traffic else None
            if source:
                wait_until(lambda: queued(sink.port) > 0, what="traffic")
            status = sink.stop()
            if status or sink.sum["total"]["datagrams"] < traffic:
                raise RuntimeError("%s --wait %s ended with status %d: %r" % (engine, wait, status, sink.sum["total"]))
            if source:
                source.stop()
            worst = max(worst, (sink.stop_s * 1000, "%s, --wait %s, %s" % (engine, wait, "under load" if traffic else "idle")))
    bar("stop", "%.0f ms at most (%s); bar 200 ms" % worst, worst[0] <= 200)


BARS = {f.__name__: f for f in (tax, statistics, ledger, instructions, idle, stop)}


def main():
    wrong = [name for name in sys.argv[1:] if name not in BARS]
    if wrong:
        sys.exit("bars.py: '%s' is no bar; there are: %s" % (wrong[0], " ".join(BARS)))
    for name in sys.argv[1:] or BARS:
        BARS[name]()
    leave()
    sys.exit(0 if all(_results) else 1)


main()
