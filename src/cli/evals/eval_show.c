/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_show.h"

#include "base/escape.h"
#include "cli/shared/print.h"
#include "json/json.h"

#define RESULTS_MAX ((size_t)2 << 30)

struct printer {
	struct fh_buf out;
	bool color;
};

static void paint(struct printer *p, const char *code, const char *text)
{
	fh_buf_addf(&p->out, p->color ? "\033[%sm%s\033[0m" : "%.0s%s", code, text);
}

static void heading(struct printer *p, const char *text)
{
	fh_buf_addc(&p->out, '\n');
	paint(p, "1", text);
	fh_buf_addc(&p->out, '\n');
}

/* Prints text with each line indented by `indent` spaces. */
static void block(struct printer *p, struct fh_str text, int indent)
{
	do {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		fh_buf_addf(&p->out, "%*s", indent, "");
		fh_escape_terminal(&p->out, (struct fh_str){ text.p, n }, true);
		fh_buf_addc(&p->out, '\n');
		n += end != NULL;
		text.p += n;
		text.n -= n;
	} while (text.n > 0);
}

static void value_block(struct printer *p, const json_t *value, int indent)
{
	if (json_is_string(value)) {
		block(p, (struct fh_str){ json_string_value(value), json_string_length(value) }, indent);
		return;
	}
	fh_auto_free char *text = fh_json_text(value, 2);
	block(p, fh_str(text), indent);
}

/* Prints "name: value" on one line if it fits, else the value below the name. */
static void member(struct printer *p, const char *name, const json_t *value, int indent)
{
	const char *text = json_string_value(value);
	bool small =
	    !json_is_object(value) && !json_is_array(value) && (!text || (strlen(text) < 80 && !strchr(text, '\n')));
	fh_buf_addf(&p->out, "%*s", indent, "");
	fh_escape_terminal(&p->out, fh_str(name), false);
	fh_buf_addc(&p->out, ':');
	if (small) {
		fh_buf_addc(&p->out, ' ');
		value_block(p, value, 0);
	} else {
		fh_buf_addc(&p->out, '\n');
		value_block(p, value, indent + 2);
	}
}

static void members(struct printer *p, const json_t *object, int indent)
{
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)object, name, value) member(p, name, value, indent);
}

static void show_head(struct printer *p, const json_t *row, uint64_t index)
{
	const json_t *provider = json_object_get(row, "provider"), *test = json_object_get(row, "testCase");
	const char *label = fh_json_str(provider, "label", ""), *description = fh_json_str(test, "description", NULL);
	bool pass = json_is_true(json_object_get(row, "success")), failed = fh_json_int(row, "failureReason", 0) != 2;
	paint(p, pass ? "32" : failed ? "31" : "33", pass ? "[PASS]" : failed ? "[FAIL]" : "[ERROR]");
	fh_buf_addf(&p->out, " result %llu, score ", (unsigned long long)index);
	fh_json_write_number(&p->out, fh_json_num(row, "score", 0));
	if (description) {
		fh_buf_adds(&p->out, ": ");
		fh_escape_terminal(&p->out, fh_str(description), false);
	}
	fh_buf_adds(&p->out, "\nprovider: ");
	fh_escape_terminal(&p->out, fh_str(fh_json_str(provider, "id", "")), false);
	if (*label) {
		fh_buf_adds(&p->out, " (");
		fh_escape_terminal(&p->out, fh_str(label), false);
		fh_buf_addc(&p->out, ')');
	}
	fh_buf_addc(&p->out, '\n');
	if (json_object_get(row, "error"))
		member(p, "error", json_object_get(row, "error"), 0);
}

static void show_assertion(struct printer *p, const json_t *part)
{
	const json_t *assertion = json_object_get(part, "assertion"), *value = json_object_get(assertion, "value");
	bool pass = json_is_true(json_object_get(part, "pass"));
	fh_buf_adds(&p->out, "  ");
	paint(p, pass ? "32" : "31", pass ? "[PASS] " : "[FAIL] ");
	fh_escape_terminal(&p->out, fh_str(fh_json_str(assertion, "type", "(set)")), false);
	fh_buf_addc(&p->out, '\n');
	if (value)
		member(p, "value", value, 4);
	member(p, "reason", json_object_get(part, "reason"), 4);
	members(p, json_object_get(part, "metadata"), 4);
}

static void show(struct printer *p, const json_t *row, uint64_t index)
{
	const json_t *vars = json_object_get(row, "vars"),
	             *output = json_object_get(json_object_get(row, "response"), "output");
	const json_t *parts = json_object_get(json_object_get(row, "gradingResult"), "componentResults");
	show_head(p, row, index);
	if (json_object_size(vars) > 0) {
		heading(p, "Variables");
		members(p, vars, 2);
	}
	const char *prompt = fh_json_str(json_object_get(row, "prompt"), "raw", NULL);
	if (!prompt || *prompt) {
		heading(p, "Prompt");
		value_block(p, json_object_get(json_object_get(row, "prompt"), "raw"), 2);
	}
	heading(p, "Answer");
	if (output)
		value_block(p, output, 2);
	else
		fh_buf_adds(&p->out, "  (none)\n");
	if (json_array_size(parts) > 0)
		heading(p, "Assertions");
	for (size_t i = 0; i < json_array_size(parts); i++)
		show_assertion(p, json_array_get(parts, i));
}

void fh_eval_show_row(const json_t *row, uint64_t index, bool color)
{
	struct printer p = { .color = color };
	show(&p, row, index);
	fh_print(&p.out);
	fh_buf_release(&p.out);
}

int fh_eval_show(const char *path, uint64_t index, bool color, struct fh_error *err)
{
	fh_auto_json json_t *file = fh_json_load_file(path, RESULTS_MAX, err);
	if (!file)
		return -FH_E_CONFIG;
	const json_t *rows = json_object_get(json_object_get(file, "results"), "results");
	if (!json_is_array(rows))
		return fh_error_set(err, FH_E_CONFIG, "%s is not a results file of `fumehood eval -o FILE.json`", path);
	if (index >= json_array_size(rows))
		return fh_error_set(err, FH_E_ARGUMENT, "there is no result %llu: %s has %zu, counted from 0",
		                    (unsigned long long)index, path, json_array_size(rows));
	fh_eval_show_row(json_array_get(rows, index), index, color);
	return 0;
}
