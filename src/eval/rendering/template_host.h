/* SPDX-License-Identifier: MIT */
/*
 * What the templates of an eval may use besides their variables: the filters of nunjucksFilters, other templates, and
 * regular expressions.
 *
 * {% include %}, {% import %} and {% extends %} name files below the folder that the command runs in, as in promptfoo.
 * Texts of variables are templates too, and may hold what a model answered (storeOutputAs): those load nothing.
 */
#pragma once
#include "template/template.h"

struct fh_services; /* eval/services/services.h */

struct fh_eval_host {
	const json_t *filters; /* names of filters and their files (nunjucksFilters); NULL: none */
	struct fh_services *services;
	struct fh_text_template_host host; /* to render with */
};

/* Fills h, which has to stay where it is while h->host is used. */
void fh_eval_host_init(struct fh_eval_host *h, FH_NULLABLE const json_t *filters,
                       FH_NULLABLE struct fh_services *services, bool loads);

/* PROMPTFOO_DISABLE_TEMPLATING: every text is as it is written. */
bool fh_eval_templates_off(void);
/* Renders text with vars (an object whose member "env" is the environment). Text without braces is copied. free()
 * *ret. */
int fh_render_text(struct fh_str text, const json_t *vars, char **ret, struct fh_error *err);
