#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the tests notice mistakes? Makes one-line mistakes in C files, one at a time, and runs the tests of that area: "make mutants".

usage: mutants.py [--seed N] [--count N] [--list] [--work DIR] [--seconds S] [PLACE ...]
  --seed     draws other mistakes; default 1
  --count    how many mistakes, spread over the folders named; default 24
  --list     only prints the mistakes of that seed
  --work     a copy of the sources and its build stay there; default: test/mutants of the build tree
  --seconds  for the tests of one mistake; default 900. Tests that take longer have noticed it, too
  PLACE      folders or files; default: libzip zipperd mapper common. FILE:LINE makes all mistakes that this line can have

A mistake that does not compile does not count. The tests of an area are in mutants.areas; units run first. A test that fails has
to pass without the mistake: then the mistake is noticed, and the next one is made. Mistakes that no test notices are listed at the end. Not each of them is a hole: some change nothing
that can be seen.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

SOURCE = os.path.abspath(os.environ.get("ZIP_TOP_SRCDIR") or sys.exit("mutants: run by make mutants, or set ZIP_TOP_SRCDIR"))
BUILD = os.path.abspath(os.environ.get("ZIP_TOP_BUILDDIR") or sys.exit("mutants: run by make mutants, or set ZIP_TOP_BUILDDIR"))
AT_ONCE = 8  # tests of one make
CORES = "-j%d" % len(os.sched_getaffinity(0))

# what is looked for in a line, what takes its place
MISTAKES = [(re.compile(old), new) for old, new in (
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" && [^&|(){}]+\)", ")"), (r" \|\| [^&|(){}]+\)", ")"),
    (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" \|= ", " = "), (r" &= ", " = "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bif \((?!!)(\w+\(.*\)|[\w>.-]+)\)$", r"if (!(\1))"), (r"\(!", "("),
    (r"^\t+[\w>.-]+\(.*\);$", ";"), (r"^\t+[\w>.\[\]-]+ = [^?]+;$", ";"), (r"\breturn rc;", "return 0;"), (r"\+\+;", "--;"),
    (r"\bcontinue;", ";"), (r"\bbreak;", ";"))]
# what people read, our own checks, declarations
PASSED_OVER = re.compile(r"assert|printf|zlog_|zerr_set|zerror_|^\t+(static|const|struct|u?int|size_t|bool|char|void|double)\b.*;$|/\*|^\t*\*")


def mistakes_of(path):
    """All mistakes that the lines of a file can have: (path, line number, old text, new text)."""
    found = []
    with open(os.path.join(SOURCE, path)) as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        if not line.startswith("\t") or PASSED_OVER.search(line):
            continue
        for old, new in MISTAKES:
            for place in old.finditer(line):
                text = line[:place.start()] + place.expand(new) + line[place.end():]
                found.append((path, number, line.strip(), text.strip()))
    return found


def files_of(place):
    path = os.path.join(SOURCE, place)
    if os.path.isfile(path):
        return [place]
    return sorted(os.path.relpath(p, SOURCE) for p in glob.glob(os.path.join(path, "**", "*.c"), recursive=True)
                  if not os.path.abspath(p).startswith(BUILD + os.sep))


def candidates(places, seed):
    """Mistakes in an order that is drawn; the places take turns. A file has one before another file has two."""
    rng = random.Random(seed)
    queues = []
    for place in places:
        path, line = re.match(r"(.*?)(?::(\d+))?$", place).groups()
        files = files_of(path) or sys.exit("mutants: no C files in %s" % path)
        if line:
            queues.append([m for m in mistakes_of(path) if m[1] == int(line)])
            continue
        rounds = [rng.sample(found, len(found)) for found in map(mistakes_of, files) if found]
        queue = []
        while rounds:
            rng.shuffle(rounds)
            queue += [found.pop() for found in rounds]
            rounds = [found for found in rounds if found]
        queues.append(queue)
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop(0)


def run(command, folder, seconds, log):
    """The status; None: it took too long, and all that it started was ended."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                               env=dict(os.environ, ZIP_TEST_LIMIT="240"))
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        end(process)
        return None
    except BaseException:
        end(process)
        raise


def end(process):
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Copy:
    """A copy of the sources with a build of its own."""

    def __init__(self, work):
        self.source = os.path.join(work, "source")
        self.build = os.path.join(work, "build")
        os.makedirs(work, exist_ok=True)
        self.log = open(os.path.join(work, "log"), "a")
        self.refresh()
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            self.configure()
        if not self.make():
            sys.exit("mutants: the copy does not build: %s" % self.log.name)
        self.tests = self.variable("TESTS")

    def refresh(self):
        """Copies what differs; the times stay, so make builds no more than it must."""
        skip = {BUILD, os.path.join(SOURCE, ".git"), os.path.join(SOURCE, "autom4te.cache")}
        for folder, folders, files in os.walk(SOURCE):
            folders[:] = [f for f in folders if os.path.join(folder, f) not in skip and f != "__pycache__"]
            to = os.path.join(self.source, os.path.relpath(folder, SOURCE))
            os.makedirs(to, exist_ok=True)
            for name in files:
                old, new = os.path.join(folder, name), os.path.join(to, name)
                if os.path.islink(old) or not os.path.isfile(old):
                    continue
                if not os.path.exists(new) or os.stat(new).st_mtime != os.stat(old).st_mtime:
                    shutil.copy2(old, new)

    def configure(self):
        os.makedirs(self.build, exist_ok=True)
        options = subprocess.run([os.path.join(BUILD, "config.status"), "--config"], capture_output=True, text=True, check=True).stdout
        command = "exec ../source/configure %s --disable-werror" % options.strip()
        if run(["sh", "-c", command], self.build, 1200, self.log) != 0:
            sys.exit("mutants: the copy cannot be configured: %s" % self.log.name)

    def make(self, seconds=3600):
        return run(["make", CORES], self.build, seconds, self.log) == 0 and \
            run(["make", CORES, *self.variable("check_LTLIBRARIES")], os.path.join(self.build, "test"), seconds, self.log) == 0

    def variable(self, name):
        """Of the Makefile of the tests."""
        text = "include Makefile\nzip-print:\n\t@echo $(%s)\n" % name
        made = subprocess.run(["make", "-s", "-f", "-", "zip-print"], input=text, cwd=os.path.join(self.build, "test"),
                              capture_output=True, text=True, check=True)
        return made.stdout.split()

    def tests_of(self, path):
        """In the order of mutants.areas, by the longest prefix that it has of that path; those behind "last" at the end."""
        best, words, last = "", [], []
        with open(os.path.join(self.source, "test", "mutants.areas")) as f:
            for line in f:
                area, *patterns = line.split("#")[0].split() or [None]
                if area == "last":
                    last = patterns
                elif area and (path + "/").startswith(area) and len(area) > len(best):
                    best, words = area, patterns
        found = []
        for pattern in words:
            regex = re.compile(re.escape(pattern).replace(r"\*", "[^/]*") + "$")
            found += [t for t in self.tests if regex.match(t) and t not in found]
        return sorted(found, key=lambda t: last.index(t) if t in last else -1)

    def judge(self, mistake, seconds):
        """None: it does not compile. Otherwise the tests that noticed it, in words; "": none did."""
        path, number, old, new = mistake
        tests = self.tests_of(path)
        while True:
            found = self.with_mistake(mistake, lambda: self.test(tests, seconds))
            if not found or not self.make():
                return found if found is None else ", ".join(found)
            own = [t for t in found if self.test([t], seconds)]
            print("=== noticed by %s; fail without it: %s" % (found, own), file=self.log, flush=True)
            if len(own) < len(found):
                return ", ".join(t for t in found if t not in own)
            print("    fails without it, too: %s" % ", ".join(own), flush=True)
            tests = [t for t in tests[tests.index(found[0]) // AT_ONCE * AT_ONCE:] if t not in own]

    def with_mistake(self, mistake, what):
        """Of what, with the mistake in the copy; None: it does not compile."""
        path, number, old, new = mistake
        target = os.path.join(self.source, path)
        with open(target) as f:
            lines = f.read().split("\n")
        original = list(lines)
        lines[number - 1] = re.match(r"\t*", lines[number - 1]).group() + new
        try:
            self.write(target, lines)
            print("=== %s:%d: %s -> %s" % mistake, file=self.log, flush=True)
            return what() if self.make() else None
        finally:
            self.write(target, original)

    def write(self, target, lines):
        with open(target, "w") as f:
            f.write("\n".join(lines))

    def test(self, tests, seconds):
        """Those that fail, of the first ones with which some do."""
        end = time.time() + seconds
        for i in range(0, len(tests), AT_ONCE):
            some = tests[i:i + AT_ONCE]
            status = run(["make", CORES, "check-TESTS", "TESTS=" + " ".join(some)], os.path.join(self.build, "test"),
                         max(end - time.time(), 1), self.log)
            if status != 0:
                return [t for t in some if self.failed(t)] or some
        return []

    def failed(self, test):
        result = os.path.join(self.build, "test", re.sub(r"\.(t|c|f|f90)$", "", test) + ".trs")
        try:
            with open(result) as f:
                return re.search(r"^:global-test-result: (FAIL|ERROR)", f.read(), re.M)
        except OSError:
            return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--work", default=os.path.join(BUILD, "test", "mutants"))
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("places", nargs="*")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("mutants: ended"))
    places = args.places or ["libzip", "zipperd", "mapper", "common"]
    count = args.count or (10**9 if any(":" in p for p in args.places) else 24)
    drawn = candidates(places, args.seed)
    copy = None if args.list else Copy(os.path.abspath(args.work))
    made, survivors = 0, []
    for mistake in drawn:
        if made == count:
            break
        words = "%s:%d: %s\n    -> %s" % mistake
        if args.list:
            made += 1
            print(words)
            continue
        noticed = copy.judge(mistake, args.seconds)
        if noticed is None:
            continue
        made += 1
        print("%s\n    %s" % (words, "noticed: " + noticed if noticed else "SURVIVES"), flush=True)
        if not noticed:
            survivors.append(words)
    if args.list:
        return
    print("\n%d of %d mistakes were noticed. These were not:" % (made - len(survivors), made) if survivors
          else "\nall %d mistakes were noticed" % made)
    for words in survivors:
        print(words)


main()
