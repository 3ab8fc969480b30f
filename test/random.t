#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random MPI programs from seeds, native and merged, in several layouts and settings. Always the same seeds; with
# ZIP_SECONDS new ones, for so long in all. random/random_programs.py makes a program that fails smaller, and says how to
# run it.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
TMPDIR=$TAP_TMP
export TMPDIR
"$MPICC" -O1 -g -pthread "$ZIP_TOP_SRCDIR"/test/random/*.c -o "$TAP_TMP/random_program" "${LINK_RUNTIME[@]}" >"$TAP_TMP/cc" 2>&1 ||
	{ diag_file "$TAP_TMP/cc"; bail_out "random_program does not compile"; }

settings=(
	"2+2"
	"1+1+2"
	"3+1 --set ZIPPER_PROGRESS=thread"
	"1+2+1+1"
	"2+1 --rails 2"
	"1+3 --set ZIPPER_SHARED=no"
	"2+2 --set ZIPPER_REPRESENTATION=external32"
	"1+1 --set ZIPPER_ONE_SIDED=yes"
	"2+2 --over tcp"
	"1+2+1+1 --over tcp"
)
if [ -e "$ZIP_TOP_BUILDDIR/test/fakeverbs/.libs/fakeverbs.so" ]; then
	settings+=("1+3 --over verbs" "1+1+2 --over verbs --set ZIPPER_PROGRESS=thread")
fi
seeds=13 # for each setting
# MPICH 5.0.2 itself dies in 3 of 30 of these programs, by threads and graphs
native=10
"$MPIEXEC" --version | grep -qE 'Version: *5\.' && native=40
share=0
shrink=40 # seconds to make failing programs smaller, for each setting
first=1
if [ "${ZIP_SECONDS:-0}" -gt 0 ]; then
	share=$((ZIP_SECONDS / ${#settings[@]} + 1)) seeds=1000000 shrink=600
	first=$(od -An -tu4 -N4 /dev/urandom | tr -d ' ')
fi
for setting in "${settings[@]}"; do
	# shellcheck disable=SC2086 # a setting has several words
	"${PYTHON:-python3}" -B "$ZIP_TOP_SRCDIR/test/random/random_programs.py" --program "$TAP_TMP/random_program" --native-percent $native --seconds $share --shrink $shrink \
		--layout $setting $first $((first + seeds - 1)) >"$TAP_TMP/result" 2>&1
	rc=$?
	grep '^#' "$TAP_TMP/result"
	is "as $setting: $(tail -n 1 "$TAP_TMP/result")" $rc 0 || diag_file "$TAP_TMP/result" 5
	first=$((first + seeds))
done
done_testing
