/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out the picture of a map. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/draw/map_boxes.h"
#include "mapper/draw/svg.h"

#define RANK MAP_BOX_RANK
#define GAP MAP_BOX_GAP
#define HEAD MAP_BOX_HEAD
#define LINE MAP_BOX_LINE
#define MIDDLE 190.0	/* from a cluster to the zipper nodes */
#define TILES_MAX 1024u /* of a cluster */
#define ZIPPERS_MAX 64u /* tiles of zipper nodes, which stand one below the other */
#define NAME_MAX_W 130. /* a tile grows to show the names of its nodes, but not beyond this width */
#define CLUSTER_LETTERS 64

static int ranks_index(struct map_boxes *d)
{
	const struct map_layout *l = &d->m->made[d->which].layout;
	uint32_t n = d->links->nplaces, *at;

	d->ranks = calloc(n, sizeof(*d->ranks));
	d->start = calloc((size_t)n + 1, sizeof(*d->start));
	d->member = malloc(l->n * sizeof(*d->member));
	at = calloc(n, sizeof(*at));
	if (!d->ranks || !d->start || !d->member || !at) {
		free(at);
		return -ENOMEM;
	}
	for (uint32_t v = 0; v < l->n; v++)
		d->ranks[l->node[v]]++;
	for (uint32_t i = 0; i < n; i++)
		d->start[i + 1] = d->start[i] + d->ranks[i];
	for (uint32_t v = 0; v < l->n; v++)
		d->member[d->start[l->node[v]] + at[l->node[v]]++] = v;
	free(at);
	return 0;
}

static bool in_box(const struct map_boxes *d, const struct map_box *b, uint32_t place)
{
	if (d->links->zipper[place] >= 0)
		return b->cluster == MAP_NONE;
	return d->m->site.nodes[place].cluster == b->cluster;
}

const char *map_boxes_title(const struct map_boxes *d, const struct map_box *b, char *buf)
{
	char name[MAP_BOX_TITLE - 40];
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < b->nplaces; i++)
		ranks += d->ranks[b->place[i]];
	svg_shorten(name, sizeof(name), d->m->hosts.clusters[b->cluster].name, CLUSTER_LETTERS);
	snprintf(buf, MAP_BOX_TITLE, "cluster %s: %u ranks", name, ranks);
	return buf;
}

/* Hosts differ in front of their domain, so the domain goes first. */
static void name_shorten(char *buf, size_t cap, const char *name, unsigned letters)
{
	char host[MAP_BOX_TITLE / 2], *domain;

	if (strlen(name) <= letters || !strchr(name, '.')) {
		svg_shorten(buf, cap, name, letters);
		return;
	}
	snprintf(host, sizeof(host), "%s", name);
	domain = strchr(host, '.');
	if (domain)
		*domain = '\0';
	svg_shorten(buf, cap, host, letters - 1);
	snprintf(buf + strlen(buf), cap - strlen(buf), SVG_ELLIPSIS);
}

const char *map_boxes_tile_title(const struct map_boxes *d, const struct map_box *b, const struct map_tile *t,
	char *buf)
{
	const unsigned letters = (unsigned)(NAME_MAX_W / svg_text_width("m", MAP_BOX_LETTER));
	uint32_t place = b->place[t->first];
	const char *name = place < d->m->site.nnodes ? d->m->site.nodes[place].name
						     : d->m->hosts.zippers[d->links->zipper[place]].host;
	char text[MAP_BOX_TITLE - 40], count[32] = "";

	if (t->n > 1)
		snprintf(count, sizeof(count), " ... (%u)", t->n);
	name_shorten(text, sizeof(text), name, letters - (unsigned)strlen(count));
	snprintf(buf, MAP_BOX_TITLE, "%s%s", text, count);
	return buf;
}

uint64_t map_boxes_tile_ports(const struct map_boxes *d, const struct map_box *b, const struct map_tile *t)
{
	uint64_t ports = 0;

	for (uint32_t i = t->first; i < t->first + t->n; i++)
		ports |= d->links->ports[b->place[i]];
	return ports;
}

/* --- sizes --- */

static int places_take(const struct map_boxes *d, struct map_box *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->links->nplaces; i++)
		n += in_box(d, b, i);
	b->place = malloc((n + 1) * sizeof(*b->place));
	if (!b->place)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->links->nplaces; i++)
		if (in_box(d, b, i))
			b->place[b->nplaces++] = i;
	return 0;
}

/* Tiles are high enough for their ranks, and for the ports on each side, one below the other. */
static void tile_size(const struct map_boxes *d, struct map_box *b, uint32_t ranks)
{
	char title[MAP_BOX_TITLE];

	b->per_row = ranks > 16 ? 8 : ranks > 2 ? 4 : 2;
	b->tile_w = b->per_row * RANK + GAP;
	b->tile_h = HEAD + (ranks ? (ranks + b->per_row - 1) / b->per_row : 1) * RANK + GAP / 2;
	for (uint32_t i = 0; i < b->ntiles; i++) {
		const uint64_t ports = map_boxes_tile_ports(d, b, &b->tile[i]), even = UINT64_C(0x5555555555555555);
		int left = __builtin_popcountll(ports & even), right = __builtin_popcountll(ports & ~even);

		b->tile_w = fmax(b->tile_w,
			svg_text_width(map_boxes_tile_title(d, b, &b->tile[i], title), MAP_BOX_LETTER) + GAP / 2);
		b->tile_h = fmax(b->tile_h, ((left > right ? left : right) + 1) * LINE);
	}
}

static int tiles_make(struct map_boxes *d, struct map_box *b)
{
	const uint32_t limit = b->cluster == MAP_NONE ? ZIPPERS_MAX : TILES_MAX;
	uint32_t each, most = 0;
	char title[MAP_BOX_TITLE];

	if (places_take(d, b))
		return -ENOMEM;
	each = (b->nplaces + limit - 1) / limit;
	b->tile = calloc(b->nplaces + 1, sizeof(*b->tile));
	if (!b->tile)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nplaces; i++) {
		struct map_tile *t = &b->tile[i / each];

		if (i % each == 0)
			t->first = i;
		t->n++;
		map_links_add(&t->link, &d->links->node[b->place[i]]);
		most = d->ranks[b->place[i]] > most ? d->ranks[b->place[i]] : most;
		b->ntiles = i / each + 1;
	}
	tile_size(d, b, each > 1 || most > MAP_BOX_RANKS ? 4 : most); /* a number instead of squares */
	b->columns = b->cluster == MAP_NONE ? 1 : (uint32_t)ceil(sqrt(b->ntiles * b->tile_h / b->tile_w));
	b->columns = b->columns ? b->columns : 1;
	b->w = b->columns * (b->tile_w + GAP) + GAP;
	if (b->cluster != MAP_NONE)
		b->w = fmax(b->w, svg_text_width(map_boxes_title(d, b, title), 11) + 2 * GAP);
	b->h = HEAD + GAP + (b->ntiles + b->columns - 1) / b->columns * (b->tile_h + GAP + LINE);
	return 0;
}

/* --- places --- */

double map_boxes_bar(const struct map_box *b)
{
	return b->cluster % 2 ? b->x - 2 * GAP : b->x + b->w + 2 * GAP;
}

static void tiles_place(struct map_box *b)
{
	for (uint32_t i = 0; i < b->ntiles; i++) {
		b->tile[i].x = b->x + GAP + i % b->columns * (b->tile_w + GAP);
		b->tile[i].y = b->y + HEAD + GAP / 2 + i / b->columns * (b->tile_h + GAP + LINE);
	}
}

/* Even clusters stand left, odd ones right, zipper nodes between them. */
static void boxes_place(struct map_boxes *d, const char *title)
{
	double left = 0, w[2] = {0}, h[2] = {2 * GAP + HEAD, 2 * GAP + HEAD}, high;
	struct map_box *z = &d->box[d->nboxes - 1];

	for (uint32_t i = 0; i + 1 < d->nboxes; i++)
		w[i % 2] = d->box[i].w > w[i % 2] ? d->box[i].w : w[i % 2];
	left = GAP + w[0];
	for (uint32_t i = 0; i + 1 < d->nboxes; i++) {
		struct map_box *b = &d->box[i];

		b->x = i % 2 ? left + 2 * MIDDLE + z->w : left - b->w;
		b->y = h[i % 2];
		h[i % 2] += b->h + 3 * GAP;
		tiles_place(b);
	}
	high = fmax(fmax(h[0], h[1]), z->h + 4 * GAP);
	z->x = left + MIDDLE;
	z->y = fmax(2 * GAP + HEAD, (high - z->h) / 2);
	tiles_place(z);
	d->width = left + 2 * MIDDLE + z->w + w[1] + 2 * GAP;
	d->width = fmax(fmax(d->width, 560), svg_text_width(title, 13) + 2 * GAP);
	d->height = high + 70;
}

int map_boxes_make(struct map_boxes *d, const struct map_make *m, enum map_candidate which,
	const struct map_links *links, const char *title)
{
	*d = (struct map_boxes){.m = m, .which = which, .links = links, .nboxes = m->site.nclusters + 1};
	if (ranks_index(d))
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nboxes; i++) {
		d->box[i].cluster = i + 1 == d->nboxes ? MAP_NONE : i;
		if (tiles_make(d, &d->box[i]))
			return -ENOMEM;
	}
	boxes_place(d, title);
	return 0;
}

void map_boxes_free(struct map_boxes *d)
{
	for (uint32_t i = 0; i < d->nboxes; i++) {
		free(d->box[i].place);
		free(d->box[i].tile);
	}
	free(d->ranks);
	free(d->start);
	free(d->member);
}
