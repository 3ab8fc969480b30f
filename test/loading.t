#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However a program comes by MPI, it is in one world: it loads the library itself, a library of it does, or looks functions up by
# handle. What cannot be in one world is refused by name: namespaces, functions that libzipper does not know, another MPI.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
SRC=$ZIP_TOP_SRCDIR/test/loading
MPI_LIBRARY=$(readlink -f "$("$MPICC" -print-file-name=libmpich.so)")
[ -r "$MPI_LIBRARY" ] || skip_all "no libmpich.so"
NAME=$(readelf -d "$MPI_LIBRARY" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
cd "$TAP_TMP" || exit 99

make_program() { "${CC:-gcc}" -O1 -g -Wall "$@"; } # without MPI
make_library() { "$MPICC" -O1 -g -Wall -shared -fPIC -DMPI_LIBRARY="\"$NAME\"" "$@"; }
FLAGS=$("$MPICC" -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
{
	mkdir -p lib
	make_program "$SRC/load.c" -o load -ldl
	make_program "$SRC/load.c" -o load-lib -ldl -Wl,-rpath,"$TAP_TMP/lib" -Wl,--enable-new-dtags
	make_library "$SRC/plugin.c" -o lib/lazy.so -Wl,-z,lazy -Wl,-z,relro
	make_library "$SRC/plugin.c" -o lib/now.so -Wl,-z,now -Wl,-z,relro -Wl,--hash-style=sysv
	make_library "$SRC/eager.c" -o eager.so
	# shellcheck disable=SC2086
	make_program -shared -fPIC $FLAGS -DMPI_LIBRARY="\"$NAME\"" "$SRC/late.c" -o late.so -ldl
	# shellcheck disable=SC2086
	make_program -shared -fPIC $FLAGS "$SRC/tool.c" -o tool.so -ldl
	compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello
} >cc.out 2>&1 || { diag_file cc.out; bail_out "the programs do not compile"; }

PLUGIN='rank 0: of 4 4 4 4, sum 6
rank 1: of 4 4 4 4, sum 6
rank 2: of 4 4 4 4, sum 6
rank 3: of 4 4 4 4, sum 6'
PLAIN=$(echo "$PLUGIN" | sed 's/ 4 4 4,/,/')
SHORT=$(echo "$PLAIN" | sed 's/,.*//')
world() { merged 30 2+2 "$@" 2>err | LC_ALL=C sort; }
# natively NAME OUTPUT PROGRAM...: does the program work as one native process? Else the test of this name is skipped: Debian 13's MPICH has
# UCX, which crashes where a library is not loaded as others are.
natively() {
	local name=$1 output=$2
	shift 2
	[ "$(native 30 1 "$@" 2>native.err)" = "$output" ] || { skip "$name" "it does not work natively"; diag_file native.err 3; false; }
}

# --- from Python
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
ln -s "$MPI_LIBRARY" lib/libmpi.so.12
if [ -n "$RUNTIME" ]; then
	skip "ctypes" "Python itself leaks under the sanitizer"
else
	for library in "$NAME" libmpich.so "$MPI_LIBRARY" libmpi.so.12; do
		is "ctypes: ${library##*/}" "$(LD_LIBRARY_PATH=$TAP_TMP/lib world "$PYTHON" "$SRC/by_ctypes.py" "$library")" "$PLAIN"
	done
	natively "ctypes with RTLD_DEEPBIND" "rank 0: of 1, sum 0" "$PYTHON" "$SRC/by_ctypes.py" "$NAME" deep &&
		is "ctypes with RTLD_DEEPBIND" "$(world "$PYTHON" "$SRC/by_ctypes.py" "$NAME" deep)" "$PLAIN"
fi

# --- a library that the program loads
for mode in lazy-local now-global lazy-deep now-deep now-deep-global; do
	[ -n "$RUNTIME" ] && [[ $mode = *deep* ]] && { skip "$mode" "the sanitizer refuses RTLD_DEEPBIND"; continue; }
	for library in lazy now; do
		is "a library bound $library, loaded $mode" "$(world ./load "$TAP_TMP/lib/$library.so" $mode)" "$PLUGIN"
		diag_file err
	done
done
if [ -n "$RUNTIME" ]; then
	skip "the caller's DT_RUNPATH counts" "the sanitizer is the caller of dlopen"
else
	is "the caller's DT_RUNPATH counts" "$(world ./load-lib lazy.so lazy)" "$PLUGIN"
fi
is "a library that loads MPI itself" "$(world ./load "$TAP_TMP/late.so" now)" "$SHORT"
if [ -n "$RUNTIME" ]; then
	skip "with RTLD_DEEPBIND" "the sanitizer refuses it"
else
	is "... with RTLD_DEEPBIND, too" "$(world ./load-lib now.so now-deep)" "$PLUGIN"
	is "... in the program's own folder" "$(world ./load "\$ORIGIN/lib/lazy.so" lazy-deep)" "$PLUGIN"
	is "a name that is not found" "$(world ./load now.so now-deep | sort -u)" \
		"cannot load: now.so: cannot open shared object file: No such file or directory"
	is "a library that loads MPI itself, and has libc's dlsym" "$(world ./load "$TAP_TMP/late.so" now-deep)" "$SHORT"
fi
is "a library that calls MPI_Init when it is loaded" "$(world ./load "$TAP_TMP/eager.so" now)" "$SHORT"
if [ -z "$RUNTIME" ]; then
	is "... past libzipper, is refused" "$(world ./load "$TAP_TMP/eager.so" now-deep)" ""
	matches "... with the reason" err '^libzipper: .*/eager.so: MPI was initialised while .* RTLD_DEEPBIND'
fi
if [ -n "$MPIFC" ] && "$MPIFC" -shared -fPIC "$SRC/plugin90.f90" -o plugin90.so >cc.out 2>&1; then
	is "a library in Fortran" "$(world ./load "$TAP_TMP/plugin90.so" now)" "$PLAIN"
	[ -n "$RUNTIME" ] || is "... with RTLD_DEEPBIND" "$(world ./load "$TAP_TMP/plugin90.so" now-deep)" "$PLAIN"
else
	skip "a library in Fortran" "no MPICH Fortran compiler"
fi
if natively "a namespace of its own is refused" "rank 0: of 1 1 1 1, sum 0" ./load "$TAP_TMP/lib/now.so" now-apart; then
	is "a namespace of its own is refused" "$(world ./load "$TAP_TMP/lib/now.so" now-apart | sort -u)" \
		"cannot load: $LIBZIPPER: undefined symbol: libzipper: $TAP_TMP/lib/now.so brings MPI into a namespace of its own, where it would see this cluster alone: use dlopen instead of dlmopen"
	is "... by one line of each process" "$(grep -c '^libzipper: ' err)" 4
fi

# --- tools that ask for the next definition
is "a tool in front" "$(merged 30 1+1 -genv LD_PRELOAD "${RUNTIME:+$RUNTIME:}$TAP_TMP/tool.so" ./hello 2>&1 | grep tool | sort -u)" \
	"tool: sizes seen, last 2, ranks unseen"
is "a tool behind, which has the native entries" \
	"$(merged 30 1+1 env LD_PRELOAD="$PRELOAD_LIST:$TAP_TMP/tool.so" ./hello 2>&1 | grep 'tool\|token' | sort -u | tr '\n' ' ')" \
	"rank 0: token 20 rank 1: token 20 tool: sizes unseen, last -1, ranks seen "

# --- functions that libzipper does not know
{
	mkdir -p newer
	make_library "$SRC/newer.c" -o newer/libmpi.so.12 -Wl,-soname,libmpi.so.12
	for how in lazy now; do
		"$MPICC" -DPROGRAM -DIMPORT "$SRC/future.c" -o future-$how newer/libmpi.so.12 -Wl,-rpath,"$TAP_TMP/newer" -Wl,-z,$how
	done
	"$MPICC" -DPROGRAM "$SRC/future.c" -o present -Wl,--no-as-needed newer/libmpi.so.12 -Wl,-rpath,"$TAP_TMP/newer" -ldl
	make_library "$SRC/future.c" -o future.so newer/libmpi.so.12 -Wl,-rpath,"$TAP_TMP/newer"
} >cc.out 2>&1 || { diag_file cc.out; bail_out "the programs of a newer MPI do not compile"; }
WHY='calls MPIX_Future_size, which this libzipper does not know: build libzipper with this MPI library'
is "natively the program has the function" "$(native 20 2 ./future-now | sort -u)" "size 2"
for how in lazy now; do
	is "a program with an unknown function, bound $how, is refused" "$(world ./future-$how)" ""
	is "... with the reason" "$(grep '^libzipper' err | sed 's/rank 0 of part c[12]: //' | sort -u)" "libzipper: MPI_Init: ./future-$how $WHY"
done
is "a program without it is not disturbed" "$(world ./present | sort | uniq -c | tr -d '\n')$(cat err)" "      4 size 0"
is "a program that looks for it does not find it" "$(world ./present probe | sort -u | head -n 1)" \
	"probe: $LIBZIPPER: undefined symbol: MPIX_Future_size, ${WHY#*, }"
is "a library that imports it may be loaded" "$(world ./present "$TAP_TMP/future.so" quiet | sort -u)" "size 0"
is "... until it calls it" "$(world ./present "$TAP_TMP/future.so" run)" ""
matches "... with the reason" err "^libzipper: $TAP_TMP/future.so $WHY"
is "without a job of several clusters it may" \
	"$(limited 20 "$MPIEXEC" -n 2 env LD_PRELOAD="$PRELOAD_LIST" ./future-now </dev/null 2>&1 | sort -u)" "size 2"

# --- another MPI
NEEDS='libzipper needs MPICH or a library of its ABI \(libmpich.so.12, libmpi.so.12\)'
while IFS='|' read -r file define says; do
	make_program -shared -fPIC $define "$SRC/other.c" -o "lib/$file" -Wl,-soname,"$file" >cc.out 2>&1 &&
		make_program -DLINKED "$SRC/uses_other.c" -o linked "lib/$file" -Wl,-rpath,"$TAP_TMP/lib" >>cc.out 2>&1 &&
		make_program "$SRC/uses_other.c" -o loads -ldl >>cc.out 2>&1 || diag_file cc.out
	for how in linked "loads $TAP_TMP/lib/$file"; do
		# shellcheck disable=SC2086
		# zmpirun itself would refuse the linked program
		is "$says, ${how%% *}: nothing runs" "$(merged 20 1+1 env ./$how 2>err)" ""
		matches "... and the reason is said" err "^libzipper: ./${how%% *} uses $says \($file\): $NEEDS"
	done
done <<'TABLE'
libmpi.so.40|-DOPEN_MPI|Open MPI
libmpi_abi.so.0||the MPI standard ABI
libpigeon.so.1||Pigeon MPI 3.1
TABLE
make_program -shared -fPIC -DOPEN_MPI "$SRC/other.c" -o lib/libmpi.so.12.old -Wl,-soname,libmpi.so.12
is "an old Open MPI of version 12 is none of MPICH's" "$(merged 20 1+1 ./loads "$TAP_TMP/lib/libmpi.so.12.old" 2>err)" ""
matches "... and the reason is said" err "uses Open MPI \(libmpi.so.12\)"
is "without a job a program may load any MPI" "$(LD_PRELOAD=$PRELOAD_LIST ./loads "$TAP_TMP/lib/libmpi.so.40" 2>&1)" "the other MPI runs"
done_testing
