/* SPDX-License-Identifier: MIT */
#include "cli/shared/program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

static int read_stdin(struct fh_buf *out, struct fh_error *err)
{
	int r = fh_read_all(STDIN_FILENO, out);
	if (r == -FH_E_LIMIT)
		return fh_error_set(err, FH_E_LIMIT, "the program on standard input is larger than %u bytes", FH_PROGRAM_MAX);
	return r < 0 ? fh_error_sys(err, errno, "cannot read the program from standard input") : 0;
}

/* Reads a file, a shell's <(…), or a FIFO completely. */
static int read_file(const char *path, struct fh_buf *out, struct fh_error *err)
{
	struct stat st;
	if (stat(path, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode)))
		return fh_file_read(path, out, err);
	fh_auto_close int fd = fh_file_open_waiting(path);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", path);
	int r = fh_read_all(fd, out);
	if (r == -FH_E_LIMIT)
		return fh_error_set(err, FH_E_LIMIT, "%s is larger than %u bytes", path, FH_PROGRAM_MAX);
	return r < 0 ? fh_error_sys(err, errno, "cannot read %s", path) : 0;
}

/* The error for a language. An unknown one is a usage error; a missing interpreter is not. */
static int not_known(int r, struct fh_error *err)
{
	if (r != -FH_E_NOT_FOUND)
		return r;
	err->code = FH_E_ARGUMENT;
	return -FH_E_ARGUMENT;
}

/* Finds the language without -l: by the file's name, else by its first line. */
static int find_language(struct fh_program *p, const char *file, struct fh_error *err)
{
	int r = fh_language_for_file(file, &p->language, err);
	return r == -FH_E_NOT_FOUND && fh_language_for_shebang(fh_buf_str(&p->code), &p->language) == 0 ? 0 : r;
}

/* Removes a UTF-8 byte order mark, which of all interpreters only Python's and Node's ignore. */
static void drop_byte_order_mark(struct fh_buf *code)
{
	static const char mark[] = "\xef\xbb\xbf";
	if (fh_starts_with(fh_buf_cstr(code), mark))
		fh_buf_drop(code, sizeof(mark) - 1);
}

static bool has_extension(const struct fh_language *l, const char *path)
{
	for (char **e = l->extensions; *e; e++)
		if (fh_streq(*e, fh_path_ext(path)))
			return true;
	return false;
}

int fh_program_read(struct fh_program *p, const char *language, const char *code, const char *const *args, size_t count,
                    struct fh_error *err)
{
	const char *file = code || count == 0 ? NULL : args[0];
	if (!code && !file) {
		int r = fh_error_set(err, FH_E_ARGUMENT, "there is nothing to run");
		fh_error_hint(err, "name a file, or give the program with -c CODE, or - to read it from standard input");
		return r;
	}
	p->args = count ? args + (file != NULL) : NULL;
	bool from_file = file && !fh_streq(file, "-");
	int r = 0;
	if (file && fh_path_is_dir(file)) {
		r = fh_error_set(err, FH_E_ARGUMENT, "%s is a folder, not a program", file);
		fh_error_hint(err, "name the file to run; --mount shows a folder inside");
		return r;
	}
	if (language)
		r = not_known(fh_language_load(language, &p->language, err), err);
	if (r < 0)
		return r;
	if (code) {
		r = fh_buf_adds(&p->code, code) < 0 ? fh_error_set(err, FH_E_LIMIT, "the program is too large") : 0;
	} else if (from_file) {
		r = read_file(file, &p->code, err);
	} else {
		p->took_stdin = true;
		r = read_stdin(&p->code, err);
	}
	if (r < 0)
		return r;
	drop_byte_order_mark(&p->code);
	if (!language && from_file)
		r = not_known(find_language(p, file, err), err);
	else if (!language && fh_language_for_shebang(fh_buf_str(&p->code), &p->language) < 0)
		r = fh_error_set(err, FH_E_ARGUMENT, "the language is not known: add -l LANG");
	if (r == 0 && from_file && has_extension(p->language, file))
		p->name = fh_path_base(file);
	return r;
}

void fh_program_release(struct fh_program *p)
{
	fh_language_free(p->language);
	fh_buf_release(&p->code);
}
