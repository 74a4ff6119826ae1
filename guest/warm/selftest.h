/* SPDX-License-Identifier: MIT */
/* The programs of selftest/, carried inside the library (test.c). */
#pragma once
extern const unsigned char fh_selftest_python[];
extern const unsigned long fh_selftest_python_size;
extern const unsigned char fh_selftest_node[], fh_node_script[];
extern const unsigned long fh_selftest_node_size, fh_node_script_size;
