#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Applications of Debian, each natively and as one world of several clusters: "make check-apps", an hour or two.

usage: check_apps.py [--work DIR] [--clusters N] [--only REGEX] [--results FILE] [--table FILE] [--list]
                     [APPLICATION ...]
  --work      where they are unpacked and built, and stay; default: test/apps-work of the build tree
  --clusters  of the merged world; default 2
  --only      runs whose APPLICATION/NAME this matches
  --results   a file that keeps what came out: a run that passed is not done again, nor one that fails natively, too
  --table     a page with a table of results: its rows for the applications that ran are made anew, of all runs with a result
  --list      only prints the applications
  APPLICATION a recipe of this folder; default: all

A run counts if the program's own verdict is good natively. It then has to be good as a merged world, too, and print the same where
the recipe says so. In each application bytes must have gone over the bridge. TAP on standard output.
"""
import argparse
import glob
import importlib.util
import os
import re
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
import debian  # noqa: E402
import mpich_results  # noqa: E402
import processes  # noqa: E402
import recipe  # noqa: E402
import table  # noqa: E402

OTHERS = {"check_apps", "recipe", "table"}


def names():
    return sorted({os.path.basename(p)[:-3] for p in glob.glob(os.path.join(HERE, "*.py"))} - OTHERS)


def load(name):
    """A recipe may be called as a module of Python is."""
    spec = importlib.util.spec_from_file_location("recipe_" + name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def over_the_bridge(err):
    text = err.partition("over the bridge:")[2]
    return sum(map(int, re.findall(r" -> .*, (\d+) bytes", text)))


class Runner:
    def __init__(self, args, top, work):
        self.args, self.work = args, work
        self.archive = debian.Debian(os.path.join(work, "apt"))
        self.patience = float(os.environ.get("ZIP_PATIENCE") or 6)  # as in lib/tap.sh
        # Both wait inside of MPICH, which spins: on two cores ranks of one part would wait for each other a time slice at a time.
        self.yields = os.path.join(top, "test", ".libs", "zyield.so")
        self.native = [os.environ.get("MPIEXEC") or "mpiexec.mpich", "-genv", "LD_PRELOAD", self.yields]
        self.merged = [os.path.join(top, "launch", "zmpirun"), "--stats", "-genv", "LD_PRELOAD", self.yields]
        cc = os.environ.get("MPICC") or "mpicc.mpich"
        self.tools = cc, cc.replace("mpicc", "mpicxx"), os.environ.get("MPIFC") or cc.replace("mpicc", "mpif90")
        self.number = self.bad = self.good = 0
        self.rows = table.Rows()
        self.results = mpich_results.Results(args.results)

    def say(self, ok, what, comment=""):
        self.number += 1
        print("%sok %d - %s%s" % ("" if ok else "not ", self.number, what, " # " + comment if comment else ""), flush=True)

    def prepare(self, name, app):
        """Fetches and builds it, unless that is done and its recipe is older. Gives its place and version."""
        place = recipe.Place(os.path.join(self.work, name), self.tools)
        done = os.path.join(place.folder, "done")
        if os.path.exists(done) and os.path.getmtime(done) > os.path.getmtime(os.path.join(HERE, name + ".py")):
            return place, open(done).read()
        shutil.rmtree(place.folder, ignore_errors=True)
        os.makedirs(place.folder)
        print("# %s: fetching and building" % name, flush=True)
        versions = []
        if getattr(app, "SOURCE", None):
            versions.append(self.archive.source(app.SOURCE, place.folder)[1])
        if getattr(app, "PACKAGES", None):
            versions.append(self.archive.packages(app.PACKAGES, place.root))
        if hasattr(app, "build"):
            app.build(place)
        with open(done, "w") as f:
            f.write(versions[0])
        return place, versions[0]

    def application(self, name):
        app = load(name)
        try:
            place, version = self.prepare(name, app)
            cases = app.cases(place)
        except debian.Missing as missing:
            return self.say(True, name, "SKIP " + str(missing))
        keys = ["%s/%s as %s of %s" % (name, c.name, self.layout(c), version) for c in cases]
        # a case works in the folder of the one that it follows, which an earlier command may have had elsewhere
        again = {case.follows for key, case in zip(keys, cases) if case.follows and not self.is_settled(key)}
        for key, case in zip(keys, cases):
            if re.search(self.args.only, "%s/%s" % (name, case.name)):
                self.case(name, place, case, key, case.name in again)
        row = self.rows.new(name, version, self.args.clusters)
        for result in [self.results.found[key] for key in keys if key in self.results.found]:
            row.add(**result)
        if row.merged > 0:
            self.bad += row.bytes == 0
            self.say(row.bytes > 0, "%s: %d bytes went over the bridge" % (name, row.bytes))
        return None

    def layout(self, case):
        parts = min(self.args.clusters, case.ranks)
        return "+".join(str(case.ranks * (p + 1) // parts - case.ranks * p // parts) for p in range(parts))

    def run(self, kind, launcher, place, case):
        folder = os.path.join(place.folder, "run", (case.follows or case.name) + "-" + kind)
        if not case.follows:
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, exist_ok=True)
        for path in case.inputs:
            shutil.copy(path, folder)
        path = ":".join(place.libraries() + [os.environ.get("LD_LIBRARY_PATH", "")]).strip(":")
        environment = dict({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, **case.environment)
        if path:
            environment["LD_LIBRARY_PATH"] = path
        begin = time.monotonic()
        run = recipe.Run(*processes.run([*launcher, *case.command], folder, case.seconds * self.patience, environment), folder)
        took = time.monotonic() - begin
        wrong = "it was ended after %d s" % took if run.status is None else case.verdict(run)
        return run, wrong, took

    def is_settled(self, key):
        before = self.results.found.get(key)
        return bool(before) and (before["natively"] is False or before["merged"])

    def case(self, name, place, case, key, again):
        layout = self.layout(case)
        what = "%s: %s as %s" % (name, case.name, layout)
        before = None if again else self.results.found.get(key)
        if before and before["natively"] is False:
            return self.say(True, what, "SKIP natively, too, when it ran")
        if before and before["merged"]:
            self.good += 1
            return self.say(True, what + ", when it ran")
        native, wrong, native_took = self.run("native", [*self.native, "-n", str(case.ranks)], place, case)
        if wrong:
            self.results.put(key, {"natively": "too slow" if native.status is None else False, "merged": False, "bytes": 0})
            return self.say(True, what, "SKIP natively, too: " + wrong)
        merged, wrong, took = self.run("merged", [*self.merged, "--clusters", layout], place, case)
        if not wrong and case.same:
            mine, theirs = (re.findall(case.same, run.out, re.MULTILINE) for run in (merged, native))
            if not theirs or mine != theirs:
                wrong = "it prints %s, natively %s" % (mine[:4], theirs[:4])
        self.results.put(key, {"natively": True, "merged": not wrong, "bytes": over_the_bridge(merged.err)})
        self.say(not wrong, "%s, %.0f s, natively %.0f s" % (what, took, native_took))
        if wrong:
            self.bad += 1
            print("# " + wrong)
            for text in [t for t in (merged.out + merged.err).splitlines() if " messages, " not in t][-20:]:
                print("#   " + text[:300])
        else:
            self.good += 1
        return None

    def end(self):
        print("1..%d" % self.number)
        print("%d runs passed, %d failed" % (self.good, self.bad))
        if self.good + self.bad == 0:
            print("# nothing ran at all: that is a failure")
        if self.args.table:
            self.rows.write(self.args.table)
        return self.bad > 0 or self.good == 0


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--work")
    parser.add_argument("--clusters", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--results")
    parser.add_argument("--table")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("applications", nargs="*")
    return parser.parse_args()


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("check_apps: ended"))
    unknown = set(args.applications) - set(names())
    if unknown:
        sys.exit("check_apps: there is no recipe for %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(names())))
    if args.list:
        for name in names():
            print("%-10s %s" % (name, load(name).__doc__.strip().splitlines()[0]))
        return
    top = os.environ.get("ZIP_TOP_BUILDDIR") or sys.exit("check_apps: run by make check-apps, or set ZIP_TOP_BUILDDIR")
    work = os.path.abspath(args.work or os.path.join(top, "test", "apps-work"))
    os.makedirs(work, exist_ok=True)
    runner = Runner(args, top, work)
    for name in args.applications or names():
        runner.application(name)
    sys.exit(runner.end())


main()
