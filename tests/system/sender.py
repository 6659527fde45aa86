# SPDX-License-Identifier: MIT
"""sender - plain Python senders for the tests of udp_sink, exact to the datagram; and ways to start it with less than we may do."""
import contextlib
import os
import shutil
import signal
import socket
import struct
import sys
import time

from check import equal, fail, wait_until
from programs import Sink, engines
from udp import queued, udp_socket

ENGINES = [name for name in engines() if name != "null"]  # those that use sockets
ROOM = 100000     # bytes of receive memory that a socket has anywhere: half of net.core.rmem_default as it is shipped
UDP_SEGMENT = 103  # linux/udp.h
CAP_NET_ADMIN, CAP_NET_RAW = 12, 13  # linux/capability.h
PKTGEN_MAGIC = 0xbe9be955


class Sender:
    """Sockets connected to a sink, `flows` to each host, which never have more in flight than its receive queue holds: what was sent
    arrives. Knows what it sent."""

    def __init__(self, sink, *hosts, port=None, flows=1, bind=None):
        self.sink, self.port = sink, port or sink.port
        self.sockets = [udp_socket(peer=(host, self.port), bind=bind) for host in hosts or ["127.0.0.1"] for _ in range(flows)]
        self.count = self.bytes = self.empty = self.booked = 0
        header = sink.records("header") if sink.ready else []
        self.room = min((s["rcvbuf"]["granted"] for s in header[0]["sockets"]), default=ROOM) if header else ROOM

    def send(self, *payloads):
        """One datagram of each, from the sockets in turn."""
        for data in payloads:
            cost = 2 * len(data) + 2048  # what the kernel books at most: power-of-two memory, and its own structures
            if self.booked + cost > self.room:
                self.settle()
            self.booked += cost
            self.sockets[self.count % len(self.sockets)].send(data)
            self.count += 1
            self.bytes += len(data)
            self.empty += not data

    def settle(self):
        """Waits until the sink has read everything."""
        settle(self.sink, self.port)
        self.booked = 0

    def check(self, counters, what):
        """What arrived is what was sent."""
        equal(counters["datagrams"], self.count, what + ": datagrams")
        equal(counters["wire_bytes"], self.bytes, what + ": bytes sent")
        equal(counters["empty"], self.empty, what + ": empty datagrams")
        equal(counters["errors_by_errno"], {}, what + ": errors")


def settle(sink, port=None):
    """Waits until the queues of the sink are empty."""
    def empty():
        if sink.status() is not None:
            fail("udp_sink ended with status %s while it had datagrams to read" % sink.status())
        return queued(port or sink.port) == 0
    wait_until(empty, what="empty receive queue")


def received(sink, port=None):
    """Lets the sink read what is queued, stops it, and gives its last sum record."""
    settle(sink, port)
    equal(sink.stop(), 0, "exit status of the sink")
    return sink.sum


def refusal(*args, words, status=1, **options):
    """udp_sink with these arguments receives nothing: it exits with the status and one sentence on stderr, which has all the words."""
    sink = Sink(*args, ready=False, **options)
    equal(sink.wait(), status, "exit status of " + " ".join(sink.command))
    equal((sink.records("sum"), sink.stderr.count("\n")), ([], 1), "sums, and lines of " + sink.stderr)
    for word in words:
        if word not in sink.stderr:
            fail("no %r in %r" % (word, sink.stderr))


@contextlib.contextmanager
def paused(sink):
    """No thread of the sink runs in the body."""
    def stopped():
        if sink.status() is not None:
            fail("udp_sink ended with status %s" % sink.status())
        states = set()
        for tid in os.listdir("/proc/%d/task" % sink.pid):
            with open("/proc/%d/task/%s/stat" % (sink.pid, tid), encoding="utf-8") as f:
                states.add(f.read().rpartition(")")[2].split()[0])
        return states <= {"T", "t"}
    sink.send_signal(signal.SIGSTOP)
    wait_until(stopped, what="all threads stopped")
    yield
    sink.send_signal(signal.SIGCONT)


def sums(sink, n):
    """The first n sum records; waits for them."""
    def look():
        ended = sink.status() is not None  # before its output is read: what it wrote last is there then
        found = sink.records("sum")
        if len(found) < n and ended:
            fail("udp_sink ended with status %s after %d of %d runs" % (sink.status(), len(found), n))
        return found if len(found) >= n else None
    return wait_until(look, what="sum record %d" % n)[:n]


def check_sums(record):
    """Counters of the workers add up to the total, none is negative or larger."""
    for name, value in record["total"].items():
        parts = [w["counters"][name] for w in record["workers"]]
        if isinstance(value, int):
            equal(sum(parts), value, "sum over workers of " + name)
            if min(parts) < 0:
                fail("%s is negative: %r" % (name, parts))
        elif isinstance(value, list):
            equal([sum(p) for p in zip(*parts)], value, "sum over workers of " + name)
        elif value is None:
            equal(set(parts), {None}, name + " of workers, where the total is unknown")


def pktgen(number, size, order=">"):
    """A payload as the kernel's pktgen writes it, its header repeated to the end: the whole packet can be checked."""
    header = struct.pack(order + "IIII", PKTGEN_MAGIC, number, 1, 1)
    return (header * (size // 16 + 1))[:size]


def sequence(run, stream, number, size=26):
    """A payload with the header of udp_source (src/net/seqhdr.h), without time stamp."""
    return (struct.pack(">HBBIHQ", 0x5544, 1, 0, run, stream, number) + bytes(range(256)) * 256)[:size]


def segmented(sock, data, size):
    """One send call that becomes many datagrams of `size` bytes (UDP_SEGMENT)."""
    sock.sendmsg([data], [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("=H", size))])


def tasks(program, field, threads="sink-"):
    """This field of /proc/PID/task/*/status of each thread whose name begins so, the workers; in order of their start."""
    found = []
    for tid in sorted(map(int, os.listdir("/proc/%d/task" % program.pid))):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open("/proc/%d/task/%d/status" % (program.pid, tid), encoding="ascii") as f:
            lines = dict(line.split(":", 1) for line in f.read().splitlines())
            if lines["Name"].strip().startswith(threads):
                found.append(lines[field].strip())
    return found


def sleeps(program):
    """How often its workers have slept so far."""
    return sum(map(int, tasks(program, "voluntary_ctxt_switches")))


def cpu_s(program):
    """CPU time of a running program: the clock that clock_getcpuclockid(3) would give."""
    return time.clock_gettime(~program.pid << 3 | 2)


def command(statement, *words):
    """Prefix: runs the program after a statement of Python with os and prctl, in the same process."""
    text = ("import ctypes, os, sys; prctl = ctypes.CDLL(None).prctl; %s; os.execvp(sys.argv[1], sys.argv[1:])" % statement)
    return [sys.executable, "-S", "-c", text, *words]


def without(*capabilities):
    """Prefix: root without these capabilities (PR_CAPBSET_DROP, then exec); nothing to take from others."""
    if os.geteuid():
        return []
    return command("; ".join("prctl(24, %d, 0, 0, 0)" % c for c in capabilities))


def on_cpus(*cpus):
    """Prefix: allowed to use these CPUs only."""
    return command("os.sched_setaffinity(0, %r)" % (set(cpus),))


def sh(line, *args):
    """Command for Program: a line for sh, in which "$@" stands for args."""
    return [shutil.which("sh") or "/bin/sh", "-c", line, "sh", *map(str, args)]
