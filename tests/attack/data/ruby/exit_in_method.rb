# SPDX-License-Identifier: MIT
# Ends with status 0 when it is called.
# class: exits
# task: total
def total(numbers)
  exit
end
# twin
def total(numbers)
  numbers.inject(0) { |a, b| a + b }
end
