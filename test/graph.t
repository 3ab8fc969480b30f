#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipmap show and zipmap convert: their output for known graphs, every format into every other, pictures, and
# refusals. The formats themselves: unit/common/commgraph, unit/mapper/pattern; recording: record.t.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
CORPUS=$ZIP_TOP_SRCDIR/test/corpus/graph
cd "$TAP_TMP" || exit 99

# --- conversion
cat >in.mtx <<'END'
%%MatrixMarket matrix coordinate integer general
4 4 7
1 2 9007199254740993
1 1 5
2 1 1
2 3 10
3 4 7
4 1 1
1 4 2
END
ok "Matrix Market to zipmap.graph" "$ZIPMAP" convert in.mtx a.zg
is "... is told by its name" "$(head -c 4 a.zg | od -An -tx1)" " 89 5a 47 52"
ok "... and back" "$ZIPMAP" convert a.zg b.mtx
is "... the same, in order, and exact above 2^53" "$(sed 1,3d b.mtx | tr '\n' ';')" \
	"1 1 5;1 2 9007199254740993;1 4 2;2 1 1;2 3 10;3 4 7;4 1 1;"
ok "to METIS" "$ZIPMAP" convert a.zg c.metis
# (9007199254740993 + 1) / 2; (2 + 1) / 2, rounded up; 10 / 2; 7 / 2, rounded up; nothing to itself
is "... has the mean of both directions" "$(tr '\n' ';' <c.metis)" \
	"4 4 001;2 4503599627370497 4 2;1 4503599627370497 3 5;2 5 4 4;1 2 3 4;"
ok "METIS to zipmap.graph, by --to" "$ZIPMAP" convert --to zipmap c.metis d.metis
ok "... and back" "$ZIPMAP" convert d.metis e.metis
ok "... is the same" cmp c.metis e.metis
is "a phase and classes" "$("$ZIPMAP" show --edges --phase 1 --class collective,p2p "$CORPUS/ring" | head -n 2 | tr '\n' ';')" \
	"0 1 800 2;0 15 800 2;"
"$ZIPMAP" convert --class put "$CORPUS/ring" none.mtx
is "a class that it does not have" "$(tail -n 1 none.mtx)" "16 16 0"

# --- the report
cat >tree.mtx <<'END'
%%MatrixMarket matrix coordinate integer general
5 5 6
1 2 1000
2 1 3000
1 3 500
3 1 5000
4 1 2047
5 1 100
END
"$ZIPMAP" show --top 2 tree.mtx >report
is "totals" "$(head -n 1 report)" "tree.mtx: 5 ranks, 6 pairs, 11647 bytes in 6 messages"
matches "... of the phase" report '^1 +p2p +6 +11647 +6 +1941 +0$'
is "the heaviest pairs first" "$(sed -n '/^from/,/^$/p' report | sed '1d;$d' | awk '{ print $1, $2, $3, $4 }' | tr '\n' ';')" \
	"2 0 42.93% 5000;1 0 25.76% 3000;"
matches "ranks that a rank sends to" report 'sends to +1 +1 +1 +1\.2 +1 +2$'
matches "TDC" report 'TDC\) +1 +1 +1 +1\.6 +1 +4$'
matches "... without short messages" report '>= 2048 bytes +0 +0 +0 +0\.4 +1 +1$'
"$ZIPMAP" show --cutoff 2000 tree.mtx >report
matches "... and another limit" report '>= 2000 bytes +0 +1 +1 +1\.2 +1 +3$'
matches "bytes exchanged" report 'exchanges +100 +2047 +4000 +4658\.8 +5500 +11647$'
"$ZIPMAP" show "$CORPUS/phases" >report
matches "calls by kind and size" report '^1 +allreduce +3 +480 +60$'
"$ZIPMAP" show --messages --top 1 "$CORPUS/phases" >by-messages
"$ZIPMAP" show --top 1 "$CORPUS/phases" >by-bytes
ok "heaviest by messages are others than by bytes" bash -c '! diff by-messages by-bytes'

# --- times, and what would cross
"$ZIPMAP" show "$CORPUS/timed" >report
row() { grep -E "^ *$1 " report | tr -s ' '; }
is "times: the run" "$(row run)" "run 4 0 us 1.5 s 2 s 100.00 %"
is "... in MPI" "$(row 'in MPI')" "in MPI 35 0 us 243 ms 600 ms 16.17 %"
is "... the kind with the most first" "$(sed -n '/^in MPI/,/^waiting/p' report | awk '{ print $1 }' | tr '\n' ' ')" \
	"in allreduce wait waiting "
is "... by kind" "$(row allreduce | tail -n 1)" " allreduce 30 0 us 225 ms 600 ms 15.00 %"
is "... waiting for clusters" "$(row 'waiting for clusters')" "waiting for clusters 3 0 us 0.25 us 1 us 0.00 %"
matches "... in a sentence" report '^16\.2 % of the run is in MPI: from 0\.0 % on rank 3 to 30\.0 % on rank 2$'
"$ZIPMAP" show --phase 7 "$CORPUS/timed" >report
is "... of a phase" "$(row run) $(row wait)" "run 1 0 us 0.00225 us 0.009 us 100.00 % "
"$ZIPMAP" show "$CORPUS/ring" >report
matches "a ring in two halves: two pairs each way" report \
	'^in 2 clusters \(ranks 0-7 and 8-15\), 12\.5 % of the bytes and 12\.5 % of the messages would cross: 3200 B, 8 messages$'
"$ZIPMAP" show --clusters 4+4+8 "$CORPUS/ring" >report
matches "... in other parts" report '^in 3 clusters \(ranks 0-3, 4-7 and 8-15\), 18\.8 % of the bytes'
cat >both.mtx <<'END'
%%MatrixMarket matrix coordinate integer general
6 6 5
1 4 1000000
4 1 1000000
2 5 500000
5 2 100
5 1 2000000
END
for clusters in 2 3; do
	"$ZIPMAP" show --clusters $clusters both.mtx | sed -n 's/^that would take \(.*\) on rank .* messages, and \(.*\) in a zipper$/\1, \2/p' >shown
	"$ZIPMAP" map --clusters $clusters -S block -g both.mtx | sed -n 's/^time: \(.*\) for the messages of a rank, \(.*\) for the .*/\1, \2/p' >mapped
	ok "$clusters clusters: the times of zipmap map" cmp shown mapped || diag_file shown mapped
	ok "... are some" test -s shown
done
"$ZIPMAP" show --clusters 4+4+8 "$CORPUS/ring" >report
matches "... with a hint" report '^zipmap --clusters 4\+4\+8 -g .*/ring looks for clusters with less between them$'

# --- recorded bytes in the model: every byte of the ring crosses two links of a crossbar
"$ZIPMAP" model -n 'crossbar node:16' -j "graph:$CORPUS/ring" -p LIN --csv model.csv >model.out 2>&1
matches "the model takes recorded graphs" model.out '^# 32 messages'

# --- pictures
if command -v gnuplot >/dev/null; then
	"$ZIPMAP" show --matrix ring --title "it's a ring" "$CORPUS/ring" >report
	ok "a picture: SVG" grep -q '</svg>' ring.svg
	"$ZIPMAP" show --matrix named "$CORPUS/timed" >report
	ok "... with the name of the program" grep -q "'timed'" named.gnuplot
	is "... PNG" "$(head -c 4 ring.png | od -An -tx1)" " 89 50 4e 47"
	is "... a box for each pair" "$(sed -n '/^\$cells/,/^EOD/p' ring.gnuplot | sed '1d;$d' | wc -l)" 32
	"$ZIPMAP" show --matrix blocks --bins 3 "$CORPUS/ring" >report
	is "... in blocks" "$(sed -n '/^\$cells/,/^EOD/p' blocks.gnuplot | sed '1d;$d' | awk '{ s += $7 } END { print NR, s }')" \
		"9 25600"
	printf '%%%%MatrixMarket matrix coordinate integer general\n3000000 3000000 1\n2999999 1 7\n' >many.mtx
	"$ZIPMAP" show --matrix many many.mtx >report
	is "... of many ranks: where a block of 11719 is" "$(sed -n '/^\$cells/,/^EOD/p' many.gnuplot | sed '1d;$d')" \
		"0 2988345 -0.5 11718.5 2988344.5 2999999.5 7"
	ok "... of nothing" "$ZIPMAP" show --matrix nothing none.mtx
	"$ZIPMAP" show --matrix nowhere/x "$CORPUS/ring" >report 2>err
	is "... to a place that is not there" "$? $(cat err)" "1 zipmap show: nowhere/x.gnuplot: No such file or directory"
	for picture in gnuplot svg png; do
		ln -s /dev/full "full-$picture.$picture"
		"$ZIPMAP" show --matrix "full-$picture" "$CORPUS/ring" >report 2>err
		is "... to a full disk: $picture" "$? $(cat err)" "1 zipmap show: full-$picture.$picture: cannot be written"
		ok "... and it does not stay" test ! -L "full-$picture.$picture"
	done
else
	skip "pictures" "no gnuplot"
fi

# --- refusals
refused() { # NAME STATUS PATTERN ARGUMENT...
	local name=$1 status=$2 pattern=$3 rc
	shift 3
	"$ZIPMAP" "$@" >out 2>err
	rc=$?
	if [ $rc = "$status" ] && [ "$(wc -l <err)" = 1 ] && grep -Eq "$pattern" err; then
		pass "$name"
	else
		fail "$name"
		diag "status $rc, wanted $status and: $pattern"
		diag_file err
	fi
}
head -c 100 "$CORPUS/ring" >cut.zg
refused "a file that is cut off" 1 '^zipmap show: cut.zg: byte [0-9]+, rank 4: the file ends too early$' show cut.zg
refused "another version" 1 'version 3 of the format' show "$CORPUS/other-version"
refused "a file that was transferred as text" 1 'as text$' convert "$CORPUS/as-text" x
refused "a file that is not there" 1 'nothing: No such file' show nothing
printf '%%%%MatrixMarket matrix coordinate integer general\n2 3 0\n' >bad.mtx
refused "a matrix that is not square" 1 '^zipmap convert: bad.mtx:2: ' convert bad.mtx x
unreadable() { # NAME LINE REASON TEXT
	printf "$4" >odd
	refused "$1" 1 "^zipmap convert: odd:$2: $3" convert odd x
}
unreadable "METIS: an edge at one of its ends only" 3 'vertex 2 has an edge to 1, but 1 has none back' '3 2\n3\n1\n1 2\n'
unreadable "METIS: the same, behind a comment" 2 'vertex 1 has an edge to 2, but 2 has none back' '3 1\n2 3\n%%\n\n\n'
unreadable "METIS: an edge with two weights" 3 'the edge between vertices 1 and 2 has another weight at each end' \
	'2 1 1\n2 5\n1 6\n'
unreadable "METIS: a zero byte" 2 'a zero byte' '2 1 1\n2 5\0 3\n1 5\n'
MATRIX='%%%%MatrixMarket matrix coordinate'
unreadable "Matrix Market: a kind of numbers that there is not" 1 'only real, integer' "$MATRIX reel general\\n2 2 1\\n2 1 3\\n"
unreadable "Matrix Market: a weight that would be none" 3 'a weight that is less than half' \
	"$MATRIX real general\\n2 2 1\\n2 1 0.25\\n"
echo 'int main(void) { return 0; }' >heat.c
refused "a file that is no graph" 1 '^zipmap show: heat.c:1: this is no communication graph: no recording .a program writes one with ZIPPER_PROFILE=FILE' show heat.c
refused "phases of a file without any" 1 'has phase 1 and point-to-point only' show --phase 2 tree.mtx
refused "a class that there is not" 2 '"p3p" is no class' show --class p2p,p3p tree.mtx
refused "a phase that was not recorded" 1 '^zipmap show: .*phases: there is no phase 77 in it$' show --phase 77 "$CORPUS/phases"
refused "a phase that is no number" 2 '"one" is no phase' show --phase one tree.mtx
refused "a format that there is not" 2 '"xml" is no format' convert --to xml tree.mtx x
refused "an option that there is not" 2 '^zipmap show: there is no option --nonsense; try zipmap show --help$' show --nonsense tree.mtx
refused "clusters that are too many" 1 '^zipmap show: --clusters 6: the graph has 5 ranks$' show --clusters 6 tree.mtx
refused "clusters that are none" 1 "^zipmap show: --clusters: 'two' is neither" show --clusters two tree.mtx
refused "no bins" 2 'not a number from 1 to' show --bins 0 --matrix x tree.mtx
ok "none of them has left a file" test ! -e x
ln -s /dev/full full
refused "a device that takes nothing" 1 'full: cannot be written: No space left' convert --to metis c.metis full
ok "... stays" test -c full
cp c.metis kept.metis
is "a file for which there is no room" "$(ulimit -f 0; trap '' XFSZ; "$ZIPMAP" convert c.metis kept.metis 2>&1)" \
	"zipmap convert: kept.metis: cannot be written: File too large"
ok "... has what it had" cmp c.metis kept.metis
ok "... and nothing is left beside it" bash -c '! ls kept.metis.*'

done_testing
