/* SPDX-License-Identifier: MIT */
/*
 * is-xml: the whole answer is well-formed XML with well-formed namespaces; contains-xml: a part of it is. Both can
 * require elements by their paths ("a.b", where a number selects one of several with the same name). Expat parses;
 * external entities are never loaded, and a document type with declarations of its own is refused.
 */
#include <expat.h>
#include "eval/assertions/kinds.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

#define CANDIDATES_MAX 1000
#define DEPTH_MAX 500

/* The parser's state: the elements read so far, as nested objects {name: [element, …]}. */
struct reading {
	XML_Parser parser;
	json_t *stack[DEPTH_MAX + 1];
	size_t depth;
	const char *refused;
};

static void XMLCALL on_start(void *user, const char *name, const char **attributes)
{
	struct reading *r = user;
	if (r->depth >= DEPTH_MAX) {
		r->refused = "elements are nested too deep";
		XML_StopParser(r->parser, XML_FALSE);
		return;
	}
	json_t *element = json_object(), *parent = r->stack[r->depth];
	for (; *attributes; attributes += 2) {
		fh_auto_free char *key = fh_xasprintf("@_%s", attributes[0]);
		json_object_set_new(element, key, json_pack("[{}]"));
	}
	json_t *same = json_object_get(parent, name);
	if (!same)
		json_object_set_new(parent, name, same = json_array());
	json_array_append_new(same, element);
	r->stack[++r->depth] = element;
}

static void XMLCALL on_end(void *user, const char *name)
{
	struct reading *r = user;
	r->depth -= r->depth > 0;
}

static void XMLCALL on_doctype(void *user, const char *name, const char *system, const char *public, int internal)
{
	struct reading *r = user;
	if (!internal)
		return;
	r->refused = "DTD internal subsets are not supported by is-xml validation";
	XML_StopParser(r->parser, XML_FALSE);
}

/* Parses the text into that tree; NULL with the cause in *ret_why when it is not well-formed. With `namespaces` every
 * prefix has to be declared (names keep their prefixes). */
static json_t *read_xml(struct fh_str text, bool namespaces, char **ret_why)
{
	struct reading r = { .parser = XML_ParserCreate("UTF-8"), .stack = { json_object() } };
	json_t *root = r.stack[0];
	enum XML_Status status = XML_STATUS_OK;
	if (namespaces) {
		XML_Parser strict = XML_ParserCreateNS("UTF-8", ' ');
		XML_UseForeignDTD(strict, XML_FALSE);
		status = XML_Parse(strict, text.p, (int)text.n, 1);
		if (status != XML_STATUS_OK)
			*ret_why = fh_xstrdup(XML_ErrorString(XML_GetErrorCode(strict)));
		XML_ParserFree(strict);
	}
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
	if (status == XML_STATUS_OK && (status = XML_Parse(r.parser, text.p, (int)text.n, 1)) != XML_STATUS_OK)
		*ret_why = r.refused ? fh_xstrdup(r.refused) : fh_xstrdup(XML_ErrorString(XML_GetErrorCode(r.parser)));
	XML_ParserFree(r.parser);
	if (status == XML_STATUS_OK)
		return root;
	json_decref(root);
	return NULL;
}

/* Whether there is an element at a path such as "a.b.0". A number selects one of several elements of a name; the only
 * one needs none. */
static bool has_path(const json_t *tree, const char *path)
{
	const json_t *at = *path ? tree : NULL; /* an element, or a list of elements of one name */
	fh_auto_free char *copy = fh_xstrdup(path);
	char *save = NULL;
	for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
		if (json_is_array(at)) {
			char *end;
			unsigned long index = strtoul(key, &end, 10);
			at = *end ? NULL : json_array_get(at, index);
		} else {
			at = json_object_get(at, key);
			at = json_array_size(at) == 1 ? json_array_get(at, 0) : at;
		}
		if (!at)
			return false;
	}
	return at != NULL;
}

static char *missing_of(const json_t *tree, const json_t *required)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	bool any = false; /* an empty path, as in `value: ""`, is that of no element */
	for (size_t i = 0; i < json_array_size(required); i++) {
		const char *path = json_string_value(json_array_get(required, i));
		if (has_path(tree, path))
			continue;
		fh_buf_addf(&b, "%s%s", any ? ", " : "", path);
		any = true;
	}
	return any ? fh_xstrdup(fh_buf_cstr(&b)) : NULL;
}

/* Why the text is not the XML that was asked for; NULL when it is. */
static char *problem_of(struct fh_str text, const json_t *required, bool namespaces, bool *ret_well_formed)
{
	fh_auto_free char *why = NULL;
	if (text.n > INT32_MAX)
		return fh_xstrdup("Output exceeds maximum size limit");
	fh_auto_json json_t *tree = read_xml(text, namespaces, &why);
	*ret_well_formed = tree != NULL;
	if (!tree)
		return fh_xasprintf("XML parsing failed: %s", why ? why : "");
	fh_auto_free char *missing = missing_of(tree, required);
	return missing ? fh_xasprintf("XML is missing required elements: %s", missing) : NULL;
}

/* ---------------------------------------------------------------------------------------------------- parts of text */

struct part {
	size_t start, end, parent; /* parent: where the enclosing element begins, or SIZE_MAX */
};

struct scan {
	const char *text;
	size_t n;
	struct {
		size_t start, name_n;
	} open[DEPTH_MAX];
	size_t depth;
	struct part parts[CANDIDATES_MAX];
	size_t count;
};

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

static size_t name_length(const char *s, const char *end)
{
	size_t n = 0;
	while (s + n < end && (is_name_start(s[n]) || (n > 0 && strchr("-.0123456789", s[n]) && s[n])))
		n++;
	return n;
}

/* The '>' that ends the tag at `at`, skipping quoted values; SIZE_MAX when there is none. */
static size_t tag_end(const struct scan *s, size_t at)
{
	char quote = 0;
	for (size_t i = at + 1; i < s->n; i++) {
		char c = s->text[i];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '<')
			return SIZE_MAX;
		else if (c == '>')
			return i;
	}
	return SIZE_MAX;
}

static void add_part(struct scan *s, size_t start, size_t end)
{
	if (s->count < CANDIDATES_MAX)
		s->parts[s->count++] = (struct part){ start, end, s->depth ? s->open[s->depth - 1].start : SIZE_MAX };
}

static size_t skip_declaration(const struct scan *s, size_t at)
{
	static const char *const marks[][2] = { { "<!--", "-->" }, { "<![CDATA[", "]]>" }, { "<?", "?>" }, { "<!", ">" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(marks); i++) {
		if (s->n - at < strlen(marks[i][0]) || memcmp(s->text + at, marks[i][0], strlen(marks[i][0])) != 0)
			continue;
		const char *end = memmem(s->text + at, s->n - at, marks[i][1], strlen(marks[i][1]));
		return end ? (size_t)(end - s->text) + strlen(marks[i][1]) - 1 : s->n - 1;
	}
	return at;
}

/* Scans one tag at `at`; returns the index of its last byte. */
static size_t scan_tag(struct scan *s, size_t at)
{
	size_t skipped = skip_declaration(s, at);
	if (skipped != at)
		return skipped;
	bool closing = at + 1 < s->n && s->text[at + 1] == '/';
	size_t name = at + 1 + closing, n = name < s->n ? name_length(s->text + name, s->text + s->n) : 0;
	size_t end = n && is_name_start(s->text[name]) ? tag_end(s, at) : SIZE_MAX;
	if (end == SIZE_MAX)
		return at;
	size_t last = end - 1;
	while (last > at && strchr(" \t\r\n", s->text[last]))
		last--;
	if (closing) {
		bool same = s->depth && s->open[s->depth - 1].name_n == n &&
		            memcmp(s->text + s->open[s->depth - 1].start + 1, s->text + name, n) == 0;
		size_t start = same ? s->open[--s->depth].start : 0;
		if (same)
			add_part(s, start, end + 1);
		else
			s->depth = 0;
	} else if (s->text[last] == '/') {
		add_part(s, at, end + 1);
	} else if (s->depth < DEPTH_MAX) {
		s->open[s->depth].start = at;
		s->open[s->depth++].name_n = n;
	}
	return end;
}

static bool is_part_start(const struct scan *s, size_t start)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->parts[i].start == start)
			return true;
	return false;
}

/* Whether no other element encloses this one. */
static bool is_outermost(const struct scan *s, const struct part *p)
{
	return p->parent == SIZE_MAX || !is_part_start(s, p->parent);
}

static bool part_holds(const struct scan *s, size_t start, size_t end, const json_t *required)
{
	bool well_formed;
	fh_auto_free char *whole = fh_xasprintf("<r>%.*s</r>", (int)(end - start), s->text + start);
	fh_auto_free char *why = NULL;
	fh_auto_json json_t *tree = read_xml(fh_str(whole), false, &why);
	(void)well_formed;
	const json_t *root = json_array_get(json_object_get(tree, "r"), 0);
	fh_auto_free char *missing = tree ? missing_of(root, required) : NULL;
	return tree && !missing;
}

/* Why no part of the text is the XML that was asked for; NULL when one is. The outermost elements are tried together
 * first, then each element. */
static const char *contains(struct fh_str text, const json_t *required)
{
	fh_auto_free struct scan *s = fh_xcalloc(1, sizeof(*s));
	s->text = text.p;
	s->n = FH_MIN(text.n, (size_t)INT32_MAX);
	for (size_t i = 0; i < s->n; i++)
		if (s->text[i] == '<')
			i = scan_tag(s, i);
	size_t first = SIZE_MAX, last = 0, n = 0;
	for (size_t i = 0; i < s->count; i++)
		if (is_outermost(s, &s->parts[i])) {
			first = FH_MIN(first, s->parts[i].start);
			last = FH_MAX(last, s->parts[i].end);
			n++;
		}
	if (n == 0)
		return "No XML content found in the output";
	if (n > 1 && part_holds(s, first, last, required))
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (is_outermost(s, &s->parts[i]) && part_holds(s, s->parts[i].start, s->parts[i].end, required))
			return NULL;
	return "No valid XML content found matching the requirements";
}

/* ------------------------------------------------------------------------------------------------------------ kinds */

static int required_of(const struct fh_assertion_call *call, json_t **ret, struct fh_error *err)
{
	const json_t *value = call->value;
	json_t *list = json_array();
	if (json_is_object(value) && json_object_size(value) > 0) {
		value = json_object_get(value, "requiredElements");
		if (!json_is_array(value)) {
			json_decref(list);
			return fh_error_set(err, FH_E_ARGUMENT,
			                    "\"%s\": the value is \"a.b, c\", a list of such paths, or "
			                    "{requiredElements: [...]}",
			                    call->kind->name);
		}
	}
	const char *text = json_string_value(value);
	for (const char *s = text; s;) {
		struct fh_str path = fh_text_trim((struct fh_str){ s, strcspn(s, ",") });
		json_array_append_new(list, json_stringn(path.p, path.n));
		s = s[strcspn(s, ",")] ? s + strcspn(s, ",") + 1 : NULL;
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		fh_auto_free char *path = fh_text_of_json(json_array_get(value, i));
		json_array_append_new(list, json_string(path));
	}
	*ret = list;
	return 0;
}

static int check_is(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *required = NULL;
	bool well_formed;
	int r = required_of(call, &required, err);
	if (r < 0)
		return r;
	fh_auto_free char *why = problem_of(call->output_text, required, true, &well_formed);
	return fh_grade_set(ret, call, !why, "%s", why ? why : "XML is valid and contains all required elements");
}

static int check_contains(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *required = NULL;
	int r = required_of(call, &required, err);
	if (r < 0)
		return r;
	const char *why = contains(call->output_text, required);
	return fh_grade_set(ret, call, !why, "%s", why ? why : "XML is valid and contains all required elements");
}

const struct fh_assertion fh_assertion_is_xml = { .name = "is-xml", .check = check_is };
const struct fh_assertion fh_assertion_contains_xml = { .name = "contains-xml", .check = check_contains };
