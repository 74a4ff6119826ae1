/* SPDX-License-Identifier: MIT */
#include "engine/make/seccomp_setup.h"

/* Only calls that the policy treats without looking at arguments can be listed: the seal tests the number of a call
 * alone. */
const char *const fh_seccomp_setup_calls[] = {
	"setns",
	"unshare",
	"umount2",
	"clone3",
	"mount",
	"fsopen",
	"fsconfig",
	"fsmount",
	"open_tree",
	"move_mount",
	"mount_setattr",
	"openat2",
	"seccomp",
	"landlock_create_ruleset",
	"landlock_add_rule",
};
const size_t fh_seccomp_setup_call_count = sizeof(fh_seccomp_setup_calls) / sizeof(fh_seccomp_setup_calls[0]);

/* The calls of that list that a zygote makes for a program. */
const char *const fh_seccomp_zygote_calls[] = { "setns", "clone3", "seccomp" };
const size_t fh_seccomp_zygote_call_count = sizeof(fh_seccomp_zygote_calls) / sizeof(fh_seccomp_zygote_calls[0]);
