/* SPDX-License-Identifier: MIT */
#include "e2b/control/checks.h"

#include <arpa/inet.h>
#include <ctype.h>

enum { RULES_MAX = 256, NAME_MAX_BYTES = 253, TARGET_MAX = 300, BITS_4 = 32, BITS_6 = 128, PORT_MAX = 65535 };

/* ------------------------------------------------------------------------------------------------ types of members */

static bool is_boolean(const json_t *value)
{
	return json_is_boolean(value);
}

static bool is_object(const json_t *value)
{
	return json_is_object(value);
}

static bool is_list(const json_t *value)
{
	return json_is_array(value);
}

static bool is_text(const json_t *value)
{
	return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

struct member {
	const char *name;
	bool (*fits)(const json_t *value);
	const char *wanted;
};

static const struct member body_members[] = {
	{ "autoPause", is_boolean, "true or false" },
	{ "autoPauseMemory", is_boolean, "true or false" },
	{ "autoResume", is_object, "an object" },
	{ "secure", is_boolean, "true or false" },
	{ "allow_internet_access", is_boolean, "true or false" },
	{ "network", is_object, "an object" },
	{ "volumeMounts", is_list, "a list" },
	{ "memory", is_boolean, "true or false" },
	{ 0 },
};

static const struct member network_members[] = {
	{ "allowOut", is_list, "a list" },
	{ "denyOut", is_list, "a list" },
	{ "dnsServers", is_list, "a list" },
	{ "httpsPorts", is_list, "a list" },
	{ "rules", is_object, "an object" },
	{ "egressProxy", is_object, "an object" },
	{ "allowPublicTraffic", is_boolean, "true or false" },
	{ "allow_internet_access", is_boolean, "true or false" },
	{ "maskRequestHost", is_text, "a text" },
	{ 0 },
};

static bool check(struct fh_http_request *r, const json_t *object, const struct member *m)
{
	for (; m->name; m++) {
		const json_t *value = json_object_get(object, m->name);
		if (!value || json_is_null(value) || m->fits(value))
			continue;
		fh_e2b_fail(r, 400, "%s is to be %s", m->name, m->wanted);
		return false;
	}
	return true;
}

bool fh_control_check_members(struct fh_http_request *r, const json_t *body)
{
	const json_t *enabled = json_object_get(json_object_get(body, "autoResume"), "enabled");
	if (!check(r, body, body_members))
		return false;
	if (enabled && !json_is_boolean(enabled)) {
		fh_e2b_fail(r, 400, "autoResume.enabled is to be true or false");
		return false;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------- rules of network */

/* Whether a text is an address of a family, or addresses as ADDRESS/BITS. */
static bool is_of_family(const char *text, int family, long bits_max)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	char address[INET6_ADDRSTRLEN], *end;
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = '\0';
	if (inet_pton(family, address, bytes) != 1)
		return false;
	return !slash || (isdigit((unsigned char)slash[1]) && strtol(slash + 1, &end, 10) <= bits_max && !*end);
}

static bool is_address(const char *text)
{
	return is_of_family(text, AF_INET, BITS_4) || is_of_family(text, AF_INET6, BITS_6);
}

/* Whether a text is the name of a domain, or of all below one ("*.example.com"). */
static bool is_domain(const char *text)
{
	const char *name = fh_starts_with(text, "*.") ? text + 2 : text;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
	return n > 0 && !name[n] && strlen(text) <= NAME_MAX_BYTES && name[0] != '.' && !strstr(name, "..");
}

static bool is_rule(const json_t *item)
{
	return is_text(item) && json_string_length(item) < TARGET_MAX;
}

static bool denies_all(const json_t *rules)
{
	const json_t *item;
	size_t i;
	json_array_foreach(rules, i,
	                   item) if (is_text(item) && strcmp(json_string_value(item), "0.0.0.0/0") == 0) return true;
	return false;
}

static bool check_denied(struct fh_http_request *r, const json_t *rules)
{
	const json_t *item;
	size_t i;
	json_array_foreach(rules, i, item)
	{
		if (is_rule(item) && is_address(json_string_value(item)))
			continue;
		fh_e2b_fail(r, 400, "invalid denied CIDR %.64s", is_rule(item) ? json_string_value(item) : "");
		return false;
	}
	return true;
}

static bool check_allowed(struct fh_http_request *r, const json_t *rules, const json_t *denied)
{
	const json_t *item;
	size_t i;
	json_array_foreach(rules, i, item)
	{
		const char *rule = is_rule(item) ? json_string_value(item) : "";
		if (is_address(rule))
			continue;
		if (!is_domain(rule)) {
			fh_e2b_fail(r, 400, "invalid allowed address %.64s", rule);
			return false;
		}
		if (!denies_all(denied)) {
			fh_e2b_fail(r, 400,
			            "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to "
			            "block all other traffic.");
			return false;
		}
	}
	return true;
}

static bool check_ports(struct fh_http_request *r, const json_t *ports)
{
	const json_t *item;
	size_t i;
	json_array_foreach(ports, i, item)
	{
		if (json_is_integer(item) && json_integer_value(item) > 0 && json_integer_value(item) <= PORT_MAX)
			continue;
		fh_e2b_fail(r, 400, "httpsPorts is to be a list of ports");
		return false;
	}
	return true;
}

/* It becomes the value of a header inside. */
static bool check_mask(struct fh_http_request *r, const char *mask)
{
	bool fits = !mask || (*mask && strlen(mask) < TARGET_MAX);
	for (const char *c = mask ? mask : ""; *c; c++)
		fits = fits && *c > ' ' && *c < 0x7f;
	if (!fits)
		fh_e2b_fail(r, 400, "mask request host is not valid");
	return fits;
}

bool fh_control_check_network(struct fh_http_request *r, FH_NULLABLE const json_t *network)
{
	const json_t *allowed = json_object_get(network, "allowOut"), *denied = json_object_get(network, "denyOut"),
	             *ports = json_object_get(network, "httpsPorts");
	if (!check(r, network, network_members))
		return false;
	if (json_array_size(allowed) > RULES_MAX || json_array_size(denied) > RULES_MAX ||
	    json_array_size(ports) > RULES_MAX || json_object_size(json_object_get(network, "rules")) > RULES_MAX) {
		fh_e2b_fail(r, 400, "network is to have at most %d rules of each kind", RULES_MAX);
		return false;
	}
	return check_denied(r, denied) && check_allowed(r, allowed, denied) && check_ports(r, ports) &&
	       check_mask(r, fh_json_str(network, "maskRequestHost", NULL));
}

void fh_control_forget_secrets(FH_NULLABLE json_t *network)
{
	json_t *proxy = json_object_get(network, "egressProxy");
	json_object_del(proxy, "password");
	json_object_del(json_object_get(proxy, "tls"), "caCert");
}

/* ---------------------------------------------------------------------------------------------------------- lifecycle */

/* A request may name the settings under `lifecycle`, as the answer about a sandbox does. The SDKs send three members
 * instead; where a request has both, these three count. */
static bool spell_out(struct fh_http_request *r, json_t *body)
{
	const json_t *lifecycle = json_object_get(body, "lifecycle"), *action = json_object_get(lifecycle, "onTimeout");
	json_t *keeps_memory = json_is_object(action) ? json_object_get(action, "keepMemory") : NULL;
	json_t *resumes = json_object_get(lifecycle, "autoResume");
	const char *name = json_string_value(json_is_object(action) ? json_object_get(action, "action") : action);
	bool pauses = name && strcmp(name, "pause") == 0;
	if (!lifecycle || json_is_null(lifecycle))
		return true;
	if (!json_is_object(lifecycle) ||
	    (action && !json_is_null(action) && !pauses && (!name || strcmp(name, "kill") != 0)) ||
	    (keeps_memory && !json_is_null(keeps_memory) && !json_is_boolean(keeps_memory)) ||
	    (resumes && !json_is_null(resumes) && !json_is_boolean(resumes))) {
		fh_e2b_fail(r, 400,
		            "lifecycle is to be {onTimeout: \"pause\", \"kill\" or {action, keepMemory}, autoResume: true "
		            "or false}");
		return false;
	}
	if (!json_object_get(body, "autoPause"))
		json_object_set_new(body, "autoPause", json_boolean(pauses));
	if (!json_object_get(body, "autoPauseMemory") && json_is_false(keeps_memory))
		json_object_set_new(body, "autoPauseMemory", json_false());
	if (!json_object_get(body, "autoResume") && json_is_true(resumes))
		json_object_set_new(body, "autoResume", json_pack("{s:b}", "enabled", 1));
	return true;
}

bool fh_control_check_lifecycle(struct fh_http_request *r, json_t *body)
{
	if (!spell_out(r, body))
		return false;
	if (fh_json_bool(body, "autoPauseMemory", true))
		return true;
	if (!fh_json_bool(body, "autoPause", false)) {
		fh_e2b_fail(r, 400, "autoPauseMemory=false only applies when autoPause is true.");
		return false;
	}
	if (fh_json_bool(json_object_get(body, "autoResume"), "enabled", false)) {
		fh_e2b_fail(r, 400, "a sandbox that is paused without memory cannot be resumed by traffic");
		return false;
	}
	return true;
}
