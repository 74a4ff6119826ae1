#!/bin/sh
case "$1" in
*errout) echo out; echo warn >&2;;
*err) echo only-err >&2;;
*fail) echo no; exit 3;;
*) printf '\033[31m got %s \033[0m\n' "$1";;
esac
