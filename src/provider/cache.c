/* SPDX-License-Identifier: MIT */
#include "provider/cache.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/fd.h"
#include "base/text/parse.h"
#include "base/path.h"
#include "base/text/sha256.h"

#define FH_CACHE_TTL_S (UINT64_C(14) * 86400)
#define FH_CACHE_FILE_MAX ((size_t)128 << 20)
#define FH_CACHE_TICK_NS (50 * FH_NS_PER_MS)

struct fh_response_cache {
	char *dir;
	uint64_t ttl_s;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char (*under_way)[FH_CACHE_KEY];
	size_t n, capacity;
};

static char *fh_cache_usual_dir(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = { { "PROMPTFOO_CACHE_PATH", "fumehood-responses" },
		           { "XDG_CACHE_HOME", "fumehood/responses" },
		           { "HOME", ".cache/fumehood/responses" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(places); i++) {
		const char *base = getenv(places[i].variable);
		if (base && *base == '/')
			return fh_path_join(base, places[i].below);
	}
	return fh_xasprintf("/tmp/fumehood-responses-%u", (unsigned)geteuid());
}

struct fh_response_cache *fh_response_cache_new(const char *dir, uint64_t ttl_s)
{
	const char *ttl = getenv("PROMPTFOO_CACHE_TTL");
	struct fh_response_cache *c = FH_NEW(struct fh_response_cache);
	c->dir = dir ? fh_xstrdup(dir) : fh_cache_usual_dir();
	c->ttl_s = ttl_s;
	if (!ttl_s && (!ttl || fh_parse_u64(ttl, 1, UINT64_C(1) << 40, &c->ttl_s, NULL)))
		c->ttl_s = FH_CACHE_TTL_S;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return c;
}

void fh_response_cache_free(struct fh_response_cache *c)
{
	if (!c)
		return;
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c->under_way);
	free(c->dir);
	free(c);
}

const char *fh_response_cache_dir(const struct fh_response_cache *c)
{
	return c->dir;
}

void fh_response_cache_key(const json_t *about, char ret[FH_CACHE_KEY])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	char *sorted = json_dumps(about, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	char *text = sorted ? sorted : fh_json_text(about, 0);
	fh_sha256_add_field(&h, fh_str(text));
	fh_sha256_hex(&h, ret);
	free(text);
}

static char *fh_cache_path(const struct fh_response_cache *c, const char *key)
{
	return fh_xasprintf("%s/%.2s/%s.json", c->dir, key, key);
}

/* Loads an entry. NULL: it is too old or no JSON, or its file belongs to or can be written by others, who could have
 * put anything there. */
static json_t *fh_cache_load(const struct fh_response_cache *c, const char *key)
{
	fh_auto_free char *path = fh_cache_path(c, key);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_CACHE_FILE_MAX);
	struct stat st;
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return NULL;
	int64_t age = (int64_t)time(NULL) - (int64_t)st.st_mtime;
	if (age > (int64_t)c->ttl_s) {
		unlink(path);
		return NULL;
	}
	if (fh_file_read(path, &text, NULL))
		return NULL;
	return fh_json_parse(fh_buf_str(&text), NULL, NULL);
}

/* Makes the missing folders of a path, accessible only by us. */
static void fh_cache_make_dirs(const char *file)
{
	fh_auto_free char *path = fh_xstrdup(file);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

static void fh_cache_save(const struct fh_response_cache *c, const char *key, const json_t *answer)
{
	fh_auto_free char *path = fh_cache_path(c, key);
	fh_auto_free char *text = fh_json_text(answer, 0);
	fh_cache_make_dirs(path);
	(void)fh_file_write_atomic(path, text, strlen(text), 0600, NULL);
}

static size_t fh_cache_find(const struct fh_response_cache *c, const char *key)
{
	size_t i = 0;
	while (i < c->n && strcmp(c->under_way[i], key) != 0)
		i++;
	return i;
}

int fh_response_cache_begin(struct fh_response_cache *c, const char *key, const volatile int *cancel, json_t **ret,
                            struct fh_error *err)
{
	json_t *found = NULL;
	int code = 0;
	pthread_mutex_lock(&c->lock);
	while (!code && fh_cache_find(c, key) < c->n) {
		int64_t until = fh_now_ns() + FH_CACHE_TICK_NS;
		struct timespec t = { .tv_sec = until / FH_NS_PER_S, .tv_nsec = until % FH_NS_PER_S };
		pthread_cond_timedwait(&c->changed, &c->lock, &t);
		if (cancel && *cancel)
			code = fh_error_set(err, FH_E_CANCELLED, "cancelled");
	}
	if (!code) {
		FH_PUSH(c->under_way, c->n, c->capacity)[0] = 0;
		memcpy(c->under_way[c->n - 1], key, FH_CACHE_KEY);
	}
	pthread_mutex_unlock(&c->lock);
	if (code)
		return code;
	found = fh_cache_load(c, key);
	if (found)
		fh_response_cache_end(c, key, NULL);
	*ret = found;
	return 0;
}

void fh_response_cache_end(struct fh_response_cache *c, const char *key, const json_t *answer)
{
	if (answer)
		fh_cache_save(c, key, answer);
	pthread_mutex_lock(&c->lock);
	size_t i = fh_cache_find(c, key);
	if (i < c->n)
		memcpy(c->under_way[i], c->under_way[--c->n], FH_CACHE_KEY);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Removes only files whose names are those of entries: the user may have chosen a folder that holds others. */
static size_t fh_cache_clear_dir(const char *dir)
{
	size_t n = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strlen(e->d_name) != FH_CACHE_KEY - 1 + strlen(".json") || !fh_streq(fh_path_ext(e->d_name), ".json") ||
		    strspn(e->d_name, "0123456789abcdef") != FH_CACHE_KEY - 1)
			continue;
		n += unlinkat(dirfd(d), e->d_name, 0) == 0;
	}
	if (d)
		closedir(d);
	return n;
}

int fh_response_cache_clear(struct fh_response_cache *c, size_t *ret_count, struct fh_error *err)
{
	size_t n = 0;
	DIR *d = opendir(c->dir);
	if (!d && errno != ENOENT)
		return fh_error_sys(err, errno, "cannot open %s", c->dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strlen(e->d_name) != 2 || strspn(e->d_name, "0123456789abcdef") != 2)
			continue;
		fh_auto_free char *below = fh_path_join(c->dir, e->d_name);
		n += fh_cache_clear_dir(below);
		(void)rmdir(below);
	}
	if (d)
		closedir(d);
	*ret_count = n;
	return 0;
}
