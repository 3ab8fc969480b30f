/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions in words: networks and the jobs on them, as zipmap model takes them (mapper/). A '|' stands between the
 * network and the jobs. Large networks and files are left out. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/model/workload.h"
#include "mapper/net/topology.h"
#include "test/fuzz/target.h"

#define SIZE_MAX_PRODUCT 100000.0 /* of all numbers of the text */
#define PAIRS 64

static size_t count(const char *text, const char *word)
{
	size_t n = 0;
	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* Is all of it small, as far as the text shows? The presets of some keys are large. */
static bool is_small(const char *text)
{
	double product = 1;
	for (const char *at = text; *at; at++)
		if (isdigit((unsigned char)*at)) {
			char *end;
			double v = strtod(at, &end);
			product *= v > 1 ? v : 1;
			at = end - 1;
		}
	if (strpbrk(text, "KMGkmg/.") || count(text, "group") < count(text, "dragonfly"))
		return false;
	if (strstr(text, "fattree")) /* its levels are an exponent */
		return product <= 16 && count(text, "arity:") >= count(text, "fattree");
	return product <= SIZE_MAX_PRODUCT;
}

static void walk(const struct net *net)
{
	uint32_t link[2 * NET_SLOTS_MAX];
	char name[256];
	CHECK(net->nodes > 0 && net->direct_slots <= NET_SLOTS_MAX && net->indirect_slots <= NET_SLOTS_MAX);
	for (uint32_t i = 0; i < PAIRS; i++) {
		const uint32_t s = net->ops->point(net, i * 7919u % net->nodes),
			       d = net->ops->point(net, i * 104729u % net->nodes);
		CHECK(s < net->points && d < net->points);
		if (s == d)
			continue;
		const uint32_t n = net->ops->direct_count(net, s, d);
		CHECK(n > 0);
		net->ops->direct(net, s, d, i % n, link);
		for (uint32_t k = 0; k < net->direct_slots; k++)
			CHECK(link[k] < net->links);
		net->ops->indirect(net, s, d, i * UINT64_C(0x9e3779b97f4a7c15), link);
		for (uint32_t k = 0; k < net->indirect_slots; k++)
			CHECK(link[k] < net->links);
		if (net->link_class[link[0]] != NET_NONE)
			net->ops->link_name(net, link[0], name, sizeof(name));
	}
}

static void jobs(const struct net *net, const char *text)
{
	struct spec_list list;
	struct workload w;
	struct zerr err = {{0}};
	if (spec_parse(&list, text, "jobs", true, &err) != 0)
		return;
	if (workload_create(&w, net, &list, 1, false, &err) == 0) {
		for (unsigned i = 0; i < w.njobs; i++)
			CHECK(w.jobs[i].first + w.jobs[i].nodes <= net->nodes);
		workload_free(&w);
	} else {
		CHECK(err.text[0]);
	}
	spec_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec_list list;
	struct net *net;
	struct zerr err = {{0}};
	char *text = target_text(data, size), *bar = strchr(text, '|');
	const bool small = is_small(text);
	if (bar)
		*bar = '\0';
	CHECK(spec_parse(&list, text, "network", true, &err) == 0);
	if (small && net_create_list(&list, topology_table, &net, &err) == 0) {
		walk(net);
		if (bar)
			jobs(net, bar + 1);
		net_destroy(net);
	} else if (small) {
		CHECK(err.text[0]);
	}
	spec_free(&list);
	free(text);
	return 0;
}
