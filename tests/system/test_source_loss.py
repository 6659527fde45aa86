#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""R58 What the sending host drops after its kernel has said that it was sent: named, and accounted for."""
import shutil
import subprocess

from harness import Source, cases, equal, main, private_net, skip, test, wait_until
from netns import veth
from receiver import Receiver, namespace_counters

SENDERS = ["sendmmsg", "sendmsg", "sendto", "send", "write", "uring"]
FULL = "tbf rate 2mbit burst 2000 limit 3000"  # room for some twenty datagrams


def narrow(discipline=FULL):
    """A veth pair whose near end has this queueing discipline: a receiver at the other end, which knows its neighbour."""
    if not shutil.which("tc"):
        skip("iproute2 (tc) is not installed")
    with veth():
        receivers = {"v4": Receiver("198.18.0.2"), "v6": Receiver("2001:db8:0::2")}
    for receiver in receivers.values():
        Source("--count", 1, receiver.target).finish()
        wait_until(receiver.drain, what="the first datagram")
        receiver.got.clear()
    made = subprocess.run(["tc", "qdisc", "add", "dev", "veth0", "root", *discipline.split()], capture_output=True, text=True, check=False)
    if made.returncode:
        skip("no such queueing discipline here: " + made.stderr.strip())
    return receivers


def usable(sender):
    if sender == "uring" and "liburing none" in Source("--version", "-v").finish().stdout:
        skip("built without liburing")


@test
@cases(sender=SENDERS, family=["v4", "v6"])
@private_net
def silent_loss(sender, family):
    "R58 {sender} {family}: sent = received + what the discipline dropped; a warning names it; SndbufErrors says the same"
    usable(sender)
    receiver, name = narrow()[family], "UdpSndbufErrors" if family == "v4" else "Udp6SndbufErrors"
    before = namespace_counters()[name]
    run = Source("--sender", sender, "--payload", 100, "--count", 500, receiver.target).finish()
    loss = run.sum["local_loss"]
    equal((run.sum["sent"], run.sum["refused"], loss["device"], loss["qdisc"]), (500, {}, "veth0", "tbf"), "sent, refused, place")
    equal(loss["qdisc_drops"] > 300, True, "drops: %r" % loss)
    equal(loss["sndbuf_errors"], namespace_counters()[name] - before, name)
    wait_until(lambda: len(receiver.drain()) + loss["qdisc_drops"] == 500, what="the others: %r" % loss)
    if family == "v4":  # IPv6 counts it as sent all the same, on some kernels
        equal(loss["sndbuf_errors"], loss["qdisc_drops"], "SndbufErrors and drops")
    equal("the queueing discipline of veth0 (tbf) dropped %d packets" % loss["qdisc_drops"] in run.stderr, True, run.stderr)


@test
@cases(sender=SENDERS, family=["v4", "v6"])
@private_net
def refused_instead(sender, family):
    "R58 {sender} {family} --recverr: the same datagrams are refused with ENOBUFS; sent = received, numbers without gaps"
    usable(sender)
    receiver = narrow()[family]
    run = Source("--sender", sender, "--recverr", "--payload", 100, "--count", 500, receiver.target).finish()
    equal(list(run.sum["refused"]), ["ENOBUFS"], "refused")
    # More drops than refusals: sendmmsg swallows an error in the middle of a batch, and the datagram is tried again.
    equal((run.sum["attempted"], run.sum["local_loss"]["qdisc_drops"] >= run.sum["refused"]["ENOBUFS"]), (500, True), "attempted, drops: %r" % run.sum)
    equal(run.stderr, "", "standard error: nothing was lost in silence")
    wait_until(lambda: len(receiver.drain()) == run.sum["sent"], what="%d datagrams" % run.sum["sent"])
    equal([d.header["sequence"] for d in receiver.got], list(range(run.sum["sent"])), "numbers")


@test
@private_net
def nothing_lost():
    "R58 nothing was lost: zeros, no warning; lo has no queue"
    receiver = narrow("pfifo limit 1000")["v4"]
    run = Source("--count", 200, "--rate", "5k", receiver.target).finish()
    loss = run.sum["local_loss"]
    equal(loss, {"device": "veth0", "qdisc": "pfifo", "qdisc_drops": 0, "tx_dropped": 0, "sndbuf_errors": 0}, "loss")
    equal(run.stderr, "", "standard error")
    loss = Source("--count", 10, Receiver().target).finish().sum["local_loss"]
    equal(loss, {"device": "lo", "qdisc": "noqueue", "qdisc_drops": 0, "tx_dropped": 0, "sndbuf_errors": 0}, "loss on lo")


@test
@private_net
def interface_loss():
    "R58 what the far end of the pair does not take (its MTU is smaller) is dropped by the near one, which is named"
    peer = veth()
    with peer:
        receiver = Receiver("198.18.0.2")
    Source("--count", 1, receiver.target).finish()
    wait_until(receiver.drain, what="the first datagram")
    with peer:
        subprocess.run("ip link set peer0 mtu 600".split(), check=True)
    run = Source("--count", 50, "--payload", 1000, "--rate", "5k", receiver.target).finish()
    equal((run.sum["sent"], run.sum["local_loss"]["tx_dropped"], run.sum["local_loss"]["qdisc_drops"]), (50, 50, 0), "sent, dropped")
    equal("the interface veth0 dropped 50 packets" in run.stderr, True, run.stderr)


main()
