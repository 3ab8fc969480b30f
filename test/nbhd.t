#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_split_type by neighbourhood where clusters see the same folder, and where they do not. Here parts on one host have
# folders of their own. Each line shows whom each rank is with.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
PROGRAM=$TAP_TMP/nbhd
compile "$ZIP_TOP_SRCDIR/test/lib/nbhd.c" "$PROGRAM" || bail_out "cannot compile nbhd.c"
ARG=12 ACCESS=20 NO_SUCH_FILE=37
A=$TAP_TMP/a B=$TAP_TMP/b C=$TAP_TMP/c

# run CASE LAYOUT NAME HOW FOLDER...: CASE.got gets what each rank has got, in the order of ranks; CASE.out all lines
run() {
	local out=$TAP_TMP/$1
	shift
	limited 60 "$ZMPIRUN" --clusters "$1" "$PROGRAM" "${@:2}" >"$out.out" 2>"$out.err" </dev/null || diag_file "$out.err" >&2
	sed -n 's/^\(rank [0-9]*\): class /\1 /p' "$out.out" | sort -k2n | sed 's/^rank [0-9]* //' | tr '\n' ' ' | sed 's/ $//' >"$out.got"
}
got() { cat "$TAP_TMP/$1.got"; }
left() { find "$A" "$B" "$C" -mindepth 1 -printf '%P\n' | sort | tr '\n' ' '; }
none() { echo "$1 none $1 none $1 none $1 none"; }
mkdir "$A" "$B" "$C" "$A/scratch"

# A process that does not find a file waits for it. So these run at the same time.
run each 2+2 . world "$A" "$A" "$B" "$B" &
run three 1+2+1 . world "$A" "$B" "$B" "$A" &
run across 2+2 . world "$A" "$B" "$A" "$A" &
run inter 2+2 . inter "$A" "$A" "$B" "$B" &
wait
run parity 2+2 . inter "$A" "$B" "$A" "$B" &
run first 2+2 scratch world "$A" "$A" "$B" "$B" &
run later 2+2 scratch world "$B" "$B" "$A" "$A" &
run second 2+2 scratch world "$B" "$A" "$A" "$A" &
wait
is "a folder for each part: its ranks, in the order of the keys" "$(got each)" "0 1,0 0 1,0 0 3,2 0 3,2"
is "a folder for two of three parts" "$(got three)" "0 3,0 0 2,1 0 2,1 0 3,0"
is "folders across the parts" "$(got across)" "0 3,2,0 0 1 0 3,2,0 0 3,2,0"
# Natively, ranks of 5.0.2 wait for ever where nobody has the folder.
if "$MPIEXEC" --version | grep -qE 'Version: *5\.0\.'; then
	skip "a folder that one part has" "this MPICH splits a part without the folder in its own way"
else
	is "a folder that one part has" "$(got first)" "0 1,0 0 1,0 0 3,2 0 3,2"
	is "... that the later part has" "$(got later)" "0 1,0 0 1,0 0 3,2 0 3,2"
fi
is "... that the first process of a part has not" "$(got second)" "0 0 0 3,2,1 0 3,2,1 0 3,2,1"
is "an intercommunicator: a folder for each part" "$(got inter)" "0 0-1 0 1-0 0 2-3 0 3-2"
is "... for each group" "$(got parity)" "0 none 0 none 0 none 0 none"
is "nothing is left in the folders" "$(left)" "scratch "

run one 2+2 . world "$A" "$A" "$A" "$A"
is "one folder: all" "$(got one)" "0 3,2,1,0 0 3,2,1,0 0 3,2,1,0 0 3,2,1,0"
run inter 2+2 . inter "$A" "$A" "$A" "$A"
is "... of both groups" "$(got inter)" "0 2,0-3,1 0 3,1-2,0 0 2,0-3,1 0 3,1-2,0"
run nobody 2+2 scratch world "$B" "$B" "$C" "$C"
is "a folder that nobody has" "$(got nobody)" "$(none $NO_SUCH_FILE)"
matches "... is an error with its reason" "$TAP_TMP/nobody.out" "text MPI_Comm_split_type: no process can make a file in the folder of nbhd_common_dirname: No such file"
run nobody 2+2 missing inter "$A" "$A" "$B" "$B"
is "... in an intercommunicator" "$(got nobody)" "$(none $NO_SUCH_FILE)"
if chattr +i "$B" 2>/dev/null; then
	at_exit 'chattr -i "$B"'
	run locked 2+2 . world "$B" "$B" "$B" "$B"
	is "a folder that nobody may write" "$(got locked)" "$(none $ACCESS)"
	chattr -i "$B"
else
	skip "a folder that nobody may write" "no chattr +i here"
fi
is "nothing is left in the folders" "$(left)" "scratch "
run mixed 2+2 . mixed "$A" "$A" "$A" "$A"
is "types of split that differ" "$(got mixed)" "$(none $ARG)"
matches "... are named" "$TAP_TMP/mixed.out" "text MPI_Comm_split_type: the processes name different types of split"
done_testing
