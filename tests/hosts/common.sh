# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts of this folder share: a bare Debian or Ubuntu tree, made once by debootstrap and kept.
#   FUMEHOOD_BARE_SUITE    release to make it of: bookworm, trixie or noble   (bookworm)
#   FUMEHOOD_BARE_ROOT     the tree                                           (/var/tmp/fumehood-bare-SUITE)
#   FUMEHOOD_BARE_MIRROR   where from                                         (the distribution's own)
#   FUMEHOOD_BARE_FILES    files and folders of this machine to put in first, separated by spaces: certificates,
#                          registry settings. ./dev knows nothing of them.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
suite=${FUMEHOOD_BARE_SUITE:-bookworm}
tree=${FUMEHOOD_BARE_ROOT:-/var/tmp/fumehood-bare-$suite}
case $suite in
noble) distribution=ubuntu mirror=http://archive.ubuntu.com/ubuntu components=main,universe ;;
*) distribution=debian mirror=http://deb.debian.org/debian components=main ;;
esac
mirror=${FUMEHOOD_BARE_MIRROR:-$mirror}
clean_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

cannot() {
	echo "$1"
	exit 77
}

need() { # PROGRAM PACKAGE
	command -v "$1" >/dev/null || cannot "needs the program $1 (package $2)"
}

make_tree() {
	[ ! -e "$tree/etc/debian_version" ] || return 0
	need debootstrap debootstrap
	rm -rf "$tree.part"
	local scripts=/usr/share/debootstrap/scripts script=$suite
	# an older debootstrap does not know newer releases, which are made as those before them
	if [ ! -e "$scripts/$suite" ]; then
		[ "$distribution" = ubuntu ] && script=gutsy || script=sid
	fi
	debootstrap --variant=minbase --components="$components" --include=git,ca-certificates "$suite" "$tree.part" "$mirror" \
		"$scripts/$script"
	mv "$tree.part" "$tree"
}

# The machine's name servers, as any container runtime gives them, and what the caller asked for.
put_files() { # ROOT
	local path
	for path in /etc/resolv.conf /etc/hosts ${FUMEHOOD_BARE_FILES:-}; do
		mkdir -p "$1$(dirname "$path")"
		cp -aL --remove-destination "$path" "$1$(dirname "$path")/"
	done
}

clone_to() { # FOLDER
	git -c safe.directory='*' clone -q --no-local "$top" "$1"
}
