# SPDX-License-Identifier: MIT
# compile TOOL FILE PREFIX ARTIFACT: classes, and one archive of them.
"$1" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -d .classes "$2" &&
	exec "$3/bin/jar" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -cf0 "$4" -C .classes .
