# SPDX-License-Identifier: MIT
"""netns - private user and network namespaces for tests. Anonymous: held by file descriptors and processes only, so that
nothing is left behind however a test ends. Python 3.9 has no os.unshare, hence ctypes."""
import ctypes
import os
import shutil
import signal
import subprocess

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
_PR_SET_PDEATHSIG = 1                                   # linux/prctl.h
SELF = "/proc/thread-self/ns/net"


class NoNamespace(Exception):
    """This host does not let us; the text says what was refused."""


def die_with_parent():
    """The calling process gets SIGKILL when its parent goes, however that happens."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _unshare(flags, what):
    if _libc.unshare(flags):
        raise NoNamespace("no %s namespace: unshare: %s" % (what, os.strerror(ctypes.get_errno())))


def _setns(fd):
    if _libc.setns(fd, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def ip(*words):
    """ip(8) in the current namespace: ip("addr add 198.18.0.1/24 dev lo"). Raises with its message."""
    if not shutil.which("ip"):
        raise NoNamespace("iproute2 (ip) is not installed")
    command = ["ip", *" ".join(words).split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        raise RuntimeError("%s: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


def enter_private(user):
    """Moves this (single-threaded) process into a new network namespace, with user=True inside a new user namespace; lo is up."""
    ids = os.geteuid(), os.getegid()
    if user:
        _unshare(_CLONE_NEWUSER, "user")
        for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % ids[0]), ("gid_map", "0 %d 1" % ids[1])):
            with open("/proc/self/" + name, "w", encoding="ascii") as f:
                f.write(text)
    _unshare(_CLONE_NEWNET, "network")
    ip("link set lo up")


class Namespace:
    """Another network namespace. `with peer:` is inside: sockets and programs made there stay there."""

    def __init__(self):
        home = os.open(SELF, os.O_RDONLY | os.O_CLOEXEC)
        _unshare(_CLONE_NEWNET, "second network")
        self.fd = os.open(SELF, os.O_RDONLY | os.O_CLOEXEC)
        ip("link set lo up")
        _setns(home)
        os.close(home)
        self._home = []

    def __enter__(self):
        self._home.append(os.open(SELF, os.O_RDONLY | os.O_CLOEXEC))
        _setns(self.fd)
        return self

    def __exit__(self, *_exception):
        home = self._home.pop()
        _setns(home)
        os.close(home)


def veth(peer=None, index=0):
    """A veth pair: veth{index} here with 198.18.{index}.1/24 and 2001:db8:{index}::1/64, peer{index} in the namespace `peer` (a new one
    when None) with .2 and ::2. Returns that namespace. Call it inside a @private_net test."""
    peer = peer or Namespace()
    near, far = "veth%d" % index, "peer%d" % index
    ip("link add", near, "type veth peer name", far)
    ip("link set", far, "netns /proc/%d/fd/%d" % (os.getpid(), peer.fd))
    _address(near, index, 1)
    with peer:
        _address(far, index, 2)
    return peer


def _address(device, index, host):
    ip("addr add 198.18.%d.%d/24 dev %s" % (index, host, device))
    if os.path.exists("/proc/sys/net/ipv6"):
        ip("addr add 2001:db8:%x::%d/64 dev %s nodad" % (index, host, device))
    ip("link set %s up" % device)
