/* SPDX-License-Identifier: MIT */
#include "cli/judge/judge_documents.h"

#include <unistd.h>

#include "base/path.h"
#include "cli/judge/judge_report.h"
#include "fumehood/sandbox.h"

static json_t *text_json(const char *s)
{
	return s ? fh_json_bytes(fh_str(s)) : json_null();
}

json_t *fh_judge_path_json(const char *path)
{
	fh_auto_free char *real = realpath(path, NULL);
	return text_json(real ? real : path);
}

/* How many tasks of the data set have no sample. */
static size_t without_samples(const struct fh_judgement *j)
{
	fh_auto_free bool *sampled = fh_xcalloc(j->problems->count + 1, sizeof(*sampled));
	size_t n = j->problems->count;
	for (size_t i = 0; i < j->samples->count; i++) {
		n -= !sampled[j->samples->items[i].problem];
		sampled[j->samples->items[i].problem] = true;
	}
	return n;
}

static json_t *config_json(const struct fh_judge_keep *k)
{
	const struct fh_judge_settings *s = fh_judge_settings(k->judgement->session);
	json_t *o = json_object(), *limits = json_object();
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		if (s->limits.value[i] != FH_UNLIMITED && (i != FH_LIMIT_CPU_RATE || s->limits.value[i] != 0))
			json_object_set_new(limits, fh_limit_table[i].name, json_integer((json_int_t)s->limits.value[i]));
	json_object_set_new(o, "problems", fh_judge_path_json(k->problems_path));
	json_object_set_new(o, "samples", fh_judge_path_json(k->samples_path));
	json_object_set_new(o, "results", fh_judge_path_json(k->results_path));
	json_object_set_new(o, "tasks_without_samples", json_integer((json_int_t)without_samples(k->judgement)));
	json_object_set_new(o, "limits", limits);
	json_object_set_new(o, "interpreter", text_json(s->interpreter));
	json_object_set_new(o, "packages", json_boolean(s->packages));
	json_object_set_new(o, "repeat", json_integer(FH_MAX(s->repeat, 1u)));
	json_object_set_new(o, "seed", text_json(s->seed));
	json_object_set_new(o, "allow_in_process", json_boolean(k->allow_in_process));
	json_object_set_new(o, "self_check", k->self_check ? fh_judge_self_check_json(k->self_check) : json_null());
	json_object_set_new(o, "tools", fh_judge_tools_json(k->judgement->session));
	json_object_set_new(o, "fumehood", json_string(fh_version()));
	return o;
}

static json_t *options_json(const struct fh_judge_keep *k)
{
	char cwd[4096];
	return json_pack("{s:O, s:o}", "argv", k->argv, "cwd", text_json(getcwd(cwd, sizeof(cwd)) ? cwd : ""));
}

void fh_judge_documents_make(const struct fh_judge_keep *k, struct fh_judge_documents *ret)
{
	ret->description = fh_xasprintf("%s of %s", fh_path_base(k->samples_path), fh_path_base(k->problems_path));
	ret->config = config_json(k);
	ret->options = options_json(k);
	ret->vars = json_array();
	ret->columns = json_pack("[{s:s, s:o, s:s, s:s}]", "provider", "judge", "label",
	                         text_json(fh_path_base(k->samples_path)), "raw", "", "id", "judge");
	ret->tags = json_pack("{s:O}", "results", json_object_get(ret->config, "results"));
}

void fh_judge_documents_release(struct fh_judge_documents *d)
{
	free(d->description);
	json_decref(d->config);
	json_decref(d->options);
	json_decref(d->vars);
	json_decref(d->columns);
	json_decref(d->tags);
}
