# SPDX-License-Identifier: MIT
# compile TOOL ARTIFACT FILE [FLAG…]: builds a program from one file, and from files beside it that flags name. Where the
# packages that it imports are prepared (prepare.sh), by the compiler and the linker alone; else by `go build`.
# The judge's own package is in src/fhsplit. If FILE belongs to it, the artifact is that package compiled, which needs the
# prepared packages. A later compilation that gets it as src/fhsplit.a does not compile the package again.
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
	# Collecting less often saves a fifth of the CPU time of short compilations.
	export GOGC=400 GOMEMLIMIT=1GiB
	if [ -d $p ]; then
		o=.fhsplit.o
		if grep -q '^package fhsplit' "$f"; then o=$a; fi
		if [ -f $p.a ]; then
			o=$p.a
		else
			"$t" tool compile -o "$o" -p fhsplit -complete -importcfg $c $p/*.go || exit
			if [ "$o" = "$a" ]; then exit; fi
		fi
		{ cat $c; echo packagefile fhsplit=$o; } >.importcfg && c=.importcfg || exit
	fi
	if "$t" tool compile -o .main.o -p main -complete -importcfg $c "$@" "$f" >.errors 2>&1; then
		exec "$t" tool link -s -w -importcfg $c -o "$a" .main.o
	fi
	if ! grep -qE 'could not import|embed' .errors; then
		echo '# command-line-arguments'
		cat .errors
		exit 1
	fi >&2
	unset GOGC GOMEMLIMIT
elif grep -q '^package fhsplit' "$f"; then
	echo 'error: the packages of the standard library are not prepared' >&2
	exit 1
fi
exec "$t" build -o "$a" "$@" "$f"
