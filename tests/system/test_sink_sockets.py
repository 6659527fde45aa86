# SPDX-License-Identifier: MIT
"""udp_sink's sockets: addresses, scopes, devices, buffers, groups of sockets, connected sockets, and what happens to them."""
import ctypes
import os
import re
import signal
import socket
import struct

from harness import (Sink, between, cases, equal, fail, free_port, have_ipv6, ip, main, module, need_ipv6, port_of, private_net, scratch,
                     skip, strace, test, udp_socket, udp_table, veth, wait_until)
from receiver import namespace_counters
from sender import (CAP_NET_ADMIN, CAP_NET_RAW, ENGINES, Sender, check_sums, on_cpus, paused, received, refusal, settle, tasks,
                    without)

LOOPBACK = {"v4": "127.0.0.1", "v6": "::1", "mapped": "127.0.0.1"}
LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "mapped": "[::]:0"}
UDPLITE = 136  # linux/in.h


def need(family):
    if family != "v4":
        need_ipv6()


def text(host, port):
    return ("[%s]:%d" if ":" in host else "%s:%d") % (host, port)


def refuses(s):
    """Waits until the peer of this socket says that nobody takes its datagrams."""
    def refused():
        try:
            s.send(b"nobody")
        except ConnectionRefusedError:
            return True
        return False
    wait_until(refused, what="a refusal by %r" % (s.getpeername(),))


def turned_away(host, port):
    with udp_socket(peer=(host, port)) as s:
        refuses(s)


def destinations(total):
    return {d["address"]: d["datagrams"] for d in total["destinations"]}


def write_sysctl(name, value):
    try:
        with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as f:
            f.write(str(value))
    except OSError as error:
        skip("cannot set %s here: %s" % (name, error))


# ---------------------------------------------------------------------------------------------------------- addresses

@test
@cases(host=["127.0.0.5", "::1", "::ffff:127.0.0.5"], pktinfo=["off", "on"])
def one_address(host, pktinfo):
    "R02 --listen {host}, pktinfo {pktinfo}: address and real port are reported, and only they are received"
    need("v6" if ":" in host else "v4")
    sink = Sink("--listen", text(host, 0), "--engine", "recvmsg", "--count", 0, *(["--by-destination"] if pktinfo == "on" else []))
    equal(sink.ready["listening"], [text(host, sink.port)], "listening")
    equal(sink.record("header")["sockets"][0]["local"], text(host, sink.port), "local address")
    between(1, sink.port, 65535, "port")
    arrives = host.rpartition(":")[2] if "." in host else host
    sender = Sender(sink, arrives)
    sender.send(*[b"x"] * 5)
    turned_away("127.0.0.1", sink.port)
    total = received(sink)
    sender.check(total["total"], "received")
    if pktinfo == "on":
        equal(destinations(total), {arrives: 5}, "destinations")


@test
@cases(engine=ENGINES, threads=[1, 2])
def several_addresses(engine, threads):
    "--listen three times, port 0 each, {engine}, {threads} thread(s): every worker reads each, on a port chosen once per address"
    need_ipv6()
    hosts = ["127.0.0.1", "127.0.0.2", "::1"]
    sink = Sink(*[word for host in hosts for word in ("--listen", text(host, 0))], "--engine", engine, "--threads", threads, "--count", 0)
    equal(sink.ready["listening"], [text(*at) for at in zip(hosts, sink.ports)] * threads, "listening")
    equal(sink.ready["workers"], threads, "workers")
    senders = [Sender(sink, host, port=port, flows=4) for host, port in zip(hosts, sink.ports)]
    for sender in senders:
        sender.send(*[b"abc"] * 40)
        sender.settle()
    total = received(sink)
    check_sums(total)
    equal(total["total"]["datagrams"], 120, "datagrams")


@test
def port_option():
    "--port is the port of an address that names none, and 0.0.0.0 or (with -6) :: the address without --listen"
    need_ipv6()
    port, other = free_port(), free_port()
    for args, expected in ((["--listen", "127.0.0.1"], ["127.0.0.1:%d" % port]),
                           (["--listen", "::1", "--listen", "127.0.0.1:%d" % other], ["[::1]:%d" % port, "127.0.0.1:%d" % other]),
                           (["--listen", "*"], ["[::]:%d" % port]), ([], ["0.0.0.0:%d" % port]), (["-4"], ["0.0.0.0:%d" % port]),
                           (["-6"], ["[::]:%d" % port])):
        sink = Sink("--port", port, *args)
        equal(sink.ready["listening"], expected, "listening with %s" % args)
        equal(sink.stop(), 0, "exit status")


# Arguments (P and Q are ports), dual stack or not of each socket (None: no matter), addresses that arrive, addresses that must not.
DUAL = {
    "::": ("--listen [::]:P", [True], [("::1", "P"), ("127.0.0.1", "P")], []),
    "-6": ("-6 --port P", [True], [("::1", "P"), ("127.0.0.1", "P")], []),
    ":: --v6only": ("--listen [::]:P --v6only", [False], [("::1", "P")], [("127.0.0.1", "P")]),
    ":: and 0.0.0.0": ("--listen [::]:P --listen 0.0.0.0:P", [False, False], [("::1", "P"), ("127.0.0.1", "P")], []),
    ":: and 127.0.0.1": ("--listen 127.0.0.1:P --listen [::]:P", [False, False], [("::1", "P"), ("127.0.0.1", "P")], [("127.0.0.2", "P")]),
    ":: and 0.0.0.0 on another port": ("--listen [::]:P --listen 0.0.0.0:Q", [True, False],
                                       [("::1", "P"), ("127.0.0.1", "P"), ("127.0.0.1", "Q")], []),
    ":: beside both families on another port": ("--listen [::]:P --listen [::1]:Q --listen 127.0.0.1:Q", [True, None, False],
                                                [("::1", "P"), ("127.0.0.1", "P"), ("127.0.0.1", "Q"), ("::1", "Q")], []),
}


@test
@cases(bindv6only=[0, 1], listen=DUAL)
@private_net
def dual_stack(bindv6only, listen):
    "R11 net.ipv6.bindv6only {bindv6only}: --listen {listen} takes the families that the manual says"
    need_ipv6()
    write_sysctl("net.ipv6.bindv6only", bindv6only)
    line, dual, arrive, refuse = DUAL[listen]
    ports = {"P": free_port(), "Q": free_port()}
    args = [re.sub("[PQ]$", lambda m: str(ports[m.group()]), word) for word in line.split()]
    sink = Sink(*args, "--engine", "recvmsg", "--count", 0)
    got = [s["dual_stack"] for s in sink.record("header")["sockets"]]
    equal([g for g, d in zip(got, dual) if d is not None], [d for d in dual if d is not None], "dual stack")
    for host, port in refuse:
        turned_away(host, ports[port])
    sent = 0
    for host, port in arrive:
        sender = Sender(sink, host, port=ports[port])
        sender.send(*[b"x"] * 7)
        sender.settle()
        sent += 7
    total = received(sink)["total"]
    equal(total["datagrams"], sent, "datagrams")
    if any(got):
        equal(total["ipv4"], 7 * sum("." in host for host, _ in arrive), "IPv4")


@test
@cases(bindv6only=[0, 1])
@private_net
def v6only_is_set(bindv6only):
    "R11 net.ipv6.bindv6only {bindv6only}: IPV6_V6ONLY is set on every IPv6 socket before it is bound; R96 no SO_REUSEADDR, SO_REUSEPORT"
    need_ipv6()
    write_sysctl("net.ipv6.bindv6only", bindv6only)
    for args, bound, value in ((["--listen", "[::]:0"], 1, 0), (["--listen", "[::]:0", "--v6only"], 1, 1),
                               (["--listen", "[::1]:0"], 1, None), (["--listen", "[::1]:0", "--shared-socket", "--threads", 2], 1, None)):
        prefix, read = strace("setsockopt,bind")
        sink = Sink(*args, "--engine", "recvmsg", prefix=prefix)
        sink.stop()
        only, binds = {}, 0
        for line in read(sink):
            found = re.search(r"setsockopt\((\d+), SOL_IPV6, IPV6_V6ONLY, \[(\d)\]", line)
            if found:
                only[found.group(1)] = int(found.group(2))
            found = re.search(r"bind\((\d+), \{sa_family=AF_INET6", line)
            if found:
                binds += 1
                if found.group(1) not in only or value not in (None, only[found.group(1)]):
                    fail("IPV6_V6ONLY %r before %s" % (only, line))
            if "REUSEADDR" in line or "REUSEPORT" in line:
                fail("nobody asked for it: %s" % line)
        if binds < bound:
            fail("only %d bind calls seen" % binds)


# ------------------------------------------------------------------------------------------------------ scope, devices

def two_links():
    """Two links to one peer, with the same link-local addresses on both: ours fe80::1, the peer's fe80::2."""
    if not os.path.exists("/proc/sys/net/ipv6"):
        skip("this kernel has no IPv6")
    peer = veth()
    veth(peer, 1)
    for index in (0, 1):
        ip("addr add fe80::1/64 dev veth%d nodad" % index)
        with peer:
            ip("addr add fe80::2/64 dev peer%d nodad" % index)
    return peer


def scoped_sockets(peer, to_port, port=7000):
    """A socket on each link, from the peer's address and one port to ours. Python takes a scope only as a number."""
    def at(host, number, device):
        return host, number, 0, socket.if_nametoindex(device)
    with peer:
        return [udp_socket(peer=at("fe80::1", to_port, device), bind=at("fe80::2", port, device)) for device in ("peer0", "peer1")]


# Arguments, datagrams counted of link A and of link B, sockets with a peer.
SCOPES = {
    "listen": ("--listen [fe80::1%veth0]:0", 5, None),
    "wildcard": ("--listen [::]:0", 5, 9),
    "check-sender": ("--listen [::]:0 --check-sender fe80::2%veth0", 5, 0),
    "connect": ("--listen [::]:0 --connect=[fe80::2%veth0]:7000", 5, None),
}


@test
@cases(option=SCOPES)
@private_net
def link_local(option):
    "R13 link-local addresses, {option}: the scope is kept, shown and compared"
    peer = two_links()
    line, on_a, on_b = SCOPES[option]
    sink = Sink(*line.split(), "--engine", "recvmsg", "--count", 0)
    if option == "listen":
        equal(sink.ready["listening"], ["[fe80::1%%veth0]:%d" % sink.port], "listening")
    if option == "connect":
        equal(sink.record("header")["sockets"][0]["peer"], "[fe80::2%veth0]:7000", "peer")
    link_a, link_b = scoped_sockets(peer, sink.port)
    for _ in range(5):
        link_a.send(b"a")
    for _ in range(9 if on_b is not None else 0):
        link_b.send(b"b")
    if on_b is None:
        refuses(link_b)
    wait_until(lambda: queued_and_read(5 + (9 if on_b is not None else 0)), what="all datagrams in the socket")
    total = received(sink)["total"]
    equal(total["datagrams"], on_a + (on_b or 0), "datagrams")
    equal(total["foreign"], 9 if on_b == 0 else 0, "foreign")


def queued_and_read(count):
    """Did so many datagrams reach a socket and get read? The kernel counts when they are read."""
    return namespace_counters()["Udp6InDatagrams"] >= count


@test
@cases(way=["flows", "connect-each"])
@private_net
def scope_makes_a_flow(way):
    "R13 the same address and port on two links are two flows: {way}"
    peer = two_links()
    args = ["--threads", 2] if way == "flows" else ["--connect-each"]
    sink = Sink("--listen", "[::]:0", "--engine", "recvmsg", "--count", 0, *args)
    for s in scoped_sockets(peer, sink.port):
        for _ in range(6):
            s.send(b"x")
    wait_until(lambda: queued_and_read(12), what="12 datagrams")
    total = received(sink)
    equal(total["total"]["datagrams"], 12, "datagrams")
    equal(total["flows" if way == "flows" else "connected_sockets"], 2, way)


@test
@cases(option=["--listen", "--connect", "--check-sender"])
def scope_missing(option):
    "R13 a link-local address without its interface is refused at the command line: {option}"
    address = "[fe80::1]:9000" if option != "--check-sender" else "fe80::1"
    refusal("%s=%s" % (option, address), "--port", 0, status=2, words=["fe80::1", "%"])
    refusal("%s=%s" % (option, address.replace("::1", "::1%no_such_dev")), "--port", 0, status=2, words=["no_such_dev"])


@test
@cases(way=["by-destination", "connect-each"])
@private_net
def two_links_one_subnet(way):
    "R04 two links in one subnet, {way}: the address is that of the datagram, whichever link it came by"
    peer = veth()
    veth(peer, 1)
    for index in (0, 1):
        ip("addr add 198.18.7.%d/24 dev veth%d" % (1 + index, index))
        with peer:
            ip("addr add 198.18.7.%d/24 dev peer%d" % (11 + index, index))
    sink = Sink("--listen", "0.0.0.0:0", "--engine", "recvmmsg", "--count", 0, "--" + way)
    with peer:
        for link in (0, 1):
            for host in ("198.18.7.1", "198.18.7.2"):
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"peer%d" % link)
                s.connect((host, sink.port))
                for _ in range(3 + link):
                    s.send(b"x")
    wait_until(lambda: namespace_counters()["UdpInDatagrams"] >= 14, what="14 datagrams")
    if way == "connect-each":
        wait_until(lambda: len(udp_table(sink.port)) == 5, what="a socket for each of 4 flows")
        rows = [row["local"] for row in udp_table(sink.port) if not row["remote"].startswith("00000000:")]
        equal(sorted(rows), sorted(["010712C6:%04X" % sink.port, "020712C6:%04X" % sink.port] * 2), "local addresses of the flows")
    total = received(sink)
    equal(total["total"]["datagrams"], 14, "datagrams")
    if way == "by-destination":
        equal(destinations(total), {"198.18.7.1": 7, "198.18.7.2": 7}, "destinations")


@test
@cases(privilege=["with", "without"])
@private_net
def bind_dev(privilege):
    "R06 R07 --bind-dev {privilege} CAP_NET_RAW: two sinks share a port on two devices, each counts its own; or it says why not"
    peer = veth()
    veth(peer, 1)
    port = free_port()
    prefix = without(CAP_NET_RAW) if privilege == "without" else []
    first = Sink("--bind-dev", "veth0", "--port", port, "--count", 0, "--engine", "recvmsg", prefix=prefix, ready=False)
    wait_until(lambda: first.status() is not None or first.records("ready"), what="start")
    if first.status() is not None:
        for word in ("--bind-dev", "veth0", "Operation not permitted", "CAP_NET_RAW"):
            if word not in first.stderr:
                fail("no %r in %r" % (word, first.stderr))
        equal((first.status(), privilege), (1, "without"), "exit status")
        return
    first.ready = first.record("ready")
    second = Sink("--bind-dev", "veth1", "--port", port, "--count", 0, "--engine", "recvmsg", prefix=prefix)
    with peer:
        a, b = (udp_socket(peer=("198.18.%d.1" % i, port)) for i in (0, 1))
    for _ in range(3):
        a.send(b"a")
    for _ in range(8):
        b.send(b"b")
    with udp_socket(peer=("127.0.0.1", port)) as s:  # by lo: for neither
        s.send(b"c")
    wait_until(lambda: namespace_counters()["UdpInDatagrams"] >= 11, what="11 datagrams")
    equal(received(first)["total"]["datagrams"], 3, "datagrams of veth0")
    equal(received(second)["total"]["datagrams"], 8, "datagrams of veth1")


@test
def bind_dev_refused():
    "R07 --bind-dev that is refused, or names no device, ends the program: option, device, errno, capability are said"
    fault = {**module("libfault"), "FAULT": "setsockopt:EPERM?level=1&name=25"}
    refusal("--bind-dev", "lo", "--port", 0, env=fault, words=["--bind-dev", "lo", "Operation not permitted", "CAP_NET_RAW"])
    refusal("--bind-dev", "no_such_dev", "--port", 0, words=["--bind-dev", "no_such_dev", "No such device"])
    refusal("--bind-dev", "a" * 16, "--port", 0, status=2, words=["--bind-dev", "15"])


# ------------------------------------------------------------------------------------------------------------- buffers

def rmem_max():
    with open("/proc/sys/net/core/rmem_max", encoding="ascii") as f:
        return int(f.read())


LARGE = 64 << 20


@test
@cases(threads=[1, 3])
def rcvbuf_unprivileged(threads):
    "R89 R90 --rcvbuf without CAP_NET_ADMIN, {threads} thread(s): asked, granted, limit and its name; no doubling; a warning that says so"
    if rmem_max() >= LARGE:
        skip("net.core.rmem_max is %d: nothing to be refused" % rmem_max())
    prefix = without(CAP_NET_ADMIN)
    sink = Sink("--listen", "127.0.0.1:0", "--threads", threads, "--rcvbuf", "64M", prefix=prefix)
    equal([s["rcvbuf"] for s in sink.record("header")["sockets"]],
          [{"asked": LARGE, "granted": rmem_max(), "limit": rmem_max(), "forced": False, "sysctl": "net.core.rmem_max"}] * threads,
          "rcvbuf")
    told = Sink("--listen", "127.0.0.1:0", "--threads", threads, "--rcvbuf", "64M", "--format", "text", prefix=prefix)
    lines = [line for line in told.stderr.splitlines() if "asked" in line]
    equal(len(lines), 1, "warnings, one for the address: %r" % lines)
    for word in (str(LARGE), str(rmem_max()), "net.core.rmem_max", "127.0.0.1:"):
        if word not in lines[0]:
            fail("no %r in %r" % (word, lines[0]))


@test
def rcvbuf_strict():
    "R89 --rcvbuf-strict ends the program where less is granted, and names the limit for receiving; exactly the limit is fine"
    prefix = without(CAP_NET_ADMIN)
    if rmem_max() < LARGE:
        refusal("--port", 0, "--rcvbuf", "64M", "--rcvbuf-strict", prefix=prefix,
                words=["--rcvbuf", str(LARGE), str(rmem_max()), "net.core.rmem_max", "CAP_NET_ADMIN"])
    for value in (rmem_max(), rmem_max() - 1, 5000):
        sink = Sink("--listen", "127.0.0.1:0", "--rcvbuf", value, "--rcvbuf-strict", "--format", "text", "--duration", "10ms", prefix=prefix)
        sink.finish()
        equal(sink.stderr.splitlines()[1:], [], "lines after ready: %r" % sink.stderr)
        if "ready" not in sink.stderr.splitlines()[0]:
            fail("unexpected: %r" % sink.stderr)


@test
def rcvbuf_forced():
    "R90 --rcvbuf with CAP_NET_ADMIN: the limit does not count, and the report says that it was forced"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.setsockopt(socket.SOL_SOCKET, 33, 4096)  # SO_RCVBUFFORCE
        except PermissionError:
            skip("CAP_NET_ADMIN in the first user namespace is needed")
    want = rmem_max() + 4096
    sink = Sink("--listen", "127.0.0.1:0", "--rcvbuf", want, "--rcvbuf-strict")
    equal(sink.record("header")["sockets"][0]["rcvbuf"],
          {"asked": want, "granted": want, "limit": rmem_max(), "forced": True, "sysctl": "net.core.rmem_max"}, "rcvbuf")


@test
@cases(path=["asked", "not asked"])
def rcvbuf_limit_unknown(path):
    "R89 net.core.rmem_max cannot be read, buffer {path}: the limit is null, not 0, and no sentence says 0"
    names = ",".join("%s:ENOENT?path=/proc/sys/net/core/rmem_max" % call for call in ("open", "openat", "fopen"))
    options = {"prefix": without(CAP_NET_ADMIN), "env": {**module("libfault"), "FAULT": names}}
    args = ["--rcvbuf", "1G"] if path == "asked" else []
    sink = Sink("--listen", "127.0.0.1:0", *args, **options)
    buffer = sink.record("header")["sockets"][0]["rcvbuf"]
    equal((buffer["limit"], buffer["asked"]), (None, 1 << 30 if args else None), "limit, asked")
    if args:
        told = Sink("--listen", "127.0.0.1:0", *args, "--format", "text", **options).stderr
        if "net.core.rmem_max" not in told or re.search(r"\b0\b(?!\.)", told.replace("127.0.0.1:0", "")):
            fail("sentence: %r" % told)


# ------------------------------------------------------------------------------------------------------------ multicast

GROUPS = {"v4": ("0.0.0.0:0", "239.1.2.3", "239.1.2.4", "239.9.9.9"), "v6": ("[::]:0", "ff05::1:3", "ff05::1:4", "ff05::9"),
          "dual": ("[::]:0", "239.1.2.3", "ff05::1:4", "239.9.9.9")}


def send_to_group(group, device, port, count):
    v6 = ":" in group
    with socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM) as s:
        if v6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex(device))
        else:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("=4s4si", bytes(4), bytes(4), socket.if_nametoindex(device)))
        for _ in range(count):
            s.sendto(b"group", (group, port))


def member(group, device):
    """Another program that joined: the host takes the group in."""
    v6 = ":" in group
    s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    index = socket.if_nametoindex(device)
    if v6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, group) + struct.pack("=i", index))
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("=4s4si", socket.inet_aton(group), bytes(4), index))
    return s


@test
@cases(family=GROUPS, way=["one thread", "shared socket"])
@private_net
def multicast(family, way):
    "--join GROUP%DEV twice, {family}, {way}: each datagram to a group that was joined counts once, those to other groups never"
    need_ipv6()
    listen, first, second, other = GROUPS[family]
    peer = veth()
    args = {"one thread": ["--reuse-port"], "shared socket": ["--shared-socket", "--threads", 2]}[way]
    sink = Sink("--listen", listen, "--join", first + "%veth0", "--join", second + "%veth0", "--count", 0, "--engine", "recvmmsg",
                "--by-destination", *args)
    stranger = member(other, "veth0")
    with peer:
        send_to_group(other, "peer0", sink.port, 4)
        send_to_group(first, "peer0", sink.port, 5)
        send_to_group(second, "peer0", sink.port, 6)
    wait_until(lambda: sum(namespace_counters()[n] for n in ("UdpInDatagrams", "Udp6InDatagrams")) >= 11, what="11 datagrams")
    total = received(sink)
    stranger.close()
    equal(destinations(total), {first: 5, second: 6}, "destinations")
    equal(total["total"]["datagrams"], 11, "datagrams")


@test
@private_net
def multicast_refused():
    "--join where several sockets would each get a copy, or with no such group, device or family, is refused with the reason"
    join = ["--listen", "0.0.0.0:0", "--join"]
    refusal(*join, "239.1.2.3%lo", "--threads", 2, words=["--join 239.1.2.3%lo", "--shared-socket"])
    refusal(*join, "239.1.2.3%lo", "--reuse-port", "--threads", 2, words=["--join 239.1.2.3%lo", "--shared-socket"])
    refusal(*join, "10.1.2.3", status=2, words=["--join 10.1.2.3", "multicast"])
    refusal(*join, "239.1.2.3%no_such_dev", words=["--join", "no_such_dev"])
    refusal(*join, "239.1.2.3", words=["--join 239.1.2.3", "No such device", "%"])
    refusal(*join, "ff05::1%lo", words=["--join ff05::1%lo", "family"])
    first = Sink(*join, "239.1.2.3%lo", "--reuse-port")
    refusal("--listen", "0.0.0.0:%d" % first.port, "--join", "239.1.2.3%lo", "--reuse-port", words=["--join", str(first.port), "shares"])


# --------------------------------------------------------------------------------------------------------------- lite

@test
@cases(family=["v4", "v6"])
def lite(family):
    "--lite, {family}: UDP-Lite datagrams are counted where the kernel has it; elsewhere a sentence says so"
    need(family)
    number = socket.AF_INET if family == "v4" else socket.AF_INET6
    try:
        s = socket.socket(number, socket.SOCK_DGRAM, UDPLITE)
    except OSError:
        refusal("--lite", "--listen", LISTEN[family], words=["--lite", "UDP-Lite", "kernel"])
        return
    sink = Sink("--lite", "--listen", LISTEN[family], "--engine", "recvmsg", "--count", 10)
    s.connect((LOOPBACK[family], sink.port))
    for _ in range(10):
        s.send(b"lite")
    equal(sink.finish().sum["total"]["datagrams"], 10, "datagrams")


# ------------------------------------------------------------------------------------------------------ sharing a port

KINDS = {"one": [], "shared": ["--shared-socket", "--threads", 2], "threads": ["--threads", 2], "each": ["--connect-each"],
         "reuse": ["--reuse-port"], "reuse threads": ["--reuse-port", "--threads", 2]}


@test
@cases(first=KINDS, family=["v4", "mapped"])
def second_instance(first, family):
    "R96 {family}, the first instance is '{first}': a second one of any kind is refused by name, unless both said --reuse-port"
    need(family)
    running = Sink("--listen", LISTEN[family], "--engine", "recvmsg", "--count", 0, *KINDS[first])
    at = running.ready["listening"][0]
    for kind, args in KINDS.items():
        if "reuse" in kind and "reuse" in first:
            second = Sink("--listen", at, "--engine", "recvmsg", *args)
            equal(second.record("header")["group_others"], len(running.ready["listening"]), "others of " + kind)
            equal(second.stop(), 0, "exit status")
        else:
            refusal("--listen", at, "--engine", "recvmsg", *args, words=["bind " + at, "in use"])
    header = running.record("header")
    equal({s["reuse_port"] for s in header["sockets"]}, {first not in ("one", "shared")}, "SO_REUSEPORT")
    equal(header["group_others"], 0, "others of the first")
    sender = Sender(running, LOOPBACK[family])
    sender.send(*[b"x"] * 20)
    sender.check(received(running)["total"], "the first, undisturbed")


@test
@cases(first=["threads", "each"], end=[signal.SIGTERM, signal.SIGKILL])
def group_leaves_nothing(first, end):
    "R96 '{first}' ended by signal {end}: nothing is left behind, the next instance starts"
    running = Sink("--listen", "127.0.0.1:0", *KINDS[first])
    running.stop(end)
    for args in KINDS.values():
        equal(Sink("--listen", running.ready["listening"][0], *args).stop(), 0, "exit status")


@test
@cases(reuse=["plain", "SO_REUSEPORT"], kind=KINDS)
def port_of_a_stranger(reuse, kind):
    "R96 another program ({reuse}) has the port, '{kind}': the address is named, with what to do; only --reuse-port joins, and says so"
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        if reuse == "SO_REUSEPORT":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("127.0.0.1", port))
        if reuse == "SO_REUSEPORT" and "reuse" in kind:
            sink = Sink("--listen", "127.0.0.1:%d" % port, "--format", "text", *KINDS[kind])
            wait_until(lambda: "joined a group: 1 other socket shares the port" in sink.stderr, what="sentence")
        else:
            refusal("--listen", "127.0.0.1:%d" % port, *KINDS[kind], words=["bind 127.0.0.1:%d: Address already in use" % port, "ss -uanp"])


@test
@cases(listen=["203.0.113.1:0", "[2001:db8::77]:0"])
def no_such_address(listen):
    "R02 --listen {listen}: an address that is not of this host is named, with where to look"
    need_ipv6()
    refusal("--listen", listen, words=["bind " + listen, "Cannot assign requested address", "ip addr"])


@test
@private_net
def no_ipv6():
    "an IPv6 address where the kernel runs without IPv6 is refused by name"
    write_sysctl("net.ipv6.conf.all.disable_ipv6", 1)
    if have_ipv6():
        skip("disable_ipv6 has no effect here")
    refusal("--listen", "[::1]:0", words=["::1"])


# ---------------------------------------------------------------------------------------------------------------- CPUs

@test
@cases(threads=[0, 1, 3])
def allowed_cpus(threads):
    "R98 --threads {threads} in a set of one CPU that does not begin at 0: its number is found, obeyed and reported"
    cpu = max(os.sched_getaffinity(0))
    pinned = ["--cpus", cpu] if threads else []
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--threads", threads, "--count", 0, *pinned, prefix=on_cpus(cpu))
    equal(sink.ready["workers"], threads or 1, "workers")
    equal(sink.record("header")["host"]["cpus_allowed"], str(cpu), "allowed CPUs")
    equal(tasks(sink, "Cpus_allowed_list"), [str(cpu)] * (threads or 1), "CPUs of the workers")
    total = received(sink)
    equal([(w["cpu_asked"], w["cpu_obtained"]) for w in total["workers"]], [(cpu, cpu)] * (threads or 1), "CPUs asked and obtained")


@test
def cpu_refused():
    "R98 a CPU that this process may not use, or a pin that the kernel refuses, is an error with its number"
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) > 1:
        for option in ("--cpus", "--place"):
            refusal(option, cpus[0], "--port", 0, prefix=on_cpus(cpus[-1]), status=2, words=[str(cpus[0])])
        refusal("--cpus", "%d,%d" % (cpus[-1], cpus[0]), "--port", 0, prefix=on_cpus(cpus[-1]), status=2, words=[str(cpus[0])])
    refusal("--cpus", 99999, "--port", 0, status=2, words=["99999"])
    refusal("--place", "other-cpu", "--port", 0, prefix=on_cpus(cpus[-1]), status=2, words=["--place other-cpu"])
    env = {**module("libfault"), "FAULT": "sched_setaffinity:EINVAL"}
    refusal("--cpus", cpus[-1], "--port", 0, env=env, words=["CPU %d" % cpus[-1], "Invalid argument"])


@test
def cpus_in_order():
    "R98 --threads 0 and --cpus pin the workers in order, and begin anew at the end of the list"
    cpus = sorted(os.sched_getaffinity(0))
    every = Sink("--listen", "127.0.0.1:0", "--threads", 0)
    equal(every.ready["workers"], len(cpus), "workers")
    equal([w["cpu_asked"] for w in received(every)["workers"]], cpus, "CPUs without a list")
    listed = Sink("--listen", "127.0.0.1:0", "--threads", 5, "--cpus", ",".join(map(str, reversed(cpus))))
    equal([w["cpu_asked"] for w in received(listed)["workers"]], (cpus[::-1] * 5)[:5], "CPUs of the list")
    free = Sink("--listen", "127.0.0.1:0", "--threads", 2)
    equal([w["cpu_asked"] for w in received(free)["workers"]], [None, None], "CPUs without a word")


# ------------------------------------------------------------------------------------------------------------- connect

def peers(family):
    """Two senders' sockets, not connected; the first will be the peer."""
    return [udp_socket(bind=(LOOPBACK[family], 0)) for _ in range(2)]


@test
@cases(engine=ENGINES, family=LISTEN)
def connect_first(engine, family):
    "R104 --connect, {engine}, {family}: connected to the first sender; what others had queued is drained and counted as foreign"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--connect", "--count", 0)
    peer, other = peers(family)
    to = LOOPBACK[family], sink.port
    with paused(sink):
        for s in [peer] + [other] * 3 + [peer] * 2 + [other] * 2:
            s.sendto(b"queued", to)
    header = sink.record("header")
    equal(header["connect"], {"drained_peer": 3, "drained_foreign": 5}, "drained")
    name = header["sockets"][0]["peer"]
    equal(name.replace("::ffff:", ""), text(*peer.getsockname()[:2]) if family != "mapped" else "[127.0.0.1]:%d" % peer.getsockname()[1],
          "peer")
    turned_away(*to)
    for _ in range(7):
        peer.sendto(b"measured", to)
    total = received(sink)
    equal((total["total"]["datagrams"], total["total"]["bytes"], total["socket_drops"]), (7, 56, 0), "datagrams, bytes, drops")


@test
@cases(threads=[1, 2], family=LISTEN)
@private_net
def connect_given(threads, family):
    "R104 --connect=ADDR:PORT, {threads} thread(s), {family}: others who send between bind(2) and connect(2) are never in the statistics"
    need(family)
    port = free_port()
    peer, other = peers(family)
    host, listen = LOOPBACK[family], LISTEN[family].rpartition(":")[0]
    prefix, _ = strace("bind")
    sink = Sink("--listen", "%s:%d" % (listen, port), "--engine", "recvmsg", "--threads", threads, "--count", 0,
                "--connect=" + text(*peer.getsockname()[:2]), prefix=[*prefix, "-e", "inject=bind:signal=STOP"], ready=False)

    log, stops = prefix[prefix.index("-o") + 1], [0]

    def all_bound():
        """It stops after each bind(2); some are only to try whether the address is free."""
        with open(log, "a+", encoding="utf-8") as f:  # it may not be there yet
            f.seek(0)
            seen = f.read().count("--- stopped by SIGSTOP ---")
        if seen == stops[0]:
            return sink.status() is not None and fail("udp_sink ended with status %s" % sink.status())
        if len(udp_table(port)) < threads:
            stops[0] = seen
            sink.send_signal(signal.SIGCONT)
            return False
        return True
    wait_until(all_bound, what="bound sockets that are not connected")
    for s in [other, peer] * 20:
        s.sendto(b"early", (host, port))
    sink.send_signal(signal.SIGCONT)
    header = sink.record("header")
    equal([port_of(s["peer"]) for s in header["sockets"]], [peer.getsockname()[1]] * threads, "ports of the peers")
    equal(header["connect"], {"drained_peer": 20, "drained_foreign": 20}, "drained")
    turned_away(host, port)
    for _ in range(5):
        peer.sendto(b"late", (host, port))
    settle(sink, port)
    equal(sink.stop(), 0, "exit status")
    equal((sink.sum["total"]["datagrams"], sink.sum["socket_drops"]), (5, 0), "datagrams, drops")


@test
def connect_refused():
    "R105 --connect that cannot be had ends the program: the peer, the cause"
    need_ipv6()
    fault = {**module("libfault"), "FAULT": "connect:EINVAL"}
    refusal("--listen", "127.0.0.1:0", "--connect=127.0.0.1:9", env=fault, words=["connect 127.0.0.1:", "to 127.0.0.1:9", "Invalid argument"])
    refusal("--listen", "127.0.0.1:0", "--connect=[::1]:9", words=["to [::1]:9", "IPv4 only"])
    refusal("--listen", "[::1]:0", "--v6only", "--connect=127.0.0.1:9", words=["to 127.0.0.1:9", "IPv6 only"])
    refusal("--listen", "127.0.0.1:0", "--connect=127.0.0.1", status=2, words=["--connect", "port"])
    refusal("--listen", "127.0.0.1:0", "--connect", "--threads", 2, status=2, words=["--connect", "address"])
    refusal("--listen", "127.0.0.1:0", "--listen", "127.0.0.2:0", "--connect", status=2, words=["--connect", "address"])
    refusal("--listen", "127.0.0.1:0", "--connect", "--connect-each", status=2, words=["--connect", "--connect-each"])


@test
@cases(number=[signal.SIGTERM, signal.SIGINT])
def connect_first_ends(number):
    "R104 --connect and nobody sends: signal {number} ends the wait"
    sink = Sink("--listen", "127.0.0.1:0", "--connect")
    equal(sink.stop(number), 0, "exit status")


def unreachable(family, sink_port, peer_port):
    """The ICMP message that a host sends when nobody listens there: as if the sink had sent to its peer."""
    udp = struct.pack("!HHHH", sink_port, peer_port, 8, 0)
    if family == "v4":
        loop = socket.inet_aton("127.0.0.1")
        quoted = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, loop, loop) + udp
        message = struct.pack("!BBHI", 3, 3, 0, 0) + quoted
        words = struct.unpack("!%dH" % (len(message) // 2), message)
        checksum = sum(words)
        while checksum >> 16:
            checksum = (checksum & 0xffff) + (checksum >> 16)
        message = message[:2] + struct.pack("!H", ~checksum & 0xffff) + message[4:]
        kind, address = (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP), ("127.0.0.1", 0)
    else:
        loop = socket.inet_pton(socket.AF_INET6, "::1")
        message = struct.pack("!BBHI", 1, 4, 0, 0) + struct.pack("!IHBB", 6 << 28, 8, 17, 64) + loop + loop + udp
        kind, address = (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6), ("::1", 0)  # the kernel fills the checksum in
    with socket.socket(*kind) as s:
        s.sendto(message, address)


@test
@cases(family=["v4", "v6"], wait=["block", "poll", "spin"])
@private_net
def connection_refused(family, wait):
    "R105 {family}, --wait {wait}: ECONNREFUSED on a connected socket is counted by every engine, and its run goes on"
    need(family)
    peer, _ = peers(family)
    sink = Sink("--listen", LISTEN[family], "--engine", ",".join(ENGINES), "--wait", wait, "--count", 20, "--batch", 8,
                "--connect=" + text(*peer.getsockname()[:2]))
    peer.connect((LOOPBACK[family], sink.port))
    for i, engine in enumerate(ENGINES):
        for n in range(20):
            if n in (0, 5, 13):
                settle(sink)
                unreachable(family, sink.port, peer.getsockname()[1])
                # The error stays pending in the socket until a call reports it; what comes afterwards is received.
            peer.send(b"%02d" % n)
        total = wait_until(lambda n=i: sink.records("sum")[n:], what="sum of " + engine)[0]
        equal((total["engine"], total["total"]["datagrams"]), (engine, 20), "datagrams")
        got = total["total"]["errors_by_errno"]
        equal(list(got), ["ECONNREFUSED"], "errors of " + engine)
        between(1, got["ECONNREFUSED"], 3, "errors of " + engine)
        equal(total["total"]["errors"], got["ECONNREFUSED"], "errors of " + engine)
    sink.finish()


# -------------------------------------------------------------------------------------------------------- interruptions

def tgkill():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "tgkill"):
        skip("the C library has no tgkill")
    return libc.tgkill


@test
@cases(wait=["block", "poll", "spin"], engine=ENGINES)
def signals(wait, engine):
    "R109 {engine}, --wait {wait}: SIGUSR1 to every thread between all datagrams, stops and continuations: no effect on counts, no exit"
    send = tgkill()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--wait", wait, "--count", 0, "--threads", 2, "--interval", "50ms")
    tids = [int(tid) for tid in os.listdir("/proc/%d/task" % sink.pid)]
    equal(len(tids) >= 3, True, "threads: %r" % tids)
    sender = Sender(sink, flows=4)
    for n in range(400):
        for tid in tids:
            send(sink.pid, tid, signal.SIGUSR1 if n % 2 else signal.SIGUSR2)
        sender.send(b"%d" % n)
        if n % 100 == 50:
            sender.settle()
            with paused(sink):
                sender.send(b"stopped")
    total = received(sink)["total"]
    equal((total["datagrams"], total["bytes"]), (sender.count, sender.bytes), "datagrams, bytes")
    equal(set(total["errors_by_errno"]) <= {"EINTR"}, True, "errors: %r" % total["errors_by_errno"])


CALL = {"recvmmsg": "recvmmsg", "epoll": "recvmmsg", "recvmsg": "recvmsg", "read": "read", "recvfrom": "recvfrom", "recv": "recv"}


@test
@cases(engine=CALL, error=["EINTR", "ECONNREFUSED"])
def errors_are_events(engine, error):
    "R109 {engine}: every third receive call ends with {error}: each is counted, no datagram is lost or counted twice, no exit"
    report = scratch("faults")
    rule = "%s:%s%%3?thread=sink-0" % (CALL[engine], error)
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--count", 60, "--batch", 4, "--waitforone" if engine == "recvmmsg" else "-v",
                env={**module("libfault"), "FAULT": rule, "FAULT_REPORT": report})
    sender = Sender(sink)
    sender.send(*[b"datagram"] * 60)
    total = sink.finish().sum["total"]
    with open(report, encoding="utf-8") as f:
        faults = int(f.read().split("\t")[1])
    equal((total["datagrams"], total["bytes"]), (60, 480), "datagrams, bytes")
    if not faults:
        fail("no fault was made")
    equal(total["errors_by_errno"], {error: faults}, "errors")
    equal(total["errors"], faults, "errors")


main()
