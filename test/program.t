#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that cannot run in a merged world are refused by name before anything is started.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello >cc 2>&1 || { diag_file cc; bail_out "hello.c does not compile"; }
cc() { "${CC:-gcc}" "$@" >cc.log 2>&1; }
echo 'int main(void) { return 0; }' >none.c
echo 'int ompi_mpi_comm_world; int MPI_Init(void) { return 0; }' >mpi.c
echo 'int MPI_Init(void); int main(void) { return MPI_Init(); }' >uses.c
abi=': libzipper.so is for MPICH and libraries with its binary interface (libmpich.so.12, libmpi.so.12)'

# an mpiexec and a zipperd that tell that they were started
printf '#!/bin/sh\ntouch started\nexec %s "$@"\n' "$(command -v "$MPIEXEC")" >mpiexec
printf '#!/bin/sh\ntouch started\nexec %s "$@"\n' "$ZIPPERD" >zipperd
chmod +x mpiexec zipperd
export ZMPIRUN_MPIEXEC=$PWD/mpiexec ZMPIRUN_ZIPPERD=$PWD/zipperd
# refused NAME LINE OPTION...: the job is refused with that line alone, and nothing is started
refused() {
	local name=$1 line=$2
	shift 2
	rm -f started
	run "$name" 2 "$@"
	is "$name: its line" "$(cat err)" "zmpirun: $line"
	ok "$name: nothing was started" [ ! -e started ]
}

run "a program that may run" 0 --clusters 2 ./hello
ok "starts are seen here" [ -e started ]
refused "a program that is not there" "./nosuch: No such file or directory" --clusters 2 ./nosuch
refused "... without MPI" "./nosuch: No such file or directory" --clusters 2 --no-mpi ./nosuch
refused "... on one cluster" "./nosuch: No such file or directory" --clusters 1 ./nosuch
refused "... and not in PATH" "hello: no such program in PATH" --clusters 2 hello
refused "the second program" "./nosuch: No such file or directory" --clusters 2 -n 1 ./hello : -n 1 ./nosuch
refused "a folder" "./ is a directory" --clusters 2 ./
cp hello plain
chmod a-x plain
refused "a file that is not executable" "./plain is not executable" --clusters 2 ./plain
printf '#!/nowhere/python\n' >script
chmod +x script
refused "a script without its interpreter" "./script: its interpreter /nowhere/python: No such file or directory" --clusters 2 ./script
refused "a working directory that is not there" "-wdir nowhere: No such file or directory" --clusters 2 -wdir nowhere ./hello

if cc -static -o static none.c; then
	refused "a static program" "./static is statically linked: libzipper.so cannot be loaded into it (link it dynamically)" \
		--clusters 2 ./static
	run "static, without MPI" 0 --clusters 2 --no-mpi ./static
	run "static, on one cluster" 0 --clusters 1 -n 2 ./static
else
	skip "a static program" "gcc cannot link one"
fi
if cc -static-pie -o static-pie none.c; then
	refused "a static program that can be moved" \
		"./static-pie is statically linked: libzipper.so cannot be loaded into it (link it dynamically)" --clusters 2 ./static-pie
else
	skip "a static program that can be moved" "gcc cannot link one"
fi
cp hello setuid
chmod u+s setuid
refused "a setuid program" "./setuid is setuid: the dynamic linker does not load libzipper.so into it" --clusters 2 ./setuid

# libraries with the names of others
linked() { # SONAME SOURCE: makes ./linked
	cc -shared -fPIC -Wl,-soname,"$1" -o "$1" "$2" && cc -o linked uses.c "./$1" -Wl,-rpath,"$PWD"
}
linked libmpi.so.40 mpi.c || diag_file cc.log
[ -e "$ZIP_TOP_BUILDDIR/libzip/libzipper-ompi.la" ] || # else ompi.t runs such programs
	refused "Open MPI" "./linked uses Open MPI (libmpi.so.40)$abi" --clusters 2 ./linked
linked libmpi.so.20 mpi.c || diag_file cc.log
refused "an old Open MPI" "./linked uses Open MPI (libmpi.so.20)$abi" --clusters 2 ./linked
run "an old Open MPI on one cluster" 0 --clusters 1 ./linked
linked libmpi_abi.so.0 mpi.c || diag_file cc.log
[ -e "$ZIP_TOP_BUILDDIR/libzip/libzipper-abi.la" ] || # else standard.t runs such programs
	refused "the standard ABI" "./linked uses the MPI standard ABI (libmpi_abi.so.0)$abi" --clusters 2 ./linked
if command -v mpicc.openmpi >found; then
	mpicc.openmpi -o openmpi "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" >cc.log 2>&1 || diag_file cc.log
	[ -e "$ZIP_TOP_BUILDDIR/libzip/libzipper-ompi.la" ] ||
		refused "a program of Open MPI's mpicc" "./openmpi uses Open MPI (libmpi.so.40)$abi" --clusters 2 ./openmpi
else
	skip "a program of Open MPI's mpicc" "there is none"
fi
# only the rank itself sees what a shell starts
if [ -x openmpi ]; then
	run "Open MPI behind a shell" 1 --clusters 2 sh -c 'exec ./openmpi'
	# some releases say which they are: "Open MPI v6.0.0rc2"
	is "behind a shell: the ranks say what it is" "$(grep ^libzipper err | sed -E 's/Open MPI v[^ ]+/Open MPI/' | sort -u)" "libzipper: ./openmpi uses Open MPI \
(libmpi.so.40): libzipper needs MPICH or a library of its ABI (libmpich.so.12, libmpi.so.12)"
	is "behind a shell: no rank says more" "$(cat out)" ""
fi

# --- what passes
for wrapper in "sh -c ./hello" "env A=1 ./hello" "$(sed -n 's/.*program interpreter: \(.*\)]/\1/p' <(readelf -l hello 2>cc.log)) ./hello"; do
	# shellcheck disable=SC2086
	run "$wrapper" 0 --clusters 2 $wrapper
	is "$wrapper: one world" "$(grep -c 'rank [01]: token 20' out)" 2
done
printf 'exec ./hello\n' >for-sh
chmod +x for-sh
run "a script for sh" 0 --clusters 2 ./for-sh

# A sanitizer's runtime must come first; a tool of the user comes between it and libzipper.so.
echo 'int tool;' >tool.c
cc -shared -fPIC -o tool.so tool.c
export ASAN_OPTIONS=detect_leaks=0
sanitized() { # NAME COMPILER OPTION...
	local name=$1 compiler=$2
	shift 2
	if [ -n "$RUNTIME" ]; then
		skip "$name" "zmpirun and libzipper have another sanitizer"
		return
	fi
	if ! MPICH_CC=$compiler "$MPICC" "$@" "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" -o sanitized >cc.log 2>&1; then
		skip "$name" "it does not compile"
		return
	fi
	run "$name" 0 --clusters 2 ./sanitized
	is "$name: one world" "$(grep -c 'rank [01]: token 20' out)" 2 || diag_file err
	run "$name, and a tool" 0 --clusters 2 -n 1 -genv LD_PRELOAD "$PWD/tool.so" ./hello : -n 1 ./sanitized
	is "$name, and a tool: one world" "$(grep -c 'rank [01]: token 20' out)" 2 || diag_file err
}
sanitized "AddressSanitizer of gcc" gcc -fsanitize=address
sanitized "UBSan of gcc" gcc -fsanitize=undefined
sanitized "AddressSanitizer of clang" clang -fsanitize=address -shared-libsan \
	-Wl,-rpath,"$(dirname "$(clang -print-file-name=libclang_rt.asan-$(uname -m).so 2>/dev/null)")"
# hosts elsewhere: these have the file perhaps
hosts tcp:127.0.0.1 >hosts
rm -f started
run "a program that is not here" 255 -f hosts --no-mpi ./nosuch
ok "it is sought on the hosts" [ -e started ]
is_gone "nothing is left"
done_testing
