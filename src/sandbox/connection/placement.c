/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/placement.h"

#include <errno.h>
#include <unistd.h>

#include "base/host/data.h"
#include "base/text/nearest.h"
#include "base/path.h"

static const struct fh_placement *const placements[] = {
	&fh_placement_local,
	&fh_placement_command,
	&fh_placement_attach,
	&fh_placement_service,
};

const struct fh_placement *fh_placement_find(const char *name, struct fh_error *err)
{
	struct fh_nearest near = FH_NEAREST_INIT(name ? name : "local");
	for (size_t i = 0; i < FH_ARRAY_SIZE(placements); i++) {
		if (fh_streq(near.word, placements[i]->name))
			return placements[i];
		fh_nearest_offer(&near, placements[i]->name);
	}
	(void)fh_error_set(err, FH_E_ARGUMENT, "there is no placement \"%s\"", name);
	fh_error_hint(err, near.best ? "did you mean %s?" : "placements are local, service, command and attach", near.best);
	return NULL;
}

/* ---- the engine's program ---- */

static bool take_if_executable(char *path, char **ret)
{
	if (path && access(path, X_OK) == 0 && !fh_path_is_dir(path)) {
		*ret = path;
		return true;
	}
	free(path);
	return false;
}

/* Looks where the engine is beside a program or library: an installed one in libexec; in a build tree in the root, with
 * libraries and tests in folders below. */
static bool find_beside(const char *dir, char **ret)
{
	static const char *const places[] = {
		"fumehood-engine",
		"../fumehood-engine",
		"../../fumehood-engine",
		"../libexec/fumehood/fumehood-engine",
	};
	for (size_t i = 0; dir && i < FH_ARRAY_SIZE(places); i++)
		if (take_if_executable(fh_path_join(dir, places[i]), ret))
			return true;
	return false;
}

int fh_engine_program(const char *wanted, char **ret, struct fh_error *err)
{
	const char *source = wanted ? "the engine" : "$FUMEHOOD_ENGINE";
	if (!wanted)
		wanted = getenv("FUMEHOOD_ENGINE");
	if (wanted && *wanted) {
		if (take_if_executable(fh_xstrdup(wanted), ret))
			return 0;
		return fh_error_set(err, FH_E_NOT_FOUND, "%s is not a program: %s", source, wanted);
	}
	fh_auto_free char *self = fh_path_self_dir();
	fh_auto_free char *library = fh_library_dir();
	if (find_beside(self, ret) || find_beside(library, ret) ||
	    take_if_executable(fh_xstrdup(FH_LIBEXEC_DIR "/fumehood-engine"), ret))
		return 0;
	(void)fh_error_set(err, FH_E_NOT_FOUND, "cannot find fumehood-engine beside %s or in %s",
	                   self ? self : "the program", FH_LIBEXEC_DIR);
	fh_error_hint(err, "install fumehood, or name the engine in $FUMEHOOD_ENGINE");
	return -FH_E_NOT_FOUND;
}

/* The engine must not depend on the user's environment. Only a sanitizer's options and our own variables are passed
 * on. */
static bool concerns_engine(const char *variable)
{
	static const char *const prefixes[] = {
		"FUMEHOOD_", "XDG_RUNTIME_DIR=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=",
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(prefixes); i++)
		if (fh_starts_with(variable, prefixes[i]))
			return true;
	return false;
}

const char **fh_engine_environment(void)
{
	const char **env = NULL;
	size_t n = 0, capacity = 0;
	FH_PUSH(env, n, capacity) = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	FH_PUSH(env, n, capacity) = "LC_ALL=C";
	for (char **v = environ; v && *v; v++)
		if (concerns_engine(*v))
			FH_PUSH(env, n, capacity) = *v;
	FH_PUSH(env, n, capacity) = NULL;
	return env;
}
