# SPDX-License-Identifier: MIT
"""captures - writes capture files (pcap, tcpdump.org/manpages/pcap-savefile.5.html) for tests of udp_source --pcap."""
import struct

from harness import Source, scratch

ETHERNET, RAW, SLL, SLL2, NULL = 1, 101, 113, 276, 0
LINKS = {ETHERNET: bytes(12) + b"\x08\0", RAW: b"", SLL: bytes(14) + b"\x08\0", SLL2: b"\x08\0" + bytes(18), NULL: b"\x02\0\0\0"}


def ip(payload, protocol=17, fragment=0):
    """An IPv4 packet; protocol 17 gets a UDP header."""
    if protocol == 17:
        payload = struct.pack(">HHHH", 5000, 53, 8 + len(payload), 0) + payload
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, fragment, 64, protocol, 0, bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2])) + payload


def capture(packets, link=ETHERNET, nanoseconds=True, name="capture.pcap"):
    """Writes (ns, packet) with the link header in front; returns the path."""
    path = scratch(name)
    with open(path, "wb") as f:
        f.write(struct.pack("=IHHiIII", 0xa1b23c4d if nanoseconds else 0xa1b2c3d4, 2, 4, 0, 0, 262144, link))
        for ns, packet in packets:
            frame = LINKS[link] + packet
            f.write(struct.pack("=IIII", 1700000000 + ns // 10**9, ns % 10**9 // (1 if nanoseconds else 1000), len(frame), len(frame)) + frame)
    return path


def can_replay():
    """Is libpcap built in?"""
    return "libpcap none" not in Source("--version", "-v").finish().stdout
