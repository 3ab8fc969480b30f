#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Null pointers: every function that libzip answers itself, called with a null pointer for each of its arguments in turn, gives
# the error class of native MPI. Where native MPI checks nothing and crashes, there is an error, too. Afterwards all still works.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

TOP=$ZIP_TOP_SRCDIR/libzip
HEADERS=$(sed -n 's/^ZIP_MPI_PROTOTYPES = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
cd "$TAP_TMP" || exit 99

# shellcheck disable=SC2086 # several headers
"$PYTHON" -B "$ZIP_TOP_SRCDIR/test/nulls.py" "$TOP/gen" "$TOP/functions.tab" "$TOP/prototypes.tab" $HEADERS "$TOP/shim/extra.h" \
	>calls.h || bail_out "the calls cannot be written"
"$MPICC" -w -I. -o nulls "$ZIP_TOP_SRCDIR/test/lib/nulls.c" 2>cc.err || { diag_file cc.err; bail_out "nulls.c does not compile"; }

# checked KIND [self]: natively and merged, in native.out and merged.out
checked() {
	native 60 2 ./nulls "$@" >native.out 2>native.err
	merged 60 1+1 ./nulls "$@" >merged.out 2>merged.err
	is "merged with '$*' ends with status" "$?" 0 || diag_file merged.err
	matches "... and all still works" merged.out '^the sum of ones is right$'
}

for on in '' self; do
	# shellcheck disable=SC2086 # one word or none
	checked sure $on
	is "... and native MPI checks most arguments" "$(($(grep -c ': class [1-9]' native.out) > 500))" 1
	# a native crash is to be an error of class 12, MPI_ERR_ARG
	sed 's/: crash$/: class 12/' native.out >wanted.out
	ok "... and the error classes are those of native MPI" diff -U0 wanted.out merged.out
done

merged 60 1+1 ./nulls unsure >merged.out 2>merged.err
is "merged with arguments that native MPI does not check ends with status" "$?" 0 || diag_file merged.err
matches "... and all still works" merged.out '^the sum of ones is right$'
is "... and each is an error" "$(grep -c ': class [1-9]' merged.out)" "$(grep -c ': ' merged.out)" || diag_file merged.out
done_testing
