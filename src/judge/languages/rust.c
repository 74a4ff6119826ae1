/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include "code/signature.h"
#include "judge/languages/rust_units.h"
#include "judge/split/split.h"
#include "proto/plan.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0);
	return fh_rust_judge(fh_buf_str(&p->head), fh_buf_str(&p->tail), &unused, &why) < 0 ? why.message : NULL;
}

static bool changes(const struct fh_judge_problem *p)
{
	return fh_rust_changes(fh_buf_str(&p->head));
}

static int compile_crate(struct fh_split *s, struct fh_client *client, size_t i, struct fh_artifact *ret,
                         struct fh_error *err)
{
	const struct fh_rust_crate *c = &fh_rust_crates[i];
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	for (size_t k = 0; k < FH_ARRAY_SIZE(c->texts) && c->texts[k]; k++)
		fh_buf_add_str(&text, fh_split_file(s, FH_JUDGE_RUST, c->texts[k]));
	struct fh_compilation build = { .language = "rust", .code = fh_buf_str(&text), .flags = c->flags };
	int r = fh_builds_keep(fh_split_builds(s), client, &build, ret, err);
	if (r >= 0 && ret->error)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the crate %s does not compile: %s", c->name, ret->error);
	return r;
}

/* Inputs of a compilation in addition to its text. */
struct beside {
	const char *flags[16];
	size_t flag_count;
	struct fh_artifact crates[FH_RUST_CRATES];
};

static void beside_release(struct beside *b)
{
	for (size_t i = 0; i < FH_RUST_CRATES; i++)
		fh_artifact_release(&b->crates[i]);
}

/* Adds the options, and those of our crates that the text mentions. `build` borrows them. */
static int add_beside(struct fh_split *s, struct fh_client *client, const char *const *flags,
                      struct fh_compilation *build, struct beside *b, struct fh_error *err)
{
	while (*flags)
		b->flags[b->flag_count++] = *flags++;
	for (size_t i = 0; i < FH_RUST_CRATES; i++) {
		const struct fh_rust_crate *c = &fh_rust_crates[i];
		if (!fh_rust_mentions(build->code, c))
			continue;
		int r = compile_crate(s, client, i, &b->crates[i], err);
		if (r < 0)
			return r;
		build->files[build->file_count++] = (struct fh_file){ c->file, { b->crates[i].data, b->crates[i].size }, 0 };
		b->flags[b->flag_count++] = "--extern";
		b->flags[b->flag_count++] = c->external;
	}
	build->flags = b->flags;
	return 0;
}

/* Adds those of our crates that `text` mentions to the plan that compiles it. */
static int add_mentioned_crates(struct fh_split *s, struct fh_client *client, struct fh_str text, struct fh_plan *plan,
                                struct fh_error *err)
{
	static const char *const none[] = { NULL };
	FH_CLEANUP(beside_release) struct beside beside = { 0 };
	struct fh_compilation build = { .language = "rust", .code = text };
	int r = add_beside(s, client, none, &build, &beside, err);
	for (size_t i = 0; r >= 0 && i < build.file_count; i++)
		fh_plan_add_file(plan->compile, build.files[i].name, build.files[i].content.data, build.files[i].content.size,
		                 0);
	for (size_t i = 0; r >= 0 && i < beside.flag_count; i++)
		fh_plan_add_string(&plan->compile->argv, beside.flags[i]);
	return r;
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact judge = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	FH_CLEANUP(beside_release) struct beside beside = { 0 };
	struct fh_str codec = fh_split_file(s, FH_JUDGE_RUST, "split_codec.rs");
	int r = fh_rust_judge(fh_buf_str(&p->problem->head), fh_buf_str(&p->problem->tail), &text, err);
	if (r < 0)
		return r;
	struct fh_compilation build = { .language = "rust",
		                            .code = fh_buf_str(&text),
		                            .files = { { "split.rs", { codec.p, codec.n }, 0 } },
		                            .file_count = 1 };
	r = add_beside(s, client, fh_rust_judge_flags, &build, &beside, err);
	if (r >= 0)
		r = fh_builds_keep(fh_split_builds(s), client, &build, &judge, err);
	if (r >= 0 && judge.error)
		ret->unfit = FH_TAKE_PTR(judge.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_RUST, true, &judge, ret, err);
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_buf_addc(&ret->input, fh_split_arguments(p));
	return r;
}

/* Compiles the codec's crate, once for all tasks. */
static int compile_codec(struct fh_split *s, struct fh_client *client, struct fh_artifact *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_add_str(&text, fh_split_file(s, FH_JUDGE_RUST, "split_codec.rs"));
	fh_buf_add_str(&text, fh_split_file(s, FH_JUDGE_RUST, "split_fit.rs"));
	struct fh_compilation build = { .language = "rust", .code = fh_buf_str(&text), .flags = fh_rust_codec_flags };
	int r = fh_builds_keep(fh_split_builds(s), client, &build, ret, err);
	if (r >= 0 && ret->error)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the codec does not compile: %s", ret->error);
	return r;
}

static int compile_text(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                        struct fh_str behind, enum fh_rust_fit fit, const struct fh_artifact *codec,
                        struct fh_artifact *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), crate = FH_BUF_INIT(0);
	FH_CLEANUP(beside_release) struct beside beside = { 0 };
	fh_rust_program(&text, p->head, p->completion);
	fh_buf_add_str(&text, behind);
	int r = fh_rust_candidate(fh_buf_str(&p->problem->head), fh_buf_str(&text), fit, &crate, err);
	if (r < 0)
		return r;
	struct fh_compilation build = { .language = "rust",
		                            .code = fh_buf_str(&crate),
		                            .files = { { FH_RUST_CODEC, { codec->data, codec->size }, 0 } },
		                            .file_count = 1 };
	r = add_beside(s, client, fh_rust_candidate_flags, &build, &beside, err);
	return r < 0 ? r : fh_builds_run(fh_split_builds(s), client, &build, ret, err);
}

/* Whether a compile error may be about a name that is not imported. */
static bool lacks_use(const char *error)
{
	static const char *const signs[] = {
		"E0405", "E0412", "E0422", "E0425", "E0433", "E0531", /* no such trait, type, struct, value, path, pattern */
		"E0599",                                              /* no such method: its trait is not imported */
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(signs); i++)
		if (strstr(error, signs[i]))
			return true;
	return false;
}

/* Compiles the program. A whole one may count on the imports of the declaration, as a completion does. */
static int compile_program(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                           enum fh_rust_fit fit, const struct fh_artifact *codec, struct fh_artifact *ret,
                           struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact imported = { 0 };
	fh_auto_buf struct fh_buf uses = FH_BUF_INIT(0);
	int r = compile_text(s, client, p, (struct fh_str){ "", 0 }, fit, codec, ret, err);
	if (r >= 0 && p->head.n == 0 && ret->error && lacks_use(ret->error))
		fh_rust_add_uses(&uses, fh_buf_str(&p->problem->head));
	if (uses.n == 0)
		return r;
	r = compile_text(s, client, p, fh_buf_str(&uses), fit, codec, &imported, err);
	if (r < 0 || imported.error)
		return r;
	fh_artifact_release(ret);
	*ret = imported;
	imported = (struct fh_artifact){ 0 };
	return 0;
}

/* Whether a compile error may be about the types of the program's function only, for which there are conversions. */
static bool may_fit(const char *error)
{
	static const char *const signs[] = {
		"E0308",            /* mismatched types */
		"cannot find type", /* the program uses a type that only the declaration names */
		"E0597",            /* an argument does not live as long as the program's parameter requires ('static) */
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(signs); i++)
		if (strstr(error, signs[i]))
			return true;
	return false;
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact codec = { 0 }, program = { 0 }, fitted = { 0 }, more = { 0 };
	struct fh_artifact *last = &program;
	int r = compile_codec(s, client, &codec, err);
	if (r >= 0)
		r = compile_program(s, client, p, FH_RUST_AS_DECLARED, &codec, &program, err);
	if (r >= 0 && program.error && may_fit(program.error)) {
		r = compile_program(s, client, p, FH_RUST_FIT, &codec, &fitted, err);
		if (r >= 0 && fitted.error && fh_rust_can_fit_more(fh_buf_str(&p->problem->head)))
			r = compile_program(s, client, p, FH_RUST_FIT_MORE, &codec, &more, err);
		if (!fitted.error)
			last = &fitted;
		else if (more.size > 0 && !more.error)
			last = &more;
	}
	if (r >= 0 && last->error)
		ret->compile_error = FH_TAKE_PTR(last->error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_RUST, false, last, ret, err);
	return r;
}

static const char *const shared[] = { "temp_dir(", "fs::write(", "File::create(", "env::set_var(", NULL };

static const struct fh_split_language split = {
	.judge = { "split_codec.rs" },
	/* the texts of fh_rust_crates, and the part of the codec's crate that only it has */
	.others = { "crate_rand.rs", "crate_regex_machine.rs", "crate_regex.rs", "crate_md5.rs", "split_fit.rs" },
	.changes = changes,
	.spoilers = "ab",
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};

/* ------------------------------------------------------------------------------------------------- in one process */

static int unit(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
                struct fh_error *err)
{
	return fh_rust_unit(p->head, p->completion, fh_buf_str(&p->problem->tail), fh_buf_str(&d->driver), &u->code, err);
}

static int add_crates(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
                      struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str nothing = { "", 0 };
	int r = fh_rust_unit(p->head, p->completion, fh_buf_str(&p->problem->tail), nothing, &text, err);
	return r < 0 ? r : add_mentioned_crates(s, client, fh_buf_str(&text), plan, err);
}

static const struct fh_judge_in_process in_process = {
	.driver = "judge.rs",
	.unit = unit,
	.beside = add_crates,
	.flags = fh_rust_unit_flags,
	.packages_flags = fh_rust_unit_flags,
	.probe = "fn main() {}",
	.probe_test = "#[test]\nfn version() { println!(\"rust\"); }",
};

static const struct fh_judge_declared declared = { "fn %s", NULL };

const struct fh_judge_language_info fh_judge_language_rust = {
	.name = "rust",
	.stub = { "    unimplemented!()\n}\n", "fn main() { }\n" },
	.version = "fn main() { println!(\"rust\"); }",
	.version_argument = "--version",
	.pack_prefix = "Rust/",
	.entry_point = fh_rust_name,
	.declared = &declared,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
