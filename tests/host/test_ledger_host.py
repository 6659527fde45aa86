#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make check-host: losses that take a setting of the whole host, which is put back: a tiny backlog, and no memory for UDP. Not part of make check, because
everything else on the host meets the same setting for some seconds."""
import atexit
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from harness import Source, between, equal, main, private_net, skip, test  # noqa: E402
from ledgers import Accounted, flood, lost, quality  # noqa: E402
from netns import veth  # noqa: E402
from sender import settle  # noqa: E402

BACKLOG, MEMORY = "/proc/sys/net/core/netdev_max_backlog", "/proc/sys/net/ipv4/udp_mem"
_was = {}


def put(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def hold(path, text):
    """Only the first namespace has these: set before the tests go into theirs."""
    try:
        with open(path, encoding="ascii") as f:
            _was[path] = f.read()
        put(path, text)
    except OSError:
        _was.pop(path, None)


@atexit.register
def restore():
    if os.getpid() == OWNER:
        for path, text in _was.items():
            put(path, text)


OWNER = os.getpid()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda n, _frame: sys.exit(128 + n))
hold(BACKLOG, "1")
hold(MEMORY, "10 20 30")


def steer_to(device, cpu):
    """Packets that the interface receives are queued to this CPU (RPS), by a sysfs of our namespace."""
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t sysfs none /mnt && echo %x >/mnt/class/net/%s/queues/rx-0/rps_cpus" %
                           (1 << cpu, device)], capture_output=True, text=True, check=False)
    if done.returncode:
        skip("no RPS here: " + done.stderr.strip())


@test
@private_net
def backlog():
    "R81 R87 a backlog of one packet: drops of the CPU's backlog, exactly, with the setting to look at"
    cpus = sorted(os.sched_getaffinity(0))
    if BACKLOG not in _was or len(cpus) < 2 or not shutil.which("unshare"):
        skip("netdev_max_backlog cannot be set, or there is one CPU only")
    peer = veth()
    steer_to("veth0", cpus[-1])
    a = Accounted("--listen", "198.18.0.1:0", "--engine", "recvmmsg", "--rcvbuf", "2M", "--cpus", cpus[0])
    with peer:
        a.add(Source("--count", 100000, "--cpus", cpus[0], "198.18.0.1:%d" % a.port).finish())
    settle(a.sink)
    total = a.end()
    ledger = total["ledger"]
    between(1, ledger["drops"]["backlog"], 99999, "drops that the test made: %r" % ledger)
    equal(quality(ledger, "backlog"), "exact", "quality")
    lost(ledger, backlog=ledger["drops"]["backlog"], rcvbuf=total["socket_drops"] - ledger["drops"]["mem"], mem=ledger["drops"]["mem"])


@test
@private_net
def memory():
    "R78 no memory for UDP sockets: MemErrors, not the receive buffer"
    if MEMORY not in _was:
        skip("udp_mem cannot be set here")
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--rcvbuf", "64M")
    flood(a, count=20000)
    total = a.end()
    between(1, total["ledger"]["drops"]["mem"], 20000, "drops that the test made: %r" % total["ledger"])
    lost(total["ledger"], mem=total["socket_drops"])


main()
