# SPDX-License-Identifier: MIT
"""What udp_sink prints: text, classic and JSON of the same traffic, records and their fields, intervals, outputs that fail, terminals."""
import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

from harness import (WAIT, Program, Sink, Source, between, built, cases, equal, fail, free_port, main, module, scratch, skip, socket_drops,
                     test, wait_until)
from sender import ENGINES, Sender, check_sums, command, paused, received, settle, sh

STOP_S = 5.0  # seconds that an end may take which is not meant to take any
FORMATS = ["text", "classic", "json"]
COLUMNS = ["run", "datagrams", "pps", "wall", "cpu", "user", "system", "payload", "batch", "wakeups", "drops"]
QUOTIENTS = ["pps", "wall", "cpu", "user", "system", "payload", "batch"]
NOT_A_NUMBER = re.compile(r"\b(nan|inf|infinity)\b", re.IGNORECASE)


def started(form, *args, **options):
    """udp_sink in this format on a port of its own, ready; .port is set."""
    port = free_port()
    sink = Sink("--listen", "127.0.0.1:%d" % port, "--format", form, *args, ready=False, **options)
    sink.port_asked = port

    def ready():
        if sink.status() is not None:
            fail("it ended with status %s" % sink.status())
        return sink.records("ready") if form == "json" else "ready: " in sink.stderr
    wait_until(ready, what="ready")
    return sink


def text_rows(sink):
    """The rows of runs and periods of the text table: label and columns, as texts."""
    rows = []
    for line in sink.stdout.splitlines()[2:]:
        m = re.fullmatch(r"(\S+(?: \+\w+)*) +((?:[\w.-]+ +){10}[\w.-]+)( \(partial\))?", line)
        if m:
            rows.append({"label": m.group(1), "partial": bool(m.group(3)), **dict(zip(COLUMNS, m.group(2).split()))})
    return rows


def classic_rows(sink):
    rows = [line.split("\t") for line in sink.stdout.splitlines()[1:] if "\trun:" in line]
    return [{"label": r[0].strip().replace("recvM", "recvm"), "run": r[1].split()[1], "datagrams": r[2].strip(), "payload": r[6]} for r in rows]


ROWS = {"text": text_rows, "classic": classic_rows, "json": lambda sink: sink.records("sum")}


def text_faults(sink):
    """The counters under each row of the text table: name -> value."""
    lines = [line for line in sink.stdout.splitlines() if re.fullmatch(r"(  [a-z_]+ \d+)+", line)]
    return [{name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)} for line in lines]


# ------------------------------------------------------------------ three voices

@test
def voices():
    "R102 the same traffic in text, classic and JSON: the same engines, runs, datagrams, payloads, faults and reasons"
    engines = ["recvmmsg", "recvmsg", "recvfrom", "epoll"]
    sinks = {form: started(form, "--engine", "all", "--repeat", 2, "--count", 40, "--buffer-size", 500,
                           "--check-sender", "127.0.0.1") for form in FORMATS}
    for sink in sinks.values():
        ours = Sender(sink, port=sink.port_asked)
        others = Sender(sink, port=sink.port_asked, bind=("127.0.0.2", 0))
        for _ in range(2 * len(engines)):
            others.send(b"x" * 700, b"", b"x")
            ours.send(b"", *[b"x" * 100] * 30, *[b"x" * 501] * 9)
        sink.finish()
        if NOT_A_NUMBER.search(sink.stdout):
            fail("not a number: %s" % sink.stdout)
    runs, text, classic = sinks["json"].records("sum"), text_rows(sinks["text"]), classic_rows(sinks["classic"])
    equal([(r["engine"], r["run"]) for r in runs], [(engine, n) for engine in engines for n in range(2)], "engines and runs")
    equal([r["label"] for r in text], [r["label"] for r in runs], "labels of text")
    for r, t, c, faults in zip(runs, text, classic, text_faults(sinks["text"])):
        counters = r["total"]
        equal([counters[n] for n in ("datagrams", "empty", "truncated", "foreign", "bytes")], [40, 1, 9, 3, 30 * 100 + 9 * 500], "counters")
        equal({n: faults[n] for n in ("empty", "truncated", "foreign")}, {"empty": 1, "truncated": 9, "foreign": 3}, "faults in text")
        equal((int(t["run"]), int(t["datagrams"]), int(t["drops"])), (r["run"], 40, r["socket_drops"]), "run, datagrams, drops of text")
        equal((int(c["run"]), int(c["datagrams"])), (r["run"], 40), "run and datagrams of classic")
        equal((t["payload"], c["payload"]), ("%.0f" % r["rate"]["mean_payload"], "%d" % r["rate"]["mean_payload"]), "payload of text, classic")
        equal(c["label"], re.sub(r"/32$", "/32" if r["engine"] in ("recvmmsg", "epoll") else "", r["label"].split()[0]), "label of classic")
        between(0.99, float(t["pps"]) * float(t["wall"]) / 1e9, 1.01, "pps * wall ns / 1e9 of text, both rounded")
        between(0.999999, r["rate"]["pps"] * r["duration_s"] / 40, 1.000001, "pps * duration / datagrams of JSON")
    skipped = {r["engine"]: r["reason"] for r in sinks["json"].records("skipped")}
    equal(dict(re.findall(r"^(\w+) +skipped: (.*)$", sinks["text"].stdout, re.MULTILINE)), skipped, "left out, and why")
    equal(sorted(skipped), ["read", "recv"], "left out")


@test
@cases(form=FORMATS)
def drops(form):
    "R102 --format {form}: datagrams + drops = sent, drops as in /proc/net/udp"
    sink = started(form, "--engine", "recvmmsg", "--count", 0, "--rcvbuf", "4k")
    with paused(sink):
        equal(Source("--count", 300, "127.0.0.1:%d" % sink.port_asked).finish().sum["sent"], 300, "sent")
    settle(sink, sink.port_asked)
    dropped = socket_drops(sink.port_asked)
    equal(sink.stop(), 0, "exit status")
    between(1, dropped, 299, "drops")
    row = ROWS[form](sink)[0]
    got = {"text": lambda r: (int(r["datagrams"]), int(r["drops"])), "classic": lambda r: (int(r["datagrams"]), dropped),
           "json": lambda r: (r["total"]["datagrams"], r["socket_drops"])}[form](row)
    equal(got, (300 - dropped, dropped), "datagrams and drops")


def comma_locale():
    """Environment of a locale with a decimal comma, made on the spot: few machines have one installed."""
    where = scratch("locale-%d" % len(os.listdir(scratch("."))))
    os.mkdir(where)
    with open(os.path.join(where, "source"), "w", encoding="ascii") as f:
        f.write('comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3\nEND LC_NUMERIC\n')
    if not shutil.which("localedef"):
        skip("there is no localedef to make a locale with a decimal comma")
    subprocess.run(["localedef", "-c", "-i", "source", "./xx"], cwd=where, capture_output=True, timeout=WAIT, check=False)
    env = {"LOCPATH": where, "LC_ALL": "", "LANG": "", "LC_NUMERIC": "xx"}
    shown = subprocess.run([shutil.which("printf"), "%.1f", "0.5"], env={**os.environ, **env}, capture_output=True, text=True, timeout=WAIT,
                           check=False).stdout
    return env if shown == "0,5" else skip("localedef made no locale with a decimal comma here: 0.5 is %s" % shown)


@test
@cases(form=FORMATS, numbers=["C", "comma"])
def undefined(form, numbers):
    "R115 {form}, locale {numbers}: nothing received, one datagram, several: undefined is -, 0 and null, never nan; the point is a point"
    env = comma_locale() if numbers == "comma" else {}
    for n in (0, 1, 30):
        sink = started(form, "--engine", ",".join(ENGINES), "--duration", "20ms", *(["--count", n] if n else []), env=env)
        Sender(sink, port=sink.port_asked).send(*[b"x" * 18] * n)
        equal(sink.wait(), 0, "exit status")
        if NOT_A_NUMBER.search(sink.stdout) or (form != "json" and "," in sink.stdout.partition("\n")[2]):
            fail("no number as it should be: %s" % sink.stdout)
        rows = ROWS[form](sink)
        equal(len(rows), len(ENGINES), "rows")
        for row in rows:
            if form == "json":
                check_defined(row)
            elif form == "text" and row["datagrams"] != "1":  # of one datagram the window may be 0 or not
                dashes = [name for name in QUOTIENTS if row[name] == "-"]
                equal(dashes, QUOTIENTS if row["datagrams"] == "0" else [], "columns that are undefined")


def check_defined(record):
    """Quotients are null where there is nothing to divide by, and only there."""
    for part in (record, *record["workers"]):
        counters = part.get("total") or part["counters"]
        none, window = not counters["datagrams"], bool(part["duration_s"])
        for name in ("mean_payload", "mean_batch", "mean_segments"):
            equal(part["rate"][name] is None, none, name)
        for name in ("ns_per_datagram", "cycles_per_datagram"):
            equal(part["cpu"][name] is None, none, name)
        for name in ("pps", "bps"):
            equal(part["rate"][name] is None, not window, name)
        equal(part["rate"]["wall_ns_per_datagram"] is None, none or not window, "wall_ns_per_datagram")
        equal(part["cpu"]["busy"] is None, not window, "busy")


# ------------------------------------------------------------------ records

def first_line(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
        return f.readline().rstrip("\n")
    return None


@test
def header():
    "R116 the header tells what ran where: schema, version, command, kernel, CPU, settings as the kernel prints them"
    sink = Sink("--listen", "127.0.0.1:0", "--duration", "10ms", "--engine", "recv").finish()
    equal([r["type"] for r in sink.records()], ["header", "ready", "sum"], "records")
    head, host = sink.record("header"), sink.record("header")["host"]
    equal((head["schema"], head["program"], head["command"]), (1, "udp_sink", sink.command), "schema, program, command")
    equal("udp_sink " + head["version"], Program([built("udp_sink"), "--version"]).finish().stdout.strip(), "version")
    equal((host["kernel"], host["machine"]), (os.uname().release, os.uname().machine), "kernel and machine")
    equal(host["netns"], os.stat("/proc/self/ns/net").st_ino, "network namespace")
    equal(host["clocksource"], first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"), "clock source")
    cpus = [range(int(a), int(b or a) + 1) for a, b in re.findall(r"(\d+)(?:-(\d+))?", host["cpus_allowed"])]
    equal({cpu for some in cpus for cpu in some}, os.sched_getaffinity(0), "CPUs allowed")
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"^model name\s*: (.*)$", f.read(), re.MULTILINE)
    if model:
        equal(host["cpu_model"], model.group(1), "CPU model")
    for name in ("net.core.rmem_default", "net.core.rmem_max", "net.ipv4.udp_mem", "net.ipv4.ip_early_demux", "net.ipv4.udp_early_demux"):
        equal(head["sysctl"][name], first_line("/proc/sys/" + name.replace(".", "/")), name)
    for name, value in head["sysctl"].items():
        equal(value, first_line("/proc/sys/" + name.replace(".", "/")), name)


@test
def run_id():
    "R116 the run id is twelve hexadecimal digits, another one each time"
    ids = [Sink("--engine", "null", "--count", 1).finish().record("header")["run_id"] for _ in range(3)]
    equal([bool(re.fullmatch("[0-9a-f]{12}", i)) for i in ids], [True] * 3, "twelve digits each: %r" % ids)
    equal(len(set(ids)), 3, "different ids")


@test
@cases(option=["pktinfo", "recv-ttl", "recv-tos", "rxq-ovfl", "gro", "none"])
def socket_options(option):
    "R116 --{option}: the header tells what each socket was asked for and has"
    member = option.replace("recv-", "").replace("-", "_")
    sink = Sink("--listen", "127.0.0.1:0", "--listen", "127.0.0.2:0", "--engine", "epoll", "--rcvbuf", "8k", "--duration", "10ms",
                *(["--" + option] if option != "none" else [])).finish()
    head, ready = sink.record("header"), sink.record("ready")
    equal([s["local"] for s in head["sockets"]], ready["listening"], "sockets")
    for s in head["sockets"]:
        equal({name for name, on in s["receives"].items() if on}, {member} - {"none"}, "messages that are on")
        equal((s["rcvbuf"]["asked"], s["rcvbuf"]["granted"], s["rcvbuf"]["sysctl"]), (8192, 8192, "net.core.rmem_max"), "receive buffer")
        equal((s["peer"], s["family"], s["dual_stack"], s["reuse_port"]), (None, "ipv4", False, False), "peer, family, groups")


def list_options():
    """Names of the options that may be repeated."""
    rows = [line.split("\t") for line in Program([built("udp_sink"), "--dump-options"]).finish().stdout.splitlines()]
    return [row[0] for row in rows if row[2] == "list"]


def again(options):
    """The command line that the options of a header say."""
    lists = list_options()
    for name, value in options.items():
        for one in value.split(",") if name in lists else [value]:
            if one:
                yield "--%s=%s" % (name, one)


@test
@cases(words=["", "--engine recvmsg,recvmmsg --pktinfo", "--dontwait", "--spin", "--wait poll", "-6", "--connect=127.0.0.1:9", "-vv",
              "--listen 127.0.0.1:0 --listen 127.0.0.2:0 --threads 2", "--rcvbuf 8k --batch 3 --nr-iovec 2 --buffer-size 1k --repeat 2",
              "--work 1.5us --sk-timeout 1ms --timeout 5 --waitforone", "--check-pktgen --check-sender 127.0.0.1",
              "--threads 2 --shared-socket --no-reuse-port", "--interval 5s --count 3"])
def reproduced(words):
    "R116 '{words}': the options of the header, given as a command line, make a run with the same options"
    base = [] if "--listen" in words else ["--port", "0"]
    before = Sink(*base, "--duration", "10ms", *words.split(), ready=False).finish().record("header")["options"]
    after = Sink(*again(before), ready=False).finish().record("header")["options"]
    equal(after, before, "options")


@test
def from_file():
    "R116 options of a file are options in force"
    path = scratch("options")
    with open(path, "w", encoding="ascii") as f:
        f.write("listen = 127.0.0.1:0\nengine = recv\nduration = 10ms\nbatch = 7\npktinfo\n")
    options = Sink("--config", path, ready=False).finish().record("header")["options"]
    equal([options[n] for n in ("listen", "engine", "duration", "batch", "pktinfo")], ["127.0.0.1:0", "recv", "10ms", "7", "yes"], "options")


# ------------------------------------------------------------------ intervals

def differences(record):
    """Counters that the periods of a run add up to."""
    yield "total", record["total"]
    for worker in record["workers"]:
        yield worker["index"], worker["counters"]


def add(a, b):
    if isinstance(a, dict):
        return {name: add(a.get(name, 0), b.get(name, 0)) for name in {**a, **b}}
    if isinstance(a, list):
        return [add(x, y) for x, y in zip(a, b)]
    return None if a is None else a + b


def check_periods(periods, total):
    """They follow each other without a gap, the last alone is partial, and they add up to the sum."""
    equal([p["partial"] for p in periods], [False] * (len(periods) - 1) + [True], "partial or not")
    equal(periods[0]["since_s"], 0, "beginning of the first")
    equal([p["until_s"] for p in periods[:-1]], [p["since_s"] for p in periods[1:]], "ends and beginnings")
    summed = dict(differences(periods[0]))
    for i, p in enumerate(periods):
        check_sums(p)
        check_defined(p)
        between(-1e-6, p["until_s"] - p["since_s"] - p["duration_s"], 1e-6, "until - since - duration")
        equal(p["run"], total["run"], "run")
        for name, counters in differences(p):
            if any(v < 0 for v in counters.values() if isinstance(v, int)):
                fail("a counter of %s went backwards: %r" % (name, counters))
            if i:
                summed[name] = add(summed[name], counters)
    for name, counters in differences(total):
        equal(summed[name], counters, "periods added up, " + str(name))
    equal(sum(p["socket_drops"] for p in periods), total["socket_drops"], "drops of the periods added up")
    between(0, total["until_s"], periods[-1]["until_s"], "end of the window")


@test
@cases(engine=ENGINES, threads=[1, 2])
def intervals(engine, threads):
    "R100 R115 {engine}, {threads} thread(s): traffic and silence by turns; periods without a gap add up to the sum"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--count", 0, "--interval", "20ms")
    sender = Sender(sink, flows=4)
    for size in (10, 1000):
        sender.send(*[b"x" * size] * 50, b"")
        sender.settle()
        seen = len(sink.records("period"))
        wait_until(lambda n=seen: len(sink.records("period")) > n + 2, what="periods without traffic")
    total = received(sink)
    sender.check(total["total"], engine)
    periods = sink.records("period")
    check_periods(periods, total)
    quiet = [p for p in periods if not p["total"]["datagrams"]]
    equal(len(quiet) > 1, True, "periods without traffic")
    for p in quiet:
        equal((p["rate"]["pps"], p["rate"]["wall_ns_per_datagram"], p["cpu"]["ns_per_datagram"]), (0, None, None), "rate of a quiet period")


@test
def snapshots():
    "R100 8 threads, 100 reports a second under load: in each the workers add up to the total, none goes back, the end is the truth"
    sink = Sink("--listen", "127.0.0.1:0", "--threads", 8, "--count", 0, "--interval", "10ms", "--rcvbuf", "4M", "--check-sequence")
    source = Source("--count", 20000, "--rate", "50k", "--flows", 64, "127.0.0.1:%d" % sink.port).finish()
    settle(sink)
    dropped = socket_drops(sink.port)
    total = received(sink)
    periods = sink.records("period")
    check_periods(periods, total)
    equal(total["total"]["datagrams"] + dropped, source.sum["sent"], "received + dropped")
    equal(total["socket_drops"], dropped, "drops")
    equal(len([p for p in periods if p["total"]["datagrams"]]) > 10, True, "periods with traffic")


@test
def interval_rows():
    "--interval in text: a row per period, the last is marked, and their datagrams add up to that of the run"
    sink = started("text", "--engine", "recv", "--count", 0, "--interval", "20ms")
    sender = Sender(sink, port=sink.port_asked)
    sender.send(*[b"x" * 18] * 50)
    wait_until(lambda: len(text_rows(sink)) > 3, what="rows")
    equal(sink.stop(), 0, "exit status")
    rows = text_rows(sink)
    equal([r["partial"] for r in rows], [False] * (len(rows) - 2) + [True, False], "rows of periods, the last one partial, and of the run")
    equal(sum(int(r["datagrams"]) for r in rows[:-1]), 50, "datagrams of the periods")
    equal((rows[-1]["run"], rows[-1]["datagrams"]), ("0", "50"), "the run")


@test
@cases(rule=["jump=7200@5-", "jump=-7200@5-", "jump=7200%2", "jump=-7200%3"])
def wall_clock(rule):
    "R74 the wall clock jumps ({rule}): periods, rates and the length of the run stay what they were"
    report = scratch("faults-" + rule.replace("%", "of"))
    begin = time.monotonic()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--interval", "20ms", "--duration", "200ms", "--count", 0,
                env={**module("libfault"), "FAULT": "clock_gettime:%s?clock=0" % rule, "FAULT_REPORT": report})
    source = Source("--rate", "2k", "--duration", "60s", "127.0.0.1:%d" % sink.port)
    sink.finish()
    took = time.monotonic() - begin
    source.stop()
    periods = sink.records("period")
    check_periods(periods, sink.sum)
    between(0.2, periods[-1]["until_s"], took, "length of the run")
    between(0, sink.sum["duration_s"], took, "window")
    between(2, len(periods), took / 0.02 + 1, "periods")


# ------------------------------------------------------------------ outputs that fail

def to_pipe(*args):
    """udp_sink whose standard output is a pipe; and the reading end."""
    read, write = os.pipe()
    sink = Program([built("udp_sink"), *args], prefix=command("os.dup2(%d, 1)" % write), pass_fds=(write,))
    os.close(write)
    return sink, os.fdopen(read, encoding="utf-8")


def lost(kind, *args):
    """udp_sink with a standard output that takes nothing."""
    if kind == "a pipe without a reader":
        sink, reader = to_pipe(*args)
        reader.close()
        return sink
    line = {"full": 'exec "$@" >/dev/full', "closed": 'exec "$@" >&-', "closed, as is input": 'exec "$@" <&- >&-'}[kind]
    return Program(sh(line, built("udp_sink"), *args))


@test
@cases(kind=["full", "a pipe without a reader", "closed", "closed, as is input"], form=FORMATS)
def no_output(kind, form):
    "standard output is {kind}, --format {form}: exit status 1 and a sentence"
    sink = lost(kind, "--listen", "127.0.0.1:0", "--engine", "recv", "--duration", "20ms", "--format", form)
    equal(sink.wait(STOP_S), 1, "exit status")
    if not re.search(r"udp_sink: error: .*\w+.*(No space|Broken pipe|Bad file descriptor|standard output)", sink.stderr):
        fail("no sentence that says why: %r" % sink.stderr)


@test
@cases(form=["text", "json"])
def output_ends(form):
    "the reader of a --format {form} --interval report goes away: the run ends soon, exit status 1 and a sentence"
    sink, reader = to_pipe("--listen", "127.0.0.1:0", "--engine", "recv", "--count", "0", "--format", form, "--interval", "20ms")
    with reader:
        for _ in range(4):
            if not reader.readline():
                fail("it ended before its fourth line")
    equal(sink.wait(STOP_S), 1, "exit status")
    if "Broken pipe" not in sink.stderr:
        fail("no sentence that says why: %r" % sink.stderr)


@test
@cases(closed=["2", "0 2"])
def no_stderr(closed):
    "closed at the start: {closed}; messages go nowhere, not into a descriptor that took that number, and the run is whole"
    sink = Program(sh('exec "$@" ' + " ".join(n + ">&-" for n in closed.split()), built("udp_sink"), "--listen", "127.0.0.1:0", "--engine",
                      "recvmmsg", "--duration", "20ms", "--format", "json", "-vvv", "--rcvbuf", "4k"))
    open_files = {}

    def looked():
        for number in closed.split():
            with contextlib.suppress(OSError):
                open_files[number] = os.readlink("/proc/%d/fd/%s" % (sink.pid, number))
        return sink.status() is not None
    wait_until(looked, what="the end")
    equal((sink.status(), len(sink.records("sum"))), (0, 1), "exit status and runs")
    equal(set(open_files.values()) - {"/dev/null"}, set(), "what took the place of the closed descriptors")


# ------------------------------------------------------------------ terminals

class Terminal:
    """A pseudo-terminal; .shown() is what was written to it so far."""

    def __init__(self, columns=80):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._text = ""

    def shown(self):
        while select.select([self.master], [], [], 0)[0]:
            try:
                self._text += os.read(self.master, 65536).decode()
            except OSError:  # the other end is closed
                break
        return self._text


def on_terminal(terminal, *args):
    """udp_sink with its standard error on the terminal."""
    port = free_port()
    sink = Program([built("udp_sink"), "--listen", "127.0.0.1:%d" % port, "--engine", "recvmmsg", "--count", "0", *args],
                   prefix=command("os.dup2(%d, 2)" % terminal.slave), pass_fds=(terminal.slave,))
    os.close(terminal.slave)
    sink.ready = None
    wait_until(lambda: args or "ready: " in terminal.shown(), what="ready line")
    return sink, port


@test
@cases(columns=[80, 20])
def progress(columns):
    "on a terminal of {columns} columns: one progress line of elapsed time, datagrams, rate and drops, replaced in place and taken away"
    terminal = Terminal(columns)
    sink, port = on_terminal(terminal)
    sender = Sender(sink, port=port)
    sender.send(*[b"x" * 18] * 5)

    def lines():
        shown = terminal.shown().partition("worker\r\n")[2]
        return [line for line in shown.split("\r\x1b[K") if line]
    line = wait_until(lambda: len(lines()) > 2 and lines()[1], what="progress lines")
    whole = r"recvmmsg  \d+\.\d s  5 datagrams  \S+ pps  0 dropped"
    if not re.fullmatch(whole, line) and not (columns == 20 and len(line) == 19 and line.startswith("recvmmsg  ")):
        fail("progress line: %r" % line)
    equal(sink.stop(), 0, "exit status")
    if not terminal.shown().endswith("\r\x1b[K") or "\n" in "".join(lines()):
        fail("not taken away: %r" % terminal.shown())
    equal(len(text_rows(sink)), 1, "rows on standard output")


@test
@cases(args=["--format json", "--format classic", "--interval 20ms"])
def no_progress(args):
    "on a terminal, {args}: no progress line"
    terminal = Terminal()
    sink, port = on_terminal(terminal, *args.split())
    wait_until(lambda: sink.stdout, what="the first line")
    sender = Sender(sink, port=port)
    sender.send(b"x")
    settle(sink, port)
    end = time.monotonic() + 0.3  # a progress line comes ten times a second
    wait_until(lambda: time.monotonic() > end, what="the clock")
    equal(sink.stop(), 0, "exit status")
    equal("\r\x1b" in terminal.shown(), False, "escape sequence in %r" % terminal.shown())


@test
def piped():
    "without a terminal: no progress line"
    sink = started("text", "--engine", "recvmmsg", "--duration", "300ms")
    sender = Sender(sink, port=sink.port_asked)
    sender.send(b"x")
    sink.finish()
    equal(sink.stderr, "udp_sink: ready: listening on 127.0.0.1:%d, 1 worker\n" % sink.port_asked, "standard error")
    equal([c for c in sink.stdout if c in "\r\x1b"], [], "control characters on standard output")


@test
@cases(number=[signal.SIGINT, signal.SIGTERM])
def whole_lines(number):
    "R115 {number.name} in the middle of an interval report: whole lines, each strict JSON, the sum among them"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recv", "--count", 0, "--interval", "10ms", "--repeat", 3)
    Sender(sink).send(*[b"x"] * 20)
    wait_until(lambda: len(sink.records("period")) > 3, what="periods")
    equal(sink.stop(number), 0, "exit status")
    equal(sink.stdout[-1:], "\n", "end of the last line")
    equal([r["type"] for r in sink.records()][-2:], ["period", "sum"], "the last two records")
    check_periods(sink.records("period"), sink.sum)


main()
