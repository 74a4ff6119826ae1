# SPDX-License-Identifier: MIT
# A thread ends the program with status 0 while its main thread waits.
# class: resources
# task: total
Thread.new { exit! 0 }
sleep 1

def total(numbers)
  0
end
# twin
def total(numbers)
  Thread.new { numbers.sum }.value
end
