# SPDX-License-Identifier: MIT
# The driver of a bash context, behind the relay: requests on descriptor 60, events on 61.
#
# The shell is an interactive one without job control, whose stdin repeats one line, `eval "$__fh_step"`. So a run is at the
# top level (declare, exec, break mean what they mean there), and an interrupt ends the run and not the shell. What the
# code sets (set -u, set -e) holds for the driver, too: it expands nothing that may be unset.
exec 2>&62 62>&-
PS1= PS2= PS4='+ '
set +H +m +o history
unset HISTFILE
__fh_id= __fh_status=0

__fh_say() { builtin printf "$@" >&61; }

# Decodes a JSON string into the variable $1. printf understands all of JSON's escapes but \".
__fh_text() {
	builtin local "raw=$2"
	raw=${raw//\\\\/$'\1'} raw=${raw//\\\"/\"} raw=${raw//$'\1'/\\\\}
	builtin printf -v "$1" '%b' "$raw"
}

# Restores the variables of this run to their previous values.
__fh_restore() {
	builtin local name
	for name in "${!__fh_before[@]}"; do
		if [[ ${__fh_before[$name]} == 1* ]]; then builtin export "$name=${__fh_before[$name]:1}"; else builtin unset "$name"; fi
	done
	__fh_before=()
}

__fh_variables() { # $1: the content of a JSON object whose values are texts
	builtin local "rest=$1" value re='^"([A-Za-z_][A-Za-z0-9_]*)":"(([^"\\]|\\.)*)"(,(.*)|\}.*)?$'
	while [[ $rest =~ $re ]]; do
		builtin local "name=${BASH_REMATCH[1]}" "raw=${BASH_REMATCH[2]}"
		rest=${BASH_REMATCH[5]-}
		__fh_text value "$raw"
		[[ ${2-} ]] && { if [[ -v $name ]]; then __fh_before[$name]=1${!name}; else __fh_before[$name]=0; fi; }
		builtin export "$name=$value"
	done
}

__fh_error() { __fh_say '{"type":"error","name":"%s","value":"%s","traceback":"%s"}\n' "$@"; }

__fh_end() { # $1: the exit status of the run; $2: "interrupted" if it was; $3: further members of the event
	[[ $__fh_id ]] || return 0
	builtin local "id=$__fh_id" word=ok
	__fh_id= __fh_status=$1
	if (($1)); then
		word=error
		[[ ${2-} == interrupted ]] && __fh_error KeyboardInterrupt '' 'interrupted' || __fh_error ExitStatus "$1" "exit status $1"
	fi
	__fh_restore
	__fh_say '{"type":"end","id":%s,"status":"%s"%s}\n' "$id" "$word" "${3-}"
}

# Waits for a request; __fh_code is what to run. $1: the exit status of a run that did not come to its end, because it
# was interrupted or for an error that ends what a shell does (a variable that is not set, an assignment to a constant).
__fh_next() {
	builtin local line head re='^\{"op":"run","id":([0-9]+),'
	if [[ $1 == 0 || $1 == 130 ]]; then __fh_end 130 interrupted; else __fh_end "$1"; fi
	IFS= builtin read -r -u 60 line || return 1
	__fh_code=
	if [[ ! $line =~ $re ]]; then
		[[ $line =~ \"id\":([0-9]+) ]] && __fh_say '{"type":"end","id":%s,"status":"refused"}\n' "${BASH_REMATCH[1]}"
		return 0
	fi
	__fh_id=${BASH_REMATCH[1]}
	head=${line%,\"code\":\"*}
	line=${line:${#head}}
	line=${line#,\"code\":\"}
	__fh_text __fh_code "${line%\"\}}"
	if [[ $head == *'"env":{'* ]]; then
		head=${head#*\"env\":\{}
		__fh_variables "${head%\}}" 1
	fi
}

# The shell ends, at `exit` or where `set -e` ends it.
__fh_exits() { # $1: its exit status
	builtin local why=
	if [[ $1 != 0 && $- == *e* ]]; then why=',"why":"set -e"'; fi
	__fh_end "$1" '' ",\"exiting\":true$why"
}

__fh_was() { return "$__fh_status"; }

declare -gA __fh_before=()
trap '__fh_exits $? 2>/dev/null' EXIT
__fh_step='__fh_next "$?" || builtin exec true
__fh_was
eval "$__fh_code" </dev/null 60<&- 61>&-
__fh_end $?'
[[ $__fh_options =~ \"env\":\{(.*)\} ]] && __fh_variables "${BASH_REMATCH[1]}"
unset __fh_options
__fh_say '{"type":"ready","protocol":1,"pid":%s,"shell":"bash","version":"%s"}\n' "$$" "$BASH_VERSION"
