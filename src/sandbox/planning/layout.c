/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/layout.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "survey/survey_host.h"

#define SMALL_FILE_MAX (4 << 10)
#define ACCOUNTS_MAX (1 << 20)

const char *fh_layout_home(const struct fh_plan *plan)
{
	return plan->uid == 0 ? "/root" : "/home/user";
}

static void add_file(struct fh_plan *plan, const char *target, struct fh_str text)
{
	struct fh_plan_mount *m = fh_plan_add_mount(plan, FH_MOUNT_FILE, target, NULL);
	m->content.data = fh_xmemdup(text.p, text.n);
	m->content.size = text.n;
}

/* Adds the host's file at `path` at the same path inside: a link as a link, a folder or file as a read-only bind. Small
 * files are copied, because a mount costs more than a write. Adds nothing if the file does not exist. */
static void add_as_is(struct fh_plan *plan, struct fh_survey *s, const char *path)
{
	struct fh_survey_facts facts;
	if (!fh_survey_own_facts(s, path, &facts))
		return;
	if (S_ISLNK(facts.mode)) {
		fh_auto_free char *text = fh_survey_link(s, path);
		if (text && text[0])
			fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, path, text);
		return;
	}
	if (S_ISREG(facts.mode) && facts.size <= SMALL_FILE_MAX) {
		fh_auto_buf struct fh_buf content = FH_BUF_INIT(SMALL_FILE_MAX);
		if (fh_survey_text(s, "", path, &content) == 0)
			add_file(plan, path, fh_buf_str(&content));
		return;
	}
	if (S_ISDIR(facts.mode) || S_ISREG(facts.mode))
		fh_plan_add_mount(plan, FH_MOUNT_BIND, path, path);
}

/* The parts of /etc that programs need and that reveal nothing about the host's users or secrets. */
static const char *const etc_parts[] = {
	"/etc/R",
	"/etc/alternatives",
	"/etc/debian_version",
	"/etc/fonts",
	"/etc/java*-openjdk",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/ld.so.conf.d",
	"/etc/localtime",
	"/etc/matplotlibrc",
	"/etc/mime.types",
	"/etc/os-release",
	"/etc/perl",
	"/etc/protocols",
	"/etc/python3",
	"/etc/python3.*",
	"/etc/services",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/timezone",
	"/etc/pki/tls/certs",
	"/etc/pki/ca-trust/extracted",
	"/etc/ca-certificates/extracted",
};

static void add_etc(struct fh_plan *plan, struct fh_survey *s)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(etc_parts); i++) {
		if (!strchr(etc_parts[i], '*')) {
			add_as_is(plan, s, etc_parts[i]);
			continue;
		}
		fh_auto_survey_list char **found = fh_survey_glob(s, etc_parts[i]);
		for (size_t k = 0; found[k]; k++)
			add_as_is(plan, s, found[k]);
	}
}

static void add_hosts(struct fh_plan *plan)
{
	fh_auto_free char *hosts = fh_xasprintf(
	    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\t%s\n", plan->hostname);
	fh_auto_free char *hostname = fh_xasprintf("%s\n", plan->hostname);
	add_file(plan, "/etc/hosts", fh_str(hosts));
	add_file(plan, "/etc/hostname", fh_str(hostname));
}

static void add_private(struct fh_plan *plan)
{
	fh_plan_add_mount(plan, FH_MOUNT_PROC, "/proc", NULL);
	fh_plan_add_mount(plan, FH_MOUNT_DEV, "/dev", NULL);
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/tmp", NULL)->mode = 01777;
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/var/tmp", NULL)->mode = 01777;
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/home/user", NULL)->mode = 0755;
	if (plan->uid == 0)
		fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/root", NULL)->mode = 0700;
}

#define PASSWD_USER "user:x:1000:1000:user:/home/user:/bin/bash\n"
#define GROUP_USER "user:x:1000:\n"

static void add_programs(struct fh_plan *plan, struct fh_survey *s)
{
	static const char *const folders[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(folders); i++)
		add_as_is(plan, s, folders[i]);
	add_etc(plan, s);
}

/* The same from a cache. Searching takes about a hundred system calls, more than half of the time for a plan, and finds
 * the same for every plan. A thread that finds the cache locked searches itself. Only for the machine of this process:
 * any other survey is asked, since a record has to hold every answer. */
static void add_programs_again(struct fh_plan *plan, struct fh_survey *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct fh_plan *found;
	static int64_t until_ns;
	if (!fh_survey_is_host(s) || pthread_mutex_trylock(&lock) != 0) {
		add_programs(plan, s);
		return;
	}
	if (!found || fh_now_ns() >= until_ns) {
		fh_plan_free(found);
		found = fh_plan_new();
		add_programs(found, s);
		until_ns = fh_now_ns() + FH_NS_PER_S;
	}
	fh_plan_copy_mounts(plan, found);
	pthread_mutex_unlock(&lock);
}

void fh_layout_host(struct fh_plan *plan, struct fh_survey *s)
{
	add_programs_again(plan, s);
	add_file(plan, "/etc/passwd",
	         fh_str("root:x:0:0:root:/root:/bin/bash\n" PASSWD_USER
	                "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"));
	add_file(plan, "/etc/group", fh_str("root:x:0:\n" GROUP_USER "nogroup:x:65534:\n"));
	add_file(plan, "/etc/nsswitch.conf",
	         fh_str("passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"
	                "services: files\nprotocols: files\n"));
	add_hosts(plan);
	fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, "/etc/mtab", "/proc/self/mounts");
	fh_plan_add_mount(plan, FH_MOUNT_DIR, "/run", NULL);
	add_private(plan);
}

/* ----------------------------------------------------------------------------------------------------------- images */

/* Reads a file of the image, with links resolved as if the image were the root; empty if it does not exist. */
static int read_in_image(struct fh_survey *s, const char *image, const char *path, struct fh_buf *out,
                         struct fh_error *err)
{
	int error = fh_survey_text(s, image, path, out);
	if (error == 0 || error == ENOENT)
		return 0;
	if (error == EINVAL)
		return fh_error_set(err, FH_E_CONFIG, "%s of the image is not a regular file", path);
	if (error == EFBIG)
		return fh_error_set(err, FH_E_LIMIT, "%s of the image is larger than %d bytes", path, ACCOUNTS_MAX);
	return fh_error_sys(err, error, "cannot read %s of the image", path);
}

/* Whether passwd or group contains the name or the id of the sandbox's user. */
static bool has_account(const struct fh_buf *text)
{
	return text->n > 0 && (fh_starts_with(text->p, "user:") || strstr(text->p, "\nuser:") || strstr(text->p, ":1000:"));
}

static int add_accounts(struct fh_plan *plan, struct fh_survey *s, const char *path, const char *line,
                        struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(ACCOUNTS_MAX);
	int r = read_in_image(s, plan->image, path, &text, err);
	if (r < 0 || has_account(&text))
		return r;
	if (text.n > 0 && text.p[text.n - 1] != '\n')
		fh_buf_addc(&text, '\n');
	fh_buf_adds(&text, line);
	add_file(plan, path, fh_buf_str(&text));
	return 0;
}

int fh_layout_image(struct fh_plan *plan, struct fh_survey *s, struct fh_error *err)
{
	int r = add_accounts(plan, s, "/etc/passwd", "user:x:1000:1000:user:/home/user:/bin/sh\n", err);
	if (r == 0)
		r = add_accounts(plan, s, "/etc/group", GROUP_USER, err);
	if (r < 0)
		return r;
	add_hosts(plan);
	add_private(plan);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- hiding */

static bool has_entries(struct fh_survey *s, const char *dir)
{
	fh_auto_survey_list char **names = fh_survey_names(s, dir, 1);
	return names[0];
}

static bool hidden_already(const struct fh_plan *plan, size_t first, const char *path)
{
	for (size_t i = first; i < plan->mount_count; i++)
		if (plan->mounts[i].kind != FH_MOUNT_BIND && fh_path_within(path, plan->mounts[i].target))
			return true;
	return false;
}

/* Covers one folder. `inside` is its path in the sandbox. */
static void hide_folder(struct fh_plan *plan, struct fh_survey *s, const char *inside, char *const *keep)
{
	bool kept = false;
	for (size_t i = 0; keep[i]; i++)
		kept |= fh_path_within(keep[i], inside) && fh_survey_exists(s, keep[i]);
	if (plan->image || !kept) {
		fh_plan_add_mount(plan, FH_MOUNT_MASK, inside, NULL)->optional = true;
		return;
	}
	/* A mount inside a mask is not possible; inside an empty writable folder it is. */
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, inside, NULL);
	for (size_t i = 0; keep[i]; i++)
		if (fh_path_within(keep[i], inside) && fh_survey_exists(s, keep[i]))
			fh_plan_add_mount(plan, FH_MOUNT_BIND, keep[i], keep[i]);
}

static void hide_pattern(struct fh_plan *plan, struct fh_survey *s, size_t first, const char *pattern,
                         char *const *keep)
{
	size_t root = plan->image ? strlen(plan->image) : 0;
	fh_auto_free char *on_host = fh_xasprintf("%s%s", plan->image ? plan->image : "", pattern);
	fh_auto_survey_list char **found = fh_survey_glob(s, on_host);
	for (size_t i = 0; found[i] && plan->mount_count < FH_PLAN_MOUNTS_MAX; i++) {
		/* Covered under its real path: a mount on a link would cover another folder than the one that programs read. */
		fh_auto_free char *real = plan->image ? fh_xstrdup(found[i]) : fh_survey_real(s, found[i]);
		if (!real || !fh_survey_is_dir(s, real) || !has_entries(s, real) || hidden_already(plan, first, real + root))
			continue;
		hide_folder(plan, s, real + root, keep);
	}
}

void fh_layout_hide(struct fh_plan *plan, struct fh_survey *s, char *const *patterns, char *const *keep,
                    char *const *prefixes)
{
	static const char word[] = "{prefix}";
	size_t first = plan->mount_count;
	for (; *patterns; patterns++) {
		if (!fh_starts_with(*patterns, word)) {
			hide_pattern(plan, s, first, *patterns, keep);
			continue;
		}
		for (size_t i = 0; prefixes[i]; i++) {
			fh_auto_free char *pattern =
			    fh_xasprintf("%s%s", fh_streq(prefixes[i], "/") ? "" : prefixes[i], *patterns + sizeof(word) - 1);
			hide_pattern(plan, s, first, pattern, keep);
		}
	}
}
