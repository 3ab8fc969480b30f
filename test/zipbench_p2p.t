#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipbench lat, bw, bibw, mbw_mr and overlap: the columns, whatever the numbers are; data that are wrong; options that are.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
PROGRAM=$ZIP_TOP_BUILDDIR/zipbench/zipbench-p2p
# zipbench BENCHMARK OPTION...: native ranks yield while they wait
zipbench() { LD_PRELOAD=${PRELOADED:+$PRELOADED:}$YIELD limited 120 "$ZIPBENCH" "$@" </dev/null >out 2>err; }
# columns NUMBER...: each line but those that begin with # has the next size, then so many numbers, all of them above 0 if they may be
columns() {
	local n=$1
	shift
	awk -v n="$n" -v sizes="$*" 'BEGIN { wanted = split(sizes, size, " ") }
		/^#/ { i = 0; next }
		{ good = NF == n + 1 && $1 == size[++i]; for (k = 2; k <= NF; k++) good = good && $k ~ /^[0-9]+\.[0-9][0-9]$/; bad += !good; lines++ }
		END { print lines + 0, bad + 0, i - wanted }' out
}
apart="direct is left out: clusters on this machine share no fabric"

# --- one column for each way
for bench in "lat us" "bw MB/s" "bibw MB/s"; do
	name=${bench% *}
	zipbench "$name" --sizes 4:32 --iterations 3 --warmup 1 --window 5 --validate --csv "$name.csv"
	is "$name: status, and the way that cannot be had" "$? $(cat err)" "0 zipbench $name: $apart" || diag_file err
	is "$name: the head" "$(head -n 2 out | tr -s ' ')" "# zipbench $name, ${bench#* }, ways: native bridged
# Size native bridged" || diag_file out
	is "$name: a line for each size, with a number for each way" "$(columns 2 4 8 16 32)" "4 0 0" || diag_file out
	is "$name: CSV has the same" "$(awk -F, -v b="$name" -v q="${bench#* }" 'NR > 1 && NF == 5 && $1 == b && $4 == q { v[$3] = v[$3] " " $5 }
		END { for (s = 4; s <= 32; s *= 2) print s v[s] }' "$name.csv")" "$(sed 1,2d out | tr -s ' ')" || diag_file "$name.csv"
	is "$name: its head" "$(head -n 1 "$name.csv") $(wc -l <"$name.csv")" "benchmark,way,bytes,quantity,value 9"
done

# --- a table for each way
zipbench mbw_mr --sizes 8,4K --iterations 3 --window 5 --pairs 3 --validate --csv mr.csv
is "mbw_mr: status" "$? $(cat err)" "0 zipbench mbw_mr: $apart" || diag_file err
is "mbw_mr: the heads" "$(grep '^#' out | tr -s ' ' | paste -sd'|')" \
	"# zipbench mbw_mr, way: native, pairs: 3|# Size MB/s Messages/s|# zipbench mbw_mr, way: bridged, pairs: 3|# Size MB/s Messages/s" ||
	diag_file out
is "mbw_mr: the columns" "$(columns 2 8 4096)" "4 0 0" || diag_file out
is "mbw_mr: the rate times the size is the bandwidth" "$(awk '!/^#/ && $1 == 4096 { d = $3 * $1 / 1e6 / $2; good += d > 0.9 && d < 1.1 } END { print good }' out)" 2 ||
	diag_file out
is "mbw_mr: CSV" "$(sed '1d; s/,[^,]*$//' mr.csv | sort | paste -sd' ')" \
	"$(for w in bridged native; do for s in 4096 8; do for q in MB/s Messages/s; do echo "mbw_mr,$w,$s,$q"; done; done; done | sort | paste -sd' ')" ||
	diag_file mr.csv
zipbench overlap --sizes 8,64K --iterations 3 --ways bridged,native --validate
is "overlap: status" "$? $(cat err)" "0 " || diag_file err
is "overlap: the heads, in the order of --ways" "$(grep '^#' out | tr -s ' ' | paste -sd'|')" \
	"# zipbench overlap, way: bridged|# Size Overall(us) Compute(us) Pure Comm.(us) Overlap(%)|$(:
	)# zipbench overlap, way: native|# Size Overall(us) Compute(us) Pure Comm.(us) Overlap(%)" || diag_file out
is "overlap: the columns" "$(columns 4 8 65536)" "4 0 0" || diag_file out
is "overlap: a share" "$(awk '!/^#/ && $5 >= 0 && $5 <= 100 { n++ } END { print n }' out)" 4 || diag_file out
zipbench lat --clusters 2+2 --sizes 8 --iterations 3 --ways bridged --validate
is "lat: the ranks between the two have nothing to do" "$? $(columns 1 8)" "0 1 0 0" || diag_file err

# --- ways that are added: the program gets its options, and the median of the rounds counts
cat >fake <<'FAKE'
#!/bin/bash
# fake OFFSET PROGRAM lat --sizes LIST ...
echo "$*" >>log
echo "something else"
n=$(wc -l <log)
for size in ${5//,/ }; do echo "$size $((size + $1 + n % 3)).5"; done
FAKE
chmod +x fake
zipbench lat --ways one,two --add "one=./fake 100" --add 'two=./fake 1000' --sizes 1K,4 --rounds 6 --validate --warmup 0
is "add: status" "$? $(sort -u err)" "0 something else" || diag_file err
is "add: the results" "$(sed 1d out | tr -s ' ' | paste -sd'|')" "# Size one two|1024 1125.50 2025.50|4 105.50 1005.50" || diag_file out
is "add: what the program gets" "$(sort -u log | sed "s|$PROGRAM|PROGRAM|" | paste -sd'|')" \
	"100 PROGRAM lat --sizes 1024,4 --window 64 --pairs 1 --warmup 0 --validate|1000 PROGRAM lat --sizes 1024,4 --window 64 --pairs 1 --warmup 0 --validate"
zipbench lat --ways one,none --add "one=./fake 100" --add "none=sh -c true" --sizes 4
is "add: a way without results" "$? $(tail -n 1 err) $(sed -n 2p out | tr -s ' ')" "1 zipbench lat: none: sh has measured nothing # Size one" || diag_file err
zipbench lat --ways gone --add "gone=./nothing" --sizes 4
is "add: a program that is not there" "$? $(cat err) $(wc -c <out)" "1 zipbench lat: gone: status 127: ./nothing: No such file or directory 0"

# --- wrong data
if "$MPICC" -shared -fPIC -o wrongbyte.so "$ZIP_TOP_SRCDIR/test/lib/wrongbyte.c"; then
	PRELOADED=$TAP_TMP/wrongbyte.so
	export WRONG_BYTES=64
	for way in native bridged; do
		zipbench lat --ways $way --sizes 32,64 --iterations 2 --warmup 1 --validate
		is "$way: one wrong byte in each message of 64 bytes is found" "$? $(cat err)" \
			"1 zipbench lat: $way: status 1: zipbench-p2p: lat of 64 bytes: 6 bytes that arrived are wrong" || diag_file err
	done
	zipbench lat --ways native --sizes 32,64 --iterations 2
	is "without --validate it is not" "$? $(columns 1 32 64)" "0 2 0 0" || diag_file err
	PRELOADED=
	unset WRONG_BYTES
else
	skip "wrong data" "wrongbyte.c cannot be compiled"
fi

# --- command lines
refuses() { # LINE BENCHMARK OPTION...
	local line=$1
	shift
	zipbench "$@"
	is "$*: refused" "$? $(wc -c <out) $(cat err)" "2 0 zipbench $1: $line"
}
refuses '--sizes: "x" is not a size from 1 to 1G' lat --sizes x
refuses '--sizes: "0" is not a size from 1 to 1G' lat --sizes 0:8
refuses '--sizes: "2G" is not a size from 1 to 1G' bw --sizes 1,2G
refuses '--sizes: 8 is larger than 4' lat --sizes 8:4
refuses '--sizes: there is no size' lat --sizes ,
refuses '--pairs: lat has one pair; mbw_mr has several' lat --pairs 2
refuses '--ways: there is no way routed; native,bridged,direct, or one of --add' lat --ways native,routed
refuses '--ways: native stands there twice' lat --ways native,native
refuses '--add: "=x" has no name of at most 23 letters before a '"'='" lat --add =x
refuses '--add: "a=" has no command' lat --add a=
refuses '--hosts: there is no hostfile' lat --hosts a,b
refuses '--clusters: there is a hostfile, too' lat -f hosts --clusters 2
refuses 'hosts: No such file or directory' lat -f hosts
printf '#ZIP cluster a\nh1\nh2\n#ZIP cluster b\nh3\n#ZIP zipper z a=tcp:127.0.0.1 b=tcp:127.0.0.1\n' >hosts
refuses '--hosts: "h1" is not two names with a comma between them' lat -f hosts --hosts h1
refuses 'hosts: no cluster has a host h4' lat -f hosts --hosts h1,h4
refuses 'hosts: h1 and h2 are in one cluster' lat -f hosts --hosts h1,h2
zipbench lat --iterations 0
matches "iterations" err '^zipbench lat: --iterations: "0" is not a number from 1 to '
zipbench lat --ways direct
is "no way is left" "$? $(cat err)" "2 zipbench lat: $apart
zipbench lat: --ways: no way is left"
zipbench lat --csv nowhere/file --ways native --sizes 8
is "a file that cannot be written, before anything is measured" "$? $(cat err) $(wc -c <out)" "1 zipbench lat: nowhere/file: No such file or directory 0"
zipbench lat --clusters 1+x --ways bridged --sizes 8
is "clusters that zmpirun refuses: one line" "$? $(wc -l <err) $(wc -c <out)" "1 1 0" || diag_file err
native 60 1 "$PROGRAM" lat >out 2>err
is "the program, alone" "$? $(cat err)" "1 zipbench-p2p: 1 pairs need 2 ranks; there are 1"
native 60 2 "$PROGRAM" latency >out 2>err
is "the program, with a benchmark that there is not" "$? $(cat err)" "2 zipbench-p2p: there is no benchmark latency"

# --- figures
if command -v gnuplot >/dev/null; then
	zipbench bw --ways one,two --add "one=./fake 100" --add 'two=./fake 1000' --sizes 1:64K --plot bw.png
	is "plot: status" "$? $(sort -u err)" "0 something else" || diag_file err
	is "plot: all lines and sizes are in the figure" "$(for text in bytes MB/s one two 1 4K 64K; do grep -c ">$text<" bw.svg; done | paste -sd,)" \
		1,1,1,1,1,1,1 || diag "$(ls)"
	is "plot: a picture" "$(head -c 8 bw.png | od -An -c | tr -d ' ')" '211PNG\r\n032\n'
	zipbench overlap --ways native --sizes 8,64 --iterations 3 --plot four
	is "plot: a panel for each quantity" "$? $(grep -c '>Overall(us)<\|>Compute(us)<\|>Pure Comm.(us)<\|>Overlap(%)<' four.svg)" "0 4" || diag_file err
else
	skip "plot" "no gnuplot"
fi
done_testing
