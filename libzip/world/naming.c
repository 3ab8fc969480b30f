/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about published names, see naming.h. */
#include "libzip/world/naming.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/world/rails.h"
#include "libzip/world/world.h"

struct port {
	struct port *next;
	int vrank;
	char text[];
};

static struct {
	struct znaming_question *waiting;
	uint32_t number; /* of the last question */
	struct port *ports;
} self;

/* --- questions --- */

void znaming_ask(struct znaming_question *q, int rail)
{
	q->said.answer = ZCTL_NAMING_QUESTION;
	q->said.number = ++self.number;
	q->rail = rail;
	q->answered = false;
	q->next = self.waiting;
	self.waiting = q;
	zsession_naming(zrails.rail[rail].session, &q->said);
}

bool znaming_is_over(void *question)
{
	const struct znaming_question *q = question;

	return q->answered || !zrails_is_good(q->rail);
}

void znaming_forget(struct znaming_question *q)
{
	struct znaming_question **at = &self.waiting;

	while (*at && *at != q)
		at = &(*at)->next;
	if (*at)
		*at = q->next;
}

void znaming_take(int rail, const struct zctl_naming *answer)
{
	struct znaming_question *q = self.waiting;

	while (q && (q->rail != rail || q->said.number != answer->number || q->said.what != answer->what))
		q = q->next;
	if (!q || answer->answer == ZCTL_NAMING_QUESTION)
		return;
	q->said = *answer;
	q->answered = true;
}

/* --- ports --- */

static struct port **place_of(const char *port)
{
	struct port **at = &self.ports;

	while (*at && strcmp((*at)->text, port) != 0)
		at = &(*at)->next;
	return at;
}

void znaming_note_port(const char *port, int vrank)
{
	struct port **at = place_of(port), *p = *at;
	const size_t bytes = strlen(port) + 1;

	if (p && zworld_is_local(vrank)) {
		*at = p->next;
		free(p);
		return;
	}
	if (!p && !zworld_is_local(vrank) && (p = malloc(sizeof(*p) + bytes))) {
		memcpy(p->text, port, bytes);
		p->next = NULL;
		*at = p;
	}
	if (p)
		p->vrank = vrank;
}

int znaming_find_port(const char *port)
{
	const struct port *p = *place_of(port);

	return p ? p->vrank : -1;
}

void znaming_fini(void)
{
	while (self.ports) {
		struct port *p = self.ports;
		self.ports = p->next;
		free(p);
	}
}
