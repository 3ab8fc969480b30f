#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernels of bench/kernels verify their numbers, have the same results for any number of ranks, merged and over MMPI, and find
# out a message that has arrived wrong. bench/kernel-figures draws figures of them.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
mkdir -p build/bench
for program in kernel kernel_mmpi; do
	# as bench/Makefile.am
	over=()
	[ $program = kernel ] || over=(-D_GNU_SOURCE -DOVER_MMPI "$ZIP_TOP_SRCDIR"/zipbench/mmpi/{mmpi,forwarder,fatal}.c)
	"$MPICC" -O2 -Wno-stringop-overflow -I"$ZIP_TOP_SRCDIR" -o build/bench/$program "$ZIP_TOP_SRCDIR"/bench/kernels/*.c "${over[@]}" -lm >cc 2>&1 ||
		{ diag_file cc; bail_out "$program does not compile"; }
done
kernel=$TAP_TMP/build/bench/kernel

# --- right numbers
native 60 1 "$kernel" all S --result >serial 2>err
is "one rank: status, and no complaints" "$? $(cat err)" "0 "
is "one rank: all kernels are verified" "$(cut -d, -f1-3 serial | paste -sd' ')" "$(echo {ep,mg,cg,is,lu},S,verified)"
same() { # NAME COMMAND...: the same results as with one rank
	local name=$1
	shift
	"$@" >out 2>err
	is "$name: status, and no complaints" "$? $(cat err)" "0 "
	is "$name: the results of one rank" "$(cat out)" "$(cat serial)"
}
same "three ranks" native 60 3 "$kernel" all S --result
same "two clusters, 2+2" merged 60 2+2 "$kernel" all S --result
same "MMPI, 2+2" native 60 5 env MMPI_LOW=2 "$TAP_TMP/build/bench/kernel_mmpi" all S --result
native 60 2 "$kernel" lu S >out 2>err
is "ranks and seconds" "$(sed -E 's/,[0-9]+\.[0-9]{6},/,SECONDS,/' out)" "$(sed -n 's/^lu,S,/lu,S,2,SECONDS,/p' serial)"
native 60 1 "$kernel" lu X >out 2>err
is "no such class: the usage" "$? $(cat out) $(grep -c '^usage: kernel ' err)" "2  1"

# --- a wrong bit in one message of each kernel
"$MPICC" -shared -fPIC -o wrongcall.so "$ZIP_TOP_SRCDIR/test/lib/wrongcall.c" || bail_out "wrongcall.c does not compile"
while read -r name call reason; do
	limited 60 "$MPIEXEC" -genv LD_PRELOAD "$YIELD:$TAP_TMP/wrongcall.so" -genv WRONG_CALL "$call" -n 4 \
		"$kernel" "$name" S --result >out 2>err </dev/null
	is "$name, $call is wrong: status, and what is printed" "$? $(cut -d, -f1-3 out | head -n 1)" "1 $name,S,wrong"
	matches "... a rank says why" err "^kernel $name: rank [0-3]: $reason"
done <<'END'
ep MPI_Allreduce:1 the reduced numbers are not the sums
mg MPI_Recv:6 cycle 1 leaves a residual of
cg MPI_Recv:10 system 1: the error is
is MPI_Alltoallv:3 the [0-9]+ sorted keys are not the 131072 keys
lu MPI_Recv:10 iteration 1 leaves a residual of
END

# --- figures
if ! command -v gnuplot >/dev/null; then
	skip "figures" "no gnuplot"
	done_testing
	exit
fi
for folder in launch libzip zipperd test common; do ln -s "$ZIP_TOP_BUILDDIR/$folder" build/; done
figures() { ZIP_TOP_BUILDDIR=$TAP_TMP/build FIGURES=made limited 120 bash "$ZIP_TOP_SRCDIR/bench/kernel-figures" >out 2>err </dev/null; }
export KERNELS="is lu" CLASSES=S PARTS="1+1 2+1" ROUNDS=1
KERNELS="lu up" figures
is "figures: no such kernel" "$? $(cut -d: -f1-3 err)" "1 kernel-figures: KERNELS: there is no up"
KEYS="zip-shm mmpi-shm native" figures
is "figures: status, and no complaints" "$? $(cat err)" "0 " || diag_file out
is "figures: these two, in two forms" "$(cd made && echo ./*.svg ./*.png)" "./thesis-21.svg ./thesis-22.svg ./thesis-21.png ./thesis-22.png"
is "figures: measurements of each contestant" "$(awk -F, '$6 == "verified"' made/kernels.csv | cut -d, -f1-4 | sort | paste -sd' ')" \
	"$(echo {mmpi-shm,native,zip-shm},{is,lu},S,{2,3})"
is "figures: the curves" "$(grep -oE '>(Zipper|MMPI|MPI, [a-z ]+)<' made/thesis-21.svg | sort -u | paste -sd' ')" ">MMPI< >MPI, one cluster< >Zipper<"
done_testing
