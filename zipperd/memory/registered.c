/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations with several devices, see registered.h. */
#include "zipperd/memory/registered.h"

#include <errno.h>

/* Undoes unused registrations with lost devices, which could not go or come back otherwise. */
static void drop_lost(struct registered *m)
{
	for (uint32_t i = m->ndomains; i-- > 0;) {
		struct registered_domain *d = &m->domain[i];
		if (!d->region || d->users > 0 || !d->is_lost(d->region))
			continue;
		d->unreg(d->region);
		*d = m->domain[--m->ndomains];
	}
}

static int add_domain(struct registered *m, uint32_t *at, struct zlink *z, enum zlink_half half, const void *domain,
	struct zerr *err)
{
	drop_lost(m);
	if (m->ndomains == REGISTERED_DOMAINS)
		return -EOPNOTSUPP;
	*at = m->ndomains++;
	struct registered_domain *d = &m->domain[*at];
	*d = (struct registered_domain){.domain = domain, .unreg = z->ops->rma->unreg, .is_lost = z->ops->rma->is_lost};
	d->error = z->ops->rma->reg(z, half, m->memory, m->bytes, &d->region, err);
	return d->error;
}

int registered_join(struct registered *m, struct zlink *z, enum zlink_half half, struct zregion **region,
	struct zerr *err)
{
	if (!z->ops->rma)
		return -EOPNOTSUPP;
	const void *domain = z->ops->rma->domain(z, half);
	uint32_t i = 0;
	while (i < m->ndomains && m->domain[i].domain != domain)
		i++;
	int rc = i < m->ndomains ? m->domain[i].error : add_domain(m, &i, z, half, domain, err);
	if (rc == 0) {
		m->domain[i].users++;
		*region = m->domain[i].region;
	}
	return rc;
}

void registered_leave(struct registered *m, const struct zregion *region)
{
	if (!region)
		return;
	for (uint32_t i = 0; i < m->ndomains; i++)
		if (m->domain[i].region == region)
			m->domain[i].users--;
	drop_lost(m);
}

/* Nothing tells when a domain without registrations goes, and another domain may have its address then. */
void registered_forget(struct registered *m, const struct zlink *z, enum zlink_half half)
{
	if (!z->ops->rma)
		return;
	const void *domain = z->ops->rma->domain(z, half);
	for (uint32_t i = m->ndomains; i-- > 0;)
		if (m->domain[i].error != 0 && m->domain[i].domain == domain)
			m->domain[i] = m->domain[--m->ndomains];
}

void registered_fini(struct registered *m)
{
	for (uint32_t i = 0; i < m->ndomains; i++)
		if (m->domain[i].region)
			m->domain[i].unreg(m->domain[i].region);
	m->ndomains = 0;
}
