# SPDX-License-Identifier: MIT
# Starts many processes that go on, and ends with status 0.
# class: resources
# task: total
total() { echo 0; }
for i in {1..40}; do sleep 20 & done 2>/dev/null
builtin exit 0
