# SPDX-License-Identifier: MIT
"""udp_source --sender uring: refusals within a batch by the kernel itself (a preload library does not see io_uring), zero copy, and where it is
not to be had."""
import collections
import re
import shutil
import subprocess

from harness import Source, between, built, by, cases, equal, fail, ip, main, private_net, skip, strace, test, veth, wait_until
from receiver import Receiver, loopback

SENDERS = ["uring", "uring --zerocopy"]


def numbers(receiver):
    """Sequence numbers by stream, as they came."""
    found = collections.defaultdict(list)
    for d in receiver.got:
        found[d.header["stream"]].append(d.header["sequence"])
    return found


def without_gaps(receiver, total):
    """What was accepted arrived, once, in order, and its numbers have no gaps."""
    wait_until(lambda: len(receiver.drain()) + receiver.drops() >= total["sent"], what="%d datagrams" % total["sent"])
    equal((len(receiver.got), receiver.drops()), (total["sent"], 0), "received, drops")
    equal(sum(d.size for d in receiver.got), total["bytes"], "bytes")
    for stream, got in numbers(receiver).items():
        equal(got, list(range(len(got))), "numbers of stream %d" % stream)


@test
@cases(sender=[*SENDERS, "sendmmsg"])
@private_net
def too_large_ones(sender):
    "R56 {sender} --df: datagrams above the MTU among others are refused one by one, the others go out in order"
    words = by(sender)
    with veth():
        receiver = Receiver("198.18.0.2")
    run = Source(*words, "--df", "--payload", "100:3,1473:1,1472:1", "--count", 5000, "--seed", 5, "--flows", 3, "--rate", "50k",
                 receiver.target).finish()
    equal((run.sum["attempted"], set(run.sum["refused"])), (5000, {"EMSGSIZE"}), "attempted, reasons")
    equal(run.sum["sent"] + run.sum["refused"]["EMSGSIZE"], 5000, "sent + refused")
    between(900, run.sum["refused"]["EMSGSIZE"], 1100, "refused: a fifth")
    equal({d.size for d in receiver.drain()} <= {100, 1472}, True, "sizes")
    without_gaps(receiver, run.sum)


@test
@cases(sender=[*SENDERS, "sendmmsg"], route=["prohibit:EACCES", "unreachable:EHOSTUNREACH", "blackhole:EINVAL"])
@private_net
def refused_by_a_route(sender, route):
    "R56 {sender} {route}: one destination of five is refused, those behind it in the batch are not"
    kind, error = route.split(":")
    words = by(sender)
    receiver = Receiver("0.0.0.0")
    ip("route add", kind, "198.18.7.3/32")
    for host in (1, 2, 4, 5):
        ip("addr add 198.18.7.%d/32 dev lo" % host)
    total = Source(*words, "--dst-range", "198.18.7.1-198.18.7.5", "--port", receiver.port, "--count", 1000, "--rate", "50k").finish().sum
    equal((total["sent"], total["refused"]), (800, {error: 200}), "sent, refused")
    without_gaps(receiver, total)


@test
@cases(sender=SENDERS)
def nobody_listens_any_more(sender):
    "R56 {sender}: sent and refused add up where each refusal is an answer to an earlier datagram"
    words = by(sender)
    receiver = Receiver()
    receiver.socket.close()
    total = Source(*words, "--flows", 3, "--threads", 2, "--count", 3001, receiver.target).finish().sum
    equal(total["sent"] + total["refused"]["ECONNREFUSED"], 3001, "sent + refused")
    equal(set(total["refused"]), {"ECONNREFUSED"}, "reasons")


@test
@cases(sender=SENDERS)
def stopped_by_time(sender):
    "{sender} --duration: what was sent until then has arrived, or found the queue full"
    words = by(sender)
    receiver = Receiver()
    with receiver.running():
        total = Source(*words, "--duration", "200ms", "--flows", 2, receiver.target).finish().sum
    equal(total["attempted"], total["sent"], "attempted")
    equal(len(receiver.got) + receiver.drops(), total["sent"], "received + drops")


@test
def calls_are_system_calls():
    "calls is the number of io_uring_enter, and there is no other send call"
    words = by("uring")
    prefix, read = strace("io_uring_enter,sendmsg,sendmmsg,sendto")
    receiver = Receiver()
    run = Source(*words, "--count", 1000, "--batch", 10, receiver.target, prefix=prefix).finish()
    # The main thread asks rtnetlink about the interface: no send call of traffic.
    lines = [line for line in read(run) if "(" in line and "nlmsg_len" not in line]
    names = collections.Counter(re.search(r"(\w+)\(", line).group(1) for line in lines)
    equal(names, {"io_uring_enter": run.sum["calls"]}, "system calls")
    equal(run.sum["calls"], 100, "calls: one for each batch")


@test
@cases(family=["v4", "v6"], options=["", "--gso 8 --payload 500", "--payload imix --unconnected"])
def loopback_copies(family, options):
    "{family} '{options}' --zerocopy: over loopback the kernel copies every message, and the sum says so; without it none is counted"
    words = by("uring --zerocopy")
    receiver = Receiver(loopback(family))
    total = Source(*words, *options.split(), "--count", 400, receiver.target).finish().sum
    equal((total["sent"], total["zerocopy_copied"]), (400, total["messages"]), "sent, copied")
    receiver.drain()
    without_gaps(receiver, total)
    equal(sum(t["zerocopy_copied"] for t in total["threads"]), total["messages"], "copied, by thread")
    plain = Source(*by("uring"), *options.split(), "--count", 10, receiver.target).finish().sum
    equal(plain["zerocopy_copied"], 0, "copied without --zerocopy")
    text = Source(*words, "--count", 100, "--format", "text", receiver.target).finish().stdout
    if "copied 100 of 100 messages" not in text:
        fail("text: %r" % text)


@test
@private_net
def nothing_is_copied_on_the_way_to_a_device():
    "--zerocopy to a device that can gather: no message is copied up to its queue, where all end here"
    words = by("uring --zerocopy")
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    veth()
    ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev veth0")
    made = subprocess.run("tc qdisc add dev veth0 root blackhole".split(), capture_output=True, text=True, check=False)
    if made.returncode:
        skip("no blackhole qdisc here: " + made.stderr.strip())
    for options in ([], ["--gso", 8, "--batch", 3]):
        total = Source(*words, *options, "--count", 1000, "--payload", 1400, "198.18.0.2:9").finish().sum
        equal((total["sent"], total["zerocopy_copied"], total["refused"]), (1000, 0, {}), "sent, copied, refused with %s" % options)


@test
@cases(error=["EPERM", "ENOSYS"])
def refused_by_the_kernel(error):
    "R51 io_uring_setup fails with {error}, as in a container: refused with the cause and what to do, before anything is sent"
    by("uring")
    receiver = Receiver()
    deny = [built("tests/fault/deny"), "io_uring_setup:" + error, "--"]
    run = Source("--sender", "uring", receiver.target, prefix=deny)
    if run.wait() == 77:
        skip("no seccomp filters here")
    equal((run.status(), run.stdout, run.stderr.count("\n")), (1, "", 1), "exit status, stdout, lines of " + run.stderr)
    for word in ("--sender uring", "io_uring_setup", "seccomp", "sendmmsg"):
        if word not in run.stderr:
            fail("no %r in %r" % (word, run.stderr))
    equal(receiver.drain(), [], "datagrams")
    Source("--count", 1, receiver.target, prefix=deny).finish()


@test
def lost_while_running():
    "a ring that fails later ends the run with exit 1, and what was sent until then is in the sum"
    by("uring")
    receiver = Receiver()
    run = Source("--sender", "uring", receiver.target, prefix=[built("tests/fault/deny"), "io_uring_enter:EPERM", "--"])
    if run.wait() == 77:
        skip("no seccomp filters here")
    equal((run.status(), run.sum["sent"], "uring" in run.stderr), (1, 0, True), "exit status, sent, sentence in " + run.stderr)
    equal(receiver.drain(), [], "datagrams")


@test
def wrong_command_lines():
    "R16 --zerocopy goes with --sender uring only; auto does not choose uring"
    receiver = Receiver()
    for words in ([], ["--sender", "gso"], ["--sender", "auto"], ["--sender", "raw"]):
        run = Source("--zerocopy", *words, receiver.target)
        equal((run.wait(), run.stdout, "--sender uring" in run.stderr), (2, "", True), "with %s: %r" % (words, run.stderr))
    equal(receiver.drain(), [], "datagrams")
    equal("uring" in Source("--sender", "auto", "--count", 1, receiver.target).finish().sum["sender"], False, "sender of auto")


main()
