/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over files and folders of files, for builds without libFuzzer: `fuzz-replay-NAME PATH…`. Prints
 * TAP, one line for each path. A failure ends the program, as it does under libFuzzer; the file is named before.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "fuzz.h"

static bool replay(const char *path, size_t *count)
{
	fh_auto_buf struct fh_buf bytes = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	printf("# %s\n", path);
	fflush(stdout);
	if (fh_file_read(path, &bytes, &err) < 0) {
		printf("# cannot read: %s\n", err.message);
		return false;
	}
	/* a NULL p with size 0 is what libFuzzer gives first */
	LLVMFuzzerTestOneInput((const uint8_t *)bytes.p, bytes.n);
	(*count)++;
	return true;
}

static bool replay_all(const char *path, size_t *count)
{
	struct stat st;
	struct dirent **names;
	bool good = true;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return replay(path, count);
	int n = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		fh_auto_free char *file = fh_path_join(path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			good = replay(file, count) && good;
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return good && n >= 0;
}

int main(int argc, char **argv)
{
	bool all = argc > 1;
	LLVMFuzzerTestOneInput(NULL, 0);
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		size_t count = 0;
		bool good = replay_all(argv[i], &count) && count > 0;
		printf("%s %d - replay_of_%zu_inputs\n", good ? "ok" : "not ok", i, count);
		all = all && good;
	}
	return all ? 0 : 1;
}
