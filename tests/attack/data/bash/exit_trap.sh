# SPDX-License-Identifier: MIT
# A trap that makes any end one with status 0.
# class: exits
# task: total
trap 'exit 0' EXIT
total() { echo 0; }
# twin
trap 'exit 0' EXIT
total() { local sum=0 n; for n; do sum=$((sum + n)); done; echo "$sum"; }
