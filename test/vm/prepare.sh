# SPDX-License-Identifier: BSD-3-Clause
# Sourced by image and usermode, which make what a kind of machines starts from:
#
#   SCRIPT FOLDER          made there if it is not yet, or if what it is made from has changed
#   SCRIPT --check FOLDER  status 0 if it is there, else 1 and the reason
#
# They set: here (their folder), machines, hint (what is missing, and how it comes to be there), sources (files; with another text it is made again),
# runs_with (TOOL:PACKAGE...), makes_with (the same, to make it), made (files that build leaves in its current folder); and
# have build.
# shellcheck disable=SC2154 # those, and $here
die() { echo "vmlab: $*" >&2; exit 1; }

need() { # TOOL:PACKAGE...
	local tool
	for tool in "$@"; do
		PATH=$PATH:/usr/sbin:/sbin command -v "${tool%:*}" >/dev/null || die "no ${tool%:*} (package ${tool#*:})"
	done
}
need_to_run() {
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || die "needs Debian on amd64"
	need $runs_with rdma:iproute2 ib_send_lat:perftest
	busybox=$(dpkg -L busybox-static 2>/dev/null | grep '/bin/busybox$') || die "no static busybox (package busybox-static)"
}
fetch() { # PACKAGE: the one that it depends on, unpacked in ./root; sets name. Since Debian 14 a kernel and its modules are packages below that
	local part
	name=$(apt-cache depends "$1" 2>/dev/null | sed -n "s/^ *Depends: \(${1%-amd64}-[^ ]*\)\$/\1/p" | head -n1)
	[ -n "$name" ] || die "apt knows no $1 (apt-get update?)"
	for part in "$name" $(apt-cache depends "$name" | sed -n 's/^ *Depends: \(linux-\(base\|binary\|modules\)-[^ ]*\)$/\1/p'); do
		apt-get download -q "$part" >fetch.log 2>&1 || die "apt-get download $part: $(grep '^E:' fetch.log | head -n1)"
		dpkg -x "$part"_*.deb root || die "cannot unpack $part"
	done
}
version() { cat "$0" "$here/prepare.sh" $sources | cksum | cut -d' ' -f1; }
is_made() { [ "$(cat "$1/version" 2>/dev/null)" = "$(version)" ]; }
make_in() { # FOLDER
	local target=$1
	mkdir -p "$target" || die "cannot make $target"
	target=$(cd "$target" && pwd)
	exec 9>"$target/lock"
	flock 9 # of two at a time the second one finds it made
	is_made "$target" && return
	need $makes_with
	rm -rf "$target/work"
	mkdir "$target/work" && cd "$target/work" || exit 1
	build
	mv $made "$target/" && cd "$target" || exit 1
	rm -rf work
	version >version
}
prepare() { # ARGUMENT... of the script
	PATH=$PATH:/usr/sbin:/sbin
	case ${1:-} in
	--check)
		need_to_run
		is_made "$2" || die "no kernel for $machines in ${2:-.} ($hint)"
		;;
	'' | -*) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2 ;;
	*)
		need_to_run
		make_in "$1"
		;;
	esac
}
