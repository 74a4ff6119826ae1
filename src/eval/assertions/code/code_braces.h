/* SPDX-License-Identifier: MIT */
/*
 * Braces in program texts of a config. These texts are templates, and in some languages `{{` is common in programs:
 * `total({{1, 2}, {3, 4}})`, a table of a go test. What is no template's tag stands for itself.
 */
#pragma once
#include "base/buf.h"

/* Appends text as a template in which only those braces are tags that would be one by themselves: `{{name}}`,
 * `{% if %}` or `{# … #}`, but not `{{1, 2}`, `{{1}}`, `{%d` or `${#list}`. Behind {% raw %} nothing changes. */
void fh_code_braces(struct fh_str text, struct fh_buf *out);
