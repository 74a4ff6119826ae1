/* SPDX-License-Identifier: MIT */
/*
 * The steps of an agent, read from the attributes of the spans that tools for tracing write: a tool that was called and
 * with what, a command, a search, reasoning, a message. The names of the attributes are those that promptfoo knows.
 */
#include <math.h>
#include "eval/assertions/trace/trace.h"
#include "eval/common/text.h"

static const char *const tool_keys[] = { "tool.name",        "tool_name",       "tool",
	                                     "function.name",    "function_name",   "ai.toolCall.name",
	                                     "gen_ai.tool.name", "agent.tool_name", "agent.tool",
	                                     "agent.toolName",   "codex.mcp.tool" };
static const char *const args_keys[] = { "tool.args",
	                                     "tool.arguments",
	                                     "tool.input",
	                                     "tool_args",
	                                     "tool_arguments",
	                                     "tool_input",
	                                     "function.args",
	                                     "function.arguments",
	                                     "function.input",
	                                     "function_args",
	                                     "function_arguments",
	                                     "ai.toolCall.args",
	                                     "ai.toolCall.arguments",
	                                     "ai.toolCall.input",
	                                     "gen_ai.tool.args",
	                                     "gen_ai.tool.arguments",
	                                     "gen_ai.tool.input",
	                                     "gen_ai.tool.call.args",
	                                     "gen_ai.tool.call.arguments",
	                                     "agent.tool.args",
	                                     "agent.tool.arguments",
	                                     "agent.tool.input",
	                                     "codex.mcp.args",
	                                     "codex.mcp.arguments",
	                                     "codex.mcp.input",
	                                     "args",
	                                     "arguments",
	                                     "input" };
static const char *const command_keys[] = { "codex.command", "command", "command.name", "command_name" };
static const char *const search_keys[] = { "codex.search.query", "search.query", "search_query" };
static const char *const query_keys[] = { "query" };
static const char *const shells[] = { "exec_command", "local_shell", "shell" };

struct reading {
	const json_t *span, *attributes;
	const char *name;       /* of the span */
	const json_t *commands; /* the lower-case names of tools that run commands */
};

static bool like(const char *text, const char *pattern)
{
	return fh_pattern_own_found(pattern, PCRE2_CASELESS, fh_str(text));
}

/* The text without space around it; NULL for what is no text, or has none. */
static char *text_of(const json_t *v)
{
	if (!json_is_string(v))
		return NULL;
	struct fh_str s = fh_text_trim((struct fh_str){ json_string_value(v), json_string_length(v) });
	return s.n ? fh_xstrndup(s.p, s.n) : NULL;
}

static char *first_text(const json_t *attributes, const char *const *keys, size_t n)
{
	char *found = NULL;
	for (size_t i = 0; i < n && !found; i++)
		found = text_of(json_object_get(attributes, keys[i]));
	return found;
}
#define FIRST_TEXT(attributes, keys) first_text(attributes, keys, FH_ARRAY_SIZE(keys))

static bool is_json_container(const char *text)
{
	if (*text != '[' && *text != '{')
		return false;
	fh_auto_json json_t *parsed = fh_json_parse(fh_str(text), NULL, NULL);
	return parsed != NULL;
}

static char *tool_of(const struct reading *r)
{
	char *found = FIRST_TEXT(r->attributes, tool_keys);
	const char *key;
	json_t *v;
	if (found)
		return found;
	json_object_foreach((json_t *)(uintptr_t)r->attributes, key, v)
	{
		fh_auto_free char *text = text_of(v);
		if (!text || is_json_container(text))
			continue;
		if (like(key, "tool.?name|function.?name") ||
		    (like(key, "(^|[._])tool($|[._])") && !like(key, "result|output|definition")))
			return FH_TAKE_PTR(text);
	}
	const char *slash = fh_starts_with(r->name, "mcp ") ? strrchr(r->name, '/') : NULL;
	if (!slash || !slash[1])
		return NULL;
	struct fh_str tool = fh_text_trim(fh_str(slash + 1));
	return fh_xstrndup(tool.p, tool.n);
}

/* An attribute as JSON: text is read as such where it is JSON. NULL for none. New reference. */
static json_t *structured(const json_t *v)
{
	if (!v || json_is_null(v))
		return NULL;
	if (!json_is_string(v))
		return json_incref((json_t *)(uintptr_t)v);
	fh_auto_free char *text = text_of(v);
	json_t *parsed = text ? fh_json_parse(fh_str(text), NULL, NULL) : NULL;
	return parsed ? parsed : text ? json_string(text) : NULL;
}

static json_t *args_of(const struct reading *r)
{
	json_t *found = NULL;
	const char *key;
	json_t *v;
	for (size_t i = 0; i < FH_ARRAY_SIZE(args_keys) && !found; i++)
		found = structured(json_object_get(r->attributes, args_keys[i]));
	if (found)
		return found;
	json_object_foreach((json_t *)(uintptr_t)r->attributes, key, v)
	{
		if (like(key, "result|output|error|status") || !like(key, "(^|[._])(arguments|args|input)($|[._])"))
			continue;
		found = structured(v);
		if (found)
			return found;
	}
	return NULL;
}

static bool runs_commands(const struct reading *r, const char *tool)
{
	fh_auto_free char *lower = tool ? fh_text_lower(fh_str(tool)) : NULL;
	for (size_t i = 0; lower && i < FH_ARRAY_SIZE(shells); i++)
		if (fh_streq(shells[i], lower))
			return true;
	return lower && json_object_get(r->commands, lower);
}

/* The command in a shell's arguments: text, or a list of its parts. */
static char *command_in(const json_t *args)
{
	const json_t *v = json_object_get(args, "cmd");
	v = v ? v : json_object_get(args, "command");
	const json_t *many = v ? NULL : json_object_get(args, "commands");
	v = v ? v : many;
	if (!json_is_array(v))
		return text_of(v);
	fh_auto_buf struct fh_buf joined = FH_BUF_INIT(0);
	for (size_t i = 0; i < json_array_size(v); i++) {
		fh_auto_free char *part = fh_text_of_json(json_array_get(v, i));
		struct fh_str s = fh_text_trim(fh_str(part));
		if (s.n && joined.n)
			fh_buf_adds(&joined, many ? "; " : " ");
		fh_buf_add_str(&joined, s);
	}
	return joined.n ? fh_buf_take(&joined, NULL) : NULL;
}

static char *command_of(const struct reading *r, const char *tool)
{
	char *found = FIRST_TEXT(r->attributes, command_keys);
	const char *key;
	json_t *v;
	if (found)
		return found;
	json_object_foreach((json_t *)(uintptr_t)r->attributes, key, v)
	{
		if (like(key, "command") && !like(key, "output|result"))
			found = text_of(v);
		if (found)
			return found;
	}
	if (runs_commands(r, tool)) {
		fh_auto_json json_t *args = args_of(r);
		found = command_in(args);
	}
	if (found || !fh_starts_with(r->name, "exec "))
		return found;
	struct fh_str rest = fh_text_trim(fh_str(r->name + strlen("exec ")));
	return rest.n ? fh_xstrndup(rest.p, rest.n) : NULL;
}

static bool is_search(const struct reading *r)
{
	const char *key;
	json_t *v;
	if (like(r->name, "(^|[\\s._:/-])(search|find|lookup|retriev(?:e|al))($|[\\s._:/-])"))
		return true;
	json_object_foreach((json_t *)(uintptr_t)r->attributes, key,
	                    v) if (!fh_streq(key, "query") &&
	                           like(key, "(^|[._])(search|lookup|retriev(?:e|al))($|[._])")) return true;
	return false;
}

static char *search_of(const struct reading *r)
{
	char *found = FIRST_TEXT(r->attributes, search_keys);
	if (!found && is_search(r))
		found = FIRST_TEXT(r->attributes, query_keys);
	if (found || !fh_starts_with(r->name, "search "))
		return found;
	struct fh_str rest = fh_str(r->name + strlen("search "));
	if (rest.n && rest.p[0] == '"')
		rest = (struct fh_str){ rest.p + 1, rest.n - 1 };
	if (rest.n && rest.p[rest.n - 1] == '"')
		rest.n--;
	rest = fh_text_trim(rest);
	return rest.n ? fh_xstrndup(rest.p, rest.n) : NULL;
}

static const char *other_type(const struct reading *r)
{
	const char *item = fh_json_str(r->attributes, "codex.item.type", "");
	if (fh_streq(item, "reasoning") || like(r->name, "^reasoning([_\\s]|$)"))
		return "reasoning";
	if (fh_streq(item, "agent_message") || fh_streq(r->name, "agent response") || fh_streq(r->name, "send input"))
		return "message";
	return "span";
}

static struct fh_trace_step step_of(const struct reading *r)
{
	fh_auto_free char *tool = tool_of(r);
	fh_auto_free char *command = command_of(r, tool);
	struct fh_trace_step step = { .span = r->span };
	if (command && (!tool || !*tool || runs_commands(r, tool))) {
		size_t word = 0;
		while (command[word] && fh_text_space_at(fh_str(command + word)) == 0)
			word++;
		step.type = "command";
		step.program = fh_xstrndup(command, word);
		step.alias = FH_TAKE_PTR(tool);
		step.name = FH_TAKE_PTR(command);
		step.args = step.alias ? args_of(r) : NULL;
		return step;
	}
	if (tool && *tool) {
		step.type = "tool";
		step.name = FH_TAKE_PTR(tool);
		step.args = args_of(r);
		return step;
	}
	char *search = search_of(r);
	step.type = search ? "search" : other_type(r);
	step.name = search ? search : fh_xstrdup(r->name);
	if (!search && !fh_streq(step.type, "span"))
		step.alias = fh_xstrdup(step.type);
	return step;
}

/* ------------------------------------------------------------------------------------------------------------ order */

struct placed {
	const json_t *span;
	double start, end;
	size_t place;
};

static int by_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Names that trace.metadata.commandToolNames adds, in lower case. */
static json_t *command_names(const json_t *trace)
{
	const json_t *given = json_object_get(json_object_get(trace, "metadata"), "commandToolNames");
	json_t *names = json_object();
	for (size_t i = 0; i < json_array_size(given); i++) {
		fh_auto_free char *text = text_of(json_array_get(given, i));
		fh_auto_free char *lower = text ? fh_text_lower(fh_str(text)) : NULL;
		if (lower)
			json_object_set_new(names, lower, json_true());
	}
	return names;
}

void fh_trace_steps_of(const json_t *trace, struct fh_trace_steps *ret)
{
	const json_t *spans = json_object_get(trace, "spans");
	size_t n = json_array_size(spans);
	fh_auto_free struct placed *order = fh_xcalloc(n + 1, sizeof(*order));
	fh_auto_json json_t *commands = command_names(trace);
	for (size_t i = 0; i < n; i++) {
		const json_t *span = json_array_get(spans, i);
		double start = fh_json_num(span, "startTime", -INFINITY);
		order[i] = (struct placed){ span, start, fh_json_num(span, "endTime", start), i };
	}
	qsort(order, n, sizeof(*order), by_time);
	*ret = (struct fh_trace_steps){ .items = fh_xcalloc(n + 1, sizeof(*ret->items)), .n = n };
	for (size_t i = 0; i < n; i++) {
		struct reading r = { .span = order[i].span,
			                 .attributes = json_object_get(order[i].span, "attributes"),
			                 .name = fh_json_str(order[i].span, "name", ""),
			                 .commands = commands };
		ret->items[i] = step_of(&r);
	}
}

void fh_trace_steps_release(struct fh_trace_steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].alias);
		free(s->items[i].program);
		json_decref(s->items[i].args);
	}
	free(s->items);
	*s = (struct fh_trace_steps){ 0 };
}
