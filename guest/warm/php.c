/* SPDX-License-Identifier: MIT */
/* PHP's command line, without thread safety. It opens the file after all extensions are loaded and before the request
 * begins, which reads the environment and seeds random numbers. By then it has read its arguments. */
#include "warm.h"

#include "selftest.h"

static const char *const settings[] = { "PHP", "USE_ZEND_ALLOC", "OPENSSL_", "TMPDIR=", NULL };

const struct fh_warm_interpreter fh_warm_php = {
	.name = "php",
	.symbol = "php_request_startup",
	.calls = FH_CALL_FOPEN,
	.self_test = fh_selftest_php,
	.self_test_size = &fh_selftest_php_size,
	.settings = settings,
	.environment = fh_warm_live_environment,
};
