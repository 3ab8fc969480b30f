#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A library of MPI-3.1 from a newer MPICH: a copy whose functions that MPI-4.0 and later versions added have other names.

usage: older.py LIBRARY COPY functions.tab

The names in the table of symbols are overwritten in place, so that a search by name does not find them. The library's own
calls of file functions go by name; these keep theirs."""
import re
import sys


def newer(path):
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words and any(re.fullmatch(r"\d+\.\d+\+", word) for word in words[1:]) and not re.match("MPI_(File|Register)_", words[0]):
            yield words[0]


def main():
    library, copy, table = sys.argv[1:]
    data, names = open(library, "rb").read(), set(newer(table))

    def rename(match):
        return b"\0QQQ" + match[0][4:] if match[1].decode() in names else match[0]

    # MPI_X is the end of the text PMPI_X, and has no text of its own.
    changed, n = re.subn(rb"\0P(MPIX?_\w+)(?=\0)", rename, data)
    if changed.count(b"\0QQQ") < 100:
        sys.exit(f"older.py: {library} has not the names that were expected ({n} names)")
    open(copy, "wb").write(changed)


main()
