# SPDX-License-Identifier: MIT
# The bomb: each process starts two. It counts by files, and stops by one, so that it ends where nothing stops it.
most=$1
dir=$(mktemp -d)
bomb() {
	[ ! -e "$dir/stop" ] || return
	: >"$dir/$BASHPID" || return
	set -- "$dir"/*
	if [ $# -ge "$most" ]; then
		echo "ESCAPED $# processes"
		: >"$dir/stop"
	fi
	bomb & bomb &
	wait
}
bomb 2>/dev/null
echo "held $(ls "$dir" | wc -l) processes"
