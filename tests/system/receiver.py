# SPDX-License-Identifier: MIT
"""receiver - a plain UDP receiver for tests of udp_source: no code of the project decides what was received."""
import contextlib
import os
import socket
import struct
import threading
import time

from check import equal, fail
from harness import SANITIZERS
from udp import need_ipv6, socket_drops

SO_TIMESTAMPNS = 35        # asm-generic/socket.h
SO_RCVBUFFORCE = 33
IPV6_RECVTCLASS, IPV6_TCLASS = 66, 67  # linux/in6.h
IP_RECVTOS = 13
IP_PKTINFO = 8             # linux/in.h
IPV6_RECVPKTINFO, IPV6_PKTINFO = 49, 50
SHORT, FULL = 18, 26       # header bytes without and with the time stamp
FILL = bytes(range(256)) * 256

# How long a program may take to end after a signal; the leak check of a sanitizer at exit takes its time too.
STOP_S = 2.0 if SANITIZERS else 0.2


def loopback(family):
    """The loopback address of "v4" or "v6"."""
    if family == "v6":
        need_ipv6()
        return "::1"
    return "127.0.0.1"


class Datagram:
    def __init__(self, data, control, source):
        self.data, self.source = data, source
        self.size = len(data)
        self.header = None
        if len(data) >= SHORT:
            self.header = dict(zip(("magic", "version", "kind", "run", "stream", "sequence"), struct.unpack(">HBBIHQ", data[:SHORT])))
            self.stamped = bool(self.header["version"] & 0x80)
        self.tos = self.kernel_ns = self.to = None
        for level, kind, value in control:
            if (level, kind) in ((socket.IPPROTO_IP, socket.IP_TOS), (socket.IPPROTO_IPV6, IPV6_TCLASS)):
                self.tos = value[0]  # the only or, on little-endian, the lowest byte
            elif (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                s, ns = struct.unpack("@ll", value[:struct.calcsize("@ll")])
                self.kernel_ns = s * 10**9 + ns
            elif (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO):
                self.to = socket.inet_ntop(socket.AF_INET, value[8:12])  # ipi_addr
            elif (level, kind) == (socket.IPPROTO_IPV6, IPV6_PKTINFO):
                self.to = socket.inet_ntop(socket.AF_INET6, value[:16])


class Receiver:
    """Bound to a port of its own, or the one given; to: Datagram.to is the local address. drain() takes what is queued; `with
    receiver.running():` reads in a thread meanwhile."""

    def __init__(self, address="127.0.0.1", stamps=False, tos=False, to=False, rcvbuf=8 << 20, port=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        if stamps:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        if tos and family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVTCLASS, 1)
        if tos:
            self.socket.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
        if to:
            self.socket.setsockopt(*((socket.IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) if ":" in address else (socket.IPPROTO_IP, IP_PKTINFO, 1)))
        self.socket.bind((address, port))
        self.address, self.port = address, self.socket.getsockname()[1]
        self.target = ("[%s]:%d" if ":" in address else "%s:%d") % (address, self.port)
        self.got = []

    def _take(self, flags):
        data, control, _, source = self.socket.recvmsg(65536, 256, flags)
        self.got.append(Datagram(data, control, source))

    def drain(self):
        """Everything that is in the queue. Over loopback a datagram is there when the send call has returned."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(socket.MSG_DONTWAIT)
        return self.got

    @contextlib.contextmanager
    def running(self):
        """Reads in a thread while the body runs, then what is left."""
        done = threading.Event()
        self.socket.settimeout(0.05)

        def loop():
            while not done.is_set():
                with contextlib.suppress(socket.timeout):
                    self._take(0)
        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            done.set()
            thread.join()
            self.socket.settimeout(None)
            self.drain()

    def drops(self):
        """Datagrams that found the queue of this socket full."""
        return socket_drops(self.port)

    def check(self, total, size, since_ns=None):
        """What arrived is exactly what the sum record says, but for what the kernel says this socket lost: count, sizes, run id,
        numbers of each stream, fill and time stamps."""
        lost = self.drops()
        equal(len(self.got) + lost, total["sent"], "received + socket drops")
        if not lost:
            equal(sum(d.size for d in self.got), total["bytes"], "bytes")
        numbers = {}
        for d in self.got:
            equal(d.size, size, "size")
            first = 0
            if size >= SHORT:
                h = d.header
                equal((h["magic"], h["version"] & 0x7f, h["kind"]), (0x5544, 1, 0), "header")
                equal("%08x" % h["run"], total["run_id"], "run id")
                equal(d.stamped, size >= FULL, "stamped")
                first = FULL if d.stamped else SHORT
                numbers.setdefault(h["stream"], []).append(h["sequence"])
                if d.stamped and since_ns:
                    stamp = struct.unpack(">Q", d.data[SHORT:FULL])[0]
                    if not since_ns <= stamp <= time.time_ns():
                        fail("time stamp %d is not of this run" % stamp)
            equal(d.data[first:], FILL[first:size], "fill")
        for stream, got in numbers.items():
            if lost:
                equal(sorted(set(got)), got, "order of stream %d" % stream)
            else:
                equal(got, list(range(len(got))), "numbers of stream %d" % stream)
        return numbers


def namespace_counters():
    """Counters of this thread's network namespace: {"UdpOutDatagrams": 5, "Udp6OutDatagrams": 5, ...}."""
    values = {}
    for name in ("snmp", "netstat"):
        with open("/proc/thread-self/net/" + name, encoding="ascii") as f:
            lines = f.read().splitlines()
        for names, numbers in zip(lines[::2], lines[1::2]):
            prefix = names.split(":")[0]
            values.update((prefix + n, int(v)) for n, v in zip(names.split()[1:], numbers.split()[1:]))
    if os.path.exists("/proc/thread-self/net/snmp6"):
        with open("/proc/thread-self/net/snmp6", encoding="ascii") as f:
            values.update((n, int(v)) for n, v in (line.split() for line in f))
    return values


class Delta:
    """What the counters of this namespace have grown by, since it was made."""

    def __init__(self):
        self.before = namespace_counters()

    def __getitem__(self, name):
        return namespace_counters()[name] - self.before[name]
