#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""udp_sink --ledger: known losses, each in its place and nowhere else; what is not known is said to be so."""
import contextlib
import ctypes
import os
import shutil
import socket
import struct
import subprocess

from harness import (Sink, Source, between, cases, equal, fail, main, need_ipv6, private_net, queued, scratch, skip, test, udp_socket, wait_until)
from ledgers import Accounted, flood, lost, quality
from netns import Namespace, veth
from sender import ENGINES, paused, settle

HOST = {"v4": "127.0.0.1", "v6": "::1", "mapped": "127.0.0.1"}
LISTEN = {"v4": "127.0.0.1:0", "v6": "[::1]:0", "mapped": "[::]:0"}
SMALL = ["--rcvbuf", 20000]
LARGE = ["--rcvbuf", "4M"]  # root may: nothing is lost in it
SO_ATTACH_FILTER = 26  # asm-generic/socket.h


def target(family, port):
    return ("[%s]:%d" if ":" in HOST[family] else "%s:%d") % (HOST[family], port)


# ---------------------------------------------------------------------------------------------- the receive buffer

@test
@cases(engine=ENGINES, family=["v4", "v6", "mapped"])
@private_net
def receive_buffer(engine, family):
    "R78 R87 {engine} {family}: a sink that stands still: the receive buffer, exactly, as the kernel and the sequence numbers say"
    if family != "v4":
        need_ipv6()
    a = Accounted("--listen", LISTEN[family], "--engine", engine, "--check-sequence", *SMALL)
    with paused(a.sink):
        sent = a.add(Source("--count", 1000, target(family, a.port)).finish()).sum["sent"]
    settle(a.sink)
    Source("--count", 10, target(family, a.port)).finish()  # of another run: foreign to --check-sequence, and not among what was sent
    total = a.end()
    ledger = total["ledger"]
    n = total["socket_drops"]
    between(1, n, 999, "drops that the test made")
    equal((sent, total["total"]["foreign"]), (1000, 10), "sent, foreign")
    equal((quality(ledger, "rcvbuf"), ledger["received"]), ("exact", 1000 - n), "receive buffer")
    lost(ledger, rcvbuf=n)
    equal([note for note in total["notes"] if note.startswith("sequence numbers say")],
          ["sequence numbers say %d missing, the ledger says %d lost (trailers that were lost are in no gap, and no ledger can count what had no number)"
           % (total["missing_at_least"], n)] if total["missing_at_least"] != n else
          ["sequence numbers say %d missing, the ledger says %d lost" % (n, n)], "note")


@test
@cases(engine=ENGINES, batch=[1, 64], threads=[1, 2])
@private_net
def balanced(engine, batch, threads):
    "R69 R72 {engine}, batch {batch}, {threads} threads: trailers tell what was sent; overload by a GSO source; residual 0"
    sink = Sink("--ledger", "--engine", engine, "--batch", batch, "--threads", threads, "--listen", "127.0.0.1:0", "--until-quiet", "200ms", *SMALL)
    source = Source("--trailer", "--flows", 8, "--count", 100000, "--sender", "auto", "127.0.0.1:%d" % sink.port).finish()
    equal(sink.wait(), 0, "exit status")
    ledger = sink.sum["ledger"]
    between(1, ledger["drops"]["rcvbuf"], 100000, "drops that the test made")
    equal((ledger["sent"], ledger["trailers_sent"]), (source.sum["sent"], source.sum["trailers"]), "sent, trailers")
    lost(ledger, rcvbuf=sink.sum["socket_drops"])


@test
@cases(engine=["recvmsg", "recvmmsg", "epoll"], family=["v4", "v6"])
@private_net
def gro_is_derived(engine, family):
    "R50 {engine} {family} --gro: the socket drops whole buffers: datagrams from what arrived at IP, held against sent"
    if family == "v6":
        need_ipv6()
    a = Accounted("--listen", LISTEN[family], "--engine", engine, "--gro", "--rcvbuf", 100000)
    with paused(a.sink):
        source = a.add(Source("--sender", "gso", "--count", 10000, "--payload", 1000, target(family, a.port)).finish())
    total = a.end()
    ledger, place = total["ledger"], total["ledger"]["places"]["rcvbuf"]
    between(1, place["packets"], 10000, "buffers dropped")
    equal(place["packets"], total["socket_drops"], "packets are the socket's drops")
    equal((place["quality"], place["datagrams"]), ("derived", source.sum["sent"] - total["total"]["datagrams"]), "datagrams")
    lost(ledger, rcvbuf=place["datagrams"])


@test
@private_net
def gro_cannot_hide_a_residual():
    "R50 --gro: datagrams that the source says it sent and nobody has seen stay a residual"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--gro", "--rcvbuf", 100000)
    flood(a, "--sender", "gso", "--payload", 1000, count=10000)
    a.records = a.records.replace('"sent":10000', '"sent":10007')
    ledger = a.ledger()
    equal(ledger["residual"], 7, "residual of %r" % ledger)
    equal(ledger["verdict"].startswith("unbalanced by 7"), True, ledger["verdict"])


# -------------------------------------------------------------------------------------------------- other places

@test
@private_net
def no_port():
    "R87 datagrams to a port without a socket: there, with the port to look at, and the ICMP errors that come back confuse nothing"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *LARGE)
    a.add(Source("--dst-ports", "%d-%d" % (a.port, a.port + 1), "--count", 1000, "127.0.0.1").finish())
    lost(a.ledger(), no_port=500)


@test
@private_net
def no_port_of_gso():
    "R50 closed port and a GSO source: the kernel counts packets, the ledger datagrams"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg")
    a.add(Source("--count", 10, "127.0.0.1:%d" % a.port).finish())
    a.add(Source("--sender", "gso", "--count", 1000, "127.0.0.1:%d" % (a.port + 1)).finish())
    ledger = a.ledger()
    place = ledger["places"]["no_port"]
    between(1, place["packets"], 999, "packets")
    equal((place["datagrams"], place["quality"]), (1000, "derived"), "datagrams of %r" % ledger)
    lost(ledger, no_port=1000)


BAD = {"checksum": "csum", "zero-checksum": "csum", "length-long": "header", "truncated": "header", "closed-port": "no_port"}


@test
@cases(kind=BAD, family=["v4", "v6"], payload=[40, 400])
@private_net
def bad_packets(kind, family, payload):
    "R78 {kind}, {family}, {payload} bytes: in its place, whether the kernel finds it before or after the socket"
    if family == "v6":
        need_ipv6()
    a = Accounted("--listen", LISTEN[family], "--engine", "recvmsg", *LARGE)
    run = a.add(Source("--sender", "raw", "--bad", "%s:4" % kind, "--payload", payload, "--count", 400, target(family, a.port)).finish())
    bad = sum(run.sum["bad"].values())
    equal(bad, 100, "bad packets")
    if kind == "zero-checksum" and family == "v4":
        lost(a.ledger())  # there it means that there is none
    else:
        lost(a.ledger(), **{BAD[kind]: bad})


def filter_of(sink, program):
    """Attaches a classic BPF program to the sink's socket from outside: with a copy of its descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = libc.syscall(434, sink.pid, 0)  # pidfd_open
    for name in os.listdir("/proc/%d/fd" % sink.pid):
        with contextlib.suppress(OSError):
            if "socket:" not in os.readlink("/proc/%d/fd/%s" % (sink.pid, name)):
                continue
        fd = libc.syscall(438, pidfd, int(name), 0)  # pidfd_getfd
        if fd < 0:
            skip("pidfd_getfd: " + os.strerror(ctypes.get_errno()))
        with socket.socket(fileno=fd) as s:
            if s.type == socket.SOCK_DGRAM and s.family in (socket.AF_INET, socket.AF_INET6) and s.getsockname()[1] == sink.port:
                code = b"".join(struct.pack("=HBBI", *i) for i in program)
                memory = ctypes.create_string_buffer(code)
                s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("@HP", len(program), ctypes.addressof(memory)))
                os.close(pidfd)
                return
    fail("the sink has no socket on its port")


# Low byte of the sequence number, 8 bytes of UDP header before the payload: every 4th is dropped.
EVERY_4TH = [(0x30, 0, 0, 8 + 17), (0x45, 1, 0, 3), (0x06, 0, 0, 0), (0x06, 0, 0, 0xffff)]


@test
@cases(sender=["sendmmsg", "gso"])
@private_net
def socket_filter(sender):
    "{sender}: a filter on the socket drops every 4th: no counter of the kernel's has a name for it, the ledger has"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *LARGE)
    filter_of(a.sink, EVERY_4TH)
    a.add(Source("--sender", sender, "--count", 1000, "127.0.0.1:%d" % a.port).finish())
    ledger = a.ledger()
    lost(ledger, filter=250)
    equal(quality(ledger, "filter"), "exact", "quality")


@test
@private_net
def two_at_once():
    "R78 R87 a full receive buffer, a filter and a closed port in one window: each its own"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *SMALL)
    filter_of(a.sink, EVERY_4TH)
    flood(a)
    settle(a.sink)
    a.add(Source("--count", 30, "127.0.0.1:%d" % (a.port + 1)).finish())
    total = a.end()
    # What came while there was room was filtered too: every 4th of those that were not turned away, and the kernel looks at the filter first.
    lost(total["ledger"], filter=250, rcvbuf=total["socket_drops"] - 250, no_port=30)


@test
@private_net
def checksums_and_a_full_buffer():
    "R78 wrong checksums and a full receive buffer in one window"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *SMALL)
    with paused(a.sink):
        a.add(Source("--sender", "raw", "--bad", "checksum:2", "--payload", 40, "--count", 600, "127.0.0.1:%d" % a.port).finish())
    total = a.end()
    between(1, total["socket_drops"], 299, "drops that the test made")
    lost(total["ledger"], csum=300, rcvbuf=total["socket_drops"])


@test
@private_net
def reassembly():
    "R65 fragments withheld: in reassembly while they wait, lost there when their time is over"
    with open("/proc/sys/net/ipv4/ipfrag_time", "w", encoding="ascii") as f:
        f.write("1")
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--interval", "100ms", *LARGE)
    run = a.add(Source("--sender", "raw", "--payload", 1000, "--fragment", 400, "--fragment-hole", 10, "--count", 200, "--rate", "10k",
                       "127.0.0.1:%d" % a.port).finish())
    equal(run.sum["incomplete"], 20, "incomplete datagrams")
    wait_until(lambda: sum(r["ledger"]["drops"]["reassembly"] or 0 for r in a.sink.records("period")) == 20, what="time-out of reassembly")
    lost(a.ledger(), reassembly=20)


@test
@private_net
def still_in_reassembly():
    "R65 fragments withheld and not given up yet: still in reassembly, which is no loss"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmsg", *LARGE)
    a.add(Source("--sender", "raw", "--payload", 1000, "--fragment", 400, "--fragment-hole", 10, "--count", 100, "--rate", "10k",
                 "127.0.0.1:%d" % a.port).finish())
    total = a.end()
    lost(total["ledger"], reassembling=10)
    equal(total["ledger"]["lost_at_least"], 0, "lost")


@test
@private_net
def reverse_path():
    "datagrams from an address that the route back does not lead to: the reverse path filter"
    peer = veth()
    with open("/proc/sys/net/ipv4/conf/veth0/rp_filter", "w", encoding="ascii") as f:
        f.write("1")
    a = Accounted("--listen", "198.18.0.1:0", "--engine", "recvmsg", *LARGE)
    with peer:
        subprocess.run(["ip", "addr", "add", "198.18.77.1/32", "dev", "lo"], check=True)
        a.add(Source("--count", 100, "198.18.0.1:%d" % a.port).finish())
        a.add(Source("--count", 40, "--bind", "198.18.77.1", "198.18.0.1:%d" % a.port).finish())
    lost(a.ledger(), rp_filter=40)


@test
@cases(sender=["sendmmsg", "write"])
@private_net
def sending_host(sender):
    "R58 {sender}: the sender's queueing discipline dropped: there, not at the sink; trailers alone cannot tell, and that is said"
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    peer = veth()
    a = Accounted("--listen", "198.18.0.1:0", "--engine", "recvmsg", *LARGE)
    with peer:
        a.add(Source("--count", 1, "198.18.0.1:%d" % a.port).finish())
        made = subprocess.run(["tc", "qdisc", "add", "dev", "peer0", "root", "tbf", "rate", "2mbit", "burst", "2000", "limit", "3000"],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            skip("no such queueing discipline here: " + made.stderr.strip())
        run = a.add(Source("--sender", sender, "--payload", 100, "--count", 500, "198.18.0.1:%d" % a.port).finish())
        dropped = run.sum["local_loss"]["qdisc_drops"]
        between(1, dropped, 499, "drops that the test made")
        # What is left in the discipline comes within some milliseconds: the interface counts it.
        wait_until(lambda: "backlog 0b 0p" in subprocess.run(["tc", "-s", "qdisc", "show", "dev", "peer0"], capture_output=True, text=True,
                                                             check=True).stdout, what="empty queueing discipline")
    lost(a.ledger(), qdisc=dropped)


@test
@private_net
def hidden_loss_is_said():
    "R58 R87 without the word of the sending host: unbalanced by what it dropped, with where to look"
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    peer = veth()
    sink = Sink("--ledger", "--listen", "198.18.0.1:0", "--engine", "recvmsg", "--until-quiet", "500ms")
    with peer:
        made = subprocess.run(["tc", "qdisc", "add", "dev", "peer0", "root", "tbf", "rate", "2mbit", "burst", "2000", "limit", "3000"],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            skip("no such queueing discipline here: " + made.stderr.strip())
        Source("--trailer", "--payload", 100, "--count", 500, "--rate", "3k", "198.18.0.1:%d" % sink.port).wait()
    equal(sink.wait(), 0, "exit status")
    ledger = sink.sum["ledger"]
    if not ledger["sent"]:
        skip("no trailer came through the full discipline")
    between(1, ledger["residual"], 499, "residual of %r" % ledger)
    equal(("unbalanced by" in ledger["verdict"], "--sent-from" in ledger["verdict"]), (True, True), ledger["verdict"])


# -------------------------------------------------------------------------------------------------- what is known

@test
@private_net
def without_a_word():
    "R69 nobody told how many were sent: null, not determinable, and a lower bound"
    sink = Sink("--ledger", "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--count", 0, *SMALL)
    with paused(sink):
        Source("--count", 500, "127.0.0.1:%d" % sink.port).finish()
    settle(sink)
    equal(sink.stop(), 0, "exit status")
    ledger = sink.sum["ledger"]
    equal((ledger["sent"], ledger["residual"], ledger["trailers_sent"]), (None, None, None), "not known")
    equal(ledger["lost_at_least"], sink.sum["socket_drops"], "lower bound")
    equal(ledger["verdict"].startswith("not determinable"), True, ledger["verdict"])


@test
@private_net
def tail_loss():
    "R69 the last part of a stream is lost: the trailers tell, although no gap shows it"
    sink = Sink("--ledger", "--check-sequence", "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--until-quiet", "300ms", *SMALL)
    source = Source("--trailer", "--count", 20000, "--sender", "gso", "127.0.0.1:%d" % sink.port).finish()
    equal(sink.wait(), 0, "exit status")
    total = sink.sum
    lost(total["ledger"], rcvbuf=total["socket_drops"])
    equal(total["ledger"]["sent"], source.sum["sent"], "sent")
    missing = 20000 - total["total"]["datagrams"]
    equal(total["missing_at_least"], missing, "missing by sequence numbers")


@test
@private_net
def intervals_are_not_judged():
    "R70 intervals have a ledger without a verdict; they add up to that of the end"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--interval", "50ms", *SMALL)
    for _ in range(3):
        flood(a)
        settle(a.sink)
    total = a.end()
    periods = [r["ledger"] for r in a.sink.records("period")]
    equal({p["verdict"] for p in periods}, {"not judged"}, "verdicts")
    equal({p["sent"] for p in periods}, {None}, "sent")
    equal(sum(p["received"] for p in periods), total["ledger"]["received"], "received")
    equal(sum(p["drops"]["rcvbuf"] for p in periods), total["ledger"]["drops"]["rcvbuf"], "receive buffer")
    lost(total["ledger"], rcvbuf=total["socket_drops"])


@test
@private_net
def queued_is_read_first():
    "R70 SIGTERM: what waits in the receive buffer is read, and the run is judged"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--rcvbuf", "1M")
    flood(a, count=500)
    total = a.end(drained=False)
    equal(total["ledger"]["received"], 500, "received")
    lost(total["ledger"])


@test
@private_net
def stopped_with_datagrams_queued():
    "R70 a sink too slow to read what is queued is not judged, and says so"
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--rcvbuf", "1M", "--work", "10ms")
    flood(a, count=500)
    ledger = a.end(drained=False)["ledger"]
    equal(ledger["queued"], None, "queued")
    equal(ledger["verdict"].startswith("not judged: stopped with"), True, ledger["verdict"])


@test
@private_net
def until_quiet():
    "R70 --until-quiet: waits for the first datagram, ends when no more come, counts all"
    sink = Sink("--ledger", "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--until-quiet", "300ms")
    for _ in range(3):
        Source("--count", 100, "127.0.0.1:%d" % sink.port).finish()
    equal(sink.wait(), 0, "exit status")
    equal(sink.sum["total"]["datagrams"], 300, "datagrams")


@test
@private_net
def several_runs():
    "R69 each run has its own ledger and its own sources"
    sink = Sink("--ledger", "--engine", "recvmmsg", "--repeat", 3, "--listen", "127.0.0.1:0", "--until-quiet", "200ms", *SMALL)
    for n in range(1, 4):
        Source("--trailer", "--count", 1000 * n, "--rate", "100k", "127.0.0.1:%d" % sink.port).finish()
        wait_until(lambda: len(sink.records("sum")) >= n, what="sum %d" % n)  # pylint: disable=cell-var-from-loop
    equal(sink.wait(), 0, "exit status")
    for n, total in enumerate(sink.records("sum"), 1):
        equal(total["ledger"]["sent"], 1000 * n, "sent")
        lost(total["ledger"], rcvbuf=total["socket_drops"])


@test
@private_net
def several_sources():
    "R69 two sources at once: their trailers add up"
    sink = Sink("--ledger", "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--until-quiet", "300ms", *SMALL)
    sources = [Source("--trailer", "--count", n, "--rate", "50k", "127.0.0.1:%d" % sink.port) for n in (5000, 7000)]
    for source in sources:
        source.finish()
    equal(sink.wait(), 0, "exit status")
    equal((sink.sum["ledger"]["sent"], sink.sum["ledger"]["trailers_sent"]), (12000, 6), "sent, trailers")
    lost(sink.sum["ledger"], rcvbuf=sink.sum["socket_drops"])


@test
@private_net
def sent_from_a_pipe():
    "R69 --sent-from FD: the source's records through a pipe; its end ends the reading"
    read, write = os.pipe()
    sink = Sink("--ledger", "--sent-from", read, "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--until-quiet", "300ms", pass_fds=[read])
    os.close(read)
    run = Source("--count", 1000, "127.0.0.1:%d" % sink.port).finish()
    os.write(write, run.stdout.encode())
    os.close(write)
    equal(sink.wait(), 0, "exit status")
    equal(sink.sum["ledger"]["sent"], 1000, "sent")
    lost(sink.sum["ledger"], rcvbuf=sink.sum["socket_drops"])


# ------------------------------------------------------------------------------------------------------- others

@test
@private_net
def other_namespace():
    "R84 heavy traffic and losses in another namespace change nothing here"
    other = Namespace()
    with other:
        noise = Sink("--engine", "recvmsg", "--listen", "127.0.0.1:0", "--count", 0, *SMALL)
        flooding = Source("--duration", "10s", "127.0.0.1:%d" % noise.port)
        closed = Source("--duration", "10s", "--rate", "1k", "127.0.0.1:%d" % (noise.port + 1))
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *SMALL)
    flood(a)
    total = a.end()
    for program in (flooding, closed):
        program.stop()
    lost(total["ledger"], rcvbuf=total["socket_drops"])
    with other:
        theirs = noise.records("header")[0]["netns_cookie"]
    equal(a.sink.records("header")[0]["netns_cookie"] != theirs, True, "number of the namespace")


@test
@private_net
def others_in_our_namespace():
    "R79 R84 another socket that reads and drops in our namespace: our sockets' drops are ours, and what cannot be told is not guessed"
    reader = udp_socket(bind=("127.0.0.1", 0))
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 5000)
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmmsg", *SMALL)
    with udp_socket(peer=reader.getsockname()) as noise:
        for _ in range(100):
            noise.send(b"noise")
    reader.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            reader.recv(100)
    flood(a)
    total = a.end()
    lost(total["ledger"], rcvbuf=total["socket_drops"])
    equal(total["ledger"]["others"] > 0, True, "reads of others: %r" % total["ledger"])


# ------------------------------------------------------------------------------------------------------- people

@test
@private_net
def overload_or_burst():
    "R92 a buffer that is always full is an overload, which a larger one does not cure; one that overflows once met a burst"
    sink = Sink("--engine", "recvmsg", "--work", "1ms", "--listen", "127.0.0.1:0", "--until-quiet", "300ms", *SMALL)
    Source("--duration", "1500ms", "--rate", "5k", "127.0.0.1:%d" % sink.port).wait()  # 3 on a machine that cannot keep the rate
    equal(sink.wait(), 0, "exit status")
    notes = " ".join(sink.sum["notes"])
    equal(("sustained overload" in notes, "--rcvbuf does not" in notes), (True, True), notes)
    a = Accounted("--listen", "127.0.0.1:0", "--engine", "recvmsg", *SMALL)
    flood(a)
    notes = " ".join(a.end()["notes"])
    equal(("sustained" in notes, "--rcvbuf helps" in notes), (False, True), notes)


@test
@private_net
def text_says_the_same():
    "R72 R87 the table for people has the numbers of the record, the place and what to look at"
    sink = Sink("--format", "text", "--ledger", "--engine", "recvmmsg", "--listen", "127.0.0.1:0", "--until-quiet", "300ms", "--port", 6666, *SMALL)
    port = int(sink.stderr.split("listening on 127.0.0.1:")[1].split(",")[0])
    Source("--trailer", "--sender", "gso", "--count", 20000, "127.0.0.1:%d" % port).finish()
    equal(sink.wait(), 0, "exit status")
    rows = {line[4:38].strip(): line[38:].split() for line in sink.stdout.splitlines() if line.startswith("  ")}
    full, read = rows["receive buffer"], rows["read by the application"]
    equal(rows["sent"][0], "20,000", "sent: %r" % sink.stdout)
    number = lambda text: int(text.replace(",", ""))  # noqa: E731
    control = number(rows["(read besides: trailers)"][0])
    equal(number(full[0]), number(full[1]), "packets, datagrams")
    equal(number(full[1]) + number(read[1]) + control, 20000 + number(rows["(trailers sent besides)"][0]), "sum of the table")
    for words in ("  balanced\n", "receive buffer: a faster reader", "net.core.rmem_max"):
        equal(words in sink.stdout, True, "%r in %s" % (words, sink.stdout))


@test
@cases(args=[("--sent-from x", "--ledger"), ("--ledger --no-copy", "--no-copy"), ("--ledger --format classic", "classic"),
             ("--ledger --buffer-size 49", "50"), ("--ledger --sent-from 77 --engine recvmsg", "./77"), ("--ledger --sent-from x", "--engine"),
             ("--ledger --engine null", "null"), ("--until-quiet 50ms", "100ms"), ("--ledger --use-bad-ptr 1 --engine recvmsg", "--use-bad-ptr")])
def refusals(args):
    "what makes no sense with --ledger is refused with a sentence: {args}"
    sink = Sink(*args[0].split(), "--listen", "127.0.0.1:0", ready=False)
    equal(sink.wait() in (1, 2), True, "exit status %r" % sink.status())
    equal((args[1] in sink.stderr, sink.stderr.count("\n")), (True, 1), sink.stderr)


main()
