/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the boxes of a map, and the traffic between them. In a cluster, rows of nodes hang on the line of their row.
 * These lines hang on the bar of the cluster's network, from which zipper nodes are reached. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mapper/draw/map_boxes.h"
#include "mapper/draw/map_draw.h"
#include "mapper/draw/svg.h"

#define RANK MAP_BOX_RANK
#define GAP MAP_BOX_GAP
#define HEAD MAP_BOX_HEAD
#define LINE MAP_BOX_LINE

const char *const map_draw_colours[MAP_KINDS] = {"#9a9a9a", "#4a78b0", "#2f9e57", "#cc3333"};
static const char *const job_colour[] = {"#cfe0f5", "#fbe3b9", "#dcd0ee", "#cdeccd", "#f6cfd6", "#d9e8e8", "#ece6c4",
	"#e3d3c8"};

struct drawing {
	struct map_links links;
	struct map_boxes boxes;
	FILE *f;
};

static void bytes_write(char *buf, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	int u = 0;

	for (; v >= 1024 && u < 6; u++)
		v /= 1024;
	snprintf(buf, size, u && v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

/* --- links: one line a kind, side by side; together as wide as the link's share of the busiest one --- */

static void link_draw(const struct drawing *d, const struct map_link *l, double x1, double y1, double x2, double y2)
{
	uint64_t sum = map_links_sum(l);
	double all = sum ? LINE * sqrt((double)sum / (double)d->links.most.bytes[0]) : 0;
	double length = hypot(x2 - x1, y2 - y1), at = -all / 2;

	if (!sum) {
		svg_line(d->f, x1, y1, x2, y2, "#bbbbbb", 1, "2 3");
		return;
	}
	for (int k = 0; k < MAP_KINDS; k++) {
		double w = all * (double)l->bytes[k] / (double)sum, off = at + w / 2;
		double dx = -(y2 - y1) / length * off, dy = (x2 - x1) / length * off;

		if (l->bytes[k])
			svg_line(d->f, x1 + dx, y1 + dy, x2 + dx, y2 + dy, map_draw_colours[k], fmax(w, 0.6), NULL);
		at += w;
	}
}

/* --- clusters and nodes --- */

static void ranks_draw(const struct drawing *d, const struct map_box *b, const struct map_tile *t)
{
	const size_t colours = sizeof(job_colour) / sizeof(job_colour[0]);
	const struct map_layout *l = &d->boxes.m->made[d->boxes.which].layout;
	const uint32_t *member = d->boxes.member + d->boxes.start[b->place[t->first]];
	uint32_t n = 0;
	char text[48];

	for (uint32_t i = t->first; i < t->first + t->n; i++)
		n += d->boxes.ranks[b->place[i]];
	if (t->n > 1 || n > MAP_BOX_RANKS) {
		snprintf(text, sizeof(text), "%u ranks", n);
		svg_text(d->f, t->x + b->tile_w / 2, t->y + b->tile_h - 6, MAP_BOX_LETTER, "middle", text);
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t v = member[k];
		double x = t->x + GAP / 2 + k % b->per_row * RANK, y = t->y + HEAD + k / b->per_row * RANK;

		svg_rectangle(d->f, x + 1, y + 1, RANK - 2, RANK - 2, job_colour[l->cluster[v] % colours], "#666666");
		snprintf(text, sizeof(text), "%u", v);
		svg_text(d->f, x + RANK / 2, y + RANK / 2 + 3,
			v > 9999  ? 5
			: v > 999 ? 6.5
			: v > 99  ? 7.2
				  : 8,
			"middle", text);
	}
}

static void tiles_draw(const struct drawing *d, const struct map_box *b)
{
	for (uint32_t i = 0; i < b->ntiles; i++) {
		const struct map_tile *t = &b->tile[i];
		char title[MAP_BOX_TITLE];

		svg_rectangle(d->f, t->x, t->y, b->tile_w, b->tile_h, b->cluster == MAP_NONE ? "#fff4d6" : "#ffffff",
			"#333333");
		svg_text(d->f, t->x + b->tile_w / 2, t->y + 11, MAP_BOX_LETTER, "middle",
			map_boxes_tile_title(&d->boxes, b, t, title));
		ranks_draw(d, b, t);
	}
}

/* Draws the nodes' links, and the cluster's network: a line for each row, and the bar. The traffic of each of these
 * lines is not known, so they are all the same. */
static void network_draw(const struct drawing *d, const struct map_box *b)
{
	double bar = map_boxes_bar(b), last = b->y;

	for (uint32_t i = 0; i < b->ntiles;) {
		uint32_t end = i + b->columns < b->ntiles ? i + b->columns : b->ntiles;
		double y = b->tile[i].y + b->tile_h + GAP / 2 + LINE / 2, far = b->cluster % 2 ? 0 : 1e9;

		for (; i < end; i++) {
			const struct map_tile *t = &b->tile[i];
			double x = t->x + b->tile_w / 2;

			link_draw(d, &t->link, x, t->y + b->tile_h, x, y);
			far = b->cluster % 2 ? fmax(far, x) : fmin(far, x);
		}
		svg_line(d->f, far, y, bar, y, "#555555", 1.5, NULL);
		last = y;
	}
	svg_line(d->f, bar, b->y + HEAD, bar, fmax(last, b->y + b->h), "#333333", 5, NULL);
}

static void cluster_draw(const struct drawing *d, const struct map_box *b)
{
	char title[MAP_BOX_TITLE];

	svg_rectangle(d->f, b->x, b->y, b->w, b->h, "#f4f4f0", "#888888");
	svg_text(d->f, b->x + GAP, b->y + 13, 11, "start", map_boxes_title(&d->boxes, b, title));
	network_draw(d, b);
	tiles_draw(d, b);
}

/* --- ports: from the bar of each network to the zipper node, and the bytes on them at that end --- */

struct port {
	struct map_link link;
	double x, y, bar, at; /* at the zipper node, at the bar */
	bool right;
};

static void port_line(const struct drawing *d, const struct port *p)
{
	link_draw(d, &p->link, p->bar, p->at, p->x, p->y);
}

static void port_label(const struct drawing *d, const struct port *p)
{
	char text[32];

	bytes_write(text, sizeof(text), map_links_sum(&p->link));
	svg_label(d->f, p->x + (p->right ? 3 : -3), p->y + 3, MAP_BOX_LETTER, !p->right, text);
}

static void tile_ports(const struct drawing *d, const struct map_tile *t,
	void (*draw)(const struct drawing *, const struct port *))
{
	const struct map_box *z = &d->boxes.box[d->boxes.nboxes - 1];
	uint64_t bits = map_boxes_tile_ports(&d->boxes, z, t);
	unsigned side[2] = {0}, ports[2] = {0};

	for (uint32_t c = 0; c + 1 < d->boxes.nboxes; c++)
		ports[c % 2] += bits >> c & 1;
	for (uint32_t c = 0; c + 1 < d->boxes.nboxes; c++) {
		const struct map_box *b = &d->boxes.box[c];
		struct port p = {.right = c % 2, .bar = map_boxes_bar(b), .x = c % 2 ? t->x + z->tile_w : t->x};

		if (!(bits >> c & 1))
			continue;
		for (uint32_t i = t->first; i < t->first + t->n; i++)
			map_links_add(&p.link, &d->links.port[z->place[i]][c]);
		p.y = t->y + z->tile_h * (1 + side[c % 2]++) / (1 + ports[c % 2]);
		p.at = fmin(fmax(p.y, b->y + HEAD + 8), b->y + b->h - 4);
		draw(d, &p);
	}
}

static void ports_draw(const struct drawing *d, void (*draw)(const struct drawing *, const struct port *))
{
	const struct map_box *z = &d->boxes.box[d->boxes.nboxes - 1];

	for (uint32_t i = 0; i < z->ntiles; i++)
		tile_ports(d, &z->tile[i], draw);
}

/* --- all of it --- */

static void legend_draw(const struct drawing *d, const struct map_prediction *p)
{
	double x = GAP, y = d->boxes.height - 44;
	char text[160], bytes[32];

	for (int k = MAP_KINDS; k-- > MAP_NATIVE;) {
		svg_line(d->f, x, y, x + 24, y, map_draw_colours[k], 6, NULL);
		bytes_write(bytes, sizeof(bytes), p->kind[k].bytes);
		snprintf(text, sizeof(text), "%s: %s", map_kind_names[k], bytes);
		svg_text(d->f, x + 30, y + 4, 10, "start", text);
		x += 150;
	}
	bytes_write(bytes, sizeof(bytes), d->links.most.bytes[0]);
	snprintf(text, sizeof(text), "this wide: %s; widths go with the square root of bytes, both directions", bytes);
	svg_line(d->f, GAP, y + 26, GAP + 24, y + 26, "#555555", LINE, NULL);
	svg_text(d->f, GAP + 30, y + 30, 10, "start", text);
}

static void picture_draw(const struct drawing *d, const char *title)
{
	svg_begin(d->f, d->boxes.width, d->boxes.height);
	svg_rectangle(d->f, 0, 0, d->boxes.width, d->boxes.height, "#ffffff", "none");
	svg_text(d->f, GAP, 18, 13, "start", title);
	ports_draw(d, port_line);
	for (uint32_t i = 0; i + 1 < d->boxes.nboxes; i++)
		cluster_draw(d, &d->boxes.box[i]);
	tiles_draw(d, &d->boxes.box[d->boxes.nboxes - 1]);
	ports_draw(d, port_label);
	legend_draw(d, &d->boxes.m->made[d->boxes.which].prediction);
	svg_end(d->f);
}

int map_draw(const struct map_make *m, enum map_candidate which, const char *title, FILE *f, struct zerr *err)
{
	struct drawing *d = calloc(1, sizeof(*d));
	int rc = d ? map_links_make(&d->links, m, which) : -ENOMEM;

	if (!rc) {
		d->f = f;
		rc = map_boxes_make(&d->boxes, m, which, &d->links, title);
	}
	if (!rc)
		picture_draw(d, title);
	if (d) {
		map_boxes_free(&d->boxes);
		map_links_free(&d->links);
	}
	free(d);
	return rc ? zerr_set(err, rc, "not enough memory for the picture") : 0;
}
