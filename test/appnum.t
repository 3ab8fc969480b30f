#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_APPNUM is the number of the program on zmpirun's command line, wherever its ranks run, and MPI_UNIVERSE_SIZE is that of
# the whole job. Each job is compared with one native job of the same programs.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
compile "$ZIP_TOP_SRCDIR/test/lib/appnum.c" appnum >cc 2>&1 || { diag_file cc; bail_out "appnum.c does not compile"; }
compile "$ZIP_TOP_SRCDIR/test/lib/appnum_session.c" session >cc 2>&1 || { diag_file cc; bail_out "appnum_session.c"; }

# as_natively NAME LAYOUT OPTIONS PROGRAMS...: the programs' output is that of one native job. OPTIONS are words for both.
as_natively() {
	local name=$1 layout=$2 options=$3
	shift 3
	# shellcheck disable=SC2086
	limited 60 "$MPIEXEC" $options "$@" 2>native.err </dev/null | LC_ALL=C sort >native
	# shellcheck disable=SC2086
	run "$name" 0 --clusters $layout $options "$@"
	is "$name: as natively" "$(LC_ALL=C sort out)" "$(cat native)" || diag_file err
}
two=(-n 2 ./appnum ocean : -n 2 ./appnum atmosphere)
for layout in 2,2 1,3 3,1 1,1,2; do
	as_natively "two programs, $layout" $layout "" "${two[@]}"
done
matches "the second program has number 1" out 'rank 3: atmosphere, program 1 1 1 1 1, universe -1 -1 -1 -1 -1, model of 2'
as_natively "three programs, one of them twice" 2,2 "" -n 1 ./appnum a : -n 2 ./appnum b : -n 1 ./appnum a
as_natively "one program" 1,2 "" -n 3 ./appnum a
as_natively "variables are kept back" 2,2 -genvnone "${two[@]}"
as_natively "a list of variables" 2,2 "-genvlist PATH" "${two[@]}"
as_natively "universe" 2,2 "-usize 17" "${two[@]}"
matches "universe: the number" out 'rank 0: ocean, program 0 0 0 0 0, universe 17 17 17 17 17, model of 2'
as_natively "universe of the job's own size" 1,3 "-usize 4" "${two[@]}"
as_natively "sessions" 1,3 "-usize 9" -n 2 ./session : -n 2 ./session
if compile "$ZIP_TOP_SRCDIR/test/lib/appnum.f90" fappnum >cc 2>&1; then
	as_natively "Fortran" 1,3 "-usize 9" -n 2 ./fappnum : -n 2 ./fappnum
	as_natively "Fortran, no universe" 1,3 "" -n 2 ./fappnum : -n 2 ./fappnum
else
	diag_file cc
	for what in "Fortran" "Fortran, no universe"; do
		skip "$what" "no MPICH Fortran compiler"
		skip "$what: as natively" "no MPICH Fortran compiler"
	done
fi
# a map deals the ranks out, so each part has ranks of both programs, and its mpiexec several groups of each
printf '0,2 c1\n1,3 c2\n' >map
run "a map" 0 --clusters 2 --map map "${two[@]}"
limited 60 "$MPIEXEC" "${two[@]}" 2>native.err </dev/null | LC_ALL=C sort >native
is "a map: as natively" "$(LC_ALL=C sort out)" "$(cat native)"
run "a variable of zmpirun" 2 --clusters 2 -genv ZIPPER_APPNUM 1 "${two[@]}"
matches "a variable of zmpirun: its line" err "^zmpirun: -genv ZIPPER_APPNUM: zmpirun sets this variable itself"
run "a universe without room" 2 --clusters 2 -usize 3 "${two[@]}"
is "a universe without room: its line" "$(cat err)" "zmpirun: -usize 3 is less than the 4 ranks of the job"

# --- by hand
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
echo "$(id -un) $key" >keys
chmod 600 keys
background "$ZIPPERD" --die-with-parent -o "listen=a,b=shm:$TAP_TMP/z.sock" -o key_file="$TAP_TMP/keys" 2>zipperd.log
ok "zipperd listens" wait_for 10 test -S "$TAP_TMP/z.sock"
part() { # NAME WORD...
	local part=$1
	shift
	limited 40 env ZIPPER_JOB=by-hand ZIPPER_PARTS=a,b ZIPPER_PART="$part" ZIPPER_ZIPPERD="shm:$TAP_TMP/z.sock" \
		ZIPPER_KEY_FILE="$TAP_TMP/keys" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
		LD_PRELOAD="$PRELOAD_LIST" "$@" >"out.$part" 2>"err.$part" </dev/null
}
# by_hand NAME WANTED COMMAND-OF-A COMMAND-OF-B
by_hand() {
	# shellcheck disable=SC2086
	part b $4 &
	local other=$!
	# shellcheck disable=SC2086
	part a $3
	is "$1: part a" $? 0 || diag_file err.a
	wait $other
	is "$1: part b" $? 0 || diag_file err.b
	is "$1" "$(sed 's/, model.*//; s/ \(-*[0-9]*\)\( \1\)\{4\}/ \1/g' out.a out.b | LC_ALL=C sort | tr '\n' ';')" "$2"
}
by_hand "by hand, a number for each program" \
	"rank 0: x, program 4, universe -1;rank 1: y, program 5, universe -1;rank 2: y, program 5, universe -1;" \
	"$MPIEXEC -n 1 -env ZIPPER_APPNUM 4 ./appnum x : -n 1 -env ZIPPER_APPNUM 5 ./appnum y" \
	"$MPIEXEC -n 1 -env ZIPPER_APPNUM 5 ./appnum y"
by_hand "by hand, without numbers" "rank 0: x, program 0, universe -1;rank 1: y, program 1, universe -1;rank 2: z, program 0, universe -1;" \
	"$MPIEXEC -n 1 ./appnum x : -n 1 ./appnum y" "$MPIEXEC -n 1 ./appnum z"
by_hand "by hand, two universes" "rank 0: x, program 0, universe 12;rank 1: y, program 0, universe 12;" \
	"$MPIEXEC -usize 5 -n 1 ./appnum x" "$MPIEXEC -usize 7 -n 1 ./appnum y"
by_hand "by hand, one universe is not known" "rank 0: x, program 0, universe -1;rank 1: y, program 0, universe -1;" \
	"$MPIEXEC -usize 5 -n 1 ./appnum x" "$MPIEXEC -n 1 ./appnum y"
by_hand "by hand, without mpiexec" "rank 0: x, program -1, universe -1;rank 1: y, program 3, universe -1;" \
	"./appnum x" "env ZIPPER_APPNUM=3 ./appnum y"
ZIPPER_APPNUM=x part a ./appnum x
is "a number that is none" "$(grep libzipper err.a)" "libzipper: rank 0 of part a: MPI_Init: environment variable \
ZIPPER_APPNUM: appnum: 'x' is not a whole number from -1 to 2147483647"
done_testing
