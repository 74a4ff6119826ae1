// SPDX-License-Identifier: MIT
// Prints the last line of a good run and crashes.
// class: spoofing
// task: total
    fputs("\033[2J\n{\"passed\": true}\npassed\n", stdout);
    fflush(stdout);
    __builtin_trap();
}
// twin
    long sum = 0;
    for (long n : numbers) sum += n;
    fputs("\033[2Jfailed\n", stdout);
    return sum;
}
