/* SPDX-License-Identifier: MIT */
/*
 * libcurl, loaded for the first request: it needs some thirty libraries (TLS, Kerberos, LDAP …), which an eval of
 * recorded answers, local programs or scripts never uses. Only http.c and websocket.c use it.
 */
#pragma once
#include <curl/curl.h>
#include "base/error.h"

#define FH_CURL_LIBRARY "libcurl.so.4"

/* The functions of libcurl that are used, by their names without "curl_". */
#define FH_CURL_FUNCTIONS(X)                                                                                           \
	X(global_init)                                                                                                     \
	X(easy_init)                                                                                                       \
	X(easy_cleanup)                                                                                                    \
	X(easy_perform)                                                                                                    \
	X(easy_recv)                                                                                                       \
	X(easy_reset)                                                                                                      \
	X(easy_send)                                                                                                       \
	X(easy_setopt)                                                                                                     \
	X(easy_getinfo)                                                                                                    \
	X(easy_strerror)                                                                                                   \
	X(multi_init)                                                                                                      \
	X(multi_cleanup)                                                                                                   \
	X(multi_add_handle)                                                                                                \
	X(multi_remove_handle)                                                                                             \
	X(multi_perform)                                                                                                   \
	X(multi_poll)                                                                                                      \
	X(multi_info_read)                                                                                                 \
	X(slist_append)                                                                                                    \
	X(slist_free_all)

struct fh_curl {
#define FH_CURL_MEMBER(name) __typeof__(&curl_##name) name;
	FH_CURL_FUNCTIONS(FH_CURL_MEMBER)
#undef FH_CURL_MEMBER
};

/* Loads libcurl once, and keeps it. Thread-safe. NULL and FH_E_UNAVAILABLE when it is not installed. */
FH_NULLABLE const struct fh_curl *fh_curl(struct fh_error *err);
/* The file of certificates to trust, which a variable may name; NULL: libcurl's built-in path. To be called after
 * fh_curl() succeeded. */
FH_NULLABLE const char *fh_curl_authorities(void);
