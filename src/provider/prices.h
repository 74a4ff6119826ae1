/* SPDX-License-Identifier: MIT */
/* What models cost, from providers/prices.json, which says as of which date. Prices change: a config's own win. */
#pragma once
#include "provider/provider.h"

/* In US dollars, by config.cost, inputCost and outputCost (per token), else by the table; -1: not known. `service` is
 * the part of the id before the first colon. Tokens that the server had cached count as its table says. */
double fh_price_of(const char *service, const char *model, FH_NULLABLE const json_t *config, const struct fh_tokens *t);
