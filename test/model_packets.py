#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The network model against a packet-level simulation (section IV.D, Figure 2): 4D Stencil with one rank a router on a
dragonfly of 1,152 routers. Histograms of the traffic of all links are laid over each other. TAP."""
import csv
import os
import subprocess
import sys
import tempfile

BUILD = os.environ["ZIP_TOP_BUILDDIR"]
NETWORK = "dragonfly group:48 chassis:3 router:8 node:1 core:1"
JOB = "4d:4x6x6x8"
BINS = 200
COMMON = 16  # bins of the comparison, over both distributions
count = failed = 0


def check(ok, name, detail):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s # %s" % ("ok" if ok else "not ok", count, name, detail), flush=True)


def rows(path):
    return {r["routing"]: r for r in csv.DictReader(open(path)) if r["links"] == "all"}


def histogram(row, top):
    """Shares of the links in COMMON bins of 0..top; a bin that lies in two is divided."""
    out = [0.0] * COMMON
    width = float(row["max"]) / BINS
    for i in range(BINS):
        n = float(row["bin%d" % i]) / float(row["count"])
        a, b = i * width / top * COMMON, (i + 1) * width / top * COMMON
        for k in range(COMMON):
            part = min(b, k + 1) - max(a, k)
            if part > 0:
                out[k] += n * part / (b - a)
    return out


def overlap(a, b):
    top = max(float(a["max"]), float(b["max"])) * 1.0001
    return sum(map(min, histogram(a, top), histogram(b, top)))


os.chdir(tempfile.mkdtemp())
subprocess.run([os.path.join(BUILD, "test", "simulate_packets"), NETWORK, JOB, "RDN", "16K", "packets.csv"], check=True)
subprocess.run([os.path.join(BUILD, "mapper", "zipmap"), "model", "-q", "-n", NETWORK, "-j", JOB, "-p", "RDN", "-r",
                "SD,SI,AI,AH,AL", "--bins", str(BINS), "--csv", "model.csv"], check=True, stdout=subprocess.DEVNULL)
packets, model = rows("packets.csv"), rows("model.csv")
for simulated, predicted, least in [("direct", "SD", 0.9), ("indirect", "SI", 0.8)]:
    a, b = packets[simulated], model[predicted]
    x = overlap(a, b)
    check(x > least, "IV.D: the histograms of %s routing are very similar" % simulated, "overlap %.3f" % x)
    for key in ["median", "average", "max"]:
        x = float(a[key]) / float(b[key])
        check(0.88 < x < 1.12, "IV.D: the %s with %s routing agrees" % (key, simulated), "ratio %.3f" % x)
a, b = packets["local"], model["AL"]
x = overlap(a, b)
check(x > 0.8, "the histograms of UGAL-L by packets and of adaptive local routing are similar", "overlap %.3f" % x)
for key in ["median", "average", "max"]:
    x = float(a[key]) / float(b[key])
    check(0.88 < x < 1.12, "the %s of UGAL-L by packets agrees with adaptive local routing" % key, "ratio %.3f" % x)
a, b = packets["adaptive"], model["AH"]
x = float(a["max"]) / float(b["max"])
check(0.85 < x < 1.15, "IV.D: the maximum of UGAL-G by packets is near that of adaptive hybrid", "ratio %.3f" % x)
for name, of in [("packets", packets), ("model", model)]:
    h = of["adaptive" if of is packets else "AH"]
    i = of["indirect" if of is packets else "SI"]
    d = of["direct" if of is packets else "SD"]
    check(float(h["average"]) < float(i["average"]) and float(h["max"]) < min(float(i["max"]), float(d["max"])),
          "IV.D: hybrid routing relieves the heavily used links (%s)" % name,
          "max %.3g %.3g %.3g" % tuple(float(r["max"]) / 2**20 for r in (d, i, h)))
    k = of["local" if of is packets else "AL"]
    check(float(k["max"]) > 1.2 * float(h["max"]), "knowledge of all links is worth more than that of the own ones (%s)" % name,
          "max %.3g against %.3g" % tuple(float(r["max"]) / 2**20 for r in (k, h)))
print("1..%d" % count)
sys.exit(failed > 0)
