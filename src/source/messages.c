/* SPDX-License-Identifier: MIT */
#include "source/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Makes room for one more of `size` bytes. */
static int grow(struct messages *m, size_t size)
{
	size_t used = m->n ? m->at[m->n] : 0;

	if (m->n + 1 >= m->room) {
		unsigned room = m->room ? 2 * m->room : 64;
		size_t *at = realloc(m->at, room * sizeof(*at));

		if (!at)
			return -ENOMEM;
		m->at = at;
		m->room = room;
	}
	if (used + size > m->data_room || !m->data) {
		size_t room = MAX(2 * m->data_room, used + size + 4096);
		unsigned char *data = realloc(m->data, room);

		if (!data)
			return -ENOMEM;
		m->data = data;
		m->data_room = room;
	}
	return 0;
}

int messages_add(struct messages *m, const void *data, size_t size, struct err *err)
{
	if (m->n == MESSAGES_MOST)
		return err_say(err, E2BIG, "more than %d datagrams; take a part of them", MESSAGES_MOST);
	if (grow(m, size))
		return err_sys(err, ENOMEM, "memory for %u datagrams", m->n + 1);
	if (!m->n)
		m->at[0] = 0;
	memcpy(m->data + m->at[m->n], data, size);
	m->shortest = (uint16_t)(m->n ? MIN(m->shortest, size) : size);
	m->longest = (uint16_t)MAX(m->longest, size);
	m->at[m->n + 1] = m->at[m->n] + size;
	m->n++;
	return 0;
}

double messages_mean(const struct messages *m)
{
	return m->n ? (double)m->at[m->n] / m->n : 0;
}

void messages_free(struct messages *m)
{
	free(m->at);
	free(m->data);
	free(m->due_ns);
	*m = (struct messages){ 0 };
}
