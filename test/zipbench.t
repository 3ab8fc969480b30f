#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipbench without a Verbs device: the form of its results, whatever the numbers are.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
quick="--sizes 1,12,4K --seconds 0 --least 3 --warm-up 1"

# --- coll: lines are "world,op,bytes,ranks,repeats,q1,median,q3,mean"
# coll_is NAME WORLD LINES: of the file out, without and with faults
coll_is() {
	is "$1" "$(awk -F, -v world="$2" 'NR == 1 { head = $0 == "world,op,bytes,ranks,repeats,q1_us,median_us,q3_us,mean_us"; next }
		NF == 9 && $1 == world && $4 == 4 && $5 == 3 && $6 > 0 && $6 <= $7 && $7 <= $8 && $9 <= $8 { good++; next }
		{ bad++ } END { print head + 0, good + 0, bad + 0 }' out)" "1 $3 0" || diag_file out 60
}
# shellcheck disable=SC2086 # words
{
	merged 120 2+2 "$ZIPBENCH" coll $quick >out 2>err
	is "coll merged: status" $? 0 || diag_file err
	coll_is "coll merged: 16 operations in three sizes, and the barrier" mpi 49
	native 120 4 "$ZIPBENCH" coll $quick --wait yield --world one --csv file >out 2>err
	is "coll natively: status" $? 0 || diag_file err
	is "coll natively: standard output is empty" "$(wc -c <out)" 0
	mv file out
	coll_is "coll natively, waiting by tests, to a file" one 49
	native 120 5 "$ZIPBENCH" coll $quick --mmpi 2 >out 2>err
	is "coll over MMPI: status" $? 0 || diag_file err
	coll_is "coll over MMPI: its five operations, and the barrier" mmpi 16
	native 120 4 "$ZIPBENCH" coll $quick --ops alltoall,bcast --memory 4K >out 2>err
	is "coll: a size that needs too much memory is left out" "$(grep -c '4096 bytes is left out' err) $(wc -l <out)" "2 5"
}
for bad in "--ops nothing" "--sizes x" "--min 5 --max 4" "--wait spin" "--factor 1" "--nothing" "more"; do
	# shellcheck disable=SC2086 # words
	native 60 1 "$ZIPBENCH" coll $bad >out 2>err
	is "coll $bad: status and one line" "$? $(wc -l <err)" "2 1" || diag_file err
done
native 60 3 "$ZIPBENCH" coll --mmpi 1 --ops scan >out 2>err
is "coll: an operation that MMPI lacks" "$? $(cat err)" "2 zipbench coll: scan: is not in MMPI; try zipbench coll --help"

for bad in "--nodes 2" "--count x" "--scale 5000" "--figure 4,5" "--transport none"; do
	# shellcheck disable=SC2086 # words
	limited 60 "$ZIPBENCH" cast $bad >out 2>err
	is "cast $bad: one line, which names the option, and no results" "$(wc -l <err) $(grep -c -e "${bad%% *}" err) $(wc -c <out)" "1 1 0" ||
		diag_file err
done
limited 60 "$ZIPBENCH" cast --nodes 2 2>err
matches "cast: the range of a number" err '^zipbench cast: --nodes: "2" is not a number from 3 to '

# --- cast: lines of 17 fields; quartiles are in order, and all lines of the figures are there
limited 120 "$ZIPBENCH" cast --scale 4096 --nodes 3 --count 1 --writes 3 --transport shm --csv cast.csv >out 2>err
is "cast: status" "$? $(wc -c <out)" "0 0" || diag_file err
is "cast: the lines are well-formed" "$(awk -F, 'NR == 1 { head = NF; next } $1 == 9 { ok9 += $9 > 0 && $13 >= 1; next }
	NF == 17 && $8 > 0 && $8 <= $9 && $9 <= $10 && $11 > 0 && $7 == $6 { good++; next } { bad++ }
	END { print head, good, bad + 0, ok9 }' cast.csv)" "17 80 0 300" || diag_file cast.csv
wanted="4 chain,4 pipeline,4 sequential,4 tree,6 1 MiB,6 128 KiB,6 16 KiB,8 pipeline,8 sequential,9 pipeline,9 sequential,9 tree"
wanted="$wanted,10 all send,10 half send,10 one sends,11 hybrid,11 interrupts,11 polling"
wanted="$wanted,hybrids sequential,hybrids tree,hybrids chain,hybrids pipeline,hybrids hybrid-chain,hybrids hybrid-pipeline"
is "cast: the lines of the figures" "$(awk -F, 'NR > 1 && !seen[$1 " " $2]++ { print $1 " " $2 }' cast.csv | sort -n -k1,1 -s |
	awk '{ print $1 "\t" $0 }' | sort -k1,1n -k2 | cut -f2 | paste -sd,)" \
	"$(echo "$wanted" | tr ',' '\n' | awk '{ print $1 "\t" $0 }' | sort -k1,1n -k2 | cut -f2 | paste -sd,)"
# Sixteen blocks to two members in each of two sites: the number of blocks across, by placement and algorithm.
limited 120 "$ZIPBENCH" cast --figure hybrids --scale 4096 --nodes 4 --sites 2 --count 2 --at 127.0.0.1,127.0.0.2 >sites.csv 2>err
is "cast: hybrids: status" $? 0 || diag_file err
is "cast: blocks and bytes between sites" "$(awk -F, '$3 == 4 && $14 == 2 && $17 == 65536 * $16 && $2 != "pipeline" { print $15 " " $2 " " $16 }' \
	sites.csv | paste -sd,)" "$(printf '%s,' in\ order\ {sequential\ 32,tree\ 32,chain\ 16,hybrid-chain\ 16,hybrid-pipeline\ 16} \
	in\ turns\ {sequential\ 32,tree\ 16,chain\ 48,hybrid-chain\ 16,hybrid-pipeline\ 16} | sed 's/,$//')" || diag_file sites.csv
is "cast: of a pipeline more than of hybrids" "$(awk -F, '$3 == 4 && $2 == "pipeline" && $16 > 16 && $16 <= 48' sites.csv | wc -l)" 2
# The same through zipperd, which also counts words that are not blocks.
export ZIPPER_USER=me ZIPPER_KEY_FILE=$TAP_TMP/keys
(umask 077 && echo "me $(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')" >keys)
background "$ZIPPERD" --die-with-parent -o listen=a=tcp:127.0.0.1:0 -o listen=b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
	-o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" -o log_level=info --ready-fd 3 3>ready 2>zipperd.log
zipper=$!
wait_for 60 grep -q '^$' ready || bail_out "zipperd did not start: $(cat zipperd.log)"
limited 120 "$ZIPBENCH" cast --figure hybrids --scale 4096 --nodes 4 --sites 2 --count 2 --at 127.0.0.1,127.0.0.2 \
	--zipper "$(grep "=" ready | paste -sd,)" >bridged.csv 2>err
is "cast: by zipperd: status" $? 0 || diag_file err
crossing() { awk -F, '$2 != "pipeline" { print $2, $3, $15, $16, $17 }' "$1"; }
is "cast: through zipperd, the same bytes cross" "$(crossing bridged.csv)" "$(crossing sites.csv)" || diag_file bridged.csv
kill "$zipper" && wait "$zipper"
ok "cast: by zipperd: it has crossed there" test "$(grep -o '[ab]>[ab] [0-9]* bytes' zipperd.log | awk '{ n += $2 } END { print n }')" -gt \
	"$(awk -F, 'NR > 1 { n += 2 * $17 } END { print n }' bridged.csv)" || diag_file zipperd.log
for bad in "--figure 5" "--figure 4,5" "--transport udp" "--at 127.0.0.1" "--at ,@x" "--at 127.0.0.1@$TAP_TMP/none,127.0.0.2" \
	"--at 127.0.0.1,127.0.0.2@/dev/null" "--at 127.0.0.1,127.0.0.2 --transport shm" "--zipper a=tcp:127.0.0.1:9,b=tcp:127.0.0.1:9" \
	"--at 127.0.0.1,127.0.0.2 --zipper a=tcp:127.0.0.1:9" "--figure hybrids --at 127.0.0.1,127.0.0.2 --zipper a=tcp:127.0.0.1:9,b=tcp:127.0.0.1:9" \
	"--at 127.0.0.1,127.0.0.2 --zipper a=tcp:127.0.0.1:9,tcp:127.0.0.1:9"; do
	# shellcheck disable=SC2086 # words
	limited 60 "$ZIPBENCH" cast $bad >out 2>err
	is "cast $bad: status and one line" "$? $(wc -l <err)" "1 1" || diag_file err
done

# --- tune: libzipper reads the table and follows it. With this margin a candidate wins, whatever the times are.
tune() { limited 120 "$ZIPBENCH" tune --seconds 0 --rounds 1 --sizes 64,64K --margin -1e9 "$@" </dev/null >out 2>err; }
tune --layouts 3+3 --try "alltoall aggregate=0; alltoall leaders=2; reduce segment=32K; bcast segment=32K; all alone=1" --output table
is "tune: status" "$? $(cat err)" "0 " || diag_file err
is "tune: its rules" "$(sed -n 's/ *\t*#.*//; /^bridge/s/=[0-9]*/=N/g; /./p' table | sort | paste -sd,)" \
	"alltoall clusters>=2 clusters<3 bytes>=64 bytes<65536 aggregate=0,alltoall clusters>=2 clusters<3 bytes>=64 bytes<65536 leaders=2,$(:
	)bcast clusters>=2 clusters<3 bytes>=65536 segment=32K,bridge latency_ns=N bandwidth=N,gather clusters>=2 clusters<3 alone=1,$(:
	)reduce clusters>=2 clusters<3 bytes>=65536 segment=32K,scatter clusters>=2 clusters<3 alone=1" || diag_file table
tune --sizes 64 --layouts 1+1,2+2,2+2+2 --try "alltoall aggregate=0; reduce_scatter inside=native; all inside=gather; all inside=auto"
is "tune: layouts" "$(sed -n 's/ *\t*#.*//; /^alltoall/p' out | paste -sd,)" \
	"alltoall clusters>=2 clusters<3 members_max<2 bytes>=64 aggregate=0,alltoall clusters>=2 clusters<3 members_max>=2 bytes>=64 aggregate=0,alltoall clusters>=3 clusters<4 bytes>=64 aggregate=0"
is "tune: the whole vector of reduce_scatter" "$(sed -n 's/ *\t*#.*//; s/^reduce_scatter.*\(bytes.*\)/\1/p' out | paste -sd,)" \
	"bytes>=256 inside=native,bytes>=384 inside=native"
is "tune: reductions that are gathered anyway are not compared with themselves, nor those of single ranks" "$(grep -c "inside=gather\|inside=auto" out)" 0
tune --layouts 2+2,1+1 --try "alltoall aggregate=1K"
matches "tune: layouts in disorder" err '^zipbench tune: --layouts: 1\+1: .*more clusters'
crossed() { # OPERATION VARIABLE: messages from one cluster to the other in 120 of them between 3+3 ranks
	limited 60 env "$2" "$ZMPIRUN" --stats --clusters 3+3 "$ZIPBENCH" coll --ops "$1" --sizes 64 --least 119 \
		--repeats 119 --warm-up 1 2>&1 </dev/null | sed -n 's/.*c1 -> c2: \([0-9]*\) messages.*/\1/p'
}
with=$(crossed alltoall ZIPPER_TUNING="$TAP_TMP/table") without=$(crossed alltoall ZIPPER_TUNE="alltoall leaders=1")
# nine pairs of ranks, or leaders
ok "tune: libzipper follows the table ($with instead of $without messages)" [ "${with:-0}" -ge 1080 -a "${without:-9999}" -lt 800 ]
with=$(crossed scatter ZIPPER_TUNING="$TAP_TMP/table") without=$(crossed scatter ZIPPER_TUNE="scatter alone=0")
# to three ranks, or their leader
ok "tune: and scatters by it, too ($with instead of $without messages)" [ "${with:-0}" -ge $((${without:-9999} + 240)) ]

# --- tune on a machine with known times: 100 us and a time for the bytes, unless times.list says otherwise
cat >machine <<'MACHINE'
#!/bin/bash
# machine LAYOUT PROGRAM --ops LIST --sizes LIST --seconds S: like zipbench coll in a job; its arguments go to the file log
rule=${ZIPPER_TUNE##*; }
echo "$1|$rule|$4|$6" >>log
awk -F'|' -v rule="$rule" -v ops="$4" -v sizes="$6" '
function bytes(s) { return s * (s ~ /K$/ ? 1024 : s ~ /M$/ ? 1048576 : 1) }
{ for (k = 1; k <= 4; k++) times[NR, k] = $k }
END {
	n = split(ops, op, ","); m = split(sizes, size, ",")
	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++) {
			us = 100 + bytes(size[j]) / 1000
			for (t = 1; t <= NR; t++)
				if (rule != "" && rule ~ times[t, 1] && op[i] ~ "^(" times[t, 2] ")$" && bytes(size[j]) ~ "^(" times[t, 3] ")$")
					us *= times[t, 4]
			printf "mpi,%s,%d,4,5,%f,%f,%f,%f\n", op[i], bytes(size[j]), us, us, us, us
		}
}' times.list
MACHINE
chmod +x machine
# known NAME RULES OPTION...: the table must have these rules
known() {
	local name=$1 rules=$2
	shift 2
	: >log
	limited 120 "$ZIPBENCH" tune --seconds 0 --rounds 3 --layouts 2+2 "$@" -- ./machine {} </dev/null >out 2>err
	is "tune: $name" "$? $(sed 's/[ \t]*#.*//; /^$/d; /^bridge/d; s/ clusters>=2 clusters<3//' out | paste -sd,)" "0 $rules" ||
		{ diag_file out; diag_file err; }
}
: >times.list
known "all take as long" ""
is "tune: and says so" "$(tail -n 1 out)" "# nothing was faster than the defaults"
is "tune: by default all collectives are tried, with every setting but segments, which is for longer messages" \
	"$(cut -d'|' -f3 log | tr , '\n' | sort -u | paste -sd' ') $(sed 's/^[^|]*|\([^|]*\).*/\1/; s/^[a-z]* //; s/=.*//' log | sort -u | paste -sd' ')" \
	"allgather allreduce alltoall bcast gather gatherv pingpong reduce reduce_scatter scan scatter scatterv  aggregate alone depth exchange inside leaders segment together window"
echo '.|.*|.*|0.9' >times.list
known "where a setting changes nothing it is not measured" "" --try "bcast patience=5; bcast segment=512K; bcast between=chain; all multicast=yes" --sizes 1K,64K
is "tune: nor anything else" "$(grep -vc pingpong log)" 0
known "nor where there is but one other cluster" "" --try "allreduce exchange=doubling; allreduce exchange=all" --sizes 1K,1M
is "tune: for doubling" "$(grep -vc pingpong log)" 0
known "passing on from cluster to cluster, with more than two" \
	"bcast clusters>=3 clusters<4 bytes>=65536 between=chain,allgather clusters>=3 clusters<4 bytes>=393216 between=chain,bcast clusters>=4 clusters<5 bytes>=65536 between=chain,allreduce clusters>=4 clusters<5 bytes>=65536 between=chain,allgather clusters>=4 clusters<5 bytes>=262144 between=chain" \
	--layouts 2+2,2+2+2,1+1+1+1 --try "all between=chain" --sizes 64K,1M
is "tune: in allreduce only slices" "$(grep '|all' log | sort -u | paste -sd' ')" \
	"1+1+1+1|all between=chain|bcast,allreduce,allgather|65536,1048576 2+2+2|all between=chain|bcast,allgather|65536,1048576"
known "several on their way count where they are passed on" "" --layouts 2+2+2 --try "bcast depth=4; allgather depth=4" --sizes 1M
is "tune: there alone" "$(grep -vc pingpong log)" 0
known "vectors may be gathered or not, where ranks may be on several hosts" \
	"reduce bytes>=1024 inside=native,allreduce bytes>=1024 bytes<131072 inside=gather" \
	--try "reduce inside=native; allreduce inside=gather" --sizes 1K,128K
known "sizes too long for shared memory are native" "allreduce bytes>=65536 inside=gather" --layouts 32+32 \
	--try "allreduce inside=gather; allreduce inside=native" --sizes 64K,1M
known "segments count where there are more of them" "bcast bytes>=67108864 segments=256" --try "bcast segments=256" --sizes 1M,64M
is "tune: there alone" "$(grep -v pingpong log | sort -u | paste -sd' ')" "2+2|bcast segments=256|bcast|67108864 2+2||bcast|67108864"
known "one rule for all sizes" "gather alone=1K,scatter alone=1K" --try "all alone=1K" --sizes 512,4K,64K
is "tune: the measured operations" "$(grep -v pingpong log | sort -u | paste -sd' ')" \
	"2+2|all alone=1K|gather,gatherv,scatter,scatterv|4096 2+2||gather,gatherv,scatter,scatterv|4096"
known "where sizes travel with the data" "scatter together=64K" --try "scatter together=64K" --sizes 512,4K
is "tune: is in scatterv alone" "$(grep -v pingpong log | sort -u | paste -sd' ')" "2+2|scatter together=64K|scatterv|4096 2+2||scatterv|4096"
printf '%s\n' 'alone=4K|gather|8192|0.9' 'alone=4K|scatter|8192|0.5' 'alone=4K|scatterv|8192|1.2' 'alone=1K|gather|2048|0.5' >times.list
known "of several the one that gains most, and none that is slower anywhere" "gather alone=1K" \
	--try "all alone=4K; all alone=1K" --sizes 2K,8K
printf '%s\n' 'alone=4K|gather|8192|0.9' 'alone=1K|gather|2048|0.97' 'segment=512K|bcast|1048576|0.97' >times.list
known "a candidate that is hardly faster is left out" "gather alone=4K" --try "all alone=4K; all alone=1K; bcast segment=512K" --sizes 2K,8K,1M
echo '.|.*|.*|0.5' >times.list
limited 120 "$ZIPBENCH" tune --seconds 0 --rounds 1 --layouts 2+2 --sizes 1K,8K,1M,64M -- ./machine {} </dev/null >out 2>err
for setting in segment segments leaders inside depth exchange aggregate window alone together; do
	grep -q "^[a-z].* $setting=" out || echo "$setting"
done >missing
is "tune: with all settings" "$(paste -sd' ' missing)" ""
ZIPPER_TUNING=$TAP_TMP/out merged 60 1+1 "$ZIPBENCH" coll --ops barrier --least 1 --repeats 1 >out2 2>err
is "tune: and libzipper reads it" $? 0 || diag_file err
tune --try "bcast sgement=1K"
is "tune: a candidate that is none" "$? $(cat err)" \
	"1 zipbench tune: --try: 'bcast sgement=1K': no collective that can be tuned has this setting"
tune --try "all leaders=2" -- false
is "tune: a command that fails" "$? $(wc -l <err)" "1 1" || diag_file err
printf '#ZIP cluster a\nlocalhost:2\n' >alone
for command in "$MPIEXEC -n 2" "$ZMPIRUN -f alone -n 2"; do
	# shellcheck disable=SC2086 # words
	tune --layouts 1+1 -- $command
	is "tune: ${command##*/} merges nothing: status, and no table" "$? $(grep -vc '^#' out)" "1 0" || diag_file out
	matches "tune: ${command##*/} merges nothing: why" err '^zipbench coll: --merged: .*libzipper.so'
done
cp table kept
tune --output table -- false
is "tune: the table that was there is kept then" "$? $(cmp table kept && ls table*)" "1 table"
: >log
ln -s table link
chmod 600 table
tune --layouts 2+2 --output link -- ./machine {}
is "tune: and replaced by a whole one, also behind a link" "$? $(tail -n 1 link) $(find link -type l) $(cmp -s table kept; echo $?)" \
	"0 $(tail -n 1 table) link 1" || diag_file err
is "tune: with the permissions of the old one" "$(stat -c %a table)" 600
mkfifo pipe
cat pipe >piped &
tune --layouts 2+2 --output pipe -- ./machine {}
rc=$?
wait $!
is "tune: into a pipe" "$rc $(grep -c '^bridge' piped) $(find pipe -type p)" "0 1 pipe" || diag_file err

# --- figures: from the lines above
if command -v gnuplot >/dev/null; then
	awk -F, '$1 == 4 { print $5 "\t" $2 "\t" $3 "\t" $9 }' cast.csv |
		"$ZIP_TOP_SRCDIR/bench/draw" "$TAP_TMP/it's" "algorithms, 100 %" nodes us >out 2>err
	is "draw: status, and nothing to complain of" "$? $(wc -c <err)" "0 0" || diag_file err
	is "draw: all lines are in the figure" "$(for a in sequential tree chain pipeline; do grep -c ">$a<" "it's.svg"; done | paste -sd,)" 1,1,1,1
	is "draw: a picture" "$(head -c 8 "it's.png" | od -An -c | tr -d ' ')" '211PNG\r\n032\n'
	widths() { grep -oE '\blw [0-9.]+ pt' "$1.gnuplot" | sort -u | paste -sd' '; }
	printf 'p\t%s\t1\t2\n' a b c | "$ZIP_TOP_SRCDIR/bench/draw" "$TAP_TMP/same" title x y >out 2>&1
	is "draw: lines that coincide are of different width, others are not" "$(widths same), $(widths "it's")" \
		"lw 2.0 pt lw 2.5 pt lw 3.0 pt, lw 2.0 pt" || diag_file out
	"$ZIP_TOP_SRCDIR/bench/draw" none title x y </dev/null >out 2>err
	is "draw: nothing is an error" "$? $(cat err)" "1 draw: nothing to draw for none"
else
	skip "draw" "no gnuplot"
fi

for bad in "" "nothing"; do
	# shellcheck disable=SC2086
	limited 60 "$ZIPBENCH" $bad >out 2>err
	is "zipbench '$bad': status" $? 2
done
done_testing
