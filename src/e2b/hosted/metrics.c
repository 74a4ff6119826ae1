/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/metrics.h"

#include "base/clock.h"
#include "fumehood/session.h"

enum { SAMPLES_MAX = 720, NEWEST_MS = 900 }; /* NEWEST_MS: no new sample is taken while the last one is younger */

struct fh_hosted_metrics {
	struct sample {
		int64_t at_ms;
		double cpu_percent; /* CPU time since the previous sample, in percent of one processor */
		struct fh_sandbox_usage usage;
	} samples[SAMPLES_MAX];
	size_t count;
};

static uint64_t cpu_us(const struct fh_sandbox_usage *u)
{
	return u->cpu_user_us + u->cpu_sys_us;
}

/* Called with the sandbox's lock. */
static void add_sample(struct fh_hosted *h, const struct fh_sandbox_usage *usage)
{
	if (!h->metrics)
		h->metrics = FH_NEW(struct fh_hosted_metrics);
	struct fh_hosted_metrics *m = h->metrics;
	struct sample s = { .at_ms = fh_wall_ms(), .usage = *usage };
	const struct sample *last = m->count ? &m->samples[m->count - 1] : NULL;
	int64_t since_ms = last ? s.at_ms - last->at_ms : (int64_t)usage->age_ms;
	uint64_t used = cpu_us(usage) - (last ? FH_MIN(cpu_us(&last->usage), cpu_us(usage)) : 0);
	if (last && since_ms < NEWEST_MS)
		return;
	s.cpu_percent = since_ms > 0 ? (double)used / 10.0 / (double)since_ms : 0;
	if (m->count == SAMPLES_MAX)
		memmove(m->samples, m->samples + 1, --m->count * sizeof(m->samples[0]));
	m->samples[m->count++] = s;
}

static json_t *sample_object(const struct fh_hosted *h, const struct sample *s)
{
	json_t *o = json_object();
	char time[32];
	uint64_t milli = h->limits.value[FH_LIMIT_CPU_RATE];
	json_object_set_new(o, "timestamp", json_string(fh_iso_time(s->at_ms, time)));
	json_object_set_new(o, "timestampUnix", json_integer(s->at_ms / 1000));
	json_object_set_new(o, "cpuCount", json_integer(milli ? (json_int_t)(milli + 999) / 1000 : s->usage.cpus));
	json_object_set_new(o, "cpuUsedPct", json_real(s->cpu_percent));
	json_object_set_new(o, "memUsed", json_integer((json_int_t)s->usage.memory_bytes));
	json_object_set_new(o, "memTotal", json_integer((json_int_t)h->limits.value[FH_LIMIT_MEMORY]));
	json_object_set_new(o, "memCache", json_integer(0));
	json_object_set_new(o, "diskUsed", json_integer((json_int_t)s->usage.disk_bytes));
	json_object_set_new(o, "diskTotal", json_integer((json_int_t)h->limits.value[FH_LIMIT_DISK]));
	return o;
}

FH_OWN json_t *fh_hosted_metrics(struct fh_hosted *h, int64_t start_s, int64_t end_s)
{
	struct fh_sandbox_usage usage = { 0 };
	json_t *list = json_array();
	bool have = fh_hosted_is_running(h) && fh_sandbox_usage(h->sandbox, &usage, NULL) == 0;
	pthread_mutex_lock(&h->lock);
	if (have)
		add_sample(h, &usage);
	for (size_t i = 0; h->metrics && i < h->metrics->count; i++) {
		const struct sample *s = &h->metrics->samples[i];
		int64_t at_s = s->at_ms / 1000;
		if ((!start_s || at_s >= start_s) && (!end_s || at_s <= end_s))
			json_array_append_new(list, sample_object(h, s));
	}
	pthread_mutex_unlock(&h->lock);
	return list;
}

void fh_hosted_forget_metrics(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	free(FH_TAKE_PTR(h->metrics));
	pthread_mutex_unlock(&h->lock);
}
