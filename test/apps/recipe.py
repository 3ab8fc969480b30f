# SPDX-License-Identifier: BSD-3-Clause
"""What a recipe says of an application: see README.md."""
import dataclasses
import glob
import os
import re
import shutil
import subprocess
import typing

from debian import Missing


@dataclasses.dataclass
class Run:
    """One run of a program that has ended."""

    status: typing.Optional[int]  # None: it took too long
    out: str
    err: str
    folder: str


def status_0(run):
    """The simplest verdict. A verdict gives None, or says what is wrong."""
    return None if run.status == 0 else "status %s" % run.status


def says(*wanted, never=(), status=0):
    """A verdict: the exit status (None: any), and regular expressions that a line of the output must, or must never, match."""

    def verdict(run):
        text = run.out + run.err
        if status is not None and run.status != status:
            return "status %s" % run.status
        for pattern in wanted:
            if not re.search(pattern, text, re.MULTILINE):
                return "it does not say /%s/" % pattern
        for pattern in never:
            bad = re.search(pattern, text, re.MULTILINE)
            if bad:
                return "it says '%s'" % bad.group(0)
        return None

    return verdict


@dataclasses.dataclass
class Case:
    """One program with its arguments, run natively and as a world of several clusters, each in a new folder."""

    name: str
    command: list
    ranks: int = 4
    seconds: float = 60  # on an idle machine; more where ZIP_PATIENCE says so
    verdict: typing.Callable = status_0
    same: str = ""  # what matches in the output must be the same natively and merged; the groups, if it has some
    follows: str = ""  # the name of an earlier case, whose folder it runs in
    inputs: tuple = ()  # files that are copied into the folder
    environment: dict = dataclasses.field(default_factory=dict)


class Place:
    """Where an application is fetched to and built: folder/source, folder/root (packages)."""

    def __init__(self, folder, tools):
        self.folder = folder
        self.source = os.path.join(folder, "source")
        self.root = os.path.join(folder, "root")
        self.log = os.path.join(folder, "build.log")
        self.cc, self.cxx, self.fc = tools

    def run(self, *command, cwd=None, environment=None):
        """A step of the build. Its output goes to the log."""
        with open(self.log, "a") as log:
            done = subprocess.run(command, cwd=cwd or self.source, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
                                  env=dict(os.environ, **(environment or {})))
        if done.returncode != 0:
            raise Missing("it cannot be built: %s fails, see %s" % (" ".join(command)[:60], self.log))

    def make(self, *arguments, cwd=None):
        self.run("make", "-j%d" % (os.cpu_count() or 1), *arguments, cwd=cwd)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                raise Missing("it needs %s, which is not installed" % program)

    def find(self, pattern):
        """The one file in the unpacked packages or in the source that matches."""
        found = sorted(glob.glob(os.path.join(self.root, pattern), recursive=True) + glob.glob(os.path.join(self.source, pattern), recursive=True))
        if not found:
            raise Missing("no %s came" % pattern)
        return found[0]

    def libraries(self):
        """Folders of libraries in the unpacked packages, for LD_LIBRARY_PATH."""
        return sorted({os.path.dirname(p) for p in glob.glob(os.path.join(self.root, "usr/lib/**/*.so*"), recursive=True)})
