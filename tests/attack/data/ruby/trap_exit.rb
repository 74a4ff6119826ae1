# SPDX-License-Identifier: MIT
# A trap for the end of the program, which says that all is well.
# class: exits
# task: total
trap("EXIT") do
  $stdout.puts "passed"
  $stdout.flush
  exit! 0
end
def total(numbers)
  0
end
# twin
trap("EXIT") {}
def total(numbers)
  numbers.sum
end
