# SPDX-License-Identifier: MIT
# compile TOOL FILE PREFIX ARTIFACT: classes, and one archive of them. Where that is prepared (prepare.sh), one virtual
# machine makes both, with half the CPU time. Classes in .fhsplit.jar, which the judge compiled before, join the others; a
# program may have none of their names.
p=/opt/fumehood/prepared j=.fhsplit.jar tool=$1 b=$3/bin artifact=$4
jar() { "$b/jar" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 "$@"; }
# build FILE: adds its classes to those in .classes, and makes the archive.
build() {
	if [ -f $p/compile.jsa ]; then
		cp $p/compile.jar .compile.jar && touch -d @0 .compile.jar &&
			"$b/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=$p/compile.jsa -Xlog:disable \
				-Xlog:all=error:stderr -cp .compile.jar Compile "$1" "$artifact"
		return
	fi
	mkdir -p .fhsplit || return
	if [ -f $j ]; then (cd .fhsplit && jar -xf ../$j) || return; fi
	"$tool" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -cp .:.fhsplit -d .classes "$1" || return
	for x in $(cd .fhsplit && find . -name '*.class'); do
		if [ -e .classes/"$x" ]; then
			echo "error: duplicate class: ${x#./}" >&2
			return 1
		fi
		mkdir -p .classes/"${x%/*}" && mv .fhsplit/"$x" .classes/"$x" || return
	done
	jar -cf0 "$artifact" -C .classes .
}
# The judge's own files are started by the classes that they are named after.
case $2 in SplitJudge.java | SplitProgram.java | SplitCandidate.java | SplitJUnit.java)
	build "$2"
	exit
	;;
esac
# A program as people write it: its public class may have any name, which javac wants the file to have.
build "$2" 2>.errors
status=$?
name=${2%.java}
[ $status = 0 ] || [ "$2" != Main.java ] ||
	name=$(sed -n 's/^Main\.java:[0-9]*: error: class \([^ ]*\) is public, should be declared in a file named .*/\1/p' .errors | sed -n 1p)
if [ $status = 0 ] || [ "$2" != Main.java ] || [ -z "$name" ] || [ "$name" = Main ]; then
	cat .errors >&2
else
	mv Main.java "$name.java" && build "$name.java"
	status=$?
fi
if [ $status != 0 ] || [ -f .classes/Main.class ]; then exit $status; fi
# No class Main in the unnamed package: one that starts the first class with a main, that of the file's name before others.
cd .classes || exit
{
	echo 'class Main { public static void main(String[] arguments) throws Throwable { for (String name : new String[] {'
	for x in $(find . -name '*.class' | grep "/$name\.class$") $(find . -name '*.class' | sort); do
		x=${x#./} && grep -qF '([Ljava/lang/String;)V' "$x" && echo "${x%.class}" | sed 's,/,.,g; s/.*/"&",/'
	done
	echo '}) { java.lang.reflect.Method main; try {'
	echo '	main = Class.forName(name, false, Main.class.getClassLoader()).getDeclaredMethod("main", String[].class);'
	echo '} catch (NoSuchMethodException e) { continue; }'
	echo 'main.setAccessible(true);'
	echo 'try { main.invoke(null, (Object) arguments); } catch (java.lang.reflect.InvocationTargetException e) { throw e.getCause(); }'
	echo 'return; } throw new NoSuchMethodException("no class of the program has a main(String[])"); } }'
} >../Main.java
cd .. && build Main.java
