# SPDX-License-Identifier: MIT
"""udp_source in private network namespaces: the kernel's own counters, MTU, TOS, GSO that is refused, the pace on the wire."""
import contextlib
import glob
import shutil
import signal
import socket
import subprocess
import time

from harness import Source, between, by, cases, equal, fail, ip, main, private_net, skip, test, veth, wait_until
from receiver import STOP_S, Delta, Receiver, loopback

SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write"]
URING = ["uring", "uring --zerocopy"]


@test
@cases(family=["v4", "v6"], sender=URING)
@private_net
def accepted_by_uring_is_what_the_kernel_counts(family, sender):
    "R56 {family} {sender}: accepted messages equal UdpOutDatagrams for each batch and thread count; GSO datagrams the segments received"
    words = by(sender)
    counted(family, [[*words, "--batch", 1], [*words, "--batch", 64], [*words, "--threads", 3, "--flows", 7],
                     [*words, "--gso", 16, "--payload", 20], [*words, "--unconnected", "--payload", "imix"]])


@test
@cases(family=["v4", "v6"])
@private_net
def accepted_is_what_the_kernel_counts(family):
    "R56 {family}: accepted messages equal UdpOutDatagrams for each sender, batch and thread count; GSO datagrams the segments received"
    counted(family, all_runs())


def counted(family, runs):
    """Each run with these arguments: its own count is the kernel's."""
    receiver = Receiver(loopback(family))
    out, arrived = ("UdpOutDatagrams", "IpExtInNoECTPkts") if family == "v4" else ("Udp6OutDatagrams", "Ip6InNoECTPkts")
    for args in runs:
        delta = Delta()
        run = Source(*args, "--count", 20011, receiver.target).finish()
        total, test = run.sum, run.record("header")["gso"]
        equal((total["sent"], total["refused"]), (20011, {}), "sent with %s" % args)
        equal(test["self_test_messages"] > 0, "gso" in str(args), "self-test with %s" % args)
        equal(delta[out] - test["self_test_messages"], total["messages"], "%s with %s" % (out, args))
        equal(delta[arrived] - test["self_test_datagrams"], total["sent"], "%s with %s" % (arrived, args))


def all_runs():
    runs = [["--" + s, "--batch", b] for s in SENDERS for b in (1, 64)]
    runs += [["--batch", 3000], ["--threads", 3, "--flows", 7], ["--gso", 16, "--payload", 20], ["--sendmsg", "--gso", 7],
             ["--sender", "gso"], ["--sender", "gso", "--threads", 2, "--flows", 5, "--flow-length", 77], ["--unconnected"],
             ["--sendto", "--unconnected"], ["--payload", "imix", "--unconnected"]]
    return runs


@test
@cases(family=["v4", "v6"])
@private_net
def sizes_and_the_mtu(family):
    "R62 {family}, MTU 1500: one notice where a datagram is fragmented, none at the exact fit; sizes on the wire are what was asked"
    fit, largest, created = (1472, 45, "IpFragCreates") if family == "v4" else (1452, 46, "Ip6FragCreates")
    peer = veth()
    with peer:
        receiver = Receiver("198.18.0.2" if family == "v4" else "2001:db8:0::2")
    for size, fragments in ((fit, 1), (fit + 1, 2), (8192, 6), (65507, largest)):
        delta = Delta()
        run = Source("--payload", size, "--count", 3, "--rate", 1000, receiver.target).finish()
        equal(delta[created], 3 * fragments if fragments > 1 else 0, created)
        header = run.record("header")
        equal((header["mtu"], header["fragments_per_datagram"]), (1500, fragments), "MTU and fragments")
        if fragments == 1:
            equal(run.stderr, "", "stderr at the exact fit")
        else:
            equal(run.stderr.count("\n"), 1, "lines of " + run.stderr)
            for word in ("1500", str(fit), "%d fragments" % fragments):
                if word not in run.stderr:
                    fail("no %r in %r" % (word, run.stderr))
        wait_until(lambda: len(receiver.drain()) == 3, what="3 datagrams of %d bytes" % size)
        receiver.check(run.sum, size)
        receiver.got.clear()
    equal(Source("--payload", 65508, receiver.target).wait(), 2, "exit status")


@test
@private_net
def fragments_are_as_announced():
    "R62 MTU 1499: the number of fragments is what the kernel makes, at each edge"
    with veth():
        receiver = Receiver("198.18.0.2")
    ip("link set veth0 mtu 1499")
    for size in (1471, 1472, 2943, 2944, 4415, 4416):
        delta = Delta()
        announced = Source("--payload", size, "--count", 1, receiver.target).finish().record("header")["fragments_per_datagram"]
        equal(announced, max(1, delta["IpFragCreates"]), "fragments of %d" % size)


@test
@private_net
def path_mtu_discovery():
    "--pmtu 2: a datagram above the MTU is refused with EMSGSIZE, counted, and the run goes on; --pmtu 0 fragments it"
    with veth():
        receiver = Receiver("198.18.0.2")
    run = Source("--payload", 1473, "--count", 40, "--pmtu", 2, receiver.target).finish()
    equal((run.sum["attempted"], run.sum["sent"], run.sum["refused"]), (40, 0, {"EMSGSIZE": 40}), "sum")
    if "EMSGSIZE" not in run.stderr:
        fail("no notice: %r" % run.stderr)
    equal(Source("--payload", 1472, "--count", 40, "--pmtu", 2, receiver.target).finish().sum["sent"], 40, "fits")
    equal(Source("--payload", 1473, "--count", 40, "-d", 0, receiver.target).finish().sum["sent"], 40, "fragmented")
    wait_until(lambda: len(receiver.drain()) == 80, what="80 datagrams")


@test
@cases(sender=["sendmsg", "sendmmsg", *URING])
@private_net
def gso_above_the_mtu(sender):
    "R51 {sender}: segments above the MTU are refused by the kernel; the same datagrams go out plain, in fragments, once"
    words, peer = by(sender), veth()
    ip("link set veth0 mtu 1280")
    with peer:
        ip("link set peer0 mtu 1280")
        receiver = Receiver("198.18.0.2")
    run = Source(*words, "--gso", 8, "--batch", 4, "--payload", 1400, "--count", 100, "--rate", "20k", receiver.target).finish()
    equal((run.sum["attempted"], run.sum["sent"], run.sum["messages"], run.sum["refused"]), (100, 100, 100, {}), "sum")
    equal(run.sum["gso"]["segments"], 1, "segments at the end")
    if run.sum["gso"]["refused"] not in ("EINVAL", "EMSGSIZE", "EIO"):
        fail("reason: %r" % run.sum["gso"])
    wait_until(lambda: len(receiver.drain()) + receiver.drops() >= 100, what="100 datagrams")
    receiver.check(run.sum, 1400)
    text = Source(*words, "--gso", 8, "--payload", 1400, "--count", 10, "--format", "text", receiver.target).finish().stdout
    equal(text.count("GSO was turned off"), 1, "lines about GSO")


@test
@cases(options=["--dscp 46", "--dscp 46 --ecn 2", "--ecn 1", "--tos 255", ""], path=["v4", "v6", "mapped"])
@private_net
def type_of_service(options, path):
    "R15 R16 {path} '{options}': the byte that the receiver sees"
    expected = {"--dscp 46": 0xb8, "--dscp 46 --ecn 2": 0xba, "--ecn 1": 1, "--tos 255": 255, "": 0}[options]
    receiver = Receiver("::1" if path == "v6" else "127.0.0.1", tos=True)
    target = "[::ffff:127.0.0.1]:%d" % receiver.port if path == "mapped" else receiver.target
    Source(*options.split(), "--count", 5, target).finish()
    equal([d.tos for d in receiver.drain()], [expected] * 5, "TOS")


@test
@cases(address=["127.0.0.1", "::1", "239.1.2.3"])
@private_net
def time_to_live(address):
    "--ttl 7 to {address}: the TTL that the receiver sees"
    v6 = ":" in address
    receiver = Receiver(address if address != "239.1.2.3" else "0.0.0.0")
    receiver.socket.setsockopt(*((socket.IPPROTO_IPV6, 51, 1) if v6 else (socket.IPPROTO_IP, 12, 1)))  # IPV6_RECVHOPLIMIT, IP_RECVTTL
    target = "[%s]:%d" % (address, receiver.port) if v6 else "%s:%d" % (address, receiver.port)
    if address == "239.1.2.3":
        ip("route add 239.0.0.0/8 dev lo")
        receiver.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(address) + socket.inet_aton("127.0.0.1"))
    Source("--ttl", 7, "--count", 1, target).finish()
    data, control, _, _ = receiver.socket.recvmsg(100, 100)
    equal((len(data), [int.from_bytes(value, "little") for _, _, value in control]), (18, [7]), "TTL")


@test
@private_net
def bound_device():
    "--bind-dev: sent by that interface although the route says another"
    with veth() as peer:
        receiver = Receiver("198.18.0.2")
    veth(peer, 1)
    delta = Delta()
    total = Source("--bind-dev", "veth0", "--count", 10, receiver.target).finish().sum
    wait_until(lambda: len(receiver.drain()) == 10, what="10 datagrams")
    equal({d.source[0] for d in receiver.got}, {"198.18.0.1"}, "source")
    lost = Source("--bind-dev", "lo", "--count", 10, receiver.target).wait()
    equal((total["sent"], delta["UdpOutDatagrams"] >= 10, lost in (0, 1)), (10, True, True), "sent")
    equal(receiver.drain()[10:], [], "nothing came by lo")


@test
@cases(sender=["sendmmsg", *URING])
@private_net
def a_send_that_blocks(sender):
    "{sender}: SIGTERM ends a run whose sends wait for room in a stuck device queue; the sum is what the kernel accepted"
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    words, peer = by(sender), veth()
    with peer:
        receiver = Receiver("198.18.0.2")
    command = "tc qdisc add dev veth0 root tbf rate 8kbit burst 2000 limit 100000000"
    made = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    if made.returncode:
        skip("no tbf here: " + made.stderr.strip())
    for _ in range(3):  # the machine is shared
        delta = Delta()
        run = Source(*words, "--duration", 60, "--payload", 1000, "--sndbuf", 20000, receiver.target)
        run.record("header")
        # About 20 fill the buffer; then nothing moves for a second.
        wait_until(lambda d=delta: d["UdpOutDatagrams"] >= 5, what="the first datagrams")
        wait_until(stalled(delta), what="sends that wait")
        equal(run.stop(signal.SIGTERM), 0, "exit status")
        equal(run.sum["sent"], delta["UdpOutDatagrams"], "sent")
        equal(run.sum["refused"], {}, "refused")
        if run.stop_s <= STOP_S:
            return
    fail("it still took %.3f s" % run.stop_s)


def stalled(delta):
    """A condition: true when the count did not move over 10 looks."""
    state = {"value": -1, "same": 0}

    def look():
        value = delta["UdpOutDatagrams"]
        state["same"] = state["same"] + 1 if value == state["value"] else 0
        state["value"] = value
        return state["same"] >= 10
    return look


def first_in_line():
    """Prefix that lets a program run before all others where that is allowed (root), so that a busy machine does not disturb it."""
    prefix = ["chrt", "--fifo", "10"]
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    return prefix if allowed else []


def stolen():
    """CPU time that a hypervisor gave to others, in ticks (proc(5), /proc/stat)."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8])


def disturbed(program):
    """Looks on until it ends. True when this machine kept it from running for more than 10 ms: a thread of it (the main one apart) was ready and
    not on a CPU (schedstat, field 2), or the machine itself was not."""
    longest, before = 0, stolen()
    while program.status() is None:
        for name in glob.glob("/proc/%d/task/*/schedstat" % program.pid):
            if name.split("/")[4] == str(program.pid):
                continue
            with contextlib.suppress(OSError, IndexError), open(name, encoding="ascii") as f:
                longest = max(longest, int(f.read().split()[1]))
        time.sleep(0.02)
    return longest > 10**7 or stolen() > before


@test
def even_pace():
    "R60 30 Mbit/s of 1470-byte datagrams: every 10 ms on the receiver's clock holds 20 % more or less than the mean"
    rate, window = 30_000_000 // (8 * 1470), 10**7
    mean = rate * window / 10**9
    busy = False
    for _ in range(3):  # the machine is shared: a window can be another program's fault
        receiver = Receiver(stamps=True)
        with receiver.running():
            run = Source("--payload", 1470, "--rate", rate, "--duration", "600ms", receiver.target, prefix=first_in_line())
            busy = disturbed(run)
        total = run.finish().sum
        receiver.check(total, 1470)
        stamps = [d.kernel_ns for d in receiver.got]
        counts = [0] * ((stamps[-1] - stamps[0]) // window + 1)
        for stamp in stamps:
            counts[(stamp - stamps[0]) // window] += 1
        # The first window is left out, and the last, which is not full.
        bad = [n for n in counts[1:-1] if abs(n - mean) > 0.2 * mean]
        if not bad and not total["pace"]["moved"]:
            between(1, total["pace"]["largest_burst"], mean, "largest burst")
            between(0.99 * rate, total["pace"]["achieved_pps"], 1.01 * rate, "achieved")
            return
    if busy:
        skip("the machine is too busy: in three runs of 0.6 s the source waited more than 10 ms for a CPU, or CPU time was stolen")
    fail("windows of %r, expected %.1f: %r; pace %r" % (bad, mean, counts, total["pace"]))


main()
