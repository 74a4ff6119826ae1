/* SPDX-License-Identifier: MIT */
/*
 * Settings that a config keeps in files of their own, as people do with tools and schemas: `tools: file://tools.json`.
 *
 * JSON and YAML files become what they hold, other files their text; file://x.py:fn and file://x.js:fn what the
 * function returns. Relative paths start in the config's folder. Errors name the setting.
 */
#pragma once
#include "provider/provider.h"

/* Loads the files that the settings of a model's request name: tools, functions and schemas of answers, those in the
 * middle of such a value too. Several lists of tools become one. */
int fh_settings_load(const struct fh_provider *p, json_t *config, struct fh_error *err);
/* The same for one setting. */
int fh_settings_load_one(const struct fh_provider *p, json_t *config, const char *key, struct fh_error *err);
/* The names of these settings; NULL behind the last. */
const char *fh_settings_key(size_t i);
/* Loads every file that a string of the config names, for a provider that is a script and reads the config itself. Here
 * the function of a Python file is get_config unless another is named, of a JavaScript file its default export. */
int fh_settings_load_all(const struct fh_provider *p, json_t *config, struct fh_error *err);
