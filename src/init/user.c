/* SPDX-License-Identifier: MIT */
/* Becomes the program's user, and reads back from the kernel what rights that left. Also linked into the warm library
 * (guest/warm). */
#include "init/init.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/securebits.h>

/* Whether the bounding set was emptied, and the kernel says so: of init, and so of all that it forks, since the set
 * never grows in a user namespace and is inherited. Asking for it takes one call for each capability. */
static int bounding_is_empty;

static uint64_t read_bounding(void)
{
	uint64_t set = 0;
	for (int cap = 0; cap < 64; cap++) {
		int has = (int)fh_sys(__NR_prctl, PR_CAPBSET_READ, cap, 0, 0, 0);
		if (has == -EINVAL) /* the kernel knows no higher capability */
			break;
		if (has == 1)
			set |= 1ULL << cap;
	}
	return set;
}

int fh_init_empty_bounding(void)
{
	long r = 0;
	for (int cap = 0; r == 0 && cap < 64; cap++)
		r = fh_sys(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (r == -EINVAL) /* the kernel has no capability with a higher number */
		r = 0;
	bounding_is_empty = r == 0 && read_bounding() == 0;
	return (int)r;
}

int fh_init_become_user(const struct fh_init_start *as)
{
	/* securebits: exec gives uid 0 of the namespace no capabilities, and this cannot be changed */
	unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct rest[2] = { { 0 } };
	int drop = !as->keep_capabilities;
	if (as->uid == 0) /* keeps init's ambient capabilities of this mask, which survive exec */
		rest[0].permitted = rest[0].effective = rest[0].inheritable = as->root_capabilities;
	long r = as->rules ? fh_enter_domain(FH_INIT_RULES) : 0;
	if (r == 0 && drop)
		r = fh_sys(__NR_prctl, PR_SET_SECUREBITS, bits, 0, 0, 0);
	if (r == 0 && drop && !bounding_is_empty)
		r = fh_init_empty_bounding();
	if (r == 0 && as->switch_ids) {
		r = fh_sys(__NR_setgroups, 0, 0);
		if (r == 0)
			r = fh_sys(__NR_setresgid, as->gid, as->gid, as->gid);
		if (r == 0)
			r = fh_sys(__NR_setresuid, as->uid, as->uid, as->uid);
	}
	if (r == 0 && drop)
		r = fh_sys(__NR_capset, &head, rest); /* lowering the permitted capabilities lowers the ambient ones too */
	return (int)r;
}

int fh_init_lower_limits(const struct fh_init_rlimit *limits, uint32_t count, uint32_t *ret_resource)
{
	for (uint32_t i = 0; i < count; i++) {
		struct {
			uint64_t soft, hard;
		} limit = { limits[i].value, limits[i].value };
		*ret_resource = limits[i].resource;
		long r = fh_sys(__NR_prlimit64, 0, limits[i].resource, &limit, 0);
		if (r < 0)
			return (int)r;
	}
	return 0;
}

void fh_init_read_state(struct fh_init_state *s)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { { 0 } };
	/* if the kernel does not answer, the worst case is reported */
	if (fh_sys(__NR_capget, &head, caps) < 0)
		memset(caps, 0xff, sizeof(caps));
	s->cap_permitted = caps[0].permitted | (uint64_t)caps[1].permitted << 32;
	s->cap_effective = caps[0].effective | (uint64_t)caps[1].effective << 32;
	s->cap_inheritable = caps[0].inheritable | (uint64_t)caps[1].inheritable << 32;
	s->cap_bounding = bounding_is_empty ? 0 : read_bounding();
	s->no_new_privs = fh_sys(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	long mode = fh_sys(__NR_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
	s->seccomp = mode > 0 ? (uint32_t)mode : 0;
	s->uid = (uint32_t)fh_sys(__NR_geteuid);
	s->gid = (uint32_t)fh_sys(__NR_getegid);
}

int fh_init_enter_memory_group(const struct fh_init *in)
{
	return in->memory_group < 0 ? 0 : fh_write_full(in->memory_group, "0", 1);
}

int fh_init_become_helper(const struct fh_init_start *as)
{
	/* One of the sandbox's 65,536 ids, with which no program starts. Root inside can change to it and signal or kill a
	 * helper, which only makes the operation fail. The helper is not dumpable, so it can be neither traced nor read. */
	enum { HELPER_ID = 65533 };
	enum { OF_FILES = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_FOWNER };
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct rest[2] = { { 0 } }, set_ids[2] = { { 0 } };
	fh_sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!as->switch_ids)
		return fh_init_become_user(as);
	if (as->uid == 0)
		rest[0].permitted = rest[0].effective = as->root_capabilities & OF_FILES;
	set_ids[0].permitted = set_ids[0].effective = rest[0].permitted | 1u << CAP_SETUID;
	long r = as->rules ? fh_enter_domain(FH_INIT_RULES) : 0;
	if (r == 0)
		r = fh_sys(__NR_setgroups, 0, 0);
	if (r == 0)
		r = fh_sys(__NR_setresgid, as->gid, as->gid, as->gid);
	if (r == 0)
		r = fh_sys(__NR_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (r == 0)
		r = fh_sys(__NR_setresuid, HELPER_ID, HELPER_ID, HELPER_ID);
	if (r == 0)
		r = fh_sys(__NR_capset, &head, set_ids);
	if (r == 0) {
		fh_sys(__NR_setfsuid, as->uid);
		if (fh_sys(__NR_setfsuid, -1) != (long)as->uid) /* only a second call shows whether the first succeeded */
			r = -EPERM;
	}
	return r < 0 ? (int)r : (int)fh_sys(__NR_capset, &head, rest);
}
