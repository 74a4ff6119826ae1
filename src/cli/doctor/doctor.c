/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/shared/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "json/json.h"

static bool as_json;
static const struct fh_opt options[] = {
	{ "json", 0, FH_OPT_FLAG, &as_json, NULL,
	  "Print one JSON object: the findings, each with its group, name, status, "
	  "what was found, and how to mend it." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood doctor",
	.synopsis = "[--json]",
	.about = "Checks this machine with the rights of the caller: tries the system calls that sandboxes need, starts "
	         "the programs of the commands, makes a sandbox and reads its layers back, exceeds each limit, and runs a "
	         "program of each language. Says how well each thing works here, and how to mend what is missing; and, "
	         "without trying, what root would get if a user calls, or a user if root does.",
	.details = "Exit status:\n"
	           "  0  everything is there\n"
	           "  1  runs are possible, and something is missing or holds less than it could\n"
	           "  2  no run is possible here (or the command line is wrong)",
	.options = options,
};

/* ------------------------------------------------------------------------------------------------------- findings */

struct fh_finding *fh_finding_add(struct fh_checkup *c, const char *name, enum fh_worth worth, const char *mend,
                                  const char *format, ...)
{
	fh_auto_buf struct fh_buf here = FH_BUF_INIT(4096);
	va_list args;
	va_start(args, format);
	(void)fh_buf_vaddf(&here, format, args);
	va_end(args);
	struct fh_finding *f = &FH_PUSH(c->findings, c->count, c->capacity);
	f->group = c->group;
	f->name = fh_xstrdup(name);
	f->worth = worth;
	f->here = fh_xstrdup(fh_buf_cstr(&here));
	f->mend = mend ? fh_xstrdup(mend) : NULL;
	return f;
}

static const struct {
	const char *name;
	void (*look)(struct fh_checkup *c);
} groups[] = {
	{ "kernel", fh_doctor_kernel },         { "host", fh_doctor_host },           { "programs", fh_doctor_programs },
	{ "engine", fh_doctor_engine },         { "layers", fh_doctor_sandbox },      { "limits", fh_doctor_limits },
	{ "control groups", fh_doctor_groups }, { "languages", fh_doctor_languages },
};

static void look_everywhere(struct fh_checkup *c)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(groups); i++) {
		c->group = groups[i].name;
		groups[i].look(c);
	}
}

static void release(struct fh_checkup *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->findings[i].name);
		free(c->findings[i].here);
		free(c->findings[i].mend);
	}
	free(c->findings);
	fh_result_free(c->sandbox);
	fh_client_close(c->client);
}

/* -------------------------------------------------------------------------------------------------------- verdict */

static const struct {
	const char *name, *shown;
	enum fh_style style;
} worths[FH_WORTH_COUNT_] = {
	[FH_WORTH_OK] = { "ok", "ok", FH_STYLE_GOOD },
	[FH_WORTH_NOTE] = { "note", "note", FH_STYLE_DIM },
	[FH_WORTH_WEAKER] = { "weaker", "weaker", FH_STYLE_WARN },
	[FH_WORTH_BLOCKS] = { "blocks", "BLOCKS", FH_STYLE_BAD },
};

enum { EXIT_ALL = 0, EXIT_WEAKER = 1, EXIT_NO_RUN = 2 };
static const char *const verdicts[] = { "all", "weaker", "no_run" };

/* A run that worked counts more than a probe that failed: the engine may not need what the probe missed. */
static int judge(struct fh_checkup *c)
{
	int verdict = c->sandbox ? EXIT_ALL : EXIT_NO_RUN;
	for (size_t i = 0; i < c->count; i++) {
		struct fh_finding *f = &c->findings[i];
		if (c->sandbox && f->worth == FH_WORTH_BLOCKS)
			f->worth = FH_WORTH_WEAKER;
		if (f->worth == FH_WORTH_WEAKER && verdict == EXIT_ALL)
			verdict = EXIT_WEAKER;
	}
	return verdict;
}

static const char *who(void)
{
	return geteuid() == 0 ? "root" : "user";
}

static void print_json(const struct fh_checkup *c, int verdict)
{
	struct utsname u = { 0 };
	(void)uname(&u);
	fh_auto_json json_t *o = json_object(), *list = json_array();
	json_object_set_new(o, "fumehood", json_string(fh_version()));
	json_object_set_new(o, "kernel", fh_json_bytes(fh_str(u.release)));
	json_object_set_new(o, "machine", fh_json_bytes(fh_str(u.machine)));
	json_object_set_new(o, "as", json_string(who()));
	json_object_set_new(o, "verdict", json_string(verdicts[verdict]));
	for (size_t i = 0; i < c->count; i++) {
		const struct fh_finding *f = &c->findings[i];
		json_t *x = json_object();
		json_object_set_new(x, "group", json_string(f->group));
		json_object_set_new(x, "name", fh_json_bytes(fh_str(f->name)));
		json_object_set_new(x, "status", json_string(worths[f->worth].name));
		json_object_set_new(x, "here", fh_json_bytes(fh_str(f->here)));
		json_object_set_new(x, "mend", f->mend ? fh_json_bytes(fh_str(f->mend)) : json_null());
		json_array_append_new(list, x);
	}
	json_object_set(o, "findings", list);
	fh_auto_free char *text = fh_json_text(o, isatty(STDOUT_FILENO) ? 2 : 0);
	fh_print_line(text);
}

static void print_text(const struct fh_checkup *c, int verdict)
{
	static const char *const last[] = {
		"Everything is there.",
		"Runs are possible; what is marked weaker could be better.",
		"No run is possible here until what is marked BLOCKS is mended.",
	};
	static const char *const colors[] = {
		[FH_STYLE_GOOD] = "32", [FH_STYLE_BAD] = "31", [FH_STYLE_WARN] = "33", [FH_STYLE_DIM] = "2"
	};
	bool color = fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO);
	struct utsname u = { 0 };
	(void)uname(&u);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	(void)fh_buf_addf(&out, "fumehood %s on Linux %s %s, as %s\n", fh_version(), u.release, u.machine, who());
	for (size_t i = 0; i < c->count; i++) {
		const struct fh_finding *f = &c->findings[i];
		if (i == 0 || !fh_streq(f->group, c->findings[i - 1].group))
			(void)fh_buf_addf(&out, "\n%s\n", f->group);
		if (color)
			(void)fh_buf_addf(&out, "  \033[%sm%-7s\033[0m", colors[worths[f->worth].style], worths[f->worth].shown);
		else
			(void)fh_buf_addf(&out, "  %-7s", worths[f->worth].shown);
		(void)fh_buf_addf(&out, " %-23s ", f->name);
		fh_escape_terminal(&out, fh_str(f->here), false);
		(void)fh_buf_addc(&out, '\n');
		if (f->mend) {
			(void)fh_buf_addf(&out, "  %-7s %-23s mend: ", "", "");
			fh_escape_terminal(&out, fh_str(f->mend), false);
			(void)fh_buf_addc(&out, '\n');
		}
	}
	(void)fh_buf_addf(&out, "\n%s\n", last[verdict]);
	fh_print(&out);
}

int fh_command_doctor(int argc, char **argv)
{
	struct fh_checkup checkup = { 0 };
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	look_everywhere(&checkup);
	int verdict = judge(&checkup);
	if (as_json)
		print_json(&checkup, verdict);
	else
		print_text(&checkup, verdict);
	release(&checkup);
	return verdict;
}
