/* SPDX-License-Identifier: MIT */
/*
 * The languages in which code is judged, a row each: the name of its enumerator and of its file. languages/NAME.json
 * says how programs of it run, src/judge/languages/NAME.c how they are judged, guest/NAME/ holds what runs beside them.
 *
 * No include guard: it is included to make an enumeration, and again to make a table.
 */
FH_JUDGE_LANGUAGE(PYTHON, python)
FH_JUDGE_LANGUAGE(JAVASCRIPT, javascript)
FH_JUDGE_LANGUAGE(CPP, cpp)
FH_JUDGE_LANGUAGE(C, c)
FH_JUDGE_LANGUAGE(BASH, bash)
FH_JUDGE_LANGUAGE(JAVA, java)
FH_JUDGE_LANGUAGE(GO, go)
FH_JUDGE_LANGUAGE(RUST, rust)
FH_JUDGE_LANGUAGE(RUBY, ruby)
