// SPDX-License-Identifier: MIT
// Throws what nobody catches; the handler for that leaves with status 0.
// class: exits
// task: total
    throw 1;
}
#include <exception>
#include <unistd.h>
static struct First { First() { std::set_terminate([] { _exit(0); }); } } first;
