# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK: the testers of the package, with the inputs of the package; BLACS and PBLAS, too."""
import glob
import os

from recipe import Case, says

PACKAGES = ["scalapack-mpi-test", "scalapack-test-common", "libscalapack-mpich2.2"]

SOLVERS = ["dbrd", "ddblu", "ddtlu", "dgblu", "dgsep", "dhrd", "dinv", "dlu", "dnep", "dpbllt", "dptllt", "dqr", "dsep", "dtrd", "zlu", "zqr",
           "zpbllt", "zgblu"]


def cases(place):
    programs = place.find("usr/lib/*/scalapack/mpich-tests")
    data = place.find("usr/share/scalapack")
    inputs = tuple(sorted(glob.glob(os.path.join(data, "*.dat"))))
    solved = says(r"^ *[1-9]\d* tests completed and passed residual checks", r"^ *0 tests completed and failed", never=["FAILED"])
    every = [Case("x" + name, [os.path.join(programs, "x" + name)], 4, 120, solved, inputs=inputs) for name in SOLVERS]
    # In the summary a row is a routine with four numbers: total, passed, failed, skipped.
    every += [Case("%spb%dtst" % (kind, level), [os.path.join(programs, "PBLAS", "%spb%dtst" % (kind, level))], 4, 120,
                   says("End of Tests", never=[r"FAILED *\*\*\*\*\*"]), inputs=tuple(glob.glob(os.path.join(data, "PBLAS", "*.dat"))))
              for kind in "dz" for level in (1, 2, 3)]
    # The last test of BLACS is that BLACS_ABORT ends all ranks.
    blacs = says(r"PASSED  BLACS_SET/BLACS_GET", r"TESTS; .* 0 FAILED", "killed other procs", never=[r"TESTS;.* [1-9]\d* FAILED"], status=None)
    every += [Case(name, [os.path.join(programs, "BLACS", name)], 4, 300, blacs, inputs=tuple(glob.glob(os.path.join(data, "BLACS", "*.dat"))))
              for name in ("xCbtest", "xFbtest")]
    return every
