# SPDX-License-Identifier: MIT
"""The command line of udp_sink: lists, help, options files, values that are refused, failures, pinning, --work, READY=1, --use-bad-ptr."""
import contextlib
import os
import re
import socket

from harness import (Program, Sink, between, built, cases, equal, fail, free_port, main, need_ipv6, scratch, skip, socket_drops, test,
                     udp_socket, udp_table, wait_until)
from sender import (ENGINES, Sender, check_sums, command, cpu_s, on_cpus, paused, received, refusal, settle, sh, sleeps, tasks, without)

CAP_NET_BIND_SERVICE = 10  # linux/capability.h
CPUS = sorted(os.sched_getaffinity(0))


def udp_sink(*args, **options):
    return Program([built("udp_sink"), *map(str, args)], **options)


def option_table():
    """name -> letter, type, hidden"""
    rows = [line.split("\t") for line in udp_sink("--dump-options").finish().stdout.splitlines()]
    return {row[0]: (row[1], row[2], row[5] == "1") for row in rows}


# ------------------------------------------------------------------ lists, help, version

# What is asked for; the engines that cannot do it. A word of the first option is in the reason.
CANNOT = {
    "": [],
    "--nr-iovec 3": ["read", "recvfrom", "recv", "null"],
    "--check-sender 127.0.0.1": ["read", "recv", "null"],
    "--by-destination": ["read", "recvfrom", "recv", "null"],
    "--recv-tos": ["read", "recvfrom", "recv", "null"],
    "--rxq-ovfl": ["read", "recvfrom", "recv", "null"],
    "--connect-each": ["read", "recvfrom", "recv", "null"],
    "--no-copy": ["read"],
    "--gro": ["read", "recvfrom", "recv", "null"],
    "--use-bad-ptr 3": ["null"],
    "--wait block --listen 127.0.0.1:0 --listen 127.0.0.2:0": ["recvmmsg", "recvmsg", "read", "recvfrom", "recv"],
    "--pktinfo --recv-ttl": [],
}


def listing(*words, **options):
    """name -> (yes or no, reason)"""
    lines = udp_sink("--list-engines", *words, **options).finish().stdout.splitlines()
    found = [re.fullmatch(r"(\w+) +(yes|no) +(\S.*)", line) for line in lines]
    if not all(found):
        fail("lines of another form: %r" % lines)
    return {m.group(1): m.groups()[1:] for m in found}


@test
@cases(words=CANNOT)
def list_engines(words):
    "--list-engines {words}: yes or no with the reason; and a run with each engine is possible or refused accordingly"
    listed = listing(*words.split())
    equal(list(listed)[:5], ["recvmmsg", "recvmsg", "read", "recvfrom", "recv"], "the classic engines, in upstream's order")
    equal([name for name, (can, _reason) in listed.items() if can == "no"], [e for e in listed if e in CANNOT[words]], "engines that cannot")
    address = [] if "--listen" in words else ["--listen", "127.0.0.1:0"]
    runs = [Sink(*address, "--engine", name, "--duration", "1ms", *words.split(), ready=False) for name in listed]
    for run, (name, (can, reason)) in zip(runs, listed.items()):
        equal(run.wait(), 0 if can == "yes" else 1, "exit status of a run with " + name)
        equal(run.stderr, "" if can == "yes" else "udp_sink: error: %s\n" % reason, "its sentence")
        if can == "no" and "engine %s: " % name not in reason:
            fail("the reason does not name %s: %s" % (name, reason))


@test
def list_refused_call():
    "R40 a system call that a sandbox refuses: the engines that make it say no, and why; the others say yes"
    prefix = [built("tests/fault/deny"), "recvmmsg:EPERM", "--"]
    tried = udp_sink("--list-engines", prefix=prefix)
    if tried.wait() == 77:
        skip(tried.stderr.strip())
    for name, (can, reason) in listing(prefix=prefix).items():
        equal(can, "no" if name in ("recvmmsg", "epoll") else "yes", name + ", because: " + reason)
        if can == "no" and not ("not permitted" in reason and "sandbox" in reason):
            fail("not the reason: " + reason)


@test
def version():
    "--version prints one line; -V -v also how it was built"
    short, built_how = udp_sink("--version").finish().stdout, udp_sink("-V", "-v").finish().stdout
    if not re.fullmatch(r"udp_sink \d+\.\d+\.\d+\S*\n", short):
        fail("version: %r" % short)
    equal(built_how.splitlines()[0] + "\n", short, "first line with -v")
    names = [line.split(":")[0] for line in built_how.splitlines()[1:]]
    equal(set(names) >= {"compiler", "flags", "target", "libraries"}, True, "how it was built: %r" % names)


@test
@cases(words=["--help", "-h", "--help stray --batch 0", "--batch x --help"])
def help_(words):
    "{words}: all options but those for tests, exit status 0"
    run = udp_sink(*words.split()).finish()
    equal(run.stderr, "", "standard error")
    shown = set(re.findall(r"^  (?:-\w, |    )--([\w-]+)", run.stdout, re.MULTILINE))
    equal(shown, {name for name, (_letter, _type, hidden) in option_table().items() if not hidden}, "options")


@test
@cases(word=["--help", "--version", "--list-engines", "--dump-options", "--dump-counters"])
def print_to_full(word):
    "{word} that cannot be written: exit status 1 and a sentence"
    run = Program(sh('exec "$@" >/dev/full', built("udp_sink"), word))
    equal(run.wait(), 1, "exit status")
    if not re.search("udp_sink: error: .*No space left", run.stderr):
        fail("no reason: %r" % run.stderr)


# ------------------------------------------------------------------ options files

def options_file(text):
    path = scratch("options-%d" % len(os.listdir(scratch("."))))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


ANY_CPU = CPUS[0]
# Lines of options files, as many options together as go together. With what is left out they are all there are.
FILES = {
    "most": "listen = 127.0.0.1:0\nengine = recvmmsg\nwait = block\nbatch = 5\nbuffer-size = 1k\nnr-iovec = 2\nwaitforone\ntimeout = 1ms\n"
            "sk-timeout = 20ms\nbusy-poll = 0\nwork = 1us\nthreads = 2\ncpus = %d\npktinfo\nrecv-ttl\nrecv-tos\nrxq-ovfl\nrcvbuf = 8k\n"
            "rcvbuf-strict\nearly-demux = keep\ncount = 3\nduration = 10ms\nrepeat = 2\ncheck-sender = 127.0.0.1\ncheck-pktgen = 2\n"
            "check-sequence\nby-destination\ninterval = 1s\nverbose = 2\n" % ANY_CPU,
    "shortcuts": "ipv4\nport = 0\nspin\nread\nrecv\nrecvfrom\nrecvmsg\nrecvmmsg\nrecv-pktinfo\nuse-bad-ptr = 2\nduration = 1ms\nverbose\n"
                 "check-pktgen\nplace = 0\nno-v6only\n",
    "flows": "ipv6\nv6only\nport = 0\nengine = epoll\nconnect-each\nmax-flows = 5\nduration = 1ms\n",
    "steered": "port = 0\nuse-bpf\nthreads = 2\nengine = recvmsg\ngro\nbind-dev = lo\nduration = 1ms\n",
    "group": "port = 0\nreuse-port\ndontwait\nno-copy\njoin = 239.1.1.1%lo\nconnect = 127.0.0.1:9\nengine = recvmmsg\nduration = 1ms\n",
    "shared": "listen = 127.0.0.1:0\nlisten = 127.0.0.2:0\nshared-socket\nthreads = 2\nengine = recv, epoll\nduration = 1ms\n",
    "counters": "port = 0\nengine = recv\nnstat = json\nzeros\nsoftnet\nno-watch\nno-drop-reasons\nledger\nsent-from = /dev/null\nuntil-quiet = 1s\nduration = 1ms\n",
}
LEFT_OUT = {"help", "config", "version", "list-engines", "lite", "format", "ethtool"}


def words_of(text):
    """The same options as words of a command line."""
    return ["--" + re.sub(" *= *", "=", line) for line in text.splitlines()]


@test
@cases(name=FILES)
def same_names(name):
    "--config takes the options of the command line by the same names, with the same values: {name}"
    if "ipv6" in FILES[name]:
        need_ipv6()
    from_file = Sink("--config", options_file(FILES[name]), ready=False)
    from_words = Sink(*words_of(FILES[name]), ready=False)
    equal((from_file.wait(), from_words.wait()), (0, 0), "exit status")
    equal(from_file.record("header")["options"], from_words.record("header")["options"], "options in force")


@test
def all_names():
    "the test before this one knows every option"
    named = {re.sub("^no-(?!copy)", "", line.split(" ")[0]) for text in FILES.values() for line in text.splitlines()}
    equal(named | LEFT_OUT, {name for name, (_letter, _type, hidden) in option_table().items() if not hidden}, "options")


@test
def precedence():
    "the command line has precedence over a file, wherever --config stands, and its lists replace those of the file"
    path = options_file("# first words\n\nlisten = 127.0.0.3:0 # one\nlisten = 127.0.0.4:0\nengine = read, recv\nbatch = 7\npktinfo\n"
                        "  duration=1ms\t\nrepeat = 3\nverbose = 3\nrcvbuf = 8k\n")
    words = ["--listen", "127.0.0.2:0", "--no-pktinfo", "--recvmsg", "--batch", 9, "-v"]
    for args in ([*words, "--config", path], ["--config", path, *words], ["--batch", 8, "--config", path, *words]):
        sink = Sink(*args, ready=False).finish()
        options = sink.record("header")["options"]
        equal({n: options[n] for n in ("listen", "engine", "pktinfo", "batch", "verbose", "repeat", "rcvbuf")},
              {"listen": "127.0.0.2:0", "engine": "recvmsg", "pktinfo": "no", "batch": "9", "verbose": "1", "repeat": "3", "rcvbuf": "8192"},
              "options")
        equal(len(sink.records("sum")), 3, "runs")


# Line 3 of a file; what the sentence says besides the line.
BAD_LINES = {
    "nosuch = 1": ["nosuch"], "nosuch": ["nosuch"], "--batch = 3": ["--batch"], "b = 3": ["'b'"], "batch = x": ["batch", "x"], "batch": ["batch"],
    "batch = 0": ["batch", "0"], "lite = perhaps": ["lite", "perhaps"], "= 3": ["''"], "help": ["help"], "config = other": ["config"],
    "engine = nosuch": ["engine", "nosuch"], "listen = nonsense": ["listen", "nonsense"], "cpus = x": ["cpus", "x"], "duration = 0": ["duration", "0"],
    "recv = 3": ["recv"], "no-batch": ["no-batch"], "batch 3": ["batch 3"],
}


@test
@cases(line=BAD_LINES)
def bad_line(line):
    "an options file with the line '{line}' is refused, exit status 2"
    path = options_file("batch = 3\n# comment\n%s\ncount = 1\n" % line)
    semantic = line.split(" ")[0] in ("engine", "listen", "cpus", "duration")  # found when all options are known: not where they came from
    refusal("--config", path, words=BAD_LINES[line] + ([] if semantic else [path + ":3: "]), status=2)


@test
def no_file():
    "--config: no such file, a directory, a line that is too long: exit status 2, and which file"
    refusal("--config", "/no/such/file", words=["/no/such/file", "No such file"], status=2)
    refusal("--config", scratch("."), words=[scratch("."), "directory"], status=2)
    path = options_file("listen = %s\n" % ("1" * 10000))
    refusal("--config", path, words=[path + ":1: "], status=2)


# ------------------------------------------------------------------ what is refused

BAD = ["--engine=nosuch", "--engine=recv,nosuch", "--engine=RECV", "--engine=", "--engine=recv,", "--listen=nonsense", "--listen=127.0.0.1:99999",
       "--listen=127.0.0.1:", "--listen=[::1", "--listen=fe80::1", "--listen=1.2.3", "--listen=", "--port=65536", "--port=-1", "--port=x",
       "--connect=nonsense", "--connect=127.0.0.1", "--connect=127.0.0.1:0", "--connect=fe80::1", "--check-sender=nonsense",
       "--cpus=999999", "--cpus=x", "--cpus=0-", "--cpus=1-0", "--cpus=", "--place=nonsense", "--place=999999", "--batch=0", "--batch=1025",
       "--batch=x", "--nr-iovec=0", "--nr-iovec=65", "--buffer-size=0", "--buffer-size=65536", "--buffer-size=1.5", "--threads=-1",
       "--threads=1025", "--max-flows=0", "--max-flows=60001", "--repeat=0", "--repeat=1000001", "--rcvbuf=0", "--rcvbuf=2G", "--rcvbuf=-1",
       "--count=x", "--count=-1", "--count=1.5", "--count=99999999999999999999", "--duration=0", "--duration=x", "--duration=-1s", "--duration=1y",
       "--interval=1ms", "--interval=x", "--timeout=x", "--sk-timeout=x", "--busy-poll=1ns", "--work=2s", "--work=x", "--wait=never",
       "--format=xml", "--early-demux=maybe", "--verbose=4", "--check-pktgen=4", "--use-bad-ptr=1025", "--use-bad-ptr=33",
       "--join=nonsense", "--join=10.0.0.1", "--bind-dev=longerthan15chars", "--pktinfo=maybe", "--spin=no", "--nstat=xml",
       "--ethtool=longerthan15chars"]


@test
@cases(word=BAD)
def bad_value(word):
    "{word}: exit status 2 and a sentence that names the option and the value"
    name, value = word.split("=")
    refusal("--listen" if name != "--listen" else "--batch", "127.0.0.1:0" if name != "--listen" else "1", word,
            words=[name, value.split(",")[-1]], status=2)


# Two options each, and how they are given.
PAIRS = ["--shared-socket --reuse-port", "--shared-socket --use-bpf", "--shared-socket --connect-each", "--connect=127.0.0.1:9 --connect-each",
         "--cpus=0 --place=same-cpu", "--dontwait --waitforone", "--dontwait --spin", "--dontwait --wait=poll", "--check-sequence --use-bpf",
         "--check-pktgen --no-copy", "--check-sequence --no-copy", "--gro --no-copy", "--gro --buffer-size=100", "--gro --nr-iovec=2",
         "--format=classic --interval=1s", "--nr-iovec=10 --buffer-size=5", "--waitforone --engine=recv", "--timeout=1s --read",
         "--connect --threads=2", "--check-sequence --shared-socket", "--nstat=text --format=json",
         "--watch --listen=127.0.0.1:0"]


@test
@cases(words=PAIRS)
def excluded(words):
    "{words}: exit status 2 and a sentence that names both"
    extra = ["--threads", "2"] if "shared-socket" in words or "use-bpf" in words else []
    names = [word.partition("=")[0] for word in words.split() if word not in ("--engine=recv", "--read")]
    refusal("--listen", "127.0.0.1:0", *words.split(), *extra, words=names, status=2)


@test
@cases(words=["--shared-socket --no-reuse-port", "--reuse-port --no-reuse-port --shared-socket", "--gro=no --buffer-size=100", "--no-gro --no-copy",
              "--dontwait=no --waitforone", "--dontwait --no-dontwait --wait=poll", "--no-check-sequence --no-copy", "--no-no-copy --check-pktgen"])
def undone(words):
    "{words}: what is switched off excludes nothing"
    equal(Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--duration", "1ms", *words.split(), ready=False).wait(), 0, "exit status")


UNKNOWN = {"--nosuch": ["--nosuch"], "--nosuch=3": ["--nosuch"], "-z": ["-z"], "-4z": ["-z"], "--no-batch": ["--no-batch"],
           "--l": ["--l", "--listen", "--list-engines", "--lite"], "--recv=3": ["--recv"], "--batch": ["--batch"], "-b": ["-b"],
           "stray": ["stray", "--listen"], "-- --batch": ["--batch", "--listen"], "-v 1": ["'1'"], "--check-pktgen 2": ["'2'"], "-": ["'-'"],
           "--use-bpf": ["--use-bpf", "--threads"], "--connect --listen 127.0.0.2:0": ["--connect", "--listen"]}


@test
@cases(words=UNKNOWN)
def misused(words):
    "'{words}': exit status 2 and a sentence about it"
    refusal("--listen", "127.0.0.1:0", *words.split(), words=UNKNOWN[words], status=2)


@test
@cases(words=["--dura 1ms", "--recv-pk --duration 1ms", "--no-pktinf --duration 1ms", "-vvs4 --duration 1ms", "-c1 -r 2 --duration=1ms"])
def abbreviated(words):
    "'{words}': long options may be shortened, letters grouped"
    equal(Sink("--listen", "127.0.0.1:0", "--engine", "recv", *words.split(), ready=False).wait(), 0, "exit status")


# ------------------------------------------------------------------ failures

@test
@cases(words=["--threads 1", "--threads 2", "--shared-socket --threads 2", "--connect-each"])
def in_use(words):
    "{words}: the port is in use: exit status 1, which address, and how to see by whom"
    with udp_socket(bind=("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refusal("--listen", "127.0.0.1:%d" % port, "--engine", "recvmmsg", *words.split(), words=["127.0.0.1:%d" % port, "ss -"])


@test
def not_here():
    "an address of no interface: exit status 1, which, and what to look at"
    refusal("--listen", "198.18.255.254:0", words=["198.18.255.254", "Cannot assign", "ip addr"])


@test
def privileged_port():
    "a port below net.ipv4.ip_unprivileged_port_start without the capability: exit status 1, and which one it takes"
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as f:
        if int(f.read()) < 8:
            skip("every port is open to everybody here (net.ipv4.ip_unprivileged_port_start)")
    refusal("--listen", "127.0.0.1:7", words=["127.0.0.1:7", "Permission denied", "CAP_NET_BIND_SERVICE"], prefix=without(CAP_NET_BIND_SERVICE))


@test
def no_device():
    "--bind-dev with no such interface: exit status 1, which, and what to look at"
    refusal("--listen", "127.0.0.1:0", "--bind-dev", "nosuch0", words=["--bind-dev nosuch0", "ip link"])


# ------------------------------------------------------------------ --use-bad-ptr

@test
@cases(engine=ENGINES, wait=["block", "poll", "spin"], packet=[1, 2, 4])
def bad_pointer(engine, wait, packet):
    "--use-bad-ptr {packet}, {engine}, --wait {wait}: each datagram that meets it is an EFAULT and a drop; the run goes on; the rest arrives"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--wait", wait, "--use-bad-ptr", packet, "--batch", 4, "--count", 0)
    sender = Sender(sink)
    with paused(sink):
        sender.send(*[b"x" * 18] * 40)
    sender.settle()
    sender.send(*[b"x" * 18] * 20)  # it still receives
    settle(sink)
    dropped = socket_drops(sink.port)
    total = received(sink)
    check_sums(total)
    errors = total["total"]["errors_by_errno"]
    errors.pop("EINTR", None)  # a process that was stopped and goes on: signal(7)
    faults = errors.get("EFAULT", 0)
    equal(errors, {"EFAULT": faults} if faults else {}, "errors")
    equal((total["socket_drops"], dropped), (faults, faults), "drops, and those of /proc/net/udp")
    equal(total["total"]["datagrams"] + faults, sender.count, "received + EFAULT")
    one_by_one = wait == "block" and engine not in ("recvmmsg", "epoll")  # batches of one
    if packet == 1 or (one_by_one and packet > 1):
        equal(faults, sender.count if packet == 1 else 0, "EFAULT")
    else:
        between(40 // 4 // 2, faults, sender.count, "EFAULT")


# ------------------------------------------------------------------ READY=1

@test
@cases(kind=["path", "abstract"], words=["--threads 2", "--connect", "--repeat 3 --duration 1ms"])
def notified(kind, words):
    "NOTIFY_SOCKET ({kind}), {words}: READY=1 once, when the sockets are there"
    name = scratch("notify-%d" % len(os.listdir(scratch(".")))) if kind == "path" else "\0udpsink-test-%d" % os.getpid()
    port = free_port()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name)
        manager.settimeout(20)
        sink = Sink("--listen", "127.0.0.1:%d" % port, "--engine", "recvmmsg", *words.split(), ready=False,
                    env={"NOTIFY_SOCKET": name.replace("\0", "@")})
        equal(manager.recv(1000), b"READY=1", "message")
        if "--duration" not in words:
            equal(len(udp_table(port)), 2 if "2" in words else 1, "sockets at that time")
            sink.stop()
        equal((sink.wait(), sink.stderr), (0, ""), "exit status and standard error")
        manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            fail("another message: %r" % manager.recv(1000))


@test
@cases(name=["/no/such/socket", "relative", "@" + "x" * 200, ""])
def not_notified(name):
    "NOTIFY_SOCKET='{name:.20}', where nobody listens: a warning (none when it is empty), and the run goes on"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recv", "--duration", "1ms", env={"NOTIFY_SOCKET": name}, ready=False).finish()
    equal(sink.stderr.count("warning: cannot notify"), 1 if name else 0, "warnings in %r" % sink.stderr)
    equal(len(sink.records("sum")), 1, "runs")


@test
def refused_is_not_ready():
    "R96 a port in use: no READY=1"
    name = scratch("notify-refused")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, udp_socket(bind=("127.0.0.1", 0)) as other:
        manager.bind(name)
        manager.setblocking(False)
        equal(Sink("--listen", "127.0.0.1:%d" % other.getsockname()[1], ready=False, env={"NOTIFY_SOCKET": name}).wait(), 1, "exit status")
        with contextlib.suppress(BlockingIOError):
            fail("message: %r" % manager.recv(1000))


# ------------------------------------------------------------------ CPUs

def two_cpus():
    if len(CPUS) < 2:
        skip("this process may use one CPU only")
    return CPUS[0], CPUS[-1]


@test
@cases(engine=["recvmmsg", "null"], threads=[1, 3])
def cpus(engine, threads):
    "R98 --cpus with {threads} worker(s) of {engine}: each is pinned, in the order of the list, which begins anew; the report says so"
    first, last = two_cpus()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--threads", threads, "--cpus", "%d,%d" % (last, first), "--count", 0)
    asked = [(last, first)[i % 2] for i in range(threads)]
    equal(tasks(sink, "Cpus_allowed_list"), [str(cpu) for cpu in asked], "CPUs that the workers may use")
    equal(sink.stop(), 0, "exit status")
    equal([(w["cpu_asked"], w["cpu_obtained"]) for w in sink.sum["workers"]], [(cpu, cpu) for cpu in asked], "asked and obtained")


@test
def unpinned():
    "R98 without --cpus no worker is pinned"
    sink = Sink("--listen", "127.0.0.1:0", "--threads", 2)
    equal(len(set(tasks(sink, "Cpus_allowed_list"))), 1, "sets of CPUs")
    equal(sink.stop(), 0, "exit status")
    equal([w["cpu_asked"] for w in sink.sum["workers"]], [None, None], "asked")
    equal({w["cpu_obtained"] in CPUS for w in sink.sum["workers"]}, {True}, "obtained is one of the allowed")


@test
@cases(option=["--cpus", "--place"])
def outside(option):
    "R98 {option}: a CPU outside of the allowed set is refused, whether it exists or not"
    first, last = two_cpus()
    for cpu in (first, 1000):
        refusal("--listen", "127.0.0.1:0", option, cpu, words=[option, str(cpu), "may use %d" % last], status=2, prefix=on_cpus(last))


@test
def one_per_cpu():
    "R98 --threads 0: a worker on each allowed CPU, not on each that there is"
    first, last = two_cpus()
    for allowed in ((first, last), (last,)):
        sink = Sink("--listen", "127.0.0.1:0", "--threads", 0, prefix=on_cpus(*allowed))
        equal(tasks(sink, "Cpus_allowed_list"), [str(cpu) for cpu in allowed], "CPUs that the workers may use")
        equal(sink.ready["workers"], len(allowed), "workers")
        equal(sink.stop(), 0, "exit status")
        equal([w["cpu_asked"] for w in sink.sum["workers"]], list(allowed), "asked")


@contextlib.contextmanager
def sending_from(cpu):
    """The datagrams that we send meanwhile are processed on this CPU: on lo the receive path runs where the sender does."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    yield
    os.sched_setaffinity(0, before)


@test
@cases(where=["same-cpu", "other-cpu"], which=["first", "last"])
def placed(where, which):
    "--place {where}: the worker goes to the CPU that processed its first datagram, or away from it ({which} CPU)"
    two_cpus()
    cpu = CPUS[0 if which == "first" else -1]
    peer = udp_socket(bind=("127.0.0.1", 0))
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--place", where, "--count", 0,
                "--connect=127.0.0.1:%d" % peer.getsockname()[1])
    equal(len(set(tasks(sink, "Cpus_allowed_list"))), 1, "sets of CPUs before the first datagram")
    before = tasks(sink, "Cpus_allowed_list")
    with sending_from(cpu):
        peer.sendto(b"x", ("127.0.0.1", sink.port))
    now = wait_until(lambda: [a for a in tasks(sink, "Cpus_allowed_list") if [a] != before], what="pinning")
    equal(now == [str(cpu)], where == "same-cpu", "pinned to %s, the datagram came on CPU %d" % (now, cpu))
    equal(now[0].isdigit() and int(now[0]) in CPUS, True, "one of the allowed CPUs: %s" % now)
    equal(received(sink)["total"]["datagrams"], 1, "datagrams")


@test
def placed_list():
    "--place LIST is --cpus LIST; --place other-cpu is refused where one CPU is allowed"
    first, last = two_cpus()
    sink = Sink("--listen", "127.0.0.1:0", "--threads", 2, "--place", "%d,%d" % (last, first))
    equal(tasks(sink, "Cpus_allowed_list"), [str(last), str(first)], "CPUs that the workers may use")
    equal(sink.stop(), 0, "exit status")
    refusal("--listen", "127.0.0.1:0", "--connect=127.0.0.1:9", "--place", "other-cpu", words=["--place other-cpu", "CPU"], status=2,
            prefix=on_cpus(first))
    refusal("--listen", "127.0.0.1:0", "--place", "same-cpu", words=["--place same-cpu", "--connect"], status=2)


# ------------------------------------------------------------------ --work, --wait, -v, numbers

@test
@cases(engine=["recvmmsg", "recv"])
def work(engine):
    "--work 2ms, {engine}: the worker is busy for so long with each datagram"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--work", "2ms", "--count", 50)
    begin = cpu_s(sink)
    Sender(sink).send(*[b"x" * 18] * 50)
    sink.finish()
    equal(begin < 1, True, "CPU time before")
    total = sink.sum
    # The window ends with the last datagram received, before its work, and those of its batch.
    between(2e-3 * (50 - 32 if engine == "recvmmsg" else 49), total["duration_s"], 20, "window")


@test
@cases(engine=ENGINES, wait=["block", "poll", "spin"])
def waiting(engine, wait):
    "{engine}, --wait {wait} without traffic: it sleeps, or it does not"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", engine, "--wait", wait, "--count", 0, "--sk-timeout" if wait == "block" else "--work", "10ms")
    slept, used = sleeps(sink), cpu_s(sink)
    if wait == "spin":
        wait_until(lambda: cpu_s(sink) > used + 0.03, what="30 ms of CPU time")
        between(0, sleeps(sink) - slept, 2, "how often it slept meanwhile")  # it may still have been at the gate
    else:
        wait_until(lambda: sleeps(sink) > slept + 2, what="sleeping")
        between(0, cpu_s(sink) - used, 0.03, "CPU time meanwhile")
    equal(sink.stop(), 0, "exit status")


@test
@cases(v=["", "-v", "--verbose=1", "-vv"])
def verbose(v):
    "'{v}' says what each socket got only when asked for more"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recv", "--duration", "1ms", "--format", "text", *v.split(), ready=False).finish()
    equal("receive buffer" in sink.stderr, bool(v), "receive buffer in %r" % sink.stderr)


@test
def suffixes():
    "numbers take suffixes: k is 1000 for counts and 1024 for sizes, times have units, fractions are exact"
    words = {"count": ("1.5k", "1500"), "buffer-size": ("2k", "2048"), "rcvbuf": ("8kB", "8000"), "sk-timeout": ("0.25", "250ms"),
             "duration": ("2ms", "2ms"), "work": ("0.5us", "500ns"), "interval": ("1m", "1m")}
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recv", *["--%s=%s" % (n, v[0]) for n, v in words.items()], ready=False).finish()
    options = sink.record("header")["options"]
    equal({n: options[n] for n in words}, {n: v[1] for n, v in words.items()}, "options")


main()
