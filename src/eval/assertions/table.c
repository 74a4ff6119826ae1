/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"

static const struct fh_assertion *const table[] = {
	&fh_assertion_agent_rubric,
	&fh_assertion_answer_relevance,
	&fh_assertion_any_function_call,
	&fh_assertion_bleu,
	&fh_assertion_classifier,
	&fh_assertion_closed_qa,
	&fh_assertion_code,
	&fh_assertion_contains,
	&fh_assertion_contains_all,
	&fh_assertion_contains_any,
	&fh_assertion_contains_html,
	&fh_assertion_contains_json,
	&fh_assertion_contains_sql,
	&fh_assertion_contains_xml,
	&fh_assertion_context_faithfulness,
	&fh_assertion_context_recall,
	&fh_assertion_context_relevance,
	&fh_assertion_conversation,
	&fh_assertion_cost,
	&fh_assertion_equals,
	&fh_assertion_factuality,
	&fh_assertion_finish_reason,
	&fh_assertion_function_call,
	&fh_assertion_g_eval,
	&fh_assertion_gleu,
	&fh_assertion_guardrails,
	&fh_assertion_icontains,
	&fh_assertion_icontains_all,
	&fh_assertion_icontains_any,
	&fh_assertion_is_html,
	&fh_assertion_is_json,
	&fh_assertion_is_refusal,
	&fh_assertion_is_sql,
	&fh_assertion_is_xml,
	&fh_assertion_javascript,
	&fh_assertion_latency,
	&fh_assertion_levenshtein,
	&fh_assertion_llm_rubric,
	&fh_assertion_meteor,
	&fh_assertion_model_graded_factuality,
	&fh_assertion_moderation,
	&fh_assertion_perplexity,
	&fh_assertion_perplexity_score,
	&fh_assertion_python,
	&fh_assertion_regex,
	&fh_assertion_rouge,
	&fh_assertion_ruby,
	&fh_assertion_sandbox,
	&fh_assertion_search_rubric,
	&fh_assertion_similar,
	&fh_assertion_similar_cosine,
	&fh_assertion_similar_dot,
	&fh_assertion_similar_euclidean,
	&fh_assertion_skill_used,
	&fh_assertion_starts_with,
	&fh_assertion_tool_call_f1,
	&fh_assertion_tools_call,
	&fh_assertion_trace_error_spans,
	&fh_assertion_trace_span_count,
	&fh_assertion_trace_span_duration,
	&fh_assertion_trajectory_goal,
	&fh_assertion_trajectory_step_count,
	&fh_assertion_trajectory_tool_args,
	&fh_assertion_trajectory_tool_sequence,
	&fh_assertion_trajectory_tool_used,
	&fh_assertion_webhook,
	&fh_assertion_word_count,
};

const struct fh_assertion *fh_assertion_at(size_t i)
{
	return i < FH_ARRAY_SIZE(table) ? table[i] : NULL;
}

const struct fh_assertion *fh_assertion_find(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}
