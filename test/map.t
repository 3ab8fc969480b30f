#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Placement maps: ranks land where the map says, with zmpirun and by hand, and programs do not notice; zippers carry the predicted bytes.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
cd "$TAP_TMP" || exit 99

# --- refused: one line, with the line of the map
printf '0 h1\n1 h2\n1 h2\n' >map
printf '#ZIP cluster a launcher=rsh launcher-exec=%s\nh1:2\n#ZIP cluster b launcher=rsh launcher-exec=%s\nh2:1\n' \
	"$TAP_TMP/rsh" "$TAP_TMP/rsh" >hosts
run "a rank that is there twice" 2 -f hosts --map map true
is "twice: its line" "$(cat err)" "zmpirun: map:3: rank 1 was already placed in line 2"
printf '0 h1\n1-2 h2\n' >map
run "too many for a node" 2 -f hosts --map map true
is "too many: its line" "$(cat err)" "zmpirun: map:2: rank 2 is one too many for node h2, which has 1 slot"
run "another number of ranks" 2 -f hosts -n 4 --map map true
is "number: its line" "$(cat err)" "zmpirun: map has 3 ranks, but -n says 4"

# --- where ranks land (FAKE_HOST is the host that mpiexec asked for)
printf '3 h1\n0-1 h2\n2 h1 a\n4 h2 b\n' >map
run "ranks on their nodes" 0 -f hosts --map map --oversubscribe --no-mpi -l sh -c 'echo $FAKE_HOST $PMI_RANK'
is "nodes and native ranks" "$(sort out | tr '\n' ';')" "[0] h2 0;[1] h2 1;[2] h1 0;[3] h1 1;[4] h2 2;"
printf '1 c1\n0,2 c2\n' >map
run "programs of several sections" 0 --clusters 2 --map map --no-mpi -l -n 1 echo one : -n 2 echo two
is "sections go by the ranks of the world" "$(sort out | tr '\n' ';')" "[0] one;[1] two;[2] two;"
# one rank in each, as Hydra may forget to close the input of a rank that has another beside it
printf '1 c1\n0 c2\n' >map
echo words | limited 30 "$ZMPIRUN" --clusters 2 --map map --no-mpi -l cat >out 2>err
is "standard input goes to rank 0, wherever it is" "$(cat out)" "[0] words"

# --- cores
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first=${cpus%%[-,]*} last=${cpus##*[-,]}
printf '0 c1 - %s\n1 c1 - %s\n2 c2\n' "$last" "$first" >map
run "cores of a map" 0 --clusters 2 --map map --no-mpi -l sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
is "each rank on its core" "$(sort out | tr '\n' ';')" "[0] $last;[1] $first;[2] $cpus;"
printf '0 h1 - %s\n1 h1 - %s\n2 h2 - %s\n' "$last" "$first" "$cpus" >map
run "cores of different nodes" 0 -f hosts --map map --no-mpi -l sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
is "each node has its own list" "$(sort out | tr '\n' ';')" "[0] $last;[1] $first;[2] $cpus;"

# --- a map of zipmap --clusters
printf '4 2 001\n3 9\n4 9\n1 9\n2 9\n' >chords
ok "zipmap makes a map without a hostfile" "$ZIP_TOP_BUILDDIR/mapper/zipmap" -q --clusters 2 -g chords -o map
run "zmpirun runs it" 0 --clusters 2 --map map --no-mpi -l sh -c 'echo $PMI_SIZE'
is "... in two clusters" "$(sort out | tr '\n' ';')" "[0] 2;[1] 2;[2] 2;[3] 2;"

# --- programs do not notice
printf '0,3 c1\n1 zipper c1\n2 c2\n' >map # c1's native ranks 0, 1, 2 are 0, 3, 1
for name in hello collectives communicators wildcards; do
	compile "$(program "$name.c")" "$name" >cc 2>&1 || { fail "$name compiles"; diag_file cc; continue; }
	native 60 4 "./$name" 2>native.err | LC_ALL=C sort >native.out
	limited 60 "$ZMPIRUN" --clusters 2 --map map "./$name" 2>err </dev/null | LC_ALL=C sort >out
	ok "$name prints the same when its ranks are mixed" cmp native.out out || diag_file err
done

# --- cores that the map reserves for zipperd
printf '#!/bin/sh\necho $$ >%s/pid\nexec %s "$@"\n' "$TAP_TMP" "$ZIPPERD" >bound
chmod +x bound
printf '#ZIP zipper: cores %s are kept for zipperd, near NUMA node 0\n0 c1\n1 c2\n' "$last" >map
run "a map that keeps cores" 0 --clusters 2 --map map --zipperd "$TAP_TMP/bound" sh -c \
	"sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/\$(cat $TAP_TMP/pid)/status; exec ./hello >/dev/null"
is "zmpirun's zipperd runs there" "$(sort -u out)" "$last"
printf '#ZIP zipper: cores 65535 are kept for zipperd\n0 c1\n1 c2\n' >map
run "a map that keeps cores that are not there" 1 --clusters 2 --map map ./hello
is "... and says so" "$(cat err)" \
	"zmpirun: zipperd did not start: cpus = 65535: not all of these cores are there, or allowed"

# --- two mpiexec by hand
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
echo "$(id -un) $key" >keys
chmod 600 keys
background "$ZIPPERD" --die-with-parent -o "listen=a,b=shm:$TAP_TMP/z.sock" -o key_file="$TAP_TMP/keys" 2>zipperd.log
ok "zipperd listens" wait_for 10 test -S "$TAP_TMP/z.sock"
by_hand() { # PART MAP
	limited 40 env ZIPPER_JOB=by-hand ZIPPER_PARTS=a,b ZIPPER_PART="$1" ZIPPER_ZIPPERD="shm:$TAP_TMP/z.sock" \
		ZIPPER_KEY_FILE="$TAP_TMP/keys" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" ZIPPER_MAP="$2" \
		"$MPIEXEC" -hosts localhost -prepend-rank -n 2 -genv LD_PRELOAD "$PRELOAD_LIST" ./hello >"out.$1" 2>"err.$1" </dev/null
}
printf '0,3 localhost a\n1-2 localhost b\n' >map
by_hand b map &
other=$!
by_hand a map
is "two mpiexec by hand with a map" "$? $(grep hello out.a | sort | tr '\n' ';')" \
	"0 [0] hello from rank 0 of 4;[1] hello from rank 3 of 4;" || diag_file err.a
wait $other
is "the other one" "$? $(grep hello out.b | sort | tr '\n' ';')" \
	"0 [0] hello from rank 1 of 4;[1] hello from rank 2 of 4;" || diag_file err.b
printf '0,1,3 localhost a\n2 localhost b\n' >map
by_hand b map &
other=$!
by_hand a map
matches "a map that does not fit is refused" err.a 'map has 3 ranks for part a on localhost, but 2 run there'
wait $other
by_hand a "$TAP_TMP/nomap"
matches "a map that is not there: whose setting that is" err.a "MPI_Init: ZIPPER_MAP: $TAP_TMP/nomap: No such file or directory"
by_hand b '' &
other=$!
by_hand a ''
is "an empty ZIPPER_MAP is none" "$? $(grep hello out.a | sort | tr '\n' ';')" \
	"0 [0] hello from rank 0 of 4;[1] hello from rank 1 of 4;" || diag_file err.a
wait $other

# --- two zippers: each carries what zipmap predicts for it
ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/pattern.c" pattern >cc 2>&1 || diag_file cc
printf '#ZIP cluster a launcher=rsh launcher-exec=%s\nh1:2\n#ZIP cluster b launcher=rsh launcher-exec=%s\nh2:2\n' \
	"$TAP_TMP/rsh" "$TAP_TMP/rsh" >hosts
printf '#ZIP zipper %s a=shm b=shm\n' z1 z2 >>hosts
for bytes in 8 100000; do
	rm -f graph
	ZIPPER_PROFILE=$TAP_TMP/graph native 60 4 env LD_PRELOAD="$PRELOAD_LIST" ./pattern all $bytes 50 >out 2>native.err
	"$ZIPMAP" -f hosts -g graph -S block -o map -q || diag_file native.err
	for zipper in z1 z2; do
		is "all to all, $bytes bytes, over $zipper: predicted" "$(sed -n "s/^#ZIP rail $zipper \(.*\) bytes.*/\1;/p" map | tr -d '\n')" \
			"a>b $((100 * bytes));b>a $((100 * bytes));"
	done
	run "... it runs" 0 -f hosts --map map --stats ./pattern all $bytes 50
	for zipper in z1 z2; do
		sed -n "/over zipper $zipper:/,/over zipper z2:\|natively/s/^zmpirun:  * \(.\) -> \(.\): .* \([0-9]*\) bytes/\1>\2 \3/p" err >carried
		# small messages of a pair take its zipper; large ones, at every moment, the less busy one
		tolerance=$((bytes == 8 ? 0 : 30 * bytes))
		ok "... over $zipper: $(paste -sd, carried)" awk -v expected=$((100 * bytes)) -v most=$tolerance \
			'{ off = $2 - expected; if (off > most || off < -most) exit 1 } END { if (NR != 2) exit 1 }' carried || diag_file err
	done
done
done_testing
