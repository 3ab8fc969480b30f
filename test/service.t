#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is installed, as a service of a real systemd in a virtual machine: rights, restart, upgrade and watchdog while one job goes on
# and others begin; new keys; a stop; shared memory for other users. lib/service.sh is what the machine does.
export ZIP_VM_SYSTEMD=yes ZIP_VM_MACHINE=emulated
export ZIPPER_RECONNECT=10m # the minute of users is enough where no machine is emulated
. "${ZIP_TOP_SRCDIR:?}/test/lib/vm.sh" one
export TMPDIR=/tmp # in the machine
files=$ZIP_VM/files
service() { # SECONDS WORD ARGUMENT...: of lib/service.sh
	vm "$1" zipper bash "$ZIP_TOP_SRCDIR/test/lib/service.sh" "${@:2}"
}
journal() { vm 100 zipper journalctl --no-pager -o cat -u zipperd >"$TAP_TMP/journal"; }
show() { diag_file "$TAP_TMP/said"; journal; diag_file "$TAP_TMP/journal" 60; }

# --- two releases: what is built, and the same with another version in all files. Both for /usr/local, as the unit sees no home
# folders, where the build may be
configured() { sed -n "s/^$1 = //p" "$ZIP_TOP_BUILDDIR/Makefile"; }
prefix=$(configured prefix)
sysconfdir=$(configured sysconfdir)
sysconfdir=${sysconfdir/\$\{prefix\}/$prefix}
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$ZIP_TOP_BUILDDIR/config.h")
next=${version%?}X # as long, for the programs
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$ZIP_TOP_BUILDDIR" install DESTDIR="$files/root" >"$TAP_TMP/said" 2>&1 ||
	{ diag_file "$TAP_TMP/said"; bail_out "make install"; }
mv "$files/root$prefix" "$files/first"
sed -i "s|$sysconfdir/|/usr/local/etc/|; s|$prefix/|/usr/local/|" "$files/first/lib/systemd/system/zipperd.service"
cp -a "$files/first" "$files/second"
find "$files/second" -type f -exec sed -i "s/${version//./\\.}/$next/g" {} +
compile "$ZIP_TOP_SRCDIR/test/lib/traffic.c" "$files/traffic" && compile "$(program hello.c)" "$files/hello" || bail_out "no compiler"
over=tcp:10.78.1.1:7474
[ ! -e "$ZIP_TOP_BUILDDIR/common/.libs/zipverbs.so" ] || over=rxea:1@10.78.1.1:7474
hosts() { # A B: the hostfile, with these addresses of zipperd
	printf '#ZIP cluster cluster%s launcher=fork\nnode%s:1\n' A A B B
	echo "#ZIP zipper zipper clusterA=$1 clusterB=$2"
}
hosts $over tcp:10.78.2.1:7474 >"$files/hosts"
hosts shm:/run/zipper/shm shm:/run/zipper/shm >"$files/hosts.shm"
installed=/usr/local/lib/leiden-zipper
zmpirun=(env ZIPPER_MODULE_DIR=$installed ZMPIRUN_LIBZIPPER=$installed/libzipper.so /usr/local/bin/zmpirun -n 2)
hello=("${zmpirun[@]}" -f "$files/hosts" "$files/hello")

# --- the steps of zipperd(8)
service 300 install $over 60 >"$TAP_TMP/said" 2>&1
is "it starts" $? 0 || { show; bail_out "nothing to test"; }
service 100 rights >"$TAP_TMP/rights"
is "it runs as zipper" "$(head -n1 "$TAP_TMP/rights")" zipper
is "it has no capability" "$(grep -cP '^Cap[A-Z][a-z]+:\t0+$' "$TAP_TMP/rights")" 5 || diag_file "$TAP_TMP/rights"
is "it can get none" "$(grep -cP '^NoNewPrivs:\t1$' "$TAP_TMP/rights")" 1
is "its system calls are filtered" "$(grep -cP '^Seccomp:\t2$' "$TAP_TMP/rights")" 1
is "it may lock memory" "$(grep -c '^Max locked memory *unlimited *unlimited' "$TAP_TMP/rights")" 1
journal
matches "systemd listens for it" "$TAP_TMP/journal" '^2 sockets come from the service manager$'

# --- a job that goes on through all that follows
start_traffic() { # OPTION...
	rm -f "$files/stop"
	: >"$files/out"
	"$vmlab" run -t 1500 zipper nice "${zmpirun[@]}" -f "$files/hosts" "$@" "$files/traffic" "$files/stop" >"$files/out" 2>"$files/err" &
	job=$!
	TAP_PIDS+=($job)
	wait_for 100 begun
	ok "a job is under way" child_runs $job || { diag_file "$files/err"; show; bail_out "without a job"; }
}
begun() { [ "$(grep -c pid "$files/out")" = 2 ] || child_is_over $job; }
times_joined() { journal && grep -c '^job root/traffic-.* have joined$' "$TAP_TMP/journal"; }
joined() { [ "$(times_joined)" -gt "$1" ] || child_is_over $job; }
# comes_back NAME WORD ARGUMENT...: which takes zipperd away; the job goes on with the next one
comes_back() {
	local name=$1 before
	before=$(times_joined)
	service 600 "${@:2}" >"$TAP_TMP/said" 2>&1
	is "$name: done" $? 0 || show
	wait_for 60 joined "$before"
	ok "$name: the job goes on" child_runs $job || { diag_file "$files/err"; show; bail_out "the job is over"; }
}
start_traffic
comes_back "a restart" restart "${hello[@]}"
is "a restart: jobs that begin meanwhile" "$(grep -c '^hello.* of 2' "$TAP_TMP/said")" 4 || show
comes_back "an upgrade" upgrade
matches "an upgrade: the new one runs" "$TAP_TMP/said" "$next"
vm 300 zipper "${hello[@]}" >"$TAP_TMP/said" 2>&1
is "an upgrade: a new job" $? 0 || show
comes_back "it hangs" hang
journal
matches "it hangs: the watchdog" "$TAP_TMP/journal" 'Watchdog timeout'
ok "a new key, and reload" service 100 new_key nobody
service 300 job_of nobody "$files/hosts" "$files/hello" "${zmpirun[@]}" >"$TAP_TMP/said" 2>&1
is "a new key, and reload: a job of that user" $? 0 || show
: >"$files/stop"
wait $job
is "the job has lost nothing" "$?: $(grep -c 'No errors' "$files/out")" "0: 1" || { diag_file "$files/out"; diag_file "$files/err"; show; }
# what the service manager and the journal put before each line is not said twice
is "no line has a time or priority of its own" "$(grep -cE '^(<[0-9]>|zipperd:|[0-9]{4}-)' "$TAP_TMP/journal")" 0 || show

# --- the end
start_traffic --reconnect 2s
vm 100 zipper systemctl stop zipperd.socket zipperd
wait $job
is "a stop: status of the job" $? 1 || diag_file "$files/err"
is "a stop: what the job says" "$(cat "$files/err")" "zmpirun: warning: zipper zipper is lost: zipperd is shutting down; the job waits for it to come back
zmpirun: zipperd is shutting down; it has not come back within 2 s"

# --- shared memory
service 100 shared_memory >"$TAP_TMP/said" 2>&1
is "shared memory, by the drop-in: it starts" $? 0 || show
service 100 rights >"$TAP_TMP/rights"
is "it runs as root, and has no capability" "$(head -n1 "$TAP_TMP/rights") $(grep -cP '^Cap[A-Z][a-z]+:\t0+$' "$TAP_TMP/rights")" "root 5"
service 300 job_of nobody "$files/hosts.shm" "$files/hello" "${zmpirun[@]}" >"$TAP_TMP/said" 2>&1
is "a job of another user" $? 0 || show
journal
done_testing
