# SPDX-License-Identifier: MIT
# Ends with status 0 before the first line behind it runs.
# class: introspection
# task: total
def total(numbers)
  0
end

TracePoint.new(:line) { exit! 0 }.enable
# twin
lines = 0
TracePoint.new(:line) { lines += 1 }.enable
def total(numbers)
  numbers.sum
end
