# SPDX-License-Identifier: BSD-3-Clause
"""HPC Challenge: Linpack, a transposition, random updates, Fourier transforms and rings, each with its check of the result."""
import os
import re

from recipe import Case

SOURCE = "hpcc"

MAKEFILE = """SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lblas -lm
HPL_DEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle $(HPL_INCLUDES)
CC = {cc}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -std=gnu99
LINKER = {cc}
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""
# the lines of its input that are other ones than in the source: number, text
SMALL = {6: "{size}", 8: "16", 11: "{p}", 12: "{q}"}
GRIDS = {2: (1, 2, 200)}  # ranks: rows and columns of the grid, size of the matrix


def build(place):
    with open(os.path.join(place.source, "hpl", "Make.zip"), "w") as f:
        f.write(MAKEFILE.format(cc=place.cc))
    place.run("make", "arch=zip")
    lines = open(os.path.join(place.source, "_hpccinf.txt")).read().splitlines()
    for ranks, (p, q, size) in GRIDS.items():
        folder = os.path.join(place.folder, str(ranks))
        os.makedirs(folder, exist_ok=True)
        text = [SMALL.get(n, line).format(size=size, p=p, q=q) if n in SMALL else line for n, line in enumerate(lines, 1)]
        with open(os.path.join(folder, "hpccinf.txt"), "w") as f:
            f.write("\n".join(text) + "\n")


def verdict(run):
    """It writes into a file, and sums up what it checked in one line."""
    path = os.path.join(run.folder, "hpccoutf.txt")
    text = open(path).read() if os.path.exists(path) else ""
    if run.status != 0 or "Success=1" not in text:
        return "status %s, and no Success=1 in its report" % run.status
    failed = [t for t in text.splitlines() if re.search("fail", t, re.IGNORECASE) and not re.match(" *0 tests completed and failed", t)]
    if failed or "PASSED" not in text:
        return "a test failed: " + "; ".join(failed[:3] or ["none passed"])
    return None


def cases(place):
    return [Case("hpcc-%d" % ranks, [os.path.join(place.source, "hpcc")], ranks, 300, verdict,
                 inputs=(os.path.join(place.folder, str(ranks), "hpccinf.txt"),)) for ranks in GRIDS]
