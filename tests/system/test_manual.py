# SPDX-License-Identifier: MIT
"""The manual pages and README say what the programs have: options, counters, records, engines."""
import os
import re
import shutil
import subprocess

from captures import can_replay, capture, ip
from dns_server import Server
from harness import TOP_SRCDIR, WAIT, Program, Sink, Source, built, cases, engines, equal, fail, main, skip, test, wait_until

PAGES = {"udp_sink": "udp_sink.8", "udp_source": "udp_source.1"}
ALL_PAGES = [*PAGES.values(), "udpsink-report.5", "udpsink-engines.7"]


def lines_of(*path):
    with open(os.path.join(TOP_SRCDIR, *path), encoding="utf-8") as f:
        return f.read().splitlines()


def output(program, *args):
    return Program([built(program), *args]).finish().stdout


def same(got, expected, what):
    """Both as sets; says what is on one side only."""
    got, expected = set(got), set(expected)
    if got != expected:
        fail("%s: only in the manual: %s; missing there: %s" % (what, sorted(got - expected), sorted(expected - got)))


# ------------------------------------------------------------------ the programs' side

def option_table(program):
    """name -> {letter, type, argument, default, hidden, alias, help, values}"""
    names = ("letter", "type", "argument", "default", "hidden", "alias", "help", "values")
    rows = [line.split("\t") for line in output(program, "--dump-options").splitlines()]
    assert len(rows) > 10, "--dump-options printed %d lines" % len(rows)
    return {row[0]: dict(zip(names, row[1:])) for row in rows}


# Members whose own members are named by something outside: an option, an errno, a value.
OPEN_MEMBERS = ("options", "sysctl", "errors_by_errno", "refused", "bad", "tos", "ttl", "drop_reasons")


def members(value, prefix=""):
    """Dotted names of a record's members; those of an array's objects like those of one object."""
    if isinstance(value, list):
        for one in value:
            yield from members(one, prefix)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if prefix or name != "type":
                yield prefix + name
            if name not in OPEN_MEMBERS:
                yield from members(inner, prefix + name + ".")


# ------------------------------------------------------------------ the manual's side

def items(page):
    """(section, subsection, head, body) of each entry of each outermost list; mdoc source."""
    section = subsection = head = None
    depth, body = 0, []
    for line in lines_of("man", page):
        macro = line.split(" ", 1)[0]
        depth += macro == ".Bl"
        if depth == 1 and macro in (".It", ".El"):
            if head:
                yield section, subsection, head, " ".join(body)
            head, body = (line[4:], []) if macro == ".It" else (None, [])
        else:
            body.append(line)
        depth -= macro == ".El"
        if macro == ".Sh":
            section, subsection = line[4:], None
        elif macro == ".Ss":
            subsection = line[4:]


def manual_options(page):
    """name -> (letter, argument, body)"""
    found = {}
    for _section, _subsection, head, body in items(page):
        if not head.startswith("Fl "):
            continue
        m = re.fullmatch(r"(?:Fl (\w) , )?Fl -([\w-]+)( Ns Op)?(?:(?: Ns)? =)?(?: Ns)?(?: Ar (\S+))?", head)
        if not m:
            fail("%s: cannot read the entry '%s'" % (page, head))
        letter, name, optional, argument = m.groups()
        assert name not in found, "%s describes --%s twice" % (page, name)
        found[name] = letter or "", "[%s]" % argument if optional else argument or "", body
    return found


def member_names(section, subsection=None):
    """Names of the entries '.It Va name , name Pq unit' of udpsink-report(5)."""
    for sh, ss, head, _body in items("udpsink-report.5"):
        if sh == section and ss == subsection and head.startswith("Va "):
            yield from re.sub(r" Pq .*", "", head[3:]).split(" , ")


# ------------------------------------------------------------------ options

@test
@cases(program=["udp_sink", "udp_source"])
def options(program):
    "each option of {program} is in its page with the same letter, argument, default and choices, and no other is"
    table, manual = option_table(program), manual_options(PAGES[program])
    same(manual, table, "options")
    for name, row in table.items():
        letter, argument, body = manual[name]
        equal((letter, argument), (row["letter"], row["argument"]), "letter and argument of --%s in the manual" % name)
        default = row["default"] if row["type"] not in ("alias", "set", "add") else ""
        equal(re.findall(r"\(default: ([^)]*)\)", body), [default] if default else [], "default of --%s in the manual" % name)
        for choice in row["values"].split("|") if row["type"] == "choice" else []:
            assert re.search(r"\b%s\b" % re.escape(choice), body), "--%s: the manual lacks the choice %s" % (name, choice)


@test
@cases(page=ALL_PAGES)
def references(page):
    "{page} names no option that does not exist"
    tables = [option_table(program) for program in PAGES]
    names = set().union(*tables)
    letters = {row["letter"] for table in tables for row in table.values()}
    for line in lines_of("man", page):
        for name in re.findall(r"\bFl -([\w-]+)", line):
            assert name in names, "--%s: %s" % (name, line)
        for group in re.findall(r"\bFl (\w+)", line):
            assert set(group) <= letters, "-%s: %s" % (group, line)


def command_lines(text):
    """Words of each command, from lines that may go on after a backslash; a pipe or a list is several."""
    for line in re.sub(r"\\e?\n", " ", "\n".join(text)).splitlines():
        for command in re.split(r"[|;&()]+", line):
            words = command.replace("$ ", " ").split()
            while words and "=" in words[0]:
                words.pop(0)  # environment
            if words:
                yield words


def check_commands(text, where):
    """Options of our own programs in these command lines exist. Returns how many commands of ours were seen."""
    known = {}
    for program in PAGES:
        table = option_table(program)
        known[program] = {"--" + n for n in table} | {"--no-" + n for n in table} | {"-" + r["letter"] for r in table.values()}
    known["quickstart"] = set(re.findall(r"--[\w-]+", "\n".join(lines_of("quickstart"))))
    seen = 0
    for words in command_lines(text):
        ours = [i for i, word in enumerate(words) if os.path.basename(word) in known]
        if not ours:
            continue
        seen += 1
        for word in words[ours[0] + 1:]:
            if re.match(r"--?[A-Za-z46]", word):
                option = word.split("=")[0]
                assert option in known[os.path.basename(words[ours[0]])], "%s: %s in '%s'" % (where, option, " ".join(words))
    return seen


@test
def readme():
    "README's command lines name only options that exist"
    fenced, inside = [], False
    for line in lines_of("README.md"):
        if line.startswith("```"):
            inside = not inside
        elif inside:
            fenced.append(line)
    assert check_commands(fenced, "README.md") > 2


@test
@cases(page=list(PAGES.values()))
def examples(page):
    "the examples of {page} name only options that exist"
    literal, inside = [], False
    for line in lines_of("man", page):
        if line.startswith(".Bd -literal") or line.startswith(".Ed"):
            inside = line.startswith(".Bd")
        elif inside or line.startswith(".Dl "):
            literal.append(line.replace(".Dl ", ""))
    assert check_commands(literal, page) > 2


# ------------------------------------------------------------------ records

@test
def counters():
    "each counter of udp_sink is in udpsink-report(5) with its unit, and no other is"
    table = [line.split("\t") for line in output("udp_sink", "--dump-counters").splitlines()]
    assert len(table) > 10, "--dump-counters printed %d lines" % len(table)
    manual = [m.groups() for section, _ss, head, _body in items("udpsink-report.5") if section == "COUNTERS"
              for m in [re.fullmatch(r"Va (\w+) Pq (.+)", head)] if m]
    same(manual, [(row[0], row[1]) for row in table], "counters and units")
    equal([name for name, _unit in manual], [row[0] for row in table], "their order in the manual")


def without(prefix, names, known):
    """Members of the objects of an array that are described like those of the record."""
    for name in names:
        short = name[len(prefix):] if name.startswith(prefix) else name
        yield short if short in known else name


@test
def sink_records():
    "each member of udp_sink's records is described in udpsink-report(5), and no other is"
    section = "RECORDS OF UDP_SINK"
    every = ["--connect-each", "--by-destination", "--recv-tos", "--check-sequence"]
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "recvmmsg", "--interval", "20ms", "--count", 0, *every)
    source = Source("--rate", 1000, "127.0.0.1:%d" % sink.port)
    wait_until(lambda: any(r["total"]["datagrams"] for r in sink.records("period")), what="a period with datagrams")
    equal(sink.stop(), 0, "exit status")
    source.stop()
    skipped = Sink("--listen", "127.0.0.1:0", "--engine", "all", "--by-destination", "--duration", "10ms").finish()

    for kind in ("header", "ready", "skipped"):
        record = (skipped if kind == "skipped" else sink).record(kind)
        same(member_names(section, kind), members(record), kind)
    manual = set(member_names(section, "period and sum"))
    counts = set(member_names("COUNTERS"))
    found = set(without("workers.", [m for r in sink.records("period") + sink.records("sum") for m in members(r)], manual))
    for prefix in ("total.", "workers.counters."):
        same({prefix + name for name in counts}, {m for m in found if m.startswith(prefix)}, prefix)
    same(manual, {m for m in found if not m.startswith(("total.", "workers.counters."))}, "period and sum")


@test
def kernel_records():
    "each member of udp_sink's records of what the kernel counted is described in udpsink-report(5), and no other is"
    section = "RECORDS OF UDP_SINK"
    sink = Sink("--listen", "127.0.0.1:0", "--engine", "null", "--count", 1, "--nstat", "--zeros", "--softnet").finish()
    nstat = {**sink.record("nstat"), "kernel": {}, "rate": {}}  # their members are the kernel's
    same(member_names(section, "nstat"), members(nstat), "nstat")
    same(member_names(section, "ethtool"), {m.replace("kernel", "counters") for m in members(nstat)} | {"device"}, "ethtool")
    found = members(sink.record("softnet"))
    same(member_names(section, "softnet"), {m if m == "cpus.cpu" else m.replace("cpus.", "total.") for m in found}, "softnet")


@test
def source_records():
    "each member of udp_source's records is described in udpsink-report(5), and no other is"
    section, common = "RECORDS OF UDP_SOURCE", {"run_id", "sender"}
    sink = Sink("--listen", "127.0.0.1:0", "--count", 0)
    source = Source("--rate", 1000, "--spread", "rss:2", "--interval", "20ms", "--count", 100, "127.0.0.1:%d" % sink.port).finish()
    described, found = set(member_names(section, "header, udp_source")), set(members(source.record("header")))
    if can_replay():
        path = capture([(0, ip(b"x"))])
        found |= set(members(Source("--pcap", path, "127.0.0.1:%d" % sink.port).finish().record("header")))
    else:
        described = {m for m in described if not m.startswith("pcap.")}
    same(described, found, "header")
    sink.stop()
    manual = set(member_names(section, "period and sum, udp_source")) | common
    with Server(lambda n, q: []) as server:  # the names of rcodes are no members
        asking = Source("--dns", "x", "--count", 5, "--dns-timeout", "1ms", server.target).finish()
    records = source.records("period") + source.records("sum") + asking.records("sum")
    equal({r["type"] for r in records}, {"period", "sum"}, "types of records")
    same(manual, without("threads.", [m for r in records for m in members(r)], manual), "period and sum")


# ------------------------------------------------------------------ the rest

@test
def engine_names():
    "udpsink-engines(7) and README describe each engine that is built in"
    listed = [line.split()[0] for line in output("udp_sink", "--list-engines").splitlines()]
    manual = [head.split()[1] for section, _ss, head, _body in items("udpsink-engines.7") if section == "ENGINES"]
    equal(manual, listed, "engines of the manual")
    rows = [re.match(r"\| `(\w+)` \|", line) for line in lines_of("README.md")]
    equal([m.group(1) for m in rows if m], listed, "rows of README's table of engines")
    assert set(engines()) <= set(listed)


@test
@cases(page=ALL_PAGES)
def lint(page):
    "mandoc finds nothing to warn of in {page}"
    if not shutil.which("mandoc"):
        skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(TOP_SRCDIR, "man", page)], capture_output=True,
                          text=True, timeout=WAIT, check=False)
    equal((done.returncode, done.stdout.splitlines()), (0, []), "mandoc -Tlint")


main()
