/* SPDX-License-Identifier: MIT */
#include "provider/http/curl_carried.h"

#include <dlfcn.h>

#include "base/fd.h"
#include "base/path.h"

#define ORDER_MAX ((size_t)16 << 10)

void *fh_curl_carried_load(void)
{
	fh_auto_free char *self = fh_path_self_dir();
	fh_auto_free char *folder = self ? fh_path_join(self, "../../lib/curl") : NULL;
	fh_auto_free char *order = folder ? fh_path_join(folder, "order") : NULL;
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(ORDER_MAX);
	void *last = NULL;
	if (!order || fh_file_read(order, &names, NULL) < 0)
		return NULL;
	char *rest = names.p, *name;
	while ((name = strsep(&rest, "\n"))) {
		if (!*name)
			continue;
		fh_auto_free char *path = fh_path_join(folder, name);
		last = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!last)
			return NULL;
	}
	return last;
}

const char *fh_curl_carried_authorities(void)
{
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt",                /* on Debian, Ubuntu, Arch, Alpine */
		"/etc/pki/tls/certs/ca-bundle.crt",                  /* on Fedora, and on RHEL before 10 */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL */
		"/etc/ssl/ca-bundle.pem",                            /* openSUSE */
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(places); i++)
		if (fh_path_exists(places[i]))
			return places[i];
	return NULL;
}
