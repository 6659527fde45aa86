# SPDX-License-Identifier: MIT
"""udp - free ports, client sockets, and what /proc says about UDP sockets."""
import contextlib
import os
import socket

from check import fail, skip

_claims = {}  # port: the unix socket that claims it


def disown():
    """In a forked child, before it enters a new namespace: claims of the parent mean nothing there."""
    _claims.clear()


def free_port():
    """A UDP port that is free for both families and stays reserved for this process until it ends. Below the ephemeral range, so
    that no port-0 bind takes it; claimed by an abstract unix socket, so that no parallel test gets it."""
    first, count = 10000, 20000
    for i in range(count):
        port = first + (os.getpid() * 37 + i) % count
        if port in _claims:
            continue
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind("\0udpsink-test-port-%d" % port)
            for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                if family == socket.AF_INET6 and not have_ipv6():
                    continue
                with socket.socket(family, socket.SOCK_DGRAM) as probe:
                    if family == socket.AF_INET6:
                        probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    probe.bind((address, port))
        except OSError:
            claim.close()
            continue
        _claims[port] = claim
        return port
    return fail("no free UDP port from %d to %d" % (first, first + count - 1))


def have_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


def need_ipv6():
    if not have_ipv6():
        skip("this host has no IPv6 loopback")


def udp_socket(peer=None, bind=None, timeout=5.0):
    """A UDP client socket: bound to (host, port) `bind`, connected to `peer`; the family is that of the address."""
    family = socket.AF_INET6 if ":" in (peer or bind)[0] else socket.AF_INET
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(timeout)
    if bind:
        s.bind(bind)
    if peer:
        s.connect(peer)
    return s


def udp_table(port):
    """Rows of /proc/net/udp and udp6 for a local port, in this thread's network namespace: rx_queue bytes, drops, inode."""
    rows = []
    for name in ("udp", "udp6"):
        with contextlib.suppress(FileNotFoundError), open("/proc/thread-self/net/" + name, encoding="ascii") as f:
            for line in f.read().splitlines()[1:]:
                field = line.split()
                if int(field[1].rsplit(":", 1)[1], 16) == port:
                    rows.append({"table": name, "local": field[1], "remote": field[2],
                                 "rx_queue": int(field[4].split(":")[1], 16), "inode": int(field[9]), "drops": int(field[-1])})
    return rows


def socket_drops(port):
    return sum(row["drops"] for row in udp_table(port))


def queued(port):
    """Bytes of receive memory in use by the sockets of a port; 0 = everything was read."""
    return sum(row["rx_queue"] for row in udp_table(port))
