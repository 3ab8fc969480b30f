#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own test suite, each program as one world of several clusters, and natively: "make check-mpich", hours.

usage: mpich_suite.py [--source DIR] [--work DIR] [--parts N,...] [--only REGEX] [--seconds S] [--jobs N] [--shard I/N]
                      [--results FILE] [--expected FILE] [--table FILE] [FOLDER ...]
  --source   MPICH's source; default: what Debian has of it, fetched with apt-get into the work folder
  --work     where it is built and stays; default: test/mpich-suite of the build tree
  --parts    clusters in which the ranks of each program run; default 2,3: each program twice, where it has so many ranks
  --only     lines whose FOLDER/NAME ARGUMENTS VARIABLES this matches
  --seconds  for each program, times ZIP_PATIENCE (default 6) as in all tests; default 60;
             what the suite itself says takes longer gets that
  --jobs     lines that run beside each other, each in a folder of its own; default 1
  --shard    only each N-th line, from the I-th, from 1: for several machines
  --results  a file that keeps what came out: a line that passed is not run again, nor one that fails natively
  --expected a list of known failures; default: mpich_suite.expected
  --table    a page with a table of results: its rows for the folders at the top that ran are made anew, of all lines with a result;
             where only part of a folder is to run, that takes --results
  FOLDER     of the suite, with those below it; default: all

A program passes as in the suite's own runner: with "No Errors" once on standard output, nothing else, and exit status 0, unless its
list wants it to fail. Lines for one rank run with two. Each line runs as one native job too, and only what passes there counts.
The list of known failures has a reason for each. In each folder where programs of several ranks pass, bytes must have gone
over the bridge. TAP on standard output. The suite's text is not ours and stays outside of the source tree.
"""
import argparse
import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

import debian
import mpich_lists
import mpich_results
import processes

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
        # A program that knows a library of accelerators asks it for all memory, and fails on a machine without accelerators.
        languages += ["--without-" + accelerator for accelerator in ("cuda", "ze", "hip")]
        if run("./configure", "--with-mpi=/usr", "--enable-xfail", "--enable-threads=multiple", "CC=" + cc, "MPICC=" + cc, *languages) != 0:
            sys.exit("mpich_suite: the suite's configure fails: %s" % log.name)
    tops = {f.split("/")[0] for f in folders} or {f for f in os.listdir(suite) if os.path.exists(os.path.join(suite, f, "Makefile"))}
    for folder in ["dtpools", "util"] + sorted(tops - {"dtpools", "util"}):
        print("# building", folder, flush=True)
        run("make", "-k", "-j%d" % (os.cpu_count() or 1), "-C", folder, "all")
        if folder == "util":
            # Configured by itself the suite leaves this library empty, with which every program of f08 is linked.
            run("make", "-C", folder, "am_libmtest_f08_la_OBJECTS=mtest_f08.lo", "libmtest_f08.la")


def build_rest(suite, lines):
    """Programs that are not among "all": the suite's own runner, too, makes a program when its line comes."""
    rest = {}
    for line in lines:
        if not os.path.exists(os.path.join(suite, line.folder, line.name)):
            rest.setdefault(line.folder, set()).add(line.name)
    with open(os.path.join(suite, "build.log"), "a") as log:
        for folder, names in rest.items():
            subprocess.run(["make", "-k", "-C", folder, *sorted(names)], cwd=suite, stdout=log, stderr=log, check=False)


def end_all(number, frame):
    """A signal handler: programs of all jobs end, too, with the processes that they started."""
    for process in list(processes.running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    print("mpich_suite: ended by signal %d" % number, file=sys.stderr, flush=True)
    os._exit(1)


def memory_gb():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


class Run:
    def __init__(self, args, suite, top):
        self.args, self.suite = args, suite
        self.patience = float(os.environ.get("ZIP_PATIENCE") or 6)  # as in lib/tap.sh
        # Both wait inside of MPICH, which spins: on two cores ranks of one part would wait for each other a time slice at a time.
        yields = ["-genv", "LD_PRELOAD", os.path.join(top, "test", ".libs", "zyield.so")]
        self.native = [os.environ.get("MPIEXEC", "mpiexec.mpich")] + yields
        self.merged = [os.path.join(top, "launch", "zmpirun"), "--stats"] + yields
        self.known = mpich_lists.expected(args.expected)
        self.results = mpich_results.Results(args.results)
        self.number = 0
        self.places = os.path.join(os.path.dirname(suite), "run-%d-of-%d" % args.shard)
        self.lock = threading.Lock()
        shutil.rmtree(self.places, ignore_errors=True)

    def folder(self, line, job):
        """A folder of this job's own, with all that the suite has there: programs write files, and start each other."""
        here, there = os.path.join(self.places, "job-%d" % job, line.folder), os.path.join(self.suite, line.folder)
        if not os.path.isdir(here):
            os.makedirs(here)
            for name in os.listdir(there):
                if not os.path.isdir(os.path.join(there, name)):
                    os.symlink(os.path.join(there, name), os.path.join(here, name))
        return here

    def say(self, ok, what, comment="", more=()):
        with self.lock:
            self.number += 1
            print("%sok %d - %s%s" % ("" if ok else "not ", self.number, what, " # " + comment if comment else ""), flush=True)
            for text in more:
                print("#  ", text, flush=True)

    def layouts(self, line):
        """The ranks of each cluster, joined by "+", once for each number of clusters. A few ranks run in fewer clusters."""
        numbers = sorted({min(parts, line.ranks) for parts in self.args.parts})
        return ["+".join(str(line.ranks * (p + 1) // n - line.ranks * p // n) for p in range(n)) for n in numbers]

    def one(self, line, job):
        program = os.path.join(self.suite, line.folder, line.name)
        layouts = self.layouts(line)
        if self.results.settled(line.key(), layouts):
            return
        if not os.path.exists(program):
            return self.say(True, line, "SKIP it was not built")
        if line.memory_gb > memory_gb():
            return self.say(True, line, "SKIP it needs %g GB" % line.memory_gb)
        seconds = max(self.args.seconds, line.limit) * self.patience
        command = [program, *line.arguments]
        status, out, _ = processes.run([*self.native, *line.options, "-n", str(line.ranks), *command], self.folder(line, job), seconds, line.environment)
        result = {"native": "too slow" if status is None else line.passed(status, out), "worlds": {}, "bytes": 0}
        if result["native"] is True:
            for layout in layouts:
                self.world(line, layout, command, job, seconds, result)
        else:
            self.say(True, line, "SKIP natively it %s too" % ("is too slow" if status is None else "fails"))
        with self.lock:
            self.results.put(line.key(), result)

    def world(self, line, layout, command, job, seconds, result):
        status, out, err = processes.run([*self.merged, *line.options, "--clusters", layout, *command], self.folder(line, job), seconds, line.environment)
        good = line.passed(status, out)
        reason = mpich_lists.reason_of(self.known, line, layout)
        over = err.partition("over the bridge:")[2].partition("natively")[0]
        result["worlds"][layout] = good
        result["bytes"] += sum(map(int, re.findall(r" -> .*, (\d+) bytes", over)))
        said = ["too slow" if status is None else "status %d" % status]
        said += [t for t in (out + err).splitlines() if " messages, " not in t][:12]
        self.say(good, "%s as %s" % (line, layout), "TODO " + reason if reason else "", () if good or reason else said)

    def all(self, lines):
        queue = iter(lines)

        def job(number):
            while True:
                with self.lock:
                    line = next(queue, None)
                if line is None:
                    return
                self.one(line, number)

        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for done in [pool.submit(job, n) for n in range(1, self.args.jobs + 1)]:
                done.result()

    def is_known(self, line, result):
        """Whether all failures of that line are listed."""
        failed = [layout for layout, passed in (result or {"worlds": {}})["worlds"].items() if not passed]
        return bool(failed) and all(mpich_lists.reason_of(self.known, line, layout) for layout in failed)

    def rows(self, lines):
        """What mpich_results.tally takes."""
        results = [(line, self.results.found.get(line.key())) for line in lines]
        return [(line, result, self.is_known(line, result)) for line, result in results]

    def end(self, lines):
        """Whether something is wrong."""
        rows = self.rows(lines)
        table = mpich_results.tally(rows)
        dry = [folder for folder, row in table.items() if row["merged"] > 2 and row["bytes"] == 0]
        for folder, row in table.items():
            if row["merged"] > 2:
                self.say(folder not in dry, "%s: %d bytes went over the bridge" % (folder, row["bytes"]))
        print("1..%d" % self.number)
        passed, failed = (sum(row[column] for row in table.values()) for column in ("merged", "failed"))
        surprises = ["%s as %s" % (line, layout) for line, result, _ in rows for layout, passed in (result or {"worlds": {}})["worlds"].items()
                     if passed and mpich_lists.reason_of(self.known, line, layout)]
        print("%d lines passed, %d failed, %d passed that are listed as failures" % (passed, failed, len(surprises)))
        for world in surprises:
            print("# passed:", world)
        if self.args.table:
            tops = sorted({line.folder.split("/")[0] for line in lines})
            table = mpich_results.tally(self.rows(mpich_lists.lines_of(self.suite, tops)))
            mpich_results.write_table(self.args.table, table, " and ".join(map(str, self.args.parts)))
        return failed > 0 or passed == 0 or bool(dry)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--source")
    parser.add_argument("--work")
    parser.add_argument("--parts", type=lambda t: [int(n) for n in t.split(",")], default=[2, 3])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shard", type=lambda t: tuple(int(n) for n in t.split("/")), default=(1, 1))
    parser.add_argument("--results")
    parser.add_argument("--expected", default=os.path.join(HERE, "mpich_suite.expected"))
    parser.add_argument("--table")
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    if args.table and not args.results and (args.only or args.shard[1] > 1 or any("/" in f.strip("/") for f in args.folders)):
        parser.error("--table makes rows of whole folders: where only some lines run, --results FILE has those of the others")
    return args


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, end_all)
    signal.signal(signal.SIGINT, end_all)
    top = os.environ.get("ZIP_TOP_BUILDDIR") or sys.exit("mpich_suite: run by make check-mpich, or set ZIP_TOP_BUILDDIR")
    work = os.path.abspath(args.work or os.path.join(top, "test", "mpich-suite"))
    os.makedirs(work, exist_ok=True)
    suite = os.path.join(work, "mpi")
    if not os.path.isdir(suite):
        shutil.copytree(os.path.join(args.source or fetch(work), "test", "mpi"), suite, symlinks=True)
    build(suite, args.folders)
    runs = Run(args, suite, top)
    mine, shards = args.shard
    lines = [line for line in mpich_lists.lines_of(suite, args.folders) if re.search(args.only, str(line))][mine - 1::shards]
    build_rest(suite, lines)
    runs.all(lines)
    sys.exit(runs.end(lines))


main()
