#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A library of MPI-3.1 from a newer MPICH: a copy that keeps the functions that MPI-4.0 added to itself.

usage: older.py LIBRARY COPY functions.tab

Their entries in the table of symbols become local ones: a search by name does not find them, and calls from inside the library,
some of which go by name, still do. Functions of files go by weak names that others define, too; these stay. So do the functions of
later versions: the copy still says that it is of such a version."""
import re
import struct
import sys

SHT_DYNSYM, SYMBOL_BYTES = 11, 24
STB_LOCAL, STV_HIDDEN = 0, 2


def added(path):
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words and "4.0+" in words[1:] and not re.match("MPI_(File|Register)_", words[0]):
            yield words[0]


def sections(data):
    """The headers of the sections: type, offset, size, link."""
    (at,) = struct.unpack_from("<Q", data, 0x28)
    each, n = struct.unpack_from("<HH", data, 0x3A)
    for i in range(n):
        kind, _, _, offset, size, link = struct.unpack_from("<4xIQQQQI", data, at + i * each)
        yield kind, offset, size, link


def main():
    library, copy, table = sys.argv[1:]
    data, names, hidden = bytearray(open(library, "rb").read()), set(added(table)), 0
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"older.py: {library} is not an ELF file of 64 bits")
    all_sections = list(sections(data))
    _, first, size, link = next(s for s in all_sections if s[0] == SHT_DYNSYM)
    text = all_sections[link][1]
    for at in range(first, first + size, SYMBOL_BYTES):
        name, info, _, section = struct.unpack_from("<IBBH", data, at)
        word = bytes(data[text + name : data.index(b"\0", text + name)]).decode()
        if section != 0 and word.removeprefix("P") in names:
            struct.pack_into("<BB", data, at + 4, STB_LOCAL << 4 | info & 15, STV_HIDDEN)
            hidden += 1
    if hidden < 100:
        sys.exit(f"older.py: {library} has not the names that were expected ({hidden} names)")
    open(copy, "wb").write(data)


main()
