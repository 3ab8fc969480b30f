# SPDX-License-Identifier: BSD-3-Clause
"""HDF5: all parallel tests of its source, that is MPI-IO with derived datatypes, and agreements of all ranks."""
import os

from recipe import Case, says

SOURCE = "hdf5"

# seconds on an idle machine; the last three are shortened as HDF5 itself offers it
TESTS = {"t_mpi": 30, "t_bigio": 60, "testphdf5": 120, "t_pread": 30, "t_pshutdown": 30, "t_init_term": 30,
         "t_filters_parallel": 60, "t_cache": 300, "t_cache_image": 300, "t_shapesame": 300}


def build(place):
    place.run("./configure", "CC=" + place.cc, "--enable-parallel", "--disable-hl", "--disable-fortran", "--disable-cxx", "--disable-shared")
    place.make("-C", "src")
    place.make("-C", "test", "libh5test.la")
    place.make("-C", "testpar", "t_prestart", "t_pflush1", "t_pflush2", *TESTS)


def cases(place):
    folder = os.path.join(place.source, "testpar")
    good = says(never=[r"FAILED", r"\*FAIL", r"HDF5-DIAG: Error detected"])
    programs = [Case(name, [os.path.join(folder, name)], 4, seconds, good, environment={"HDF5TestExpress": "3"})
                for name, seconds in TESTS.items()]
    again = [Case("t_prestart", [os.path.join(folder, "t_prestart")], 4, 30, good, follows="t_pshutdown")]
    # The first one ends without closing its files, and without MPI_Finalize; the second looks at what is in them.
    flush = [Case("t_pflush1", [os.path.join(folder, "t_pflush1")], 4, 30, says("PASSED", status=None)),
             Case("t_pflush2", [os.path.join(folder, "t_pflush2")], 4, 30, says("PASSED"), follows="t_pflush1")]
    return programs + again + flush
