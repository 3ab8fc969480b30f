#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A native library of MPI-3.1, without large counts, sessions and what else MPI-4.0 added. Programs of MPI-3.1 agree with a native
# run. Large counts work within the limits of the library. A function that only the library can offer is named. (The library is
# this machine's with some names hidden. make check-mpich34 has a real one.)
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
MPI_LIBRARY=$(readlink -f "$("$MPICC" -print-file-name=libmpich.so)")
[ -r "$MPI_LIBRARY" ] || skip_all "no libmpich.so"
NAME=$(readelf -d "$MPI_LIBRARY" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
cd "$TAP_TMP" || exit 99
mkdir old
"$PYTHON" -B "$ZIP_TOP_SRCDIR/test/lib/older.py" "$MPI_LIBRARY" "old/$NAME" "$ZIP_TOP_SRCDIR/libzip/functions.tab" >older.err 2>&1 &&
	compile "$ZIP_TOP_SRCDIR/test/lib/limits.c" limits >>older.err 2>&1 || { diag_file older.err; bail_out "cannot make the library"; }

# Debian 13's bindings for Fortran are linked with -z now: they do not start without the functions of MPI-4.0.
fortran_fits() {
	printf 'program p\n use mpi\n integer :: e\n call MPI_Init(e)\n call MPI_Finalize(e)\nend program\n' >fits.f90
	compile fits.f90 fits >/dev/null 2>&1 && LD_LIBRARY_PATH=$TAP_TMP/old limited 20 "$MPIEXEC" -n 1 ./fits </dev/null >/dev/null 2>&1
}

# --- programs of MPI-3.1
for name in p2p/modes.c p2p/wildcards.c type/datatypes.c coll/coll_moves.c comm/communicators.c win/win_request.c fortran/win08.f90; do
	[[ $name != *.f90 ]] || [ -z "$MPIFC" ] || fortran_fits || { skip "${name##*/}" "this MPICH's Fortran library needs the hidden functions"; continue; }
	LD_LIBRARY_PATH=$TAP_TMP/old "$ZIP_TOP_SRCDIR/test/twin" "$ZIP_TOP_SRCDIR/test/programs/$name" >twin.out 2>twin.err
	tap_of "${name##*/}" twin.out $? twin.err
done

# --- programs of MPI-4.0
run() { LD_LIBRARY_PATH=$TAP_TMP/old merged 20 2+2 ./limits "$@" >out 2>err; }
run large
is "large counts within the limits" "$(grep -v class out)" "exchanged 10 11
all to all 0 10
put 10"
is "... and beyond them" "$(sed -nE 's/ \(.*\)//; s/: class [0-9]+ /: /p' out)" \
	"a window: MPI_Put_c: the native library has no large counts, and origin_count is 3221225472
a send: MPI_Isend_c: the native library has no large counts, and count is 3221225472
a displacement: MPI_Ialltoallv_c: the native library has no large counts, and sdispls is 3221225472
arrays that last: MPI_Ialltoallv_c: the native library has no large counts, and arrays of int could not stay until the operation is complete"
matches "the error names the library's version" out "a send: class [0-9]+ MPI_Isend_c: the native library \(.*[0-9]\.[0-9].*\)"
run collective
is "a persistent collective between clusters needs nothing of it" "$? $(tr '\n' ' ' <out)" "0 sum 4 sum 4 "
for what in local-collective:Allreduce_init partitioned:Psend_init session:Session_init; do
	run ${what%:*}
	is "no PMPI_${what#*:}: the job ends" "$(($? != 0)) $(cat out)" "1 "
	matches "... and names it" err "^libzipper: .*/$NAME has no PMPI_${what#*:}, .* versions of MPICH with it: 4\.0\+$"
done
done_testing
