#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The steps that debs.t has a root do: "debs.sh WORD ARGUMENT...", a function below. /debs is the place for everything: the tarball, the
# packages of a release in first/, and the same with the next revision in second/.
set -e -o pipefail
cd /debs
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt() { apt-get -q -y --no-install-recommends "$@"; }
debs() { find "/debs/$1" -name '*.deb' ! -name '*-dbgsym_*' ! -name '*-dev_*' | sort; }
names() { debs first | xargs -n 1 dpkg-deb -f | sed -n 's/^Package: //p'; }

# --- in the root with compilers
prepare() { # NAME VERSION: unpacks, and installs what debian/control names
	tar xf "$1_$2.orig.tar.gz"
	ln -s "$1-$2" tree
	[ -d tree/debian ]
	apt update
	apt install build-essential lintian
	apt build-dep /debs/tree
}
build() {
	(cd -P tree && dpkg-buildpackage -us -uc)
	mkdir first
	cp ./*.deb first/
	mpicc.mpich -O2 hello.c -o hello
}
rate() { lintian --allow-root --fail-on error --suppress-tags bad-distribution-in-changes-file ./*.changes; }
zipcast() {
	local program=/debs/cast
	dpkg -i first/libzipper_*.deb first/libzipcast0_*.deb first/libzipcast-dev_*.deb
	printf '#include <zipcast.h>\nvoid *volatile used = (void *)zipcast_open;\nint main(void) { return used == 0; }\n' >$program.c
	# shellcheck disable=SC2046 # words
	gcc -Wall -Werror $program.c -o $program $(pkg-config --cflags --libs zipcast)
	$program
	ldd $program | grep libzipcast.so.0
	dpkg --purge libzipcast-dev libzipcast0 libzipper
}
# The RPM packages of the same sources. They are unpacked and used where they are, as an installation that was moved.
rpms() {
	local file
	apt install rpm cpio
	mkdir -p rpm/SOURCES rpm/root
	cp ./*.orig.tar.gz "rpm/SOURCES/$(basename "$(readlink tree)").tar.gz"
	rpmbuild -ba --nodeps --define '_topdir /debs/rpm' --define 'mpicc /usr/bin/mpicc.mpich' --define 'mpiexec /usr/bin/mpiexec.mpich' \
		tree/packaging/rpm/leiden-zipper.spec
	cd rpm/root
	rpm -qp --scripts ../RPMS/*/zipperd-[0-9]*.rpm | tee scripts
	grep -q '^for user in zipper zipstat' scripts
	for file in ../RPMS/*/*.rpm; do
		rpm -qp --qf '%{NAME} ' "$file"
		rpm2cpio "$file" | cpio -id --quiet
	done
	[ -e etc/zipper/zipperd.conf ]
	timeout 200 usr/bin/zmpirun --clusters 2 -n 4 /debs/hello | tee out
	[ "$(grep -c '^hello.* of 4' out)" = 4 ]
	timeout 200 usr/bin/zmpirun --clusters 2 -n 2 usr/bin/zipbench coll --ops barrier --seconds 0 --least 3
}
# what is built stays; a new line in the changelog makes all packages new
next() {
	local version
	cd -P tree
	version=$(dpkg-parsechangelog -S Version)
	sed -i "1s/.*/$(dpkg-parsechangelog -S Source) (${version%?}$((${version: -1} + 1))) unstable; urgency=medium/" debian/changelog
	DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc -b -nc
	cd ..
	mkdir second
	cp ./*-"$((${version: -1} + 1))"_*.deb second/
}

# --- in a fresh root
# names of all files, but what apt and dpkg write for themselves, and what a purge leaves by rule: the user
list() {
	find / -xdev \( -path /debs -o -path /tmp -o -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /root \) -prune -o -print | sort
	ls /run
}
# what the packages need, without them, so that the list of files tells what they bring and leave
depend() {
	local ours
	ours=$(names | paste -sd '|')
	apt update
	debs first | xargs -n 1 dpkg-deb -f | sed -n 's/^\(Pre-\)\?Depends: //p' | tr ',' '\n' | sed 's/^ *//' | grep -vE "^($ours)( |\$)" | sort -u |
		paste -sd ',' | tr -d '\n' >needed
	apt satisfy "$(cat needed)"
	apt install procps
	useradd -m -s /bin/bash alice
	list >before
}
install() { # FOLDER
	# shellcheck disable=SC2046 # words
	apt install $(debs "$1")
	[ "$(dpkg-query -W -f '${db:Status-Abbrev}\n' $(names) | sort -u)" = "ii " ]
}
is_version() { # FOLDER
	local deb
	for deb in $(debs "$1"); do
		[ "$(dpkg-deb -f "$deb" Version)" = "$(dpkg-query -W -f '${Version}' "$(dpkg-deb -f "$deb" Package)")" ]
	done
}
# The user is there, and nothing enabled or running.
idle() {
	getent passwd zipper
	[ ! -e /etc/systemd/system/multi-user.target.wants/zipperd.service ]
	! pgrep -x zipperd
}
unconfigured() {
	! zipperd -t 2>said
	cat said
	grep -q 'listen' said
}
as() { runuser -u "$1" -- "${@:2}"; }
local_job() {
	cd /home/alice
	as alice timeout 200 zmpirun --clusters 2 -n 4 /debs/hello | tee out
	[ "$(grep -c '^hello.* of 4' out)" = 4 ]
	as alice timeout 200 zmpirun --clusters 2 -n 2 zipbench coll --ops barrier --seconds 0 --least 3
	as alice zipmap --version
	as alice zipstat --version
}
configure() {
	printf 'listen = A=tcp:127.0.0.1:27474\nlisten = B=tcp:127.0.0.1:27475\n' >>/etc/zipper/zipperd.conf
	(
		umask 077
		zipperd --make-key alice --until 2035-12-31 >alice.key
	)
	zipperd --put-keys <alice.key
	chown zipper: /etc/zipper/keys
	as zipper zipperd -t
	mkdir -m 700 /home/alice/.zipper
	mv alice.key /home/alice/.zipper/key
	chown -R alice: /home/alice/.zipper
}
# There is no systemd in a root, so this starts what the unit would start.
job() {
	local unit zipperd
	unit=$(dpkg -L zipperd | grep '/zipperd\.service$')
	zipperd=$(sed -n 's/^ExecStart=//p' "$unit")
	[ -n "$zipperd" ]
	# shellcheck disable=SC2086 # words
	as zipper $zipperd --ready-fd 3 3>ready &
	for _ in $(seq 600); do grep -q '^$' ready && break || sleep 0.1; done
	cat >hosts <<-END
		#ZIP cluster A launcher=fork
		nodeA:2
		#ZIP cluster B launcher=fork
		nodeB:2
		#ZIP zipper zipper A=tcp:127.0.0.1:27474 B=tcp:127.0.0.1:27475
	END
	cd /home/alice
	as alice timeout 200 zmpirun -f /debs/hosts -n 4 --stats /debs/hello | tee out
	kill %1
	wait %1 || true
	[ "$(grep -c '^hello.* of 4' out)" = 4 ]
}
configured() { grep 'listen = B=tcp:127.0.0.1:27475' /etc/zipper/zipperd.conf; }
remove() {
	# shellcheck disable=SC2046 # words
	apt remove $(names)
}
left() {
	list >after
	diff before after | grep '^[<>]' | grep -vx '> /home/alice/\(.zipper\(/key\)\?\|out\)' || true
}
left_by_remove() {
	left | tee what
	[ "$(grep -vE '/var/lib/systemd/deb-systemd-helper' what)" = "> /etc/zipper
> /etc/zipper/keys
> /etc/zipper/zipperd.conf" ]
}
purge() {
	# apt does not know those that have left nothing
	# shellcheck disable=SC2046 # words
	dpkg --purge $(names)
}
left_by_purge() {
	left | tee what
	[ ! -s what ]
}

"$@"
