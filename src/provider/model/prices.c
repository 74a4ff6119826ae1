/* SPDX-License-Identifier: MIT */
#include "provider/model/prices.h"

#include <pthread.h>
#include "base/host/data.h"
#include "base/fd.h"

#define FH_PRICES_MAX ((size_t)1 << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static json_t *table; /* {service: {model: [input, output, cached?]}}, dollars per million tokens; NULL: no prices */

/* Without the file prices are unknown, and results say so. */
static void load(void)
{
	fh_auto_free char *path = NULL;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_PRICES_MAX);
	if (fh_data_path("providers/prices.json", &path, NULL) || fh_file_read(path, &text, NULL))
		return;
	fh_auto_json json_t *root = fh_json_parse(fh_buf_str(&text), NULL, NULL);
	table = json_incref(json_object_get(root, "dollars_per_million_tokens"));
}

/* The entry of the model; else the longest entry that is its name without a date ("gpt-4o" for "gpt-4o-2024-08-06"). */
static const json_t *find(const char *service, const char *model)
{
	const json_t *models = json_object_get(table, service), *best = NULL;
	size_t longest = 0;
	const char *name;
	json_t *price;
	json_object_foreach((json_t *)(uintptr_t)models, name, price)
	{
		size_t n = strlen(name);
		/* Four digits or more are a date: "claude-sonnet-4-5" is another model than "claude-sonnet-4". */
		bool dated = fh_starts_with(model, name) &&
		             (!model[n] || (strchr("-@", model[n]) && strspn(model + n + 1, "0123456789") >= 4));
		if (dated && n > longest) {
			longest = n;
			best = price;
		}
	}
	return best;
}

double fh_price_of(const char *service, const char *model, const json_t *config, const struct fh_tokens *t)
{
	double both = fh_json_num(config, "cost", -1);
	double in = fh_json_num(config, "inputCost", both), out = fh_json_num(config, "outputCost", both), cached = -1;
	if (in < 0 && out < 0) {
		pthread_once(&once, load);
		const json_t *price = find(service, model);
		if (!price)
			return -1;
		in = json_number_value(json_array_get(price, 0)) / 1e6;
		out = json_number_value(json_array_get(price, 1)) / 1e6;
		cached = json_array_size(price) > 2 ? json_number_value(json_array_get(price, 2)) / 1e6 : in;
	}
	/* Embeddings have no completion tokens. */
	double completion = t->completion < 0 && out == 0 ? 0 : (double)t->completion;
	if (in < 0 || out < 0 || t->prompt < 0 || completion < 0)
		return -1;
	double reused = cached >= 0 && t->cached > 0 ? (double)FH_MIN(t->cached, t->prompt) : 0;
	return in * ((double)t->prompt - reused) + (reused > 0 ? cached * reused : 0) + out * completion;
}
