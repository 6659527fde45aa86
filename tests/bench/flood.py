#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flood - udp_source beside netoptimizer's udp_flood, mode by mode.

    flood.py UDP_FLOOD [SIZE]    the path of a udp_flood that you built; payload in bytes, 18 when not given

Both send the same number of datagrams over loopback to a socket that nobody reads, on the same CPU, in turn: a round is each program once
in each mode, in random order, 9 rounds after one that is thrown away. CPU time is that of the whole process as wait4(2) gives it, start
and end of the program included. Columns: CPU ns per datagram of both (medians), and how many datagrams udp_source sends for one of
udp_flood in the same CPU time, with the 95 % interval of paired.py. The bars: not less than 1 in each mode, 4 with GSO against udp_flood's
sendmmsg. Where both make the same system call in as short a loop no difference is to be expected: "level" is an interval with 1 in it.
Exit status 1 when a bar is not met. About four minutes."""
import os
import random
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import paired  # noqa: E402
from programs import built, leave  # noqa: E402

MODES = ["write", "send", "sendto", "sendmsg", "sendmmsg"]
COUNT, ROUNDS, GSO_BAR = 1000000, 9, 4


def cpu_ns(command):
    """CPU time of a program from start to end, per datagram."""
    cpu = max(os.sched_getaffinity(0))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    said = child.stderr.read()
    child.stderr.close()
    _pid, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        raise RuntimeError("%s: status %d: %s" % (command, status, said))
    return (used.ru_utime + used.ru_stime) * 1e9 / COUNT


def commands(flood, size, port):
    target = ["--payload", str(size), "--count", str(COUNT)]
    for mode in MODES:
        yield "udp_flood " + mode, [flood, "--" + mode, *target, "--port", str(port), "127.0.0.1"]
        yield "udp_source " + mode, [built("udp_source"), "--sender", mode, *target, "127.0.0.1:%d" % port]
    yield "udp_source gso", [built("udp_source"), "--sender", "gso", *target, "127.0.0.1:%d" % port]


def measure(flood, size):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as full:
        full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        full.bind(("127.0.0.1", 0))
        runs = list(commands(flood, size, full.getsockname()[1]))
        found = {name: [] for name, _command in runs}
        for number in range(1 + ROUNDS):
            for name, command in random.sample(runs, len(runs)):
                value = cpu_ns(command)
                if number:
                    found[name].append(value)
    return found


def verdict(multiple, bar):
    if multiple.estimate >= bar:
        return "ok"
    return "level" if bar == 1 and multiple.high >= 1 else "NOT MET"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 18
    found = measure(sys.argv[1], size)
    met = True
    print("payload %d\n%-10s %12s %12s  %-26s" % (size, "mode", "udp_flood", "udp_source", "datagrams for one of its"))
    for mode in MODES + ["gso"]:
        theirs = found["udp_flood " + (mode if mode in MODES else "sendmmsg")]
        ours = found["udp_source " + mode]
        multiple = paired.ratio(theirs, ours)
        word = verdict(multiple, 1 if mode in MODES else GSO_BAR)
        met = met and word != "NOT MET"
        print("%-10s %12.1f %12.1f  %-26s %s" % (mode, paired.median(theirs), paired.median(ours), multiple, word), flush=True)
    leave()
    sys.exit(0 if met else 1)


main()
