# SPDX-License-Identifier: MIT
"""udp_source: the traffic is what was asked for: sizes, fill, headers, faults on purpose, trailers, and what is refused."""
import collections
import itertools
import socket
import struct

from harness import Sink, Source, between, cases, equal, fail, main, private_net, scratch, test
from receiver import FILL, FULL, SHORT, Receiver, loopback, namespace_counters
from sender import received
from traffic import fits, send, sequences

SO_NETNS_COOKIE = 71  # asm-generic/socket.h
SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write", "gso"]


# ------------------------------------------------------------------ sizes, fill, header

@test
@cases(sender=["sendmmsg", "sendmsg", "sendto", "write"])
def sizes_of_imix(sender):
    "R62 {sender} --payload imix: 18, 548 and 1472 bytes as 7 : 4 : 1, nothing else; bytes are what was received"
    receiver = Receiver()
    total = send(receiver, "--" + sender, "--payload", "imix", "--count", 6000, "--seed", 1, "--rate", "60k").sum
    fits(collections.Counter(d.size for d in receiver.got), {18: 7, 548: 4, 1472: 1})
    equal(sum(d.size for d in receiver.got), total["bytes"], "bytes")
    equal(sequences(receiver)[0], list(range(6000)), "numbers")


@test
def sizes_of_a_range():
    "R25 R62 --payload 0..40: each size alike, and behind each header the pattern: nothing of an earlier datagram shows"
    receiver = Receiver()
    send(receiver, "--payload", "0..40", "--count", 8200, "--seed", 2, "--rate", "60k")
    fits(collections.Counter(d.size for d in receiver.got), dict.fromkeys(range(41), 1))
    for number, d in enumerate(receiver.got):
        header = 0 if d.size < SHORT else SHORT if d.size < FULL else FULL
        if header:
            equal((d.header["magic"], d.header["sequence"], d.stamped), (0x5544, number, header == FULL), "header of %d bytes" % d.size)
        equal(d.data[header:], FILL[header:d.size], "fill of %d bytes" % d.size)


@test
@cases(text=["3x1472", "1..1", "64:1", "65507"])
def one_size(text):
    "R62 --payload {text} is one size, so that GSO can carry it"
    size = {"3x1472": 4416, "1..1": 1, "64:1": 64, "65507": 65507}[text]
    receiver = Receiver()
    total = send(receiver, "--payload", text, "--count", 24).sum
    equal({d.size for d in receiver.got}, {size}, "sizes")
    equal(total["bytes"], 24 * size, "bytes")
    most = min(65507 // size, 128)
    equal(Source("--payload", text, "--gso", "max", "--count", 1, receiver.target).finish().record("header")["gso"]["obtained"] <= most, True, "GSO")


@test
@cases(what=["pattern", "zero", "random", "file"])
def fill(what):
    "--fill {what}: what is behind the header"
    path = scratch("fill")
    with open(path, "wb") as f:
        f.write(b"abcdefg")
    receiver = Receiver()
    send(receiver, "--fill", path if what == "file" else what, "--payload", 500, "--count", 64, "--batch", 8, "--seed", 3)
    rest = [d.data[FULL:] for d in receiver.got]
    expected = {"pattern": FILL[FULL:500], "zero": bytes(500 - FULL), "file": (b"abcdefg" * 100)[FULL:500]}
    if what != "random":
        equal(set(rest), {expected[what]}, "fill")
        return
    equal(len(set(rest)), 8, "each slot of a batch has bytes of its own")
    fits(collections.Counter(b"".join(set(rest))), dict.fromkeys(range(256), 1))


@test
def no_header():
    "--header none: the fill from the first byte on"
    receiver = Receiver()
    send(receiver, "--header", "none", "--payload", "18..60", "--count", 500, "--seed", 4)
    for d in receiver.got:
        equal(d.data, FILL[:d.size], "payload")


@test
@cases(options=["--payload imix", "--dst-range 127.0.0.0/24 --dst-order random", "--fill random --payload 100", "--flows 5 --flow-order random",
                "--flows 5 --flow-order zipf:1.2"])
def seeds_repeat(options):
    "--seed: {options} twice with one seed is the same traffic, another seed is another"
    def traffic(seed):
        receiver = Receiver("0.0.0.0", to=True)
        ours = options.split() if "--dst" in options else [*options.split(), "127.0.0.1"]
        with receiver.running():
            total = Source("--seed", seed, "--run-id", 1, "--count", 2000, "--rate", "50k", "--port", receiver.port, *ours).finish().sum
        equal((len(receiver.got), receiver.drops()), (total["sent"], 0), "received")
        return [(d.to, d.header["stream"], d.header["sequence"], d.size, d.data[FULL:]) for d in receiver.got]
    first = traffic(5)
    equal(traffic(5) == first, True, "the same seed gives the same")
    equal(traffic(6) == first, False, "another seed gives the same")


# ------------------------------------------------------------------ faults on purpose

def numbers_with_faults(count, withhold=0, reorder=0, duplicate=0):
    """What the receiver should see of a flow of `count` datagrams: built step by step, as the manual says it."""
    numbers = [n for n in range(3 * count) if not withhold or n % withhold != withhold - 1]
    for i in range(reorder, len(numbers) + 1, reorder) if reorder else ():
        numbers[i - 2:i] = reversed(numbers[i - 2:i])
    copies = ([n, n] if duplicate and (i + 1) % duplicate == 0 else [n] for i, n in enumerate(numbers))
    return list(itertools.chain.from_iterable(copies))[:count]


FAULTS = ["--withhold 7", "--reorder 2", "--reorder 9", "--duplicate 1", "--duplicate 5", "--withhold 10 --reorder 4 --duplicate 3"]


def options_of(faults):
    words = faults.replace("--", "").split()
    return dict(zip(words[::2], map(int, words[1::2])))


@test
@cases(faults=FAULTS, sender=["sendmmsg", "gso", "write"])
def faults_are_exact(faults, sender):
    "R68 {sender} {faults}: numbers come in exactly the order that was asked for, the sum says how many"
    receiver = Receiver()
    total = send(receiver, "--sender", sender, *faults.split(), "--flows", 3, "--count", 3000, "--batch", 7, "--rate", "50k").sum
    for numbers in sequences(receiver).values():
        equal(numbers, numbers_with_faults(len(numbers), **options_of(faults)), "numbers")
    copies = late = holes = 0
    for numbers in sequences(receiver).values():
        different = list(dict.fromkeys(numbers))
        copies += len(numbers) - len(different)
        late += sum(1 for i, n in enumerate(different) if n < max(different[:i], default=-1))
        holes += max(different) + 1 - len(different)
    equal((total["duplicated"], total["reordered"]), (copies, late), "duplicated, reordered")
    between(holes, total["withheld"], holes + 3, "withheld")  # a number withheld right behind the last one shows to nobody


@test
@cases(faults=["", *FAULTS], sender=["sendmmsg", "gso"])
def the_sink_finds_the_faults(faults, sender):
    "R68 {sender} '{faults}' --trailer: --check-sequence of the sink counts what the source says it made"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--check-sequence", "--rcvbuf", "8M", "--count", 0)
    run = Source("--sender", sender, *faults.split(), "--trailer", "--flows", 3, "--count", 3000, "--rate", "50k",
                 "127.0.0.1:%d" % sink.port).finish()
    found, made = received(sink), run.sum
    total = found["total"]
    equal(found["socket_drops"], 0, "drops")
    equal(total["datagrams"], made["sent"], "datagrams")
    equal((total["seq_duplicate"], total["seq_reordered"], found["missing_at_least"]),
          (made["duplicated"], made["reordered"], made["withheld"]), "duplicate, reordered, missing")
    equal((total["trailers"], made["trailers"], total["seq_no_header"], total["foreign"]), (9, 9, 0, 0), "trailers")
    equal(total["bytes"], made["bytes"], "bytes")


@test
def loss_at_the_end_is_seen():
    "R68 --trailer: a sink that lost most of a flood, its end too, misses exactly what was lost"
    for _ in range(5):
        sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--check-sequence", "--rcvbuf", 20000, "--wait", "poll", "--count", 0)
        made = Source("--trailer", "--count", 50000, "--batch", 1024, "127.0.0.1:%d" % sink.port).finish().sum
        found = received(sink)
        if found["total"]["trailers"] and found["socket_drops"]:
            # Numbers from the first that came on: the queue has room for that one.
            equal(found["total"]["datagrams"] + found["missing_at_least"], made["sent"], "received + missing")
            return
    fail("five floods, and never were there drops and a trailer: %r" % found)


@test
@cases(sender=SENDERS, family=["v4", "v6"])
@private_net
def trailers(sender, family):
    "{sender} {family} --trailer: three per flow with the number of datagrams, in no count of ours, and the kernel counts them too"
    receiver, before = Receiver(loopback(family)), namespace_counters()
    run = Source("--sender", sender, "--trailer", "--flows", 4, "--count", 1003, receiver.target).finish()
    marks = [d for d in receiver.drain() if d.header["kind"] == 1]
    data = collections.Counter(d.header["stream"] for d in receiver.got if d.header["kind"] == 0)
    equal(sum(data.values()), 1003, "datagrams")
    equal(collections.Counter((d.header["stream"], d.header["sequence"], d.size) for d in marks),
          {(stream, data[stream], 50): 3 for stream in range(4)}, "trailers")
    sums = [struct.unpack(">QQQHHHH", d.data[SHORT:]) for d in marks]
    gso = run.record("header")["gso"]
    netns = receiver.socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
    equal(sums, [(1003, n, *struct.unpack("=Q", netns), gso["obtained"], 11 - n, gso["self_test_datagrams"], gso["self_test_messages"]) for n in range(12)],
          "datagrams of all flows, trailers before, namespace, segments, trailers after, self-test")
    equal({"%08x" % d.header["run"] for d in marks}, {run.sum["run_id"]}, "run id")
    equal((run.sum["sent"], run.sum["bytes"], run.sum["trailers"]), (1003, 18 * 1003, 12), "sum")
    name = "UdpOutDatagrams" if family == "v4" else "Udp6OutDatagrams"
    equal(namespace_counters()[name] - before[name],
          run.sum["messages"] + 12 + run.record("header")["gso"]["self_test_messages"], name)
    equal(Source("--count", 1, receiver.target).finish().sum["trailers"], None, "trailers without --trailer")


@test
def wrong_command_lines():
    "R62 R16 what makes no sense is refused with a sentence, exit 2, and nothing is sent"
    receiver = Receiver()
    addr, none = receiver.target, None
    for args, target, word in (
            ("--payload imix --gso 4", addr, "--gso"), ("--payload 9..1", addr, "--payload"), ("--fill /dev/null", addr, "--fill"),
            ("--header none --reorder 3", addr, "--header"), ("--payload 17 --duplicate 3", addr, "18 bytes"),
            ("--payload 0..99 --withhold 3", addr, "18 bytes"), ("--payload imix --duplicate 2", addr, "--duplicate"),
            ("--dst-ports 7-9 --duplicate 2", "127.0.0.1", "--duplicate"), ("--reorder 1", addr, "--reorder"),
            ("--withhold 1", addr, "--withhold"), ("--duplicate 0", addr, "--duplicate"),
            ("--header pktgen --payload 18 --trailer", addr, "--trailer"),
            ("--header none --trailer", addr, "--trailer"), ("--payload 17 --trailer", addr, "--trailer"),
            ("--dst-range 127.0.0.0/24", addr, "one destination"), ("--dst-range 127.0.0.1/24", none, "behind the prefix"),
            ("--dst-range 127.0.0.1:9-127.0.0.2", none, "ports"), ("--dst-range 127.0.0.9-127.0.0.2", none, "before it begins"),
            ("--dst-ports 7-9", addr, "port of"), ("--dst-ports 7-9 --port 7", "127.0.0.1", "--port"),
            ("--dst-ports 9-7", "127.0.0.1", "--dst-ports"),
            ("--dst-ports 0-7", "127.0.0.1", "--dst-ports"), ("--dst-order up", addr, "--dst-order"), ("--flow-order zipf:11", addr, "--flow-order"),
            ("--flow-order lifo", addr, "--flow-order"), ("--flow-length 0", addr, "--flow-length"), ("--send --unconnected", addr, "--unconnected"),
            ("--write --dst-range 127.0.0.0/30", none, "more than one"), ("--sender gso --gso 1", addr, "--gso 1"),
            ("--sender gso --payload imix", addr, "one size"), ("--gso 129", addr, "--gso"), ("--gso 0", addr, "--gso"),
            ("--gso often", addr, "--gso"), ("--sender gso --payload 0", addr, "empty"), ("--src-range 127.0.0.5/8", addr, "behind the prefix"),
            ("--bind ::1", addr, "IPv4"), ("--bind 127.0.0.1:5", addr, "ports"), ("--mark 4294967296", addr, "--mark"), ("--seed -1", addr, "--seed"),
            ("--batch 65536 --gso max", addr, "MiB")):
        run = Source(*args.split(), *([target] if target else []))
        equal(run.wait(), 2, "exit status with %s" % args)
        if word not in run.stderr or run.stdout:
            fail("%s: stderr %r, stdout %r" % (args, run.stderr, run.stdout))
    equal(receiver.drain(), [], "datagrams")


main()
