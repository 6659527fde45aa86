# SPDX-License-Identifier: MIT
"""Command lines of netoptimizer's udp_sink run unchanged, and --format classic prints its columns byte for byte."""
import re
import socket

from harness import Program, Sink, between, built, cases, equal, fail, free_port, main, need_ipv6, skip, test, udp_table, wait_until
from sender import Sender, cpu_s, pktgen, sleeps

HEADER = "          \trun      count   \tns/pkt\tpps\t\tcycles\tpayload"
CLASSIC = ["recvMmsg/32", "recvmsg", "read", "recvfrom", "recv"]  # the order of upstream
COUNT = 40  # datagrams of a run: more than a batch, and not a multiple of one
MEASURED = r"\d+\.\d\d\t\d+\.\d\d\t\d+\t"  # ns/pkt, pps, cycles
EMPTY = r" emptyq:[1-9]\d*"
IPPROTO_UDPLITE = 136

# What follows port and count, in upstream's words; the labels of the rows; runs of each.
LINES = {
    "--repeat 3 --recvmmsg --batch 64 --recv-pktinfo --connect -s": (["recvMmsg/64"], 3),
    "--repeat 2": (CLASSIC, 2),
    "-r 2 -b 16 -U -C -s": (["recvMmsg/16"], 2),
    "-b 1": (["recvMmsg/1", *CLASSIC[1:]], 1),
    "-4 -u": (["recvmsg"], 1),
    "-6 -t": (["recvfrom"], 1),
    "-T": (["read"], 1),
    "--recv": (["recv"], 1),
    "-UuTt -4": (CLASSIC[:4], 1),
    "--recvmmsg --recvmsg --read --recvfrom --recv": (CLASSIC, 1),
    "-U -O": (["recvMmsg/32"], 1),
    "-U -d": (["recvMmsg/32"], 1),
    "-d": (CLASSIC, 1),
    "-U -O -i 1": (["recvMmsg/32"], 1),
    "--recvmmsg --timeout 0": (["recvMmsg/32"], 1),
    "-I 1": (CLASSIC, 1),
    "-U -B 100 -b 128": (["recvMmsg/128"], 1),
    "-U -u --nr-iovec 3": (CLASSIC[:2], 1),
    "-U -u -S 127.0.0.1": (CLASSIC[:2], 1),
    "--recv-ttl --recv-pktinfo": (CLASSIC, 1),
    "--connect": (CLASSIC, 1),
    "-C -T": (["read"], 1),
    "-s --verbose=0": (CLASSIC, 1),
}


def early_demux():
    with open("/proc/sys/net/ipv4/ip_early_demux", encoding="ascii") as f:
        return int(f.read())


def has(words, *options):
    return bool(set(words.split()) & set(options))


def start(words, port, count=COUNT, form="classic"):
    """udp_sink with these words, ready. Text is the default and needs no option of ours."""
    sink = Sink("--port", port, "--count", count, *words.split(), "--format", form, ready=False)

    def ready():
        if sink.status() is not None:
            fail("it ended with status %s" % sink.status())
        return "ready: " in sink.stderr
    wait_until(ready, what="ready line")
    return sink


def feed(sink, words, port, datagrams, payload=b"x" * 18):
    """So many datagrams to be counted. Under --connect one comes before them, tells the peer, and is thrown away."""
    sender = Sender(sink, "::1" if has(words, "-6") else "127.0.0.1", port=port)
    if has(words, "-C", "--connect"):
        sender.send(payload)
        wait_until(lambda: sink.stdout, what="the header line, which follows connect")
        equal([int(row["remote"].rsplit(":", 1)[1], 16) for row in udp_table(port) if "00000000:0000" not in row["remote"]][:1],
              [sender.sockets[0].getsockname()[1]], "port of the peer that the socket is connected to")
    sender.send(*[payload] * datagrams)
    return sender


def row(label, run, words, count=COUNT, payload=18, figures=MEASURED, empty=""):
    """Pattern of one whole line, from the formats of upstream's printf. What the machine decides is free, its form is not."""
    name, slash, batch = label.partition("/")
    head = "%s/%-4d\t" % (name, int(batch)) if slash else "%-10s\t" % name
    tail = " demux:%d" % early_demux() if early_demux() else ""
    tail += " c:1" if has(words, "-C", "--connect") else ""
    return re.escape("%srun: %2d\t%8d\t" % (head, run, count)) + figures + re.escape("%d\t%s" % (payload, tail)) + empty


def check_rows(lines, patterns):
    equal(len(lines), len(patterns), "lines of output: %r" % (lines,))
    for line, pattern in zip(lines, patterns):
        if not re.fullmatch(pattern, line):
            fail("line %r is not of the form %r" % (line, pattern))


@test
@cases(words=LINES)
def columns(words):
    "'--port P --count N {words}': upstream's columns, byte for byte"
    labels, runs = LINES[words]
    if has(words, "-6"):
        need_ipv6()
    port = free_port()
    sink = start(words, port)
    feed(sink, words, port, COUNT * runs * len(labels))
    sink.finish()
    empty = "(%s)?" % EMPTY if has(words, "-d", "-I") else ""
    patterns = [row(label, run, words, empty=empty) for label in labels for run in range(runs)]
    if not sink.stdout.endswith("\n"):
        fail("the last line has no end")
    check_rows(sink.stdout[:-1].split("\n"), [re.escape(HEADER), *patterns])


@test
@cases(words=[w for w in LINES if has(w, "--repeat", "-b", "-6", "-d", "-C")])
def unchanged(words):
    "'--port P --count N {words}': without an option of ours, a table of the same runs"
    labels, runs = LINES[words]
    if has(words, "-6"):
        need_ipv6()
    port = free_port()
    sink = Program([built("udp_sink"), "--port", str(port), "--count", str(COUNT), *words.split()])
    sink.ready = None
    wait_until(lambda: "ready: " in sink.stderr, what="ready line")
    feed(sink, words, port, COUNT * runs * len(labels))
    sink.finish()
    rows = [line.split() for line in sink.stdout.splitlines()[2:] if not line.startswith(" ")]
    engines = [label.replace("recvM", "recvm") for label in labels]
    expected = [[engine, str(run), str(COUNT)] for engine in engines for run in range(runs)]
    equal([[w for w in r if not w.startswith("+")][:3] for r in rows], expected, "engine, run and datagrams of each row")


@test
@cases(form=["text", "classic"])
def ready_line(form):
    "--format {form}: the ready line is all there is on standard error, and not on standard output"
    port = free_port()
    sink = start("-U", port, form=form)
    feed(sink, "-U", port, COUNT)
    sink.finish()
    equal(sink.stderr, "udp_sink: ready: listening on 0.0.0.0:%d, 1 worker\n" % port, "standard error")
    equal("ready" in sink.stdout, False, "ready on standard output")


@test
def figures():
    "R75 pps and ns/pkt of a row are two forms of the same figure"
    port = free_port()
    sink = start("-r 3", port)
    feed(sink, "", port, 3 * COUNT * len(CLASSIC))
    sink.finish()
    for line in sink.stdout.splitlines()[1:]:
        ns, pps = map(float, line.split("\t")[3:5])
        between(0.999, ns * pps / 1e9, 1.001, "ns/pkt * pps / 1e9 in %r" % line)


@test
def defaults():
    "without options: port 6666, a million datagrams, batches of 32, one run, 0.0.0.0, as upstream"
    sink = Sink("--engine", "null", ready=False).finish()
    options = sink.record("header")["options"]
    equal([options[name] for name in ("port", "count", "batch", "repeat", "nr-iovec", "buffer-size", "check-pktgen", "connect")],
          ["6666", "1000000", "32", "1", "1", "4096", "0", ""], "options")
    equal(sink.sum["total"]["datagrams"], 1000000, "datagrams")


@test
@cases(words=["-T -u -U", "-u -u --recvmsg", "--recv -U --recv -T"])
def order(words):
    "'{words}': engines in upstream's order, each once, whatever the order of the letters"
    names = {"-U": "recvMmsg/32", "--recvmsg": "recvmsg", "-u": "recvmsg", "-T": "read", "--recv": "recv"}
    labels = [label for label in CLASSIC if label in {names[word] for word in words.split()}]
    port = free_port()
    sink = start(words, port)
    sender = Sender(sink, port=port)
    sender.send(*[b"x" * 18] * COUNT * len(labels))
    wait_until(lambda: len(sink.stdout.splitlines()) > len(labels), what="the rows")
    equal([line.split("\t")[0].strip() for line in sink.stdout.splitlines()[1:]], labels, "engines")
    wait_until(lambda: sink.status() is not None, timeout=3, what="the end after these engines")


@test
@cases(words=["-S 127.0.0.1", "--nr-iovec 2"])
def left_out(words):
    "'{words}': engines that cannot do it are left out, and standard error says which and why"
    out = {"-S 127.0.0.1": ["read", "recv"], "--nr-iovec 2": ["read", "recvfrom", "recv"]}[words]
    labels = [label for label in CLASSIC if label not in out]
    port = free_port()
    sink = start(words, port)
    feed(sink, words, port, COUNT * len(labels))
    sink.finish()
    check_rows(sink.stdout.splitlines(), [re.escape(HEADER), *[row(label, 0, words) for label in labels]])
    for name in out:
        if not re.search(r"\b%s\b.*(cannot|skipped)" % name, sink.stderr):
            fail("nothing says that %s was left out, and why: %r" % (name, sink.stderr))


@test
def pktgen_line():
    "--check-pktgen: upstream's line of faults under the rows of recvmmsg and recvmsg"
    words, port = "--check-pktgen=3", free_port()
    good = [pktgen(n, 48) for n in range(1, 9)]
    broken = pktgen(9, 32) + b"\0" * 16  # its third header differs from the first
    payloads = [*good, pktgen(7, 48), broken, b"y" * 48]  # 7 after 8: older; 9 after 7: a jump
    sink = start(words, port, count=len(payloads))
    Sender(sink, port=port).send(*payloads * len(CLASSIC))
    sink.finish()
    faults = re.escape(" - Failed pktgen checks OoO 2 wrong magic 1 bad repeat 1")
    patterns = [[row(label, 0, words, len(payloads), 48), faults] for label in CLASSIC[:2]]
    patterns += [[row(label, 0, words, len(payloads), 48)] for label in CLASSIC[2:]]
    check_rows(sink.stdout.splitlines(), [re.escape(HEADER), *[p for some in patterns for p in some]])


@test
@cases(words=["-U -I 0.01", "-U -d", "-U"])
def emptyq(words):
    "R115 '{words}': emptyq counts calls in vain where upstream's could be in vain; nothing received is 0, not nan"
    port = free_port()
    sink = start(words, port, count=0)
    slept, used = sleeps(sink), cpu_s(sink)
    if words == "-U -d":
        wait_until(lambda: cpu_s(sink) > used + 0.02, what="some spinning")
    else:
        wait_until(lambda: sleeps(sink) >= slept + 3, what="three time-outs")
    equal(sink.stop(), 0, "exit status")
    pattern = row("recvMmsg/32", 0, words, 0, 0, r"0\.00\t0\.00\t0\t", "" if words == "-U" else EMPTY)
    check_rows(sink.stdout.splitlines(), [re.escape(HEADER), pattern])


def udplite():
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM, IPPROTO_UDPLITE)
    except OSError:
        return None


@test
def lite():
    "-L: UDP-Lite, or a sentence where the kernel has none"
    client, port = udplite(), free_port()
    if not client:
        refused = Sink("-L", "--port", port, ready=False)
        equal(refused.wait(), 1, "exit status")
        if "--lite" not in refused.stderr or "UDP-Lite" not in refused.stderr:
            fail("no reason why: %r" % refused.stderr)
        skip("this kernel has no UDP-Lite: only the refusal was tested")
    sink = start("-L -U", port, count=3)
    with client:
        client.connect(("127.0.0.1", port))
        for _ in range(3):
            client.send(b"x" * 18)
    sink.finish()
    check_rows(sink.stdout.splitlines(), [re.escape(HEADER), row("recvMmsg/32", 0, "-L -U", 3)])


main()
