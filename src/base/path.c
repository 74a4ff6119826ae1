/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

char *fh_path_join(const char *dir, const char *name)
{
	if (name[0] == '/' || dir[0] == '\0')
		return fh_xstrdup(name);
	size_t n = strlen(dir);
	return fh_xasprintf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *fh_path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return fh_xstrdup(".");
	size_t n = (size_t)(slash - path);
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n ? fh_xmemdup(path, n) : fh_xstrdup("/");
}

const char *fh_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *fh_path_ext(const char *path)
{
	const char *base = fh_path_base(path);
	const char *dot = strrchr(base, '.');
	/* a dot file has no extension */
	return dot && dot != base ? dot : base + strlen(base);
}

char *fh_path_clean(const char *path)
{
	bool absolute = path[0] == '/';
	char *out = fh_xrealloc(NULL, strlen(path) + 2, 1);
	size_t n = 0;
	if (absolute)
		out[n++] = '/';
	size_t floor = n; /* length of what ".." must not remove: the root, or the leading ".." of a relative path */
	for (const char *p = path; *p;) {
		size_t len = strcspn(p, "/");
		bool up = len == 2 && p[0] == '.' && p[1] == '.';
		if (up && n > floor) {
			while (n > floor && out[n - 1] != '/')
				n--;
			if (n > floor)
				n--; /* removes the separator too, unless it is the root */
		} else if (len > 0 && !(len == 1 && p[0] == '.') && !(up && absolute)) {
			if (n > 0 && out[n - 1] != '/')
				out[n++] = '/';
			memcpy(out + n, p, len);
			n += len;
			if (up)
				floor = n;
		}
		p += len;
		p += strspn(p, "/");
	}
	if (n == 0)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

bool fh_path_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

bool fh_path_is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool fh_path_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 0 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *fh_path_which(const char *name, const char *path_variable)
{
	if (name[0] == '\0')
		return NULL;
	if (strchr(name, '/'))
		return is_program(name) ? fh_xstrdup(name) : NULL;
	for (const char *p = path_variable ? path_variable : "/usr/local/bin:/usr/bin:/bin";; p++) {
		size_t len = strcspn(p, ":");
		/* an empty element means the current folder */
		char *found = fh_xasprintf("%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
		if (is_program(found))
			return found;
		free(found);
		p += len;
		if (*p == '\0')
			return NULL;
	}
}

char *fh_path_self_dir(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	return fh_path_dir(self);
}
