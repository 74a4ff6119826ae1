/* SPDX-License-Identifier: MIT */
#include "provider/http/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "provider/http/curl_carried.h"

static struct {
	pthread_once_t once;
	struct fh_curl functions;
	bool loaded, carried;
	char why[256];
} library = { .once = PTHREAD_ONCE_INIT };

/* dlsym returns functions as data pointers; POSIX's way to convert them is to copy the bytes. */
static bool find(void *handle, const char *name, void *ret_function)
{
	void *symbol = dlsym(handle, name);
	if (!symbol)
		snprintf(library.why, sizeof(library.why), "%s has no %s", FH_CURL_LIBRARY, name);
	else
		memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static void load(void)
{
	void *handle = dlopen(FH_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		snprintf(library.why, sizeof(library.why), "%s", dlerror());
		handle = fh_curl_carried_load();
		library.carried = handle != NULL;
	}
	if (!handle)
		return;
#define FIND(name)                                                                                                     \
	if (!find(handle, "curl_" #name, &library.functions.name))                                                         \
		return;
	FH_CURL_FUNCTIONS(FIND)
#undef FIND
	library.functions.global_init(CURL_GLOBAL_DEFAULT);
	library.loaded = true;
}

const struct fh_curl *fh_curl(struct fh_error *err)
{
	pthread_once(&library.once, load);
	if (library.loaded)
		return &library.functions;
	fh_error_set(err, FH_E_UNAVAILABLE, "cannot load libcurl, which requests need: %s", library.why);
	fh_error_hint(err, "install the package libcurl4");
	return NULL;
}

const char *fh_curl_authorities(void)
{
	/* As promptfoo, OpenSSL and Node read them. The last two of these name authorities for everything that a user runs.
	 */
	static const char *const names[] = { "PROMPTFOO_CA_CERT_PATH", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		const char *named = getenv(names[i]);
		if (named && *named)
			return named;
	}
	return library.carried ? fh_curl_carried_authorities() : NULL;
}
