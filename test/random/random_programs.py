#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random MPI programs as native jobs and as merged worlds, and compares what they print. A program that differs or
hangs is made smaller: the script finds a list of few operations that still does, and prints the command that shows it.

Run by random.t; by hand: random_programs.py --help. The environment must have ZIP_TOP_BUILDDIR and ZIP_TOP_SRCDIR.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("ZIP_TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("ZIP_TOP_BUILDDIR", os.path.join(SOURCE, "build"))
LINE = re.compile(r"seed (\d+) rank (\d+): (.*)")
WHERE = re.compile(r"seed (\d+) rank (\d+) (?:op (\d+)|at the end)")
PATIENCE = int(os.environ.get("ZIP_PATIENCE", "6"))
MOST_SHRINKING = 200  # runs of one program


class Result:
    """What one run printed: for each seed and rank a list of checksums; the reports of ranks; the exit status."""

    def __init__(self, out, err, status):
        self.lines = {}
        self.reports = [l for l in err.splitlines() if WHERE.match(l)]
        self.err = err
        self.status = status
        for seed, rank, sums in LINE.findall(out):
            self.lines.setdefault(int(seed), {})[int(rank)] = sums.split()

    def seed(self, seed, ranks):
        """The checksums of all ranks, or None if one is missing."""
        lines = self.lines.get(seed, {})
        return [lines[r] for r in range(ranks)] if len(lines) == ranks else None

    def reports_of(self, seed):
        return [l for l in self.reports if int(WHERE.match(l).group(1)) == seed]


class Tcp:
    """Clusters on this machine with zmpirun's zipperd between them, which all ranks reach over tcp."""

    address, device = "tcp:127.0.0.1", ""
    variables = ["ZIPPER_MODULE_DIR=" + os.path.join(BUILD, "common/.libs")]

    def __init__(self, options, ranks):
        self.options = ["-f", os.path.join(options.scratch, "hosts"), "-n", str(ranks)]
        sizes = list(enumerate(options.layout.split("+")))
        with open(self.options[1], "w") as f:
            for i, size in sizes:
                f.write("#ZIP cluster c%d launcher=fork%s\nnode%d:%s\n" % (i, self.device.format(i), i, size))
            f.write("#ZIP zipper localhost %s\n" % " ".join("c%d=%s" % (i, self.address.format(i)) for i, _ in sizes))

    def renew(self):
        """Before each job."""

    def complaints(self):
        """After all jobs: what else was wrong."""
        return 0


class FakeVerbs(Tcp):
    """The same over the fake of libibverbs, which ranks and zipperd have inside (test/fakeverbs)."""

    address, device = "fk{0}:1@127.0.0.1", " device=fk{0}:1"

    def __init__(self, options, ranks):
        super().__init__(options, ranks)
        self.count = 0
        fake = os.path.join(BUILD, "test/fakeverbs/.libs/fakeverbs.so")
        modules = os.path.join(options.scratch, "modules")
        os.mkdir(modules)
        for module in "test/fakeverbs/.libs/zipverbs.so", "common/.libs/zipauth.so":
            os.symlink(os.path.join(BUILD, module), os.path.join(modules, os.path.basename(module)))
        zipperd = os.path.join(options.scratch, "zipperd")
        with open(zipperd, "w") as f:
            f.write('#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' % (fake, os.path.join(BUILD, "zipperd/zipperd")))
        os.chmod(zipperd, 0o755)
        self.fabric = os.path.join(options.scratch, "fabric")
        devices = ",".join("fk%d/%smw" % (i, "ib/" * (i % 2)) for i in range(options.layout.count("+") + 1))
        self.variables = ["ZIPPER_MODULE_DIR=" + modules, "FAKEVERBS_FABRIC=" + self.fabric, "FAKEVERBS=" + devices]
        self.options += ["--zipperd", zipperd, "-genv", "LD_PRELOAD", fake]

    def renew(self):
        if os.path.exists(self.fabric):
            self.count += self.asked()
            os.remove(self.fabric)

    def asked(self):
        return int(subprocess.run([os.path.join(BUILD, "test/fakeverbs/fakectl"), "complaints"], capture_output=True, text=True,
                                  check=True, env=dict(os.environ, FAKEVERBS_FABRIC=self.fabric)).stdout)

    def complaints(self):
        self.renew()
        return self.count


LINKS = {"tcp": Tcp, "verbs": FakeVerbs}


class Runner:
    """Runs the program natively and merged, in one setting."""

    def __init__(self, program, options):
        self.program = program
        self.layout = options.layout
        self.ranks = sum(int(n) for n in options.layout.split("+"))
        self.options = options
        self.variables = list(options.set)
        self.links = LINKS[options.over](options, self.ranks) if options.over else None
        if self.links:
            self.variables += self.links.variables
        self.env = dict(os.environ)
        self.env.update(s.split("=", 1) for s in self.variables)

    def run(self, command, env, programs):
        # the rank's own watchdog comes first; this is for a job that does not start, or does not end
        limit = (30 + 2 * programs + 2 * self.options.limit) * PATIENCE
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            job = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            try:
                status = job.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                job.terminate()
                try:
                    job.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    job.kill()
                    job.wait()
                status = 124
            except BaseException:
                job.terminate()
                job.wait()
                raise
            out.seek(0)
            err.seek(0)
            return Result(out.read(), err.read(), status)

    def arguments(self, layout, first, last, ops, extra=()):
        args = [self.program, "-l", layout, "-n", str(self.options.ops), "-t", str(self.options.limit * PATIENCE)]
        if ops is not None:
            args += ["-o", ",".join(map(str, ops))]
        return args + list(extra) + [str(first), str(last)]

    def native(self, first, last, ops=None, extra=()):
        env = dict(os.environ)
        mpiexec = os.environ.get("MPIEXEC", "mpiexec.mpich")
        preload = ["-genv", "LD_PRELOAD", os.path.join(BUILD, "test/.libs/zyield.so")]
        command = [mpiexec, *preload, "-n", str(self.ranks)]
        return self.run(command + self.arguments(str(self.ranks), first, last, ops, extra), env, last - first + 1)

    def zmpirun(self):
        zmpirun = os.environ.get("ZMPIRUN", os.path.join(BUILD, "launch/zmpirun"))
        if self.links:
            return [zmpirun] + self.links.options
        rails = ["--rails", str(self.options.rails)] if self.options.rails > 1 else []
        return [zmpirun, "--clusters", self.layout, *rails]

    def merged(self, first, last, ops=None, extra=()):
        if self.links:
            self.links.renew()
        return self.run(self.zmpirun() + self.arguments(self.layout, first, last, ops, extra), self.env, last - first + 1)

    def listing(self, seed):
        """The operations of a program, by number."""
        command = [os.environ.get("MPIEXEC", "mpiexec.mpich"), "-n", str(self.ranks)]
        env = dict(os.environ)
        text = subprocess.run(command + self.arguments(str(self.ranks), seed, seed, None, ["-p"]), env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        return dict(re.findall(r"^ *(\d+)  (.*)$", text, re.M))


def difference(native, merged, seed, ranks):
    """None, or in words how the two differ in this seed: the first operations, for each rank."""
    a, b = native.seed(seed, ranks), merged.seed(seed, ranks)
    if a is None:
        return None
    reports = merged.reports_of(seed)
    if b is None:
        return "; ".join(reports[:3]) or merged.err.strip()[-300:] or "exit status %s" % merged.status
    words = []
    for rank in range(ranks):
        for op, (x, y) in enumerate(zip(a[rank], b[rank])):
            if x != y:
                words.append("rank %d op %d: %s natively, %s merged" % (rank, op, x, y))
                break
    # a rank that finds a wrong value only reports it
    return "; ".join(words[:4] + reports[:2]) or None


def first_difference(native, merged, seed, ranks):
    """The number of the first operation that differs; a large number if that is not known."""
    a, b = native.seed(seed, ranks), merged.seed(seed, ranks)
    if a and b:
        return min((op for x, y in zip(a, b) for op, (p, q) in enumerate(zip(x, y)) if p != q), default=10**6)
    found = [int(WHERE.match(l).group(3) or 10**6) for l in merged.reports_of(seed)]
    return max(found, default=10**6)


class Shrinker:
    """Delta debugging over the operations of one program (Zeller and Hildebrandt 2002)."""

    def __init__(self, runner, seed, end):
        self.runner = runner
        self.seed = seed
        self.end = end  # no run begins later: a program that hangs may take half a minute each time
        self.runs = 0
        self.words = ""

    def fails(self, ops):
        self.runs += 1
        native = self.runner.native(self.seed, self.seed, ops)
        if native.seed(self.seed, self.runner.ranks) is None or native.reports_of(self.seed):
            return False
        merged = self.runner.merged(self.seed, self.seed, ops)
        words = difference(native, merged, self.seed, self.runner.ranks)
        self.words = words or self.words
        return words is not None

    def may_go_on(self):
        return self.runs < MOST_SHRINKING and time.time() < self.end

    def shrink(self, ops):
        """A list of few operations that still fails, or None if these do not."""
        if not self.fails(ops):
            return None
        parts = 2
        while len(ops) > 1 and self.may_go_on():
            size = max(1, (len(ops) + parts - 1) // parts)
            pieces = [ops[i:i + size] for i in range(0, len(ops), size)]
            for piece in reversed(pieces):
                rest = [o for o in ops if o not in piece]
                if rest and self.may_go_on() and self.fails(rest):
                    ops = rest
                    parts = max(parts - 1, 2)
                    break
            else:
                if size == 1:
                    break
                parts = min(len(ops), parts * 2)
        return ops


class Hunt:
    """Runs many seeds; says which ones fail, and why."""

    def __init__(self, runner, options):
        self.runner = runner
        self.options = options
        self.shrink_seconds = options.shrink  # what is left of them
        self.failures = 0
        self.seeds = 0
        self.skipped = []

    def say(self, text):
        print("# " + text, flush=True)

    def all_of(self, run, first, last):
        """One run of seeds; after one at which the job ends, the next ones are run in a new job."""
        whole = None
        while first <= last:
            result = run(first, last)
            if whole is None:
                whole = result
            else:
                whole.lines.update(result.lines)
                whole.reports += result.reports
                whole.err += result.err
                whole.status = whole.status or result.status
            done = [s for s in range(first, last + 1) if result.seed(s, self.runner.ranks)]
            stopped = max(done, default=first - 1) + 1
            first = stopped + 1
        return whole

    def explain(self, seed, native, merged):
        over = " over " + self.options.over if self.options.over else ""
        setting = "%s%s%s" % (self.runner.layout, over, "".join(" " + s for s in self.options.set))
        self.say("seed %d as %s: %s" % (seed, setting, difference(native, merged, seed, self.runner.ranks)))
        listing = self.runner.listing(seed)
        first = first_difference(native, merged, seed, self.runner.ranks)
        ops = [int(o) for o in listing if int(o) <= first]
        small = None
        if self.shrink_seconds > 0:
            began = time.time()
            shrinker = Shrinker(self.runner, seed, began + self.shrink_seconds)
            small = shrinker.shrink(ops) or shrinker.shrink([int(o) for o in listing])
            self.shrink_seconds -= time.time() - began
            if small is None:
                self.say("it does not fail again with the operations up to there: perhaps a matter of time")
            else:
                self.say("with %d of %d operations after %d runs: %s" %
                         (len(small), len(listing), shrinker.runs, shrinker.words))
        for op in small or []:
            self.say("  %3d  %s" % (op, listing[str(op)]))
        command = self.runner.zmpirun() + self.runner.arguments(self.runner.layout, seed, seed, small)
        self.say("show it: %s%s" % ("".join(s + " " for s in self.runner.variables), " ".join(command)))
        if self.runner.links:
            self.say("with --keep the files stay that this command needs")

    def again_if_it_hangs(self, native, seed):
        """The native result of the seed: of a second run, if the first has passed a limit, as on a machine that others fill."""
        hangs = any(line.endswith("hangs") for line in native.reports_of(seed))
        return self.runner.native(seed, seed) if hangs else native

    def batch(self, first, last):
        native = self.all_of(self.runner.native, first, last)
        merged = self.all_of(self.runner.merged, first, last)
        for seed in range(first, last + 1):
            self.seeds += 1
            expected = self.again_if_it_hangs(native, seed)
            if expected.seed(seed, self.runner.ranks) is None or expected.reports_of(seed):
                self.skipped.append(seed)
                self.say("seed %d fails natively: %s" % (seed, "; ".join(expected.reports_of(seed)[:2])))
            elif difference(expected, merged, seed, self.runner.ranks):
                self.failures += 1
                if self.failures <= self.options.most:
                    self.explain(seed, expected, merged)
                else:
                    self.say("seed %d, too: %s" % (seed, difference(expected, merged, seed, self.runner.ranks)))

    def run(self, first, last):
        began = time.time()
        while first <= last:
            self.batch(first, min(last, first + self.options.batch - 1))
            first += self.options.batch
            if self.options.seconds and time.time() - began > self.options.seconds:
                break
        return self.failures


def build(folder):
    """Compiles the program as a user does."""
    program = os.path.join(folder, "random_program")
    here = os.path.join(SOURCE, "test/random")
    sources = sorted(os.path.join(here, f) for f in os.listdir(here) if f.endswith(".c"))
    command = [os.environ.get("MPICC", "mpicc.mpich"), "-O1", "-g", "-Wall", "-pthread", *sources, "-o", program]
    subprocess.run(command, check=True)
    return program


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("seeds", nargs="+", help="FIRST, or FIRST LAST")
    parser.add_argument("--layout", default="2+2", help="the clusters, as 2+2 (default) or 1+1+2")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of merged runs")
    parser.add_argument("--over", choices=sorted(LINKS), help="instead of shared memory; verbs: on the fake of libibverbs")
    parser.add_argument("--rails", type=int, default=1, help="the number of zippers")
    parser.add_argument("--ops", type=int, default=40, help="operations of each program, 40 by default")
    parser.add_argument("--batch", type=int, default=25, help="programs of one job, 25 by default")
    parser.add_argument("--limit", type=int, default=5, help="seconds that an operation may take, 5 by default")
    parser.add_argument("--seconds", type=int, default=0, help="begin no job after so many seconds")
    parser.add_argument("--most", type=int, default=3, help="how many failures are explained, 3 by default")
    parser.add_argument("--keep", action="store_true", help="keep the folder with hostfiles and the like")
    parser.add_argument("--shrink", type=int, default=600, metavar="SECONDS",
                        help="time to make failing programs smaller, 600 by default for all of them")
    parser.add_argument("--native-percent", type=int, default=10, metavar="N",
                        help="so many of 100 programs may fail natively, 10 by default")
    parser.add_argument("--program", help="the compiled program; by default it is compiled first")
    options = parser.parse_args()
    if options.over and options.rails > 1:
        parser.error("--rails goes with shared memory alone")
    if options.over == "verbs" and options.layout.count("+") > 2:
        parser.error("the fake is for three clusters at most: UCX, below MPICH, trips over a fourth device")
    return options


def main():
    options = arguments()
    first, last = int(options.seeds[0]), int(options.seeds[-1])
    folder = tempfile.mkdtemp(prefix="zip-random.")
    try:
        program = options.program or build(folder)
        options.scratch = folder
        runner = Runner(program, options)
        hunt = Hunt(runner, options)
        failures = hunt.run(first, last)
        complaints = runner.links.complaints() if runner.links else 0
        if complaints:
            print("# %d calls that the Verbs do not allow" % complaints)
        print("%d seeds, %d failures, %d fail natively" % (hunt.seeds, failures, len(hunt.skipped)))
        return 1 if failures or complaints or len(hunt.skipped) * 100 > hunt.seeds * options.native_percent else 0
    finally:
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
