/* SPDX-License-Identifier: MIT */
/* is-html: the text parses as HTML5 (Gumbo) into known elements, with no text outside of them; contains-html: the text
 * has enough signs of markup, which are counted. */
#include <gumbo.h>
#include "eval/assertions/kinds.h"
#include "eval/common/pattern.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

#define HTML_MAX ((size_t)10 << 20)
#define DEPTH_MAX 2000

static bool contains_html(struct fh_str text)
{
	static const struct {
		const char *pattern;
		int points;
	} signs[] = {
		{ "<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?/>", 1 },
		{ "&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1 },
		{ "(?i)<!DOCTYPE\\s+html", 2 },
		{ "<!--[^-]*(?:-[^-]+)*-->", 1 },
		{ "\\s[a-zA-Z-]+=\\s*[\"'][^\"']*[\"']", 1 },
		{ "(?i)<(html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|"
		  "meta|"
		  "br|hr)\\b",
		  2 },
	};
	if (text.n > HTML_MAX)
		return false;
	int points = fh_pattern_own_found("<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?>", 0, text) +
	             fh_pattern_own_found("</[a-zA-Z][a-zA-Z0-9-]*\\s*>", 0, text);
	for (size_t i = 0; i < FH_ARRAY_SIZE(signs) && points < 2; i++)
		points += fh_pattern_own_found(signs[i].pattern, 0, text) ? signs[i].points : 0;
	return points >= 2;
}

static bool is_blank(const char *text)
{
	return fh_text_trim(fh_str(text)).n == 0;
}

/* Whether the element is written in the text itself (the parser adds html, head and body) and is one of HTML's, or
 * could be a custom element. */
static bool is_known(const GumboElement *e)
{
	if (e->original_tag.length == 0)
		return false;
	return e->tag != GUMBO_TAG_UNKNOWN || memchr(e->original_tag.data, '-', e->original_tag.length) != NULL;
}

static bool has_known(const GumboNode *node, unsigned depth)
{
	const GumboVector *children = node->type == GUMBO_NODE_DOCUMENT ? &node->v.document.children
	                              : node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE
	                                  ? &node->v.element.children
	                                  : NULL;
	if (depth > DEPTH_MAX || !children)
		return false;
	if (node->type != GUMBO_NODE_DOCUMENT && is_known(&node->v.element))
		return true;
	for (unsigned i = 0; i < children->length; i++)
		if (has_known(children->data[i], depth + 1))
			return true;
	return false;
}

static const GumboNode *body_of(const GumboNode *root)
{
	for (unsigned i = 0; i < root->v.element.children.length; i++) {
		const GumboNode *child = root->v.element.children.data[i];
		if (child->type == GUMBO_NODE_ELEMENT && child->v.element.tag == GUMBO_TAG_BODY)
			return child;
	}
	return NULL;
}

static bool has_text(const GumboNode *body)
{
	for (unsigned i = 0; i < body->v.element.children.length; i++) {
		const GumboNode *child = body->v.element.children.data[i];
		if (child->type == GUMBO_NODE_TEXT && !is_blank(child->v.text.text))
			return true;
	}
	return false;
}

/* Why the text is not HTML; NULL when it is. */
static const char *problem_of(struct fh_str text)
{
	text = fh_text_trim(text);
	if (text.n == 0)
		return "Output is empty";
	if (text.n > HTML_MAX)
		return "Output exceeds maximum size limit";
	if (fh_pattern_own_found("(?i)^\\s*<\\?xml", 0, text))
		return "Output appears to be XML, not HTML";
	GumboOutput *output = gumbo_parse_with_options(&kGumboDefaultOptions, text.p, text.n);
	const GumboNode *body = output->root->type == GUMBO_NODE_ELEMENT ? body_of(output->root) : NULL;
	const char *why = NULL;
	if (body && body->v.element.original_tag.length == 0 && has_text(body))
		why = "Output must be wrapped in HTML tags";
	else if (!has_known(output->document, 0))
		why = "Output does not contain recognized HTML elements";
	gumbo_destroy_output(&kGumboDefaultOptions, output);
	return why;
}

static int check_is(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const char *why = problem_of(call->output_text);
	return fh_grade_set(ret, call, !why, "%s", why ? why : "Output is valid HTML");
}

static int check_contains(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	return fh_grade_set(ret, call, contains_html(call->output_text), "Expected output to %scontain HTML content",
	                    fh_call_not(call));
}

const struct fh_assertion fh_assertion_is_html = { .name = "is-html", .check = check_is };
const struct fh_assertion fh_assertion_contains_html = { .name = "contains-html", .check = check_contains };
