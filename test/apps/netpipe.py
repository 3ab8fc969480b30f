# SPDX-License-Identifier: BSD-3-Clause
"""NetPIPE: messages to and fro, with its check of every byte."""
from recipe import Case, says

PACKAGES = ["netpipe-mpich2"]


def cases(place):
    program = place.find("usr/bin/NPmpich2")
    verdict = says("Integrity check passed", never=["[Ff]ailed"])
    sizes = 16, 100000, 1048576, 4000003
    checked = [Case("integrity-%d" % size, [program, "-i", "-n", "5", "-l", str(size - 3), "-u", str(size)], 2, 60, verdict) for size in sizes]
    plain = [Case(name, [program, "-n", "20", "-u", "200000", *options], 2, 60, says(r"^ *\d+: +\d+ bytes .* Mbps", never=["[Ff]ailed"]))
             for name, options in {"pingpong": [], "stream": ["-s"], "asynchronous": ["-a"], "synchronous": ["-S"]}.items()]
    return checked + plain
