#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The MPI standard ABI: worlds of MPICH's library, of Open MPI's, and of both with one binary. The programs are those of twin tests;
# each prints the same as in one native job.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
if [ ! -e "$ZIP_TOP_BUILDDIR/libzip/libzipper-abi.la" ]; then
	run "--mpi mpich-abi without that ABI" 2 --clusters 2 --mpi mpich-abi -n 2 true
	is "--mpi mpich-abi without that ABI: its line" "$(cat err)" "zmpirun: --mpi: zmpirun was built without the MPI standard ABI"
	skip "the standard ABI" "no header of it where libzipper was built"
	done_testing
	exit
fi
if [ -n "$SANITIZED" ]; then skip_all "Open MPI's daemons would run with a sanitizer"; fi
programs=$ZIP_TOP_SRCDIR/test/programs
ZIP_STANDARD=both
. "$ZIP_TOP_SRCDIR/test/lib/standard.sh"
worlds=$(standard_worlds)
[ -n "$worlds" ] || skip_all "no library of the standard ABI"

for program in start/hello.c p2p/modes.c p2p/completion.c coll/collectives.c coll/coll_moves.c coll/operations.c type/datatypes.c \
	comm/groups.c win/win_lock.c file/file_basic.c; do
	name=${program##*/}
	name=${name%.*}
	compile "$programs/$program" "$name" >cc.log 2>&1 || { fail "$name: compiled"; diag_file cc.log; continue; }
	for ZIP_STANDARD in $worlds; do
		[ "$name $ZIP_STANDARD" != "file_basic both" ] || continue # it asks for ROMIO's hints, which Open MPI lacks
		sorted native native 60 4 "./$name"
		for layout in 2+2 1+3; do
			sorted out merged 60 $layout "./$name"
			cmp -s native out && [ -s out ] && { pass "$name: $ZIP_STANDARD as $layout"; continue; }
			fail "$name: $ZIP_STANDARD as $layout"
			diff native out >difference
			diag_file difference
			diag_file out.err
		done
	done
done

# --- beside the ABI of MPICH itself, where an error of one cluster has its class in all
for program in win/windows.c win/win_errors.c; do
	name=${program##*/}
	name=${name%.*}
	compile "$programs/$program" "$name" >cc.log 2>&1 && "$MPICC" -O1 -w -pthread "$programs/$program" -o "$name.mpich" -lm >cc.log 2>&1 ||
		{ fail "$name: compiled"; diag_file cc.log; continue; }
	for maker in mpich openmpi; do
		[ -d "$standard/$maker" ] || continue
		sorted out limited 60 "$ZMPIRUN" --clusters 2,2 -n 2 -env LD_LIBRARY_PATH "$standard/$maker" "./$name" : -n 2 "./$name.mpich"
		is "$name: $maker's standard ABI and MPICH's own" "$(grep 'No errors' out) $(grep 'exit status' out)" "No errors " || { diag_file out; diag_file out.err; }
	done
done

# --- which library it is
for maker in mpich openmpi; do
	[ -d "$standard/$maker" ] || continue
	other=openmpi shown=MPICH
	[ $maker = mpich ] || { other=mpich shown="Open MPI"; }
	export LD_LIBRARY_PATH=$standard/$maker
	if [ -n "$OMPIRUN" ]; then
		run "--mpi against the library" 2 --clusters 2 --mpi $other-abi -n 2 ./hello
		matches "--mpi against the library: its line" err "^zmpirun: ./hello uses $shown, and --mpi "
	fi
	printf '#!/bin/sh\nexec ./hello\n' >script
	chmod +x script
	run "a script, with --mpi $maker-abi" 0 --clusters 2 --mpi $maker-abi -n 4 ./script
	is "a script, with --mpi $maker-abi: one world" "$(grep -c 'of 4' out)" "$(grep -c 'of 4' <("$ZMPIRUN" --clusters 2 -n 4 ./hello))"
	run "a script, with --mpi $maker" 1 --clusters 2 --mpi $maker -n 4 ./script
	matches "a script, with --mpi $maker: its line" err "uses the MPI standard ABI \\(libmpi_abi.so"
	unset LD_LIBRARY_PATH
done
done_testing
