# SPDX-License-Identifier: MIT
"""programs - programs under test: start, wait, read their records, and be sure that they end."""
import atexit
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from check import WAIT, equal, fail, skip, wait_until
from netns import die_with_parent

TOP_BUILDDIR = os.environ.get("TOP_BUILDDIR", os.getcwd())
SHOWN_LINES = 60  # of each output of each program, when a test fails

_programs = []   # everything started by this process and not yet buried
_scratch = None  # directory of this process for outputs


def scratch(name):
    """Path of a file in a directory that goes away with this process."""
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix="udpsink-test-")
    return os.path.join(_scratch, name)


def started():
    """Programs of the test that runs now."""
    return _programs


def bury_all():
    """Kills what is still running."""
    for program in _programs:
        program.kill()
    _programs.clear()


def leave():
    """Kills everything and removes the outputs; also at exit."""
    global _scratch
    bury_all()
    if _scratch:
        shutil.rmtree(_scratch, ignore_errors=True)
        _scratch = None


def disown():
    """In a forked child: what the parent started and wrote is the parent's."""
    global _scratch
    _programs.clear()
    _scratch = None


atexit.register(leave)


def built(name):
    """A program or file of the build directory; its absence is a failure, not a skip."""
    path = os.path.join(TOP_BUILDDIR, name)
    if not os.path.exists(path):
        fail("%s is not built" % path)
    return path


def module(name):
    """The environment that preloads libfault or liballoc of tests/fault. Libtool leaves modules in .libs, under the name in the .la file."""
    folder = os.path.join("tests", "fault")
    with open(built(os.path.join(folder, name + ".la")), encoding="utf-8") as f:
        file = re.search("^dlname='(.*)'", f.read(), re.MULTILINE).group(1)
    if not file:
        skip("%s needs a build with shared libraries (configure --disable-shared was given)" % name)
    # A sanitizer's run time must be ready before anything else: it comes first, and passes calls on to ours.
    run_time = []
    if os.environ.get("UDPSINK_SANITIZERS", "no") != "no":
        linked = subprocess.run(["ldd", built(os.path.join(folder, "victim"))], capture_output=True, text=True, timeout=WAIT,
                                check=False).stdout
        run_time = re.findall(r"(/\S*/lib\w+san\.so\S*)", linked)
    return {"LD_PRELOAD": ":".join([*run_time, built(os.path.join(folder, ".libs", file))])}


def strict_json(text):
    def refuse(constant):
        fail("not JSON: %s in %s" % (constant, text))
    return json.loads(text, parse_constant=refuse)


class Program:
    """A running program. Outputs go to files: it never blocks on us, and everything can be shown afterwards.

    prefix: command that execs the program (deny, setpriv, taskset, strace -D): the pid stays the program's."""

    def __init__(self, command, prefix=(), env=None, stdin=subprocess.DEVNULL, pass_fds=()):
        self.command = [*prefix, *command]
        stem = scratch("%d-%s" % (len(os.listdir(scratch("."))), os.path.basename(command[0])))
        self._paths = stem + ".out", stem + ".err"
        with open(self._paths[0], "wb") as out, open(self._paths[1], "wb") as err:
            self._popen = subprocess.Popen(self.command, stdin=stdin, stdout=out, stderr=err, start_new_session=True,
                                           env={**os.environ, **(env or {})}, preexec_fn=die_with_parent, pass_fds=pass_fds)
        self.pid = self._popen.pid
        _programs.append(self)

    @property
    def stdout(self):
        with open(self._paths[0], encoding="utf-8", errors="replace") as f:
            return f.read()

    @property
    def stderr(self):
        with open(self._paths[1], encoding="utf-8", errors="replace") as f:
            return f.read()

    def status(self):
        """None while it runs; else the exit status, negative for a signal."""
        return self._popen.poll()

    def wait(self, timeout=WAIT):
        """Waits for the end and returns the exit status; kills it and fails at the time-out."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return fail("%s did not end within %g s" % (" ".join(self.command), timeout))

    def finish(self, status=0, timeout=WAIT):
        """Waits for the end with this exit status; returns self."""
        equal(self.wait(timeout), status, "exit status of " + " ".join(self.command))
        return self

    def send_signal(self, number):
        os.kill(self.pid, number)

    def stop(self, number=signal.SIGTERM, timeout=WAIT):
        """Sends the signal and waits; returns the exit status. stop_s: how long that took."""
        begin = time.monotonic()
        if self.status() is None:
            self.send_signal(number)
        status = self.wait(timeout)
        self.stop_s = time.monotonic() - begin
        return status

    def kill(self):
        if self.status() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)  # its own session: the program and its children
            self._popen.wait()

    def records(self, kind=None):
        """The JSON lines so far (complete ones), optionally of one type only. Strict: NaN is refused."""
        lines = self.stdout.split("\n")[:-1]
        return [r for r in (strict_json(line) for line in lines if line) if kind in (None, r.get("type"))]

    def record(self, kind, timeout=WAIT):
        """The first record of a type; waits for it. An early end of the program is a failure."""
        def look():
            ended = self.status() is not None
            found = self.records(kind)
            if ended and not found:
                fail("%s ended with status %s without a %s record" % (" ".join(self.command), self.status(), kind))
            return found
        return wait_until(look, timeout, "%s record" % kind)[0]

    @property
    def sum(self):
        """The last sum record; waits for one."""
        self.record("sum")
        return self.records("sum")[-1]

    def describe(self):
        yield "program: %s (status %s)" % (" ".join(self.command), self.status())
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            lines = text.splitlines()
            if len(lines) > SHOWN_LINES:
                yield "  %s: (%d lines left out)" % (name, len(lines) - SHOWN_LINES)
            for line in lines[-SHOWN_LINES:]:
                yield "  %s: %s" % (name, line[:1000])


def port_of(address):
    """9000 of '[::]:9000'."""
    return int(address.rsplit(":", 1)[1])


class Sink(Program):
    """udp_sink, ready to receive. JSON unless the arguments name a format; text and classic say ready on stderr in text mode
    only, so classic is not waited for. ready=False: do not wait (it is expected to fail)."""

    def __init__(self, *args, ready=True, **options):
        args = [str(a) for a in args]
        given = [a for i, a in enumerate(args) if args[i - 1:i] == ["--format"] or a.startswith("--format=")]
        kind = given[-1].replace("--format=", "") if given else "json"
        super().__init__([built("udp_sink"), *args, *([] if given else ["--format", "json"])], **options)
        self.ready = None
        if ready and kind == "json":
            self.ready = self.record("ready")
        elif ready and kind == "text":
            wait_until(self._says_ready, what="'udp_sink: ready' on stderr")

    def _says_ready(self):
        if "udp_sink: ready" in self.stderr:
            return True
        return self.status() is not None and fail("udp_sink ended with status %s before it was ready" % self.status())

    @property
    def ports(self):
        """Ports it listens on, in socket order, without repeats."""
        return list(dict.fromkeys(port_of(a) for a in self.ready["listening"]))

    @property
    def port(self):
        return self.ports[0]


class Source(Program):
    """udp_source. Source(...).finish().sum["sent"]"""

    def __init__(self, *args, **options):
        args = [str(a) for a in args]
        extra = [] if any(a.startswith("--format") for a in args) else ["--format", "json"]
        super().__init__([built("udp_source"), *extra, *args], **options)


_lacking = {}  # sender: why it cannot be used here, or None


def by(sender):
    """Arguments that choose a sender, which may have options of its own behind it ("uring --zerocopy"); skips where this build or this
    kernel lacks it."""
    args = ["--sender", *sender.split()]
    if "uring" in args and sender not in _lacking:
        # It gets no further than the device. What is refused before that is the sender.
        answer = Source(*args, "--bind-dev", "no-such-dev", "127.0.0.1").finish(1).stderr
        _lacking[sender] = None if "no-such-dev" in answer else answer.strip()
    if _lacking.get(sender):
        skip(_lacking[sender])
    return args


def engines():
    """Names of the engines that this build has and this host can run, from udp_sink --list-engines."""
    listing = Program([built("udp_sink"), "--list-engines"]).finish().stdout
    words = [line.split() for line in listing.splitlines()]
    return [w[0] for w in words if w[1] == "yes"]


_tracer = []


def strace(calls):
    """(prefix, read): prefix runs a program under strace for these calls (as strace -e trace=...); read(program) gives the lines, each
    with its thread id in front, once it has ended. The program stays our direct child (-D). LeakSanitizer cannot run there."""
    if not shutil.which("strace"):
        skip("strace is not installed")
    if not _tracer:
        done = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, timeout=WAIT, text=True, check=False)
        _tracer.append(done.stderr.strip() or "status %d" % done.returncode if done.returncode else "")
    if _tracer[0]:
        skip("strace cannot trace here: " + _tracer[0].splitlines()[0])
    log = scratch("strace-%d" % len(os.listdir(scratch("."))))
    leaks = ["env", "ASAN_OPTIONS=detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")]

    def read(program):
        def ended():
            with open(log, encoding="utf-8", errors="replace") as f:
                lines = f.read().splitlines()
            return lines if any(re.match(r"%d +\+\+\+ " % program.pid, line) for line in lines[-5:]) else None
        return wait_until(ended, what="end of the strace log")
    return [*leaks, "strace", "-D", "-f", "-e", "trace=" + calls, "-o", log], read
