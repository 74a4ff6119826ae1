# SPDX-License-Identifier: MIT
# compile TOOL ARTIFACT FILE [FLAG…] -- [LINK…]: with the compiler's own standard (C++17 from GCC 11 to 15), and with C++20
# where the program does not compile otherwise. Not so where a flag names a standard, or asks for an object, whose other half
# keeps to the compiler's own; nor where another standard mends nothing, as the first error is the linker's, or in the lines
# that fumehood judge adds to a program (src/judge/languages/cpp_adapter.h).
tool=$1 artifact=$2 file=$3 link= retry=1
shift 3
for x; do
	shift
	case $link$x in
	-std=* | --std=* | -c) retry= ;;
	--) link=1 && continue ;;
	esac
	set -- "$@" "$x"
done
if [ ! "$retry" ]; then exec "$tool" -O2 -o "$artifact" "$file" "$@"; fi
"$tool" -O2 -o "$artifact" "$file" "$@" 2>.errors
status=$?
case $(grep -m 1 'error: ' .errors) in
fumehood-adapter.cpp:* | collect2:* | */ld:* | */ld.*:* | *'linker command failed'*) retry= ;;
esac
if [ $status != 0 ] && [ "$retry" ] && "$tool" -O2 -std=gnu++20 -o "$artifact" "$file" "$@" 2>.errors20; then exit; fi
cat .errors >&2
exit $status
