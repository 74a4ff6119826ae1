/* SPDX-License-Identifier: MIT */
/*
 * The languages that can be judged, one row for each: its enumerator and its name. languages/NAME.json says how its
 * programs are run, src/judge/languages/NAME.c how they are judged, and guest/NAME/ has the drivers.
 *
 * No include guard: this file is included several times, to make an enumeration and a table.
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
FH_JUDGE_LANGUAGE(LUA, lua)
