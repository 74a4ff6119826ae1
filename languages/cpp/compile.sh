# SPDX-License-Identifier: MIT
# compile TOOL ARTIFACT FILE [FLAG…] -- [LINK…]: with the compiler's own standard (C++17 from GCC 11 to 15), and with C++20
# where the program does not compile otherwise and nobody asked for a standard.
tool=$1 artifact=$2 file=$3
shift 3
flag=$1
for x; do
	shift
	[ "$x" = -- ] || set -- "$@" "$x"
done
if [ "$flag" != -- ]; then exec "$tool" -O2 -o "$artifact" "$file" "$@"; fi
"$tool" -O2 -o "$artifact" "$file" "$@" 2>.errors
status=$?
if [ $status != 0 ] && "$tool" -O2 -std=gnu++20 -o "$artifact" "$file" "$@" 2>.errors20; then exit; fi
cat .errors >&2
exit $status
