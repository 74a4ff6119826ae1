/* SPDX-License-Identifier: MIT */
#include "base/host/data.h"

#include <dlfcn.h>

#include "base/path.h"

/* Maximum depth of a program in a build folder within the source tree (build/tests/unit/test_x). */
#define FH_DATA_CLIMB_MAX 4

static bool fh_data_try(const char *dir, const char *under, const char *name, char **ret)
{
	fh_auto_free char *base = fh_path_join(dir, under);
	fh_auto_free char *path = fh_path_join(base, name);
	if (!fh_path_exists(path))
		return false;
	*ret = FH_TAKE_PTR(path);
	return true;
}

static bool fh_data_climb(const char *start, const char *name, char **ret)
{
	fh_auto_free char *dir = fh_xstrdup(start);
	for (int i = 0; i < FH_DATA_CLIMB_MAX; i++) {
		if (fh_data_try(dir, "share/fumehood", name, ret) || fh_data_try(dir, "", name, ret))
			return true;
		char *up = fh_path_dir(dir);
		free(dir);
		dir = up;
	}
	return false;
}

char *fh_library_dir(void)
{
	static const char here = 0;
	Dl_info info;
	if (!dladdr(&here, &info) || !info.dli_fname || !strchr(info.dli_fname, '/'))
		return NULL;
	fh_auto_free char *real = realpath(info.dli_fname, NULL);
	return real ? fh_path_dir(real) : NULL;
}

int fh_data_path(const char *name, char **ret, struct fh_error *err)
{
	const char *set = getenv("FUMEHOOD_DATA_DIR");
	if (set && *set) {
		if (fh_data_try(set, "", name, ret))
			return 0;
		fh_error_set(err, FH_E_NOT_FOUND, "no %s in %s", name, set);
		fh_error_hint(err, "FUMEHOOD_DATA_DIR has to name the folder that holds %s, or to be unset", name);
		return -FH_E_NOT_FOUND;
	}
	fh_auto_free char *self = fh_path_self_dir();
	fh_auto_free char *library = fh_library_dir();
	if ((self && fh_data_climb(self, name, ret)) || (library && fh_data_climb(library, name, ret)))
		return 0;
	fh_error_set(err, FH_E_NOT_FOUND, "cannot find our data file %s near %s", name,
	             library ? library
	             : self  ? self
	                     : "this program");
	fh_error_hint(err, "install fumehood again, or set FUMEHOOD_DATA_DIR to the folder that holds it");
	return -FH_E_NOT_FOUND;
}
