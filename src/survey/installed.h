/* SPDX-License-Identifier: MIT */
/*
 * A digest that is another one when a package of this machine is installed, removed or replaced, and on another
 * machine: for caches of what toolchains make. It is made of the facts of the package manager's databases, which change
 * with every package; of folders, for systems with another package manager; of all files below /usr/local/include and
 * /usr/local/lib; and of the machine's id, name and processor type.
 */
#pragma once
#include "base/text/sha256.h"

/* False: /usr/local holds too many files to look at all of them. */
bool fh_installed_digest(char ret_hex[FH_SHA256_HEX]);
