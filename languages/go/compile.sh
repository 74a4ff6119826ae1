# SPDX-License-Identifier: MIT
# compile TOOL ARTIFACT FILE [FLAG…]: builds a program from one file, and from files beside it that flags name. Where the
# packages that it imports are prepared (prepare.sh), by the compiler and the linker alone; else by `go build`.
c=/opt/fumehood/prepared/importcfg
t=$1 a=$2 f=$3 p=src/fhsplit
shift 3
for x; do
	case $x in
	-*) c=/ ;;
	*.go) ;;
	*) c=/ ;;
	esac
done
if [ -d $p ]; then export GOPATH="$PWD"; fi
if [ -f $c ]; then
	if [ -d $p ]; then
		"$t" tool compile -o .fhsplit.o -p fhsplit -complete -importcfg $c $p/*.go &&
			{ cat $c; echo packagefile fhsplit=.fhsplit.o; } >.importcfg && c=.importcfg || exit
	fi
	if "$t" tool compile -o .main.o -p main -complete -importcfg $c "$@" "$f" >.errors 2>&1; then
		exec "$t" tool link -s -w -importcfg $c -o "$a" .main.o
	fi
	if ! grep -qE 'could not import|embed' .errors; then
		echo '# command-line-arguments'
		cat .errors
		exit 1
	fi >&2
fi
exec "$t" build -o "$a" "$@" "$f"
