# SPDX-License-Identifier: MIT
"""traffic - what the tests of udp_source's traffic share: a run that loses nothing, and what came of it."""
import collections
import itertools
import math

from check import equal, fail
from programs import Source


def send(receiver, *args):
    """Runs the source against a receiver that reads meanwhile, to its end."""
    with receiver.running():
        run = Source(*args, receiver.target).finish()
    equal((receiver.drops(), run.sum["refused"], len(receiver.got)), (0, {}, run.sum["sent"]), "drops, refused, received")
    return run


def sequences(receiver):
    """stream -> its numbers in the order they came."""
    found = collections.defaultdict(list)
    for d in receiver.got:
        found[d.header["stream"]].append(d.header["sequence"])
    return found


def fits(counts, weights):
    """Pearson's chi-square: all but one in a million of true draws pass (z = 4.75, terms of Cornish and Fisher); with a --seed always or never."""
    total, whole = sum(counts.values()), sum(weights.values())
    equal(set(counts) - set(weights), set(), "values that were not asked for")
    chi = sum((counts.get(k, 0) - total * w / whole) ** 2 / (total * w / whole) for k, w in weights.items())
    degrees, z = len(weights) - 1, 4.75
    if chi > degrees + z * math.sqrt(2 * degrees) + 2 / 3 * (z * z - 1):
        fail("chi-square %.1f with %d degrees of freedom: %r" % (chi, degrees, counts))


def runs(values):
    """[(value, how often in a row), ...]"""
    return [(value, len(list(group))) for value, group in itertools.groupby(values)]
