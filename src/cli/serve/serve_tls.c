/* SPDX-License-Identifier: MIT */
#include "cli/serve/serve_tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/process/proc.h"

enum { OPENSSL_MS = 60000, ERROR_MAX = 4096 };
#define WEEK_S "604800"

static FH_OWN FH_NULLABLE char *folder_of(const char *domain)
{
	const char *given = getenv("STATE_DIRECTORY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (given && given[0] == '/')
		return fh_xasprintf("%s/tls/%s", given, domain);
	if (state && state[0] == '/')
		return fh_xasprintf("%s/fumehood/tls/%s", state, domain);
	return home && home[0] == '/' ? fh_xasprintf("%s/.local/state/fumehood/tls/%s", home, domain) : NULL;
}

FH_OWN FH_NULLABLE char *fh_serve_tls_authority(const char *domain)
{
	fh_auto_free char *folder = folder_of(domain);
	return folder ? fh_path_join(folder, "authority.pem") : NULL;
}

/* Whether a name is a domain of two or more labels: letters, digits and '-', separated by dots. Most clients refuse a
 * wildcard below a single label. */
static bool is_domain(const char *name)
{
	size_t n = strlen(name);
	bool labels = n >= 3 && n <= 200 && name[0] != '.' && name[0] != '-' && name[n - 1] != '.' && !strstr(name, "..");
	return labels && strchr(name, '.') && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0';
}

static int make_folders(const char *path, struct fh_error *err)
{
	fh_auto_free char *parent = fh_path_dir(path);
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || fh_streq(parent, path))
		return fh_error_sys(err, errno, "cannot make the folder %s", path);
	int r = make_folders(parent, err);
	return r < 0 ? r : mkdir(path, 0700) == 0 ? 0 : fh_error_sys(err, errno, "cannot make the folder %s", path);
}

/* Runs openssl with arguments in the folder. Returns 0, 1 when openssl failed, negative when it could not be
 * started. */
static int openssl(const char *folder, const char *const *arguments, struct fh_error *err)
{
	const char *argv[40] = { "openssl" };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(ERROR_MAX), said = FH_BUF_INIT(ERROR_MAX);
	size_t n = 1;
	int status;
	for (; *arguments && n + 1 < FH_ARRAY_SIZE(argv); arguments++)
		argv[n++] = *arguments;
	const struct fh_proc_options o = { .argv = argv,
		                               .cwd = folder,
		                               .stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE } };
	int r = fh_proc_run(&o, (struct fh_str){ 0 }, OPENSSL_MS, &out, &said, &status, err);
	if (r < 0) {
		fh_error_hint(err, "--tls-self-signed needs the program openssl, version 3 (package openssl)");
		return r;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	fh_error_set(err, FH_E_UNAVAILABLE, "openssl could not make a certificate: %.300s", fh_buf_cstr(&said));
	return 1;
}

/* Writes an openssl configuration with all that the certificates contain, so that the system's openssl.cnf has no
 * influence. */
static int write_config(const char *folder, const char *domain, struct fh_error *err)
{
	fh_auto_free char *path = fh_path_join(folder, "openssl.cnf");
	fh_auto_free char *text =
	    fh_xasprintf("[req]\ndistinguished_name = name\nprompt = no\n"
	                 "[name]\nCN = fumehood serve, %.40s\n"
	                 "[authority]\nbasicConstraints = critical, CA:TRUE, pathlen:0\nkeyUsage = critical, keyCertSign\n"
	                 "subjectKeyIdentifier = hash\n"
	                 "nameConstraints = critical, permitted;DNS:%s, permitted;IP:127.0.0.0/255.0.0.0\n"
	                 "[server]\nbasicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature\n"
	                 "extendedKeyUsage = serverAuth\nsubjectKeyIdentifier = hash\nauthorityKeyIdentifier = keyid\n"
	                 "subjectAltName = DNS:%s, DNS:*.%s, IP:127.0.0.1\n",
	                 domain, domain, domain, domain);
	return fh_file_write_atomic(path, text, strlen(text), 0600, err);
}

/* Renames the finished files to their final names, so that these are never incomplete. */
static int move_into_place(const char *folder, const char *const *names, struct fh_error *err)
{
	for (; *names; names++) {
		fh_auto_free char *to = fh_path_join(folder, *names), *from = fh_xasprintf("%s.new", to);
		if (rename(from, to) < 0)
			return fh_error_sys(err, errno, "cannot rename the finished file to %s", to);
	}
	return 0;
}

#define NEW_KEY "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"

static int make_authority(const char *folder, struct fh_error *err)
{
	static const char *const arguments[] = {
		"req",   "-config", "openssl.cnf",       "-x509", "-extensions",       "authority",
		NEW_KEY, "-keyout", "authority.key.new", "-out",  "authority.pem.new", "-days",
		"3650",  NULL
	};
	static const char *const names[] = { "authority.key", "authority.pem", NULL };
	fh_auto_free char *there = fh_path_join(folder, "authority.pem");
	if (access(there, R_OK) == 0)
		return 0;
	int r = openssl(folder, arguments, err);
	return r ? -FH_E_UNAVAILABLE : move_into_place(folder, names, err);
}

static int make_certificate(const char *folder, const char *domain, struct fh_error *err)
{
	static const char *const check[] = { "x509", "-in", "server.pem", "-noout", "-checkend", WEEK_S, NULL };
	static const char *const names[] = { "server.key", "server.pem", NULL };
	fh_auto_free char *subject = fh_xasprintf("/CN=%.60s", domain), *there = fh_path_join(folder, "server.pem");
	const char *const arguments[] = { "req",
		                              "-config",
		                              "openssl.cnf",
		                              "-x509",
		                              "-extensions",
		                              "server",
		                              "-CA",
		                              "authority.pem",
		                              "-CAkey",
		                              "authority.key",
		                              "-subj",
		                              subject,
		                              NEW_KEY,
		                              "-keyout",
		                              "server.key.new",
		                              "-out",
		                              "server.pem.new",
		                              "-days",
		                              "820",
		                              NULL };
	int r = access(there, R_OK) == 0 ? openssl(folder, check, err) : 1;
	if (r <= 0)
		return r;
	if (err)
		*err = (struct fh_error)FH_ERROR_INIT;
	r = openssl(folder, arguments, err);
	return r ? -FH_E_UNAVAILABLE : move_into_place(folder, names, err);
}

int fh_serve_tls(const char *domain, struct fh_buf *certificate, struct fh_buf *key, struct fh_error *err)
{
	fh_auto_free char *folder = folder_of(domain);
	if (!is_domain(domain)) {
		fh_error_set(err, FH_E_ARGUMENT,
		             "--domain %.64s: a certificate for all names in a domain needs a domain of two labels", domain);
		fh_error_hint(err, "--domain " FH_TLS_DOMAIN ", or a name of yours such as sandboxes.example.org");
		return -FH_E_ARGUMENT;
	}
	if (!folder)
		return fh_error_set(err, FH_E_UNAVAILABLE,
		                    "there is no folder to keep a certificate in: set XDG_STATE_HOME or HOME");
	fh_auto_free char *certificate_path = fh_path_join(folder, "server.pem"),
	                  *key_path = fh_path_join(folder, "server.key");
	int r = make_folders(folder, err);
	if (r == 0)
		r = write_config(folder, domain, err);
	if (r == 0)
		r = make_authority(folder, err);
	if (r == 0)
		r = make_certificate(folder, domain, err);
	if (r == 0)
		r = fh_file_read(certificate_path, certificate, err);
	return r < 0 ? r : fh_file_read(key_path, key, err);
}
