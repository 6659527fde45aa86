# SPDX-License-Identifier: MIT
"""ledgers - what the tests of --ledger share: runs whose losses are known, and the checks on what the sink says of them."""
from harness import Sink, Source, equal, fail, scratch, wait_until
from sender import paused, settle

EVERYWHERE = ["qdisc", "link", "backlog", "ip", "rp_filter", "reassembly", "reassembling", "no_port", "csum", "header", "mem", "filter",
              "rcvbuf", "ring"]


class Accounted:
    """A sink with --ledger that learns what was sent from the records of the sources. Use: add(Source(...).finish()), then ledger()."""

    def __init__(self, *args, **options):
        self.path = scratch("sent-%d" % id(self))
        self.records = ""
        self.sink = Sink("--ledger", "--sent-from", self.path, "--count", 0, *args, **options)
        self.port = self.sink.port

    def add(self, source):
        self.records += source.stdout
        return source

    def end(self, drained=True):
        """Stops it, with nothing left in its queue; the sum record."""
        if drained:
            settle(self.sink)
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(self.records)
        equal(self.sink.stop(), 0, "exit status of the sink: " + self.sink.stderr)
        return self.sink.sum

    def ledger(self):
        return self.end()["ledger"]


def flood(accounted, *args, host="127.0.0.1", count=1000):
    """More than fits into the receive buffer of a sink that stands still; it reads the rest afterwards."""
    with paused(accounted.sink):
        source = accounted.add(Source("--count", count, *args, "%s:%d" % (host, accounted.port)).finish())
    return source.sum


def lost(ledger, verdict="balanced", **places):
    """These places have lost so many datagrams, exactly, and no other has lost anything; everything adds up. What the sending host dropped only
    its record tells: without, that is not known."""
    drops = {name: ledger["drops"][name] for name in EVERYWHERE}
    if quality(ledger, "qdisc") == "unknown":
        drops["qdisc"] = 0
    equal(drops, {**dict.fromkeys(EVERYWHERE, 0), **places}, "drops of %r" % ledger)
    equal(ledger["verdict"], verdict, "verdict of %r" % ledger)
    if verdict == "balanced":
        equal((ledger["residual"], ledger["surplus"], ledger["queued"]), (0, 0, 0), "residual, surplus, queued")
        equal(ledger["sent"] + ledger["trailers_sent"], ledger["received"] + ledger["trailers"] + sum(places.values()), "sent = received + lost")


def quality(ledger, place):
    return ledger["places"][place]["quality"]


def until(sink, datagrams):
    """Waits until the sink has told, in an interval record, that it has received so many in all."""
    def enough():
        if sink.status() is not None:
            fail("udp_sink ended with status %s" % sink.status())
        return sum(r["total"]["datagrams"] for r in sink.records("period")) >= datagrams
    wait_until(enough, what="%d datagrams" % datagrams)
