# SPDX-License-Identifier: BSD-3-Clause
"""The instructions that the machines of bench/count have executed for a message.

usage: count.py FOLDER LIST

FOLDER has a folder for each contestant (zip, relay, leg), and there NODE.1 and NODE.2 of count_plugin.c, NODE.maps (/proc/PID/maps
of the program) and kallsyms. LIST: the number of functions to list of each program, the busiest first.
"""

import bisect
import collections
import os
import subprocess
import sys

NODES = (("clusterA", "a rank"), ("zipper", "the zipper"))
KERNEL = 1 << 47  # addresses from here on belong to the kernel
PART_OF_TRIPS = 0.3  # a block that is executed in this share of the round trips belongs to them


def blocks(folder, node):
    """{(address, instructions): times}, counted between both dumps."""
    count = collections.Counter()
    for sign, k in ((1, 2), (-1, 1)):
        with open(f"{folder}/{node}.{k}", encoding="ascii") as lines:
            for line in lines:
                address, instructions, times = line.split()
                count[int(address, 16), int(instructions)] += sign * int(times)
    return {block: times for block, times in count.items() if times > 0}


def round_trips(count):
    """The number of round trips: most blocks of a rank's program are executed once in each. Within two per cent, as the rest of
    the machine goes on while a dump is made."""
    times = sorted(t for (address, _), t in count.items() if address < KERNEL)
    best, first = (0, 0), 0
    for last, t in enumerate(times):
        while times[first] < 0.98 * t:
            first += 1
        best = max(best, (last - first, t))
    if best[0] == 0:
        sys.exit("count.py: no message between the dumps")
    return best[1]


class Symbols:
    """Names of functions by address."""

    def __init__(self, folder, node):
        self.kernel = self._sorted(f"{folder}/kallsyms", lambda word: word[1] in "tTwW")
        self.maps, self.files = [], {}
        with open(f"{folder}/{node}.maps", encoding="utf-8") as lines:
            for line in lines:
                word = line.split()
                if len(word) >= 6 and "x" in word[1]:
                    low, high = (int(x, 16) for x in word[0].split("-"))
                    self.maps.append((low, high, int(word[2], 16), word[5]))

    @staticmethod
    def _sorted(path, wanted):
        with open(path, encoding="ascii") as lines:
            words = (line.split() for line in lines)
            return sorted((int(word[0], 16), word[2]) for word in words if len(word) >= 3 and wanted(word))

    @staticmethod
    def _name(table, address):
        at = bisect.bisect_right(table, (address, "\uffff")) - 1
        return table[at][1] if at >= 0 else "?"

    def _of_file(self, path):
        """The symbols of a file, and (offset, address, bytes) of its segments."""
        if path not in self.files:
            table, segments = set(), []
            if os.path.exists(path):
                for options in ([], ["-D"]):
                    out = subprocess.run(["nm", "--defined-only", *options, path], capture_output=True, text=True, check=False)
                    words = (line.split() for line in out.stdout.splitlines())
                    table |= {(int(w[0], 16), w[2].split("@")[0]) for w in words if len(w) == 3 and w[1] in "tTwWi"}
                out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=False)
                words = (line.split() for line in out.stdout.splitlines())
                segments = [tuple(int(x, 16) for x in (w[1], w[2], w[4])) for w in words if w and w[0] == "LOAD"]
            self.files[path] = sorted(table), segments
        return self.files[path]

    def find(self, address):
        """(file or "kernel", function)."""
        if address >= KERNEL:
            return "kernel", self._name(self.kernel, address)
        for low, high, offset, path in self.maps:
            if low <= address < high:
                table, segments = self._of_file(path)
                at = address - low + offset
                for begin, virtual, length in segments:
                    if begin <= at < begin + length:
                        return os.path.basename(path), self._name(table, at - begin + virtual)
                return os.path.basename(path), "?"
        return "other processes", "?"


def report(folder, node, trips, length):
    """[instructions of programs, of the kernel, different blocks], one way; prints the list."""
    symbols = Symbols(folder, node)
    found = {True: 0, False: 0}
    functions, files, different = collections.Counter(), collections.Counter(), collections.Counter()
    for (address, instructions), times in blocks(folder, node).items():
        found[address >= KERNEL] += instructions * times
        where = symbols.find(address)
        functions[where] += instructions * times
        files[where[0]] += instructions * times
        if times >= PART_OF_TRIPS * trips:
            different[where] += 1
            different[where[0]] += 1
            different["all"] += 1
    ways = 2 * trips
    for name, instructions in files.most_common() if length else ():
        if instructions >= ways:
            print(f"{instructions / ways:10.0f} instructions {different[name]:5d} blocks  {name}")
    for where, instructions in functions.most_common(length):
        print(f"{instructions / ways:10.0f} instructions {different[where]:5d} blocks  {where[0]}: {where[1]}")
    return found[False] / ways, found[True] / ways, different["all"]


def main():
    """The table of all contestants."""
    folder, length = sys.argv[1], int(sys.argv[2])
    columns, ways = [], {}
    for key, ranks, legs in (("zip", 2, 1), ("relay", 2, 1), ("leg", 1, 2)):
        trips = round_trips(blocks(f"{folder}/{key}", "clusterA"))
        for node, name in NODES:
            if length:
                print(f"\n{key}, {name}, one way, {trips} round trips")
            columns.append((f"{key}: {name}", report(f"{folder}/{key}", node, trips, length)))
        rank, zipper = (sum(column[1][:2]) for column in columns[-2:])
        ways[key] = (ranks * rank + zipper) * legs
    print(f"\n{'one way of 8 bytes':28s}" + "".join(f"{name:>20s}" for name, _ in columns))
    for i, row in enumerate(("instructions of programs", "instructions of the kernel", "different blocks")):
        print(f"{row:28s}" + "".join(f"{values[i]:20.0f}" for _, values in columns))
    print(f"\nall instructions of a way from rank to rank: zip {ways['zip']:.0f}, relay {ways['relay']:.0f}, both legs {ways['leg']:.0f};"
          f" zip/relay {ways['zip'] / ways['relay']:.2f}, zip/legs {ways['zip'] / ways['leg']:.2f}")


main()
