# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: commands and options of zmpirun, zipmap, zipstat, zipbench and zipperd. They come from --help of the
# program on the command line, which prints its tables: so they are those of the installed version.

# _leiden_zipper_options PROGRAM [COMMAND]: a line for each name of each option, with the name of its value behind
_leiden_zipper_options() {
	"$@" --help 2>/dev/null | awk '/^ +-/ {
		sub(/^ +/, "")
		sub(/  +[^ -].*/, "")
		n = 0
		while (match($0, /^--?[A-Za-z][A-Za-z-]*,? ?/)) {
			name[n++] = substr($0, 1, RLENGTH)
			$0 = substr($0, RLENGTH + 1)
		}
		for (i = 0; i < n; i++) {
			gsub(/[, ]/, "", name[i])
			print name[i] " " $0
		}
	}'
}

# _leiden_zipper_value OPTION OPTIONS: the name of its value; false if there is no such option
_leiden_zipper_value() {
	local name value
	while read -r name value; do
		[ "$name" = "$1" ] || [ "-$name" = "$1" ] || [ "$name" = "-$1" ] || continue
		echo "$value"
		return 0
	done <<<"$2"
	return 1
}

# Has zmpirun got its program already, before the word that is to be completed?
_leiden_zipper_has_program() { # OPTIONS
	local i value
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || return 0
		value=$(_leiden_zipper_value "${COMP_WORDS[i]}" "$1") && [ "$value" ] && ((i++))
		# NAME VALUE, or NAME=VALUE
		[[ $value == "NAME VALUE"* ]] && [[ ${COMP_WORDS[i]} != *=* ]] && [ "${COMP_WORDS[i + 1]}" != "=" ] && ((i++))
	done
	return 1
}

_leiden_zipper() {
	local cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[0]##*/} options value
	local -a line=("${COMP_WORDS[0]}")
	COMPREPLY=()
	if [ "$name" = zipmap ] || [ "$name" = zipbench ]; then
		if [ "$COMP_CWORD" = 1 ] && [[ $cur != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$("${line[@]}" --help 2>/dev/null |
				sed -nE 's/^  ([a-z_]+) .*/\1/p')" -- "$cur")
			return
		fi
		if [ "$COMP_CWORD" = 1 ]; then
			mapfile -t COMPREPLY < <(compgen -W "--help --version" -- "$cur")
			return
		fi
		[[ ${COMP_WORDS[1]} == -* ]] || line+=("${COMP_WORDS[1]}")
	fi
	options=$(_leiden_zipper_options "${line[@]}")
	[ "$name" = zmpirun ] && _leiden_zipper_has_program "$options" && return
	if value=$(_leiden_zipper_value "${COMP_WORDS[COMP_CWORD - 1]}" "$options") && [ "$value" ]; then
		# words in lower case are to be written so; files are what bash itself offers
		mapfile -t COMPREPLY < <(compgen -W "$(tr '|, ' '\n' <<<"$value" | grep -x '[a-z][a-z0-9-]*')" -- "$cur")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cut -d ' ' -f 1 <<<"$options")" -- "$cur")
	elif [ "$name" = zmpirun ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	fi
}

complete -o default -F _leiden_zipper zmpirun zipmap zipstat zipbench zipperd
