# SPDX-License-Identifier: MIT
"""udp_source: where the traffic goes and how: ranges of destinations and sources, flows, socket options, the choice of the sender."""
import collections
import socket
import struct
import subprocess

from harness import Source, cases, equal, fail, free_port, ip, main, private_net, skip, test, veth, wait_until
from receiver import Receiver
from traffic import fits, runs, send, sequences

MANY = ["sendmmsg", "sendto", "gso"]  # that can send to more than one destination, one of each kind
ETH_P_IP = 0x0800
SO_RCVBUFFORCE = 33


# ------------------------------------------------------------------ destinations

def local_range():
    """All of 198.18.0.0/15 and 2001:db8::/32 belongs to this namespace."""
    ip("route add local 198.18.0.0/15 dev lo")
    ip("-6 route add local 2001:db8::/32 dev lo")


def to_many(receiver, *args):
    """The source's own destinations; returns (address, port) of each datagram in the order they came."""
    with receiver.running():
        run = Source("--port", receiver.port, "--rate", "50k", *args).finish()
    equal((receiver.drops(), run.sum["refused"], len(receiver.got)), (0, {}, run.sum["sent"]), "drops, refused, received")
    equal(len({d.source[1] for d in receiver.got}), run.record("header")["flows"], "source ports")
    return run, [d.to for d in receiver.got]


@test
@cases(sender=MANY, order=["sequential", "random"])
@private_net
def destination_ranges(sender, order):
    "{sender} --dst-range 198.18.5.0/26 --dst-order {order}: every address alike, in turn where that was asked, numbers without gaps"
    local_range()
    receiver = Receiver("0.0.0.0", to=True)
    gso = ["--gso", 4] if sender == "gso" else []
    run, seen = to_many(receiver, "--sender", sender, *gso, "--dst-range", "198.18.5.0/26", "--dst-order", order, "--count", 6400, "--seed", 7)
    together = 4 if gso else 1  # a message of GSO has one destination
    equal(run.record("header")["destinations"], 64, "destinations")
    equal(sequences(receiver)[0], list(range(6400)), "numbers")
    turns = ["198.18.5.%d" % (i // together % 64) for i in range(6400)]
    if order == "sequential":
        equal(seen, turns, "destinations in turn")
    else:
        equal(seen[together - 1::together], seen[::together], "destinations of a message")
        fits(collections.Counter(seen[::together]), dict.fromkeys(turns, 1))


@test
@cases(sender=MANY, length=[1, 12, 500])
@private_net
def flow_length_to_destinations(sender, length):
    "{sender} --flow-length {length}: so many datagrams to one destination, then the next; GSO messages end there"
    local_range()
    receiver = Receiver("0.0.0.0", to=True)
    run, seen = to_many(receiver, "--sender", sender, "--dst-range", "198.18.0.254-198.18.1.1", "--flow-length", length, "--count", 6000)
    expected = ["198.18.0.254", "198.18.0.255", "198.18.1.0", "198.18.1.1"]
    equal(runs(seen), [(expected[i % 4], length) for i in range(6000 // length)], "destinations")
    if sender == "gso":
        equal(run.record("header")["gso"]["obtained"], {1: 1, 12: 12, 500: 125}[length], "datagrams per message")


@test
@private_net
def ranges_of_ipv6_and_ports():
    "--dst-range of IPv6 with --dst-ports: each address with each of its ports in turn"
    local_range()
    port = free_port()
    receivers = [Receiver("::", to=True, port=port + i) for i in range(3)]
    run = Source("--dst-range", "2001:db8::fffe-2001:db8::1:1", "--dst-ports", "%d-%d" % (port, port + 2), "--count", 36,
                 "--rate", 5000).finish()
    equal((run.sum["sent"], run.record("header")["destinations"]), (36, 12), "sent, destinations")
    numbers = {}
    for receiver in receivers:
        for d in receiver.drain():
            numbers[d.header["sequence"]] = (d.to, receiver.port)
    addresses = ["2001:db8::fffe", "2001:db8::ffff", "2001:db8::1:0", "2001:db8::1:1"]
    equal([numbers[i] for i in range(36)], [(addresses[i // 3 % 4], port + i % 3) for i in range(36)], "destinations in turn")


@test
@cases(threads=[2, 3, 5])
@private_net
def threads_share_destinations(threads):
    "{threads} threads, 4 destinations: together they go round, each destination gets its share"
    local_range()
    receiver = Receiver("0.0.0.0", to=True)
    _run, seen = to_many(receiver, "--threads", threads, "--dst-range", "198.18.0.0/30", "--count", 60 * threads)
    equal(collections.Counter(seen), {"198.18.0.%d" % i: 15 * threads for i in range(4)}, "datagrams per destination")


@test
@private_net
def a_range_without_end():
    "--dst-range 2001:db8::/48 --dst-order random: 2^80 destinations, spread over the first 2^64"
    local_range()
    receiver = Receiver("::", to=True)
    _run, seen = to_many(receiver, "--dst-range", "2001:db8::/48", "--dst-order", "random", "--count", 4000, "--seed", 8)
    equal(len(set(seen)), 4000, "different destinations")
    packed = [int.from_bytes(socket.inet_pton(socket.AF_INET6, a), "big") & (1 << 64) - 1 for a in seen]
    fits(collections.Counter(n >> 60 for n in packed), dict.fromkeys(range(16), 1))


# ------------------------------------------------------------------ flows

@test
@cases(sender=["sendmmsg", "gso", "write"], rate=["", "--rate 50k"])
def flow_length(sender, rate):
    "R64 {sender} {rate} --flows 4 --flow-length 10: the flows take turns of exactly ten"
    receiver = Receiver()
    send(receiver, "--sender", sender, *rate.split(), "--flows", 4, "--flow-length", 10, "--batch", 4, "--count", 1005)
    turns = [(i % 4, 10) for i in range(100)] + [(0, 5)]
    equal(runs(d.header["stream"] for d in receiver.got), turns, "turns")


@test
@cases(order=["round-robin", "random", "zipf:1", "zipf:2.5"])
def flow_order(order):
    "R64 --flow-order {order}: how many turns each flow gets"
    receiver = Receiver()
    send(receiver, "--flows", 10, "--flow-length", 3, "--flow-order", order, "--count", 9000, "--seed", 9, "--rate", "60k")
    turns = [d.header["stream"] for d in receiver.got][::3]
    if order == "round-robin":
        equal(turns, [i % 10 for i in range(3000)], "turns")
    exponent = float(order[5:]) if "zipf" in order else 0
    fits(collections.Counter(turns), {i: 1 / (i + 1) ** exponent for i in range(10)})
    for numbers in sequences(receiver).values():
        equal(numbers, list(range(len(numbers))), "numbers")


@test
@cases(option=["--bind", "--src-range"])
def source_addresses(option):
    "R64 {option} 127.0.1.254-127.0.2.1: one flow per address when --flows is not given, else the addresses in turn"
    addresses = ["127.0.1.254", "127.0.1.255", "127.0.2.0", "127.0.2.1"]
    for flows, args in ((4, ()), (6, ("--flows", 6)), (2, ("--flows", 2))):
        receiver = Receiver()
        send(receiver, option, "127.0.1.254-127.0.2.1", *args, "--count", 400, "--batch", 4, "--threads", 2)
        sources = {d.header["stream"]: d.source for d in receiver.got}
        equal([sources[i][0] for i in range(flows)], [addresses[i % 4] for i in range(flows)], "source addresses")
        equal(len(set(sources.values())), flows, "sources")


@test
@private_net
def devices_with_a_dash():
    "--bind ADDR%DEV where the name of DEV has a '-': an address, not a range"
    ip("link add a-b type veth peer name c-d")
    ip("-6 addr add fe80::7/64 dev a-b nodad")
    for device in ("a-b", "c-d"):
        ip("link set %s up" % device)
    receiver = Receiver("::")
    Source("--bind", "fe80::7%a-b", "--count", 5, "[fe80::7%%a-b]:%d" % receiver.port).finish()
    equal(len(receiver.drain()), 5, "datagrams")


# ------------------------------------------------------------------ sockets

@test
@cases(sender=MANY)
def unconnected(sender):
    "{sender} --unconnected: no ICMP error comes back to the socket; the datagrams arrive"
    receiver = Receiver()
    send(receiver, "--sender", sender, "--unconnected", "--count", 100)
    receiver.socket.close()
    total = Source("--sender", sender, "--unconnected", "--count", 1000, receiver.target).finish().sum
    equal((total["sent"], total["refused"]), (1000, {}), "to a closed port")


@test
@cases(options=["--df", "--pmtu 0", "--pmtu 1", "--df --unconnected"])
@private_net
def do_not_fragment(options):
    "{options}: the DF bit on the wire, and what happens above the MTU"
    with veth():
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        receiver = Receiver("198.18.0.2")
    capture.settimeout(5)
    Source(*options.split(), "--count", 3, receiver.target).finish()
    for _ in range(3):
        header = capture.recv(2000)
        equal(bool(header[6] & 0x40), options != "--pmtu 0", "DF of a datagram that fits")
    total = Source(*options.split(), "--count", 3, "--payload", 2000, receiver.target).finish().sum
    if "--df" in options:
        equal((total["sent"], total["refused"]), (0, {"EMSGSIZE": 3}), "above the MTU")
    else:
        equal((total["sent"], total["refused"]), (3, {}), "above the MTU")


@test
@private_net
def marks():
    "--mark: the kernel's rules see it"
    with veth():
        receiver = Receiver("198.18.0.2")
    ip("rule add fwmark 7 prohibit")
    for mark, expected in ((7, (0, {"EACCES": 20})), (8, (20, {}))):
        total = Source("--mark", mark, "--unconnected", "--count", 20, "--rate", 10000, receiver.target).finish().sum
        equal((total["sent"], total["refused"]), expected, "sent and refused with mark %d" % mark)
    refused = Source("--mark", 7, receiver.target).finish(1)
    if "connect" not in refused.stderr or "Permission denied" not in refused.stderr:
        fail("stderr %r" % refused.stderr)


@test
@private_net
def priorities():
    "--priority, also with --dscp, which sets one of its own: the class of an htb qdisc that it names gets the datagrams"
    with veth():
        receiver = Receiver("198.18.0.2")
    for command in ("qdisc add dev veth0 root handle 1: htb", "class add dev veth0 parent 1: classid 1:5 htb rate 1gbit quantum 1500"):
        made = subprocess.run(["tc", *command.split()], capture_output=True, text=True, check=False)
        if made.returncode:
            skip("no htb here: " + made.stderr.strip())

    def packets():
        shown = subprocess.run("tc -s class show dev veth0".split(), capture_output=True, text=True, check=True).stdout
        return int(shown.split("Sent ")[1].split()[2])
    for args in ((), ("--dscp", 46), ("--sendto",)):
        before = packets()
        Source("--priority", 0x10005, "--count", 30, *args, receiver.target).finish()
        equal(packets() - before, 30, "datagrams in class 1:5 with %r" % (args,))
    before = packets()
    Source("--count", 30, receiver.target).finish()
    equal(packets() - before, 0, "datagrams without a priority")


@test
@private_net(user=True)
def what_needs_privilege():
    "R107 --mark and a high --priority without the capability: exit 1 and the option is named"
    receiver = Receiver()
    for args in (("--mark", 1), ("--priority", 7)):
        # The capability in the namespace of our own is enough for both: it is dropped.
        run = Source(*args, receiver.target, prefix=["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all"])
        if run.wait() != 1 or args[0] not in run.stderr:
            fail("status %d, stderr %r" % (run.wait(), run.stderr))


# ------------------------------------------------------------------ the choice of the sender

@test
@cases(options=["", "--gso 1", "--gso 10", "--payload imix", "--payload 0", "--rate 1000", "--dst-range 127.0.0.0/24",
                "--dst-range 127.0.0.0/24 --flow-length 24", "--payload 40000", "--gso max --dst-range 127.0.0.0/24"])
def auto(options):
    "--sender auto {options}: the fastest that can send this, and a line says what and why"
    expected = {"": ("gso", None, "datagrams per message"), "--gso 1": ("sendmmsg", 1, "1 datagram per message"),
                "--gso 10": ("gso", 10, "10 datagrams"), "--payload imix": ("sendmmsg", 1, "sizes vary"),
                "--payload 0": ("sendmmsg", 1, "empty"), "--rate 1000": ("sendmmsg", 1, "rate"),
                "--dst-range 127.0.0.0/24": ("sendmmsg", 1, "another destination"),
                "--dst-range 127.0.0.0/24 --flow-length 24": ("gso", 24, "24 datagrams"),
                "--payload 40000": ("sendmmsg", 1, "no more of this size"), "--gso max --dst-range 127.0.0.0/24": ("gso", None, "per message")}
    sender, segments, words = expected[options]
    receiver = Receiver("0.0.0.0")
    target = [] if "--dst-range" in options else ["127.0.0.1"]
    run = Source("--sender", "auto", *options.split(), "--count", 48, "--port", receiver.port, *target).finish()
    equal(run.sum["sender"], sender, "sender")
    equal(run.sum["gso"]["segments"] in ((segments,) if segments else (64, 128)), True, "segments %r" % run.sum["gso"])
    if words not in run.stderr:
        fail("no %r in %r" % (words, run.stderr))
    equal((run.sum["sent"], len(receiver.drain())), (48, 48), "datagrams")


@test
@private_net
def auto_and_the_mtu():
    "R51 --sender auto: no GSO for datagrams that do not fit the path MTU"
    with veth():
        receiver = Receiver("198.18.0.2")
    ip("link set veth0 mtu 1280")
    run = Source("--sender", "auto", "--payload", 1400, "--count", 20, receiver.target).finish()
    equal((run.sum["sender"], run.sum["sent"], run.sum["gso"]), ("sendmmsg", 20, {"segments": 1, "refused": None}), "sum")
    equal("path MTU" in run.stderr, True, "line in %r" % run.stderr)


@test
@private_net
def on_the_wire():
    "sizes, ports, DSCP and order as a packet socket at the other end of a veth pair sees them, to a range of destinations"
    with veth():
        ip("route add local 198.18.7.0/24 dev lo")
        ip("addr add 198.18.7.1/24 dev lo")
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        receiver = Receiver("0.0.0.0", to=True)
    ip("route add 198.18.7.0/24 via 198.18.0.2")
    capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
    capture.settimeout(5)
    run = Source("--dst-range", "198.18.7.0/28", "--port", receiver.port, "--payload", "18..1472", "--dscp", 46, "--ttl", 9, "--flows", 3,
                 "--flow-length", 5, "--count", 600, "--rate", "20k", "--seed", 10).finish()
    seen = []
    for _ in range(600):
        packet = capture.recv(2000)
        source, to, length = struct.unpack(">HHH", packet[20:26])
        equal((packet[1], packet[8], packet[9]), (46 << 2, 9, 17), "TOS, TTL, protocol")
        seen.append((source, socket.inet_ntoa(packet[16:20]), to, length - 8))
    wait_until(lambda: len(receiver.drain()) == 600, what="600 datagrams")
    equal(seen, [(d.source[1], d.to, receiver.port, d.size) for d in receiver.got], "what came, and what was on the wire")
    ports = run.record("header")["source_ports"]
    equal([s[0] for s in seen], [ports[i // 5 % 3] for i in range(600)], "source ports")
    equal([s[1] for s in seen], ["198.18.7.%d" % (i // 5 % 16) for i in range(600)], "destinations")
    equal(sum(s[3] for s in seen), run.sum["bytes"], "bytes")


main()
