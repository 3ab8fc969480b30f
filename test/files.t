#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of clusters that share a file system, or do not share one: then each cluster would write its half into a file of its own.
# Here parts on one host have folders of their own.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
PROGRAM=$TAP_TMP/apart
compile "$ZIP_TOP_SRCDIR/test/lib/apart.c" "$PROGRAM" || bail_out "cannot compile apart.c"
HERE=$TAP_TMP/here THERE=$TAP_TMP/there
SUCCESS=0 NOT_SAME=35 NO_SUCH_FILE=37 UNSUPPORTED_DATAREP=43 UNSUPPORTED=44

fresh() { rm -rf "$HERE" "$THERE"; mkdir "$HERE" "$THERE"; cd "$HERE" || exit 99; }
# run FOLDER NAME MODE...: prints the classes of all ranks, once if all are the same
run() {
	limited 30 "$ZMPIRUN" --clusters "${LAYOUT:-2+2}" "$PROGRAM" "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" </dev/null ||
		{ diag_file "$TAP_TMP/err" >&2; echo "status $?"; }
	sed -n 's/^rank [0-9]: class //p' "$TAP_TMP/out" | sort -u | tr '\n' ' ' | sed 's/ $//'
}
shared() { sed -n 's/^rank [0-9]: shared //p' "$TAP_TMP/out" | sort -u | tr '\n' ' ' | sed 's/ $//'; }
names() { find "$1" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ' | sed 's/ $//'; }

fresh
is "one folder: a new file" "$(run "$HERE" new both create)" $SUCCESS
is "... which has what all have written" "$(cat new)" 0123
is "... and nothing is left beside it" "$(names "$HERE")" new
is "... nobody warns" "$(wc -l <"$TAP_TMP/err")" 0
is "... alone" "$(run "$HERE" new both create exclusive)" 25
is "... and deleted when it is closed" "$(run "$HERE" new both delete) $(names "$HERE")" "$SUCCESS "

fresh
is "two folders: a new file" "$(run "$THERE" new both create)" $NOT_SAME
is "... is gone again" "$(names "$HERE") $(names "$THERE")" " "
matches "... one line says which part does not see it" "$TAP_TMP/out" "^rank 0: MPI_File_open: part 'c2' does not see the file"
matches "... to all" "$TAP_TMP/out" "^rank 2: MPI_File_open: part 'c2' does not see the file of part 'c1'"
is "... and once to the user" "$(grep -c "part 'c2' does not see the file 'new' of part 'c1'" "$TAP_TMP/err")" 1
is "... of three" "$(LAYOUT=1+1+2 run "$THERE" new both create)" $NOT_SAME
matches "... the right one" "$TAP_TMP/out" "part 'c3' does not see the file"

fresh
echo once >old
is "a file that one part has" "$(run "$THERE" old read)" $NO_SUCH_FILE
is "... to write" "$(run "$THERE" old write create)" $NOT_SAME
is "... is still there" "$(names "$HERE") $(cat old)" "old once"
is "... and was not made in the other" "$(names "$THERE")" ""

fresh
echo here >both
echo there >"$THERE/both"
is "two files of one name, of different sizes" "$(run "$THERE" both read)" $NOT_SAME
is "... to write" "$(run "$THERE" both both)" $NOT_SAME
echo HERE >"$THERE/both"
touch -r both "$THERE/both"
is "two files of one name, size and time" "$(run "$THERE" both read)" $SUCCESS
is "... without a shared pointer" "$(shared)" $UNSUPPORTED
is "... are not one to write" "$(run "$THERE" both both create)" $NOT_SAME
is "... and have what they had" "$(cat both "$THERE/both" | tr '\n' ' ')" "here HERE "
is "... with nothing beside them" "$(names "$HERE") $(names "$THERE")" "both both"

is "one file to read" "$(run "$HERE" both read)" $SUCCESS
is "... with a shared pointer" "$(shared)" $SUCCESS

# the same name everywhere, a link to each part's own file
ln -s /proc/self/cwd/both "$TAP_TMP/link"
is "a link to each part's own file" "$(run "$THERE" "$TAP_TMP/link" both)" $NOT_SAME
is "a link to one file" "$(run "$HERE" "$TAP_TMP/link" both)" $SUCCESS

# nothing can be put beside the file
if chattr +i "$HERE" "$THERE" 2>/dev/null; then
	at_exit 'chattr -i "$HERE" "$THERE"'
	is "in folders that may not be written, two files" "$(run "$THERE" both both)" $NOT_SAME
	is "... one" "$(run "$HERE" both both)" $SUCCESS
	chattr -i "$HERE" "$THERE"
else
	skip "in folders that may not be written, two files" "no chattr +i here"
	skip "... one" "no chattr +i here"
fi

# errors that end the job
limited 30 "$ZMPIRUN" --clusters 2+2 "$PROGRAM" "$HERE" missing read fatal >"$TAP_TMP/out" 2>"$TAP_TMP/err" </dev/null
is "MPI_ERRORS_ARE_FATAL of MPI_FILE_NULL ends the job" "$? $(wc -l <"$TAP_TMP/out")" "$NO_SUCH_FILE 0"
matches "... with the cause" "$TAP_TMP/err" "^zmpirun: rank [0-9] .* aborted with code 37: MPI_File_open: 'missing', at rank 0 "

is "a device that every host has" "$(run "$HERE" /dev/null both)" $SUCCESS
is "... and nothing was put beside it" "$(find /dev -maxdepth 1 -name '.null.zipper.*' | wc -l)" 0
is "clusters whose representations differ" "$(ZIPPER_REPRESENTATION=external32 run "$HERE" both both)" $UNSUPPORTED_DATAREP
cd /
done_testing
