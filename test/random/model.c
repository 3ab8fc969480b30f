/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of a random program. See model.h. */
#include "model.h"

#include <stdio.h>
#include <string.h>

#include "trace.h"

struct model model;

void model_reset(uint64_t seed)
{
	memset(model.comm, 0, sizeof model.comm);
	model.ncomms = 0;
	model.seed = seed;
	model_add(-1);
	model.comm[0].handle = MPI_COMM_WORLD;
	model.comm[0].side[0].n = model.ranks;
	for (int i = 0; i < model.ranks; i++)
		model.comm[0].side[0].at[i] = i;
}

int model_add(int maker)
{
	struct model_comm *c = &model.comm[model.ncomms];
	memset(c, 0, sizeof *c);
	c->maker = maker;
	c->handle = MPI_COMM_NULL;
	return model.ncomms++;
}

int model_room(void)
{
	return MOST_COMMS - model.ncomms;
}

int model_pick(struct draw *d, bool (*wanted)(const struct model_comm *))
{
	int list[MOST_COMMS], n = 0;
	for (int i = 0; i < model.ncomms; i++)
		if (!model.comm[i].gone && (!wanted || wanted(&model.comm[i])))
			list[n++] = i;
	if (n == 0)
		return -1;
	/* young communicators are more interesting than old ones */
	return list[draw_chance(d, 40) ? n - 1 - draw_below(d, n < 3 ? n : 3) : draw_below(d, n)];
}

int group_find(const struct group *g, int world_rank)
{
	for (int i = 0; i < g->n; i++)
		if (g->at[i] == world_rank)
			return i;
	return -1;
}

int model_side(const struct model_comm *c)
{
	return group_find(&c->side[0], model.me) >= 0 ? 0 : group_find(&c->side[1], model.me) >= 0 ? 1 : -1;
}

bool model_is_member(const struct model_comm *c)
{
	return model_side(c) >= 0;
}

int model_rank(const struct model_comm *c)
{
	return group_find(&c->side[model_side(c)], model.me);
}

const struct group *model_peers(const struct model_comm *c)
{
	return &c->side[c->inter ? !model_side(c) : 0];
}

const char *model_name(int comm, char text[80])
{
	const struct model_comm *c = &model.comm[comm];
	int at = snprintf(text, 80, "c%d[", comm);
	for (int s = 0; s <= c->inter; s++)
		for (int i = 0; i < c->side[s].n && at < 70; i++)
			at += snprintf(text + at, 80 - at, "%s%d", i ? "," : s ? "|" : "", c->side[s].at[i]);
	snprintf(text + at, 80 - at, "]");
	return text;
}

bool model_is_intra(const struct model_comm *c)
{
	return !c->inter;
}

bool model_is_inter(const struct model_comm *c)
{
	return c->inter;
}

bool model_library_is(const char *version)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], *at;
	int len;
	TRY(MPI_Get_library_version(text, &len));
	at = strstr(text, "MPICH Version:");
	if (at)
		at += strlen("MPICH Version:");
	return at && strncmp(at + strspn(at, " \t"), version, strlen(version)) == 0;
}

bool model_all_native(void)
{
	for (int i = 1; i < model.ranks; i++)
		if (model.part[i] != model.part[0])
			return false;
	return true;
}

bool model_is_native(const struct model_comm *c)
{
	int part = model.part[c->side[0].at[0]];
	for (int s = 0; s <= c->inter; s++)
		for (int i = 0; i < c->side[s].n; i++)
			if (model.part[c->side[s].at[i]] != part)
				return false;
	return true;
}

MPI_Group model_group(const struct group *g)
{
	MPI_Group world, made;
	TRY(MPI_Comm_group(MPI_COMM_WORLD, &world));
	TRY(MPI_Group_incl(world, g->n, g->at, &made));
	TRY(MPI_Group_free(&world));
	return made;
}
