/* SPDX-License-Identifier: MIT */
#include "e2b/common/keys.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"

enum { FILE_MAX = 1 << 20, KEY_LENGTH_MAX = 512 };

static void hash_of(struct fh_str key, uint8_t ret[FH_SHA256_SIZE])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add(&h, key.p, key.n);
	fh_sha256_end(&h, ret);
}

static bool same(const uint8_t *a, const uint8_t *b, size_t n)
{
	unsigned difference = 0;
	for (size_t i = 0; i < n; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

bool fh_secret_equal(const char *offered, const char *expected)
{
	uint8_t a[FH_SHA256_SIZE], b[FH_SHA256_SIZE];
	hash_of(fh_str(offered), a);
	hash_of(fh_str(expected), b);
	return same(a, b, sizeof(a));
}

static bool read_hash(const char *hex, uint8_t ret[FH_SHA256_SIZE])
{
	unsigned byte;
	int used;
	for (size_t i = 0; i < FH_SHA256_SIZE; i++) {
		if (sscanf(hex + 2 * i, "%2x%n", &byte, &used) != 1 || used != 2)
			return false;
		ret[i] = (uint8_t)byte;
	}
	return hex[2 * (size_t)FH_SHA256_SIZE] == '\0';
}

/* Clients send their key in a header, so it has printable ASCII alone. A file of which no line could be sent (saved as
 * UTF-16, or no file of keys at all) is refused here: the server would start, and then refuse every client. */
static bool can_be_sent(const char *key)
{
	size_t n = 0;
	while (key[n] > ' ' && key[n] < 0x7F)
		n++;
	return key[n] == '\0' && n <= KEY_LENGTH_MAX;
}

/* Parses a line, which it modifies. */
static int read_line(char *line, struct fh_key *k, struct fh_error *err)
{
	char *rest = NULL, *word = strtok_r(line, " \t\r", &rest);
	if (!can_be_sent(word)) {
		fh_error_set(err, FH_E_CONFIG, "a key is at most %d printable characters of ASCII", KEY_LENGTH_MAX);
		fh_error_hint(err, "a line is KEY [NAME=VALUE…], or sha256:HASH [NAME=VALUE…], in a file saved as plain text");
		return -FH_E_CONFIG;
	}
	if (strncmp(word, "sha256:", 7) != 0)
		hash_of(fh_str(word), k->hash);
	else if (!read_hash(word + 7, k->hash))
		return fh_error_set(err, FH_E_CONFIG, "\"sha256:\" must be followed by 64 hexadecimal digits");
	while ((word = strtok_r(NULL, " \t\r", &rest))) {
		char *equals = strchr(word, '=');
		if (!equals)
			return fh_error_set(err, FH_E_CONFIG, "%s is not NAME=VALUE", word);
		*equals = '\0';
		if (strcmp(word, "name") == 0)
			snprintf(k->name, sizeof(k->name), "%s", equals + 1);
		else if (fh_ceilings_set(&k->ceilings, word, equals + 1, err) < 0)
			return -FH_E_ARGUMENT;
	}
	return 0;
}

static int read_file(const char *path, const struct fh_ceilings *defaults, struct fh_keys *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FILE_MAX);
	struct stat st;
	int r = fh_file_read(path, &text, err);
	if (r < 0)
		return r;
	if (stat(path, &st) == 0 && (st.st_mode & 077)) {
		fh_error_set(err, FH_E_CONFIG, "%s holds keys and others than its owner may read or write it", path);
		fh_error_hint(err, "chmod 600 %s", path);
		return -FH_E_CONFIG;
	}
	if (memchr(text.p, '\0', text.n)) {
		fh_error_set(err, FH_E_CONFIG, "%s has zero bytes in it, as no text has", path);
		fh_error_hint(err, "save it as plain text (UTF-8)");
		return -FH_E_CONFIG;
	}
	char *rest = (char *)(uintptr_t)fh_buf_cstr(&text), *line;
	if (fh_starts_with(rest, "\xef\xbb\xbf")) /* a byte order mark */
		rest += 3;
	for (uint32_t number = 1; (line = strsep(&rest, "\n")); number++) {
		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \t\r")])
			continue;
		if (ret->count == FH_KEYS_MAX)
			return fh_error_at(err, path, number, 0, "more than %d keys", FH_KEYS_MAX);
		struct fh_key *k = &FH_PUSH(ret->items, ret->count, ret->capacity);
		struct fh_error why = FH_ERROR_INIT;
		k->ceilings = *defaults;
		snprintf(k->name, sizeof(k->name), "key %zu", ret->count);
		if (read_line(line, k, &why) < 0) {
			fh_error_at(err, path, number, 0, "%s", why.message);
			fh_error_hint(err, "%s", why.hint);
			return -FH_E_CONFIG;
		}
	}
	if (ret->count == 0)
		return fh_error_set(err, FH_E_CONFIG, "%s holds no key, so the server would refuse every client", path);
	return 0;
}

int fh_keys_load(FH_NULLABLE const char *path, const struct fh_ceilings *defaults, struct fh_keys *ret,
                 struct fh_error *err)
{
	struct fh_keys k = { .any_key = !path };
	int r = 0;
	if (path) {
		r = read_file(path, defaults, &k, err);
	} else {
		struct fh_key *any = &FH_PUSH(k.items, k.count, k.capacity);
		any->ceilings = *defaults;
		snprintf(any->name, sizeof(any->name), "anyone");
	}
	if (r < 0)
		fh_keys_release(&k);
	else
		*ret = k;
	return r;
}

void fh_keys_release(struct fh_keys *k)
{
	free(k->items);
	*k = (struct fh_keys){ 0 };
}

const struct fh_key *fh_keys_find(const struct fh_keys *k, FH_NULLABLE const char *offered)
{
	const struct fh_key *found = NULL;
	uint8_t hash[FH_SHA256_SIZE];
	if (!offered || !*offered)
		return NULL;
	if (k->any_key)
		return &k->items[0];
	hash_of(fh_str(offered), hash);
	for (size_t i = 0; i < k->count; i++) /* compare with all, so that the time does not tell which one matched */
		if (same(hash, k->items[i].hash, sizeof(hash)))
			found = &k->items[i];
	return found;
}
