# SPDX-License-Identifier: MIT
"""udp_sink --early-demux: both settings as asked while it runs, and as they were afterwards, however it ends. In private networks only."""
import contextlib
import fcntl
import os
import re
import shutil
import signal
import time

from harness import (Program, Sink, cases, equal, fail, ip, main, need_ipv6, private_net, scratch, skip, strace, test, udp_socket, udp_table,
                     veth, wait_until)
from receiver import namespace_counters
from sender import command, refusal, settle

NAMES = ["ip_early_demux", "udp_early_demux"]
VALUES = {"on": (1, 1), "off": (0, 0)}
IP, UDP = ("/proc/sys/net/ipv4/" + name for name in NAMES)


def settings():
    """Of this network namespace."""
    values = []
    for path in (IP, UDP):
        with open(path, encoding="ascii") as f:
            values.append(int(f.read()))
    return tuple(values)


def state_dir():
    """Where the state file is to be: of this test alone."""
    path = scratch("run")
    os.makedirs(path, exist_ok=True)
    return path


def state_file():
    return os.path.join(state_dir(), "udpsink-early-demux-%d" % os.stat("/proc/self/ns/net").st_ino)


def left_over():
    return os.listdir(state_dir())


def demux(mode, *args, **options):
    """udp_sink with --early-demux, listening on loopback unless told otherwise."""
    args = list(args) if "--listen" in args else ["--listen", "127.0.0.1:0", *args]
    env = {**options.pop("env", {}), "XDG_RUNTIME_DIR": state_dir()}
    return Sink("--early-demux", mode, "--engine", "recvmsg", "--count", 0, *args, env=env, **options)


def start(values):
    """Sets what was there before. Kernels without settings of each namespace (before Linux 4.12) show none in a new one."""
    for path, value in zip((IP, UDP), values):
        try:
            with open(path, "r+", encoding="ascii") as f:
                f.write(str(value))
        except OSError as error:
            skip("%s: %s" % (path, error))
    equal(settings(), values, "settings before")


def child(sink):
    """The only child of udp_sink that is udp_sink too."""
    def look():
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open("/proc/%s/stat" % pid, encoding="utf-8") as f:
                    name, _, fields = f.read().rpartition(")")
                state, parent = fields.split()[:2]
                if int(parent) == sink.pid and state != "Z" and name.endswith("(udp_sink"):
                    found.append(int(pid))
        return found
    found = wait_until(look, what="the guardian")
    equal(len(found), 1, "children of udp_sink")
    return found[0]


def guardian(sink):
    """The process that restores, when it has begun to guard: it sleeps in read(2) on its pipe, which is its descriptor 3."""
    pid = child(sink)
    def guards():
        with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
            fields = f.read().rpartition(")")[2].split()
        return fields[0] == "S" and sorted(os.listdir("/proc/%d/fd" % pid)) == list("01234")
    wait_until(guards, what="the guardian at work")
    return pid


def gone(pid):
    """Waits until a process that is not our child has ended."""
    def look():
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                return f.read().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True
    wait_until(look, what="end of process %d" % pid)


def restored(values, what="restored"):
    """Waits for the settings, and for the state file to go, which is the last thing that happens."""
    wait_until(lambda: not left_over(), what="the state file is removed")
    equal(settings(), values, what)


# -------------------------------------------------------------------------------------------------- set, and set back

BEFORE = [(0, 0), (0, 1), (1, 0), (1, 1)]


@test
@cases(before=BEFORE, mode=["on", "off", "keep"])
@private_net
def set_and_restored(before, mode):
    "{before} before, --early-demux {mode}: both settings during the run and in every record, as before at the end"
    start(before)
    during = VALUES.get(mode, before)
    sink = demux(mode, "--interval", "20ms", "--count", 5)
    equal(settings(), during, "during the run")
    header = sink.record("header")
    equal((header["early_demux_changed"], header["options"]["early-demux"]), (mode != "keep", mode), "changed, option")
    equal(tuple(int(header["sysctl"]["net.ipv4." + name]) for name in NAMES), during, "settings in the header")
    equal(left_over(), [os.path.basename(state_file())] if mode != "keep" else [], "state files")
    sink.record("period")
    with udp_socket(peer=("127.0.0.1", sink.port)) as s:
        for _ in range(5):
            s.send(b"x")
    sink.finish()
    equal((settings(), left_over()), (before, []), "settings and state files at the end")
    for record in sink.records("period") + sink.records("sum"):
        equal(tuple(record["early_demux"][name] for name in NAMES), during, "settings in the records")


ENDS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "SIGHUP": signal.SIGHUP, "SIGKILL": signal.SIGKILL, "SIGALRM": signal.SIGALRM}


@test
@cases(end=ENDS, before=[(1, 0)], phase=["running", "waiting for the first sender"])
@private_net
def restored_after(end, before, phase):
    "{before} before, {phase}, ended by {end}: restored, by a process that outlives it, within a second"
    start(before)
    mode = "on" if before[0] == 0 else "off"
    for attempt in range(3):  # the machine is shared: the best of three has to be in time
        sink = demux(mode, *(["--connect"] if phase != "running" else []))
        keeper = guardian(sink)
        equal(settings(), VALUES[mode], "during the run")
        begin = time.monotonic()
        equal(sink.stop(ENDS[end]), 0 if end in ("SIGTERM", "SIGINT", "SIGHUP") else -ENDS[end], "exit status")
        restored(before)
        gone(keeper)
        if time.monotonic() - begin < 1:
            return
    fail("attempt %d still took over a second" % attempt)


@test
@cases(state=["running", "stopped"])
@private_net
def group_killed(state):
    "SIGKILL to the process group of a {state} udp_sink: the guardian is in a group of its own, takes no other signal, and restores"
    start((1, 0))
    sink = demux("off")
    keeper = guardian(sink)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGPIPE, signal.SIGTSTP):
        os.kill(keeper, number)
    if state == "stopped":
        os.kill(sink.pid, signal.SIGSTOP)
    os.killpg(sink.pid, signal.SIGKILL)
    equal(sink.wait(), -signal.SIGKILL, "exit status")
    restored((1, 0))


@test
@cases(number=[signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@private_net
def killed_while_it_begins(number):
    "restored after signals that come while the guardian begins: signal {number} to the process group"
    start((1, 0))
    prefix, _ = strace("setsid")
    sink = demux("off", ready=False, prefix=[*prefix, "-e", "inject=setsid:delay_enter=300000"])
    wait_until(lambda: settings() == (0, 0), what="settings")
    keeper = child(sink)
    # To each by itself: the tracer is of the same group. A group is what they share at that time.
    together = os.getpgid(keeper) == sink.pid
    os.kill(sink.pid, number)
    if together:
        os.kill(keeper, number)
    sink.wait()
    restored((1, 0))


# System calls at whose entry udp_sink is killed: from the state file to the settings to the reports.
POINTS = ["flock", "pwrite64", "fsync", "pipe2", "clone,clone3,fork", "openat", "write", "socket", "bind", "close", "fcntl"]


@test
@cases(call=POINTS)
@private_net
def killed_at(call):
    "killed at each {call} of its start: the settings come back, at the latest by the next udp_sink with the option"
    start((0, 1))
    prefix, _ = strace(call)
    prefix.remove("-f")  # not the guardian
    for n in (1, 2, 3, 5, 8, 13):
        sink = demux("on", "--duration", "1ms", ready=False, prefix=[*prefix, "-e", "inject=%s:signal=KILL:when=%d" % (call, n)])
        status = sink.wait()
        wait_until(lambda: settings() == (0, 1), what="restored after the kill at %s number %d" % (call, n))
        if status == 0:  # there are fewer such calls
            restored((0, 1))
            return
        equal(status, -signal.SIGKILL, "exit status")
        wait_until(unlocked, what="end of the guardian")
    demux("on", "--duration", "1ms").finish()
    restored((0, 1))


def unlocked():
    """Nobody holds the state file (any more)."""
    with contextlib.suppress(FileNotFoundError), open(state_file(), encoding="ascii") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


@test
@cases(why=["address in use", "engine", "no such address"])
@private_net
def start_fails(why):
    "restored when the start fails behind it ({why})"
    start((1, 0))
    with udp_socket(bind=("127.0.0.1", 0)) as s:
        args = {"address in use": ["--listen", "127.0.0.1:%d" % s.getsockname()[1]], "engine": ["--engine", "read", "--recv-tos"],
                "no such address": ["--listen", "203.0.113.1:0"]}[why]
        sink = demux("off", *args, ready=False)
        equal(sink.wait(), 1, "exit status")
    equal((settings(), left_over()), ((1, 0), []), "settings, state files at the end")


# ------------------------------------------------------------------------------------------- who else holds the settings

@test
@cases(second=["on", "off"])
@private_net
def second_holder(second):
    "a second udp_sink with --early-demux {second} is refused by name and changes nothing; keep is fine; afterwards it can have it"
    start((1, 0))
    first = demux("off")
    refusal("--early-demux", second, "--listen", "127.0.0.1:0", env={"XDG_RUNTIME_DIR": state_dir()},
            words=["--early-demux", "another udp_sink", state_file()])
    equal(settings(), (0, 0), "as the first set them")
    keep = demux("keep")
    equal(keep.record("header")["early_demux_changed"], False, "changed by keep")
    equal(keep.stop(), 0, "exit status")
    equal(settings(), (0, 0), "as the first set them")
    equal(first.stop(), 0, "exit status")
    restored((1, 0))
    equal(demux(second, "--duration", "1ms").finish().sum["early_demux"]["ip_early_demux"], VALUES[second][0], "now it can")
    restored((1, 0))


@test
@private_net
def namespaces_are_apart():
    "two udp_sinks in two network namespaces each hold their own settings, with state files of different names"
    start((1, 1))
    first = demux("off")
    peer = veth()
    with peer:
        start((1, 1))
        second = demux("on")
        equal((settings(), len(left_over())), ((1, 1), 2), "settings of the second, state files")
    equal(settings(), (0, 0), "settings of the first")
    equal((first.stop(), second.stop()), (0, 0), "exit status")
    restored((1, 1))


@test
@cases(mode=["on", "off"])
@private_net
def stale_state(mode):
    "both udp_sink and guardian killed: the next one with --early-demux {mode} finds the values in the state file, says so, and restores them"
    start((1, 0))
    first = demux("off")
    keeper = guardian(first)
    os.kill(keeper, signal.SIGKILL)
    gone(keeper)
    first.stop(signal.SIGKILL)
    equal((settings(), len(left_over())), ((0, 0), 1), "nobody restored")
    second = demux(mode)
    equal(settings(), VALUES[mode], "during the second run")
    for word in (state_file(), "ip_early_demux=1", "udp_early_demux=0"):
        if word not in second.stderr:
            fail("no %r in %r" % (word, second.stderr))
    second.stop(signal.SIGKILL)
    restored((1, 0))


@test
@private_net
def guardian_killed():
    "the guardian killed: udp_sink restores at its own end, as it promised"
    start((1, 0))
    sink = demux("off")
    keeper = guardian(sink)
    os.kill(keeper, signal.SIGKILL)
    gone(keeper)
    equal(sink.stop(), 0, "exit status")
    restored((1, 0))


@test
@cases(content=["", "1", "x y\n", "1 1 and a very long line " + "z" * 300, "99999999999 1\n", "-7 300\n"])
@private_net
def broken_state(content):
    "a state file that makes no sense ({content!r:.20}) does no harm: the present values are restored"
    start((1, 0))
    with open(state_file(), "w", encoding="ascii") as f:
        f.write(content)
    sink = demux("off")
    equal(settings(), (0, 0), "during the run")
    equal(sink.stop(), 0, "exit status")
    equal(settings(), (1, 0) if not content.startswith("1 1") else (1, 1), "afterwards")


@test
@private_net
def state_is_a_link():
    "a symbolic link where the state file should be is not followed: refused by name, nothing is changed, nothing is written"
    start((1, 0))
    victim = scratch("victim")
    with open(victim, "w", encoding="ascii") as f:
        f.write("0 0\n")
    os.symlink(victim, state_file())
    refusal("--early-demux", "off", "--port", 0, env={"XDG_RUNTIME_DIR": state_dir()}, words=["--early-demux", state_file()])
    with open(victim, encoding="ascii") as f:
        equal((settings(), f.read()), ((1, 0), "0 0\n"), "settings, file behind the link")


# ------------------------------------------------------------------------------------------------------- not permitted

def can_run(prefix):
    """Skips where the prefix itself is refused."""
    probe = Program([demux("keep", "--duration", "1ms").finish().command[0], "--version"], prefix=prefix)
    if probe.wait():
        skip("cannot make it so here: " + probe.stderr.strip())


def read_only(*paths):
    """Prefix: these are read-only for the program, as in a container."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        skip("util-linux (unshare, mount) is not installed")
    mounts = " && ".join("mount --bind %s %s && mount -o remount,bind,ro %s" % (p, p, p) for p in paths)
    return ["unshare", "--mount", "sh", "-c", mounts + ' && exec "$@"', "sh"]


def open_ids():
    """How many user ids there are in this user namespace."""
    with open("/proc/self/uid_map", encoding="ascii") as f:
        return sum(int(line.split()[2]) for line in f)


@test
@cases(how=["/proc/sys is read-only", "one of them is read-only", "no privilege"])
@private_net
def not_permitted(how):
    "{how}: --early-demux is refused with the file and the reason, changes nothing, and leaves nothing behind; keep works"
    start((1, 0))
    if how == "no privilege":
        if open_ids() < 65535:
            skip("only root can become somebody else")
        prefix, reason = command("os.setgroups([]); os.setgid(65534); os.setuid(65534)"), "root"
        os.chmod(scratch("."), 0o755)
        os.chmod(state_dir(), 0o777)
    else:
        prefix, reason = read_only("/proc/sys" if how.startswith("/proc") else UDP), "read-only"
    can_run(prefix)
    equal(demux("keep", "--duration", "1ms", prefix=prefix).finish().stderr, "", "stderr with keep")
    refusal("--early-demux", "off", "--port", 0, env={"XDG_RUNTIME_DIR": state_dir()}, prefix=prefix,
            words=[IP if how.startswith(("/proc", "no")) else UDP, reason])
    equal((settings(), left_over()), ((1, 0), []), "settings, state files")


# ------------------------------------------------------------------------------------------------------------ reports

LO_NOTE = "--early-demux changes nothing here: the kernel skips early demux on lo"

# Arguments, mode, "could apply to k of n sockets" (L: a port, P: the peer's port), note about lo.
COULD = {
    "connected on a link": ("--listen 198.18.0.1:L --connect=198.18.0.2:P", "on", (1, 1), False),
    "connected, IPv6": ("--listen [2001:db8::1]:L --connect=[2001:db8::2]:P", "on", (1, 1), False),
    "connected, off": ("--listen 198.18.0.1:L --connect=198.18.0.2:P", "off", (0, 1), False),
    "two threads, one address": ("--listen 198.18.0.1:L --connect=198.18.0.2:P --threads 2", "on", (1, 2), False),
    "two addresses": ("--listen 198.18.0.1:L --listen 198.18.0.11:L --connect=198.18.0.2:P", "on", (2, 2), False),
    "shared": ("--listen 198.18.0.1:L --connect=198.18.0.2:P --threads 2 --shared-socket", "on", (1, 1), False),
    "not connected": ("--listen 198.18.0.1:L", "on", (0, 1), False),
    "wildcard": ("--listen 0.0.0.0:L", "on", (0, 1), False),
    "loopback": ("--listen 127.0.0.1:L --connect=127.0.0.1:P", "on", (0, 1), True),
    "loopback, IPv6": ("--listen [::1]:L", "off", (0, 1), True),
    "loopback and a link": ("--listen 127.0.0.1:L --listen 198.18.0.1:L", "on", (0, 2), False),
}


@test
@cases(sockets=COULD)
@private_net
def could_apply(sockets):
    "{sockets}: how many sockets early demux could help is in every record and in the text report, with the note about lo where it is due"
    line, mode, (could, of), lo = COULD[sockets]
    if "[" in line:
        need_ipv6()
    start((1, 1))
    veth()
    ip("addr add 198.18.0.11/24 dev veth0")
    args = [re.sub(":L$", ":9101", re.sub(":P$", ":9102", word)) for word in line.split()]
    sink = demux(mode, *args, "--interval", "20ms")
    sink.record("period")
    equal(sink.stop(), 0, "exit status")
    for record in sink.records("period") + sink.records("sum"):
        values = record["early_demux"]
        equal((values["could_apply_to"], values["sockets"]), (could, of), "could apply to")
    equal((LO_NOTE in sink.sum["notes"], restored((1, 1))), (lo, None), "note about lo")
    told = demux(mode, *args, "--format", "text", "--duration", "1ms").finish().stdout
    value = VALUES[mode][0]
    for text in ("early demux ip %d, udp %d\n" % (value, value),
                 "early demux: ip %d, udp %d; could apply to %d of %d sockets\n" % (value, value, could, of)):
        if text not in told:
            fail("no %r in %s" % (text, told))
    equal(LO_NOTE in told, lo, "note about lo in the text")


@test
@private_net
def could_apply_to_flows():
    "--connect-each: early demux could help one of the flows' sockets at an address and port, the listener never"
    start((1, 1))
    peer = veth()
    sink = demux("keep", "--listen", "198.18.0.1:0", "--connect-each")
    with peer:
        flows = [udp_socket(peer=("198.18.0.1", sink.port)) for _ in range(4)]
    for n, s in enumerate(flows):
        s.send(b"first")
        wait_until(lambda n=n: len(udp_table(sink.port)) == n + 2, what="socket of flow %d" % n)
    equal(sink.stop(), 0, "exit status")
    values = sink.sum["early_demux"]
    equal((sink.sum["connected_sockets"], values["could_apply_to"], values["sockets"]), (4, 1, 5), "connected, could apply to, sockets")


def udp_in():
    return namespace_counters()["UdpInDatagrams"]


@test
@private_net
def settings_unknown():
    "settings that cannot be read are null in JSON, - in text, and --early-demux says which they are"
    if not shutil.which("unshare"):
        skip("util-linux (unshare) is not installed")
    start((1, 1))
    prefix = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc/sys/net/ipv4 && exec "$@"', "sh"]
    can_run(prefix)
    sink = demux("keep", "--duration", "1ms", prefix=prefix).finish()
    equal([sink.sum["early_demux"][name] for name in NAMES], [None, None], "settings")
    text = demux("keep", "--duration", "1ms", "--format", "text", prefix=prefix).finish().stdout
    if "early demux ip -, udp -\n" not in text:
        fail("text %r" % text.splitlines()[0])
    refusal("--early-demux", "on", "--port", 0, env={"XDG_RUNTIME_DIR": state_dir()}, prefix=prefix, words=["net.ipv4.ip_early_demux"])
    equal(left_over(), [], "state files")


@test
@private_net
def received_either_way():
    "a connected socket receives what comes by a link, with early demux and without"
    start((1, 1))
    peer = veth()
    for mode in ("on", "off"):
        with peer:
            s = udp_socket(bind=("198.18.0.2", 0))
        sink = demux(mode, "--listen", "198.18.0.1:0", "--connect=198.18.0.2:%d" % s.getsockname()[1])
        s.connect(("198.18.0.1", sink.port))
        before = udp_in()
        for _ in range(20):
            s.send(b"x")
        wait_until(lambda b=before: udp_in() - b >= 20, what="20 datagrams")
        settle(sink)
        equal(sink.stop(), 0, "exit status")
        equal(sink.sum["total"]["datagrams"], 20, "datagrams with " + mode)
        restored((1, 1))
        s.close()


main()
