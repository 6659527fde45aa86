# SPDX-License-Identifier: MIT
"""dns_server - a name server for tests of udp_source --dns: answers each query as its plan says, and keeps what was asked."""
import socket
import threading


class Server:
    """plan(n, query) -> list of datagrams that go back for query number n; the queries are in .queries. `with server:` runs it."""

    def __init__(self, plan, address="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind((address, 0))
        self.socket.settimeout(0.05)
        self.target = ("[%s]:%d" if ":" in address else "%s:%d") % (address, self.socket.getsockname()[1])
        self.plan, self.queries, self.stop = plan, [], threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.stop.is_set():
            try:
                query, client = self.socket.recvfrom(4096)
            except socket.timeout:
                continue
            self.queries.append(query)
            for reply in self.plan(len(self.queries) - 1, query):
                self.socket.sendto(reply, client)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.socket.close()


def answer(query, rcode=0, truncated=False, ident=None):
    """The query with QR set: an answer without records."""
    head = bytearray(query)
    head[2] |= 0x80 | (0x02 if truncated else 0)
    head[3] = head[3] & 0xf0 | rcode
    if ident is not None:
        head[0:2] = ident
    return bytes(head)
