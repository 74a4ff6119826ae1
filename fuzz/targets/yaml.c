/* SPDX-License-Identifier: MIT */
/* A configuration file: an error with a place, or a value with known places, which as JSON is YAML again. */
#include "json/yaml.h"
#include "fuzz.h"

enum { DEEP = 100 };

static void look_up_places(const struct fh_yaml_positions *p, json_t *value, int depth)
{
	uint32_t line = 1, column = 1;
	const char *key;
	json_t *member;
	size_t i;
	if (depth > DEEP)
		return;
	json_object_foreach(value, key, member)
	{
		if (fh_yaml_position(p, value, key, 0, &line, &column))
			FH_FUZZ_CHECK(line > 0 && column > 0);
		look_up_places(p, member, depth + 1);
	}
	json_array_foreach(value, i, member)
	{
		if (fh_yaml_position(p, value, NULL, i, &line, &column))
			FH_FUZZ_CHECK(line > 0 && column > 0);
		look_up_places(p, member, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_yaml_positions struct fh_yaml_positions *places = NULL;
	char *copy = fh_fuzz_copy(data, size);
	fh_auto_json json_t *value = fh_yaml_load((struct fh_str){ copy, size }, "x.yaml", &places, &err);
	free(copy);
	FH_FUZZ_CHECK(value || err.message[0]);
	if (!value)
		return 0;
	look_up_places(places, value, 0);
	fh_auto_free char *text = fh_json_text(value, 0);
	fh_auto_json json_t *again = fh_yaml_load(fh_str(text), "x.json", NULL, &err);
	fh_auto_free char *twice = again ? fh_json_text(again, 0) : NULL;
	FH_FUZZ_CHECK(again);
	FH_FUZZ_CHECK(fh_streq(text, twice));
	return 0;
}
