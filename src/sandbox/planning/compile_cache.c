/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/compile_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "sandbox/planning/identity.h"
#include "sandbox/planning/interpreter.h"
#include "sandbox/planning/language.h"
#include "survey/cache_folder.h"
#include "survey/survey_host.h"

enum {
	USED_SECONDS = 60, /* precision of an entry's time of last use */
};

/* ------------------------------------------------------------------------------------------------------------- key */

/* Adds what is installed on the machine that is asked. */
static bool add_system(struct fh_sha256 *h, struct fh_survey *s)
{
	fh_auto_free char *digest = fh_survey_installed(s);
	if (digest)
		fh_sha256_add_field(h, fh_str(digest));
	return digest;
}

/* The folder above the tool's bin/. */
static char *prefix_of(const char *interpreter)
{
	fh_auto_free char *bin = fh_path_dir(interpreter);
	return fh_path_dir(bin);
}

static bool is_prepared(const struct fh_plan_mount *m)
{
	return m->kind == FH_MOUNT_BIND && fh_streq(m->target, FH_PREPARED_TARGET) && !m->writable && m->optional;
}

/* Whether a mount's content only changes with the system or the tool. A folder of the user's may change at any time. */
static bool is_stable(const struct fh_plan *plan, const struct fh_plan_mount *m, const char *prefix)
{
	if (m->kind == FH_MOUNT_VOLUME)
		return false;
	if (m->kind != FH_MOUNT_BIND || is_prepared(m))
		return true;
	if (m->writable || !m->source || !fh_streq(m->source, m->target))
		return false;
	return fh_in_default_image(m->source) || fh_starts_with(m->source, "/etc/") ||
	       (plan->interpreter[0] && !fh_streq(prefix, "/") && fh_path_within(m->source, prefix));
}

static bool tells_the_time(const struct fh_plan_file *f)
{
	static const char *const words[] = { "__DATE__", "__TIME__", "__TIMESTAMP__" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (f->content.size && memmem(f->content.data, f->content.size, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Adds the plan without the cache's own path: a prepared toolchain's folder is added by its name, which is a key
 * itself. */
static bool add_plan(struct fh_sha256 *h, const struct fh_plan *compile)
{
	fh_auto_buf struct fh_buf bytes = FH_BUF_INIT(0);
	fh_auto_free struct fh_plan_mount *mounts = fh_xcalloc(compile->mount_count + 1, sizeof(*mounts));
	struct fh_plan plan = *compile;
	for (size_t i = 0; i < compile->mount_count; i++) {
		mounts[i] = compile->mounts[i];
		if (is_prepared(&mounts[i]) && mounts[i].source)
			mounts[i].source = strrchr(mounts[i].source, '/') ? strrchr(mounts[i].source, '/') + 1 : mounts[i].source;
	}
	plan.mounts = mounts;
	plan.image_identity = NULL; /* the key has more of the system */
	fh_plan_encode(&bytes, &plan);
	fh_sha256_add_field(h, fh_buf_str(&bytes));
	return !bytes.overflowed;
}

bool fh_compile_key(const struct fh_plan *compile, const char *artifact, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_auto_free char *prefix = prefix_of(compile->interpreter);
	if (compile->image || !compile->interpreter[0])
		return false;
	for (size_t i = 0; i < compile->mount_count; i++)
		if (!is_stable(compile, &compile->mounts[i], prefix))
			return false;
	for (size_t i = 0; i < compile->file_count; i++)
		if (tells_the_time(&compile->files[i]))
			return false;
	fh_auto_survey_host struct fh_survey_host host;
	fh_survey_host_init(&host);
	fh_sha256_add_field(&h, fh_str("fumehood compiled 3"));
	bool whole = add_plan(&h, compile);
	fh_sha256_add_field(&h, fh_str(artifact));
	if (compile->argv[0] && compile->argv[0][0] == '/') /* an edited plan may name another program */
		(void)fh_identity_add_file(&h, &host.survey, compile->argv[0]);
	if (!whole || !fh_identity_add_file(&h, &host.survey, compile->interpreter) || !add_system(&h, &host.survey))
		return false;
	fh_sha256_hex(&h, ret_hex);
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- folder */

char *fh_compile_cache_dir(void)
{
	return fh_cache_folder("compile");
}

char *fh_prepared_dir(struct fh_survey *s, const struct fh_language *l, const char *interpreter)
{
	struct fh_sha256 h = FH_SHA256_INIT;
	char hex[FH_SHA256_HEX];
	fh_auto_free char *folder = interpreter[0] ? fh_survey_cache(s, "prepared") : NULL;
	if (!folder)
		return NULL;
	fh_sha256_add_field(&h, fh_str("fumehood prepared 3"));
	for (size_t i = 0; l->prepare[i]; i++)
		fh_sha256_add_field(&h, fh_str(l->prepare[i]));
	for (size_t i = 0; l->env[i]; i++)
		fh_sha256_add_field(&h, fh_str(l->env[i]));
	if (!fh_identity_add_file(&h, s, interpreter) || !add_system(&h, s))
		return NULL;
	fh_sha256_hex(&h, hex);
	fh_auto_free char *name = fh_xasprintf("%s-%s", l->name, hex);
	return fh_path_join(folder, name);
}

/* ---------------------------------------------------------------------------------------------------------- entries */

/* The head of an entry. It reveals files that were renamed by hand or cut by a crash. */
struct head {
	char magic[24];
	char key[FH_SHA256_HEX - 1];
	uint64_t size;
};
static const char magic[24] = "fumehood compiled 1\n";

static bool read_exactly(int fd, void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = read(fd, (char *)p + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

static bool is_entry(int fd, const char *key, struct head *h)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && read_exactly(fd, h, sizeof(*h)) &&
	       memcmp(h->magic, magic, sizeof(magic)) == 0 && memcmp(h->key, key, sizeof(h->key)) == 0 &&
	       h->size <= FH_COMPILE_ENTRY_MAX && (uint64_t)st.st_size == h->size + sizeof(*h);
}

int fh_compile_cache_load(const char *key, struct fh_buf *out)
{
	struct head h;
	struct stat st;
	fh_auto_free char *dir = fh_compile_cache_dir();
	if (!dir)
		return -FH_E_NOT_FOUND;
	fh_auto_free char *path = fh_path_join(dir, key);
	fh_auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !is_entry(fd, key, &h))
		return -FH_E_NOT_FOUND;
	char *room = fh_buf_reserve(out, h.size);
	if (!room || !read_exactly(fd, room, h.size))
		return -FH_E_NOT_FOUND;
	out->n += h.size;
	if (fstat(fd, &st) == 0 && time(NULL) - st.st_mtime > USED_SECONDS)
		(void)futimens(fd, NULL); /* records the time of last use, by which entries are removed */
	return 0;
}

struct entry {
	char *name;
	int64_t used;
	uint64_t size;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return x->used < y->used ? -1 : x->used > y->used;
}

/* Removes the least recently used entries until three quarters of the limit are in use. */
static void make_room(const char *dir, uint64_t limit)
{
	fh_auto_close int fd = fh_cache_folder_open(dir);
	struct dirent **names;
	int n = fd < 0 ? -1 : scandirat(fd, ".", &names, NULL, NULL);
	if (n < 0)
		return;
	fh_auto_free struct entry *entries = fh_xcalloc((size_t)n + 1, sizeof(*entries));
	uint64_t total = 0;
	size_t count = 0;
	for (int i = 0; i < n; i++) {
		struct stat st;
		if (fstatat(fd, names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode))
			continue;
		entries[count++] = (struct entry){ names[i]->d_name, st.st_mtime, (uint64_t)st.st_size };
		total += (uint64_t)st.st_size;
	}
	if (total > limit) {
		qsort(entries, count, sizeof(*entries), by_use);
		for (size_t i = 0; i < count && total > limit / 4 * 3; i++)
			if (unlinkat(fd, entries[i].name, 0) == 0)
				total -= entries[i].size;
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

void fh_compile_cache_store(const char *key, const void *p, size_t n)
{
	uint64_t limit = fh_cache_max_bytes();
	fh_auto_free char *dir = n <= FH_COMPILE_ENTRY_MAX && n <= limit / 2 ? fh_compile_cache_dir() : NULL;
	if (!dir)
		return;
	struct head h = { .size = n };
	fh_auto_buf struct fh_buf whole = FH_BUF_INIT(FH_COMPILE_ENTRY_MAX + sizeof(h));
	fh_auto_free char *path = fh_path_join(dir, key);
	memcpy(h.magic, magic, sizeof(magic));
	memcpy(h.key, key, sizeof(h.key));
	(void)fh_buf_add(&whole, &h, sizeof(h));
	(void)fh_buf_add(&whole, p, n);
	if (!whole.overflowed && fh_file_replace(path, whole.p, whole.n, 0600, NULL) >= 0)
		make_room(dir, limit);
}
