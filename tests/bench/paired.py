# SPDX-License-Identifier: MIT
"""paired - the ratio of two costs that were measured side by side, with a confidence interval.

Method: each round measures all sides once, in random order, so that a slow drift of the machine meets all of them alike. For two sides the differences
of the logarithms, one per round, are analysed by ranks: the estimate is the Hodges-Lehmann median of the pairwise (Walsh) averages, the interval
the one that belongs to Wilcoxon's signed-rank test (M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, 2nd ed. 1999, sections 3.1 to 3.3:
a single disturbed window moves neither much, and no normal distribution is assumed). What is assumed: the differences of rounds are independent
and symmetric about their centre; the random order within rounds is what makes that reasonable. test_paired.py checks the coverage."""
import functools
import math


class Ratio:
    """Estimate and interval of a / b. n: rounds used. confidence: what the interval really has (ranks are discrete)."""

    def __init__(self, estimate, low, high, n, confidence):
        self.estimate, self.low, self.high, self.n, self.confidence = estimate, low, high, n, confidence

    def below(self, bar):
        """Has it been shown that the ratio is under the bar?"""
        return self.high < bar

    def __str__(self):
        return "%.4f [%.4f, %.4f]" % (self.estimate, self.low, self.high)


@functools.lru_cache(maxsize=None)
def _lower_tail(n):
    """P(T+ <= t) for t = 0..n(n+1)/4 of the signed-rank statistic: counts the subsets of 1..n by their sum."""
    top = n * (n + 1) // 4
    count = [1] + [0] * top
    for rank in range(1, n + 1):
        for total in range(top, rank - 1, -1):
            count[total] += count[total - rank]
    tail, total = [], 0
    for c in count:
        total += c
        tail.append(total / 2.0 ** n)
    return tail


def signed_rank_order(n, confidence):
    """(k, real confidence): the interval runs from the k-th smallest to the k-th largest Walsh average of n differences."""
    tail = _lower_tail(n)
    half = (1 - confidence) / 2
    k = sum(1 for p in tail if p <= half)  # largest k with P(T+ <= k - 1) <= half
    if k < 1:
        raise ValueError("%d rounds are too few for a confidence of %g" % (n, confidence))
    return k, 1 - 2 * tail[k - 1]


def ratio(a, b, confidence=0.95):
    """The ratio a / b from two equally long lists of positive figures, one of each per round."""
    if len(a) != len(b):
        raise ValueError("%d against %d figures" % (len(a), len(b)))
    if min(*a, *b) <= 0:
        raise ValueError("a figure is not above 0")
    d = [math.log(x) - math.log(y) for x, y in zip(a, b)]
    n = len(d)
    walsh = sorted((d[i] + d[j]) / 2 for i in range(n) for j in range(i, n))
    k, real = signed_rank_order(n, confidence)
    return Ratio(math.exp(median(walsh)), math.exp(walsh[k - 1]), math.exp(walsh[-k]), n, real)


def median(values):
    s = sorted(values)
    return (s[(len(s) - 1) // 2] + s[len(s) // 2]) / 2
