#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Devices, partitions and addresses of Verbs in hostfiles and options; zipcast. On the fake of libibverbs.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake-job.sh"
. "$ZIP_TOP_SRCDIR/test/lib/cast.sh"

# --- the hostfile names the port of the ranks of a cluster, whatever ZIPPER_DEVICE says
device_job() { # NAME DEVICE-OF-B: runs zmpirun with one rank in each cluster
	cat >"$TAP_TMP/hosts" <<-END
		#ZIP cluster A launcher=fork device=fka:1
		nodea
		#ZIP cluster B launcher=fork device=$2
		nodeb
		#ZIP zipper localhost A=$(address A) B=$(address B)
	END
	ZIPPER_DEVICE=fkc:1 ZIPPER_USER=me ZIPPER_KEY_FILE=$TAP_TMP/keys limited 60 "$ZMPIRUN" -f "$TAP_TMP/hosts" -n 2 \
		-genv ZIPPER_MODULE_DIR "$TAP_TMP/modules" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
}
fake_fabric fka/mw,fkb/ib/mw
zipper
device_job right fkb:1
is "device of a cluster: status" $? 0 || diag_file "$TAP_TMP/err"
is "device of a cluster: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
ok "device of a cluster: memory was reached from outside" test "$(fakectl count read)" -gt 3
device_job wrong fkd:1
is "a device that is not there: status" $? 1
matches "a device that is not there: why" "$TAP_TMP/err" '^zmpirun: rank 1 .*there is no RDMA device fkd on this host$'
is "a device that is not there: in one line" "$(grep -c '^zmpirun:' "$TAP_TMP/err")" 1 || diag_file "$TAP_TMP/err"
end_zipper "device of a cluster"

# --- a zipperd that zmpirun starts is in the partition of the ranks
fake_fabric fka/ib/pkey=0x8005,fkb/ib/pkey=0x8005
cat >"$TAP_TMP/hosts" <<END
#ZIP cluster A launcher=fork device=fka:1
nodea
#ZIP cluster B launcher=fork device=fkb:1
nodeb
#ZIP zipper localhost A=fka:1@127.0.0.1 B=fkb:1@127.0.0.1
END
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$FAKE_PRELOAD" "$ZIPPERD" >"$TAP_TMP/zipperd-of-ours"
chmod +x "$TAP_TMP/zipperd-of-ours"
ZIPPER_VERBS_PARTITION=5 ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "one partition: status" $? 0 || diag_file "$TAP_TMP/err"
is "one partition: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
is "one partition: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/err"

# --- two subnets, each with a partition and a service level of its own: ranks take them from the addresses of the zipper's ports
fake_fabric fka/ib/pkey=0x8005/mw,fkb/ib/pkey=0x8006/mw
net_A=/partition=0x8005/service_level=3 net_B=/partition=6/service_level=4/traffic_class=9
zipper
rm -f "$TAP_TMP/go" "$TAP_TMP/outA" "$TAP_TMP/outB"
part B 300000 4 "$TAP_TMP/go" &
second=$!
part A 300000 4 "$TAP_TMP/go" &
first=$!
ok "two partitions: all came" wait_for 60 all_rounds || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/zipperd"; }
is "two partitions: each queue pair is in that of its subnet" \
	"$(fakectl qps | sed -n 's/.* \(fk.\):1 .* \(sl=[0-9]*\) \(pkey=[^ ]*\) .*/\1 \2 \3/p' | sort -u | tr '\n' ,)" \
	"fka sl=3 pkey=0x8005,fkb sl=4 pkey=0x8006," || diag "$(fakectl qps)"
touch "$TAP_TMP/go"
wait $first && wait $second
is "two partitions: status" $? 0
end_zipper "two partitions"
net_A= net_B=
cat >"$TAP_TMP/hosts" <<END
#ZIP cluster A launcher=fork device=fka:1
nodea
#ZIP cluster B launcher=fork device=fkb:1
nodeb
#ZIP zipper localhost A=fka:1/partition=5@127.0.0.1 B=fkb:1/partition=6@127.0.0.1
END
ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "two partitions in a hostfile: status" $? 0 || diag_file "$TAP_TMP/err"
is "two partitions in a hostfile: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
is "two partitions in a hostfile: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
sed -i 's/B=fkb:1.partition=6/B=fkb:1\/partition=5/' "$TAP_TMP/hosts"
ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "a partition of the other subnet: status" $? 1
matches "a partition of the other subnet: why" "$TAP_TMP/err" 'fkb:1 is not in partition 0x0005$'
fake_fabric fka,fkb
limited 20 env FAKEVERBS_ONE_POSTER=1 "$ZIPPERD" -o listen=A=fka:1/gid_index=77@127.0.0.1:0 -o listen=B=fkb:1@127.0.0.1:0 -o key_file="$TAP_TMP/keys" -o module_dir="$TAP_TMP/modules" \
	>"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "an address that the port does not have: status" $? 1
matches "an address that the port does not have: why" "$TAP_TMP/err" \
	'cannot listen on fka:1/gid_index=77@127.0.0.1:0: fka:1 has no address in entry 77 of its table \(verbs_gid_index, ZIPPER_VERBS_GID_INDEX\)$'

# --- zipcast: nodes of one fabric, which settle their links without zipperd
if cast_compile; then
	for algorithm in chain pipeline; do
		category=dynamic
		[ $algorithm = chain ] || category=mpi-everywhere
		fake_fabric fka/mw/tds=8
		ZIPPER_MODULE_DIR=$TAP_TMP/modules ZIPPER_VERBS_ENDPOINTS=$category \
			cast_run "zipcast, $algorithm" 4 fka:1@127.0.0.1:0 $algorithm 1000000 5
		# 16 blocks a message, to three members; the first blocks of a link may go over TCP
		ok "zipcast, $algorithm: blocks are written into the members' memory" test "$(fakectl count write)" -gt 150 ||
			diag "$(fakectl count write) writes"
		is "zipcast, $algorithm: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	done
	fake_fabric fka/mw
	ZIPPER_MODULE_DIR=$TAP_TMP/modules ZIPPER_ONE_SIDED=no cast_run "zipcast, as messages" 4 fka:1@127.0.0.1:0 chain 1000000 5
	ok "zipcast, as messages: over queue pairs" test "$(fakectl count send)" -gt 300 || diag "$(fakectl count send) sends"
	ok "zipcast, as messages: nothing is written" test "$(fakectl count write)" -le 12 # the last writes of links, which are empty
	is_under_way() { [ "$(cat "$TAP_TMP"/cast[0-9]* 2>/dev/null | grep -c 'under way')" = 4 ]; }
	for devices in fka/mw fka/lag=50; do
		fake_fabric $devices
		ZIPPER_MODULE_DIR=$TAP_TMP/modules cast_start 4 fka:1@127.0.0.1:0 pipeline 2000000 0
		ok "zipcast, one killed: under way" wait_for 60 is_under_way || cast_show
		kill -KILL "$(cast_process 2)"
		cast_wait
		is "zipcast, one killed: status" "$CAST_STATUS" "3 3 137 3" || cast_show
		is "zipcast, one killed: the others are told who" "$(cat "$TAP_TMP"/cast[013] | grep -c 'failed: node 2 ')" 3 || cast_show
		is "zipcast, one killed: none gets damaged bytes" "$(cat "$TAP_TMP"/cast[013] | grep -c ' 0 bytes damaged')" 3 || cast_show
		is "zipcast, one killed: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	done
	# two fabrics, which zipperd connects: blocks go as messages, and there are no one-sided writes
	fake_fabric fka/mw/tds=8,fkb/mw/tds=8
	zipper
	cast_at() {
		local letter=A
		[ "$1" -lt 2 ] || letter=B
		echo env CAST_LISTEN=fk${letter,}:1@127.0.0.1:0 CAST_FABRIC=$letter CAST_USER=me CAST_KEY="$key" CAST_ZIPPER="$(address $letter)"
	}
	for algorithm in hybrid-chain pipeline; do
		ZIPPER_MODULE_DIR=$TAP_TMP/modules cast_run "zipcast, two fabrics, $algorithm" 4 - $algorithm 1000000 5
	done
	unset -f cast_at
	ok "zipcast, two fabrics: over queue pairs" test "$(fakectl count send)" -gt 150 || diag "$(fakectl count send) sends"
	end_zipper "zipcast, two fabrics"
	is "zipcast, two fabrics: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
else
	fail "zipcast: a program is linked with it"
fi
done_testing
