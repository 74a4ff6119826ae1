/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include "base/path.h"

static const struct fh_output_kind *const table[] = { &fh_output_json,     &fh_output_jsonl,      &fh_output_csv,
	                                                  &fh_output_yaml,     &fh_output_yml,        &fh_output_txt,
	                                                  &fh_output_html,     &fh_output_xml,        &fh_output_junit,
	                                                  &fh_output_markdown, &fh_output_openmetrics };

char *fh_output_extensions(void)
{
	struct fh_buf known = FH_BUF_INIT(0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		fh_buf_addf(&known, "%s%s", i ? ", " : "", table[i]->extension);
	return fh_buf_take(&known, NULL);
}

int fh_output_for(const char *path, const struct fh_output_kind **ret, struct fh_error *err)
{
	const char *name = fh_path_base(path);
	const struct fh_output_kind *best = NULL;
	size_t n = strlen(name);
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++) {
		size_t m = strlen(table[i]->extension);
		if (n > m && strcmp(name + n - m, table[i]->extension) == 0 && (!best || m > strlen(best->extension)))
			best = table[i];
	}
	if (best) {
		*ret = best;
		return 0;
	}
	fh_auto_free char *known = fh_output_extensions();
	int r = fh_error_set(err, FH_E_ARGUMENT, "cannot write results to %s: its extension is not that of a known format",
	                     path);
	fh_error_hint(err, "known are %s", known);
	return r;
}

const struct fh_output_kind *fh_output_named(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		if (strcmp(table[i]->extension + 1, name) == 0)
			return table[i];
	return NULL;
}
