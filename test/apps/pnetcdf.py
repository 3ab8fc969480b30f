# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF: the tests of its source that run on several ranks: MPI-IO, blocking and not, with views of derived datatypes."""
import os

from recipe import Case, says

SOURCE = "pnetcdf"

# others are sequential, or take gigabytes
FOLDERS = {"testcases": ["add_var", "alignment_test", "buftype_free", "collective_error", "flexible", "flexible2", "flexible_varm",
                         "inq_num_vars", "inq_recsize", "ivarn", "last_large_var", "mix_collectives", "modes", "ncmpi_vars_null_stride",
                         "noclobber", "nonblocking", "one_record", "record", "scalar", "test_erange", "test_fillvalue", "test_vard",
                         "test_vard_multiple", "test_vard_rec", "test_varm", "tst_def_var_fill", "tst_dimsizes", "tst_free_comm",
                         "tst_info", "varn_contig", "varn_int", "vectors", "put_all_kinds", "iput_all_kinds"],
           "nonblocking": ["bput_varn", "column_wise", "flexible_bput", "i_varn_indef", "i_varn_int64", "interleaved", "large_num_reqs",
                           "req_all", "test_bput", "wait_after_indep"]}


def build(place):
    place.need("m4", "autoreconf", "libtoolize")
    place.run("autoreconf", "-i")
    place.run("./configure", "MPICC=" + place.cc, "--disable-fortran", "--disable-cxx")
    place.make("-C", "src")
    place.make("-C", "test/common", "tests-local", "libtestutils.la")
    for folder, programs in FOLDERS.items():
        place.make("-C", "test/" + folder, *programs)


def cases(place):
    good = says("pass", never=["(?i)fail", "Error"])
    return [Case(program, [os.path.join(place.source, "test", folder, program), program + ".nc"], 4, 30, good)
            for folder, programs in FOLDERS.items() for program in programs]
