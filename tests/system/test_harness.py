# SPDX-License-Identifier: MIT
"""The harness itself: verdicts, time limits, cleaning up, ports, private networks."""
import os
import signal
import sys
import time

from harness import (Namespace, Program, between, equal, free_port, have_ipv6, main, need_ipv6, private_net, scratch, socket_drops,
                     strace, test, udp_socket, udp_table, veth, wait_until)

HERE = os.path.dirname(os.path.abspath(__file__))


def script(body, wait=True):
    """Runs a test script made of `body`; returns the program."""
    path = scratch("script-%d.py" % len(os.listdir(scratch("."))))
    with open(path, "w", encoding="utf-8") as f:
        f.write("import sys\nsys.path.insert(0, %r)\nfrom harness import *\nimport harness\n%s\nmain()\n" % (HERE, body))
    program = Program([sys.executable, path], env={"TMPDIR": scratch(".")})
    if wait:
        program.wait()
    return program


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@test
def verdicts():
    "plan, ok, not ok and skip are what TAP says, and the exit status is 1"
    run = script("@test\ndef good():\n  pass\n"
                 "@test\ndef bad():\n  'wrong #1'\n  equal(1, 2, 'figure')\n"
                 "@test\ndef none():\n  skip('no such thing here')\n")
    equal(run.wait(), 1, "exit status")
    lines = [line for line in run.stdout.splitlines() if not line.startswith("#")]
    equal(lines, ["1..3", "ok 1 - good", "not ok 2 - wrong \\#1", "ok 3 - none # SKIP no such thing here"], "TAP")
    assert "figure: got 1, expected 2" in run.stdout


@test
def success():
    "exit status is 0 when nothing failed; cases multiply and fill names"
    run = script("@test\n@cases(a=[1, 2], b=['x'])\ndef good(a, b):\n  '{b}{a} works'\n").finish()
    equal(run.stdout.splitlines(), ["1..2", "ok 1 - x1 works", "ok 2 - x2 works"], "TAP")


@test
def diagnostics():
    "a failure shows what the programs printed"
    run = script("@test\ndef bad():\n  Program(['sh', '-c', 'echo to-out; echo to-err >&2; exit 7']).finish()\n")
    equal(run.wait(), 1, "exit status")
    for text in ("stdout: to-out", "stderr: to-err", "(status 7)", "got 7, expected 0"):
        assert text in run.stdout, text


@test
def limit():
    "a test that hangs fails at its limit and its programs are gone"
    run = script("def hang():\n  p = Program(['sleep', '600'])\n  print('# pid', p.pid, flush=True)\n  p._popen.wait()\n"
                 "hang.limit = 1\ntest(hang)\n")
    equal(run.wait(), 1, "exit status")
    assert "the test took more than 1 s" in run.stdout
    pid = int(run.stdout.split("# pid ")[1].split()[0])
    assert not alive(pid)


@test
def wait_is_bounded():
    "a program that does not end is killed at the time-out of the wait"
    run = script("@test\ndef bad():\n  Program(['sleep', '600']).wait(timeout=0.2)\n")
    equal(run.wait(), 1, "exit status")
    assert "did not end within 0.2 s" in run.stdout


@test
def killed():
    "programs die with a test script that was killed by SIGKILL"
    run = script("@test\ndef hang():\n  p = Program(['sleep', '600'])\n  print('# pid', p.pid, flush=True)\n  p.wait(100)\n",
                 wait=False)
    wait_until(lambda: "# pid " in run.stdout and run.stdout.endswith("\n"))
    pid = int(run.stdout.split("# pid ")[1].split()[0])
    assert alive(pid)
    run.send_signal(signal.SIGKILL)
    wait_until(lambda: not alive(pid), what="end of the orphan")


@test
def records():
    "JSON lines are read while the program runs; a half line is not; NaN is refused"
    p = Program(["sh", "-c", "echo '{\"type\":\"a\",\"n\":1}'; printf '{\"type\":\"b\"'; exec sleep 600"])
    equal(p.record("a")["n"], 1)
    equal(p.records("b"), [])
    equal(p.stop(), -signal.SIGTERM, "status")
    bad = script("@test\ndef bad():\n  Program(['echo', '{\"type\":\"a\",\"n\":NaN}']).record('a')\n")
    equal(bad.wait(), 1, "exit status")
    assert "not JSON: NaN" in bad.stdout


@test
def ports():
    "free ports differ within a process and between processes that run at once"
    mine = [free_port() for _ in range(50)]
    equal(len(set(mine)), 50, "distinct ports")
    body = "@test\ndef p():\n  print('# ports', *[free_port() for _ in range(50)])\n"
    others = script(body).stdout.split("# ports ")[1].split("\n")[0].split()
    equal(set(mine) & {int(p) for p in others}, set(), "ports given twice")
    for port in mine:
        udp_socket(bind=("127.0.0.1", port)).close()


@test
def table():
    "socket_drops and udp_table read the drops of a socket that overflowed"
    port = free_port()
    with udp_socket(bind=("127.0.0.1", port)) as full, udp_socket(peer=("127.0.0.1", port)) as client:
        full.setsockopt(1, 8, 1)  # SOL_SOCKET, SO_RCVBUF: the smallest there is
        for _ in range(200):
            client.send(b"x" * 100)
        received = 0
        drops = socket_drops(port)
        full.setblocking(False)
        while True:
            try:
                full.recv(200)
            except BlockingIOError:
                break
            received += 1
        equal(received + drops, 200, "received + dropped")
        assert drops > 0
        equal([row["table"] for row in udp_table(port)], ["udp"])


@test
@private_net
def namespace():
    "a private network has lo up and nothing else"
    with open("/proc/thread-self/net/dev", encoding="ascii") as f:
        devices = {line.split(":")[0].strip() for line in f.read().splitlines()[2:]}
    assert "lo" in devices and not any(d.startswith(("eth", "en", "veth")) for d in devices), devices
    a = udp_socket(bind=("127.0.0.1", 9000))
    udp_socket(peer=("127.0.0.1", 9000)).send(b"x")
    equal(a.recv(10), b"x")


@test
@private_net(user=True)
def user_namespace():
    "with user=True we are root inside, without privilege outside"
    equal(os.geteuid(), 0, "user id inside")
    a = udp_socket(bind=("127.0.0.1", 9000))
    try:
        a.setsockopt(1, 33, 1 << 20)  # SOL_SOCKET, SO_RCVBUFFORCE
    except PermissionError:
        return
    raise AssertionError("SO_RCVBUFFORCE was allowed")


@test
@private_net
def pair():
    "veth joins two namespaces, IPv4 and IPv6; leaving the inner one comes back"
    peer = veth()
    hosts = [("198.18.0.1", "198.18.0.2")] + ([("2001:db8::1", "2001:db8::2")] if have_ipv6() else [])
    for here, there in hosts:
        with peer:
            server = udp_socket(bind=(there, 9000))
        client = udp_socket(bind=(here, 0))
        client.sendto(b"question", (there, 9000))
        data, source = server.recvfrom(100)
        equal((data, source[0]), (b"question", here))
    other = Namespace()
    with other:
        equal(udp_table(9000), [], "sockets in a third namespace")


@test
@private_net
def in_private_net_failures():
    "a failure in a private network is reported by the parent"
    run = script("@test\n@private_net\ndef bad():\n  equal(1, 2, 'inside')\n")
    equal(run.wait(), 1, "exit status")
    assert "inside: got 1, expected 2" in run.stdout


@test
def tracing():
    "strace prefix: the pid is the program's, and the log is complete when it was read"
    prefix, read = strace("read,write,kill")
    p = Program(["sh", "-c", "echo hello; kill -9 $$"], prefix=prefix)
    equal(p.wait(), -signal.SIGKILL, "status")
    lines = read(p)
    assert any('write(1, "hello' in line for line in lines), lines


@test
def stopping():
    "stop returns the status and how long it took"
    p = Program(["sh", "-c", "trap 'exit 3' TERM; echo '{\"type\":\"ready\"}'; while :; do sleep 0.01; done"])
    p.record("ready")
    begin = time.monotonic()
    equal(p.stop(), 3, "status")
    between(0, p.stop_s, time.monotonic() - begin, "stop_s")


@test
def ipv6_probe():
    "::1 works where have_ipv6 says so"
    need_ipv6()
    a = udp_socket(bind=("::1", 0))
    udp_socket(peer=a.getsockname()[:2]).send(b"x")
    equal(a.recv(10), b"x")


main()
