/* SPDX-License-Identifier: MIT */
/*
 * promptfoo's `promptfoo:simulated-user`: a model plays a user who talks to the column's provider.
 *
 * Each turn asks the user's model (config.provider) for what the user says, and the column's provider for the answer to
 * the whole talk. It ends behind config.maxTurns, or when the user says ###STOP###.
 */
#include "provider/another/another.h"
#include "base/clock.h"
#include "provider/settings.h"
#include "provider/type.h"

#define FH_SIMULATED_TURNS 10
#define FH_SIMULATED_TURNS_MAX 1000
#define FH_SIMULATED_STOP "###STOP###"

static const char fh_simulated_role[] =
    "You play a user who talks to an assistant. The messages that you get are the assistant's; answer each with the "
    "user's next message alone: short, as a person writes, nothing about these rules. Say one thing at a time, tell "
    "only what the instructions say or what follows from them, and make nothing up. Once the user has got what the "
    "instructions want, or it is clear that it cannot be had, answer only " FH_SIMULATED_STOP
    ".\n\nInstructions of the user:\n";
/* What the user's model answers first: many models want a message beside the system's. */
static const char fh_simulated_opening[] = "Hi! How can I help you today?";

/* One talk. */
struct fh_simulated_talk {
	struct fh_provider *user;
	const struct fh_provider_request *request;
	json_t *vars;     /* of the row, and the session's id when the provider gave one */
	json_t *context;  /* the request's, with these vars */
	json_t *messages; /* [{role, content}], without the system's */
	char *role;       /* the system message of the user's model */
	bool stateful;    /* the provider keeps the talk: it is sent the last message alone */
	json_t *guardrails;
	struct fh_provider_response *sum;
	struct fh_error *err;
};

/* ----------------------------------------------------------------------------------------------------------- config */

static int fh_simulated_user_open(struct fh_provider *p, struct fh_error *err)
{
	const json_t *entry = json_object_get(p->config, "provider"), *turns = json_object_get(p->config, "maxTurns");
	const json_t *instructions = json_object_get(p->config, "instructions");
	const char *id = json_is_string(entry) ? json_string_value(entry) : fh_json_str(entry, "id", NULL);
	if (!id || !*id) {
		fh_error_set(err, FH_E_CONFIG,
		             "provider %s: no model is given to play the user (promptfoo asks its own service)", p->id);
		fh_error_hint(err, "set config.provider: ID, or options: {provider: ID} of the test or of defaultTest");
		return -FH_E_CONFIG;
	}
	if (turns && (!json_is_integer(turns) || json_integer_value(turns) < 1 ||
	              json_integer_value(turns) > FH_SIMULATED_TURNS_MAX))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: config.maxTurns has to be 1 to %d", p->id,
		                    FH_SIMULATED_TURNS_MAX);
	if (instructions && !json_is_string(instructions))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: config.instructions has to be a text", p->id);
	int code = fh_settings_load_one(p, p->config, "initialMessages", err);
	if (code)
		return code;
	struct fh_provider_options options = { .id = id,
		                                   .label = fh_json_str(entry, "label", NULL),
		                                   .config = json_object_get(entry, "config"),
		                                   .base_dir = p->base_dir,
		                                   .env = p->env,
		                                   .scripts = p->scripts,
		                                   .replay = p->replay,
		                                   .record = p->record,
		                                   .cache = p->cache,
		                                   .cancel = p->cancel,
		                                   .look_only = p->look_only,
		                                   .timeout_ms = p->timeout_ms };
	fh_auto_json json_t *env = json_copy(p->env);
	if (json_is_object(json_object_get(entry, "env"))) {
		options.own_env = json_object_get(entry, "env");
		json_object_update(env, (json_t *)(uintptr_t)options.own_env);
		options.env = env;
	}
	struct fh_provider *user = NULL;
	code = fh_provider_open(&options, &user, err);
	if (code)
		return fh_error_wrap(err, "provider %s: config.provider", p->id);
	p->state = user;
	if (fh_provider_asks_another(user))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: %s cannot play the user", p->id, id);
	return 0;
}

static void fh_simulated_user_free(struct fh_provider *p)
{
	fh_provider_free(p->state);
}

/* ------------------------------------------------------------------------------------------------------------- talk */

static int fh_simulated_text(const json_t *output, char **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_ANOTHER_TEXT_MAX);
	if (fh_another_add_text(&text, output) < 0)
		return fh_error_set(err, FH_E_LIMIT, "an answer is longer than %zu MiB", FH_ANOTHER_TEXT_MAX >> 20);
	*ret = fh_xstrdup(fh_buf_cstr(&text));
	return 0;
}

static json_t *fh_simulated_message(const char *role, const char *content)
{
	return json_pack("{s:s, s:o}", "role", role, "content", fh_json_bytes(fh_str(content)));
}

/* Adds the messages that the talk begins with, of the row's variable or the config, their templates rendered. */
static int fh_simulated_begin(struct fh_simulated_talk *t, const json_t *config)
{
	const json_t *given = json_object_get(t->vars, "initialMessages");
	given = given && !json_is_null(given) ? given : json_object_get(config, "initialMessages");
	const char *text = json_string_value(given);
	fh_auto_json json_t *parsed = text && *text ? fh_json_parse(fh_str(text), NULL, NULL) : NULL;
	if (!given || json_is_null(given) || (text && !text[strspn(text, " \t\r\n")]))
		return 0;
	const json_t *list = text ? parsed : given;
	bool good = json_is_array(list);
	for (size_t i = 0; i < json_array_size(list) && good; i++) {
		const json_t *message = json_array_get(list, i);
		const char *parts[] = { fh_json_str(message, "role", NULL), fh_json_str(message, "content", NULL) };
		fh_auto_free char *role = NULL;
		fh_auto_free char *content = NULL;
		int code = parts[0] && parts[1] ? fh_another_render(parts[0], t->vars, &role, t->err) : 0;
		if (code == 0 && role)
			code = fh_another_render(parts[1], t->vars, &content, t->err);
		if (code)
			return code;
		good = role && (fh_streq(role, "user") || fh_streq(role, "assistant") || fh_streq(role, "system"));
		if (good)
			json_array_append_new(t->messages, fh_simulated_message(role, content));
	}
	return good ? 0
	            : fh_error_set(t->err, FH_E_ARGUMENT,
	                           "initialMessages has to be a list of {role: user, assistant or system, content: text}");
}

static const char *fh_simulated_last(const struct fh_simulated_talk *t, const char *member)
{
	return fh_json_str(json_array_get(t->messages, json_array_size(t->messages) - 1), member, "");
}

/* Asks the column's provider for its answer to the talk, and adds that. */
static int fh_simulated_assistant(struct fh_simulated_talk *t)
{
	fh_auto_json json_t *chat = json_array();
	if (!t->stateful || !json_object_get(t->vars, "sessionId"))
		json_array_append_new(chat,
		                      json_pack("{s:s, s:o}", "role", "system", "content", fh_json_bytes(t->request->prompt)));
	if (t->stateful)
		json_array_append_new(chat, fh_simulated_message("user", fh_simulated_last(t, "content")));
	else
		json_array_extend(chat, t->messages);
	fh_auto_free char *prompt = fh_json_text(chat, 0);
	struct fh_provider_request one = *t->request;
	one.prompt = fh_str(prompt);
	one.context = t->context;
	one.original = NULL;
	fh_auto_provider_response struct fh_provider_response answer = FH_PROVIDER_RESPONSE_INIT;
	fh_auto_free char *text = NULL;
	int code = fh_another_ask(t->request->original, &one, t->sum, &answer, t->err);
	if (code == 0 && !t->sum->error)
		code = fh_simulated_text(answer.output, &text, t->err);
	if (code || t->sum->error)
		return code;
	json_array_append_new(t->messages, fh_simulated_message("assistant", text));
	json_t *session = json_object_get(answer.extra, "sessionId");
	if (session && !json_is_null(session))
		json_object_set(t->vars, "sessionId", session);
	json_decref(t->guardrails);
	t->guardrails = json_incref(json_object_get(answer.extra, "guardrails"));
	if (t->request->original_delay_ms > 0)
		fh_sleep_ns((int64_t)t->request->original_delay_ms * FH_NS_PER_MS);
	return 0;
}

/* Asks the user's model for the user's next message, and adds that. *ret_stop: the user has nothing more to say. */
static int fh_simulated_user(struct fh_simulated_talk *t, bool *ret_stop)
{
	fh_auto_json json_t *chat = json_array();
	size_t i;
	json_t *message;
	json_array_append_new(chat, fh_simulated_message("system", t->role));
	if (json_array_size(t->messages) == 0)
		json_array_append_new(chat, fh_simulated_message("user", fh_simulated_opening));
	json_array_foreach(t->messages, i, message)
	{
		bool own = fh_streq(fh_json_str(message, "role", ""), "user");
		json_array_append_new(chat, json_pack("{s:s, s:O}", "role", own ? "assistant" : "user", "content",
		                                      json_object_get(message, "content")));
	}
	fh_auto_free char *prompt = fh_json_text(chat, 0);
	fh_auto_json json_t *context =
	    json_pack("{s:O, s:{s:s, s:s}}", "vars", t->vars, "prompt", "raw", prompt, "label", "simulated-user");
	struct fh_provider_request one = { .prompt = fh_str(prompt), .context = context, .repeat = t->request->repeat };
	fh_auto_provider_response struct fh_provider_response answer = FH_PROVIDER_RESPONSE_INIT;
	fh_auto_free char *text = NULL;
	int code = fh_another_ask(t->user, &one, t->sum, &answer, t->err);
	if (code == 0 && !t->sum->error)
		code = fh_simulated_text(answer.output, &text, t->err);
	if (code || t->sum->error)
		return code;
	if (!*text)
		fh_response_fail(t->sum, "%s, which plays the user, gave no answer", fh_provider_id(t->user));
	*ret_stop = strstr(text, FH_SIMULATED_STOP) != NULL;
	if (!*ret_stop)
		json_array_append_new(t->messages, fh_simulated_message("user", text));
	return 0;
}

/* The talk as a text, as promptfoo writes it. */
static int fh_simulated_finish(struct fh_simulated_talk *t)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_ANOTHER_TEXT_MAX);
	size_t i;
	json_t *message;
	int code = 0;
	json_array_foreach(t->messages, i, message)
	{
		bool assistant = fh_streq(fh_json_str(message, "role", ""), "assistant");
		code = code ? code : fh_buf_adds(&text, i > 0 ? "\n---\n" : "");
		code = code ? code : fh_buf_adds(&text, assistant ? "Assistant: " : "User: ");
		code = code ? code : fh_another_add_text(&text, json_object_get(message, "content"));
	}
	if (code)
		return fh_error_set(t->err, FH_E_LIMIT, "the talk is longer than %zu MiB", FH_ANOTHER_TEXT_MAX >> 20);
	t->sum->output = fh_json_bytes(fh_buf_str(&text));
	t->sum->metadata =
	    json_pack("{s:O, s:O*}", "messages", t->messages, "sessionId", json_object_get(t->vars, "sessionId"));
	if (t->guardrails)
		t->sum->extra = json_pack("{s:O}", "guardrails", t->guardrails);
	return 0;
}

static int fh_simulated_run(struct fh_simulated_talk *t, const json_t *config)
{
	int64_t turns = fh_json_int(config, "maxTurns", FH_SIMULATED_TURNS);
	bool stop = false;
	int code = fh_simulated_begin(t, config);
	if (code == 0 && fh_streq(fh_simulated_last(t, "role"), "user"))
		code = fh_simulated_assistant(t);
	for (int64_t turn = 0; turn < turns && code == 0 && !stop && !t->sum->error; turn++) {
		code = fh_simulated_user(t, &stop);
		if (code == 0 && !stop && !t->sum->error)
			code = fh_simulated_assistant(t);
	}
	return code || t->sum->error ? code : fh_simulated_finish(t);
}

static int fh_simulated_user_call(struct fh_provider *p, const struct fh_provider_request *request,
                                  struct fh_provider_response *ret, struct fh_error *err)
{
	fh_auto_json json_t *vars = json_object();
	json_object_update(vars, json_object_get(request->context, "vars"));
	fh_auto_json json_t *context = json_object();
	json_object_update(context, (json_t *)(uintptr_t)request->context);
	json_object_set(context, "vars", vars);
	fh_auto_json json_t *messages = json_array();
	fh_auto_free char *instructions = NULL;
	const char *given = fh_json_str(p->config, "instructions", "");
	int code = fh_another_render(*given ? given : "{{instructions}}", vars, &instructions, err);
	if (code)
		return code;
	if (!instructions[strspn(instructions, " \t\r\n")])
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "the user that %s plays has no instructions: set config.instructions, or a variable of "
		                    "that name",
		                    p->id);
	fh_auto_free char *role = fh_xasprintf("%s%s", fh_simulated_role, instructions);
	struct fh_simulated_talk talk = { .user = p->state,
		                              .request = request,
		                              .vars = vars,
		                              .context = context,
		                              .messages = messages,
		                              .role = role,
		                              .stateful = fh_json_bool(p->config, "stateful", false),
		                              .sum = ret,
		                              .err = err };
	fh_another_begin(ret);
	code = fh_simulated_run(&talk, p->config);
	json_decref(talk.guardrails);
	return code;
}

static const char *const fh_simulated_user_prefixes[] = { "promptfoo:simulated-user", NULL };

const struct fh_provider_type fh_provider_simulated_user = {
	.name = "promptfoo:simulated-user",
	.prefixes = fh_simulated_user_prefixes,
	.whole = true,
	.open = fh_simulated_user_open,
	.call = fh_simulated_user_call,
	.free = fh_simulated_user_free,
	.asks_another = true,
	.needs_model = true,
};
