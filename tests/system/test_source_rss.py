# SPDX-License-Identifier: MIT
"""udp_source --spread: the source ports that a receiver sees fall evenly on its queues, by a Toeplitz hash written a second time here."""
import collections
import socket

from harness import Sink, Source, between, cases, equal, fail, main, private_net, test, veth, wait_until
from receiver import Receiver, loopback
from sender import received

# Microsoft, "Verifying the RSS hash calculation".
STANDARD = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")
OTHER = bytes((37 * i + 11) % 256 for i in range(52))


def toeplitz(key, data):
    """Bit by bit, with whole numbers: nothing in common with src/net/toeplitz.c."""
    bits, value = 8 * len(key), int.from_bytes(key, "big")
    found = 0
    for i in range(8 * len(data)):
        if data[i // 8] >> (7 - i % 8) & 1:
            found ^= value >> (bits - 32 - i) & 0xffffffff
    return found


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def queue(source, target, queues, key=STANDARD):
    """The queue of a card with a table of 128 entries that go round the queues."""
    data = address(source[0]) + address(target[0]) + source[1].to_bytes(2, "big") + target[1].to_bytes(2, "big")
    return toeplitz(key, data) % 128 % queues


def seen(receiver, flows):
    """Source of each flow, as the receiver saw it; each has one."""
    sources = collections.defaultdict(set)
    for d in receiver.got:
        sources[d.header["stream"]].add(d.source)
    equal((len(sources), {len(s) for s in sources.values()}), (flows, {1}), "flows, sources of each")
    return [sources[i].pop() for i in range(flows)]


def check(receiver, run, flows, queues, key=STANDARD):
    """Ports seen, by queue: even, and as the header and the line on stderr say."""
    wait_until(lambda: len(receiver.drain()) == run.sum["sent"], what="all datagrams")
    sources = seen(receiver, flows)
    equal(len(set(sources)), flows, "different sources")
    counts = collections.Counter(queue(s, (receiver.address, receiver.port), queues, key) for s in sources)
    spread = run.record("header")["spread"]
    equal(sorted(counts), list(range(min(queues, flows))), "queues")
    least, most = flows // queues, -(-flows // queues)
    equal((min(counts.values()) if flows >= queues else 0, max(counts.values())), (least, most), "flows per queue")
    equal((spread["queues"], spread["flows_least"], spread["flows_most"]), (queues, least, most), "what the header says")
    equal(run.record("header")["source_ports"], [s[1] for s in sources], "source ports of the header")
    line = "--spread: %d flows on %d queues, %d to %d on each" % (flows, queues, least, most)
    if line not in run.stderr:
        fail("no %r in %r" % (line, run.stderr))
    return sources


def vector():
    equal(toeplitz(STANDARD, address("66.9.149.187") + address("161.142.100.80") + (2794).to_bytes(2, "big") + (1766).to_bytes(2, "big")),
          0x51ccc178, "the first vector of the specification")


@test
@cases(family=["v4", "v6"], queues=[1, 4, 6, 16], options=["", "--unconnected", "--threads 2 --sender sendmsg"])
def even_on_queues(family, queues, options):
    "{family} --spread rss:{queues} {options}: 50 flows fall evenly, by a second implementation of the hash"
    vector()
    receiver = Receiver(loopback(family))
    run = Source("--spread", "rss:%d" % queues, "--flows", 50, "--count", 2000, "--rate", "50k", *options.split(), receiver.target).finish()
    check(receiver, run, 50, queues)


@test
@cases(family=["v4", "v6"])
def key_of_a_receiver(family):
    "{family} --rss-key: with another key other ports are even, and the header tells the key"
    receiver, text = Receiver(loopback(family)), ":".join("%02x" % b for b in OTHER)
    run = Source("--spread", "rss:8", "--rss-key", text, "--flows", 40, "--count", 1000, "--rate", "50k", receiver.target).finish()
    check(receiver, run, 40, 8, OTHER)
    equal(run.record("header")["spread"],
          {"receiver": "rss", "queues": 8, "device": None, "key": text, "table": 128, "flows_least": 5, "flows_most": 5}, "spread of the header")


@test
def addresses_and_ports():
    "--src-range and --src-ports: the ports are of that range, the addresses in turn, and each pair is used once"
    receiver = Receiver()
    run = Source("--spread", "rss:8", "--src-range", "127.0.1.0/29", "--src-ports", "20000-20999", "--flows", 256, "--count", 2560, "--rate", "50k",
                 receiver.target).finish()
    sources = check(receiver, run, 256, 8)
    equal([s[0] for s in sources], ["127.0.1.%d" % (i % 8) for i in range(256)], "addresses")
    equal({20000 <= s[1] <= 20999 for s in sources}, {True}, "ports are of the range")


@test
def one_flow_for_each_queue():
    "--spread rss:12 without --flows: 12 flows"
    receiver = Receiver()
    run = Source("--spread", "rss:12", "--count", 1200, "--rate", "50k", receiver.target).finish()
    check(receiver, run, 12, 12)


@test
def ports_in_use():
    "a port that another socket has is passed over for the next one of the same queue"
    receiver, args = Receiver(), ["--spread", "rss:4", "--src-ports", "21000-21999", "--flows", 16, "--count", 320, "--rate", "50k"]
    before = Source(*args, receiver.target).finish()
    taken = [s[1] for s in check(receiver, before, 16, 4)][::3]
    receiver.got.clear()
    others = []
    for port in taken:
        others.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        others[-1].bind(("0.0.0.0", port))
    after = Source(*args, receiver.target).finish()
    sources = check(receiver, after, 16, 4)
    equal(set(taken) & {s[1] for s in sources}, set(), "ports of others")
    for one in others:
        one.close()


@test
@cases(family=["v4", "v6"])
@private_net
def raw_packets(family):
    "{family} --sender raw --spread rss:8: the ports of packets of our own, from addresses that this host does not have"
    with veth():
        receiver = Receiver("198.18.0.2" if family == "v4" else "2001:db8:0::2")
    Source("--count", 1, receiver.target).finish()  # so that the neighbour is known
    wait_until(receiver.drain, what="the first datagram")
    sources = "198.18.0.128/30" if family == "v4" else "2001:db8::80/126"  # of the subnet: no filter of sources minds
    for options, flows in ((["--src-range", sources], 64), ([], 24)):
        receiver.got.clear()
        run = Source("--sender", "raw", "--spread", "rss:8", "--flows", flows, "--count", 10 * flows, "--rate", "20k", *options,
                     receiver.target).finish()
        check(receiver, run, flows, 8)


@test
@private_net
def a_device_without():
    "--spread rss:2:veth0: the device tells neither key nor table: one line says so, and the standard ones are used"
    with veth():
        receiver = Receiver("198.18.0.2")
    run = Source("--spread", "rss:2:veth0", "--flows", 10, "--count", 100, "--rate", "10k", receiver.target).finish()
    header = run.record("header")["spread"]
    if "veth0 does not tell its hash key and indirection table" in run.stderr:
        check(receiver, run, 10, 2)
        equal(header["device"], "veth0", "device")
    else:
        equal(header["key"] == ":".join("%02x" % b for b in STANDARD), False, "this kernel's veth has a key of its own")


@test
@cases(family=["v4", "v6"], workers=[1, 3, 4])
def even_on_workers(family, workers):
    "{family} --spread sink:{workers}: each worker of udp_sink --connect-each gets as many flows"
    sink = Sink("--listen", "[::1]:0" if loopback(family) == "::1" else "127.0.0.1:0", "--engine", "recvmmsg", "--connect-each", "--threads", workers,
                "--rcvbuf", "1M", "--count", 0)
    target = ("[::1]:%d" if family == "v6" else "127.0.0.1:%d") % sink.port
    run = Source("--spread", "sink:%d" % workers, "--flows", 12, "--count", 1200, "--batch", 1, "--rate", "20k", target).finish()
    total = received(sink)
    equal(total["total"]["datagrams"], 1200, "datagrams")
    # A flow has 100. While its socket is made a datagram of it may meet another worker.
    for w in total["workers"]:
        between(1200 // workers - 50, w["counters"]["datagrams"], 1200 // workers + 50, "datagrams of worker %d" % w["index"])
    equal(run.record("header")["spread"], {"receiver": "sink", "queues": workers, "device": None, "key": None, "table": None,
                                           "flows_least": 12 // workers, "flows_most": 12 // workers}, "spread of the header")
    equal("12 flows on %d workers" % workers in run.stderr, True, "line on stderr")


@test
def none_without_the_option():
    "without --spread the header says null"
    receiver = Receiver()
    equal(Source("--count", 1, receiver.target).finish().record("header")["spread"], None, "spread")


@test
def wrong_command_lines():
    "R16 what cannot be is refused with a sentence, and nothing is sent"
    receiver = Receiver()
    key = ":".join(["6d"] * 40)
    for args, status, word in (
            ("--spread reuseport:4", 2, "secret"), ("--spread rss", 2, "rss:Q"), ("--spread rss:0", 2, "1 to 1024"), ("--spread sink:2:lo", 2, "sink:N"),
            ("--spread rss:4:no-such-dev", 1, "no-such-dev"), ("--rss-key " + key, 2, "--spread"), ("--spread sink:2 --rss-key " + key, 2, "--rss-key"),
            ("--spread rss:2:lo --rss-key " + key, 2, "--rss-key"), ("--spread rss:2 --rss-key 6d:5a", 2, "40"),
            ("--spread rss:4 --dst-ports 7-9", 2, "destination"), ("--spread rss:4 --sender raw --fragment 8", 2, "fragments"),
            ("--spread rss:4 --src-ports 20000-20007 --flows 8", 1, "none is left"), ("--spread rss:4 --lite", 2, "--lite")):
        target = "127.0.0.1" if "--dst-ports" in args else receiver.target
        run = Source(*args.split(), target)
        equal((run.wait(), run.stdout), (status, ""), "exit status and output with %s: %s" % (args, run.stderr))
        if word not in run.stderr:
            fail("%s: no %r in %r" % (args, word, run.stderr))
    equal(receiver.drain(), [], "datagrams")


main()
