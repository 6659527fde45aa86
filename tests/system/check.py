# SPDX-License-Identifier: MIT
"""check - how a test fails, is skipped, and waits. Standard library only."""
import time

WAIT = 20.0  # seconds: how long a single wait may take unless told otherwise; an upper bound, never a measurement


class Failure(AssertionError):
    """The test failed; its text says how."""


class Skip(Exception):
    """The test cannot run here; its text says why."""


def fail(text):
    raise Failure(text)


def skip(reason):
    raise Skip(reason)


def equal(got, expected, what="value"):
    if got != expected:
        fail("%s: got %r, expected %r" % (what, got, expected))


def between(low, got, high, what="value"):
    if got is None or not low <= got <= high:
        fail("%s: got %r, expected %r to %r" % (what, got, low, high))


def wait_until(condition, timeout=WAIT, what="condition"):
    """Polls until condition() is true and returns its value. A condition may raise Failure to give up early."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            fail("%s: not within %g s (last: %r)" % (what, timeout, value))
        time.sleep(0.005)
