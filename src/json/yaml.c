/* SPDX-License-Identifier: MIT */
#include "json/yaml.h"
#include "base/fd.h"
#include "json/yaml_internal.h"

struct anchor {
	char *name;
	json_t *value; /* owned; NULL while the named value is still being read */
};

struct composer {
	yaml_parser_t parser;
	struct fh_str text;
	const char *name;
	struct fh_error *err;
	struct fh_yaml_positions *positions;
	struct anchor *anchors;
	size_t n_anchors, cap_anchors;
	unsigned nodes, depth;
};

static json_t *compose(struct composer *c, const yaml_event_t *event);

static FH_PRINTF(3, 4) json_t *fail(struct composer *c, yaml_mark_t at, const char *format, ...)
{
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fh_error_at(c->err, c->name, (uint32_t)at.line + 1, (uint32_t)at.column + 1, "%s", message);
	return NULL;
}

static void remember(struct composer *c, const json_t *parent, const char *key, size_t index, yaml_mark_t at)
{
	fh_yaml_positions_add(c->positions, parent, key, index, (uint32_t)at.line + 1, (uint32_t)at.column + 1);
}

#define auto_event FH_CLEANUP(yaml_event_delete)

static bool next_event(struct composer *c, yaml_event_t *event)
{
	memset(event, 0, sizeof(*event));
	if (yaml_parser_parse(&c->parser, event))
		return true;
	fh_yaml_syntax_error(&c->parser, c->text, c->name, c->err);
	return false;
}

static bool count_node(struct composer *c, yaml_mark_t at)
{
	if (++c->nodes <= FH_YAML_NODES_MAX)
		return true;
	fail(c, at, "more than %u values", FH_YAML_NODES_MAX);
	fh_error_hint(c->err, "aliases count as often as they are used");
	return false;
}

/* ---- anchors and aliases ---- */

static struct anchor *find_anchor(struct composer *c, const char *name)
{
	for (size_t i = c->n_anchors; i > 0; i--)
		if (fh_streq(c->anchors[i - 1].name, name))
			return &c->anchors[i - 1];
	return NULL;
}

/* Declares an anchor whose value is about to be read; returns its index, or -1 when name is NULL. A later anchor of the
 * same name hides an earlier one. */
static ssize_t open_anchor(struct composer *c, const yaml_char_t *name)
{
	if (!name)
		return -1;
	FH_PUSH(c->anchors, c->n_anchors, c->cap_anchors).name = fh_xstrdup((const char *)name);
	return (ssize_t)c->n_anchors - 1;
}

static json_t *close_anchor(struct composer *c, ssize_t anchor, json_t *value)
{
	if (anchor >= 0)
		c->anchors[anchor].value = json_incref(value);
	return value;
}

static json_t *copy(struct composer *c, const json_t *value, yaml_mark_t at);

static void copy_position(struct composer *c, const json_t *from, const json_t *to, const char *key, size_t index)
{
	uint32_t line, column;
	if (fh_yaml_position(c->positions, from, key, index, &line, &column))
		fh_yaml_positions_add(c->positions, to, key, index, line, column);
}

static json_t *copy_array(struct composer *c, const json_t *from, yaml_mark_t at)
{
	fh_auto_json json_t *to = json_array();
	for (size_t i = 0; i < json_array_size(from); i++) {
		json_t *item = copy(c, json_array_get(from, i), at);
		if (!item)
			return NULL;
		json_array_append_new(to, item);
		copy_position(c, from, to, NULL, i);
	}
	return FH_TAKE_PTR(to);
}

static json_t *copy_object(struct composer *c, const json_t *from, yaml_mark_t at)
{
	union {
		const json_t *in;
		json_t *out; /* jansson's iterators take no const pointer, but change nothing */
	} o = { .in = from };
	fh_auto_json json_t *to = json_object();
	for (void *it = json_object_iter(o.out); it; it = json_object_iter_next(o.out, it)) {
		json_t *value = copy(c, json_object_iter_value(it), at);
		if (!value)
			return NULL;
		const char *key = json_object_iter_key(it);
		json_object_setn_new_nocheck(to, key, json_object_iter_key_len(it), value);
		copy_position(c, from, to, key, 0);
	}
	return FH_TAKE_PTR(to);
}

/* Copies an alias's value. Scalars are never changed, so they are shared. */
static json_t *copy(struct composer *c, const json_t *value, yaml_mark_t at)
{
	union {
		const json_t *in;
		json_t *out;
	} v = { .in = value };
	if (!count_node(c, at))
		return NULL;
	if (!json_is_array(value) && !json_is_object(value))
		return json_incref(v.out);
	/* Aliases within aliases can nest deeper than the text does. */
	if (c->depth >= FH_YAML_DEPTH_MAX)
		return fail(c, at, "nested more than %u levels deep", FH_YAML_DEPTH_MAX);
	c->depth++;
	json_t *result = json_is_array(value) ? copy_array(c, value, at) : copy_object(c, value, at);
	c->depth--;
	return result;
}

static json_t *compose_alias(struct composer *c, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *anchor = find_anchor(c, name);
	if (!anchor) {
		fail(c, event->start_mark, "unknown alias *%s", name);
		fh_error_hint(c->err, "define it before with &%s; a text that starts with * must be in quotes", name);
		return NULL;
	}
	if (!anchor->value)
		return fail(c, event->start_mark, "the alias *%s is inside the value that it stands for", name);
	return copy(c, anchor->value, event->start_mark);
}

/* ---- scalars and lists ---- */

static json_t *compose_scalar(struct composer *c, const yaml_event_t *event)
{
	struct fh_str text = { (const char *)event->data.scalar.value, event->data.scalar.length };
	const char *why = "";
	if (!count_node(c, event->start_mark))
		return NULL;
	ssize_t anchor = open_anchor(c, event->data.scalar.anchor);
	json_t *value = fh_yaml_scalar(text, event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
	                               (const char *)event->data.scalar.tag, &why);
	if (value && fh_yaml_has_lost_digits(text, value))
		fh_yaml_positions_lost(c->positions, text, (uint32_t)event->start_mark.line + 1,
		                       (uint32_t)event->start_mark.column + 1);
	if (value)
		return close_anchor(c, anchor, value);
	fail(c, event->start_mark, "%s", why);
	fh_error_hint(c->err, "put the value in quotes if it is a text");
	return NULL;
}

static bool enter(struct composer *c, const yaml_event_t *event, const yaml_char_t *tag)
{
	if (!count_node(c, event->start_mark))
		return false;
	if (!fh_yaml_collection_tag((const char *)tag)) {
		fail(c, event->start_mark, "unknown tag %.100s", (const char *)tag);
		fh_error_hint(c->err, "only !!str, !!int, !!float, !!bool and !!null are read");
		return false;
	}
	if (c->depth >= FH_YAML_DEPTH_MAX) {
		fail(c, event->start_mark, "nested more than %u levels deep", FH_YAML_DEPTH_MAX);
		return false;
	}
	c->depth++;
	return true;
}

static json_t *compose_sequence(struct composer *c, const yaml_event_t *start)
{
	if (!enter(c, start, start->data.sequence_start.tag))
		return NULL;
	ssize_t anchor = open_anchor(c, start->data.sequence_start.anchor);
	fh_auto_json json_t *array = json_array();
	for (;;) {
		auto_event yaml_event_t event;
		if (!next_event(c, &event))
			return NULL;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			break;
		json_t *item = compose(c, &event);
		if (!item)
			return NULL;
		remember(c, array, NULL, json_array_size(array), event.start_mark);
		json_array_append_new(array, item);
	}
	c->depth--;
	return close_anchor(c, anchor, FH_TAKE_PTR(array));
}

/* ---- mappings ---- */

struct mapping {
	json_t *object;
	json_t *merged; /* keys from a merge (<<), which the mapping's own keys replace; NULL: there was none */
};

static void mapping_release(struct mapping *m)
{
	json_decref(m->object);
	json_decref(m->merged);
}

static void merge_one(struct composer *c, struct mapping *m, json_t *from)
{
	for (void *it = json_object_iter(from); it; it = json_object_iter_next(from, it)) {
		const char *key = json_object_iter_key(it);
		size_t n = json_object_iter_key_len(it);
		if (json_object_getn(m->object, key, n))
			continue;
		json_object_setn_nocheck(m->object, key, n, json_object_iter_value(it));
		json_object_setn_new_nocheck(m->merged, key, n, json_true());
		copy_position(c, from, m->object, key, 0);
	}
}

static bool merge(struct composer *c, struct mapping *m, json_t *from, yaml_mark_t at)
{
	bool list = json_is_array(from);
	if (!m->merged)
		m->merged = json_object();
	for (size_t i = 0; i < (list ? json_array_size(from) : 1); i++) {
		json_t *one = list ? json_array_get(from, i) : from;
		if (!json_is_object(one)) {
			fail(c, at, "<< takes a mapping, an alias of one, or a list of these");
			return false;
		}
		merge_one(c, m, one);
	}
	return true;
}

static bool is_merge_key(const yaml_event_t *key)
{
	struct fh_str text = { (const char *)key->data.scalar.value, key->data.scalar.length };
	return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !key->data.scalar.tag && fh_str_eq(text, "<<");
}

/* Whether a key may be added: duplicate keys are an error. */
static bool key_is_new(struct composer *c, const struct mapping *m, const yaml_event_t *key)
{
	const char *text = (const char *)key->data.scalar.value;
	size_t n = key->data.scalar.length;
	if (!json_object_getn(m->object, text, n) || json_object_getn(m->merged, text, n))
		return true;
	uint32_t line = 0, column;
	fh_yaml_position(c->positions, m->object, text, 0, &line, &column);
	fail(c, key->start_mark, "the key '%.100s' is already in line %u", text, line);
	fh_error_hint(c->err, "keep one of the two");
	return false;
}

static json_t *refuse_key(struct composer *c, const yaml_event_t *start, const yaml_event_t *key)
{
	fail(c, key->start_mark, "a key must be a plain text, not a list or a mapping");
	if (start->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE)
		fh_error_hint(c->err, "a template such as {{name}} must be in quotes: '{{name}}'");
	return NULL;
}

/* Reads the value of one key and adds both; false on an error. */
static bool compose_member(struct composer *c, struct mapping *m, const yaml_event_t *key)
{
	auto_event yaml_event_t event;
	bool is_merge = is_merge_key(key);
	if (!is_merge && !key_is_new(c, m, key))
		return false;
	if (!next_event(c, &event))
		return false;
	fh_auto_json json_t *value = compose(c, &event);
	if (!value)
		return false;
	if (is_merge)
		return merge(c, m, value, event.start_mark);
	const char *text = (const char *)key->data.scalar.value;
	size_t n = key->data.scalar.length;
	if (m->merged)
		json_object_deln(m->merged, text, n);
	json_object_setn_nocheck(m->object, text, n, value);
	remember(c, m->object, text, 0, key->start_mark);
	if (key->data.scalar.anchor) {
		fh_auto_json json_t *name = json_stringn_nocheck(text, n);
		close_anchor(c, open_anchor(c, key->data.scalar.anchor), name);
	}
	return true;
}

static json_t *compose_mapping(struct composer *c, const yaml_event_t *start)
{
	if (!enter(c, start, start->data.mapping_start.tag))
		return NULL;
	ssize_t anchor = open_anchor(c, start->data.mapping_start.anchor);
	FH_CLEANUP(mapping_release) struct mapping m = { .object = json_object() };
	for (;;) {
		auto_event yaml_event_t key;
		if (!next_event(c, &key))
			return NULL;
		if (key.type == YAML_MAPPING_END_EVENT)
			break;
		if (key.type != YAML_SCALAR_EVENT)
			return refuse_key(c, start, &key);
		if (!compose_member(c, &m, &key))
			return NULL;
	}
	c->depth--;
	return close_anchor(c, anchor, FH_TAKE_PTR(m.object));
}

static json_t *compose(struct composer *c, const yaml_event_t *event)
{
	static json_t *(*const by_type[])(struct composer *, const yaml_event_t *) = {
		[YAML_ALIAS_EVENT] = compose_alias,
		[YAML_SCALAR_EVENT] = compose_scalar,
		[YAML_SEQUENCE_START_EVENT] = compose_sequence,
		[YAML_MAPPING_START_EVENT] = compose_mapping,
	};
	if ((size_t)event->type >= FH_ARRAY_SIZE(by_type) || !by_type[event->type])
		return fail(c, event->start_mark, "unexpected end of a value");
	return by_type[event->type](c, event);
}

/* ---- the document ---- */

static json_t *compose_stream(struct composer *c)
{
	fh_auto_json json_t *root = NULL;
	for (;;) {
		auto_event yaml_event_t event;
		if (!next_event(c, &event))
			return NULL;
		if (event.type == YAML_STREAM_END_EVENT)
			return root ? FH_TAKE_PTR(root) : json_null();
		if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (event.type == YAML_DOCUMENT_START_EVENT && root) {
			fail(c, event.start_mark, "a second document starts here");
			fh_error_hint(c->err, "one file holds one document; remove the line ---");
			return NULL;
		}
		if (event.type == YAML_DOCUMENT_START_EVENT)
			continue;
		root = compose(c, &event);
		if (!root)
			return NULL;
		remember(c, NULL, NULL, 0, event.start_mark);
	}
}

static void composer_release(struct composer *c)
{
	for (size_t i = 0; i < c->n_anchors; i++) {
		free(c->anchors[i].name);
		json_decref(c->anchors[i].value);
	}
	free(c->anchors);
	yaml_parser_delete(&c->parser);
	fh_yaml_positions_free(c->positions);
}

/* Reads JSON that libyaml cannot: \ud83d\ude00, keys of more than 1024 characters. Positions are not known then. */
static json_t *load_as_json(struct fh_str text)
{
	size_t i = 0;
	while (i < text.n && strchr(" \t\r\n", text.p[i]) && text.p[i])
		i++;
	return i < text.n && (text.p[i] == '{' || text.p[i] == '[') ? fh_json_parse(text, NULL, NULL) : NULL;
}

/* Whether the text has NEL, LS or PS (U+0085, U+2028, U+2029), which JSON takes as ordinary characters and libyaml as
 * line ends. */
static bool has_folding_characters(struct fh_str text)
{
	return memmem(text.p, text.n, "\xc2\x85", 2) || memmem(text.p, text.n, "\xe2\x80\xa8", 3) ||
	       memmem(text.p, text.n, "\xe2\x80\xa9", 3);
}

json_t *fh_yaml_load(struct fh_str text, const char *name, struct fh_yaml_positions **ret_positions,
                     struct fh_error *err)
{
	if (text.n > FH_YAML_SIZE_MAX) {
		fh_error_at(err, name, 0, 0, "larger than %zu bytes", FH_YAML_SIZE_MAX);
		return NULL;
	}
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		text = (struct fh_str){ text.p + 3, text.n - 3 };
	json_t *json = has_folding_characters(text) ? load_as_json(text) : NULL;
	if (json) {
		if (ret_positions)
			*ret_positions = fh_yaml_positions_new();
		return json;
	}
	struct fh_error problem = FH_ERROR_INIT;
	FH_CLEANUP(composer_release)
	struct composer c = { .text = text, .name = name, .err = &problem, .positions = fh_yaml_positions_new() };
	if (!yaml_parser_initialize(&c.parser)) {
		fh_error_set(err, FH_E_SYSTEM, "cannot start reading %s", name);
		return NULL;
	}
	yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&c.parser, (const unsigned char *)text.p, text.n);
	json_t *root = compose_stream(&c);
	if (!root && c.parser.error != YAML_NO_ERROR)
		root = load_as_json(text);
	if (!root) {
		if (err)
			*err = problem;
		return NULL;
	}
	if (ret_positions)
		*ret_positions = FH_TAKE_PTR(c.positions);
	return root;
}

json_t *fh_yaml_load_file(const char *path, struct fh_yaml_positions **ret_positions, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_YAML_SIZE_MAX);
	if (fh_file_read(path, &text, err) < 0)
		return NULL;
	return fh_yaml_load(fh_buf_str(&text), path, ret_positions, err);
}
