# SPDX-License-Identifier: MIT
"""paired.py: the interval has the confidence that it claims. Random data from fixed seeds: the same on every run."""
import itertools
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paired  # noqa: E402
from harness import between, cases, equal, main, test  # noqa: E402

TRIALS = 800  # standard error of a coverage of 95 %: 0.8 %
TRUE = 1.02


def spread(rng):
    """Noise of a window: 10 % as on a shared machine."""
    return math.exp(rng.gauss(0, 0.1))


def outliers(rng):
    """Every tenth window was disturbed by something else and cost half as much again, or three times as much."""
    return math.exp(rng.gauss(0, 0.05)) * (rng.choice([1.5, 3]) if rng.random() < 0.1 else 1)


def quiet(rng):
    return math.exp(rng.gauss(0, 0.002))


NOISE = {"spread": spread, "outliers": outliers, "quiet": quiet}


def rounds(rng, noise, n, second=1.0):
    """n rounds of two sides under a drift that both share. second: what it costs to come second in a round."""
    a, b, drift = [], [], 0.0
    for _ in range(n):
        drift += rng.gauss(0, 0.05)
        extra = (1, second) if rng.random() < 0.5 else (second, 1)
        a.append(500 * TRUE * math.exp(drift) * noise(rng) * extra[0])
        b.append(500 * math.exp(drift) * noise(rng) * extra[1])
    return a, b


@test
@cases(noise=NOISE, n=[60, 20])
def coverage(noise, n):
    "the 95 % interval holds the true ratio in about 95 % of experiments: {noise}, {n} rounds"
    rng = random.Random(1)
    hit = 0
    for _ in range(TRIALS):
        r = paired.ratio(*rounds(rng, NOISE[noise], n))
        hit += r.low <= TRUE <= r.high
    between(0.93, hit / TRIALS, 0.975, "coverage")


@test
def order():
    "random order keeps the coverage where the second window of a round costs 10 % more"
    rng = random.Random(2)
    hit = 0
    for _ in range(TRIALS):
        r = paired.ratio(*rounds(rng, quiet, 60, second=1.1))
        hit += r.low <= TRUE <= r.high
    between(0.93, hit / TRIALS, 0.975, "coverage")


@test
def false_pass():
    "a ratio of exactly the bar is passed in at most about 2.5 % of experiments"
    rng = random.Random(3)
    passed = sum(paired.ratio(*rounds(rng, spread, 60)).below(TRUE) for _ in range(TRIALS))
    between(0.005, passed / TRIALS, 0.045, "share that passed")


@test
def power():
    "a ratio of 1.02 is shown to be below 1.10 with the noise of a shared machine, and not below 1.00"
    rng = random.Random(4)
    found = [paired.ratio(*rounds(rng, spread, 60)) for _ in range(100)]
    between(90, sum(r.below(1.10) for r in found), 100, "passes of the bar 1.10")
    between(0, sum(r.below(1.00) for r in found), 1, "passes of the bar 1.00")


@test
def distribution():
    "the signed-rank distribution equals full enumeration, and gives the well-known critical value 8 for n = 10 (5 %, two-sided)"
    for n in range(1, 9):
        sums = sorted(sum(r for r, take in zip(range(1, n + 1), signs) if take)
                      for signs in itertools.product([0, 1], repeat=n))
        for t in range(n * (n + 1) // 4 + 1):
            equal(paired._lower_tail(n)[t], sum(s <= t for s in sums) / 2 ** n, "P(T <= %d), n = %d" % (t, n))
    equal(round(paired._lower_tail(10)[8], 3), 0.024, "tail")
    k, real = paired.signed_rank_order(10, 0.95)
    equal(k, 9, "order statistic")
    between(0.95, real, 0.952, "real confidence")


@test
def exact_cases():
    "equal sides give exactly 1; a constant factor is found exactly; bad input is refused"
    values = [float(v) for v in range(1, 21)]
    r = paired.ratio(values, values)
    equal((r.estimate, r.low, r.high, r.n), (1.0, 1.0, 1.0, 20))
    r = paired.ratio([2 * v for v in values], values)
    between(1.999999, r.low, r.estimate)
    between(r.estimate, r.high, 2.000001)
    for a, b in (([1, 2], [1]), ([0] * 10, [1] * 10), ([1] * 3, [1] * 3)):
        try:
            paired.ratio(a, b)
        except ValueError:
            continue
        raise AssertionError("accepted %r, %r" % (a, b))


main()
