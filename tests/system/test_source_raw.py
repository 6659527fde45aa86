# SPDX-License-Identifier: MIT
"""udp_source --sender raw: packets of our own, fragments and bad ones, held against the kernel's counters of a private namespace, a plain receiver,
udp_sink and tcpdump."""
import collections
import os
import re
import shutil
import signal
import subprocess

from harness import (Program, Sink, Source, between, built, cases, equal, fail, ip, main, module, private_net, scratch, skip, test, veth,
                     wait_until)
from receiver import Delta, Receiver, loopback
from sender import settle
from traffic import send

SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write", "gso"]
RAW = ["--sender", "raw"]
# IPv4 counts raw packets in OutTransmits since that exists, in OutRequests before.
COUNTERS = {
    "v4": {"out": ("IpOutTransmits", "IpOutRequests"), "discards": "IpOutDiscards", "reqds": "IpReasmReqds", "oks": "IpReasmOKs",
           "fails": "IpReasmFails", "timeout": "IpReasmTimeout", "errors": "UdpInErrors", "csum": "UdpInCsumErrors", "ports": "UdpNoPorts",
           "in": "UdpInDatagrams", "icmp": "IcmpOutMsgs"},
    "v6": {"out": ("Ip6OutRequests",), "discards": "Ip6OutDiscards", "reqds": "Ip6ReasmReqds", "oks": "Ip6ReasmOKs",
           "fails": "Ip6ReasmFails", "timeout": "Ip6ReasmTimeout", "errors": "Udp6InErrors", "csum": "Udp6InCsumErrors",
           "ports": "Udp6NoPorts", "in": "Udp6InDatagrams", "icmp": "Icmp6OutMsgs"},
}


class Growth:
    """What the counters of a family have grown by: growth("out")."""

    def __init__(self, family):
        self.names, self.delta = COUNTERS[family], Delta()

    def __call__(self, short):
        name = self.names[short]
        if short != "out":
            return self.delta[name]
        name = next(n for n in name if n in self.delta.before)
        return self.delta[name] - self.delta[self.names["icmp"]]  # what the kernel sends by itself


def sysctl(name, value):
    path = "/proc/sys/net/" + name
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(str(value))
    except OSError as error:
        skip("%s: %s" % (path, error))


def short_reassembly(family):
    """What is incomplete is given up after a second."""
    sysctl("ipv4/ipfrag_time" if family == "v4" else "ipv6/ip6frag_time", 1)


def room_for_fragments(family):
    """8190 fragments of 8 bytes take more than the 4 MiB that are there."""
    sysctl("ipv4/ipfrag_high_thresh" if family == "v4" else "ipv6/ip6frag_high_thresh", 1 << 26)


def queues(family):
    """Datagrams in reassembly in this namespace."""
    with open("/proc/thread-self/net/sockstat" + ("" if family == "v4" else "6"), encoding="ascii") as f:
        return int(re.search(r"^FRAG6?: inuse (\d+)", f.read(), re.MULTILINE).group(1))


# ------------------------------------------------------------------ packets

@test
@cases(family=["v4", "v6"])
@private_net
def accepted_is_what_the_kernel_counts(family):
    "R56 R62 {family}: messages of --sender raw equal the packets of the kernel; every size, batch, flow and thread count arrives as it was sent"
    largest = 65507 if family == "v4" else 65536 - 48
    runs = [["--batch", b, "--payload", size, "--count", 500 if size < 9000 else 5]
            for b, size in ((1, 18), (7, 0), (7, 1), (7, 17), (64, 26), (64, 1472), (3000, 18), (1, largest))]
    runs += [["--threads", 3, "--flows", 7, "--count", 500, "--payload", 30]]
    for args in runs:
        receiver, growth = Receiver(loopback(family)), Growth(family)
        total = send(receiver, *RAW, *args, "--rate", "50k").sum
        size = args[args.index("--payload") + 1]
        equal((total["sent"], total["messages"], total["fragments"], total["incomplete"], total["bad"]),
              (args[args.index("--count") + 1],) * 2 + (0, 0, {}), "sum of %s" % args)
        equal(growth("out"), total["messages"], "packets with %s" % args)
        equal((total["deliverable"], growth("in")), (total["sent"],) * 2, "deliverable, and delivered")
        receiver.check(total, size)


def both_ends(family, foreign=False):
    """A receiver in a second namespace, on veth. foreign: it can answer to nobody, and takes packets from anywhere."""
    peer = veth()
    with peer:
        if foreign:
            for device in ("all", "peer0"):
                sysctl("ipv4/conf/%s/rp_filter" % device, 0)
            ip("route add default dev peer0")
            ip("-6 route add default dev peer0")
        receiver = Receiver("198.18.0.2" if family == "v4" else "2001:db8:0::2")
    Source("--count", 1, receiver.target).finish()  # so that the neighbour is known
    wait_until(receiver.drain, what="the first datagram")
    receiver.got.clear()
    return peer, receiver


@test
@cases(family=["v4", "v6"])
@private_net
def any_source(family):
    "{family}: addresses that this host does not have, times ports: each flow has its own pair, and all arrive with good checksums"
    addresses = "198.19.7.16/29" if family == "v4" else "2001:db8:77::8/125"
    peer, receiver = both_ends(family, foreign=True)
    with peer:
        growth = Growth(family)
    run = send(receiver, *RAW, "--src-range", addresses, "--src-ports", "1-6", "--flows", 48, "--flow-length", 1, "--count", 480,
               "--rate", "20k")
    flows = collections.Counter(d.source[:2] for d in receiver.got)
    equal((len(flows), set(flows.values())), (48, {10}), "flows and datagrams of each")
    equal(({a for a, _ in flows}, {p for _, p in flows}),
          ({("198.19.7.%d" if family == "v4" else "2001:db8:77::%x") % i for i in (range(16, 24) if family == "v4" else range(8, 16))},
           set(range(1, 7))), "addresses and ports")
    equal({(d.source[1], d.header["stream"]) for d in receiver.got}, set(zip(run.record("header")["source_ports"], range(48))),
          "port of each stream")
    receiver.check(run.sum, 18)
    with peer:
        equal((growth("csum"), growth("errors"), growth("in")), (0, 0, 480), "errors, and delivered")
    more = Source(*RAW, "--src-range", addresses, "--src-ports", "1-6", "--flows", 49, receiver.target)
    equal((more.wait(), "no more than 48" in more.stderr), (2, True), "one flow too many")


@test
@private_net
def the_routes_source():
    "without --src-range the source is the one that the route has, with ports from 49152 on"
    _peer, receiver = both_ends("v4")
    run = send(receiver, *RAW, "--flows", 3, "--count", 30, "--batch", 10)
    equal({d.source for d in receiver.got}, {("198.18.0.1", 49152 + i) for i in range(3)}, "sources")
    equal((run.record("header")["source"], run.record("header")["source_ports"]), ("198.18.0.1", [49152, 49153, 49154]), "header")
    nowhere = Source(*RAW, "203.0.113.1:9")
    equal((nowhere.wait(), "no route" in nowhere.stderr), (1, True), "without a route")


@test
@cases(sender=SENDERS)
@private_net
def source_ports(sender):
    "{sender} --src-ports: the flows are bound to the ports asked for, one each"
    receiver = Receiver()
    run = send(receiver, "--sender", sender, "--src-ports", "20000-20004", "--count", 100, "--batch", 4, *(["--gso", 2] if sender == "gso" else []))
    equal({(d.source[1], d.header["stream"]) for d in receiver.got}, {(20000 + i, i) for i in range(5)}, "port of each stream")
    equal(run.record("header")["source_ports"], list(range(20000, 20005)), "header")
    two = send(Receiver(), "--sender", sender, "--src-range", "127.0.0.1-127.0.0.2", "--src-ports", 20000, "--count", 10)
    equal(two.record("header")["source_ports"], [20000, 20000], "one port of two addresses")
    more = Source("--sender", sender, "--flows", 6, "--src-ports", "20000-20004", receiver.target)
    equal((more.wait(), "no more than 5" in more.stderr), (2, True), "one flow too many")


@test
@private_net
def too_large_for_the_mtu():
    "R62 raw: 1472 bytes fit MTU 1500 without a word; 1473 are refused with EMSGSIZE, counted, and announced in one line"
    _peer, receiver = both_ends("v4")
    run = send(receiver, *RAW, "--payload", 1472, "--count", 40)
    equal(run.stderr, "", "stderr at the exact fit")
    run = Source(*RAW, "--payload", 1473, "--count", 40, receiver.target).finish()
    equal((run.sum["attempted"], run.sum["sent"], run.sum["refused"]), (40, 0, {"EMSGSIZE": 40}), "sum")
    equal((run.stderr.count("\n"), "1501" in run.stderr and "1500" in run.stderr), (1, True), "notice")
    run = Source(*RAW, "--payload", 3000, "--fragment", 1488, "--count", 40, receiver.target).finish()
    equal((run.sum["sent"], run.sum["refused"], "1508" in run.stderr), (0, {"EMSGSIZE": 40}, True), "fragments too large")


@test
@cases(family=["v4", "v6"])
@private_net
def a_full_device_queue(family):
    "R58 {family}: what the queueing discipline drops is refused with ENOBUFS, and in IpOutDiscards; the rest arrives"
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    _peer, receiver = both_ends(family)
    made = subprocess.run("tc qdisc add dev veth0 root tbf rate 2mbit burst 2000 limit 3000".split(), capture_output=True, text=True, check=False)
    if made.returncode:
        skip("no tbf here: " + made.stderr.strip())
    growth = Growth(family)
    total = Source(*RAW, "--payload", 100, "--count", 300, receiver.target).finish().sum
    equal(list(total["refused"]), ["ENOBUFS"], "refused")
    equal((total["attempted"], growth("out")), (300, total["messages"] + growth("discards")), "attempted, and packets of the kernel")
    wait_until(lambda: len(receiver.drain()) == total["sent"], what="%d datagrams" % total["sent"])
    receiver.check(total, 100)


# ------------------------------------------------------------------ fragments

@test
@cases(family=["v4", "v6"], order=["forward", "reverse", "odd-even", "random"])
@private_net
def complete_datagrams(family, order):
    "R62 {family} --fragment-order {order}: all are put together again, ReasmOKs says so; sizes 18 to 65507 in fragments of 8 to 1480 bytes"
    sysctl("ipv4/ipfrag_max_dist", 0)
    room_for_fragments(family)
    for size, each in ((18, 8), (18, 24), (100, 16), (1472, 1440), (4416, 8), (4416, 1480), (65507, 1480), (65507, 8)):
        receiver, growth = Receiver(loopback(family), rcvbuf=1 << 27), Growth(family)  # 552 small fragments of a datagram weigh 424 KB
        count, fragments = (200, -(-(size + 8) // each)) if size < 9000 else (3, -(-(size + 8) // each))
        total = send(receiver, *RAW, "--payload", size, "--fragment", each, "--fragment-order", order, "--count", count, "--rate", 2000,
                     "--flows", 2).sum
        what = "%d bytes in fragments of %d: " % (size, each)
        equal((total["sent"], total["messages"], total["fragments"], total["incomplete"], total["bytes"]),
              (count, count * fragments, count * fragments, 0, count * size), what + "sum")
        equal((growth("out"), growth("reqds"), growth("oks"), growth("fails"), growth("in")),
              (count * fragments, count * fragments, count, 0, count), what + "packets, ReasmReqds, ReasmOKs, ReasmFails, InDatagrams")
        receiver.check(total, size)


@test
@private_net
def some_stay_whole():
    "sizes from 10 to 40 with --fragment 24: what fits one packet is none, and no fragment"
    receiver, growth = Receiver(), Growth("v4")
    total = send(receiver, *RAW, "--payload", "18..40", "--fragment", 24, "--count", 2000, "--rate", "50k").sum
    parts = [-(-(d.size + 8) // 24) for d in receiver.got]
    equal(total["messages"], sum(parts), "messages")
    equal(total["fragments"], sum(n for n in parts if n > 1), "fragments")
    equal((growth("reqds"), growth("oks")), (total["fragments"], sum(n > 1 for n in parts)), "ReasmReqds, ReasmOKs")


FAULTS = {
    # options: of every n datagrams one is lost; does the kernel notice at once, or at the time-out?
    "--fragment-hole 10": (10, "timeout"),
    "--fragment-hole 7 --fragment-duplicate 3 --fragment-order random": (7, "timeout"),
    "--fragment-overlap 10": (10, "at once"),
    "--fragment-overlap 5 --fragment-order reverse": (5, "at once"),
    "--fragment-overlap 5 --fragment-order random --fragment-duplicate 2": (5, "at once"),
    "--fragment-duplicate 1": (0, ""),
    "--fragment-duplicate 2 --fragment-order odd-even": (0, ""),
}


@test
@cases(family=["v4", "v6"], options=list(FAULTS))
@private_net
def faulty_fragments(family, options):
    "R65 {family} {options}: udp_sink gets sent - incomplete and misses the numbers of the rest; ReasmOKs, ReasmFails and ReasmTimeout agree"
    every, noticed = FAULTS[options]
    short_reassembly(family)
    sink = Sink("--listen", "%s:0" % ("127.0.0.1" if family == "v4" else "[::1]"), "--engine", "recvmmsg", "--check-sequence", "--count", 0)
    growth, count = Growth(family), 700
    target = "%s:%d" % ("127.0.0.1" if family == "v4" else "[::1]", sink.port)
    total = Source(*RAW, "--payload", 100, "--fragment", 24, *options.split(), "--count", count, "--rate", "20k", "--trailer",
                   target).finish().sum
    lost = count // every if every else 0
    equal((total["sent"], total["incomplete"], total["deliverable"], total["trailers"]), (count, lost, count - lost, 3), "sum")
    equal((total["messages"], total["fragments"]), (growth("out") - 3, growth("reqds")), "messages and fragments; a trailer is one packet")
    equal(growth("oks"), count - lost, "ReasmOKs")
    wait_until(lambda: growth("fails") == lost, what="ReasmFails %d" % lost)
    equal(growth("timeout"), lost if noticed == "timeout" else 0, "ReasmTimeout")
    wait_until(lambda: queues(family) == 0, what="an empty reassembly")
    settle(sink)
    equal(sink.stop(), 0, "exit status of the sink")
    got = sink.sum["total"]
    equal((got["datagrams"], got["seq_in_order"], got["seq_skipped"], got["seq_duplicate"], got["trailers"]),
          (count - lost, count - lost, lost, 0, 3), "datagrams, in order, missing, twice, trailers")
    equal((got["wire_bytes"], sink.sum["socket_drops"]), ((count - lost) * 100, 0), "bytes, and drops of the socket")


@test
@private_net
def bytes_are_what_went_out():
    "the bytes of a hole are not counted: 16 in 24-byte fragments or less, never more than the datagram has"
    total = Source(*RAW, "--payload", 100, "--fragment", 24, "--fragment-hole", 1, "--fragment-order", "random", "--count", 1000,
                   Receiver().target).finish().sum
    # Five fragments of 108 bytes: 16, 24, 24, 24 and 12 bytes of payload; each is the missing one in a fifth of the datagrams.
    between(1000 * (100 - 21.5), total["bytes"], 1000 * (100 - 18.5), "bytes")
    equal((total["sent"], total["deliverable"], total["messages"]), (1000, 0, 4000), "sent")


@test
@private_net
def no_room_for_fragments():
    "R65 a reassembly without memory: nothing arrives, every fragment is in ReasmFails, the source's figures stand"
    sysctl("ipv4/ipfrag_low_thresh", 0)
    sysctl("ipv4/ipfrag_high_thresh", 0)
    receiver, growth = Receiver(), Growth("v4")
    total = Source(*RAW, "--payload", 100, "--fragment", 56, "--count", 100, receiver.target).finish().sum
    equal((total["sent"], total["incomplete"], total["fragments"]), (100, 0, 200), "sum")
    equal((growth("reqds"), growth("oks"), growth("fails"), receiver.drain()), (200, 0, 200, []), "ReasmReqds, ReasmOKs, ReasmFails, received")


@test
@cases(family=["v4", "v6"], which=["first", "middle"])
@private_net
def attack(family, which):
    "{family} --frag-attack {which}: each fragment begins a datagram of its own that is never complete, while good traffic goes on"
    short_reassembly(family)
    receiver, growth, host = Receiver(loopback(family)), Growth(family), loopback(family)
    count, good = 400, 300
    evil = Source(*RAW, "--frag-attack", which, "--fragment", 16, "--payload", 100, "--flows", 3, "--count", count, "--rate", "10k",
                  "[%s]:9" % host if family == "v6" else host + ":9").finish().sum
    equal(queues(family), count, "datagrams in reassembly: each has an id of its own")
    total = send(receiver, *RAW, "--src-range", "127.0.0.9" if family == "v4" else host, "--payload", 100, "--fragment", 56, "--count",
                 good, "--rate", "20k").sum
    receiver.check(total, 100)
    equal((evil["sent"], evil["incomplete"], evil["deliverable"], evil["fragments"], evil["messages"]), (count, count, 0, count, count), "attack")
    equal(evil["bytes"], count * (8 if which == "first" else 16), "bytes")
    equal((growth("reqds"), growth("oks")), (count + 2 * good, good), "ReasmReqds, ReasmOKs")
    wait_until(lambda: growth("timeout") == count, what="%d time-outs" % count)
    equal((growth("fails"), queues(family), total["incomplete"]), (count, 0, 0), "ReasmFails, in reassembly")


@test
@private_net
def ids_are_not_used_twice():
    "IPv4: 65535 datagrams of an attack from 5 flows over 2 addresses are as many ids; the next ones find their queues"
    sysctl("ipv4/ipfrag_high_thresh", 1 << 30)
    sysctl("ipv4/ipfrag_max_dist", 0)
    args = [*RAW, "--frag-attack", "first", "--fragment", 16, "--src-range", "127.0.0.1-127.0.0.2", "--flow-length", 1, "127.0.0.1:9"]
    Source(*args, "--flows", 2, "--count", 20000).finish()
    equal(queues("v4"), 20000, "datagrams in reassembly")
    Source(*args, "--flows", 2, "--count", 2 * 65535, "--seed", 7).finish()
    between(2 * 65535, queues("v4"), 2 * 65535, "datagrams in reassembly: all ids of two addresses")


@test
@private_net
def what_hashes_to_what():
    "R64 several flows in fragments: a line says that ports do not tell them apart; none with several addresses, one flow, or whole packets"
    receiver = Receiver()

    def words(*args):
        return "carry no ports" in Source("--count", 10, "--payload", 100, *args, receiver.target).finish().stderr
    fragments = [*RAW, "--fragment", 56]
    equal([words(*fragments, "--flows", 8), words(*fragments), words(*RAW, "--flows", 8), words(*fragments, "--src-range", "127.0.0.0/29")],
          [True, False, False, False], "notice")


# ------------------------------------------------------------------ bad packets

# kind: what 10 of them add to InErrors, InCsumErrors, NoPorts and the datagrams received, for IPv4 and IPv6.
BAD = {
    "checksum": ((10, 10, 0, 0), (10, 10, 0, 0)),
    "zero-checksum": ((0, 0, 0, 10), (10, 10, 0, 0)),
    "length-short": ((10, 0, 0, 0), (10, 0, 0, 0)),
    "length-long": ((10, 0, 0, 0), (10, 0, 0, 0)),
    "truncated": ((10, 0, 0, 0), (10, 0, 0, 0)),
    "port-zero": ((0, 0, 0, 10), (0, 0, 0, 10)),
    "closed-port": ((0, 0, 10, 0), (0, 0, 10, 0)),
}


@test
@cases(kind=list(BAD), family=["v4", "v6"], size=[18, 1400])
@private_net
def bad_packets(kind, family, size):
    "{kind} {family} {size} bytes: each shows exactly where it must, udp_sink gets exactly the others"
    errors, csum, ports, delivered = BAD[kind][family == "v6"]
    listen = "127.0.0.1:0" if family == "v4" else "[::1]:0"
    sink, growth = Sink("--listen", listen, "--engine", "recvmsg", "--check-sequence", "--count", 0), Growth(family)
    total = Source(*RAW, "--bad", kind + ":3", "--payload", size, "--count", 30, "--rate", 5000,
                   listen.replace(":0", ":%d" % sink.port) if family == "v4" else "[::1]:%d" % sink.port).finish().sum
    equal((total["sent"], total["bad"], total["messages"], total["deliverable"]), (30, {kind: 10}, 30, 20 + delivered), "sum")
    equal(total["bytes"], (20 if kind == "truncated" else 30) * size, "bytes")
    # A wrong checksum of a large datagram is found when it is read.
    wait_until(lambda: growth("in") + growth("csum") >= 20 + delivered + (csum if size > 76 else 0), what="datagrams read")
    settle(sink)
    equal((growth("errors"), growth("csum"), growth("ports"), growth("in")), (errors, csum, ports, 20 + delivered),
          "InErrors, InCsumErrors, NoPorts, InDatagrams")
    equal(sink.stop(), 0, "exit status of the sink")
    got = sink.sum["total"]
    # The last of 30 is bad: when it is lost, nothing that follows shows it.
    equal((got["datagrams"], got["wire_bytes"], got["seq_in_order"], got["seq_skipped"]),
          (20 + delivered, (20 + delivered) * size, 20 + delivered, 0 if delivered else 9), "datagrams, bytes, in order, missing")


@test
@cases(family=["v4", "v6"])
@private_net
def bad_packets_of_all_kinds(family):
    "{family}: several kinds in one run over threads and flows are counted by kind, in text too; received is what is deliverable"
    receiver, growth = Receiver(loopback(family)), Growth(family)
    kinds = "checksum:12,zero-checksum:11,length-short:10,length-long:9,truncated:8,port-zero:7,closed-port:5"
    due = [None] * 100  # of one flow
    for entry in reversed(kinds.split(",")):
        kind, n = entry.split(":")
        due[int(n) - 1::int(n)] = [kind] * (100 // int(n))
    expected = {kind: 6 * n for kind, n in collections.Counter(due).items() if kind}
    args = [*RAW, "--bad", kinds, "--flows", 6, "--threads", 2, "--flow-length", 50, "--count", 600]
    with receiver.running():
        run = Source(*args, "--rate", "10k", receiver.target).finish()
    equal(run.sum["bad"], expected, "bad")
    lost = sum(n for kind, n in expected.items() if not BAD[kind][family == "v6"][3])
    equal((run.sum["sent"], run.sum["deliverable"], len(receiver.got)), (600, 600 - lost, 600 - lost), "sent, deliverable, received")
    for place, index in (("errors", 0), ("csum", 1), ("ports", 2)):
        equal(growth(place), sum(n * BAD[kind][family == "v6"][index] // 10 for kind, n in expected.items()), place)
    equal(sum(d.source[1] == 0 for d in receiver.got), expected["port-zero"], "from port 0")
    text = Source(*args, "--format", "text", receiver.target).finish().stdout
    for kind, n in expected.items():
        if "%d %s" % (n, kind) not in text:
            fail("no %d %s in %s" % (n, kind, text))


@test
@private_net
def the_closed_port():
    "closed-port is the one above the destinations, or 9"
    for ports, expected in (("40000", 40001), ("40000-40009", 40010), ("65535", 9), ("65000-65535", 9)):
        watcher, growth = Receiver(port=expected), Growth("v4")
        total = Source(*RAW, "--bad", "closed-port", "--count", 10, "--dst-ports", ports, "127.0.0.1").finish().sum
        equal((len(watcher.drain()), growth("ports"), total["bad"]), (10, 0, {"closed-port": 10}), "to port %d with %s" % (expected, ports))
        watcher.socket.close()
    equal(Source(*RAW, "--bad", "closed-port", "--dst-ports", "1-65535", "127.0.0.1").wait(), 2, "no port left")


# ------------------------------------------------------------------ refused

REFUSED = {
    "--fragment 24": "only --sender raw",
    "--sender sendmmsg --bad checksum": "only --sender raw",
    "--sender raw --fragment 20": "multiple of 8",
    "--sender raw --fragment 0": "--fragment",
    "--sender raw --fragment 65536": "--fragment",
    "--sender raw --fragment-hole 2": "--fragment BYTES",
    "--sender raw --frag-attack first": "--fragment BYTES",
    "--sender raw --fragment-order reverse": "--fragment BYTES",
    "--sender raw --fragment 24 --fragment-hole 2 --payload 16": "needs 2 fragments",
    "--sender raw --fragment 24 --fragment-overlap 2 --payload 10..100": "needs 2 fragments",
    "--sender raw --fragment 24 --frag-attack middle --payload 40": "needs 3 fragments",
    "--sender raw --fragment 8 --frag-attack first --fragment-hole 2": "not together with --frag-attack",
    "--sender raw --fragment 8 --bad checksum": "not together with --fragment",
    "--sender raw --fragment 8 --df": "--fragment",
    "--sender raw --pmtu 0": "--pmtu 0",
    "--sender raw --gso 4": "cannot carry UDP_SEGMENT",
    "--sender raw --bad nonsense": "--bad nonsense",
    "--sender raw --bad checksum:2,truncated:4": "never come",
    "--sender raw --src-ports 9-8": "--src-ports 9-8",
    "--sender raw --flows 16385": "no more than 16384",
    "--src-ports 0": "--src-ports 0",
}


@test
@cases(options=list(REFUSED))
def refused(options):
    "{options} is refused with a sentence"
    run = Source(*options.split(), "127.0.0.1:9")
    equal((run.wait(), run.stdout), (2, ""), "exit status, output")
    if REFUSED[options] not in run.stderr or run.stderr.count("\n") != 1:
        fail("stderr %r" % run.stderr)


@test
def mapped_is_refused():
    "--sender raw to a mapped address is refused with a sentence"
    run = Source(*RAW, "[::ffff:127.0.0.1]:9")
    equal((run.wait(), "IPv4 address itself" in run.stderr), (2, True), "refused")


@test
@cases(family=["v4", "v6"])
@private_net
def without_privilege(family):
    "{family}: without CAP_NET_RAW a sentence says what would help"
    if not shutil.which("setpriv"):
        skip("setpriv is not installed")
    setpriv = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
    run = Source(*RAW, "127.0.0.1:9" if family == "v4" else "[::1]:9", prefix=setpriv)
    equal(run.wait(), 1, "exit status")
    for word in ("CAP_NET_RAW", "root", "unshare -Urn"):
        if word not in run.stderr:
            fail("no %r in %r" % (word, run.stderr))


@test
@private_net
def automatic():
    "--sender auto becomes raw where nothing else will do, and says so"
    for options, sender in (("--fragment 16", "raw"), ("--bad truncated:10", "raw"), ("--rate 1k", "sendmmsg")):
        run = Source("--sender", "auto", *options.split(), "--count", 10, Receiver().target).finish()
        equal((run.sum["sender"], ("sender: %s" % sender) in run.stderr), (sender, True), options)


# ------------------------------------------------------------------ what the kernel refuses

def faulty(receiver, fault, *args):
    """Runs the source with these faults; returns (sum, number of faults)."""
    report = scratch("faults-%d" % len(os.listdir(scratch("."))))
    with receiver.running():
        run = Source(*RAW, *args, receiver.target, env={**module("libfault"), "FAULT": fault, "FAULT_REPORT": report}).finish()
    with open(report, encoding="utf-8") as f:
        return run.sum, [int(line.split("\t")[1]) for line in f]


@test
@cases(fault=["sendmmsg:short=1", "sendmmsg:short=7", "sendmmsg:EINTR%2,sendmmsg:short=3", "sendmmsg:EAGAIN%3,sendmmsg:short=11"])
@private_net
def calls_that_end_between_fragments(fault):
    "R56 R109 {fault}: a datagram goes on where the call ended; nothing is lost, sent twice or put together wrongly"
    receiver, growth = Receiver(), Growth("v4")
    total, faults = faulty(receiver, fault, "--payload", 100, "--fragment", 24, "--fragment-order", "random", "--count", 1000, "--rate", "50k",
                           "--burst", 8)
    equal((total["sent"], total["messages"], total["refused"], 0 in faults), (1000, 5000, {}, False), "sum")
    equal((growth("out"), growth("reqds"), growth("oks")), (5000, 5000, 1000), "packets, ReasmReqds, ReasmOKs")
    receiver.check(total, 100)


@test
@cases(error=["ENOBUFS", "EPERM", "EMSGSIZE"])
@private_net
def refused_between_fragments(error):
    "R56 R107 {error} in the middle of datagrams: each is refused once, as a whole, its rest is left alone; numbers have no gaps"
    short_reassembly("v4")
    receiver, growth = Receiver(), Growth("v4")
    # 7 packets a call, 5 of a datagram: the refused call begins anywhere in one.
    total, faults = faulty(receiver, "sendmmsg:%s%%6,sendmmsg:short=7" % error, "--payload", 100, "--fragment", 24, "--count", 1000, "--rate", "50k", "--burst", 9)
    equal((total["attempted"], total["refused"]), (1000, {error: faults[0]}), "refused")
    equal(growth("out"), total["messages"], "packets")
    if total["messages"] <= 5 * total["sent"]:
        fail("no datagram was refused in its middle: %r" % total)
    equal((growth("oks"), total["incomplete"]), (total["sent"], 0), "ReasmOKs")
    receiver.check(total, 100)
    wait_until(lambda: queues("v4") == 0, what="an empty reassembly")
    between(1, growth("fails"), faults[0], "ReasmFails")


@test
@private_net
def a_signal_between_fragments():
    "SIGTERM while datagrams of 8190 fragments go out: the sum is what the kernel took"
    room_for_fragments("v4")
    receiver, growth = Receiver(), Growth("v4")
    with receiver.running():
        run = Source(*RAW, "--payload", 65507, "--fragment", 8, "--duration", 60, receiver.target)
        wait_until(lambda: len(receiver.got) > 2, what="datagrams")
        equal(run.stop(signal.SIGTERM), 0, "exit status")
    equal(growth("out"), run.sum["messages"], "packets")
    equal((len(receiver.got) + receiver.drops(), growth("oks")), (run.sum["sent"],) * 2, "received, ReasmOKs")


# ------------------------------------------------------------------ tcpdump

PACKET = {
    "v4": re.compile(r"IP \(tos (?P<tos>0x\w+)\S*, ttl (?P<ttl>\d+), id (?P<id>\d+), offset (?P<offset>\d+), flags \[(?P<flags>.*?)\], "
                     r"proto UDP \(17\), length (?P<length>\d+)\)\s+(?P<src>\S+) > (?P<dst>\S+): (?P<rest>.*)"),
    "v6": re.compile(r"IP6 \((?:class (?P<tos>0x\w+), )?hlim (?P<ttl>\d+), next-header \w+ \(\d+\) payload length: (?P<length>\d+)\) "
                     r"(?P<src>\S+) > (?P<dst>\S+): (?:frag \((?P<id>0x\w+):(?P<offset>\d+)\|\d+\)(?: (?P<ports>\d+ > \d+):)?)?(?P<rest>.*)"),
}


class Watch(Program):
    """tcpdump on an interface of this namespace; packets() waits for n of them."""

    def __init__(self, device, family):
        if not shutil.which("tcpdump"):
            skip("tcpdump is not installed")
        self.family = family
        expression = "ip proto 17" if family == "v4" else "ip6 proto 17 or ip6 proto 44"
        # The kernel's ring has a slot of the snapshot length for each packet: with a small one no packet is missed.
        super().__init__(["tcpdump", "-i", device, "-Z", "root", "-l", "--immediate-mode", "-nn", "-vv", "-t", "-s", "2048", "-B", "8192", expression])
        wait_until(lambda: "listening on" in self.stderr or self.status() is not None, what="tcpdump")
        if self.status() is not None:
            skip("tcpdump cannot watch here: " + self.stderr.strip())

    def packets(self, n):
        def look():
            text = re.sub(r"\n\s+", " ", self.stdout)
            found = [m.groupdict() for m in map(PACKET[self.family].match, text.split("\n")[:-1]) if m]
            return found if len(found) >= n else None
        found = wait_until(look, what="%d packets in tcpdump" % n)
        equal(self.stop(signal.SIGINT), 0, "exit status of tcpdump")
        equal(len(found), n, "packets")
        return found


def watched(family, count, *args, packets=None):
    """One run over veth from 2001:db8:0::1 or 198.18.0.1, port 2000, as tcpdump shows it."""
    peer, receiver = both_ends(family)
    with peer:
        watch = Watch("peer0", family)
    run = send(receiver, *RAW, "--src-ports", 2000, "--count", count, "--rate", "2k", *args)
    return run, receiver, watch.packets(packets or count)


@test
@cases(family=["v4", "v6"], options=["--dscp 46 --ttl 7 --df", "--tos 255", ""])
@private_net
def tcpdump_sees_whole_packets(family, options):
    "{family} '{options}': sizes, addresses, ports, DSCP, TTL, DF and checksums in tcpdump are what was asked"
    run, receiver, packets = watched(family, 200, "--payload", "18..1400", *options.split())
    tos = {"--dscp 46 --ttl 7 --df": 0xb8, "--tos 255": 255, "": 0}[options]
    header, between_ = (28, "198.18.0.1.2000 198.18.0.2.%d") if family == "v4" else (8, "2001:db8::1.2000 2001:db8::2.%d")
    equal([int(p["length"]) - header for p in packets], [d.size for d in receiver.got], "sizes in order")
    equal({int(p["tos"] or "0", 16) for p in packets}, {tos}, "TOS")
    equal({p["ttl"] for p in packets}, {"7" if "ttl" in options else "64"}, "TTL")
    equal({p["src"] + " " + p["dst"] for p in packets}, {between_ % receiver.port}, "from and to")
    equal({"[udp sum ok]" in p["rest"] for p in packets}, {True}, "checksums")
    if family == "v4":
        equal({p["flags"] for p in packets}, {"DF" if "df" in options else "none"}, "flags")
        equal(len({p["id"] for p in packets}), 200, "ids")
    equal(run.sum["bytes"], sum(d.size for d in receiver.got), "bytes")


ORDERS = {"forward": [0, 1, 2, 3, 4], "reverse": [4, 3, 2, 1, 0], "odd-even": [1, 3, 0, 2, 4]}


@test
@cases(family=["v4", "v6"], order=[*ORDERS, "random"])
@private_net
def tcpdump_sees_fragments(family, order):
    "{family} --fragment-order {order}: offsets, lengths, flags, ids and order of fragments in tcpdump are what was asked"
    each, size, count = 104, 420, 60
    _run, _receiver, packets = watched(family, count, "--payload", size, "--fragment", each, "--fragment-order", order, "--dscp", 10,
                                       packets=5 * count)
    extra = 20 if family == "v4" else 8
    orders = set()
    for i in range(0, len(packets), 5):
        group = packets[i:i + 5]
        orders.add(tuple(int(p["offset"]) // each for p in group))
        equal(len({p["id"] for p in group}), 1, "ids of a datagram")
        for p in group:
            last = int(p["offset"]) == 4 * each
            equal(int(p["length"]), extra + (size + 8 - 4 * each if last else each), "length at offset " + p["offset"])
            if family == "v4":
                equal(p["flags"], "none" if last else "+", "flags at offset " + p["offset"])
            if p["offset"] == "0":
                equal("2000" in (p["ports"] if family == "v6" else p["src"]), True, "ports of the first")
    equal({p["tos"] for p in packets}, {"0x28"}, "TOS")
    equal(len({p["id"] for p in packets}), count, "ids")
    if order == "random":
        equal({tuple(sorted(o)) for o in orders}, {(0, 1, 2, 3, 4)}, "fragments of each datagram")
        between(20, len(orders), count, "different orders")
    else:
        equal(orders, {tuple(ORDERS[order])}, "order")


@test
@private_net
def tcpdump_sees_faulty_fragments():
    "overlap, duplicate and hole in tcpdump are where they were asked"
    peer, receiver = both_ends("v4")
    with peer:
        watch = Watch("peer0", "v4")
    args = [*RAW, "--src-ports", 2000, "--payload", 100, "--fragment", 40, "--fragment-overlap", 2, "--fragment-duplicate", 3, "--fragment-hole", 5]
    total = Source(*args, "--count", 6, receiver.target).finish().sum
    groups = collections.defaultdict(list)
    for p in watch.packets(total["messages"]):
        groups[p["id"]].append((int(p["offset"]), int(p["length"]) - 20))
    whole = [(0, 40), (40, 40), (80, 28)]
    overlap = [(0, 40), (40, 40), (72, 36)]
    got = list(groups.values())
    equal(got[:4], [whole, overlap, [whole[0], *whole], overlap], "datagrams 1 to 4")
    equal((len(got[4]), set(got[4]) < set(whole)), (2, True), "datagram 5 has a hole")
    equal(got[5:], [[overlap[0], *overlap]], "datagram 6")
    equal((total["sent"], total["incomplete"], total["deliverable"]), (6, 4, 2), "sum")
    wait_until(lambda: len(receiver.drain()) == 2, what="2 datagrams")


@test
@cases(family=["v4", "v6"])
@private_net
def tcpdump_sees_bad_packets(family):
    "{family}: what is wrong with bad packets in tcpdump is what was asked"
    peer, receiver = both_ends(family)
    with peer:
        watch = Watch("peer0", family)
    signs = {"checksum": r"\[bad udp cksum 0x\w+ -> ", "zero-checksum": r"\[no cksum\]" if family == "v4" else r"\[bad udp cksum 0x0000 -> ",
             "length-short": "truncated-udplength 7", "length-long": r"\[bad udp cksum", "truncated": "truncated-udp 4",
             "port-zero": r"\[udp sum ok\] UDP, length 18", "closed-port": r"\[udp sum ok\] UDP, length 18"}
    for kind in signs:
        Source(*RAW, "--src-ports", 2000, "--bad", kind, "--count", 1, receiver.target).finish()
    for p, (kind, sign) in zip(watch.packets(len(signs)), signs.items()):
        if not re.search(sign, p["rest"]):
            fail("%s: %r" % (kind, p))
        equal((p["src"].endswith(".0"), p["dst"].endswith(".%d" % (receiver.port + 1))), (kind == "port-zero", kind == "closed-port"), "ports of " + kind)
        equal(int(p["length"]) - (20 if family == "v4" else 0), 4 if kind == "truncated" else 26, "length of " + kind)


main()
