/* SPDX-License-Identifier: MIT */
#include "provider/secrets.h"

#include "base/text/secret.h"

#define FH_SECRET_MARK "[REDACTED]"

void fh_secrets_add(char ***list, const char *value)
{
	size_t n = 0;
	if (!value || strlen(value) < FH_SECRET_MIN)
		return;
	for (; *list && (*list)[n]; n++)
		if (fh_streq((*list)[n], value))
			return;
	*list = fh_xrealloc(*list, n + 2, sizeof(**list));
	(*list)[n] = fh_xstrdup(value);
	(*list)[n + 1] = NULL;
}

void fh_secrets_add_all(char ***list, const json_t *config)
{
	const char *key;
	json_t *v;
	size_t i;
	json_array_foreach((json_t *)(uintptr_t)config, i, v) fh_secrets_add_all(list, v);
	json_object_foreach((json_t *)(uintptr_t)config, key, v)
	{
		if (!json_is_string(v)) {
			fh_secrets_add_all(list, v);
			continue;
		}
		const char *text = json_string_value(v);
		if (!fh_secret_name(key))
			continue;
		fh_secrets_add(list, text);
		/* In "Bearer KEY" the key alone is a secret too. */
		const char *blank = strchr(text, ' ');
		fh_secrets_add(list, blank ? blank + 1 : NULL);
	}
}

void fh_secrets_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* A copy of the text without the secrets; NULL when it has none. free() it. */
static char *fh_secrets_clean(char *const *list, const char *text, size_t n, size_t *ret_n)
{
	char *now = NULL;
	for (size_t i = 0; list[i]; i++) {
		size_t length = strlen(list[i]);
		const char *from = now ? now : text;
		const char *hit = memmem(from, n, list[i], length);
		if (!hit)
			continue;
		struct fh_buf out = FH_BUF_INIT(0);
		const char *end = from + n;
		for (; hit; hit = memmem(from, (size_t)(end - from), list[i], length)) {
			fh_buf_add(&out, from, (size_t)(hit - from));
			fh_buf_adds(&out, FH_SECRET_MARK);
			from = hit + length;
		}
		fh_buf_add(&out, from, (size_t)(end - from));
		free(now);
		now = fh_buf_take(&out, &n);
	}
	*ret_n = n;
	return now;
}

/* A value without the secrets: the same value when it has none. Takes over the reference. */
static json_t *fh_secrets_of_json(char *const *list, FH_OWN json_t *value)
{
	if (json_is_string(value)) {
		size_t n;
		char *clean = fh_secrets_clean(list, json_string_value(value), json_string_length(value), &n);
		if (!clean)
			return value;
		json_decref(value);
		json_t *string = fh_json_bytes((struct fh_str){ clean, n });
		free(clean);
		return string;
	}
	if (!json_is_object(value) && !json_is_array(value))
		return value;
	/* Most values have no secret: searching their text first avoids a copy. */
	fh_auto_free char *text = fh_json_text(value, 0);
	bool any = false;
	for (size_t i = 0; list[i] && !any; i++)
		any = strstr(text, list[i]) != NULL;
	if (!any)
		return value;
	json_t *copy = json_is_array(value) ? json_array() : json_object(), *v;
	const char *key;
	size_t i;
	json_array_foreach(value, i, v) json_array_append_new(copy, fh_secrets_of_json(list, json_incref(v)));
	json_object_foreach(value, key, v)
	{
		size_t n;
		fh_auto_free char *clean = fh_secrets_clean(list, key, strlen(key), &n);
		json_object_set_new(copy, clean ? clean : key, fh_secrets_of_json(list, json_incref(v)));
	}
	json_decref(value);
	return copy;
}

void fh_secrets_remove(char *const *list, struct fh_provider_response *r)
{
	json_t **const values[] = { &r->output, &r->raw, &r->metadata, &r->extra };
	char **const texts[] = { &r->error, &r->finish_reason };
	if (!list)
		return;
	for (size_t i = 0; i < FH_ARRAY_SIZE(values); i++)
		if (*values[i])
			*values[i] = fh_secrets_of_json(list, *values[i]);
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++) {
		size_t n;
		char *clean = *texts[i] ? fh_secrets_clean(list, *texts[i], strlen(*texts[i]), &n) : NULL;
		if (!clean)
			continue;
		free(*texts[i]);
		*texts[i] = clean;
	}
}
