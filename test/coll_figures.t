#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/coll-figures in its smallest size: every figure is made from a measurement, and again from the CSV files alone, whatever the
# times are.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
figures() { limited 300 bash "$ZIP_TOP_SRCDIR/bench/coll-figures" "$@" </dev/null >out 2>err; }
# fails STATUS LINE COMMAND...: the command must fail with this status, and print only this line
fails() {
	local name=$1 status=$2 line=$3
	shift 3
	"$@"
	is "$name" "$? $(cat err)" "$status $line" || diag_file out
}

# --- wrong arguments
figures
is "no folder: the usage" "$? $(grep -c '^usage: coll-figures FOLDER' err) $(wc -l <err)" "2 1 1"
fails "no such size" 2 "coll-figures: there is no SIZE huge: test, quick, normal or full" figures made huge
ONLY="paper prose" fails "no such part" 2 "coll-figures: ONLY: there is no prose: thesis, paper or hybrids" figures made test
mkdir -p tools/bench
for tool in bash dirname sed mkdir; do ln -s "$(command -v $tool)" tools/; done
without_gnuplot() { env PATH="$TAP_TMP/tools" "$BASH" "$ZIP_TOP_SRCDIR/bench/coll-figures" "$@" >out 2>err; }
fails "without gnuplot" 1 "coll-figures: gnuplot is not there, which draws the figures" without_gnuplot made test
if ! command -v gnuplot >/dev/null; then
	skip "figures" "no gnuplot"
	done_testing
	exit
fi
ZIP_TOP_BUILDDIR=$TAP_TMP/tools fails "not built" 1 "coll-figures: $TAP_TMP/tools/zipbench/zipbench is not built" figures made test
MPIEXEC=no-mpiexec fails "without mpiexec" 1 "coll-figures: no-mpiexec is not there" figures made test
ok "nothing was made of that" [ -z "$(ls made)" ]

# --- all figures
export KEYS="zip-tcp zip-shm mmpi-shm native" # native MPI over several hosts hangs now and then
lab=hybrids-lab
reason=$("$ZIP_TOP_SRCDIR/test/lab" with 1 true 2>&1) || { lab='' && diag "$reason"; }
names="$(printf 'thesis-%d ' {8..17})$(printf 'rdmc-%d ' 4 6 8 9 10 11)hybrids${lab:+ $lab}"
number=$(wc -w <<<"$names")
figures made test
is "all figures: status, and no complaints" "$? $(wc -l <err)" "0 0" || { diag_file out; diag_file err 60; }
made() { # prints the figures that are there, in both forms
	local name
	for name in $names; do
		grep -q '^</svg>' "made/$name.svg" && [ "$(head -c 4 "made/$name.png" | tail -c 3)" = PNG ] && echo "$name"
	done
}
is "all figures are there" "$(made | paste -sd' ')" "$names"
is "and no others" "$(find made -name '*.svg' -o -name '*.png' | wc -l)" $((2 * number))
is "it says how many" "$(tail -n1 out)" "$TAP_TMP/made: $number figures"

# --- scripts that enter a laboratory themselves leave no folder behind
if [ -n "$lab" ]; then
	mkdir scratch
	for call in "coll PARTS=1+1 KEYS=zip-tcp" "between PARTS=1+1+1 KEYS=chain WHERE=tcp"; do
		# shellcheck disable=SC2086 # words
		limited 60 env TMPDIR="$TAP_TMP/scratch" ROUNDS=1 OPTIONS="--ops bcast --sizes 8 --seconds 0" ${call#* } \
			bash "$ZIP_TOP_SRCDIR/bench/${call%% *}" >out 2>err </dev/null
		is "bench/${call%% *} in a laboratory: it leaves nothing" "$? $(grep -c '^bcast 8' out) $(ls -A scratch)" "0 1 " || diag_file err
	done
fi

# --- the lines behind the figures
head_coll=world,op,bytes,ranks,repeats,q1_us,median_us,q3_us,mean_us
head_cast=figure,line,nodes,block_bytes,bytes,senders,messages,q1_us,median_us,q3_us,mbytes_per_s,cpu_percent,percentile
head_cast=$head_cast,sites,placement,crossed_blocks,crossed_bytes
# table FILE HEAD KEYS: the file must have that head, and as many fields in all lines. Prints the number of lines for each value
# of the fields with the numbers KEYS
table() {
	awk -F, -v head="$2" -v keys="$3" '
	BEGIN { n = split(keys, key, " "); fields = split(head, ignored, ",") }
	NR == 1 { if ($0 != head) print "head " $0; next }
	NF != fields { print "line " $0 }
	{ k = ""; for (i = 1; i <= n; i++) k = k (i > 1 ? " " : "") $key[i]; if (!count[k]++) order[++values] = k }
	END { for (i = 1; i <= values; i++) print order[i] ": " count[order[i]] }' "made/$1"
}
worlds="zip-shm mmpi-shm native"
[ -z "$lab" ] || worlds="zip-tcp $worlds"
is "coll.csv: each operation in each world, of two and three ranks, in two sizes" "$(table coll.csv $head_coll "1 4")" \
	"$(for n in 2 3; do for w in $worlds; do echo "$w $n: 10"; done; done)"
is "coll.csv: operations and sizes" "$(table coll.csv $head_coll "2 3" | cut -d: -f1 | sort | paste -sd,)" \
	"$(for op in allreduce alltoall alltoallv bcast reduce; do echo $op 4; echo $op 4096; done | paste -sd,)"
is "cast.csv: points of each figure" "$(table cast.csv $head_cast 1 | paste -sd,)" "4: 24,6: 10,8: 8,9: 300,10: 27,11: 27"
is "bcast.csv: groups of figure 4, over tcp and in shared memory" "$(table bcast.csv $head_coll "1 2 4" | paste -sd,)" \
	"$(for n in 2 3 4; do for w in tcp shm; do echo "$w bcast $n: 1"; done; done | paste -sd,)"
for file in hybrids $lab; do
	is "$file.csv: algorithms, placements, and how often the hybrids cross" \
		"$(table $file.csv $head_cast "2 15" | grep -c ': 3$') $(awk -F, '/hybrid-/ && $16 == 16 && $17 == $5' made/$file.csv | wc -l)" "12 12" ||
		diag_file made/$file.csv
	is "$file: all algorithms are drawn, four times each" \
		"$(for a in sequential tree chain pipeline hybrid-chain hybrid-pipeline; do grep -c ">$a<" made/$file.svg; done | paste -sd,)" 4,4,4,4,4,4
done

# --- once more, from the files alone
sums() { (cd made && cksum ./*."$1"); }
csv=$(sums csv) svg=$(sums svg)
rm made/*.svg made/*.png made/*.gnuplot
DRAW_ONLY=1 ZIP_TOP_BUILDDIR=$TAP_TMP/none MPIEXEC=none figures made test
is "DRAW_ONLY: status, and no complaints" "$? $(wc -l <err)" "0 0" || diag_file err
is "DRAW_ONLY: all figures are there" "$(made | paste -sd' ')" "$names"
is "DRAW_ONLY: nothing was measured, and all is drawn as before" "$(sums csv; sums svg)" "$csv
$svg"
mv made/cast.csv .
ONLY=paper DRAW_ONLY=1 fails "DRAW_ONLY without measurements" 1 "coll-figures: $TAP_TMP/made/cast.csv is not there: nothing was measured" \
	figures made test
done_testing
