# SPDX-License-Identifier: BSD-3-Clause
# Sourced by vmlab: how a machine of each kind is started, and wired to the others. A machine's jobs come to it by the pipe
# NAME.jobs.in; its kernel speaks to NAME.console, its emulator to NAME.host; NAME.pid ends with it.
#   emulated   qemu with Debian's kernel as it is
#   usermode   user-mode Linux: a kernel that is a process of the host, and runs as fast. One processor each
# shellcheck disable=SC2154 # $machine, $made, $guard, $here and $letters are vmlab's

# --- emulated
# no_timer_check: on a busy host the kernel may find that its timer does not tick, and stop.
start_emulated() { # NAME CLUSTERS QEMU-ARGUMENT...
	local name=$1 clusters=$2
	shift 2
	mkfifo "$ZIP_VM/$name.jobs.out" || die "cannot make a pipe in $ZIP_VM"
	$guard qemu-system-x86_64 -name "$name" -accel "${ZIP_VM_ACCEL:-tcg,thread=multi}" -cpu max \
		-m "${ZIP_VM_MEMORY:-1024}" -smp "${ZIP_VM_CPUS:-$((clusters ? 1 : 2))}" -nodefaults -no-user-config -no-reboot -display none \
		-serial ${serial:-file:$ZIP_VM/$name.console} -device virtio-rng-pci \
		-kernel "$made/kernel" -initrd "$made/initrd" -append "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check ${ZIP_VM_KERNEL:-} \
			$(boot_words "$name" "$clusters")" \
		-virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$ZIP_VM,mount_tag=state,security_model=none,multidevs=remap" \
		-device virtio-serial-pci -chardev "pipe,id=jobs,path=$ZIP_VM/$name.jobs" \
		-device virtserialport,chardev=jobs,name=jobs ${ZIP_VM_PLUGIN:+-plugin "$ZIP_VM_PLUGIN,name=$name,state=$ZIP_VM"} "$@" <"${terminal:-/dev/null}" 2>"$ZIP_VM/$name.host" &
}
# Clusters listen: qemu (7.2) does not make the end that accepts nonblocking, and stands still, with all of its machine, when the
# card at the other end takes nothing. That happens to the zipper, where a test lets a cluster fall silent.
link_emulated() { # K SERVER: the network card on the link between the zipper and cluster K
	echo "-netdev stream,id=link$1,server=$2,addr.type=unix,addr.path=$ZIP_VM/link$1"
	echo "-device virtio-net-pci,netdev=link$1,host_mtu=4500,mac=52:54:00:78:0$1:0$([ "$2" = on ] && echo 2 || echo 1)"
}
listens() { grep -qs " 00010000 .* $1\$" /proc/net/unix; } # SOCKET; the flag is __SO_ACCEPTCON
up_emulated() { # CLUSTERS
	local n=$1 k
	local -a zipper=()
	# shellcheck disable=SC2046 # words
	for ((k = 1; k <= n; k++)); do start_node "cluster${letters[k - 1]}" "$n" $(link_emulated $k on); done
	for ((k = 1; k <= n; k++)); do
		# A machine that connects before it listens has no network, and says nothing.
		until listens "$ZIP_VM/link$k"; do alive "cluster${letters[k - 1]}" || break; sleep 0.02; done
		# shellcheck disable=SC2207 # words
		zipper+=($(link_emulated $k off))
	done
	start_node zipper "$n" "${zipper[@]}"
}

# --- usermode
# The processes of its programs are processes of the host, which would go on by themselves, and call the host's kernel, when
# theirs is killed: so each machine has a PID namespace, which ends with it.
start_usermode() { # NAME CLUSTERS WIRE...
	local name=$1 clusters=$2 console=null,fd:1 user=
	shift 2
	[ -z "$terminal" ] || console=fd:0,fd:1
	[ "$(id -u)" = 0 ] || user=--map-root-user
	env -u TMPDIR $guard unshare $user --pid --fork --kill-child "$here/usermode-start" "$@" -- \
		"$made/linux" "mem=${ZIP_VM_MEMORY:-1024}M" "umid=$name" "uml_dir=$ZIP_VM" rootfstype=hostfs ro "init=$here/usermode-init" \
		con=null con0=$console ssl=null ssl0=fd:9,null quiet ${ZIP_VM_KERNEL:-} $(boot_words "$name" "$clusters") \
		"zip_mhz=$(awk '/^cpu MHz/ { print $4; exit }' /proc/cpuinfo)" \
		9<>"$ZIP_VM/$name.jobs.in" <"${terminal:-/dev/null}" >"${terminal_out:-$ZIP_VM/$name.console}" 2>"$ZIP_VM/$name.host" &
}
up_usermode() { # CLUSTERS
	local n=$1 k
	local -a zipper=()
	for ((k = 1; k <= n; k++)); do
		start_node "cluster${letters[k - 1]}" "$n" "$ZIP_VM/link$k.cluster=$ZIP_VM/link$k.zipper"
		zipper+=("$ZIP_VM/link$k.zipper=$ZIP_VM/link$k.cluster")
	done
	start_node zipper "$n" "${zipper[@]}"
}

# --- both
boot_words() { # NAME CLUSTERS: for ./node
	echo "zip_name=$1 zip_clusters=$2 zip_state=$ZIP_VM zip_node=$here/node${ZIP_VM_SYSTEMD:+ zip_systemd=yes}"
}
start_node() { # NAME CLUSTERS ARGUMENT...
	mkfifo "$ZIP_VM/$1.jobs.in" || die "cannot make a pipe in $ZIP_VM"
	start_$machine "$@"
	echo $! >"$ZIP_VM/$1.pid"
	[ -n "$terminal" ] || disown $!
}
alive() { # NODE
	local pid name
	{ read -r pid <"$ZIP_VM/$1.pid" && read -r name <"/proc/$pid/comm"; } 2>/dev/null &&
		[[ $name = @(qemu*|unshare|vmlab|bash|setpriv|setsid|env) ]] # the last ones are on their way to be one of the first
}
