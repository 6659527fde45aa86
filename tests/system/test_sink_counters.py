# SPDX-License-Identifier: MIT
"""What udp_sink shows of the kernel's counters, against nstat(8) on the same window, against fixtures, and against known traffic."""
import array
import fcntl
import itertools
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time

from harness import (WAIT, Sink, between, cases, equal, fail, free_port, have_ipv6, ip, main, private_net, queued, scratch, skip, test, udp_socket,
                     udp_table, veth, wait_until)
from receiver import namespace_counters
from sender import Sender, paused, received, refusal, settle, sums

_number = itertools.count()


# ------------------------------------------------------------------ nstat(8)

class Nstat:
    """nstat with a history of its own: the window begins when this is made."""

    def __init__(self, **env):
        if not shutil.which("nstat"):
            skip("iproute2 (nstat) is not installed")
        self.env = {**os.environ, **env, "NSTAT_HISTORY": scratch("history-%d" % next(_number))}
        self.run("-n")

    def run(self, *args):
        return subprocess.run(["nstat", *args], env=self.env, capture_output=True, text=True, timeout=WAIT, check=True).stdout

    def text(self, *args):
        """Increments since the beginning, which stays."""
        return without_rates(self.run("-s", *args))

    def json(self, *args):
        return json.loads(self.run("-s", "-j", *args))["kernel"]


LINE = re.compile(r"(.{32,}?\d+ *?) +(\d+\.\d)( \(overflow\))?")


def without_rates(text):
    """The lines of a text in the form of nstat, without their rates."""
    lines = []
    for line in text.splitlines():
        m = LINE.fullmatch(line)
        if line != "#kernel" and not m:
            fail("no line of nstat: %r" % line)
        lines.append(line if not m else (m.group(1).rstrip() + (m.group(3) or "")))
    return lines


def nstat_block(sink):
    """The last block that begins with #kernel of a text output."""
    return sink.stdout[sink.stdout.rindex("#kernel\n"):]


def increments(block):
    return {line.split()[0]: (int(line.split()[1]), float(line.split()[2])) for line in block.splitlines()[1:]}


def text_sink(*args, **options):
    """udp_sink with text output, ready on .port_asked."""
    port = free_port()
    sink = Sink("--listen", "127.0.0.1:%d" % port, "--engine", "recvmsg", "--count", 0, "--format", "text", *args, **options)
    sink.port_asked = port
    return sink


def make_traffic(port):
    """Datagrams that are received, that find no socket, and by IPv6; what answers them is over when this returns."""
    other = free_port()
    before = namespace_counters()
    with udp_socket(peer=("127.0.0.1", port)) as s:
        for _ in range(20):
            s.send(b"received")
    hosts = ["127.0.0.1", "::1"] if have_ipv6() else ["127.0.0.1"]
    for host in hosts:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as s:
            for _ in range(3):
                s.sendto(b"nobody there", (host, other))
    for name in ["IcmpInDestUnreachs", "Icmp6InDestUnreachs"][:len(hosts)]:
        wait_until(lambda name=name: namespace_counters()[name] >= before[name] + 3, what=name)
    wait_until(lambda: queued(port) == 0, what="empty queue")


# ------------------------------------------------------------------ the same as nstat

VIEWS = {"all": ([], []), "zeros": (["--zeros"], ["-z"]), "patterns": (["udp*", "IP*octets"],) * 2,
         "patterns and zeros": (["--zeros", "*noports*", "Icmp6*"], ["-z", "*noports*", "Icmp6*"]), "no match": (["Nothing*"],) * 2}


@test
@cases(view=VIEWS)
@private_net
def same_text(view):
    "R85 --nstat, {view}: the lines of nstat on the same window"
    ours, theirs = VIEWS[view]
    nstat = Nstat()
    begin = time.monotonic()
    sink = text_sink("--nstat", *ours)
    ready = time.monotonic()
    make_traffic(sink.port_asked)
    stop = time.monotonic()
    equal(sink.stop(), 0, "exit status")
    block, end = nstat_block(sink), time.monotonic()
    equal(without_rates(block), nstat.text(*theirs), "lines")
    for name, (n, rate) in increments(block).items():
        between(n / (end - begin) - 0.05, rate, n / (stop - ready) + 0.05, "rate of " + name)
    if view == "all":
        got = increments(block)
        equal((got["UdpInDatagrams"][0], got["UdpNoPorts"][0]), (20, 3), "datagrams received, without a socket")


@test
@cases(view=VIEWS)
@private_net
def same_json(view):
    "R85 --nstat with --format json, {view}: the object of nstat on the same window; rate x interval is the increment"
    ours, theirs = VIEWS[view]
    nstat = Nstat()
    begin = time.monotonic_ns()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--nstat", *ours)
    ready = time.monotonic_ns()
    make_traffic(sink.port)
    stop = time.monotonic_ns()
    equal(sink.stop(), 0, "exit status")
    record, = sink.records("nstat")
    equal(record["kernel"], nstat.json(*theirs), "increments")
    equal(list(record), ["type", "kernel", "rate", "interval_ns", "wrapped"], "members")
    between(stop - ready, record["interval_ns"], time.monotonic_ns() - begin, "interval")
    check_rates(record)
    equal(record["wrapped"], [], "wrapped")
    equal([r["type"] for r in sink.records()][-2:], ["sum", "nstat"], "order of records")


def check_rates(record):
    increments_of = record["kernel"] if record["type"] == "nstat" else record["counters"]
    equal(set(record["rate"]), set(increments_of), "names of rates")
    for name, n in increments_of.items():
        if name in record["wrapped"]:
            equal((n, record["rate"][name]), (0, None), name)
        else:
            between(n - 1e-6, record["rate"][name] * record["interval_ns"] / 1e9, n + 1e-6, "rate x interval of " + name)


@test
@private_net
def drops():
    "R85 --nstat=json, text report: drops of the socket's buffer, as nstat has them"
    nstat = Nstat()
    sink = text_sink("--nstat=json", "--rcvbuf", 20000, "UdpRcvbufErrors", "UdpInErrors", "UdpInDatagrams")
    with udp_socket(peer=("127.0.0.1", sink.port_asked)) as s, paused(sink):
        for _ in range(200):
            s.send(b"overflow")
    settle(sink, sink.port_asked)
    equal(sink.stop(), 0, "exit status")
    kernel = json.loads(sink.stdout.splitlines()[-1])["kernel"]
    equal(kernel, nstat.json("UdpRcvbufErrors", "UdpInErrors", "UdpInDatagrams"), "increments")
    between(1, kernel["UdpRcvbufErrors"], 199, "drops")
    equal(kernel["UdpRcvbufErrors"] + kernel["UdpInDatagrams"], 200, "all that was sent")


@test
@private_net
def each_run():
    "R85 --repeat: the window of a run begins where that of the run before ended; together they have all"
    before = namespace_counters()
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 50, "--repeat", 3, "--nstat", "Udp*", "IpIn*")
    sender = Sender(sink)
    for n in range(3):
        sender.send(*[b"x"] * 50)
        sums(sink, n + 1)
    equal(sink.wait(), 0, "exit status")
    records = sink.records("nstat")
    equal([r["kernel"].get("UdpInDatagrams") for r in records], [50, 50, 50], "datagrams of the runs")
    equal([r["type"] for r in sink.records()][-6:], ["sum", "nstat"] * 3, "order of records")
    after = namespace_counters()
    for name in ("UdpInDatagrams", "UdpOutDatagrams", "IpInReceives"):
        equal(sum(r["kernel"].get(name, 0) for r in records), after[name] - before[name], name + " of all windows")


@test
@private_net
def classic():
    "--nstat with --format classic: below the row of the run"
    port = free_port()
    sink = Sink("--listen", "127.0.0.1:%d" % port, "--engine", "recvmsg", "--count", 5, "--format", "classic", "--nstat", "UdpInDatagrams")
    wait_until(lambda: udp_table(port), what="the socket")
    wait_until(lambda: "ready" in sink.stderr, what="ready")
    with udp_socket(peer=("127.0.0.1", port)) as s:
        for _ in range(5):
            s.send(b"x")
    equal(sink.wait(), 0, "exit status")
    lines = sink.stdout.splitlines()
    equal((lines[-3].startswith("recvmsg"), lines[-2], lines[-1].split()[:2]), (True, "#kernel", ["UdpInDatagrams", "5"]), "last lines")


@test
@private_net
def parallel():
    "R85 two runs in parallel have each their own window, and touch no history file"
    history = scratch("untouched")
    args = ["--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--nstat", "UdpInDatagrams"]
    first = Sink(*args, env={"NSTAT_HISTORY": history})
    sender = Sender(first)
    sender.send(*[b"a"] * 10)
    sender.settle()
    second = Sink(*args, env={"NSTAT_HISTORY": history})
    other = Sender(second)
    other.send(*[b"b"] * 20)
    received(second)
    sender.send(*[b"c"] * 5)
    received(first)
    equal([s.record("nstat")["kernel"] for s in (first, second)], [{"UdpInDatagrams": 35}, {"UdpInDatagrams": 20}], "increments")
    equal(os.path.exists(history), False, "a history file was made")


# ------------------------------------------------------------------ files of other hosts

def fixture(folder, **files):
    """Replaces the files below PROC_ROOT/net; None: there is none."""
    os.makedirs(os.path.join(folder, "net"), exist_ok=True)
    for name, text in files.items():
        path = os.path.join(folder, "net", name)
        if text is None:
            if os.path.exists(path):
                os.unlink(path)
            continue
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(text)
        os.replace(path + ".new", path)


BEFORE = {
    "snmp": "Ip: Forwarding DefaultTTL InReceives OutRequests\nIp: 1 64 4294967290 18446744073709551000\nIcmpMsg: OutType8\nIcmpMsg: 3\n"
            "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn CurrEstab InSegs\nTcp: 1 200 120000 -1 3 77\n"
            "Udp: InDatagrams NoPorts InErrors RcvbufErrors\nUdp: 5 6 700 0\n",
    "snmp6": "Ip6InReceives                   \t12\nUdp6InDatagrams                 \t3\n",
    "netstat": "TcpExt: SyncookiesSent TCPFastOpenPassiveAltKeys\nTcpExt: 0 8\nIpExt: InOctets\nIpExt: 100\n",
}
AFTER = {
    "snmp": "Ip: Forwarding DefaultTTL InReceives OutRequests\nIp: 2 64 4294967306 18446744073709551615\nIcmpMsg: OutType3 OutType8\nIcmpMsg: 2 3\n"
            "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn CurrEstab InSegs\nTcp: 1 200 120000 -1 9 77\n"
            "Udp: InDatagrams NoPorts InErrors RcvbufErrors\nUdp: 65269655 6 699 0\n",
    "snmp6": "Ip6InReceives                   \t12\nUdp6InDatagrams                 \t9\n",
    "netstat": "TcpExt: SyncookiesSent TCPFastOpenPassiveAltKeys\nTcpExt: 0 9\nIpExt: InOctets\nIpExt: 50\n",
}
OVERFLOWS = ["UdpInErrors", "IpExtInOctets"]
LACKS = {"nothing": [], "snmp6": ["snmp6"], "snmp6 and netstat": ["snmp6", "netstat"]}


def of_fixture(form, lacks, *args):
    """(sink, nstat), both over the window from BEFORE to AFTER, without the files that lack."""
    folder = scratch("proc-%d" % next(_number))
    missing = {name: None for name in LACKS[lacks]}
    fixture(folder, **{**BEFORE, **missing})
    nstat = Nstat(PROC_ROOT=folder)
    start = text_sink if form == "text" else lambda *a, **o: Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, *a, **o)
    sink = start("--nstat", *args, env={"PROC_ROOT": folder})
    fixture(folder, **{**AFTER, **missing})
    equal(sink.stop(), 0, "exit status")
    return sink, nstat


@test
@cases(lacks=LACKS)
def fixture_zeros(lacks):
    "R82 R85 --nstat --zeros on files: the text of nstat -z, with (overflow); lacks: {lacks}"
    sink, nstat = of_fixture("text", lacks, "--zeros")
    lines = without_rates(nstat_block(sink))
    equal(lines, nstat.text("-z"), "lines")
    names = [name for name in OVERFLOWS if name == "UdpInErrors" or "netstat" not in LACKS[lacks]]
    equal([line.split()[0] for line in lines if line.endswith(" (overflow)")], names, "counters that went backwards")


@test
@cases(lacks=LACKS, patterns=[[], ["udp*", "*InReceives"]])
def fixture_changed(lacks, patterns):
    "R82 R85 --nstat {patterns} on files: the text of nstat, and besides the counters that went backwards, as nstat -z has them; lacks: {lacks}"
    sink, nstat = of_fixture("text", lacks, *patterns)
    lines = without_rates(nstat_block(sink))
    equal([line for line in lines if not line.endswith(" (overflow)")], nstat.text(*patterns), "lines")
    equal([line for line in lines if line.endswith(" (overflow)")], [line for line in nstat.text("-z", *patterns) if line.endswith(" (overflow)")],
          "counters that went backwards")


@test
@cases(zeros=[False, True])
def fixture_json(zeros):
    "R85 --nstat on files, JSON, zeros {zeros}: the object of nstat, and the mark of what went backwards that nstat's lacks"
    sink, nstat = of_fixture("json", "nothing", *(["--zeros"] if zeros else []))
    record, = sink.records("nstat")
    if zeros:
        equal(record["kernel"], nstat.json("-z"), "increments")
    else:
        equal({name: n for name, n in record["kernel"].items() if n}, nstat.json(), "increments")
    equal(record["wrapped"], OVERFLOWS, "wrapped")
    equal(record["kernel"]["IpOutRequests"], 615, "an increment near 2^64")
    check_rates(record)


def never_ready(*args, words, **options):
    """It ends with status 1 and a sentence that has all the words, and was not ready."""
    sink = Sink(*args, ready=False, **options)
    equal((sink.wait(), sink.records("ready"), sink.stderr.count("\n")), (1, [], 1), "exit status, ready records, lines")
    equal([word for word in words if word not in sink.stderr], [], "words that lack in %r" % sink.stderr)


@test
@cases(words=["--nstat", "--watch"])
def no_snmp(words):
    "{words} without the file snmp, or with another in its place: exit status 1 before it is ready, and a sentence that names the file"
    folder = scratch("proc-%d" % next(_number))
    fixture(folder, **{**BEFORE, "snmp": None})
    args = [words, *(["--listen", "127.0.0.1:0"] if words == "--nstat" else [])]
    never_ready(*args, words=[os.path.join(folder, "net", "snmp"), "No such file"], env={"PROC_ROOT": folder})
    fixture(folder, snmp=BEFORE["snmp6"])
    never_ready(*args, words=[os.path.join(folder, "net", "snmp"), "no file like"], env={"PROC_ROOT": folder})


SOFTNET = "%08x %08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 %08x %08x 00000000 %08x\n"


@test
@cases(form=["text", "json"])
def softnet_fixture(form):
    "R80 R81 --softnet, {form}: increments by CPU modulo 2^32 and the CPUs that dropped or were squeezed, by name; an offline CPU"
    folder = scratch("proc-%d" % next(_number))
    fixture(folder, softnet_stat=SOFTNET % (0xfffffff6, 0, 7, 1, 0, 0) + SOFTNET % (100, 5, 0, 0, 0, 2))
    args = ["--softnet", "--engine", "recvmsg", "--count", 0]
    sink = text_sink(*args, env={"PROC_ROOT": folder}) if form == "text" else Sink("--listen", "127.0.0.1:0", *args, env={"PROC_ROOT": folder})
    fixture(folder, softnet_stat=SOFTNET % (10, 0, 8, 3, 0, 0) + SOFTNET % (400, 9, 0, 0, 2, 2))
    equal(sink.stop(), 0, "exit status")
    if form == "text":
        lines = sink.stdout[sink.stdout.index("softnet of the host"):].splitlines()
        equal([line.split() for line in lines[1:5]], [["CPU", "total", "dropped", "squeezed", "collision", "rx_rps", "flow_limit"],
              ["CPU:00", "20", "0", "1", "0", "2", "0"], ["CPU:02", "300", "4", "0", "0", "0", "2"], ["Summed:", "320", "4", "1", "0", "2", "2"]], "table")
        equal([line.split("(")[0] for line in lines[5:]], ["  dropped on CPU 2: 4 ", "  squeezed on CPU 0: 1 "], "CPUs by name")
        return
    record, = sink.records("softnet")
    equal([(c["cpu"], c["total"], c["dropped"], c["squeezed"]) for c in record["cpus"]], [(0, 20, 0, 1), (2, 300, 4, 0)], "CPUs")
    equal((record["total"]["total"], record["dropped_on"], record["squeezed_on"], record["numbered"]), (320, [2], [0], True), "sums")


@test
def softnet_short():
    "R80 --softnet with rows that lack columns: these are unknown, the rest is there, and the report too"
    folder = scratch("proc-%d" % next(_number))
    fixture(folder, softnet_stat="00000001 00000002\n")
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--softnet", env={"PROC_ROOT": folder})
    fixture(folder, softnet_stat="00000003 00000007\n")
    equal(sink.stop(), 0, "exit status")
    record, = sink.records("softnet")
    equal({name: record["total"][name] for name in ("total", "dropped", "squeezed", "rx_rps", "backlog")},
          {"total": 2, "dropped": 5, "squeezed": None, "rx_rps": None, "backlog": None}, "sums")
    equal((len(sink.records("sum")), record["numbered"], record["squeezed_on"]), (1, False, []), "reports, numbered, squeezed")


# ------------------------------------------------------------------ this host

@test
def softnet():
    "--softnet: the CPUs processed at least what was sent here"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmsg", "--count", 0, "--softnet")
    Sender(sink).send(*[b"x"] * 500)
    received(sink)
    record, = sink.records("softnet")
    equal(record["total"]["total"], sum(c["total"] for c in record["cpus"]), "sum")
    between(500, record["total"]["total"], 1 << 32, "packets processed")


SIOCETHTOOL, STSO, SGRO = 0x8946, 0x1f, 0x2c  # linux/sockios.h, linux/ethtool.h


def switch(device, command, on):
    """ethtool -K for one feature. Skips where it cannot be set."""
    value = array.array("B", struct.pack("=II", command, on))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", device.encode(), value.buffer_info()[0]))
        except OSError as reason:
            skip("%s: %s" % (device, reason))


def no_ipv6(device):
    """No neighbour discovery and listener reports."""
    path = "/proc/sys/net/ipv6/conf/%s/disable_ipv6" % device
    if os.path.exists(path):
        with open(path, "w", encoding="ascii") as f:
            f.write("1")


def quiet_veth():
    """A veth pair whose near end counts the packets that it receives, and where nothing comes but what the test sends."""
    peer = veth()
    switch("veth0", SGRO, 1)
    address = re.search(r"link/ether (\S+)", ip("-o link show dev veth0")).group(1)
    no_ipv6("veth0")
    with peer:
        no_ipv6("peer0")
        switch("peer0", STSO, 0)
        ip("neigh replace 198.18.0.1 lladdr", address, "dev peer0 nud permanent")
    return peer


def ethtool_s(device):
    done = subprocess.run(["ethtool", "-S", device], capture_output=True, text=True, timeout=WAIT, check=True)
    return {m.group(1): int(m.group(2)) for m in re.finditer(r"^ *(.+): (\d+)$", done.stdout, re.MULTILINE)}


@test
@cases(form=["text", "json"])
@private_net
def ethtool(form):
    "--ethtool on a veth, {form}: the packets that came, as ethtool -S has them where it is installed"
    count = 300
    peer = quiet_veth()
    before = ethtool_s("veth0") if shutil.which("ethtool") else None
    args = ["--listen", "198.18.0.1:9000", "--engine", "recvmsg", "--count", count, "--ethtool", "veth0", "--format", form]
    sink = Sink(*args)
    with peer:
        s = udp_socket(peer=("198.18.0.1", 9000))
    start = namespace_counters()["UdpInDatagrams"]
    for n in range(50, count + 1, 50):  # fewer than a veth's ring holds
        for _ in range(50):
            s.send(b"to the veth")
        wait_until(lambda n=n: namespace_counters()["UdpInDatagrams"] == start + n, what="%d datagrams received" % n)
    s.close()
    equal(sink.wait(), 0, "exit status")
    if form == "text":
        lines = [re.fullmatch(r"Ethtool\(veth0   \) stat: +(\d+) \( *([\d,]+)\) <= (\S+) /sec", line) for line in sink.stdout.splitlines()
                 if line.startswith("Ethtool(")]
        names = [m.group(3) for m in lines]
        equal(names, sorted(names), "names in order")
        equal([m.group(1) for m in lines], [m.group(2).replace(",", "") for m in lines], "numbers with commas")
        equal("Show adapter(s) (veth0) statistics (ONLY that changed!)" in sink.stdout, True, "heading")
    else:
        record, = sink.records("ethtool")
        names = list(record["counters"])
        check_rates(record)
        packets = [n for name, n in record["counters"].items() if re.fullmatch(r"rx_queue_\d+_xdp_packets", name)]
        equal(list(record), ["type", "device", "counters", "rate", "interval_ns", "wrapped"], "members")
        equal((record["device"], sum(packets), record["wrapped"]), ("veth0", count, []), "device, packets, wrapped")
        if before:
            after = ethtool_s("veth0")
            equal(record["counters"], {name: n - before[name] for name, n in after.items() if n != before[name]}, "ethtool -S")
    equal([name for name in names if "packets" in name] != [], True, "counters of packets")


@test
@private_net
def ethtool_refused():
    "--ethtool: no such interface, an interface without statistics: exit status 1 before it is ready, and a sentence that names it"
    never_ready("--listen", "127.0.0.1:0", "--ethtool", "nosuch0", words=["nosuch0", "No such device"])
    never_ready("--listen", "127.0.0.1:0", "--ethtool", "lo", words=["lo: ", "no statistics"])


# ------------------------------------------------------------------ --watch

@test
@cases(form=["text", "json"])
@private_net
def watch(form):
    "--watch, {form}: what changed, all of it once, until a signal; it has no socket"
    nstat = Nstat()
    sink = Sink("--watch", "--interval", "50ms", "--format", form)
    links = []
    for fd in os.listdir("/proc/%d/fd" % sink.pid):
        links.append(os.readlink("/proc/%d/fd/%s" % (sink.pid, fd)))
    equal([link for link in links if link.startswith("socket:")], [], "sockets")
    with udp_socket(bind=("127.0.0.1", 0)) as target:
        for _ in range(4):
            windows = count_windows(sink, form)
            send_and_read(target, 25)
            wait_until(lambda: count_windows(sink, form) >= windows + 2, what="two more windows")
    windows = count_windows(sink, form)
    wait_until(lambda: count_windows(sink, form) >= windows + 3, what="windows without traffic")
    equal(sink.stop(), 0, "exit status")
    blocks = watch_blocks(sink, form)
    total = {}
    for block in blocks:
        equal([name for name, n in block.items() if not n], [], "counters that did not change")
        for name, n in block.items():
            total[name] = total.get(name, 0) + n
    equal(total, nstat.json(), "sums of all windows")
    equal((total["UdpInDatagrams"], blocks[-2]), (100, {}), "datagrams, the window before the last")


def send_and_read(target, n):
    with udp_socket(peer=target.getsockname()) as s:
        for _ in range(n):
            s.send(b"watched")
    for _ in range(n):
        target.recv(100)


def count_windows(sink, form):
    return len(sink.records("nstat")) if form == "json" else sink.stdout.count("#kernel\n")


def watch_blocks(sink, form):
    """Increments of each window."""
    if form == "json":
        return [r["kernel"] for r in sink.records("nstat")]
    return [{name: n for name, (n, _rate) in increments("#kernel\n" + block).items()} for block in sink.stdout.split("#kernel\n")[1:]]


@test
@private_net
def watch_count():
    "--watch --count 3: ends by itself after three windows"
    sink = Sink("--watch", "--interval", "20ms", "--count", 3)
    equal(sink.wait(), 0, "exit status")
    equal([r["type"] for r in sink.records()], ["ready"] + ["nstat"] * 3, "records")


@test
@cases(duration=[100, 130])
@private_net
def watch_duration(duration):
    "--watch --duration {duration}ms: ends by itself; the windows cover all of the time"
    begin = time.monotonic_ns()
    sink = Sink("--watch", "--interval", "50ms", "--duration", "%dms" % duration)
    equal(sink.wait(), 0, "exit status")
    lengths = [r["interval_ns"] for r in sink.records("nstat")]
    between(duration * 10**6 - 10**6, sum(lengths), time.monotonic_ns() - begin, "sum of the windows")
    between(1, len(lengths), 1 + duration // 50, "windows")


@test
@private_net
def watch_all():
    "--watch --ethtool --softnet PATTERN: a record of each kind per window; lists and patterns hold"
    peer = quiet_veth()
    sink = Sink("--watch", "--interval", "30ms", "--count", 2, "--ethtool", "veth0", "--ethtool", "veth0", "--softnet", "--zeros",
                "UdpIn*", "udpnoports")
    equal(sink.wait(), 0, "exit status")
    os.close(peer.fd)
    kinds = [r["type"] for r in sink.records()]
    equal(kinds, ["ready"] + ["nstat", "ethtool", "ethtool", "softnet"] * 2, "records")
    for record in sink.records("nstat"):
        equal({"UdpInDatagrams", "UdpInErrors", "UdpNoPorts"} <= set(record["kernel"]), True, "counters asked for")
        equal([name for name in record["kernel"] if not name.startswith("UdpIn") and name != "UdpNoPorts"], [], "other counters")


@test
@cases(words=["--listen=127.0.0.1:0", "--port=9", "--engine=recv", "--recvmsg", "--threads=2", "-6", "--repeat=2", "--pktinfo", "--wait=spin",
              "--format=classic"])
def watch_refused(words):
    "--watch {words}: receives nothing, so that this has no use: exit status 2 and a sentence"
    extra = [] if "format" in words else ["--format", "text"]
    sink = Sink("--watch", words, *extra, ready=False)
    equal((sink.wait(), sink.stdout, sink.stderr.count("\n")), (2, "", 1), "exit status, output, lines")
    equal("--watch and --" in sink.stderr, True, sink.stderr)


@test
def patterns_refused():
    "PATTERN without --nstat and --watch, and --zeros: exit status 2 and what to do"
    for args, words in ((["Udp*"], ["'Udp*'", "--listen"]), (["--softnet", "Udp*"], ["'Udp*'"]), (["--zeros"], ["--zeros", "--nstat"])):
        refusal("--port", 0, *args, words=words, status=2)


main()
