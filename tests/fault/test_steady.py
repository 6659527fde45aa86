# SPDX-License-Identifier: MIT
"""udp_sink allocates nothing in its steady state: malloc, mmap and their like are counted in the workers by liballoc.so."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from harness import (SANITIZERS, Sink, Source, cases, engines, equal, main, module, queued, scratch, skip, test,  # noqa: E402
                     wait_until)

WARM = 100  # receive calls of a thread before its steady state
CONTROL = ["--pktinfo", "--recv-ttl", "--recv-tos", "--rxq-ovfl", "--by-destination"]
EXTRAS = {engine: ["--check-sequence", "--interval", "50ms", *(CONTROL if engine in ("recvmsg", "recvmmsg", "epoll") else [])]
          for engine in engines() if engine != "null"}


@test
@cases(engine=EXTRAS, threads=[1, 2])
def allocations(engine, threads):
    "no allocation in the steady state: {engine}, threads: {threads}, all options with 2"
    if SANITIZERS:
        skip("the sanitizer has an allocator of its own")
    report = scratch("report")
    sink = Sink("--engine", engine, "--threads", threads, "--listen", "127.0.0.1:0", "--count", 0, "--batch", 8,
                *(EXTRAS[engine] if threads == 2 else []), env={**module("liballoc"), "ALLOC_REPORT": report, "ALLOC_AFTER": str(WARM)})
    # 64 flows: that all of them meet the same of two sockets has a chance of 2^-63.
    Source("--count", 16000, "--rate", "200k", "--flows", 64, "--batch", 16, "127.0.0.1:%d" % sink.port).finish()
    wait_until(lambda: queued(sink.port) == 0)
    equal(sink.stop(), 0, "exit status")
    with open(report, encoding="utf-8") as f:
        rows = [line.split("\t") for line in f]
    equal(sorted(row[0] for row in rows), ["sink-%d" % i for i in range(threads)], "threads that came to their steady state")
    for row in rows:
        equal([int(n) for n in row[2:]], [0, 0, 0, 0], row[0] + ": allocations, frees, mappings, unmappings")


main()
