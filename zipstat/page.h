/* SPDX-License-Identifier: BSD-3-Clause */
/* The live page of "zipstat serve", which make writes from page.html. */
#ifndef ZIPSTAT_PAGE_H
#define ZIPSTAT_PAGE_H

extern const char page_html[];

#endif
