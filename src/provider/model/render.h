/* SPDX-License-Identifier: MIT */
/* Renders the templates in a provider's config over a row's variables. */
#pragma once
#include "provider/provider.h"

#define FH_RENDER_TEXT_MAX ((size_t)32 << 20)

/* free() *ret. */
int fh_render_setting(const char *text, const json_t *vars, char **ret, struct fh_error *err);
/* Renders each string of a value by itself, names of members included, so that a quote in a variable cannot end it.
 * *ret is a new reference. */
int fh_render_setting_json(const json_t *value, const json_t *vars, json_t **ret, struct fh_error *err);
/* The variables of templates: those of the request's context, and `env`. New reference. */
FH_OWN json_t *fh_render_setting_vars(const struct fh_provider *p, const struct fh_provider_request *request);
/* The config of one call: the provider's, overlaid with the request's. Templates in tools and schemas, and
 * in the names of their files, are rendered over the row's variables. What the files contain is not rendered, as in
 * promptfoo. `given` is the provider's config before fh_settings_load. *ret is a new reference. */
int fh_render_call_config(const struct fh_provider *p, const struct fh_provider_request *request, const json_t *given,
                          json_t **ret, struct fh_error *err);
