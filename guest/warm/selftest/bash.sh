# SPDX-License-Identifier: MIT
# What a fork may have broken: process ids, children, pipes, files, randomness. Builtins only.
[[ $$ == "$BASHPID" && $PPID == [0-9]* ]] || { echo "pid $$ $BASHPID $PPID"; exit 1; }
inner=$(echo "$BASHPID $RANDOM$RANDOM$RANDOM$RANDOM")
[[ ${inner% *} != "$$" && ${inner#* } != "$RANDOM$RANDOM$RANDOM$RANDOM" ]] || { echo "subshell $inner"; exit 1; }
(exit 7) & wait $!
[[ $? == 7 ]] || { echo "wait"; exit 1; }
echo a | { read -r line; [[ $line == a ]]; } || { echo "pipe"; exit 1; }
read -r line </proc/self/status || [[ ! -e /proc/self/status ]] || { echo "file"; exit 1; }
trap 'echo ok' EXIT
((SECONDS < 20))
