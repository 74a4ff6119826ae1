/* SPDX-License-Identifier: MIT */
/* The client's side of guest/prefork: starts the server in a sandbox, and has it fork programs. */
#include <stdio.h>

#include "base/base.h"
#include "fumehood/sandbox.h"
#include "proto/frame.h"
#include "sandbox/session/prefork_image.h"
#include "sandbox/session/process.h"

enum {
	PATH_SIZE = 80,
	PREFIX = 5, /* number of arguments before the interpreter: PROGRAM run SOCKET MAIN CODE */
	CODE_MAX =
	    64 << 10,  /* maximum bytes of a program that is passed as an argument; a larger one is written to a file */
	WHY_MAX = 400, /* maximum bytes kept of what an interpreter printed that cannot serve */
	LAST_WORDS_MS = 200,
};

struct fh_prefork {
	struct fh_sandbox *sandbox;
	struct fh_process *server;
	char program[PATH_SIZE], socket[PATH_SIZE];
	char *main;
	bool ready;
};

static size_t count_of(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

static int put(struct fh_sandbox *b, const char *name, const void *data, size_t n, unsigned mode, struct fh_error *err)
{
	const struct fh_file file = { name, { data, n }, mode };
	return fh_sandbox_put_file(b, &file, err);
}

static int put_files(struct fh_prefork *p, const char *library, struct fh_error *err)
{
	int r = put(p->sandbox, p->program, fh_prefork_image, fh_prefork_image_size, 0755, err);
	if (r == 0)
		r = put(p->sandbox, library, fh_prefork_library, fh_prefork_library_size, 0644, err);
	if (r == 0)
		r = put(p->sandbox, p->main, "", 0, 0644, err);
	return r;
}

int fh_prefork_start(struct fh_sandbox *sandbox, const struct fh_spawn_options *options, struct fh_prefork **ret,
                     struct fh_error *err)
{
	size_t n = count_of(options->argv);
	if (n < 2 || options->argv[n - 1][0] != '/')
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "a prefork server needs an interpreter and the absolute path of its program's file");
	struct fh_prefork *p = FH_NEW(struct fh_prefork);
	struct fh_spawn_options o = *options;
	fh_auto_free const char **argv = fh_xcalloc(PREFIX + n + 1, sizeof(*argv));
	char library[PATH_SIZE], hex[FH_ID_HEX];
	struct fh_id id;
	fh_id_random(&id);
	fh_id_hex(id, hex);
	p->sandbox = sandbox;
	p->main = fh_xstrdup(options->argv[n - 1]);
	snprintf(p->program, sizeof(p->program), "/run/fumehood/prefork-%s", hex);
	snprintf(p->socket, sizeof(p->socket), "/run/fumehood/%s.socket", hex);
	snprintf(library, sizeof(library), "/run/fumehood/%s.so", hex);
	const char *const head[PREFIX] = { p->program, "serve", p->socket, library, p->main };
	memcpy(argv, head, sizeof(head));
	memcpy(argv + PREFIX, options->argv, n * sizeof(*argv));
	o.argv = argv;
	o.no_stdin = true;
	o.wall_time_ms = o.cpu_time_ms = o.output_bytes = FH_UNLIMITED;
	int r = put_files(p, library, err);
	if (r == 0)
		r = fh_process_spawn(sandbox, &o, &p->server, err);
	if (r < 0) {
		fh_prefork_free(p);
		return fh_error_wrap(err, "a prefork server needs a writable /run");
	}
	*ret = p;
	return 0;
}

int fh_prefork_await(struct fh_prefork *p, int64_t timeout_ms, struct fh_error *err)
{
	char said[WHY_MAX];
	size_t have = 0;
	if (p->ready)
		return 0;
	ssize_t n = fh_process_read(p->server, FH_STDOUT, said, 1, timeout_ms, err);
	p->ready = n > 0;
	if (n != 0)
		return n > 0 ? 0 : (int)n;
	while (have < sizeof(said) &&
	       (n = fh_process_read(p->server, FH_STDERR, said + have, sizeof(said) - have, LAST_WORDS_MS, NULL)) > 0)
		have += (size_t)n;
	return fh_error_set(err, FH_E_UNAVAILABLE, "the interpreter cannot be forked for programs: %.*s", (int)have, said);
}

int fh_prefork_spawn(struct fh_prefork *p, const struct fh_spawn_options *options, struct fh_bytes code,
                     struct fh_process **ret, struct fh_error *err)
{
	size_t n = count_of(options->argv);
	struct fh_spawn_options o = *options;
	fh_auto_free const char **argv = fh_xcalloc(PREFIX + n + 1, sizeof(*argv));
	fh_auto_free char *inlined = NULL;
	if (o.memory_bytes && o.memory_bytes != FH_UNLIMITED) {
		(void)fh_error_set(err, FH_E_UNAVAILABLE,
		                   "a program that is forked cannot have a memory limit of its own: its memory counts for the "
		                   "interpreter that it is forked from");
		fh_error_hint(err, "start it with spawn, or limit the sandbox's memory");
		return -FH_E_UNAVAILABLE;
	}
	if (code.data && code.size <= CODE_MAX && !memchr(code.data, 0, code.size)) {
		inlined = fh_xasprintf("+%.*s", (int)code.size, (const char *)code.data);
	} else if (code.data) {
		int r = put(p->sandbox, p->main, code.data, code.size, 0644, err);
		if (r < 0)
			return r;
	}
	const char *const head[PREFIX] = { p->program, "run", p->socket, p->main, inlined ? inlined : "-" };
	memcpy(argv, head, sizeof(head));
	memcpy(argv + PREFIX, options->argv, n * sizeof(*argv));
	o.argv = argv;
	return fh_process_spawn_proxy(p->sandbox, &o, ret, err);
}

void fh_prefork_free(struct fh_prefork *p)
{
	if (!p)
		return;
	fh_process_free(p->server);
	free(p->main);
	free(p);
}
