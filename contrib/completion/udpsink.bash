# SPDX-License-Identifier: MIT
# bash completion for udp_sink and udp_source. It asks the program for its option table each time, so it cannot go stale.
# Fields of `PROGRAM --dump-options`, tab separated: name, letter, type, argument, default, hidden, alias, help.

_udpsink_engines() {
	"$1" --list-engines 2>/dev/null | while read -r name _; do printf '%s\n' "$name"; done
	printf '%s\n' all auto
}

_udpsink() {
	local program=$1 word=$2 previous=$3 name type argument rest
	COMPREPLY=()
	# "--engine=re": bash splits at '=', the word before it is the option.
	if [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}
	elif [ "$word" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD-1]}
		word=
	fi

	case $word in
	-*)
		mapfile -t COMPREPLY < <("$program" --dump-options 2>/dev/null |
			while IFS=$'\t' read -r name rest; do
				case --$name in "$word"*) printf -- '--%s\n' "$name" ;; esac
			done)
		return
		;;
	esac
	case $previous in
	--engine | -e)
		mapfile -t COMPREPLY < <(compgen -W "$(_udpsink_engines "$program")" -- "$word")
		return
		;;
	--config | --fill)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	--bind-dev | --ethtool)
		mapfile -t COMPREPLY < <(cd /sys/class/net 2>/dev/null && compgen -f -- "$word")
		return
		;;
	esac
}

complete -F _udpsink udp_sink udp_source
