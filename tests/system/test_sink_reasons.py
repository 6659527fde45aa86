# SPDX-License-Identifier: MIT
"""--drop-reasons: losses that the test makes come under the kernel's own reason with the exact number, and nobody else's do."""
import os
import shutil
import signal
import socket
import struct
import subprocess

from harness import (WAIT, Namespace, Program, Sink, Source, between, built, cases, equal, fail, free_port, main, need_ipv6, private_net, skip, socket_drops,
                     strict_json, test, udp_socket, veth, wait_until)
from receiver import Delta
from sender import paused, received, refusal, segmented, settle, sums

LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0"}
HOST = {"v4": "127.0.0.1", "v6": "::1"}
SMALL = ["--rcvbuf", 20000]  # bytes: some tens of datagrams
WHY_NOT = []


def reasoning(*args, **options):
    """A sink that tells reasons; skips where this build or this host cannot."""
    if not WHY_NOT:
        probe = Program([built("udp_sink"), "--listen", "127.0.0.1:0", "--drop-reasons", "--duration", "1ms", "--engine", "recv", "--format", "json"])
        WHY_NOT.append(probe.stderr.strip() if probe.wait() else "")
        if WHY_NOT[0] and not any(w in WHY_NOT[0] for w in ("without BPF", "not permitted", "type information", "no reasons")):
            fail("--drop-reasons: " + WHY_NOT[0])
    if WHY_NOT[0]:
        skip(WHY_NOT[0])
    args = args if "--listen" in args else ("--listen", "127.0.0.1:0", *args)
    return Sink("--drop-reasons", "--count", 0, *args, **options)


def reasons(total, scope="ours"):
    """{reason: (packets, datagrams)} of a record."""
    if total["drop_reasons_missed"]:  # by what else goes on on this host: there is no exact number to compare with
        skip("%d drops were not looked at" % total["drop_reasons_missed"])
    rows = [r for r in total["drop_reasons"] if r["scope"] == scope]
    equal([r["packets"] for r in rows], sorted((r["packets"] for r in rows), reverse=True), "order")
    return {r["reason"]: (r["packets"], r["datagrams"]) for r in rows}


def only(total, expected):
    """These are ours, and there is nothing in doubt."""
    equal({s: reasons(total, s) for s in ("ours", "namespace_unknown", "unparsed")}, {"ours": expected, "namespace_unknown": {}, "unparsed": {}}, "reasons")


def overflow(sink, s, count=200):
    """Sends while the sink stands still, more than fits. Returns how many the socket dropped, as the kernel says."""
    before = socket_drops(s.getpeername()[1])
    with paused(sink):
        for _ in range(count):
            s.send(b"overflow")
    settle(sink, s.getpeername()[1])
    drops = socket_drops(s.getpeername()[1]) - before
    between(1, drops, count - 1, "drops that the test made")
    return drops


def to(sink, family="v4"):
    return udp_socket(peer=(HOST[family], sink.port))


def nobody(port, count, host="127.0.0.1"):
    """Datagrams to a port where nobody listens."""
    with udp_socket(bind=("127.0.0.1", 0)) as s:
        for _ in range(count):
            s.sendto(b"nobody", (host, port))


def tc(words):
    """tc(8) in this namespace; skips where it or what is asked for is not there."""
    if not shutil.which("tc"):
        skip("tc is not installed")
    done = subprocess.run(["tc", *words.split()], capture_output=True, text=True, timeout=WAIT, check=False)
    if done.returncode:
        skip("tc %s: %s" % (words, done.stderr.strip()))
    return done.stdout


def filtered(device):
    """Packets that the action of the device's filter has seen."""
    return int(tc("-s filter show dev %s ingress" % device).split("Sent ")[1].split()[2])


# -------------------------------------------------------------------------------------------------------------- exact

@test
@cases(family=list(LISTEN), engine=["recvmsg", "recvmmsg"])
@private_net
def full_buffer(family, engine):
    "R77 {engine}, {family}: what a full receive buffer drops is SOCKET_RCVBUFF, to the packet"
    if family == "v6":
        need_ipv6()
    sink = reasoning("--listen", LISTEN[family], "--engine", engine, *SMALL)
    drops = overflow(sink, to(sink, family))
    total = received(sink)
    only(total, {"SOCKET_RCVBUFF": (drops, drops)})
    equal((total["socket_drops"], total["total"]["datagrams"]), (drops, 200 - drops), "drops, datagrams")


@test
@private_net
def extension_headers():
    "IPv6 headers before that of UDP are looked through"
    need_ipv6()
    sink = reasoning("--listen", LISTEN["v6"], "--engine", "recvmsg", *SMALL)
    s = to(sink, "v6")
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, bytes([0, 0, 1, 4, 0, 0, 0, 0]))  # a PadN option, RFC 8200
    drops = overflow(sink, s)
    only(received(sink), {"SOCKET_RCVBUFF": (drops, drops)})


@test
@private_net
def super_packets():
    "R50 --gro: a super-packet is one packet and as many datagrams as it has segments"
    sink = reasoning("--engine", "recvmmsg", "--gro", "--rcvbuf", 100000)
    s = to(sink)
    with paused(sink):
        for _ in range(100):
            segmented(s, b"g" * 9500, 1000)
    settle(sink)
    drops = socket_drops(sink.port)
    between(1, drops, 99, "drops that the test made")
    total = received(sink)
    only(total, {"SOCKET_RCVBUFF": (drops, 10 * drops)})
    equal(total["total"]["datagrams"] + 10 * drops, 1000, "datagrams received and dropped")


@test
@private_net
def checksum():
    "R77 datagrams with a wrong checksum are UDP_CSUM"
    sink = reasoning("--engine", "recvmsg")
    before = Delta()
    Source("--sender", "raw", "--bad", "checksum:2", "--payload", 18, "--count", 100, "127.0.0.1:%d" % sink.port).finish()
    wait_until(lambda: before["UdpInCsumErrors"] == 50, what="checksum errors")
    total = received(sink)
    equal(total["total"]["datagrams"], 50, "datagrams")
    only(total, {"UDP_CSUM": (50, 50)})


@test
@private_net
def checksum_late():
    "R77 a long datagram's checksum is seen to be wrong when it is read: UDP_CSUM or, in older kernels, without a reason; of ours or of nobody known"
    sink = reasoning("--engine", "recvmsg")
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP) as s:
        for _ in range(20):
            s.sendto(struct.pack("!HHHH", 7, sink.port, 8 + 200, 1) + bytes(200), ("127.0.0.1", 0))
        settle(sink)
        total = received(sink)  # before the raw socket goes: it has copies, which are purged then
    equal(total["socket_drops"], 20, "drops of the socket")
    found = {**reasons(total), **reasons(total, "namespace_unknown")}
    equal(sum(packets for packets, _ in found.values()), 20, "packets of %r" % found)
    equal(reasons(total, "unparsed"), {}, "unparsed")
    if not set(found) <= {"UDP_CSUM", "NOT_SPECIFIED"}:
        fail("reasons: %r" % found)


@test
@private_net
def no_socket():
    "datagrams to the port of the sink and another address are NO_SOCKET; two reasons come with the larger one first"
    sink = reasoning("--listen", "127.0.0.2:0", "--engine", "recvmsg", *SMALL)
    nobody(sink.port, 12, "127.0.0.1")
    with udp_socket(peer=("127.0.0.2", sink.port)) as s:
        drops = overflow(sink, s)
    total = received(sink)
    only(total, {"NO_SOCKET": (12, 12), "SOCKET_RCVBUFF": (drops, drops)})
    equal([r["reason"] for r in total["drop_reasons"]], ["SOCKET_RCVBUFF", "NO_SOCKET"] if drops > 12 else ["NO_SOCKET", "SOCKET_RCVBUFF"], "order")


@test
@private_net
def way_in():
    "packets to our port that traffic control drops on the way in, before IP has seen them: TC_INGRESS or, in older kernels, without a reason"
    sink = reasoning("--listen", "0.0.0.0:0", "--engine", "recvmsg")
    peer = veth()
    tc("qdisc add dev veth0 clsact")
    tc("filter add dev veth0 ingress protocol ip matchall action drop")
    with peer, udp_socket(bind=("198.18.0.2", 0)) as s:
        for _ in range(15):
            s.sendto(b"in", ("198.18.0.1", sink.port))
    wait_until(lambda: filtered("veth0") >= 15, what="packets at the filter")
    found = reasons(received(sink))
    equal(sum(packets for packets, _ in found.values()), 15, "packets of %r" % found)
    if not set(found) <= {"TC_INGRESS", "NOT_SPECIFIED"}:
        fail("reasons: %r" % found)


@test
@private_net
def way_out():
    "packets to our port that a device's queue drops on the way out: the headers are found behind the Ethernet header"
    sink = reasoning("--listen", "0.0.0.0:0", "--engine", "recvmsg")
    veth()
    tc("qdisc add dev veth0 root tbf rate 8kbit burst 1600 limit 2000")
    with udp_socket(bind=("198.18.0.1", 0)) as s:
        for _ in range(30):
            s.sendto(b"q" * 500, ("198.18.0.2", sink.port))
    shown = tc("-s qdisc show dev veth0")
    dropped = int(shown.split("dropped ")[1].split(",")[0])
    between(1, dropped, 29, "drops of the queue")
    found = reasons(received(sink))
    equal(sum(packets for packets, _ in found.values()), dropped, "packets of %r" % found)
    if not all(name.startswith("QDISC") or name == "NOT_SPECIFIED" for name in found):
        fail("reasons: %r" % found)


# ------------------------------------------------------------------------------------------------------------ whose

@test
@private_net
def nothing_dropped():
    "nothing dropped: an empty list; not asked for: null"
    sink = reasoning("--engine", "recvmsg")
    to(sink).send(b"received")
    total = received(sink)
    equal((total["drop_reasons"], total["drop_reasons_missed"]), ([], 0), "reasons")
    plain = Sink("--listen", "127.0.0.1:0", "--count", 0)
    plain.stop()
    equal((plain.sum["drop_reasons"], plain.sum["drop_reasons_missed"]), (None, None), "reasons without the option")


@test
@private_net
def others():
    "drops of other ports, of other namespaces and of other protocols are not ours"
    sink = reasoning("--listen", "127.0.0.2:0", "--engine", "recvmsg")
    nobody(free_port(), 10)
    with Namespace():
        nobody(sink.port, 20)
    with socket.socket() as s:
        equal(s.connect_ex(("127.0.0.1", sink.port)) != 0, True, "a TCP connection is refused")
    nobody(sink.port, 3)
    only(received(sink), {"NO_SOCKET": (3, 3)})


@test
@private_net
def each_port():
    "--listen twice: the ports of all sockets count"
    sink = reasoning("--listen", "127.0.0.2:0", "--listen", "127.0.0.3:0", "--engine", "epoll")
    for count, port in zip((4, 5), sink.ports):
        nobody(port, count)
    only(received(sink), {"NO_SOCKET": (9, 9)})


def fragment(s, host, ident, flags_offset, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, flags_offset, 64, 17, 0, bytes(4), socket.inet_aton(host))
    s.sendto(header + payload, (host, 0))


@test
@private_net
def fragments():
    "fragments that are never put together: the first one has our port, the others have none, and their datagrams are not known"
    with open("/proc/sys/net/ipv4/ipfrag_time", "w", encoding="ascii") as f:
        f.write("1")  # second
    sink = reasoning("--listen", "127.0.0.2:0", "--engine", "recvmsg")
    before = Delta()
    udp = struct.pack("!HHHH", 7, sink.port, 3000, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
        for ident in range(1, 4):
            fragment(s, "127.0.0.2", ident, 0x2000, udp + bytes(56))       # more follow
            fragment(s, "127.0.0.2", ident, 0x2000 | 64 // 8, bytes(64))
    wait_until(lambda: before["IpReasmFails"] >= 3, what="reassembly that timed out")
    total = received(sink)
    both = {scope: [(r["packets"], r["datagrams"]) for r in total["drop_reasons"] if r["scope"] == scope] for scope in ("ours", "namespace_unknown", "unparsed")}
    equal(both["unparsed"], [(3, None)], "without ports: %r" % total["drop_reasons"])
    equal(both["ours"] + both["namespace_unknown"], [(3, 3)], "with our port: %r" % total["drop_reasons"])


# -------------------------------------------------------------------------------------------------------------- time

@test
@private_net
def each_run():
    "--repeat: each run has what came since the run before"
    sink = reasoning("--listen", "127.0.0.2:0", "--engine", "recvmsg", "--repeat", 3, "--count", 2)
    expected = []
    with udp_socket(peer=("127.0.0.2", sink.port)) as s:
        for run in range(3):
            if run != 1:
                nobody(sink.port, 5 + run)
                expected.append({"NO_SOCKET": (5 + run, 5 + run)})
            else:
                expected.append({})
            s.send(b"1")
            s.send(b"2")
            sums(sink, run + 1)
    sink.finish()
    equal([reasons(r) for r in sink.records("sum")], expected, "reasons of the runs")


@test
@private_net
def before_the_run():
    "--connect: what is dropped while it waits for the first sender is no run's"
    sink = reasoning("--listen", "127.0.0.2:0", "--engine", "recvmsg", "--connect")
    nobody(sink.port, 7)
    with udp_socket(peer=("127.0.0.2", sink.port)) as s:
        s.send(b"first")
        sink.record("header")
        wait_until(lambda: connected(sink.port), what="a connected socket")
        s.send(b"second")
        wait_until(lambda: len(os.listdir("/proc/%d/task" % sink.pid)) > 1, what="a worker")
        nobody(sink.port, 3)
        only(received(sink), {"NO_SOCKET": (3, 3)})


def connected(port):
    with open("/proc/thread-self/net/udp", encoding="ascii") as f:
        return any(line.split()[1].endswith(":%04X" % port) and line.split()[3] == "01" for line in f.readlines()[1:])


# ------------------------------------------------------------------------------------------------------- form, refusal

@test
@private_net
def text():
    "--format text: a line for each reason"
    sink = reasoning("--listen", "127.0.0.2:7777", "--engine", "recvmsg", "--format", "text")
    nobody(7777, 12)
    equal(sink.stop(), 0, "exit status")
    equal([line for line in sink.stdout.splitlines() if "kernel" in line], ["  dropped in the kernel: NO_SOCKET 12 packets, 12 datagrams"], "lines")


@test
def refused():
    "without the privilege, or without sockets, it does not start"
    refusal("--drop-reasons", "--engine", "null", "--count", 10, words=["--drop-reasons", "sockets"])
    refusal("--drop-reasons", "--format", "classic", status=2, words=["--drop-reasons", "classic"])
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        skip("setpriv is not installed")
    prefix = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    sink = Sink("--drop-reasons", "--listen", "127.0.0.1:0", "--count", 1, "--engine", "recv", ready=False, prefix=prefix)
    equal((sink.wait(), sink.stdout, sink.stderr.count("\n")), (1, "", 1), "exit status, output, sentences of " + sink.stderr)
    if not any(w in sink.stderr for w in ("CAP_BPF", "built without BPF", "type information")):
        fail(sink.stderr)


def attached():
    """Numbers of the BPF programs and links of this host that have our names."""
    found = []
    for kind in ("prog", "link"):
        done = subprocess.run([shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin:/sbin"), "-j", kind, "list"], capture_output=True, text=True, timeout=WAIT,
                              check=True)
        found.append({row["id"] for row in strict_json(done.stdout) if row.get("name") == "dropped" or row.get("tp_name") == "kfree_skb"})
    return found


@test
@cases(end=["TERM", "KILL"])
@private_net
def nothing_is_left(end):
    "SIG{end}: neither a program nor a link is left in the kernel"
    if not shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        skip("bpftool is not installed")
    sink = reasoning("--engine", "recvmsg")
    during = attached()
    mine = [{int(i) for i in ids} for ids in owned(sink.pid)]
    equal([bool(m) and m <= d for m, d in zip(mine, during)], [True, True], "program and link of the sink, among %r" % during)
    sink.stop(getattr(signal, "SIG" + end))
    wait_until(lambda: not any(m & a for m, a in zip(mine, attached())), what="program and link gone")


def owned(pid):
    """Numbers of the programs and links whose descriptors a process holds."""
    found = [], []
    for fd in os.listdir("/proc/%d/fdinfo" % pid):
        with open("/proc/%d/fdinfo/%s" % (pid, fd), encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f.read().splitlines() if ":" in line)
        if "link_id" in fields:
            found[1].append(fields["link_id"])
        elif "prog_id" in fields:
            found[0].append(fields["prog_id"])
    return found


main()
