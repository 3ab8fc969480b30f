#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What service.t has the virtual machine do: "service.sh WORD ARGUMENT...", a function below. $ZIP_VM/files/first and
# second are two releases, made for /usr/local.
set -e -o pipefail
etc=/usr/local/etc/zipper units=/usr/local/lib/systemd/system

pid_of() { systemctl show -P MainPID zipperd; }
# copy RELEASE: puts all files of it in place, each one in a moment, as dpkg does
copy() {
	local folder
	cd "/usr/local/$1"
	find . -type d | while read -r folder; do
		mkdir -p "/usr/local/$folder"
		find "$folder" -maxdepth 1 ! -type d -exec mv -t "/usr/local/$folder" {} +
	done
}
# install ADDRESS WATCHDOG: the first release, by the steps of zipperd(8); cluster A at that address
install() {
	cp -a "$ZIP_VM/files/first" "$ZIP_VM/files/second" /usr/local/
	copy first
	mkdir -p $etc /root/.zipper
	cat >$etc/zipperd.conf <<-END
		listen = clusterA=$1
		listen = clusterB=tcp:10.78.2.1:7474
		key_file = $etc/keys
		module_dir = /usr/local/lib/leiden-zipper
	END
	(
		umask 077
		/usr/local/sbin/zipperd --make-key root >/root/.zipper/key
		/usr/local/sbin/zipperd -c $etc/zipperd.conf --put-keys </root/.zipper/key
	)
	systemd-sysusers /usr/local/lib/sysusers.d/zipper.conf
	chown zipper: $etc/keys
	sed 's/^\(ListenStream=\)10\.\([12]\)\.0\.1:/\110.78.\2.1:/' /usr/local/share/doc/leiden-zipper/examples/zipperd.socket \
		>/etc/systemd/system/zipperd.socket
	# only here: an emulated machine is slow, and each restart takes so long that jobs begin in between
	mkdir -p /etc/systemd/system/zipperd.service.d
	printf '[Service]\nWatchdogSec=%s\nExecStartPre=sleep 3\n' "$2" >/etc/systemd/system/zipperd.service.d/slow.conf
	systemctl daemon-reload
	systemctl enable --now zipperd.socket $units/zipperd.service
}
# rights: user, capabilities, filters and limits of the running zipperd
rights() {
	ps -o user= -p "$(pid_of)"
	cat "/proc/$(pid_of)/status" "/proc/$(pid_of)/limits"
}
# restart COMMAND...: of zipperd; the command runs twice meanwhile
restart() {
	local restart first
	systemctl restart zipperd &
	restart=$!
	while [ "$(systemctl show -P ActiveState zipperd)" = active ]; do sleep 0.1; done
	"$@" &
	first=$!
	"$@"
	wait $first
	wait $restart
}
# upgrade: to the second release, as a package does it; prints the version that runs then
upgrade() {
	copy second
	systemctl daemon-reload
	systemctl restart zipperd
	"/proc/$(pid_of)/exe" --version
}
# hang: a zipperd that answers nobody, until systemd has another one started
hang() {
	kill -STOP "$(pid_of)"
	while [ "$(systemctl show -P NRestarts zipperd)" = 0 ] || [ "$(systemctl show -P ActiveState zipperd)" != active ]; do sleep 1; done
}
# new_key USER: which counts from the reload
new_key() {
	umask 077
	/usr/local/sbin/zipperd --make-key "$1" >"/root/key.$1"
	/usr/local/sbin/zipperd -c $etc/zipperd.conf --put-keys <"/root/key.$1"
	systemctl reload zipperd
}
# job_of USER HOSTFILE PROGRAM COMMAND...: the command starts a job of that user, who sees neither /root nor $ZIP_VM
job_of() {
	local user=$1 home=/home/user
	mkdir -p $home/.zipper
	cp "$2" $home/hosts
	cp "$3" $home/program
	cp "/root/key.$user" $home/.zipper/key
	chown -R "$user" $home
	cd $home
	setpriv --reuid="$user" --clear-groups env HOME=$home "${@:4}" -f hosts ./program
}
# shared_memory: by the drop-in, without systemd's sockets
shared_memory() {
	systemctl disable --now zipperd.socket
	echo "listen = clusterA,clusterB=shm:/run/zipper/shm" >>$etc/zipperd.conf
	cp /usr/local/share/doc/leiden-zipper/examples/shared-memory.conf /etc/systemd/system/zipperd.service.d/
	chown root: $etc/keys
	systemctl daemon-reload
	systemctl restart zipperd
}
"$@"
