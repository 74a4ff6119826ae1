# SPDX-License-Identifier: MIT
# compile TOOL FILE PREFIX ARTIFACT: classes, and one archive of them. Where that is prepared (prepare.sh), one virtual
# machine makes both, with half the CPU time. Classes in .fhsplit.jar, which the judge compiled before, join the others; a
# program may have none of their names.
p=/opt/fumehood/prepared j=.fhsplit.jar
if [ -f $p/compile.jsa ]; then
	cp $p/compile.jar .compile.jar && touch -d @0 .compile.jar &&
		exec "$3/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=$p/compile.jsa -Xlog:disable \
			-Xlog:all=error:stderr -cp .compile.jar Compile "$2" "$4"
fi
jar() { "$b/jar" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 "$@"; }
b=$3/bin
mkdir .fhsplit || exit
if [ -f $j ]; then (cd .fhsplit && jar -xf ../$j) || exit; fi
"$1" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -cp .:.fhsplit -d .classes "$2" || exit
for x in .fhsplit/*.class; do
	[ -f "$x" ] || continue
	if [ -e .classes/"${x#*/}" ]; then
		echo "error: duplicate class: ${x#*/}" >&2
		exit 1
	fi
	mv "$x" .classes || exit
done
jar -cf0 "$4" -C .classes .
