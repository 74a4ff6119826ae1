/* SPDX-License-Identifier: MIT */
/* The programs of selftest/, embedded in the library (test.c). */
#pragma once
extern const unsigned char fh_selftest_python[];
extern const unsigned long fh_selftest_python_size;
extern const unsigned char fh_selftest_node[], fh_node_script[];
extern const unsigned long fh_selftest_node_size, fh_node_script_size;
extern const unsigned char fh_selftest_bash[];
extern const unsigned long fh_selftest_bash_size;
extern const unsigned char fh_selftest_perl[];
extern const unsigned long fh_selftest_perl_size;
extern const unsigned char fh_selftest_ruby[];
extern const unsigned long fh_selftest_ruby_size;
extern const unsigned char fh_selftest_lua[];
extern const unsigned long fh_selftest_lua_size;
extern const unsigned char fh_selftest_php[];
extern const unsigned long fh_selftest_php_size;
