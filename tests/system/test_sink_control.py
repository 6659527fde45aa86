# SPDX-License-Identifier: MIT
"""udp_sink and control messages: destination, TOS, TTL, drop count and coalesced buffers, alone and all together, on every family."""
import ctypes
import os
import re
import socket

from harness import (Sink, Source, between, cases, equal, fail, ip, main, need_ipv6, private_net, skip, strace, test, udp_socket, udp_table)
from receiver import namespace_counters
from sender import ENGINES, Sender, check_sums, paused, received, refusal, segmented, sequence, settle, sums

CONTROL = ["recvmsg", "recvmmsg", "epoll"]  # engines that take control messages
LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "mapped": "[::]:0", "dual": "[::]:0"}
ANY = {"v4": "0.0.0.0:0", "v6": "[::]:0", "dual": "[::]:0"}
TARGET = {"v4": "127.0.0.1", "v6": "::1", "mapped": "::ffff:127.0.0.1"}
HOSTS = {"v4": ["127.0.0.1", "127.0.0.2", "127.200.0.1"], "v6": ["::1", "2001:db8::5", "2001:db8::6"]}
HOSTS["dual"] = HOSTS["v4"] + HOSTS["v6"]
OPTIONS = {"--pktinfo": "pktinfo", "--recv-ttl": "ttl", "--recv-tos": "tos", "--rxq-ovfl": "rxq_ovfl", "--gro": "gro"}
IPV6_UNICAST_HOPS, IPV6_TCLASS = 16, 67  # linux/in6.h
UDP_GRO = 104      # linux/udp.h
IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR = 20, 74
PIDFD_GETFD = 438  # asm-generic/unistd.h, the same number everywhere


def need(family):
    if family != "v4":
        need_ipv6()


def more_addresses():
    """Further local addresses for the tests with IPv6, in a private network."""
    if os.path.exists("/proc/sys/net/ipv6"):
        for host in HOSTS["v6"][1:]:
            ip("addr add %s/128 dev lo nodad" % host)


def mark(s, family, tos, ttl):
    """TOS or traffic class, and TTL or hop limit, of what this socket sends. For a mapped address the kernel goes by the IPv4 ones."""
    if family == "v6":
        s.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, tos)
        s.setsockopt(socket.IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl)
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)


def borrow(sink):
    """The sockets of the sink themselves (pidfd_getfd), to see and set what it did not report."""
    libc, found = ctypes.CDLL(None, use_errno=True), []
    if not hasattr(os, "pidfd_open"):
        skip("this Python has no os.pidfd_open")
    inodes = {row["inode"] for row in udp_table(sink.port)}
    try:
        pidfd = os.pidfd_open(sink.pid)
    except OSError as error:
        skip("pidfd_open: %s" % error)
    for number in os.listdir("/proc/%d/fd" % sink.pid):
        link = re.match(r"socket:\[(\d+)\]", os.readlink("/proc/%d/fd/%s" % (sink.pid, number)))
        if not link or int(link.group(1)) not in inodes:
            continue
        fd = libc.syscall(PIDFD_GETFD, pidfd, int(number), 0)
        if fd < 0:
            skip("pidfd_getfd: %s" % os.strerror(ctypes.get_errno()))
        found.append(socket.socket(fileno=fd))
    os.close(pidfd)
    equal(len(found), len(inodes), "sockets of the sink")
    return found


def destinations(total):
    return {d["address"]: (d["datagrams"], d["bytes"]) for d in total["destinations"]}


# ------------------------------------------------------------------------------------------------- all options together

@test
@cases(engine=CONTROL, family=ANY, gro=["", "--gro"])
@private_net
def everything_on(engine, family, gro):
    "R09 R10 {engine}, {family}, every receive option {gro}: no control message is cut; family, destination, TOS, TTL, drops of each datagram"
    need(family)
    more_addresses()
    sink = Sink("--listen", ANY[family], "--engine", engine, "--count", 0, "--rcvbuf", 8000, "--by-destination", "--batch", 4,
                *[o for o in OPTIONS if o != "--gro"], *gro.split())
    equal(set(sink.record("header")["sockets"][0]["receives"].items()) >= {(o, True) for o in OPTIONS.values() if o != "gro" or gro}, True,
          "options that are on")
    # Overflow first: from then on each datagram brings the drop count as well.
    with paused(sink), udp_socket(peer=(HOSTS[family][0], sink.port)) as s:
        for _ in range(100):
            s.send(b"overflow")
    settle(sink)
    expect = {"to": {}, "tos": {}, "ttl": {}}
    for n, host in enumerate(HOSTS[family]):
        tos, ttl = 0x28 + n, 100 + n
        sender = Sender(sink, host)
        mark(sender.sockets[0], "v6" if ":" in host else "v4", tos, ttl)
        sender.send(*[b"x" * 30] * (5 + n))
        sender.settle()
        expect["tos"][str(tos)] = expect["ttl"][str(ttl)] = 5 + n
        expect["to"][host] = (5 + n, 30 * (5 + n))
    total = received(sink)
    check_sums(total)
    overflow = total["total"]["datagrams"] - sum(n for n, _ in expect["to"].values())
    equal(overflow + total["socket_drops"], 100, "received and dropped of the overflow")
    between(1, total["socket_drops"], 99, "drops")
    counters = total["total"]
    equal((counters["ctrunc"], counters["truncated"], total["malformed_control"], total["unreliable"]), (0, 0, 0, False),
          "control messages cut, payloads cut, malformed, unreliable")
    equal(total["rxq_ovfl"], total["socket_drops"], "drop count that came with a datagram")
    expect["tos"]["0"] = expect["ttl"]["64"] = overflow
    first = HOSTS[family][0]
    expect["to"][first] = (expect["to"][first][0] + overflow, expect["to"][first][1] + 8 * overflow)
    equal(total["tos"], expect["tos"], "TOS")
    equal(total["ttl"], expect["ttl"], "TTL")
    equal(destinations(total), expect["to"], "destinations")
    if family != "v4":  # a socket on :: takes both families
        four = sum(n for host, (n, _) in expect["to"].items() if "." in host)
        equal((counters["ipv4"], counters["ipv6"]), (four, counters["datagrams"] - four), "IPv4, IPv6")


@test
@cases(engine=CONTROL, family=["v4", "v6"], gro=["", "--gro"])
def cut_control(engine, family, gro):
    "R09 {engine}, {family} {gro}: control messages that find no room are counted, datagram by datagram, and the run is marked"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--count", 0, "--pktinfo", *gro.split())
    sender = Sender(sink, TARGET[family])
    sender.send(*[b"fits"] * 5)
    sender.settle()
    # Another option of the same socket, of which the sink knows nothing.
    for s in borrow(sink):
        s.setsockopt(*((socket.IPPROTO_IP, IP_RECVORIGDSTADDR) if family == "v4" else (socket.IPPROTO_IPV6, IPV6_RECVORIGDSTADDR)), 1)
        s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        s.close()
    sender.send(*[b"does not"] * 7)
    total = received(sink)
    sender.check(total["total"], "received")
    equal((total["total"]["ctrunc"], total["total"]["truncated"], total["unreliable"]), (7, 0, True), "cut, truncated, unreliable")
    equal(len([n for n in total["notes"] if "7" in n and "control" in n]), 1, "notes that say so in %r" % total["notes"])


@test
@cases(option=["none", *OPTIONS])
def only_what_was_asked(option):
    "R55 option {option}: it is on in the socket, and nothing else is"
    args = [] if option == "none" else [option]
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", *args)
    receives = sink.record("header")["sockets"][0]["receives"]
    equal({k for k, v in receives.items() if v}, {OPTIONS[o] for o in args}, "reported as on")
    s = borrow(sink)[0]
    on = {name for name, level, number in (("pktinfo", socket.IPPROTO_IP, 8), ("ttl", socket.IPPROTO_IP, 12), ("tos", socket.IPPROTO_IP, 13),
                                           ("rxq_ovfl", socket.SOL_SOCKET, 40), ("gro", socket.IPPROTO_UDP, UDP_GRO),
                                           ("stamp", socket.SOL_SOCKET, 35), ("error queue", socket.IPPROTO_IP, 11))
          if s.getsockopt(level, number)}
    equal(on, {OPTIONS[o] for o in args}, "on")


# ------------------------------------------------------------------------------------------------------------- TOS, TTL

@test
@cases(engine=CONTROL, family=TARGET)
def every_tos_and_ttl(engine, family):
    "R15 {engine}, {family}: each of the 256 TOS bytes (DSCP and ECN) and each TTL is counted as what it is"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--count", 0, "--recv-tos", "--recv-ttl")
    sender = Sender(sink, TARGET[family])
    ttls = {}
    for tos in range(256):
        ttl = 1 + tos % 255
        ttls[str(ttl)] = ttls.get(str(ttl), 0) + 1
        mark(sender.sockets[0], family, tos, ttl)
        sender.send(b"%d" % tos)
    total = received(sink)
    equal(total["tos"], {str(tos): 1 for tos in range(256)}, "TOS")
    equal(total["ttl"], ttls, "TTL")
    equal((total["malformed_control"], total["total"]["ctrunc"]), (0, 0), "malformed, cut")
    if family == "mapped":
        equal(total["total"]["ipv4"], 256, "IPv4")


@test
def tos_in_text():
    "R15 R16 the text report shows TOS 0xb9 as DSCP 46 and ECN 1"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 3, "--recv-tos", "--recv-ttl", "--format", "text")
    port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", sink.stderr).group(1))
    sender = Sender(sink, port=port)
    mark(sender.sockets[0], "v4", 0xb9, 77)
    sender.send(b"1", b"2", b"3")
    out = sink.finish().stdout
    for line in ("  TOS 0xb9 (DSCP 46, ECN 1): 3\n", "  TTL 77: 3\n"):
        if line not in out:
            fail("no %r in %s" % (line, out))


@test
@cases(engine=[e for e in ENGINES if e not in CONTROL])
def engines_without(engine):
    "{engine} takes no control messages: what needs them is refused with the reason, --pktinfo and --recv-ttl are taken and left"
    for option in ("--recv-tos", "--rxq-ovfl", "--by-destination", "--gro", "--connect-each"):
        refusal("--port", 0, "--engine", engine, option, words=["engine " + engine, "use "])
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--pktinfo", "--recv-ttl", "--count", 0)
    receives = sink.record("header")["sockets"][0]["receives"]
    equal((receives["pktinfo"], receives["ttl"]), (True, True), "on in the socket")
    sender = Sender(sink)
    sender.send(*[b"x"] * 9)
    total = received(sink)
    sender.check(total["total"], engine)
    equal(total["total"]["ctrunc"], None, "ctrunc")
    equal([n for n in total["notes"] if "--recv-ttl" in n] != [], True, "a note about --recv-ttl in %r" % total["notes"])


# -------------------------------------------------------------------------------------------------------- by destination

@test
@cases(threads=[1, 2])
def table_of_destinations(threads):
    "--by-destination, {threads} thread(s): 3072 addresses have a row, what goes to others is in one number, nothing is lost"
    sink = Sink("--listen", "0.0.0.0:0", "--engine", "recvmmsg", "--count", 0, "--by-destination", "--rcvbuf", "200k", "--threads", threads)
    with udp_socket(bind=("127.0.0.1", 0)) as s:
        for n in range(3300):
            if n % 80 == 0:
                settle(sink)
            s.sendto(b"ab", ("127.%d.%d.1" % (n // 250 + 1, n % 250), sink.port))
    total = received(sink)
    equal((total["total"]["datagrams"], total["socket_drops"]), (3300, 0), "datagrams, drops")
    rows = destinations(total)
    equal(len(rows), 3072, "rows")
    equal(set(rows.values()), {(1, 2)}, "datagrams and bytes of each")
    equal(total["destinations_other"], 3300 - 3072, "others")


# -------------------------------------------------------------------------------------------------------- what it costs

RECEIVE = {"recvmsg": {"recvmsg"}, "recvmmsg": {"recvmmsg", "recvmmsg_time64"}, "epoll": {"recvmmsg", "recvmmsg_time64"}}


@test
@cases(engine=CONTROL, wait=["block", "poll"])
def calls_per_datagram(engine, wait):
    "R09 {engine}, --wait {wait}, all options: no system call per datagram besides the receive call"
    prefix, read = strace("all")
    sink = Sink("--listen", "[::]:0" if os.path.exists("/proc/sys/net/ipv6") else "0.0.0.0:0", "--engine", engine, "--wait", wait, "--batch", 8,
                "--count", 0, "--by-destination", "--recv-tos", "--recv-ttl", "--rxq-ovfl", "--check-sequence", prefix=prefix)
    sender = Sender(sink)
    bursts, size = 4, 40  # each fits into the socket as it is
    for burst in range(bursts):
        with paused(sink):
            for n in range(size):
                sender.sockets[0].send(sequence(7, 1, burst * size + n))
        settle(sink)
    total = received(sink)
    equal((total["total"]["datagrams"], total["total"]["seq_in_order"]), (bursts * size, bursts * size), "datagrams")
    calls = {}
    worker, begun = None, False
    for line in read(sink):
        tid, _, rest = line.partition(" ")
        name = re.match(r"\s*(?:<\.\.\. )?(\w+)(?: resumed>|\()", rest)
        if not name:
            continue
        if "resumed>" in rest:
            continue
        if worker is None and "sink-0" in rest:
            worker = tid
        if tid != worker:
            continue
        begun = begun or name.group(1) in RECEIVE[engine]
        if begun:
            calls[name.group(1)] = calls.get(name.group(1), 0) + 1
    receive = sum(calls.get(name, 0) for name in RECEIVE[engine])
    others = sum(calls.values()) - receive
    equal(receive, total["total"]["calls"], "receive calls, as counted: %r" % calls)
    # Around a sleep there are some, one for each datagram there are not: 10 of a burst of 40 are far from both.
    if others > 10 * bursts + 20:
        fail("%d other calls for %d datagrams: %r" % (others, bursts * size, calls))


# ------------------------------------------------------------------------------------------------- coalesced buffers (GRO)

# Sends of one call each: bytes, and size of its datagrams.
BURSTS = [(12000, 1200), (48000, 1200), (9 * 1200 + 1, 1200), (1, 1200), (1200, 1200), (26 * 64, 26), (26 * 5 + 18, 26), (60000, 20000)]


def burst_datagrams(bursts):
    return sum((size + segment - 1) // segment for size, segment in bursts)


@test
@cases(engine=CONTROL, family=["v4", "v6", "mapped"], wait=["block", "poll"])
@private_net
def gro(engine, family, wait):
    "R18 R49 R50 {engine}, {family}, --wait {wait}, --gro: calls, buffers, datagrams and bytes apart, short last ones counted, none cut"
    need(family)
    sink = Sink("--listen", LISTEN[family], "--engine", engine, "--wait", wait, "--gro", "--count", 0, "--batch", 4)
    before = namespace_counters()
    with udp_socket(peer=(TARGET[family], sink.port)) as s:
        for _ in range(3):
            for size, segment in BURSTS:
                settle(sink)
                segmented(s, b"g" * size, segment)
            settle(sink)
            s.send(b"plain")
            s.send(b"")
    total = received(sink)
    check_sums(total)
    counters, sends = total["total"], 3 * (len(BURSTS) + 2)
    equal(counters["datagrams"], 3 * (burst_datagrams(BURSTS) + 2), "datagrams")
    equal((counters["bytes"], counters["wire_bytes"]), (3 * (sum(b for b, _ in BURSTS) + 5),) * 2, "bytes")
    name = "Udp6InDatagrams" if family == "v6" else "UdpInDatagrams"
    equal(counters["buffers"], namespace_counters()[name] - before[name], "buffers, as " + name)
    equal(counters["buffers"], sends, "buffers, as sent")
    equal((counters["truncated"], counters["empty"], counters["ctrunc"], total["socket_drops"]), (0, 3, 0, 0), "cut, empty, control cut, drops")
    equal(total["rate"]["mean_segments"], float("%.15g" % (counters["datagrams"] / sends)), "mean datagrams per buffer")
    if engine == "recvmsg":
        # The call that the end of the run interrupted may be one more.
        between(sends, counters["calls"] - counters["empty_polls"], sends + 1, "calls that brought something")
    if "+gro" not in total["label"]:
        fail("label %r" % total["label"])


@test
@cases(engine=CONTROL)
def gro_payloads(engine):
    "R18 {engine}, --gro: every datagram of a buffer is checked, the short last one too; --gso of udp_source arrives in order"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--gro", "--count", 0, "--check-sequence", "--rcvbuf", "2M")
    numbers = iter(range(10000))
    with udp_socket(peer=("127.0.0.1", sink.port)) as s:
        for parts in (1, 2, 10, 50):
            settle(sink)
            segmented(s, b"".join(sequence(9, 3, next(numbers), 100) for _ in range(parts)) + sequence(9, 3, next(numbers), 18), 100)
        settle(sink)
        segmented(s, sequence(8, 3, 0, 100) * 3, 100)  # another run: foreign
    first = received(sink)["total"]
    equal((first["datagrams"], first["seq_in_order"], first["seq_skipped"], first["foreign"]), (67, 67, 0, 3), "datagrams, in order")
    equal(first["bytes"], 63 * 100 + 4 * 18, "bytes")
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--gro", "--count", 0, "--check-sequence", "--rcvbuf", "4M")
    sent = Source("--gso", 16, "--count", 3203, "--flows", 3, "--rate", "200k", "127.0.0.1:%d" % sink.port).finish().sum["sent"]
    last = received(sink)
    equal(last["total"]["seq_skipped"] + last["total"]["datagrams"] >= sent - 16 * last["socket_drops"], True, "sent, but for what was dropped")
    if not last["socket_drops"]:
        equal((last["total"]["datagrams"], last["total"]["seq_in_order"]), (sent, sent), "datagrams, in order")


@test
@cases(wait=["block", "poll", "spin"])
def no_gro(wait):
    "R55 --wait {wait}, no --gro: it is off on every engine, and each datagram of a GSO send is a datagram, a buffer, and at most a batch"
    bursts = [(size, segment) for size, segment in BURSTS if segment <= 4096]
    count = burst_datagrams(bursts)
    sink = Sink("--listen", "127.0.0.1:0", "--engine", ",".join(ENGINES), "--wait", wait, "--count", count, "--rcvbuf", "1M")
    for i, engine in enumerate(ENGINES):
        equal([s.getsockopt(socket.IPPROTO_UDP, UDP_GRO) for s in borrow(sink)], [0], "UDP_GRO of " + engine)
        with udp_socket(peer=("127.0.0.1", sink.port)) as s:
            for size, segment in bursts:
                settle(sink)
                segmented(s, b"n" * size, segment)
        total = sums(sink, i + 1)[i]
        counters = total["total"]
        equal((counters["datagrams"], counters["buffers"]), (count, count), engine + ": datagrams, buffers")
        equal((counters["bytes"], total["rate"]["mean_segments"]), (sum(b for b, _ in bursts), 1), engine + ": bytes, datagrams per buffer")
    sink.finish()


@test
def gro_refused():
    "R49 --gro with what would make its buffers too small is refused at the command line"
    for option in (["--buffer-size", 2048], ["--nr-iovec", 2], ["--no-copy"]):
        refusal("--port", 0, "--gro", *option, status=2, words=["--gro", option[0]])
    listing = Sink("--list-engines", "--gro", "--format", "text", ready=False).finish().stdout.splitlines()
    equal([line.split()[:2] for line in listing if line.split()[0] in CONTROL], [[e, "yes"] for e in ("recvmmsg", "recvmsg", "epoll")], "can")
    equal({line.split()[1] for line in listing if line.split()[0] not in CONTROL}, {"no"}, "cannot")


@test
@cases(count=[1, 10, 11])
def gro_count(count):
    "R50 --gro --count {count}: ends with the buffer that reaches it, and counts that whole"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--gro", "--count", count)
    with udp_socket(peer=("127.0.0.1", sink.port)) as s:
        segmented(s, b"x" * 1000, 100)
        if count > 10:
            segmented(s, b"y" * 700, 100)
    counters = sink.finish().sum["total"]
    equal((counters["datagrams"], counters["buffers"]), (10, 1) if count <= 10 else (17, 2), "datagrams, buffers")


main()
