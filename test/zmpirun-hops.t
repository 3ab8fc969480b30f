#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun, and ranks that read the hostfile themselves, if no zipper joins all clusters of a job: the zippers that carry it, the
# settings of ranks and zipperds, and the error if there is no way.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
. "$ZIP_TOP_SRCDIR/test/lib/stats.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
ORDERING=$TAP_TMP/ordering # a program whose ranks all send to each other
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/ordering.c" "$ORDERING" || bail_out "cannot compile ordering.c"
cd "$TAP_TMP" || exit 99

key=$(printf '%064x' 4711)
export ZIPPER_USER=me ZIPPER_KEY=$key
NOBODY=tcp:127.0.0.1:1

# zipperd_on NUMBER FABRIC,FABRIC NEXT...: starts one that runs until the test ends, on shm sockets zNUMBER.FABRIC
zipperd_on() {
	local k=$1 fabric
	printf 'me %s\n' "$key" >"keys$k"
	chmod 600 "keys$k"
	for fabric in ${2//,/ }; do echo "listen = $fabric=shm:$TAP_TMP/z$k.$fabric"; done >"conf$k"
	shift 2
	for fabric; do echo "next = $fabric"; done >>"conf$k"
	printf 'key_file = %s/keys%s\nlog_level = info\nadministrators = me\n' "$TAP_TMP" "$k" >>"conf$k"
	background "$ZIPPERD" -c "conf$k" --ready-fd 3 3>"ready$k" 2>"log$k"
	wait_for 10 grep -q '^$' "ready$k" || { diag_file "log$k"; bail_out "zipperd $k does not start"; }
}
# clusters NAME...: prints the first lines of a hostfile, a host of one rank each
clusters() {
	local c
	for c; do printf "#ZIP cluster %s launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost\n%s1\n" "$c" "$c"; done
}
# at NUMBER FABRIC...: prints the words of a zipper line
at() {
	local k=$1 fabric
	shift
	for fabric; do printf ' %s=shm:%s/z%s.%s' "$fabric" "$TAP_TMP" "$k" "$fabric"; done
}
# told OPTION...: prints the settings that ranks get, each once; the program does not use MPI, so the job fails
told() {
	limited 60 "${marked[@]}" "$ZMPIRUN" "$@" sh -c 'echo "$ZIPPER_PART: $ZIPPER_ZIPPERD; $ZIPPER_ENTRIES"' 2>err </dev/null |
		sed "s|shm:$TAP_TMP/||g" | LC_ALL=C sort -u
}
twin() { # NAME RANKS OPTION...
	local name=$1 ranks=$2
	shift 2
	run "$name" 0 "$@" "$ORDERING"
	native 60 "$ranks" "$ORDERING" >native 2>&1
	is "$name: as natively" "$(LC_ALL=C sort out)" "$(LC_ALL=C sort native)"
}

# --- a chain of three clusters
zipperd_on 1 a,b a b
zipperd_on 2 b,c b c
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; echo "#ZIP zipper z2$(at 2 b c)"; } >chain
is "a chain: what the ranks are told" "$(told -f chain)" "a: z1.a,z1.a>a>b>z2.b; a,b,b+1 b+1,b,c
b: z1.b,z2.b; a,b,b+1 b+1,b,c
c: z2.c>c>b>z1.b,z2.c; a,b,b+1 b+1,b,c"
twin "a chain" 3 -f chain -v
is "a chain: -v shows the hops" "$(sed -n "s|^zmpirun: part c: ||;s|shm:$TAP_TMP/||gp" err | sed -n '/^ranks 2/p')" \
	"ranks 2 to 2, z2.c>c>b>z1.b,z2.c"
for k in 1 2; do ok "a chain: zipper $k carried something" wait_for 5 grep -q 'over after.*messages' "log$k" || diag_file "log$k"; done
printf '0 c1\n1 a1\n2 b1\n' >map
twin "a chain, by a map" 3 -f chain --map map
# with a map of zipmap: the bridged bytes, and the number of zippers on their way, are those of the prediction
ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/pattern.c" pattern || bail_out "pattern.c does not compile"
sed 's/^\([abc]1\)$/\1:2/' chain >chain22
for program in "chain 10000 10 hidden" "all 1000 5"; do
	rm -f graph
	# shellcheck disable=SC2086 # words
	ZIPPER_PROFILE=$TAP_TMP/graph native 60 6 env LD_PRELOAD="$PRELOAD_LIST" ./pattern $program >out 2>err
	ok "pattern $program: a map for a chain" "$ZIPMAP" -f chain22 -g graph -o map -q || diag_file err
	run "pattern $program: it runs" 0 -f chain22 --map map --stats ./pattern $program
	for way in "a c" "c a" "a b" "b c" ""; do
		read -r from to <<<"$way"
		predicted=$(sed -n "s/^#ZIP predicted bridged \\([0-9]*\\) bytes.*/\\1/p" map)
		[ -z "$way" ] || predicted=$(awk -v from="$from" -v to="$to" '
			NR == FNR { if ($1 !~ /^#/) { split($1, v, "-"); for (i = v[1]; i <= (v[2] ? v[2] : v[1]); i++) at[i] = substr($2, 1, 1) } next }
			/^#ZIP crossing / { split($3, v, ">"); if (at[v[1]] == from && at[v[2]] == to) sum += $4 } END { print sum + 0 }' map map)
		read -r _ bytes <<<"$(stats 'over the bridge' "$from" "$to")"
		is "pattern $program: bytes over the bridge ${from:-in all} ${to:+to }$to" "$bytes" "$predicted" || diag_file err
	done
done
is "two that one zipper joins: as ever" "$(told -f chain -n 2)" "a: z1.a; 
b: z1.b; "
is "what is set by hand does not count" "$(ZIPPER_ENTRIES=x,y told -f chain -n 2)" "a: z1.a; 
b: z1.b; "
run "--rails where all are needed" 2 -f chain --rails 2 "$ORDERING"
is "--rails: its line" "$(cat err)" \
	"zmpirun: chain: --rails 2, but no #ZIP zipper line serves all of the clusters a,b,c, and all zippers between them are needed"
run "-genv of what is told" 2 -f chain -genv ZIPPER_ENTRIES x "$ORDERING"

# --- by a hostfile that the ranks read
limited 60 env "$JOB_MARK" HYDRA_LAUNCHER=rsh HYDRA_LAUNCHER_EXEC="$TAP_TMP/rsh" MPIEXEC_LOCALHOST=localhost \
	ZIPPER_JOB=stock ZIPPER_HOSTFILE="$TAP_TMP/chain" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
	mpiexec.mpich -localhost localhost -f chain -n 3 -genv LD_PRELOAD "$PRELOAD_LIST" "$ORDERING" >out 2>err </dev/null
is "one stock mpiexec" $? 0 || diag_file err
native 60 3 "$ORDERING" >native 2>&1
is "one stock mpiexec: as natively" "$(LC_ALL=C sort out)" "$(LC_ALL=C sort native)"
# other launchers, whose variables stand in place of Hydra's
cat >as <<'END'
#!/bin/sh
host=$PMI_HOSTNAME$MPIR_CVAR_CH3_INTERFACE_HOSTNAME
unset PMI_HOSTNAME MPIR_CVAR_CH3_INTERFACE_HOSTNAME
case $1 in
hydra43) export PMI_HOSTNAME="$host" MPIR_CVAR_CH3_INTERFACE_HOSTNAME=outer ;;
slurm) export SLURMD_NODENAME="$host" SLURM_PROCID="$PMI_RANK" SLURM_STEP_NUM_TASKS="$PMI_SIZE" ;;
script) export SLURMD_NODENAME="$host" SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 ;;
esac
shift
exec "$@"
END
chmod +x as
for launcher in hydra43 slurm script; do
	limited 60 env "$JOB_MARK" HYDRA_LAUNCHER=rsh HYDRA_LAUNCHER_EXEC="$TAP_TMP/rsh" MPIEXEC_LOCALHOST=localhost \
		ZIPPER_JOB=$launcher ZIPPER_HOSTFILE="$TAP_TMP/chain" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
		mpiexec.mpich -localhost localhost -f chain -n 3 ./as $launcher env LD_PRELOAD="$PRELOAD_LIST" "$ORDERING" \
		>out 2>err </dev/null
	echo $? >status
	if [ $launcher = script ]; then
		matches "variables of a script around mpiexec name no host" err "chain: no cluster has host $(uname -n)"
	else
		is "hosts named as by $launcher" "$(cat status) $(LC_ALL=C sort out)" "0 $(LC_ALL=C sort native)" || diag_file err
	fi
done

# --- not all can be used
zipperd_on 3 a,c a c
{ cat chain; echo "#ZIP zipper z3$(at 3 c a)"; } >ring
twin "a ring" 3 -f ring
is "a ring: what a is told" "$(told -f ring | grep ^a)" "a: z1.a,z3.a>a>c>z2.c,z3.a; a,b,b+1 c+1,b,c a,a+1,c"
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; echo "#ZIP zipper away b=$NOBODY c=$NOBODY"; echo "#ZIP zipper z3$(at 3 c a)"; } >broken
twin "a ring that is broken" 3 -f broken
is "broken: it is left out" "$(cat err)" \
	"zmpirun: warning: zipper away is left out: zipperd: cannot connect to $NOBODY: Connection refused"
zipstat=$ZIP_TOP_BUILDDIR/zipstat/zipstat
"$zipstat" drain "shm:$TAP_TMP/z2.b" >zipstat.out 2>&1 || diag_file zipstat.out
twin "a ring with one that is drained" 3 -f ring
is "drained: it is left out" "$(cat err)" "zmpirun: warning: zipper z2 is left out: it is drained, and takes no new jobs"
run "drained, and there is no other way" 1 -f chain "$ORDERING"
is "drained, no other way: its line" "$(cat err)" "zmpirun: zipper z2: it is drained, and takes no new jobs"
run "drained: --check of the ring" 0 --check -f ring true
matches "... warns of it" out '^warn  zipper z2: it is drained, and takes no new jobs: jobs go without it'
run "drained: --check of the chain" 1 --check -f chain true
matches "... says that no job can begin" out '^bad   no job can begin: zipper z2: it is drained, and takes no new jobs'
"$zipstat" resume "shm:$TAP_TMP/z2.b" >zipstat.out 2>&1 || diag_file zipstat.out
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; echo "#ZIP zipper away b=$NOBODY c=$NOBODY"; } >gap
run "there is no other way" 1 -f gap "$ORDERING"
is "no other way: its line" "$(cat err)" "zmpirun: zipper away: zipperd: cannot connect to $NOBODY: Connection refused"
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; echo "#ZIP zipper z2 b=tcp:192.0.2.1 c=shm"; } >elsewhere
run "one would be ours, but is elsewhere" 2 -f elsewhere "$ORDERING"
is "elsewhere: its line" "$(cat err)" \
	"zmpirun: zipper z2: elsewhere:8: 192.0.2.1 is not an address of this machine: zmpirun cannot start zipperd there; write the port of one that runs (b=tcp:192.0.2.1:7474)"
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; } >short
run "a cluster that no zipper leads to" 2 -f short "$ORDERING"
is "leads nowhere: its line" "$(cat err)" \
	"zmpirun: short: no #ZIP zipper line serves all of the clusters a,b,c, nor do several lead from a to c"
{ clusters a b; echo "#ZIP zipper z1$(at 1 a b) wan=shm"; } >alone
run "a fabric that is on one zipper" 2 -f alone "$ORDERING"
is "one zipper: its line" "$(cat err)" \
	"zmpirun: alone:5: fabric wan: there is no cluster of that name, and no other zipper on it"
zipperd_on 4 b,c
{ clusters a b c; echo "#ZIP zipper z1$(at 1 a b)"; echo "#ZIP zipper z4$(at 4 b c)"; } >forbidden
run "one that may not connect others" 1 -f forbidden "$ORDERING"
matches "may not: its line says so" err 'next'

# --- a zipper on the way is killed: that is the cause, not a rank behind it, which the others take for dead
compile "$ZIP_TOP_SRCDIR/test/lib/talk.c" talk || bail_out "talk.c does not compile"
zipperd_on 5 a,b a b
zipperd_on 6 b,c b c
six=$!
{ clusters a b c; echo "#ZIP zipper z5$(at 5 a b)"; echo "#ZIP zipper z6$(at 6 b c)"; } >chain2
run "a zipper is killed" 1 -f chain2 ./talk "$six"
matches "killed: the cause" err '^zmpirun: zipper z6: .*; no zipper is left$'
is "killed: no rank is called dead" "$(grep -c 'rank .* died' err)" 0 || diag_file err
run "a rank is killed" 9 -f chain ./talk self
matches "a rank: the cause" err '^zmpirun: rank 0 \(a rank 0 on .*\) died'

# --- ours
{ clusters a b c; echo "#ZIP zipper z1 a=shm b=shm"; echo "#ZIP zipper z2 b=tcp:127.0.0.1 c=shm"; } >ours
twin "all are ours" 3 -f ours
is_gone "all are ours: nothing is left"
{ clusters a c; echo "#ZIP zipper z1 a=shm wan=tcp:127.0.0.1"; echo "#ZIP zipper z2 wan=tcp:127.0.0.1 c=tcp:127.0.0.1"; } >sites
twin "two sites" 2 -f sites
told -f sites >both_told
matches "two sites: over the network between them" both_told '^a: ([^,:]*),\1>a>wan>tcp:127.0.0.1:[0-9]*; a,wan\+1 wan\+1,c$'
{ clusters a b c; echo "#ZIP zipper z1 a=shm b=shm"; echo "#ZIP zipper z2$(at 2 b c)"; } >both
twin "one is ours, one runs" 3 -f both --stats
cat >first <<'END'
#!/bin/sh
grep '^next\|^listen' "$2" | sed 's/shm:.*"/shm"/' >its.conf
exit 1
END
chmod +x first
run "a zipperd of ours" 1 --zipperd ./first -f sites "$ORDERING"
is "it may connect others where that is needed" "$(tr '\n' ';' <its.conf)" \
	'listen = "wan=tcp:127.0.0.1:0";listen = "a=shm";next = "wan";'
is "directories removed" "$(scratch_left)" 0
is_gone "nothing is left"
done_testing
