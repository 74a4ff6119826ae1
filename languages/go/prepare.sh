# SPDX-License-Identifier: MIT
# prepare TOOL: compiles, of the standard library, what programs of exercises and their tests use, as far as this tool
# chain has it. Where a program imports any other package, `go build` compiles all that it needs, each time.
set -e
there=$("$1" list -e -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' \
	bufio bytes cmp container/heap container/list container/ring context crypto/md5 crypto/rand crypto/sha1 \
	crypto/sha256 crypto/sha512 embed encoding/base32 encoding/base64 encoding/binary encoding/csv encoding/hex \
	encoding/json errors flag fmt hash/adler32 hash/crc32 hash/fnv hash/maphash html index/suffixarray io io/fs \
	io/ioutil iter log maps math math/big math/bits math/cmplx math/rand math/rand/v2 net/url os os/exec os/signal \
	path path/filepath reflect regexp runtime runtime/debug slices sort strconv strings sync sync/atomic testing \
	text/scanner text/tabwriter text/template time unicode unicode/utf16 unicode/utf8 unique)
"$1" list -deps -export -f '{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}' $there >list
n=0
while read -r name file; do
	cp "$file" $n.a
	echo "packagefile $name=/opt/fumehood/prepared/$n.a"
	n=$((n + 1))
done <list >importcfg
