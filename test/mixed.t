#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Worlds of several releases of Debian: this machine is one cluster, and the roots of "make check-debian13" and "make check-sid" are the
# others, each with an MPICH, a C library and a build of this tree of its own (lib/mixed.sh). The programs are compiled here. All
# collectives, and some of everything else, do what they do natively. Not in make check, as it needs a root.
for library in "${ZIP_ROOTS:-/none}"/*/src/build/libzip/.libs/libzipper.so; do
	[ -e "$library" ] || continue
	release=${library#"$ZIP_ROOTS"/}
	ZIP_MIXED="$ZIP_MIXED${ZIP_MIXED:+ }${release%%/*}"
done
export ZIP_MIXED
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -n "$ZIP_MIXED" ] || skip_all "no root with a build of this tree (make check-debian13)"
cd "$TAP_TMP" || exit 99
layout=2+2
[ "$ZIP_MIXED" = "${ZIP_MIXED#* }" ] || layout=1+1+2
diag "clusters: this machine, $ZIP_MIXED"

# --- the worlds are mixed
compile "$ZIP_TOP_SRCDIR/test/lib/version.c" version || bail_out "version.c does not compile"
merged 60 "$layout" ./version >version.out 2>err
is "a world of this machine and $ZIP_MIXED: status" "$?" 0 || diag_file err
diag_file version.out
number=$(echo $((layout + 0))) # ranks
is "... all ranks are there" "$(grep -c '^rank [0-9]*: MPICH Version' version.out)" "$number"
ok "... with different versions of MPICH" [ "$(sed 's/^rank [0-9]*: //' version.out | sort -u | wc -l)" -gt 1 ]

# --- what programs print is what they print natively
twin() { # PROGRAM
	local layouts=$layout
	sed 20q "$1" | grep -q 'twin:.*ranks=' && layouts=
	ZIP_LAYOUTS=$layouts "$ZIP_TOP_SRCDIR/test/twin" "$1" >tap
	tap_of mixed tap $?
}
for program in "$ZIP_TOP_SRCDIR"/test/programs/coll/*.c; do
	case ${program##*/} in coll_args.c | coll_errors.c)
		# MPICH 5 returns MPI_SUCCESS after a handler of the program, and asserts that a datatype is not null, in a native job, too
		! grep -q 'MPICH Version: *5' version.out || { skip "mixed: ${program##*/}" "what MPICH 5 says of errors differs"; continue; }
		;;
	esac
	twin "$program"
done
for name in p2p/modes.c p2p/wildcards.c p2p/persistent.c type/datatypes.c comm/communicators.c comm/comm_create.c comm/split_type.c \
	comm/comm_idups.c comm/topo_graph.c inter/inter_create.c inter/inter_p2p.c inter/inter_coll.c win/win_fence.c \
	win/win_atomic.c file/file_basic.c start/sessions.c fortran/fortran08.f90; do
	twin "$ZIP_TOP_SRCDIR/test/programs/$name"
done

# --- mpiexec of one version does not understand the proxies of another one
done_testing
