/* SPDX-License-Identifier: MIT */
#include "e2b/common/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fumehood/session.h"

enum { NAME_MAX_BYTES = 160, RECORD_MAX = 16 << 20 };
static const char files_end[] = ".files", record_end[] = ".json", half_end[] = ".tmp";

struct fh_state {
	char *path; /* absolute */
	int folder, lock;
};

static int is_half(const struct dirent *e)
{
	size_t n = strlen(e->d_name), end = sizeof(half_end) - 1;
	return n > end && strcmp(e->d_name + n - end, half_end) == 0;
}

/* Removes records that a server left half written when it was killed. */
static void remove_halves(int folder)
{
	struct dirent **entries = NULL;
	int n = scandirat(folder, ".", &entries, is_half, NULL);
	for (int i = 0; i < n; i++) {
		(void)unlinkat(folder, entries[i]->d_name, 0);
		free(entries[i]);
	}
	free(entries);
}

int fh_state_open(const char *path, struct fh_state **ret, struct fh_error *err)
{
	struct stat st;
	fh_auto_close int folder = -1, lock = -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return fh_error_sys(err, errno, "cannot make the folder %s for --state", path);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &st) < 0)
		return fh_error_sys(err, errno, "cannot open the folder %s of --state", path);
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return fh_error_set(err, FH_E_CONFIG, "the folder %s of --state is not yours alone: chown it, and chmod 700",
		                    path);
	lock = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return fh_error_sys(err, errno, "cannot write to the folder %s of --state", path);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return fh_error_set(err, FH_E_CONFIG, "another server has the folder %s of --state", path);
	fh_auto_free char *absolute = realpath(path, NULL);
	if (!absolute)
		return fh_error_sys(err, errno, "cannot find the folder %s of --state", path);
	remove_halves(folder);
	struct fh_state *s = FH_NEW(struct fh_state);
	s->path = FH_TAKE_PTR(absolute);
	s->folder = FH_TAKE_FD(folder);
	s->lock = FH_TAKE_FD(lock);
	*ret = s;
	return 0;
}

void fh_state_close(FH_NULLABLE struct fh_state *s)
{
	if (!s)
		return;
	(void)close(s->lock);
	(void)close(s->folder);
	free(s->path);
	free(s);
}

const char *fh_state_path(const struct fh_state *s)
{
	return s->path;
}

static void file_name(char ret[NAME_MAX_BYTES + 16], const char *name, const char *end)
{
	snprintf(ret, NAME_MAX_BYTES + 16, "%.*s%s", NAME_MAX_BYTES, name, end);
}

/* A file that is being written, under a name that no other has; without commit it is removed. */
struct half {
	struct fh_state *state;
	char name[32];
	int fd;
};

static void half_release(struct half *h)
{
	if (h->fd < 0)
		return;
	(void)close(h->fd);
	if (*h->name)
		(void)unlinkat(h->state->folder, h->name, 0);
}

static int begin(struct fh_state *s, const char *what, struct half *ret, struct fh_error *err)
{
	static atomic_ullong last;
	ret->state = s;
	snprintf(ret->name, sizeof(ret->name), "%llu%s", (unsigned long long)atomic_fetch_add(&last, 1), half_end);
	ret->fd = openat(s->folder, ret->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return ret->fd < 0 ? fh_error_sys(err, errno, "cannot keep %s", what) : 0;
}

static int commit(struct half *h, const char *name, const char *end, struct fh_error *err)
{
	char whole[NAME_MAX_BYTES + 16];
	file_name(whole, name, end);
	if (fdatasync(h->fd) < 0 || renameat(h->state->folder, h->name, h->state->folder, whole) < 0 ||
	    fsync(h->state->folder) < 0)
		return fh_error_sys(err, errno, "cannot keep %s", name);
	*h->name = '\0';
	return 0;
}

static void drop(struct fh_state *s, const char *name, const char *end)
{
	char file[NAME_MAX_BYTES + 16];
	file_name(file, name, end);
	(void)unlinkat(s->folder, file, 0);
}

int fh_state_update(FH_NULLABLE struct fh_state *s, const char *name, const struct fh_key *owner, json_t *record,
                    struct fh_error *err)
{
	char key[2 * FH_SHA256_SIZE + 1];
	if (!s)
		return 0;
	for (size_t i = 0; i < FH_SHA256_SIZE; i++)
		snprintf(key + 2 * i, 3, "%02x", owner->hash[i]);
	json_object_set_new(record, "key", json_string(key));
	fh_auto_free char *text = fh_json_text(record, 0);
	FH_CLEANUP(half_release) struct half half = { .fd = -1 };
	int r = begin(s, name, &half, err);
	if (r == 0 && fh_write_all(half.fd, text, strlen(text)) < 0)
		r = fh_error_sys(err, errno, "cannot keep %s", name);
	return r < 0 ? r : commit(&half, name, record_end, err);
}

int fh_state_save(FH_NULLABLE struct fh_state *s, const char *name, const struct fh_key *owner,
                  struct fh_sandbox *sandbox, json_t *record, struct fh_error *err)
{
	if (!s)
		return 0;
	FH_CLEANUP(half_release) struct half half = { .fd = -1 };
	int r = begin(s, name, &half, err);
	if (r == 0)
		r = fh_sandbox_snapshot(sandbox, half.fd, NULL, err);
	if (r == 0)
		r = commit(&half, name, files_end, err);
	if (r == 0)
		r = fh_state_update(s, name, owner, record, err);
	if (r < 0)
		fh_state_remove(s, name);
	return r;
}

void fh_state_remove(FH_NULLABLE struct fh_state *s, const char *name)
{
	if (!s)
		return;
	drop(s, name, record_end); /* first: what has no record does not count */
	drop(s, name, files_end);
}

/* ----------------------------------------------------------------------------------------------------------- again */

static const struct fh_key *owner_of(const struct fh_keys *keys, const json_t *record)
{
	const char *text = fh_json_str(record, "key", "");
	char hex[2 * FH_SHA256_SIZE + 1];
	for (size_t k = 0; k < keys->count; k++) {
		for (size_t i = 0; i < FH_SHA256_SIZE; i++)
			snprintf(hex + 2 * i, 3, "%02x", keys->items[k].hash[i]);
		if (keys->any_key || strcmp(hex, text) == 0)
			return &keys->items[k];
	}
	return NULL;
}

static FH_OWN json_t *read_record(struct fh_state *s, const char *name, struct fh_error *err)
{
	char file[NAME_MAX_BYTES + 16];
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RECORD_MAX);
	file_name(file, name, record_end);
	fh_auto_close int fd = openat(s->folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fh_read_all(fd, &text) < 0) {
		fh_error_sys(err, errno, "cannot read %s", file);
		return NULL;
	}
	return fh_json_parse(fh_buf_str(&text), file, err);
}

static int is_record(const struct dirent *e)
{
	size_t n = strlen(e->d_name), end = sizeof(record_end) - 1;
	return n > end && n - end <= NAME_MAX_BYTES && strcmp(e->d_name + n - end, record_end) == 0;
}

struct found {
	char *name;
	json_t *record;
};

static int oldest_first(const void *a, const void *b)
{
	int64_t x = fh_json_int(((const struct found *)a)->record, "made", 0),
	        y = fh_json_int(((const struct found *)b)->record, "made", 0);
	return x < y ? -1 : x > y;
}

size_t fh_state_load(FH_NULLABLE struct fh_state *s, const struct fh_keys *keys,
                     int (*take)(void *context, const struct fh_key *owner, const json_t *record, int files,
                                 struct fh_error *err),
                     void *context, struct fh_error *err)
{
	struct dirent **entries = NULL;
	struct found *list = NULL;
	size_t failed = 0, count = 0, capacity = 0;
	int n = s ? scandirat(s->folder, ".", &entries, is_record, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		char *name = fh_xstrndup(entries[i]->d_name, strlen(entries[i]->d_name) - strlen(record_end));
		json_t *record = read_record(s, name, err);
		failed += !record;
		if (record)
			FH_PUSH(list, count, capacity) = (struct found){ name, record };
		else
			free(name);
		free(entries[i]);
	}
	free(entries);
	if (count)
		qsort(list, count, sizeof(*list), oldest_first);
	for (size_t i = 0; i < count; i++) {
		char file[NAME_MAX_BYTES + 16];
		const struct fh_key *owner = owner_of(keys, list[i].record);
		file_name(file, list[i].name, files_end);
		fh_auto_close int fd = owner ? openat(s->folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
		bool unreadable = owner && fd < 0 && errno != ENOENT;
		if (unreadable)
			fh_error_sys(err, errno, "cannot read %s", file);
		if (owner && (unreadable || take(context, owner, list[i].record, fd, err) < 0))
			failed++;
		json_decref(list[i].record);
		free(list[i].name);
	}
	free(list);
	return failed;
}
