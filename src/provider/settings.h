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
/* Loads every file that a string of the config names, for a provider that is a script and reads the config itself. Here
 * the function of a Python file is get_config unless another is named, of a JavaScript file its default export. */
int fh_settings_load_all(const struct fh_provider *p, json_t *config, struct fh_error *err);
/* The config of one call: the provider's, overlaid with the request's. The templates in tools and schemas are rendered
 * over the row's variables, in names of files too, and what is in the files is not: so it is in promptfoo. `given` is
 * the provider's config before fh_settings_load. *ret is a new reference. */
int fh_settings_of_call(const struct fh_provider *p, const struct fh_provider_request *request, const json_t *given,
                        json_t **ret, struct fh_error *err);
