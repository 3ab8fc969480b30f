/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubly linked lists through a member of the elements. Adding and deleting take constant time. */
#ifndef ZIP_COMMON_BASE_LIST_H
#define ZIP_COMMON_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev; /* an empty list's head points to itself; an element that is in no list has NULL */
};

#define list_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))
/* Walks a list whose current element may be deleted on the way. */
#define list_for_each(node, after, head)                                                                               \
	for ((node) = (head)->next, (after) = (node)->next; (node) != (head); (node) = (after), (after) = (node)->next)

static inline void list_init(struct list *head)
{
	head->next = head->prev = head;
}
static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}
static inline bool list_linked(const struct list *node)
{
	return node->next != NULL;
}
static inline void list_add(struct list *head, struct list *node) /* at the end */
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}
static inline void list_del(struct list *node) /* no effect on an element that is in no list */
{
	if (!node->next)
		return;
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = node->prev = NULL;
}
/* Moves all elements of a list into an uninitialised head. The list is empty then. */
static inline void list_take(struct list *to, struct list *from)
{
	list_init(to);
	if (list_empty(from))
		return;
	*to = *from;
	to->next->prev = to->prev->next = to;
	list_init(from);
}
/* Moves all elements of `from` behind those of `to`. `from` is empty then. */
static inline void list_append(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#endif
