#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI: worlds of clusters that run it, and worlds in which others run MPICH. The programs are those of twin tests; each prints
# the same as in one native job of Open MPI.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
[ -e "$ZIP_TOP_BUILDDIR/libzip/libzipper-ompi.la" ] || skip_all "no Open MPI where libzipper was built"
if [ -n "$SANITIZED" ]; then skip_all "Open MPI's daemons would run with a sanitizer"; fi
programs=$ZIP_TOP_SRCDIR/test/programs
ZIP_OMPI=some
. "$ZIP_TOP_SRCDIR/test/lib/ompi.sh"

build() { # PROGRAM: ./NAME.ompi and ./NAME.mpich. Status 77: no compiler for it
	local name=${1##*/}
	name=${name%.*}
	compile "$programs/$1" "$name" >cc.log 2>&1
	case $? in
	0) mv "$name" "$name.ompi";;
	77) return 77 ;;
	*) diag_file cc.log; return 1 ;;
	esac
}
world() { # NAME OPTION...: a world whose output is that of ./native
	local name=$1
	shift
	sorted out limited 60 "$ZMPIRUN" "$@"
	cmp -s native out && { pass "$name"; return; }
	fail "$name"
	diff native out >difference
	diag_file difference
	diag_file out.err
}

for program in start/hello.c p2p/modes.c p2p/completion.c coll/collectives.c coll/coll_moves.c coll/operations.c type/datatypes.c \
	comm/groups.c win/win_lock.c fortran/fortran77.f fortran/fortran90.f90 fortran/fortran08.f90 fortran/win08.f90; do
	name=${program##*/}
	name=${name%.*}
	build "$program"
	case $? in
	0) ;;
	77) skip "$name" "no Fortran compiler of both"; continue ;;
	*) fail "$name: compiled"; continue ;;
	esac
	sorted native native 60 4 "./$name.ompi"
	is "$name: natively" "$(grep -c "^exit status" native) $([ -s native ] && echo output)" "0 output"
	world "$name: Open MPI in both clusters" --clusters 2+2 "./$name.ompi"
	world "$name: Open MPI and MPICH" --clusters 2,2 -n 2 "./$name.ompi" : -n 2 "./$name.mpich"
	world "$name: MPICH and Open MPI" --clusters 1,3 -n 1 "./$name.mpich" : -n 3 "./$name.ompi"
done

# These judge themselves, also by the classes of errors.
for program in win/windows.c win/win_errors.c; do
	name=${program##*/}
	name=${name%.*}
	build "$program" || { fail "$name: compiled"; continue; }
	for form in "Open MPI in both clusters:--clusters 2+2 ./$name.ompi" \
		"Open MPI and MPICH:--clusters 2,2 -n 2 ./$name.ompi : -n 2 ./$name.mpich" \
		"MPICH and Open MPI:--clusters 2,2 -n 2 ./$name.mpich : -n 2 ./$name.ompi"; do
		# shellcheck disable=SC2086 # words
		sorted out limited 60 "$ZMPIRUN" ${form#*:}
		is "$name: ${form%%:*}" "$(grep 'No errors' out) $(grep 'exit status' out)" "No errors " || { diag_file out; diag_file out.err; }
	done
done

# --- how a job ends
cat >ends.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 2 && argv[1][0] == 's')
		raise(SIGKILL);
	if (rank == 2 && argv[1][0] == 't')
		raise(SIGTERM);
	if (rank == 2 && argv[1][0] == 'a')
		MPI_Abort(MPI_COMM_WORLD, 5);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return rank == 2 ? atoi(argv[1]) : 0;
}
END
"$OMPICC" -o ends.ompi ends.c >cc.log 2>&1 || diag_file cc.log
run "a rank's exit status" 7 --clusters 2 -n 4 ./ends.ompi 7
run "a rank that is killed" 137 --clusters 2 -n 4 ./ends.ompi s
matches "a rank that is killed: its line" err "^zmpirun: rank 2 \(c2 rank 0 on [^ ]*\) died .*; mpirun tells of signal 9 "
is "a rank that is killed: mpirun says nothing" "$(grep -c -- ------ err)" 0 || diag_file err
run "a rank that another signal kills" 143 --clusters 2 -n 4 ./ends.ompi t
matches "a rank that another signal kills: its line" err "^zmpirun: rank 2 .* died .*; killed by signal 15 "
run "MPI_Abort" 5 --clusters 2 -n 4 ./ends.ompi a
is "MPI_Abort: mpirun says nothing" "$(grep -c -- ------ err)" 0 || diag_file err
is "nothing is left of mpirun's directories" "$(scratch_left)" 0
printf '#!/bin/sh\nexec ./hello.ompi\n' >script
chmod +x script
run "a script, with --mpi" 0 --clusters 2 --mpi openmpi -n 4 ./script
is "a script, with --mpi: one world" "$(grep -c 'of 4' out)" "$(grep -c 'of 4' <("$ZMPIRUN" --clusters 2 -n 4 ./hello.ompi))"

# --- options in the words of mpirun
for labels in "" "-prepend-pattern <%r>"; do
	# shellcheck disable=SC2086 # two words
	run "-l $labels" 0 --clusters 2,2 -l $labels -n 2 ./hello.ompi : -n 2 ./hello.mpich
	is "-l $labels: each line has its rank" "$(sed -n 's/^\[\([0-3]\)\] hello from rank \1 of 4$/\1/p; s/^<\([0-3]\)>hello from rank \1 of 4$/\1/p' out | sort | tr -d '\n')" 0123 || diag_file out
done
run "-l: errors" 7 --clusters 2 -n 4 -l ./ends.ompi 7
is "-l: mpirun says nothing" "$(grep -c -- ------ err)" 0 || diag_file err
cat >fake <<'END'
#!/bin/sh
while [ "$1" != --hostfile ]; do shift; done
cat "$2"
END
chmod +x fake
printf '#ZIP cluster a mpi=openmpi mpiexec=%s\nlocalhost:4\n127.0.0.2:4\n' "$PWD/fake" >two_hosts
run "-ppn" 0 -f two_hosts --no-mpi -ppn 3 -n 5 true
is "-ppn: so many slots for mpirun" "$(cat out)" $'localhost slots=3\n127.0.0.2 slots=3' || diag_file err

# --- what is refused
run "--mpi against the program" 2 --clusters 2 --mpi openmpi -n 4 ./hello.mpich
is "--mpi against the program: its line" "$(cat err)" \
	"zmpirun: ./hello.mpich uses MPICH, and --mpi Open MPI: the ranks of one cluster (c1) use one MPI"
run "two MPIs in a cluster" 2 --clusters 3,1 -n 2 ./hello.mpich : -n 2 ./hello.ompi
is "two MPIs in a cluster: its line" "$(cat err)" \
	"zmpirun: ./hello.ompi uses Open MPI, and ./hello.mpich MPICH: the ranks of one cluster (c1) use one MPI"
run "an unknown MPI" 2 --clusters 2 --mpi lam ./hello.ompi
is "an unknown MPI: its line" "$(cat err)" "zmpirun: --mpi: 'lam' is none of mpich, openmpi, mpich-abi, openmpi-abi"
run "a list that is too short" 2 --clusters 3 --mpi mpich,openmpi -n 3 ./script
is "a list that is too short: its line" "$(cat err)" "zmpirun: --mpi: the list must have a name for each of the 3 clusters"
run "an option that mpirun lacks" 2 --clusters 2 -usize 4 ./hello.ompi
is "an option that mpirun lacks: its line" "$(cat err)" "zmpirun: the ranks of c1 use Open MPI, for which there is no -usize"
done_testing
