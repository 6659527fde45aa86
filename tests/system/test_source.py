# SPDX-License-Identifier: MIT
"""udp_source on the loopback device: what it says was sent is what a plain receiver gets."""
import os
import signal
import time

from harness import Program, Source, between, built, by, cases, equal, fail, main, need_ipv6, scratch, test, wait_until
from receiver import STOP_S, Receiver, loopback

SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write", "uring", "uring --zerocopy"]
SIZES = [0, 1, 17, 18, 26, 1472, 65507]


def send(receiver, *args, **options):
    """Runs the source against a receiver to its end."""
    return Source(*args, receiver.target, **options).finish()


@test
@cases(sender=SENDERS, family=["v4", "v6"])
def every_size(sender, family):
    "R25 R62 {sender} {family}: count, size, numbers and bytes of every datagram, sizes 0 to 65507"
    for size in SIZES:
        receiver, begin = Receiver(loopback(family)), time.time_ns()
        count = 60 if size < 9000 else 5
        total = send(receiver, *by(sender), "--batch", 7, "--payload", size, "--count", count).sum
        receiver.drain()
        equal((total["sent"], total["attempted"], total["refused"]), (count, count, {}), "sent of size %d" % size)
        equal(total["bytes"], count * size, "bytes")
        receiver.check(total, size, begin)
        equal(receiver.drops(), 0, "drops")


@test
@cases(sender=["sendmmsg", "write", "uring"])
def flows_and_threads(sender):
    "{sender}: 5 flows over 2 threads, each with its source port and its own numbers, count exact"
    receiver = Receiver()
    run = send(receiver, *by(sender), "--flows", 5, "--threads", 2, "--count", 203, "--batch", 8, "--size", 30)
    total, header = run.sum, run.record("header")
    numbers = receiver.check(total, 30) if receiver.drain() else {}
    equal(total["sent"], 203, "sent")
    equal(sorted(numbers), [0, 1, 2, 3, 4], "streams")
    ports = {d.header["stream"]: d.source[1] for d in receiver.got}
    equal([ports[i] for i in range(5)], header["source_ports"], "source ports")
    equal(len(set(ports.values())), 5, "different ports")
    equal([t["sent"] for t in total["threads"]], [102, 101], "shares")
    # Flows 0, 2, 4 are thread 0's, in turn, a batch of 8 each: 102 = 12 batches and 6.
    equal({s: len(n) for s, n in numbers.items()}, {0: 38, 2: 32, 4: 32, 1: 53, 3: 48}, "datagrams by flow")


@test
@cases(sender=SENDERS, threads=[1, 2])
def read_while_sending(sender, threads):
    "{sender} {threads} thread(s) at a rate: everything arrives, in order per flow"
    receiver = Receiver()
    with receiver.running():
        total = send(receiver, *by(sender), "--threads", threads, "--count", 3001, "--rate", "10k").sum
    equal(total["sent"], 3001, "sent")
    receiver.check(total, 18)


@test
@cases(sender=["sendmmsg", "uring"])
def batch_above_the_kernels_limit(sender):
    "R56 {sender} --batch 3000: 1024 go at once, nothing is lost or counted twice"
    receiver = Receiver()
    with receiver.running():
        total = send(receiver, *by(sender), "--batch", 3000, "--count", 9001).sum
    equal((total["sent"], total["messages"], total["refused"]), (9001, 9001, {}), "sent")
    if total["calls"] < 10:
        fail("9001 messages in %d calls: more than 1024 in one" % total["calls"])
    receiver.check(total, 18)


@test
@cases(sender=["sendmmsg", "sendmsg", "uring", "uring --zerocopy"], family=["v4", "v6"])
def gso_datagrams(sender, family):
    "R50 {sender} {family} --gso 10: datagrams, messages and bytes are counted apart; the last message is short"
    receiver = Receiver(loopback(family))
    total = send(receiver, *by(sender), "--gso", 10, "--batch", 3, "--payload", 100, "--count", 205).sum
    receiver.drain()
    equal((total["sent"], total["messages"], total["bytes"]), (205, 21, 20500), "sent, messages, bytes")
    equal(total["gso"], {"segments": 10, "refused": None}, "gso")
    equal(receiver.drops(), 0, "drops")
    receiver.check(total, 100)


@test
def gso_is_lowered_to_fit():
    "R51 --gso 128 of 1000 bytes: at most 65 fit into a message, header and sum say so"
    receiver = Receiver()
    run = send(receiver, "--gso", 128, "--batch", 1, "--payload", 1000, "--count", 65)
    expected = {"asked": 128, "obtained": 65, "self_test_messages": 2, "self_test_datagrams": 256}
    equal(run.record("header")["gso"], expected, "gso of the header")
    equal("65 datagrams per message" in run.stderr, True, "notice")
    receiver.drain()
    receiver.check(run.sum, 1000)


@test
@cases(sender=SENDERS)
def nobody_listens(sender):
    "{sender}: ECONNREFUSED is counted and does not end the run"
    receiver = Receiver()
    receiver.socket.close()
    total = send(receiver, *by(sender), "--count", 1000).sum
    equal(total["attempted"], 1000, "attempted")
    equal(total["sent"] + total["refused"].get("ECONNREFUSED", 0), 1000, "sent + refused")
    between(1, total["refused"].get("ECONNREFUSED"), 999, "refused")


@test
@cases(number=["SIGINT", "SIGTERM"], args=["", "--rate 1", "--threads 3 --rate 2k", "--sender write --payload 1472", "uring", "uring --zerocopy"])
def signals_end_the_run(number, args):
    "{number} {args}: ends within 200 ms with a correct sum"
    for attempt in range(3):  # the machine is shared: a late wake-up is not the program's
        receiver = Receiver()
        words = by(args) if "uring" in args else args.split()
        with receiver.running():
            run = Source("--duration", 60, *words, receiver.target)
            run.record("header")
            wait_until(lambda r=receiver: r.got, what="traffic")
            equal(run.stop(getattr(signal, number)), 0, "exit status")
        equal(run.sum["sent"], run.sum["attempted"], "sent")
        receiver.check(run.sum, 1472 if "1472" in args else 18)
        if run.stop_s <= STOP_S:
            return
    fail("attempt %d still took %.3f s" % (attempt + 1, run.stop_s))


@test
@cases(sender=["sendmmsg", "uring", "uring --zerocopy"])
def a_storm_of_signals(sender):
    "R109 {sender}: SIGUSR1 and SIGUSR2 at a high rate change nothing"
    receiver = Receiver()
    words = by(sender)
    with receiver.running():
        run = Source(*words, "--count", 2000, "--rate", 4000, receiver.target)
        run.record("header")
        signals = 0
        while run.status() is None:
            run.send_signal((signal.SIGUSR1, signal.SIGUSR2)[signals % 2])
            signals += 1
            time.sleep(0.001)
    equal(run.wait(), 0, "exit status")
    between(50, signals, 10**6, "signals")
    equal((run.sum["sent"], run.sum["refused"]), (2000, {}), "sent")
    receiver.check(run.sum, 18)


@test
def periods_add_up():
    "--interval: the periods add up to the sum, the last one is marked as partial"
    receiver = Receiver()
    with receiver.running():
        run = send(receiver, "--count", 700, "--rate", 1000, "--interval", "200ms")
    periods, total = run.records("period"), run.sum
    between(2, len(periods), 100, "periods")
    for name in ("sent", "messages", "calls", "bytes", "attempted"):
        equal(sum(p[name] for p in periods), total[name], name)
    equal([p["partial"] for p in periods], [False] * (len(periods) - 1) + [True], "partial")
    for before, after in zip(periods, periods[1:]):
        equal(after["since_s"], before["until_s"], "no gap between periods")


@test
def a_duration_is_a_count():
    "--rate 1000 --duration 500ms: 500 datagrams; both limits given: the first one ends it"
    receiver = Receiver()
    for args, expected in ((("--duration", "500ms"), 500), (("--duration", "300ms", "--count", 100), 100)):
        for _ in range(3):  # a delay of more than 10 ms moves the schedule, and then there are fewer
            total = send(receiver, "--rate", 1000, *args).sum
            if not total["pace"]["moved"] and total["pace"]["late_max_ns"] < 10**7:
                break
        equal(total["sent"], expected, "sent with %s" % (args,))


@test
def duration_without_rate():
    "--duration 300ms without a rate ends in time, however much was sent"
    receiver = Receiver()
    begin = time.monotonic()
    total = send(receiver, "--duration", "300ms").sum
    between(0.3, time.monotonic() - begin, 5, "seconds")
    between(0.25, total["duration_s"], 5, "duration_s")
    if total["sent"] < 100 or not total["pps"]:
        fail("sent only %r" % total)


@test
def header_says_how():
    "R116 the header holds command line, every option in force, kernel, ports; R71 run ids differ"
    receiver = Receiver()
    run = send(receiver, "--run-id", "c0ffee", "--rate", "50k", "--count", 10, "--payload", "1k", "--bind", "127.0.0.9")
    header = run.record("header")
    equal(header["command"], run.command, "command")
    equal(header["run_id"], "00c0ffee", "run id")
    equal(header["kernel"], os.uname().release, "kernel")
    equal((header["destination"], header["source"], header["flows"]), (receiver.target, "127.0.0.9", 1), "addresses")
    table = Program([built("udp_source"), "--dump-options"]).finish().stdout.splitlines()
    kinds = {row.split("\t")[0]: row.split("\t")[2] for row in table}
    hidden = {row.split("\t")[0] for row in table if row.split("\t")[5] == "1"}
    expected = {n for n, kind in kinds.items() if kind not in ("set", "alias", "help", "config")} - hidden
    equal(set(header["options"]), expected, "options")
    equal((header["count"], header["options"]["duration"]), (10, None), "limits")
    for name, value in (("batch", "32"), ("sender", "sendmmsg"), ("format", "json"), ("threads", "1"), ("run-id", "c0ffee")):
        equal(header["options"][name], value, "option " + name)
    receiver.drain()
    equal({d.source[0] for d in receiver.got}, {"127.0.0.9"}, "source address")
    receiver.check(run.sum, 1024)
    equal(len({send(receiver, "--count", 1).sum["run_id"] for _ in range(5)}), 5, "random run ids")


@test
def pktgen_header():
    "--pktgen-header: magic, sequence and time in network byte order"
    receiver = Receiver()
    send(receiver, "--pktgen-header", "--payload", 20, "--count", 40)
    words = [[int.from_bytes(d.data[i:i + 4], "big") for i in range(0, 16, 4)] for d in receiver.drain()]
    equal([w[0] for w in words], [0xbe9be955] * 40, "magic")
    equal([w[1] for w in words], list(range(40)), "sequence")
    for _, _, sec, usec in words:
        between(time.time() - 60, sec, time.time(), "seconds")
        between(0, usec, 999999, "microseconds")


@test
def pinned_threads():
    "R98 --cpus: threads go to the CPUs of the list in turn; one outside the allowed set is refused"
    allowed = sorted(os.sched_getaffinity(0))
    receiver = Receiver()
    total = send(receiver, "--threads", 2, "--cpus", allowed[-1], "--count", 100).sum
    equal([(t["cpu_asked"], t["cpu_obtained"]) for t in total["threads"]], [(allowed[-1],) * 2] * 2, "CPUs")
    refused = Source("--cpus", allowed[-1] + 1, receiver.target).finish(2)
    if str(allowed[-1] + 1) not in refused.stderr:
        fail("does not name the CPU: " + refused.stderr)


@test
def wrong_command_lines():
    "R62 R16 what cannot be is refused with a sentence, exit 2, and nothing is sent"
    receiver = Receiver()
    for args, word in (
            (("--payload", 65508), "65507"), (("--payload", -1), "-1"), (("--tos", 4, "--dscp", 1), "--dscp"),
            (("--tos", 4, "--ecn", 1), "--ecn"), (("--dscp", 64), "63"), (("--ecn", 4), "3"), (("--tos", 256), "255"),
            (("--flows", 1, "--threads", 2), "--flows"), (("--gso", 2, "--send"), "--gso"), (("--gso", 2, "--payload", 0), "--gso"),
            (("--pktgen-header", "--payload", 15), "--pktgen-header"), (("--run-id", "xyz"), "--run-id"),
            (("--run-id", "123456789"), "--run-id"), (("--rate", 0), "--rate"), (("--rate", "0.0005"), "--rate"), (("--count", "1.5"), "--count"), (("--count", 0), "--count"),
            (("--pmtu", 6), "--pmtu"), (("-6",), "127.0.0.1"), (("--batch", 0), "--batch"),
            (("--batch", 65536, "--payload", 65507), "--batch"), (("--sender", "smoke"), "--sender"), (("198.18.0.1",), "destination")):
        run = Source(*args, receiver.target)
        equal(run.wait(), 2, "exit status with %s" % (args,))
        if word not in run.stderr or run.stdout:
            fail("%s: stderr %r, stdout %r" % (args, run.stderr, run.stdout))
    equal(Source().finish(2).stdout, "", "without destination")
    equal(Source("127.0.0.1:0").finish(2).stdout, "", "port 0")
    equal(receiver.drain(), [], "datagrams")


@test
def run_time_failures():
    "what fails at run time ends with exit 1 and a sentence that names the object"
    receiver = Receiver()
    for args, word in ((("--bind", "198.18.0.9"), "198.18.0.9"), (("--bind-dev", "no-such-dev"), "no-such-dev")):
        run = Source(*args, receiver.target).finish(1)
        if word not in run.stderr:
            fail("%s: stderr %r" % (args, run.stderr))
    full = Program(["sh", "-c", "exec \"$@\" >/dev/full", "sh", built("udp_source"), "--count", "1", receiver.target]).finish(1)
    if "standard output" not in full.stderr:
        fail("stderr %r" % full.stderr)


def options_text(text):
    path = scratch("options")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


@test
def options_file():
    "--config: options from a file, the command line has precedence"
    receiver = Receiver()
    path = options_text("payload = 40\ncount = 7 # comment\nsender = write\n")
    run = send(receiver, "--config", path, "--count", 9)
    equal((run.sum["sender"], run.sum["sent"]), ("write", 9), "sender and sent")
    receiver.drain()
    receiver.check(run.sum, 40)


@test
def text_form():
    "the text report is a header, one row, and one line for what was refused; no progress line without a terminal"
    receiver = Receiver()
    run = send(receiver, "--format", "text", "--count", 50)
    lines = run.stdout.splitlines()
    equal(len(lines), 2, "lines")
    equal(lines[1].split()[:4], ["sendmmsg/32", "50", "0", "900"], "row")
    equal(run.stderr, "", "stderr")
    receiver.socket.close()
    lines = send(receiver, "--format", "text", "--send", "--count", 50).stdout.splitlines()
    equal(lines[1].split()[1:3], ["25", "25"], "every second send is refused")
    equal(lines[2].split()[:3], ["refused:", "25", "ECONNREFUSED"], "reason")


@test
def strict_numbers():
    "R115 one datagram, and a run that is stopped before the first: strict JSON, null where a rate is undefined"
    receiver = Receiver()
    total = send(receiver, "--count", 1, "--rate", 1000).sum
    equal((total["sent"], total["pace"]["achieved_pps"]), (1, None), "one datagram")
    run = Source("--rate", 1, "--threads", 2, "--duration", 60, receiver.target)
    run.record("header")
    run.stop(signal.SIGINT)
    for thread in run.sum["threads"]:
        equal(thread["ns_per_datagram"] is None, thread["sent"] == 0, "ns per datagram is unknown")


@test
def one_family_only():
    "-4 and -6 refuse the other family; ::ffff:127.0.0.1 goes through an IPv6 socket to an IPv4 receiver"
    need_ipv6()
    receiver = Receiver()
    total = send(receiver, "-4", "--count", 3).sum
    mapped = Source("-6", "--count", 3, "[::ffff:127.0.0.1]:%d" % receiver.port).finish().sum
    equal((total["sent"], mapped["sent"], len(receiver.drain())), (3, 3, 6), "datagrams")
    equal(Source("-4", "[::1]:9").wait(), 2, "exit status")


main()
