#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--dns, --dns-file: queries as another decoder sees them, and every answer in its place: in time, late, lost, unexpected, malformed."""
import collections
import json
import signal
import struct
import subprocess
import sys
import time

from dns_server import Server, answer
from harness import Source, between, cases, equal, fail, main, need_ipv6, scratch, skip, test, wait_until
from traffic import fits

# Reads messages in hexadecimal, prints what is in each.
DECODE = """
import dns.message, json, sys
def look(m):
    return (" ".join(map(str, m.question)), m.flags, m.edns, m.payload, m.ednsflags, [(o.otype, o.data.hex()) for o in m.options])
print(json.dumps([look(dns.message.from_wire(bytes.fromhex(line))) for line in sys.stdin.read().split()]))
"""
Message = collections.namedtuple("Message", "question flags edns payload ednsflags options")
QUICK = ["--dns-timeout", "300ms"]


def decoded(queries):
    """Each by dnspython, which raises where one is not well formed."""
    for python in (sys.executable, "/usr/bin/python3"):  # Debian's package is for the latter
        done = subprocess.run([python, "-c", DECODE], input="\n".join(q.hex() for q in queries), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return [Message(*fields) for fields in json.loads(done.stdout)]
        if "ModuleNotFoundError" not in done.stderr:
            fail("dnspython: " + done.stderr)
    skip("python3-dnspython is not installed")


def run(plan, *args, status=0, address="127.0.0.1"):
    """The source against such a server, to its end; (the dns member of its sum, the source, the queries)"""
    with Server(plan, address) as server:
        source = Source(*args, server.target).finish(status)
    d = source.sum["dns"]
    equal(d["asked"], source.sum["sent"], "asked")
    equal(d["answered"] + d["late"] + d["lost"] + d["outstanding"], d["asked"], "answered + late + lost + outstanding")
    equal(sum(d["rcodes"].values()), d["answered"] + d["late"], "rcodes")
    return d, source, server.queries


def counts(d, *names):
    return tuple(d[name] for name in names)


@test
@cases(sender=["sendmmsg", "sendmsg", "sendto", "send", "write", "uring"], options=["", "--rate 5k", "--flows 5 --threads 2", "--unconnected"])
def all_answered(sender, options):
    "--sender {sender} {options}: each query is answered, none twice; the decoder finds name, type and flags"
    if sender in ("send", "write") and "unconnected" in options:
        equal(Source("--dns", "x", "--sender", sender, "--unconnected", "127.0.0.1:9").wait(), 2, "exit status: it needs connected sockets")
        return
    if sender == "uring" and "liburing none" in Source("--version", "-v").finish().stdout:
        skip("built without liburing")
    d, _source, queries = run(lambda n, q: [answer(q)], "--dns", "www.Example.net", "--count", 200, "--batch", 8, "--sender", sender, *options.split())
    equal(counts(d, "answered", "unexpected", "malformed", "truncated", "socket_drops"), (200, 0, 0, 0, 0), "answers")
    equal(d["rcodes"], {"NOERROR": 200}, "rcodes")
    between(1, d["latency_p50_ns"], d["latency_max_ns"], "latency")
    between(d["latency_min_ns"], d["latency_mean_ns"], d["latency_max_ns"], "mean latency")
    for m in decoded(queries):
        equal(m, ("www.Example.net. IN A", 0x0100, 0, 1232, 0, []), "query")
    equal(len({q[:2] for q in queries}) > 190, True, "ids")


@test
def over_ipv6():
    "over IPv6 as over IPv4"
    need_ipv6()
    d, _source, queries = run(lambda n, q: [answer(q)], "--dns", "example.net", "--count", 100, address="::1")
    equal((d["answered"], len(queries)), (100, 100), "answers")


@test
def types_and_options():
    "--dns-type A:8,AAAA:2 --dns-do --dns-cookie --dns-edns --dns-norecurse as decoded: the mix exact, DO, one cookie, size, no RD"
    _d, _source, queries = run(lambda n, q: [answer(q)], "--dns", "x.example", "--count", 1000, "--dns-type", "A:8,AAAA:2", "--dns-do", "--dns-cookie",
                               "--dns-edns", 4096, "--dns-norecurse")
    messages = decoded(queries)
    equal(collections.Counter(m.question.split()[-1] for m in messages), {"A": 800, "AAAA": 200}, "types")
    equal({(m.flags, m.edns, m.payload, m.ednsflags) for m in messages}, {(0, 0, 4096, 0x8000)}, "flags, EDNS")
    cookies = {tuple(option) for m in messages for option in m.options}
    equal((len(cookies), {(code, len(data)) for code, data in cookies}), (1, {(10, 16)}), "cookies")
    _d, _source, queries = run(lambda n, q: [answer(q)], "--dns", ".", "--count", 10, "--dns-edns", 0, "--dns-type", "NS")
    equal({(m.question, m.edns) for m in decoded(queries)}, {(". IN NS", -1)}, "without EDNS")


@test
def random_labels():
    "--dns-random: a first label of 12 digits, another one in each query, also from several threads and flows; their digits are even"
    _d, _source, queries = run(lambda n, q: [answer(q)], "--dns", "zone.example", "--dns-random", "--count", 3000, "--threads", 2, "--flows", 6, "--rate", "20k", "--seed", 1)
    names = [m.question.split()[0] for m in decoded(queries)]
    labels = [name.split(".")[0] for name in names]
    equal({name.split(".", 1)[1] for name in names}, {"zone.example."}, "the rest of the names")
    equal(({len(x) for x in labels}, len(set(labels))), ({12}, len(labels)), "labels")
    fits(collections.Counter("".join(labels)), dict.fromkeys("0123456789abcdef", 1))


@test
def from_a_file():
    "--dns-file: the lines in their order, once unless --count says more"
    path = scratch("queries")
    with open(path, "w") as f:
        f.write("; a comment\nwww.example.net A\n\nexample.net MX\n_dns.example.net TYPE64\n")
    expected = ["www.example.net. IN A", "example.net. IN MX", "_dns.example.net. IN SVCB"]
    _d, _source, queries = run(lambda n, q: [answer(q)], "--dns-file", path)
    equal([m.question.replace("TYPE64", "SVCB") for m in decoded(queries)], expected, "questions")
    _d, _source, queries = run(lambda n, q: [answer(q)], "--dns-file", path, "--count", 7)
    equal([m.question.replace("TYPE64", "SVCB") for m in decoded(queries)], [expected[i % 3] for i in range(7)], "questions, again")


def faulty(n, q):
    """Ten kinds in turn."""
    kind = n % 10
    other = bytearray(answer(q))
    other[13] ^= 1
    return {0: [answer(q)], 1: [], 2: [answer(q), answer(q)], 3: [answer(q, rcode=3)], 4: [answer(q, rcode=2)], 5: [answer(q, truncated=True)],
            6: [answer(q, ident=bytes([q[0] ^ 0x55, q[1]]))], 7: [bytes(other)], 8: [q, b"", b"\0" * 5], 9: [answer(q)]}[kind]


@test
@cases(options=["", "--flows 3 --rate 10k"])
def every_kind(options):
    "silence, a second answer, rcodes, TC, another id, another question, no answer at all: each is counted as what it is {options}"
    d, source, _queries = run(faulty, "--dns", "www.example.net", "--count", 1000, *QUICK, *options.split())
    equal(counts(d, "answered", "late", "lost", "outstanding"), (600, 0, 400, 0), "answered, late, lost")
    equal(d["rcodes"], {"NOERROR": 400, "NXDOMAIN": 100, "SERVFAIL": 100}, "rcodes")
    equal(counts(d, "unexpected", "malformed", "truncated"), (300, 300, 100), "unexpected, malformed, truncated")
    equal(source.sum["sent"], 1000, "sent")


@test
def late_ones():
    "an answer after --dns-timeout is late, not in the latencies, and no longer lost"
    held = []

    def plan(n, q):
        held.append(answer(q))
        if n < 19:
            return []
        time.sleep(0.25)
        return held
    d, _source, _queries = run(plan, "--dns", "x", "--count", 20, "--dns-timeout", "200ms", "--batch", 1, "--rate", "2k")
    # Waiting ends when the time of the last query is over: those that came by then were read.
    equal((d["answered"], d["late"] + d["lost"]), (0, 20), "answered, late or lost")
    with Server(lambda n, q: [answer(q)] if n else (time.sleep(0.3), [answer(q)])[1]) as server:
        d = Source("--dns", "x", "--count", 2, "--rate", 2, "--dns-timeout", "200ms", server.target).finish().sum["dns"]
    equal(counts(d, "answered", "late", "lost"), (1, 1, 0), "answered, late, lost")
    equal(d["latency_max_ns"] <= 200 * 10**6, True, "latency of those in time")


@test
def letters_of_either_case():
    "an answer whose question is in other letters (0x20) is the answer"
    def plan(n, q):
        reply = bytearray(answer(q))
        reply[13:16] = reply[13:16].upper()
        return [bytes(reply)]
    d, _source, queries = run(plan, "--dns", "www.example.net", "--count", 50)
    equal((d["answered"], queries[0][13:16]), (50, b"www"), "answered")


@test
def latency_is_from_the_schedule():
    "R60 with --rate latency counts from when a query was due: a server that answers after 20 ms shows at least that"
    def plan(n, q):
        time.sleep(0.02)
        return [answer(q)]
    d, source, _queries = run(plan, "--dns", "x", "--count", 20, "--rate", 1000)
    # One after the other: the last one, due after 19 ms, is answered after 400.
    between(350e6, d["latency_max_ns"], 5e9, "the longest latency")
    equal((d["answered"], source.sum["pace"]["missed"]), (20, None), "answered")


@test
def nobody_there():
    "R51 ECONNREFUSED while asking and reading ends nothing: all are lost or refused"
    with Server(lambda n, q: []) as server:
        target = server.target
    source = Source("--dns", "x", "--count", 300, "--rate", "5k", *QUICK, target).finish()
    d = source.sum["dns"]
    equal((d["lost"], d["answered"], d["asked"] + sum(source.sum["refused"].values())), (d["asked"], 0, 300), "lost, answered, tried")


@test
@cases(when=["while it asks", "while it waits"])
def signals(when):
    "SIGTERM {when}: a sum at once; what was still in its time is outstanding, not lost"
    with Server(lambda n, q: []) as server:
        args = ["--count", 50] if when == "while it waits" else ["--rate", 100, "--duration", "60s"]
        source = Source("--dns", "x", "--dns-timeout", "60s", *args, server.target)
        wait_until(lambda: len(server.queries) >= 20 + 30 * (when == "while it waits"), what="queries")
        equal(source.stop(signal.SIGTERM), 0, "exit status")
    d = source.sum["dns"]
    equal(counts(d, "answered", "lost", "outstanding"), (0, 0, d["asked"]), "answered, lost, outstanding")
    if source.stop_s > 2:
        fail("it took %.1f s to end" % source.stop_s)


@test
def signal_long_after():
    "SIGINT: a query whose time was over by then is lost; the others are outstanding"
    with Server(lambda n, q: []) as server:
        source = Source("--dns", "x", "--dns-timeout", "1s", "--rate", 10, "--duration", "60s", server.target)
        wait_until(lambda: len(server.queries) >= 25, what="queries")  # 2.4 s
        equal(source.stop(signal.SIGINT), 0, "exit status")
    d = source.sum["dns"]
    equal((d["answered"], d["lost"] + d["outstanding"]), (0, d["asked"]), "answered, lost + outstanding")
    equal((d["lost"] >= 14, 1 <= d["outstanding"] <= 11), (True, True), "lost, outstanding of %d: %d, %d" % (d["asked"], d["lost"], d["outstanding"]))


@test
@cases(rcode=[("BADVERS", 16), ("BADCOOKIE", 23)])
def upper_bits_of_the_rcode(rcode):
    "{rcode}: half of the code is in the OPT record (RFC 6891 6.1.3)"
    name, code = rcode

    def plan(n, q):
        reply = bytearray(answer(q, rcode=code & 15))
        reply[len(q) - 11 + 5] = code >> 4  # the query ends with an OPT record without options
        return [bytes(reply)]
    d, _source, _queries = run(plan, "--dns", "www.example.net", "--count", 20)
    equal(d["rcodes"], {name: 20}, "rcodes")


@test
def text_form():
    "the text form says what was asked and answered, the rcodes and the latency"
    with Server(lambda n, q: [answer(q, rcode=3)]) as server:
        out = Source("--format", "text", "--dns", "x", "--count", 20, server.target).finish().stdout
    for words in ("dns: asked 20, answered 20 (100.00 %), late 0, lost 0", "rcodes: 20 NXDOMAIN", "latency us: p50 "):
        equal(words in out, True, out)


@test
def default_port():
    "without a port queries go to 53"
    source = Source("--dns", "x", "--count", 1, "--dns-timeout", "1ms", "127.0.0.1").finish()
    equal(source.record("header")["destination"], "127.0.0.1:53", "destination")


@test
def refused():
    "what makes no sense is refused with a sentence and exit 2"
    path = scratch("bad")
    with open(path, "w") as f:
        f.write("good.example A\nbad..example A\n")
    for words, says in ((["--dns", "a..b"], "--dns 'a..b'"), (["--dns", "x", "--dns-type", "B"], "--dns-type"), (["--dns", "x", "--dns-file", path], "--dns-file"),
                        (["--dns-file", path], "line 2"), (["--dns-file", "/nonexistent"], "/nonexistent"), (["--dns-file", path, "--dns-type", "A"], "--dns-type"),
                        (["--dns-do"], "needs --dns"), (["--dns-timeout", "1s"], "needs --dns"), (["--dns", "x", "--dns-edns", "0", "--dns-cookie"], "--dns-edns 0"),
                        (["--dns", "x", "--sender", "raw"], "raw"), (["--dns", "x", "--sender", "auto", "--fragment", "64"], "--fragment"),
                        (["--dns", "x", "--sender", "auto", "--bad", "checksum"], "--bad"), (["--dns", "x", "--sender", "gso"], "gso"),
                        (["--dns", "x", "--payload", "40"], "--payload"), (["--dns", "x", "--trailer"], "--trailer"),
                        (["--dns", "x", "--gso", "4"], "--gso"), (["--dns", "x", "--dns-edns", "70000"], "--dns-edns"), (["--dns", "x", "--header", "none"], "--header")):
        source = Source(*words, "127.0.0.1:9")
        equal((source.wait() in (1, 2) if "/nonexistent" in words else source.wait() == 2, says in source.stderr, source.stderr.count("\n")), (True, True, 1),
              "%r: %s" % (words, source.stderr))


@test
def struct_of_ids():
    "ids of one flow do not repeat within 65536 queries"
    _d, _source, queries = run(lambda n, q: [], "--dns", "x", "--count", 4000, "--rate", "40k", "--dns-timeout", "1ms")
    ids = [struct.unpack(">H", q[:2])[0] for q in queries]
    equal(len(set(ids)), len(ids), "ids")
    equal(sum(b - a == 1 for a, b in zip(ids, ids[1:])) < 10, True, "ids that count up")


main()
