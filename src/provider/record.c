/* SPDX-License-Identifier: MIT */
#include "provider/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define FH_RECORD_LINE_MAX ((size_t)128 << 20)

struct fh_record {
	pthread_mutex_t lock;
	char *path;
	int fd;
	struct fh_error failure; /* the first error */
};

int fh_record_open(const char *path, struct fh_record **ret, struct fh_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write recordings to %s", path);
	struct fh_record *r = FH_NEW(struct fh_record);
	pthread_mutex_init(&r->lock, NULL);
	r->path = fh_xstrdup(path);
	r->fd = fd;
	*ret = r;
	return 0;
}

int fh_record_close(struct fh_record *r, struct fh_error *err)
{
	if (!r)
		return 0;
	if (close(r->fd) < 0 && r->failure.code == FH_OK)
		fh_error_sys(&r->failure, errno, "cannot write recordings to %s", r->path);
	int code = -(int)r->failure.code;
	if (code && err)
		*err = r->failure;
	pthread_mutex_destroy(&r->lock);
	free(r->path);
	free(r);
	return code;
}

static json_t *fh_record_line(const char *id, const char *label, struct fh_str prompt,
                              const struct fh_provider_response *response)
{
	static const char *const names[] = { "total", "prompt", "completion", "cached" };
	const int64_t counts[] = { response->tokens.total, response->tokens.prompt, response->tokens.completion,
		                       response->tokens.cached };
	char date[32];
	struct tm now;
	time_t t = time(NULL);
	json_t *line = json_object(), *tokens = json_object();
	json_object_set_new(line, "provider", json_string(label ? label : id));
	json_object_set_new(line, "prompt", fh_json_bytes(prompt));
	if (response->error)
		json_object_set_new(line, "error", fh_json_bytes(fh_str(response->error)));
	else
		json_object_set(line, "response", response->output ? response->output : json_null());
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (counts[i] >= 0)
			json_object_set_new(tokens, names[i], json_integer(counts[i]));
	if (json_object_size(tokens))
		json_object_set(line, "tokens", tokens);
	json_decref(tokens);
	if (response->cost >= 0)
		json_object_set_new(line, "cost", json_real(response->cost));
	json_object_set_new(line, "seconds", json_real(response->latency_ms / 1000));
	if (response->finish_reason)
		json_object_set_new(line, "finish_reason", fh_json_bytes(fh_str(response->finish_reason)));
	if (json_is_string(json_object_get(response->raw, "model")))
		json_object_set(line, "model", json_object_get(response->raw, "model"));
	if (gmtime_r(&t, &now) && strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &now))
		json_object_set_new(line, "date", json_string(date));
	return line;
}

/* Writes a line whole, or takes back what a full disk left of it: an incomplete line would make all recordings
 * unreadable. Returns an errno. */
static int append(int fd, struct fh_str line)
{
	struct stat before, now;
	if (fstat(fd, &before) == 0 && fh_write_all(fd, line.p, line.n) == 0)
		return 0;
	int sys = errno;
	if (S_ISREG(before.st_mode) && fstat(fd, &now) == 0 && now.st_size > before.st_size)
		(void)!ftruncate(fd, before.st_size);
	return sys;
}

void fh_record_add(struct fh_record *r, const char *id, const char *label, struct fh_str prompt,
                   const struct fh_provider_response *response)
{
	fh_auto_json json_t *line = fh_record_line(id, label, prompt, response);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_RECORD_LINE_MAX);
	fh_json_write(&text, line, 0);
	fh_buf_addc(&text, '\n');
	pthread_mutex_lock(&r->lock);
	int sys = text.overflowed ? EFBIG : append(r->fd, fh_buf_str(&text));
	if (sys && r->failure.code == FH_OK)
		fh_error_sys(&r->failure, sys, "cannot write recordings to %s", r->path);
	pthread_mutex_unlock(&r->lock);
}
