/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/text/nearest.h"
#include "base/path.h"
#include "cli/serve/serve.h"
#include "cli/serve/serve_tls.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/switch.h"

static const char *shell, *e2b_url, *domain;
static bool off, explain;
static const struct fh_opt options[] = {
	{ "shell", 0, FH_OPT_STRING, &shell, "SHELL", "bash, zsh, fish or sh.", .default_words = "what $SHELL names" },
	{ "domain", 0, FH_OPT_STRING, &domain, "NAME[:PORT]",
	  "E2B's SDKs find `fumehood serve --tls-self-signed --domain NAME` by this name, and trust its certificate "
	  "(E2B_DOMAIN, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS); api.NAME and PORT-SANDBOX.NAME have to lead to it: with "
	  "--explain." },
	{ "off", 0, FH_OPT_FLAG, &off, NULL,
	  "Print commands that undo it: the variables become what they were before, except for those that you changed "
	  "since." },
	{ "e2b-url", 0, FH_OPT_STRING, &e2b_url, "URL", "Where E2B's SDKs find `fumehood serve`.",
	  .default_text = FH_SERVE_URL },
	{ "explain", 0, FH_OPT_FLAG, &explain, NULL, "Explain which module serves which import, and print no commands." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood env",
	.synopsis = "[--shell SHELL] [--off]",
	.about =
	    "Prints shell commands that put fumehood's Python modules first on PYTHONPATH: programs that import epicbox, "
	    "for "
	    "example, then run in our sandboxes. Programs that use E2B's SDKs find `fumehood serve` instead of the cloud "
	    "(E2B_API_URL, E2B_SANDBOX_URL, E2B_VOLUME_API_URL, and E2B_API_KEY where there is none).",
	.details = "Examples:\n"
	           "  eval \"$(fumehood env)\"          (bash, zsh)\n"
	           "  fumehood env | source           (fish)\n"
	           "  eval \"$(fumehood env --off)\"\n"
	           "\n"
	           "Exit status: 0, 1 when this installation has no Python modules, 2 for a wrong command line.",
	.options = options,
};

/* How each shell sets and unsets a variable. */
static const struct {
	const char *name;
	void (*quote)(struct fh_buf *out, struct fh_str s);
	const char *set, *between, *unset;
} shells[] = {
	{ "bash", fh_escape_shell, "export ", "=", "unset " },
	{ "zsh", fh_escape_shell, "export ", "=", "unset " },
	{ "sh", fh_escape_shell, "export ", "=", "unset " },
	{ "fish", fh_escape_fish, "set -gx ", " ", "set -e " },
};

static int find_shell(size_t *ret, struct fh_error *err)
{
	const char *login = getenv("SHELL");
	struct fh_nearest near = FH_NEAREST_INIT(shell ? shell : "");
	for (size_t i = 0; i < FH_ARRAY_SIZE(shells); i++) {
		fh_nearest_offer(&near, shells[i].name);
		if (fh_streq(shells[i].name, shell ? shell : login ? fh_path_base(login) : "sh")) {
			*ret = i;
			return 0;
		}
	}
	if (!shell) { /* other shells, such as dash and ksh, accept the syntax of sh */
		*ret = 2;
		return 0;
	}
	int r = fh_error_set(err, FH_E_ARGUMENT, "option --shell: unknown shell %s", shell);
	fh_error_hint(err, near.best ? "did you mean %s?" : "bash, zsh, fish or sh%s", near.best ? near.best : "");
	return r;
}

static void print_explanation(const struct fh_switch *s)
{
	fh_auto_free char *above = fh_path_dir(s->folder);
	fh_printf("import %-12s %s/fumehood\n", "fumehood", above);
	for (size_t i = 0; s->modules[i]; i++)
		fh_printf("import %-12s %s/%s   (instead of the package %s)\n", s->modules[i], s->folder, s->modules[i],
		          s->modules[i]);
	fh_printf("command promptfoo   %s/bin/promptfoo   (and npx promptfoo)\n", s->folder);
	if (domain) {
		fh_printf("E2B's SDKs          https://api.%s and https://PORT-SANDBOX.%s\n"
		          "  These names have to lead to the server. Names below .localhost do where systemd-resolved or "
		          "nss-myhostname\n"
		          "  answers; else your DNS needs a wildcard (dnsmasq: address=/%.*s/127.0.0.1), since a hosts file "
		          "cannot name\n"
		          "  sandboxes that are not made yet.\n",
		          domain, domain, (int)strcspn(domain, ":"), domain);
		return;
	}
	fh_printf("E2B's SDKs          %s   (`fumehood serve`; `fumehood with` starts one where none runs)\n", e2b_url);
}

static void print_commands(const struct fh_switch *s, size_t which)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; i < s->count; i++) {
		const struct fh_switch_variable *v = &s->variables[i];
		if (!v->value && !getenv(v->name))
			continue;
		fh_buf_addf(&out, "%s%s%s", v->value ? shells[which].set : shells[which].unset, v->name,
		            v->value ? shells[which].between : "");
		if (v->value)
			shells[which].quote(&out, fh_str(v->value));
		fh_buf_adds(&out, ";\n");
	}
	fh_print(&out);
}

int fh_command_env(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	size_t which = 0;
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	if (find_shell(&which, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	struct fh_switch s = { 0 };
	fh_auto_free char *name = domain ? fh_xasprintf("%.*s", (int)strcspn(domain, ":"), domain) : NULL;
	fh_auto_free char *authority = name ? fh_serve_tls_authority(name) : NULL;
	if (name && (!authority || access(authority, R_OK) < 0)) {
		fh_error_set(&err, FH_E_NOT_FOUND, "no certificate was made for %s yet", name);
		fh_error_hint(&err, "start fumehood serve --tls-self-signed --domain %s first, as the same user", name);
		return fh_command_failed(&err, FH_EXIT_FAILED);
	}
	const struct fh_switch_e2b e2b = { e2b_url, FH_SWITCH_E2B_KEY, domain, authority };
	if (fh_switch_make(!off, &e2b, &s, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (explain)
		print_explanation(&s);
	else
		print_commands(&s, which);
	fh_switch_release(&s);
	return FH_EXIT_OK;
}
