#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own test suite, each program as one world of several clusters, and natively: "make check-mpich", hours.

usage: mpich_suite.py [--source DIR] [--work DIR] [--parts N,...] [--only REGEX] [--seconds S] [--shard I/N] [--table FILE] [FOLDER ...]
  --source   MPICH's source; default: what Debian has of it, fetched with apt-get into the work folder
  --work     where it is built and stays; default: test/mpich-suite of the build tree
  --parts    clusters in which the ranks of each program run; default 2,3: each program twice, where it has so many ranks
  --only     lines whose FOLDER/NAME ARGUMENTS VARIABLES this matches
  --seconds  for each program, times ZIP_PATIENCE (default 6) as in all tests; default 60;
             what the suite itself says takes longer gets that
  --shard    of N runs beside each other the I-th, from 1; each has folders of its own to run in
  --table    a page with a table of results: its rows for the folders that ran are made anew
  FOLDER     of the suite, with those below it; default: all

A program passes as in the suite's own runner: with "No Errors" once on standard output, nothing else, and exit status 0, unless its
list wants it to fail. Lines for one rank run with two. Each line runs as one native job too, and only what passes there counts.
mpich_suite.expected lists the failures that are known. In each folder where programs of several ranks pass, bytes must have gone
over the bridge. TAP on standard output. The suite's text is not ours and stays outside of the source tree.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys

import debian
import mpich_lists

HERE = os.path.dirname(os.path.abspath(__file__))


def fetch(work):
    """The source package that belongs to this machine's packages."""
    try:
        return debian.Debian(os.path.join(work, "apt")).source("mpich", work)[0]
    except debian.Missing as missing:
        sys.exit("mpich_suite: MPICH's source: %s; give one with --source" % missing)


def build(suite, folders):
    log = open(os.path.join(suite, "build.log"), "a")

    def run(*command):
        return subprocess.run(command, cwd=suite, stdout=log, stderr=log, check=False).returncode

    cc, fc = os.environ.get("MPICC", "mpicc.mpich"), os.environ.get("MPIFC", "mpif90.mpich")
    if not os.path.exists(os.path.join(suite, "Makefile")):
        f77, cxx = fc.replace("mpif90", "mpif77"), cc.replace("mpicc", "mpicxx")
        # lists and programs that the suite makes in its own autogen.sh
        run("sh", "-c", "touch coll/testlist.cvar; %s maint/gen_coll_cvar.py" % sys.executable)
        languages = ["MPIF77=" + f77, "MPIFC=" + fc] if os.environ.get("MPIFC", "x") else ["--disable-fortran"]
        languages += ["MPICXX=" + cxx] if shutil.which(cxx) else ["--disable-cxx"]
        if run("./configure", "--with-mpi=/usr", "--enable-xfail", "--enable-threads=multiple", "CC=" + cc, "MPICC=" + cc, *languages) != 0:
            sys.exit("mpich_suite: the suite's configure fails: %s" % log.name)
    tops = {f.split("/")[0] for f in folders} or {f for f in os.listdir(suite) if os.path.exists(os.path.join(suite, f, "Makefile"))}
    for folder in ["dtpools", "util"] + sorted(tops - {"dtpools", "util"}):
        print("# building", folder, flush=True)
        run("make", "-k", "-j%d" % (os.cpu_count() or 1), "-C", folder, "all")
        if folder == "util":
            # Configured by itself the suite leaves this library empty, with which every program of f08 is linked.
            run("make", "-C", folder, "am_libmtest_f08_la_OBJECTS=mtest_f08.lo", "libmtest_f08.la")


def run(command, folder, seconds, environment):
    """Status, standard output, standard error; status None: it took too long."""
    process = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    status = None
    try:
        said = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            said = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    return (status, *(text.decode(errors="replace") for text in said))


def memory_gb():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


class Tally:
    """What came out for the folders at the top of the suite."""

    columns = "lines", "natively", "merged", "known", "failed"

    def __init__(self):
        self.rows = {}
        self.bytes = {}

    def add(self, folder, **counts):
        row = self.rows.setdefault(folder.split("/")[0], dict.fromkeys(self.columns, 0))
        for column, n in counts.items():
            row[column] += n

    def crossed(self, folder, text):
        top = folder.split("/")[0]
        over = text.partition("over the bridge:")[2].partition("natively")[0]
        self.bytes[top] = self.bytes.get(top, 0) + sum(map(int, re.findall(r" -> .*, (\d+) bytes", over)))

    def write(self, path, parts):
        """Rows of other folders stay."""
        rows = {}
        before, after = "", ""
        if os.path.exists(path):
            text = open(path).read()
            before, _, rest = text.partition("| folder |")
            body = re.match(r".*\n\|[- |]*\n((?:\|.*\n)*)", rest)
            after = rest[body.end():] if body else ""
            rows = {re.match(r"\| `(.*?)` ", r).group(1): r for r in (body.group(1).splitlines() if body else [])}
        for folder, row in self.rows.items():
            rows[folder] = "| `%s` | %s | %s | %d |" % (folder, parts, " | ".join(str(row[c]) for c in self.columns), self.bytes.get(folder, 0))
        with open(path, "w") as f:
            f.write("%s| folder | clusters | %s | bytes over the bridge |\n" % (before, " | ".join(self.columns)))
            f.write("| --- | --- |%s --- |\n" % (" --- |" * len(self.columns)))
            f.write("".join(rows[k] + "\n" for k in sorted(rows)) + after)


class Run:
    def __init__(self, args, suite, top):
        self.args, self.suite = args, suite
        self.patience = float(os.environ.get("ZIP_PATIENCE") or 6)  # as in lib/tap.sh
        # Both wait inside of MPICH, which spins: on two cores ranks of one part would wait for each other a time slice at a time.
        yields = ["-genv", "LD_PRELOAD", os.path.join(top, "test", ".libs", "zyield.so")]
        self.native = [os.environ.get("MPIEXEC", "mpiexec.mpich")] + yields
        self.merged = [os.path.join(top, "launch", "zmpirun"), "--stats"] + yields
        self.known = mpich_lists.expected(os.path.join(HERE, "mpich_suite.expected"))
        self.tally = Tally()
        self.number = self.surprises = self.bad = self.good = 0
        self.place = os.path.join(os.path.dirname(suite), "run-%d-of-%d" % args.shard)
        shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, line):
        """A folder of this run's own, with all that the suite has there: programs write files, and start each other."""
        here, there = os.path.join(self.place, line.folder), os.path.join(self.suite, line.folder)
        if not os.path.isdir(here):
            os.makedirs(here)
            for name in os.listdir(there):
                if not os.path.isdir(os.path.join(there, name)):
                    os.symlink(os.path.join(there, name), os.path.join(here, name))
        return here

    def say(self, ok, what, comment=""):
        self.number += 1
        print("%sok %d - %s%s" % ("" if ok else "not ", self.number, what, " # " + comment if comment else ""), flush=True)

    def one(self, line):
        program = os.path.join(self.suite, line.folder, line.name)
        if not os.path.exists(program):
            return self.say(True, line, "SKIP it was not built")
        if line.memory_gb > memory_gb():
            return self.say(True, line, "SKIP it needs %g GB" % line.memory_gb)
        self.tally.add(line.folder, lines=1)
        seconds = max(self.args.seconds, line.limit) * self.patience
        command = [program, *line.arguments]
        status, out, _ = run([*self.native, *line.options, "-n", str(line.ranks), *command], self.folder(line), seconds, line.environment)
        if not line.passed(status, out):
            return self.say(True, line, "SKIP natively it %s too" % ("is too slow" if status is None else "fails"))
        self.tally.add(line.folder, natively=1)
        results = [self.world(line, parts, command, seconds) for parts in self.args.parts if parts == self.args.parts[0] or parts <= line.ranks]
        reason = mpich_lists.reason_of(self.known, line)
        if all(results):
            self.good += 1
            self.surprises += reason is not None
            self.tally.add(line.folder, merged=1)
        else:
            self.bad += reason is None
            self.tally.add(line.folder, **{"known" if reason else "failed": 1})
        return None

    def world(self, line, parts, command, seconds):
        parts = min(parts, line.ranks)
        layout = "+".join(str(line.ranks * (p + 1) // parts - line.ranks * p // parts) for p in range(parts))
        status, out, err = run([*self.merged, *line.options, "--clusters", layout, *command], self.folder(line), seconds, line.environment)
        good = line.passed(status, out)
        reason = mpich_lists.reason_of(self.known, line)
        self.tally.crossed(line.folder, err)
        self.say(good, "%s as %s" % (line, layout), "TODO " + reason if reason else "")
        if not good and not reason:
            print("# " + ("too slow" if status is None else "status %d" % status))
            for text in [t for t in (out + err).splitlines() if " messages, " not in t][:12]:
                print("#  ", text)
        return good

    def end(self):
        for folder, row in self.tally.rows.items():
            if row["merged"] > 2:
                crossed = self.tally.bytes.get(folder, 0)
                self.bad += crossed == 0
                self.say(crossed > 0, "%s: %d bytes went over the bridge" % (folder, crossed))
        print("1..%d" % self.number)
        print("%d lines passed, %d failed, %d passed that are listed as failures" % (self.good, self.bad, self.surprises))
        if self.args.table:
            self.tally.write(self.args.table, " and ".join(map(str, self.args.parts)))
        return self.bad > 0 or self.good == 0


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--source")
    parser.add_argument("--work")
    parser.add_argument("--parts", type=lambda t: [int(n) for n in t.split(",")], default=[2, 3])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--shard", type=lambda t: tuple(int(n) for n in t.split("/")), default=(1, 1))
    parser.add_argument("--table")
    parser.add_argument("folders", nargs="*")
    return parser.parse_args()


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("mpich_suite: ended"))
    top = os.environ.get("ZIP_TOP_BUILDDIR") or sys.exit("mpich_suite: run by make check-mpich, or set ZIP_TOP_BUILDDIR")
    work = os.path.abspath(args.work or os.path.join(top, "test", "mpich-suite"))
    os.makedirs(work, exist_ok=True)
    suite = os.path.join(work, "mpi")
    if not os.path.isdir(suite):
        shutil.copytree(os.path.join(args.source or fetch(work), "test", "mpi"), suite, symlinks=True)
    build(suite, args.folders)
    runs = Run(args, suite, top)
    mine, shards = args.shard
    lines = [line for line in mpich_lists.lines_of(suite, args.folders) if re.search(args.only, str(line))]
    for line in lines[mine - 1::shards]:
        runs.one(line)
    sys.exit(runs.end())


main()
