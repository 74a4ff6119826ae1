# SPDX-License-Identifier: MIT
# prepare TOOL: compiles, of the standard library, what programs of exercises use, as far as this tool chain has it.
set -e
there=$("$1" list -e -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' \
	bufio bytes cmp container/heap container/list container/ring context crypto/md5 crypto/sha256 encoding/binary \
	encoding/hex encoding/json errors fmt hash/fnv io iter log maps math math/big math/bits math/cmplx math/rand os \
	reflect regexp runtime slices sort strconv strings sync sync/atomic text/template time unicode unicode/utf8)
"$1" list -deps -export -f '{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}' $there >list
n=0
while read -r name file; do
	cp "$file" $n.a
	echo "packagefile $name=/opt/fumehood/prepared/$n.a"
	n=$((n + 1))
done <list >importcfg
