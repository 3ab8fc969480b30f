#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own test suite, each program as one world of several clusters: "make check-mpich", some twenty minutes.

usage: mpich_suite.py [--source DIR] [--work DIR] [--parts N] [--only REGEX] [--seconds S] [FOLDER ...]
  --source   MPICH's source; default: what Debian has of it, fetched with apt-get into the work folder
  --work     where it is built and stays; default: test/mpich-suite of the build tree
  --parts    clusters in which the ranks of each program run; default 2
  --only     programs whose FOLDER/NAME this matches
  --seconds  for each program, times ZIP_PATIENCE (default 6) as in all tests; default 60;
             what the suite itself says takes longer gets that
  FOLDER     of the suite; default: all but those about what does not span clusters (spawning, sessions)

A program that fails is run as one native job too: only what that passes counts. One that was not built is skipped. TAP on
standard output. The suite's text is not ours and stays outside of the source tree.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

FOLDERS = """attr coll comm datatype errhan group info init io part pt2pt rma topo threads/coll threads/comm
    threads/pt2pt threads/rma f77/attr f77/coll f77/comm f77/datatype f77/io f77/pt2pt f77/rma f77/topo f90/attr
    f90/coll f90/comm f90/datatype f90/io f90/pt2pt f90/rma f90/topo f08/attr f08/coll f08/comm f08/datatype
    f08/io f08/pt2pt f08/rma f08/topo""".split()
# what libzipper(7) says is not there: functions that a program ends with
UNSUPPORTED = re.compile(r"(MPI_Comm_split_type): .*not supported")


def fetch(work):
    """The source package that belongs to this machine's packages; its place is not written down anywhere."""
    cache = os.path.join(work, "apt")
    lists = os.path.join(cache, "lists")
    os.makedirs(os.path.join(lists, "partial"), exist_ok=True)
    sources = os.path.join(cache, "src.list")
    with open(sources + ".sources", "w") as modern, open(sources, "w") as classic:
        for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
            modern.write(re.sub(r"(?m)^Types:.*$", "Types: deb-src", open(path).read()) + "\n")
        for path in ["/etc/apt/sources.list"] + glob.glob("/etc/apt/sources.list.d/*.list"):
            if os.path.exists(path):
                classic.write(re.sub(r"(?m)^deb ", "deb-src ", open(path).read()))
    use = sources + ".sources" if os.path.getsize(sources + ".sources") > 0 else sources
    apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=" + use, "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", "Dir::State::lists=" + lists, "-o", "Dir::Cache=" + cache, "-o", "Acquire::Check-Valid-Until=false"]
    for command in ["update"], ["source", "--download-only", "mpich"]:
        if subprocess.run(apt + command, stdout=sys.stderr, cwd=work).returncode != 0:
            sys.exit("mpich_suite: Debian's source of MPICH cannot be fetched here; give one with --source")
    for archive in glob.glob(os.path.join(work, "mpich_*.orig.tar.*")):
        subprocess.run(["tar", "xf", archive], check=True, cwd=work)
    found = sorted(glob.glob(os.path.join(work, "mpich-*", "test", "mpi", "configure")))
    if not found:
        sys.exit("mpich_suite: no source of MPICH came; give it with --source")
    return os.path.dirname(os.path.dirname(os.path.dirname(found[-1])))


def build(suite, folders):
    log = open(os.path.join(suite, "build.log"), "a")

    def run(*command):
        subprocess.run(command, cwd=suite, stdout=log, stderr=log, check=False)

    cc, fc = os.environ.get("MPICC", "mpicc.mpich"), os.environ.get("MPIFC", "mpif90.mpich")
    if not os.path.exists(os.path.join(suite, "Makefile")):
        f77 = fc.replace("mpif90", "mpif77")
        run("./configure", "--with-mpi=/usr", "--disable-cxx", "CC=" + cc, "MPICC=" + cc, "MPIF77=" + f77, "MPIFC=" + fc)
    for folder in ["dtpools", "util"] + sorted({f.split("/")[0] for f in folders}):
        print("# building", folder, flush=True)
        run("make", "-k", "-j%d" % (os.cpu_count() or 1), "-C", folder, "all")
        if folder == "util":
            # Configured by itself the suite leaves this library empty, with which every program of f08 is linked.
            run("make", "-C", folder, "am_libmtest_f08_la_OBJECTS=mtest_f08.lo", "libmtest_f08.la")


def programs(suite, folder):
    """The lines of its list that tell of more than one rank: name, ranks, arguments, seconds that it may take (or 0)."""
    path = os.path.join(suite, folder, "testlist")
    seen = set()
    for line in open(path) if os.path.exists(path) else []:
        words = line.split("#")[0].split()
        if len(words) < 2 or "/" in words[0] or not words[1].isdigit() or int(words[1]) < 2:
            continue
        # the third never ends by itself
        if any(w.startswith(("xfail=", "mem=", "resultTest=TestErrFatal")) for w in words[2:]):
            continue
        limit = max([int(w[10:]) for w in words[2:] if re.match(r"timeLimit=\d+$", w)], default=0)
        one = words[0], int(words[1]), tuple(w[4:] for w in words[2:] if w.startswith("arg=")), limit
        if one not in seen:
            seen.add(one)
            yield one


def run(command, folder, seconds, **environment):
    """Status and output; status None: it took too long."""
    process = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out = process.communicate(timeout=seconds)[0]
        return process.returncode, out.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            out = process.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out = process.communicate()[0]
        return None, out.decode(errors="replace")


def passed(status, out):
    return status == 0 and "No Errors" in out


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--source")
    parser.add_argument("--work")
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    patience = float(os.environ.get("ZIP_PATIENCE") or 6)  # as in lib/tap.sh
    top = os.environ.get("ZIP_TOP_BUILDDIR") or sys.exit("mpich_suite: run by make check-mpich, or set ZIP_TOP_BUILDDIR")
    work = args.work or os.path.join(top, "test", "mpich-suite")
    folders = args.folders or FOLDERS
    os.makedirs(work, exist_ok=True)
    suite = os.path.join(work, "mpi")
    if not os.path.isdir(suite):
        shutil.copytree(os.path.join(args.source or fetch(work), "test", "mpi"), suite, symlinks=True)
    build(suite, folders)

    # Both wait inside of MPICH, which spins: on two cores ranks of one part would wait for each other a time slice at a time.
    yields = ["-genv", "LD_PRELOAD", os.path.join(top, "test", ".libs", "zyield.so")]
    native = [os.environ.get("MPIEXEC", "mpiexec.mpich")] + yields
    merged = [os.path.join(top, "launch", "zmpirun")] + yields
    number = good = bad = skipped = 0
    for folder in folders:
        for name, ranks, arguments, limit in programs(suite, folder):
            what = " ".join((folder + "/" + name,) + arguments)
            program = os.path.join(suite, folder, name)
            if not re.search(args.only, what):
                continue
            number += 1
            seconds = max(args.seconds, limit) * patience
            parts = min(args.parts, ranks)
            layout = "+".join(str(ranks * (p + 1) // parts - ranks * p // parts) for p in range(parts))
            title = "%d - %s as %s" % (number, what, layout)
            if not os.path.exists(program):
                skipped += 1
                print("ok %s # SKIP it was not built" % title, flush=True)
                continue
            status, out = run(merged + ["--clusters", layout, program, *arguments], os.path.dirname(program), seconds)
            if passed(status, out):
                good += 1
                print("ok", title, flush=True)
                continue
            missing = UNSUPPORTED.search(out)
            if missing:
                skipped += 1
                print("ok %s # SKIP no %s there" % (title, missing.group(1)), flush=True)
                continue
            alone = run(native + ["-n", str(ranks), program, *arguments], os.path.dirname(program), seconds)
            if not passed(*alone):
                skipped += 1
                print("ok %s # SKIP natively it %s too" % (title, "is too slow" if alone[0] is None else "fails"), flush=True)
                continue
            bad += 1
            print("not ok", title)
            print("# " + ("too slow" if status is None else "status %d" % status))
            for line in out.splitlines()[:12]:
                print("#  ", line)
            sys.stdout.flush()
    print("1..%d" % number)
    print("%d passed, %d failed, %d skipped" % (good, bad, skipped))
    sys.exit(bad > 0 or good == 0)


main()
