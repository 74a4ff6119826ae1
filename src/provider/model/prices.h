/* SPDX-License-Identifier: MIT */
/* Prices of models, from providers/prices.json, which says on which date they were right. The config's own prices
 * override them. */
#pragma once
#include "provider/provider.h"

/* The cost in US dollars, by config.cost, inputCost and outputCost (per token), else by the table; -1: unknown.
 * `service` is the part of the id before the first colon. Cached tokens cost what the table says for them. */
double fh_price_of(const char *service, const char *model, FH_NULLABLE const json_t *config, const struct fh_tokens *t);
