# SPDX-License-Identifier: BSD-3-Clause
"""Sources and packages of this machine's Debian, fetched with apt into a folder and only unpacked there. Needs no root. No place
of the archive is written down anywhere: apt's own sources say it."""
import glob
import os
import re
import subprocess
import sys


class Missing(Exception):
    """What cannot be had here, in words."""


class Debian:
    """apt with lists and a cache of its own, in FOLDER, which lasts from run to run. The lists are fetched at the first need."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.apt = None

    def options(self):
        if self.apt is not None:
            return self.apt
        lists = os.path.join(self.folder, "lists")
        os.makedirs(os.path.join(lists, "partial"), exist_ok=True)
        sources = os.path.join(self.folder, "src.list")
        with open(sources + ".sources", "w") as modern, open(sources, "w") as classic:
            for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
                modern.write(re.sub(r"(?m)^Types:.*$", "Types: deb deb-src", open(path).read()) + "\n")
            for path in ["/etc/apt/sources.list"] + glob.glob("/etc/apt/sources.list.d/*.list"):
                if os.path.exists(path):
                    text = open(path).read()
                    classic.write(text + "\n" + re.sub(r"(?m)^deb ", "deb-src ", text))
        use = sources + ".sources" if os.path.getsize(sources + ".sources") > 0 else sources
        self.apt = ["-q", "-o", "Dir::Etc::sourcelist=" + use, "-o", "Dir::Etc::sourceparts=/dev/null", "-o", "Dir::State::lists=" + lists,
                    "-o", "Dir::Cache=" + self.folder, "-o", "Debug::NoLocking=1",
                    "-o", "Acquire::Check-Valid-Until=false", "-o", "APT::Sandbox::User="]
        self.get(["update"], self.folder)
        return self.apt

    def get(self, command, folder):
        try:
            done = subprocess.run(["apt-get", *self.options(), *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        except FileNotFoundError:
            raise Missing("this is not a Debian") from None
        text = done.stdout.decode(errors="replace")
        sys.stderr.write(text)
        if done.returncode != 0:
            errors = [t[3:] for t in text.splitlines() if t.startswith("E: ")] or ["apt-get %s fails" % command[0]]
            raise Missing("it cannot be fetched: " + errors[0])

    def source(self, package, folder):
        """Unpacks the authors' own archive of a source package there, without Debian's changes. Gives its folder and version."""
        os.makedirs(folder, exist_ok=True)
        self.get(["source", "--download-only", "--tar-only", package], folder)
        archives = sorted(glob.glob(os.path.join(folder, package + "_*.orig.tar.*[!c]")))
        if not archives:
            raise Missing("no source of %s came" % package)
        top = os.path.join(folder, "source")
        os.makedirs(top, exist_ok=True)
        subprocess.run(["tar", "xf", archives[-1], "-C", top, "--strip-components=1"], check=True)
        return top, re.search(r"_(.*)\.orig\.tar", archives[-1]).group(1)

    def packages(self, names, root):
        """Unpacks these packages there, and those that they need and this machine has not installed. Gives the first one's version."""
        debs = root + "-debs"
        os.makedirs(os.path.join(debs, "partial"), exist_ok=True)
        self.get(["install", "--download-only", "--reinstall", "-y", "--no-install-recommends", "-o", "Dir::Cache::archives=" + debs, *names],
                 self.folder)
        fetched = sorted(glob.glob(os.path.join(debs, "*.deb")))
        for deb in fetched:
            subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
        mine = [os.path.basename(d).split("_") for d in fetched]
        return next(deb[1].replace("%3a", ":") for deb in mine if deb[0] == names[0])
