#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of functions is complete, and the generator notices gaps. libzipper.so interposes every function of the native library
# under both names, unless the table has it as native; beside these it exports functions of the dynamic linker, and needs libc alone. The lists of environment
# variables agree.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

SO=$ZIP_TOP_BUILDDIR/libzip/.libs/libzipper.so
GEN=$ZIP_TOP_SRCDIR/libzip/gen/mpigen.py
TAB=$ZIP_TOP_SRCDIR/libzip/functions.tab
PROTOTYPES=$ZIP_TOP_SRCDIR/libzip/prototypes.tab
HEADERS=$(sed -n 's/^ZIP_MPI_PROTOTYPES = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
EXTRA=$ZIP_TOP_SRCDIR/libzip/shim/extra.h
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
cd "$TAP_TMP" || exit 99

gen() { "$PYTHON" -B "$GEN" "$@" 2>gen.err; }
# shellcheck disable=SC2086 # several headers
table_with() { gen map map.out table "${1:-$PROTOTYPES}" $HEADERS "$EXTRA"; }

# --- the generator
cp "$TAB" table
ok "the table fits the headers" table_with

grep -v '^MPI_Ssend ' "$TAB" >table
table_with
is "a function missing in the table stops the build" "$?" 1
ok "... and is named" grep -q 'not classified.*MPI_Ssend$' gen.err

sed 's/^MPI_Ssend .*/&\nMPI_Send_by_pigeon guard/' "$TAB" >table
table_with
is "a function that no header has stops the build" "$?" 1
ok "... and is named" grep -q 'MPI_Send_by_pigeon' gen.err

# Every header of a test machine lacks something that prototypes.tab has: MPI_Session_toint came with 5.0, Delete_error_class went.
cp "$TAB" table
grep -vE ' MPI_Session_toint| MPIX_Delete_error_class' "$PROTOTYPES" >prototypes
table_with prototypes
is "a function that neither a header nor prototypes.tab has stops the build" "$?" 1
ok "... and is named" grep -qE 'MPI_Session_toint|MPIX_Delete_error_class' gen.err

# only where no header has them
sed 's/ 5.0+$//; s/ -4.0$//' "$TAB" >table
table_with
is "a prototype without versions in the table stops the build" "$?" 1
ok "... and is named" grep -qE 'prototypes.tab has MPI.*(_Abi_|_Delete_error).* names no versions' gen.err

sed 's/^MPI_Ssend .*/MPI_Ssend own 4+/' "$TAB" >table
table_with
is "a version that is none stops the build" "$?" 1

sed 's/^MPI_Ssend .*/MPI_Ssend perhaps/' "$TAB" >table
table_with
is "an unknown class stops the build" "$?" 1
ok "... and the line is named" grep -Eq 'table:[0-9]+: ' gen.err

sed 's/^MPI_Ssend .*/&\nMPI_Ssend guard/' "$TAB" >table
table_with
is "a function twice in the table stops the build" "$?" 1

sed 's/^MPI_Pcontrol .*/MPI_Pcontrol guard/' "$TAB" >table
table_with
is "a variadic function cannot be guarded" "$?" 1

sed 's/^MPI_Buffer_flush .*/MPI_Buffer_flush guard 4.2+/' "$TAB" >table
# shellcheck disable=SC2086
gen wrappers map.out table "$PROTOTYPES" $HEADERS "$EXTRA"
is "a function that names no object cannot be guarded" "$?" 1

sed 's/^MPI_Ssend .*/MPI_Ssend own sends/' "$TAB" >table
table_with
is "an unknown way of recording stops the build" "$?" 1

sed 's/^MPI_Type_size .*/MPI_Type_size own-spanning/' "$TAB" >table
# shellcheck disable=SC2086
gen wrappers map.out table "$PROTOTYPES" $HEADERS "$EXTRA"
is "a function with nothing that could span stops the build" "$?" 1
ok "... and is named" grep -q 'MPI_Type_size cannot be own-spanning' gen.err

sed 's/^MPI_Wait .*/MPI_Wait own send/' "$TAB" >table
table_with
is "the map needs no arguments" "$?" 0
# shellcheck disable=SC2086
gen wrappers map.out table "$PROTOTYPES" $HEADERS "$EXTRA"
is "a function that cannot be recorded so stops the build" "$?" 1
ok "... and is named" grep -q 'MPI_Wait cannot be recorded as send' gen.err

mkdir -p p2p
# shellcheck disable=SC2086
forms_with() { gen forms p2p/forms.c "$TAB" "$PROTOTYPES" forms $HEADERS "$EXTRA"; }
cp "$ZIP_TOP_SRCDIR/libzip/forms.tab" forms
ok "the simple implementations are made" forms_with
is "... with int and with large counts" "$(grep -oE '\bzip_Sendrecv(_c)?\(' p2p/forms.c | tr -d '\n')" "zip_Sendrecv(zip_Sendrecv_c("
echo 'p2p MPI_Send_by_pigeon send(SEND)' >forms
forms_with
is "an implementation of a function that no header has stops the build" "$?" 1
echo 'p2p MPI_Type_size send(SEND)' >forms
forms_with
is "an implementation of a native function stops the build" "$?" 1
ok "... and is named" grep -q 'implements MPI_Type_size, which is native' gen.err

# A guard that checks nothing would run on the local half of the world. What a handle of a native object made is no argument to check.
cp "$TAB" table
# shellcheck disable=SC2086
gen wrappers wrappers.c table "$PROTOTYPES" $HEADERS "$EXTRA"
sed 's/#.*//' "$TAB" | awk '$2 == "guard" { print $1 }' >guards
unchecked() { # the functions of class guard whose wrapper calls no check
	awk 'NR == FNR { guard[$1]; next }
		/^(ZEXPORT|static inline) / { name = $0; sub(/\(.*/, "", name); sub(/.* /, "", name); sub(/^called_/, "MPI_", name); checked = 0 }
		/zguard_(comm|requests|group)\(|return called_/ { checked = 1 } # called_X is what MPI_X measures the time of
		/^}/ && name in guard && !checked { print name } /^}/ { name = "" }' guards wrappers.c
}
is "every guard checks something, but for the end of a native thread communicator" "$(unchecked | xargs)" MPIX_Threadcomm_free

# --- the library
classes() { sed 's/#.*//' "$TAB" | awk -v want="$1" 'NF >= 2 && $2 ~ want { print $1 }'; }
recorded() { sed 's/#.*//' "$TAB" | awk 'NF >= 3 && $3 !~ /^[-0-9]|^openmpi$/ { print $1 }'; }
{ classes '^(inside|file(-all|-own)?|shadow|guard|own(-comm|-requests|-spanning)?|always|begin|pcontrol)$'; recorded; } | LC_ALL=C sort -u |
	awk '{ print } !/^MPII_/ { print "P" $1 } END { print "dlmopen\ndlopen\ndlsym\ndlvsym" }' | LC_ALL=C sort >want
nm -D --defined-only "$SO" | awk '{ print $3 }' | LC_ALL=C sort >have
ok "exported: MPI_X and PMPI_X of every function that is not native or is recorded, and the dynamic linker's, and nothing else" diff -u want have
ok "MPI_X and PMPI_X are the same code" bash -c "
	nm -D --defined-only '$SO' | awk '{ a[\$3] = \$1 }
		END { for (n in a) if (n ~ /^MPIX?_/ && a[n] != a[\"P\" n]) { print n; bad = 1 } exit bad }'"
if [ -n "$SANITIZED" ]; then
	skip "needs libc alone" "built with a sanitizer"
else
	is "needs libc alone, with its dynamic linker" \
		"$(readelf -d "$SO" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(ld|libdl|libpthread)' | tr '\n' ' ')" "libc.so.6 "
fi

# A function that takes a communicator, group, request, message or window must be interposed. Exceptions are listed here by
# name; the table gives the reason of each. A handle of ours is an integer as any other, so it is converted natively.
{ printf 'MPI_%s_c2f\nMPI_%s_toint\n' {Comm,Comm,Group,Group,Message,Message,Request,Request,Win,Win} && cat; } >allowed <<'END'
MPI_Comm_get_name
MPI_Comm_get_parent
MPI_Comm_join
MPI_Comm_set_name
MPI_Grequest_complete
MPI_Grequest_start
MPI_Pack
MPI_Pack_c
MPI_Pack_size
MPI_Pack_size_c
MPI_T_event_handle_alloc
MPI_Unpack
MPI_Unpack_c
MPI_Win_delete_attr
MPI_Win_get_errhandler
MPI_Win_get_name
MPI_Win_set_attr
MPI_Win_set_errhandler
MPI_Win_set_name
MPI_Win_shared_query
MPI_Win_shared_query_c
MPIX_Grequest_class_allocate
MPIX_Grequest_start
END
# shellcheck disable=SC2086
cat "$PROTOTYPES" $HEADERS | tr '\n' ' ' | sed 's/;/;\n/g' | grep -oE '\bMPIX?_[A-Za-z_0-9]+ *\([^()]*\bMPI_(Comm|Group|Request|Message|Win)\b[^()]*\)' |
	grep -v typedef | sed 's/ *(.*//' | LC_ALL=C sort -u >takes
classes '^(native|outside)$' | LC_ALL=C sort -u >native
LC_ALL=C comm -12 takes native | grep -v DUP_FN >uncovered
LC_ALL=C sort allowed >allowed.sorted
ok "no function with a communicator, group, request, message or window is native without a reason" \
	bash -c '[ -s takes ] && LC_ALL=C comm -23 uncovered allowed.sorted | (! grep .)'

# Every function that the native library and its Fortran library export is in the table.
for name in libmpich libmpichfort; do
	lib=$("$MPICC" -print-file-name="$name.so" 2>/dev/null)
	if [ -r "$lib" ]; then
		sed 's/#.*//' "$TAB" | awk 'NF >= 2 { print $1 }' | LC_ALL=C sort >table.names
		if [ "$name" = libmpich ]; then
			nm -D --defined-only "$lib" | awk '$2 ~ /[TW]/ { print $3 }' | grep -E '^MPIX?_' | LC_ALL=C sort -u >names
		else
			# functions of the C library that the Fortran interfaces call
			nm -D --undefined-only "$lib" | awk '{ print $2 }' | sed 's/@.*//; s/^P\(MPI\)/\1/' |
				grep -E '^MPI[XI]?_' | LC_ALL=C sort -u >names
		fi
		# constants; entry points behind the MPI names that take no communicator, group or request of ours
		printf '%s\n' MPII_Grequest_set_lang_f77 MPII_Keyval_set_proxy MPII_Type_get_attr MPII_Type_set_attr \
			MPII_Win_get_attr MPII_Win_set_attr MPI_F_STATUS_IGNORE MPI_F_STATUSES_IGNORE \
			MPI_F08_STATUS_IGNORE MPI_F08_STATUSES_IGNORE MPI_UNWEIGHTED MPI_WEIGHTS_EMPTY >other
		ok "every MPI function that $name exports or calls is in the table" \
			bash -c 'LC_ALL=C comm -23 names table.names | grep -vxFf other | (! grep .)'
	else
		skip "every MPI function of $name is in the table" "no $name.so here"
	fi
done

# --- the environment variables of a rank: the table with what its macros add, the manual page, and zmpirun
preprocessed() { # FILE
	"${CC:-gcc}" -E -P -D_GNU_SOURCE -DPKGLIBDIR='""' -I"$ZIP_TOP_SRCDIR" -I"$ZIP_TOP_BUILDDIR" "$1"
}
array() { tr '\n' ' ' <"$2" | grep -oE "\b$1\[\] = \{[^}]*"; } # NAME FILE: prints its content
names() { grep -oE 'ZIPPER_[A-Z_]*[A-Z]' | LC_ALL=C sort; } # a name that comes twice is wrong, too
preprocessed "$ZIP_TOP_SRCDIR/libzip/start/env.c" >env.i
{ sed 's/" "//g' env.i | grep -oE '\.name = "[a-z_]*"' | sed 's/.*"\(.*\)"/ZIPPER_\1/' | tr a-z A-Z
	array others env.i; } | names >variables
preprocessed "$ZIP_TOP_SRCDIR/launch/base/environ.c" >environ.i
sed -n 's/^\.It Ev ZIPPER_/ZIPPER_/p' "$ZIP_TOP_SRCDIR/man/libzipper.7" | names >documented
is "there are the table's own variables, those of its macros, and those that it does not have" \
	"$(grep -cxE 'ZIPPER_(JOB|VERBS_PARTITION|VERBS_BUFFER_BYTES|VERBS_ENDPOINTS|KEY)' variables)" 5
ok "libzipper(7) has every environment variable, and no others" diff -u variables documented
# for starting by hand, and the library's own; zmpirun takes them away
printf 'ZIPPER_%s\n' HOSTFILE KEY KEY_FILE MAP MEMBER MUNGE MUNGE_USER RAILS >by_hand
sed -n '/^const char \*zenviron_names(void)$/,/^}/p' environ.i | names | cat - by_hand | LC_ALL=C sort >handed_on
ok "zmpirun hands on every variable that is not for starting by hand" diff -u variables handed_on
array ours environ.i | names >taken
ok "... and takes the others away" bash -c '[ -s taken ] && grep -vxFf taken by_hand | (! grep .)'
done_testing
