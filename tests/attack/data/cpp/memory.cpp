// SPDX-License-Identifier: MIT
// Takes memory until there is none; the handler for that leaves with status 0.
// class: resources
// task: total
    vector<char *> held;
    for (;;) held.push_back(new char[64 << 20]);
}
#include <new>
#include <sys/resource.h>
#include <unistd.h>
static struct First {
    First() {
        struct rlimit limit = { 1u << 29, 1u << 29 };
        setrlimit(RLIMIT_DATA, &limit);
        std::set_new_handler([] { _exit(0); });
    }
} first;
