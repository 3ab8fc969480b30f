#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/my-cluster.md: its commands lead to a job over two clusters. They run in the network laboratory, with its names and
# addresses, and with the programs of the build tree. The installation, users and systemd are those of install.t and service.t.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
in_lab 2
cd "$TAP_TMP" || exit 99
page=$ZIP_TOP_SRCDIR/docs/my-cluster.md
mkdir home
# commands SECTION: the indented lines of a section, for the laboratory. It has one host in each cluster, and no ssh.
commands() {
	awk -v n="## $1." 'index($0, "## ") == 1 { on = index($0, n) == 1 } on && sub(/^    /, "")' "$page" |
		sed -e '/^node002/d; s/,node002//; s/node001/clusterA/g; s/node101/clusterB/g; s/zip01/zipper/g' \
			-e 's/10\.1\.0\.1/10.77.1.1/g; s/10\.2\.0\.1/10.77.2.1/g; s/\(launcher\)=ssh/\1=rsh launcher-exec='"${rsh//\//\\/}"'/' \
			-e "s|/etc/zipper|$TAP_TMP/etc|g; s|~alice|$TAP_TMP/home|g; s/alice/$(id -un)/g"
}
# runs NAME COMMANDS: with bash on the zipper node; output in out and err
runs() {
	cat >steps <<-END_STEPS
		zipperd() { "$ZIPPERD" -c "$TAP_TMP/etc/zipperd.conf" "\$@"; }
		zmpirun() { "$ZMPIRUN" "\$@"; }
		zipstat() { "$ZIP_TOP_BUILDDIR/zipstat/zipstat" "\$@"; }
		mpicc.mpich() { command "$MPICC" "\$@"; }
		$2
	END_STEPS
	limited 300 "$lab" run zipper env HOME="$TAP_TMP/home" bash -e steps >out 2>err </dev/null
	is "$1" $? 0 || { diag_file err; diag_file out; bail_out "$1"; }
}
unset ZIPPER_KEY ZIPPER_KEY_FILE ZIPPER_USER

# --- zipperd, but for users and systemd
is "section 3: what needs users or systemd" "$(commands 3 | grep -E '^(chown|runuser|systemd-sysusers|systemctl)' | sed "s|$TAP_TMP|@|g")" \
	"chown -R $(id -un): @/home/.zipper
systemd-sysusers /usr/local/lib/sysusers.d/zipper.conf
chown zipper: @/etc/keys
runuser -u zipper -- zipperd -t
systemctl enable --now zipperd"
runs "section 3: configuration and key" "$(commands 3 | sed '/^chown /d; /^systemd-sysusers/d; /^systemctl/d; s/^runuser .* -- //')"
is "... the configuration is right" "$(cat out)" "$TAP_TMP/etc/zipperd.conf: ok"
is "... the keys are secrets" "$(stat -c %a etc/keys home/.zipper/key | xargs)" "600 600"
background "$lab" run zipper "$ZIPPERD" --die-with-parent -c etc/zipperd.conf -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" 2>zipperd.log
up() { "$lab" run clusterB bash -c 'exec 3<>/dev/tcp/10.77.2.1/7474' 2>/dev/null; }
ok "zipperd runs" wait_for 60 up

# --- the hostfile and the first job, one command after the other
commands 4 >zipper.hosts
cp "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" .
said=()
while IFS= read -r command; do
	runs "section 5: ${command%% *}" "$command"
	said+=("$(sed -nE 's/^hello from rank [0-9]+ (of [0-9]+)$/\1/p; /^no jobs of yours$/p' out | sort | uniq -c | xargs)")
done < <(commands 5)
is "zipstat knows no job; then each cluster alone, and both" "${said[*]:0:1}; ${said[*]:2}" "1 no jobs of yours; $(
	echo "$(sed -n 's/^clusterA:\(.*\)/\1 of \1/p' zipper.hosts) $(sed -n 's/^clusterB:\(.*\)/\1 of \1/p' zipper.hosts) 8 of 8")"
matches "the last one crosses" err '^zmpirun:   lgm -> das4: [0-9]+ messages, [0-9]+ bytes'
done_testing
