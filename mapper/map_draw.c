/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lays the picture out: clusters in two stacks, left and right, zipper nodes in a column between them. In a cluster
 * rows of nodes hang on the row's line, and the lines on the bar of the cluster's network, from which its zipper nodes
 * are reached. A cluster with very many nodes is drawn as tiles of several nodes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map_draw.h"
#include "map_links.h"

#define RANK 18.0	/* side of a rank's square */
#define GAP 10.0	/* between boxes */
#define HEAD 16.0	/* height of a box's title */
#define LINE_MAX 14.0	/* width of the busiest link */
#define MIDDLE 190.0	/* from a cluster to the zipper nodes */
#define TILES_MAX 1024u /* of a cluster */
#define RANKS_MAX 64u	/* of a node that are drawn one by one */
#define TITLE_MAX 160	/* characters of a cluster's title */

static const char *const kind_colour[MAP_KINDS] = {"#9a9a9a", "#4a78b0", "#2f9e57", "#cc3333"};
static const char *const job_colour[] = {"#cfe0f5", "#fbe3b9", "#dcd0ee", "#cdeccd", "#f6cfd6", "#d9e8e8", "#ece6c4",
	"#e3d3c8"};

struct tile { /* a node, or several */
	uint32_t first, n;
	struct map_link link;
	double x, y;
};

struct box { /* a cluster, or the column of zipper nodes (cluster = MAP_NONE) */
	uint32_t cluster;
	struct tile *tile;
	uint32_t ntiles, columns, per_row; /* tiles of a row; ranks of a row in a tile */
	double x, y, w, h, tile_w, tile_h;
};

struct drawing {
	const struct map_make *m;
	const struct map_layout *l;
	struct map_links links;
	uint32_t *ranks, *start, *member; /* by node: how many, from where in member[] */
	struct box box[65];
	uint32_t nboxes;
	double width, height;
	FILE *f;
};

/* --- text --- */

static void escaped(FILE *f, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		default:
			fputc(*text, f);
		}
}

static void text_at(FILE *f, double x, double y, double size, const char *anchor, const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\">", x, y, size, anchor);
	escaped(f, text);
	fputs("</text>\n", f);
}

static void bytes_write(char *buf, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	int u = 0;

	for (; v >= 1024 && u < 6; u++)
		v /= 1024;
	snprintf(buf, size, u && v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

/* How wide a text is, roughly: a sans-serif letter is somewhat more than half as wide as high. */
static double text_width(const char *text, double size)
{
	return (double)strlen(text) * size * 0.6;
}

static void rectangle(FILE *f, double x, double y, double w, double h, const char *fill, const char *stroke)
{
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, w,
		h, fill, stroke);
}

/* --- links: one line a kind, side by side; together as wide as the link's share of the busiest one --- */

static double link_width(const struct drawing *d, uint64_t bytes)
{
	return d->links.most.bytes[0] ? LINE_MAX * sqrt((double)bytes / (double)d->links.most.bytes[0]) : 0;
}

static void link_draw(const struct drawing *d, const struct map_link *l, double x1, double y1, double x2, double y2)
{
	uint64_t sum = map_link_sum(l);
	double all = link_width(d, sum), length = hypot(x2 - x1, y2 - y1), at = -all / 2;

	if (!sum) {
		fprintf(d->f,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#bbbbbb\" stroke-width=\"1\" "
			"stroke-dasharray=\"2 3\"/>\n",
			x1, y1, x2, y2);
		return;
	}
	for (int k = 0; k < MAP_KINDS; k++) {
		double w = all * (double)l->bytes[k] / (double)sum, off = at + w / 2;
		double dx = -(y2 - y1) / length * off, dy = (x2 - x1) / length * off;

		if (l->bytes[k])
			fprintf(d->f,
				"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
				"stroke-width=\"%.2f\"/>\n",
				x1 + dx, y1 + dy, x2 + dx, y2 + dy, kind_colour[k], w < 0.6 ? 0.6 : w);
		at += w;
	}
}

static void link_add(struct map_link *to, const struct map_link *l)
{
	for (int k = 0; k < MAP_KINDS; k++)
		to->bytes[k] += l->bytes[k];
}

/* --- layout --- */

static int ranks_index(struct drawing *d)
{
	uint32_t nnodes = d->m->site.nnodes, *at;

	d->ranks = calloc(nnodes, sizeof(*d->ranks));
	d->start = calloc((size_t)nnodes + 1, sizeof(*d->start));
	d->member = malloc(d->l->n * sizeof(*d->member));
	at = calloc(nnodes, sizeof(*at));
	if (!d->ranks || !d->start || !d->member || !at) {
		free(at);
		return -ENOMEM;
	}
	for (uint32_t v = 0; v < d->l->n; v++)
		d->ranks[d->l->node[v]]++;
	for (uint32_t i = 0; i < nnodes; i++)
		d->start[i + 1] = d->start[i] + d->ranks[i];
	for (uint32_t v = 0; v < d->l->n; v++)
		d->member[d->start[d->l->node[v]] + at[d->l->node[v]]++] = v;
	free(at);
	return 0;
}

static bool in_box(const struct drawing *d, const struct box *b, uint32_t node)
{
	const struct map_node *n = &d->m->site.nodes[node];

	return b->cluster == MAP_NONE ? n->zipper : !n->zipper && n->cluster == b->cluster;
}

static void cluster_title(const struct drawing *d, const struct box *b, char title[TITLE_MAX])
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < d->m->site.nnodes; i++)
		ranks += in_box(d, b, i) ? d->ranks[i] : 0;
	snprintf(title, TITLE_MAX, "cluster %.64s: %u ranks", d->m->hosts.clusters[b->cluster].name, ranks);
}

static int tiles_make(struct drawing *d, struct box *b)
{
	uint32_t nodes = 0, most = 0, each, in = 0;

	for (uint32_t i = 0; i < d->m->site.nnodes; i++)
		if (in_box(d, b, i)) {
			nodes++;
			most = d->ranks[i] > most ? d->ranks[i] : most;
		}
	each = nodes / TILES_MAX + 1;
	b->tile = calloc(nodes / each + 2, sizeof(*b->tile));
	if (!b->tile)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->m->site.nnodes; i++) {
		struct tile *t;

		if (!in_box(d, b, i))
			continue;
		if (in == 0 || in == each) {
			b->tile[b->ntiles++].first = i;
			in = 0;
		}
		t = &b->tile[b->ntiles - 1];
		t->n++;
		in++;
		link_add(&t->link, &d->links.node[i]);
	}
	most = each > 1 || most > RANKS_MAX ? 4 : most; /* a number instead of squares */
	b->per_row = most > 16 ? 8 : most > 2 ? 4 : 2;
	b->tile_w = b->per_row * RANK + GAP;
	b->tile_h = HEAD + (most ? (most + b->per_row - 1) / b->per_row : 1) * RANK + GAP / 2;
	b->columns = b->cluster == MAP_NONE ? 1 : (uint32_t)ceil(sqrt(b->ntiles * b->tile_h / b->tile_w));
	b->columns = b->columns ? b->columns : 1;
	b->w = b->columns * (b->tile_w + GAP) + GAP;
	if (b->cluster != MAP_NONE) {
		char title[TITLE_MAX];

		cluster_title(d, b, title);
		b->w = fmax(b->w, text_width(title, 11) + 2 * GAP);
	}
	b->h = HEAD + GAP + (b->ntiles + b->columns - 1) / b->columns * (b->tile_h + GAP + LINE_MAX);
	return 0;
}

static void tiles_place(struct box *b)
{
	for (uint32_t i = 0; i < b->ntiles; i++) {
		b->tile[i].x = b->x + GAP + i % b->columns * (b->tile_w + GAP);
		b->tile[i].y = b->y + HEAD + GAP / 2 + i / b->columns * (b->tile_h + GAP + LINE_MAX);
	}
}

/* Even clusters left, odd ones right, zipper nodes between. */
static int boxes_place(struct drawing *d, const char *title)
{
	double left = 0, w[2] = {0}, h[2] = {2 * GAP + HEAD, 2 * GAP + HEAD}, high;
	struct box *z;

	d->nboxes = d->m->site.nclusters + 1;
	for (uint32_t i = 0; i < d->nboxes; i++) {
		d->box[i].cluster = i + 1 == d->nboxes ? MAP_NONE : i;
		if (tiles_make(d, &d->box[i]))
			return -ENOMEM;
	}
	z = &d->box[d->nboxes - 1];
	for (uint32_t i = 0; i + 1 < d->nboxes; i++)
		w[i % 2] = d->box[i].w > w[i % 2] ? d->box[i].w : w[i % 2];
	left = GAP + w[0];
	for (uint32_t i = 0; i + 1 < d->nboxes; i++) {
		struct box *b = &d->box[i];

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
	d->width = fmax(fmax(d->width, 560), text_width(title, 13) + 2 * GAP);
	d->height = high + 70;
	return 0;
}

/* --- drawing --- */

static double bar_x(const struct box *b)
{
	return b->cluster % 2 ? b->x - 2 * GAP : b->x + b->w + 2 * GAP;
}

static void ranks_draw(const struct drawing *d, const struct box *b, const struct tile *t)
{
	const size_t colours = sizeof(job_colour) / sizeof(job_colour[0]);
	uint32_t n = 0;
	char text[48];

	for (uint32_t i = t->first, seen = 0; seen < t->n; i++)
		if (in_box(d, b, i)) {
			n += d->ranks[i];
			seen++;
		}
	if (t->n > 1 || n > RANKS_MAX) {
		snprintf(text, sizeof(text), "%u ranks", n);
		text_at(d->f, t->x + b->tile_w / 2, t->y + b->tile_h - 6, 9, "middle", text);
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t v = d->member[d->start[t->first] + k];
		double x = t->x + GAP / 2 + k % b->per_row * RANK, y = t->y + HEAD + k / b->per_row * RANK;

		rectangle(d->f, x + 1, y + 1, RANK - 2, RANK - 2, job_colour[d->l->cluster[v] % colours], "#666666");
		snprintf(text, sizeof(text), "%u", v);
		text_at(d->f, x + RANK / 2, y + RANK / 2 + 3,
			v > 9999  ? 5
			: v > 999 ? 6.5
			: v > 99  ? 7.2
				  : 8,
			"middle", text);
	}
}

static void tile_draw(const struct drawing *d, const struct box *b, const struct tile *t)
{
	char title[96];

	rectangle(d->f, t->x, t->y, b->tile_w, b->tile_h, b->cluster == MAP_NONE ? "#fff4d6" : "#ffffff", "#333333");
	snprintf(title, sizeof(title), t->n > 1 ? "%.40s ... (%u)" : "%.40s", d->m->site.nodes[t->first].name, t->n);
	text_at(d->f, t->x + b->tile_w / 2, t->y + 11, strlen(title) * 5.6 > b->tile_w ? 6.5 : 9, "middle", title);
	ranks_draw(d, b, t);
}

/* The rows' lines and the bar of the cluster's network. */
static void network_draw(const struct drawing *d, const struct box *b)
{
	double bar = bar_x(b), last = b->y;

	for (uint32_t i = 0; i < b->ntiles;) {
		uint32_t end = i + b->columns < b->ntiles ? i + b->columns : b->ntiles;
		double y = b->tile[i].y + b->tile_h + GAP / 2 + LINE_MAX / 2, far = b->cluster % 2 ? 0 : 1e9;
		struct map_link row = {{0}};

		for (; i < end; i++) {
			const struct tile *t = &b->tile[i];
			double x = t->x + b->tile_w / 2;

			link_add(&row, &t->link);
			link_draw(d, &t->link, x, t->y + b->tile_h, x, y);
			far = b->cluster % 2 ? fmax(far, x) : fmin(far, x);
		}
		fprintf(d->f,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#555555\" "
			"stroke-width=\"1.5\"/>\n",
			far, y, bar, y);
		last = y;
	}
	fprintf(d->f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#333333\" stroke-width=\"5\"/>\n",
		bar, b->y + HEAD, bar, last > b->y + b->h ? last : b->y + b->h);
}

static void cluster_draw(const struct drawing *d, const struct box *b)
{
	char title[TITLE_MAX];

	rectangle(d->f, b->x, b->y, b->w, b->h, "#f4f4f0", "#888888");
	cluster_title(d, b, title);
	text_at(d->f, b->x + GAP, b->y + 13, 11, "start", title);
	network_draw(d, b);
	for (uint32_t i = 0; i < b->ntiles; i++)
		tile_draw(d, b, &b->tile[i]);
}

/* Ports: from the bar of each network to the zipper node, with the bytes on it. */
static void ports_draw(const struct drawing *d, const struct box *z)
{
	for (uint32_t i = 0; i < z->ntiles; i++) {
		const struct tile *t = &z->tile[i];
		unsigned side[2] = {0}, ports[2] = {0};

		for (uint32_t c = 0; c + 1 < d->nboxes; c++)
			ports[c % 2] += d->m->site.nodes[t->first].fabrics >> c & 1;
		for (uint32_t c = 0; c + 1 < d->nboxes; c++) {
			const struct box *b = &d->box[c];
			struct map_link sum = {{0}};
			char text[32];
			double x = c % 2 ? t->x + z->tile_w : t->x, bar = bar_x(b), y, at;

			if (!(d->m->site.nodes[t->first].fabrics >> c & 1))
				continue;
			for (uint32_t n = t->first, seen = 0; seen < t->n; n++)
				if (in_box(d, z, n)) {
					link_add(&sum, &d->links.port[n][c]);
					seen++;
				}
			y = t->y + z->tile_h * (1 + side[c % 2]++) / (1 + ports[c % 2]);
			at = fmin(fmax(y, b->y + HEAD + 8), b->y + b->h - 4);
			link_draw(d, &sum, bar, at, x, y);
			bytes_write(text, sizeof(text), map_link_sum(&sum));
			text_at(d->f, (bar + x) / 2, (at + y) / 2 - link_width(d, map_link_sum(&sum)) / 2 - 3, 9,
				"middle", text);
		}
	}
}

static void legend_draw(const struct drawing *d, const struct map_prediction *p)
{
	double x = GAP, y = d->height - 44;
	char text[160], bytes[32];

	for (int k = MAP_KINDS; k-- > MAP_NATIVE;) {
		fprintf(d->f,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"6\"/>\n", x,
			y, x + 24, y, kind_colour[k]);
		bytes_write(bytes, sizeof(bytes), p->kind[k].bytes);
		snprintf(text, sizeof(text), "%s: %s", map_kind_names[k], bytes);
		text_at(d->f, x + 30, y + 4, 10, "start", text);
		x += 150;
	}
	bytes_write(bytes, sizeof(bytes), d->links.most.bytes[0]);
	snprintf(text, sizeof(text), "this wide: %s; widths go with the square root of bytes, both directions", bytes);
	fprintf(d->f,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#555555\" stroke-width=\"%.1f\"/>\n",
		GAP, y + 26, GAP + 24, y + 26, LINE_MAX);
	text_at(d->f, GAP + 30, y + 30, 10, "start", text);
}

static int picture_draw(struct drawing *d, const char *title)
{
	int rc = ranks_index(d);

	if (!rc)
		rc = boxes_place(d, title);
	if (rc)
		return rc;
	fprintf(d->f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\">\n",
		d->width, d->height);
	rectangle(d->f, 0, 0, d->width, d->height, "#ffffff", "none");
	text_at(d->f, GAP, 18, 13, "start", title);
	ports_draw(d, &d->box[d->nboxes - 1]);
	for (uint32_t i = 0; i + 1 < d->nboxes; i++)
		cluster_draw(d, &d->box[i]);
	for (uint32_t i = 0; i < d->box[d->nboxes - 1].ntiles; i++)
		tile_draw(d, &d->box[d->nboxes - 1], &d->box[d->nboxes - 1].tile[i]);
	legend_draw(d, &d->m->made[MAP_FROM_OLD].prediction);
	fputs("</svg>\n", d->f);
	return 0;
}

int map_draw(const struct map_make *m, const char *title, FILE *f, struct zerr *err)
{
	struct drawing *d = calloc(1, sizeof(*d));
	int rc = d ? map_links_make(&d->links, m, MAP_FROM_OLD) : -ENOMEM;

	if (!rc) {
		d->m = m;
		d->l = &m->made[MAP_FROM_OLD].layout;
		d->f = f;
		rc = picture_draw(d, title);
	}
	for (uint32_t i = 0; d && i < d->nboxes; i++)
		free(d->box[i].tile);
	if (d) {
		map_links_free(&d->links);
		free(d->ranks);
		free(d->start);
		free(d->member);
	}
	free(d);
	return rc ? zerr_set(err, rc, "not enough memory for the picture") : 0;
}
