/* SPDX-License-Identifier: MIT */
#include "sink/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cpu.h"

/* Most packets that the next batch may bring; 0 = the count is reached. The first batch is a single packet: the window begins when it came, and
 * not when a batch was full. */
static unsigned limit_of(struct worker *w)
{
	const struct sink_conf *conf = w->shared->conf;
	uint64_t have = w->now.datagrams, batch = w->begin.mono_ns ? (unsigned)conf->batch : 1;

	if (!conf->count)
		return (unsigned)batch;
	if (conf->threads > 1)
		have = atomic_load_explicit(&w->shared->received, memory_order_relaxed);
	return have >= conf->count ? 0 : (unsigned)MIN(batch, conf->count - have);
}

/* --place same-cpu|other-cpu: the kernel tells on which CPU it processed the socket's last packet. */
static void place(struct worker *w)
{
	const char *where = w->shared->conf->place;
	struct cpu_list allowed;
	int cpu = -1;
	socklen_t len = sizeof(cpu);

	if (!where || !w->slot.nsocks || cpu_allowed(&allowed, NULL))
		return;
	getsockopt(w->shared->run.set->sock[w->slot.socks[0]].fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len);
	if (cpu >= 0 && strcmp(where, "same-cpu") == 0) {
		cpu_pin_self(cpu, NULL);
	} else if (cpu >= 0 && strcmp(where, "other-cpu") == 0) {
		for (unsigned i = 0; i < allowed.n; i++)
			if (allowed.cpu[(w->slot.index + i) % allowed.n] != cpu) {
				cpu_pin_self(allowed.cpu[(w->slot.index + i) % allowed.n], NULL);
				break;
			}
	}
	cpu_list_free(&allowed);
}

static void first_batch(struct worker *w)
{
	place(w);
	clock_usage_self(&w->begin);
	atomic_store_explicit(&w->block->begin_ns, w->begin.mono_ns, memory_order_relaxed);
}

/* The last datagram came `waited_ns` ago. The kernel's time-outs are exact to a tick of its timer, so the figure may lie before the begin. */
static void last_came(struct worker *w, uint64_t now_ns, uint64_t waited_ns)
{
	w->last_ns = MAX(now_ns - waited_ns, w->begin.mono_ns);
	w->dirty = false;
}

/* A batch of foreign datagrams and trailers only: it neither begins the window nor makes it longer. */
static void nothing_of_ours(struct worker *w)
{
	if (w->now.datagrams)
		return;
	w->begin = (struct clock_usage){ 0 };
	atomic_store_explicit(&w->block->begin_ns, 0, memory_order_relaxed);
}

static ALWAYS_INLINE void count_packets(struct stats *s, const struct batch *b)
{
	uint64_t datagrams = 0, bytes = 0, wire = 0, empty = 0;

	for (unsigned i = 0; i < b->n; i++) {
		const struct packet *p = &b->packets[i];

		if (UNLIKELY(p->flags)) {
			if (p->flags & PACKET_BAD)
				continue;
			s->truncated += p->flags & PACKET_TRUNC ? 1 : 0;
			s->ctrunc += p->flags & PACKET_CTRUNC ? 1 : 0;
		}
		datagrams += p->segment ? packet_datagrams(p) : 1;
		bytes += p->len;
		wire += p->wire_len;
		empty += p->wire_len == 0;
	}
	s->datagrams += datagrams;
	s->buffers += b->n;
	s->bytes += bytes;
	s->wire_bytes += wire;
	s->empty += empty;
}

/* Was recvmmsg interrupted while it had waited for the rest of this batch, for longer than what is told exactly? */
static bool was_filling(const struct worker *w, const struct batch *b)
{
	const struct engine_conf *conf = w->shared->run.conf;

	return atomic_load_explicit(&w->shared->stop, memory_order_relaxed) && b->n < b->limit && !b->waited_ns &&
	       clock_elapsed(w->seen_ns, w->last_ns) > 2 * CLOCK_COARSE_STEP_MAX &&
	       conf->wait == ENGINE_WAIT_BLOCK && !conf->waitforone && w->shared->ops->caps & ENGINE_BATCH;
}

static void take_batch(struct worker *w, struct batch *b)
{
	struct worker_shared *sh = w->shared;
	unsigned bucket = stats_fill_bucket(b->n);
	uint64_t before = w->now.datagrams, trailers = w->now.trailers;

	if (UNLIKELY(!w->begin.mono_ns))
		first_batch(w);
	count_packets(&w->now, b);
	if (w->handler.bits)
		handler_batch(&w->handler, w->engine, b, &w->now);
	w->now.fill[bucket]++;
	if (sh->ops->release)
		sh->ops->release(w->engine, b);
	stats_publish(w->block, &w->now, bucket, w->handler.bits & ~(unsigned)HANDLER_TRAILERS || w->now.trailers != trailers || b->event);
	if (sh->conf->count && sh->conf->threads > 1)
		atomic_fetch_add_explicit(&sh->received, w->now.datagrams - before, memory_order_relaxed);
	if (UNLIKELY(w->now.datagrams == before)) {
		nothing_of_ours(w);
		return;
	}
	w->dirty = w->active = true;
	if (b->drained) {
		last_came(w, clock_mono(), b->waited_ns);
		w->end_unknown = was_filling(w, b);
	} else {
		w->seen_ns = clock_coarse();
	}
}

/* The window ends here, for now: what was used so far, and when the last datagram came. */
static void mark_end(struct worker *w, uint64_t waited_ns)
{
	if (!w->active)
		return;
	clock_usage_self(&w->end);
	if (w->dirty)
		last_came(w, w->end.mono_ns, waited_ns);
	w->active = false;
}

/* Nothing came: time-out, woken, or an event. */
static void take_nothing(struct worker *w, const struct batch *b)
{
	if (b->waited_ns || b->empty_polls)
		mark_end(w, b->waited_ns);
	stats_publish(w->block, &w->now, 0, b->event);
}

static void receive(struct worker *w)
{
	struct worker_shared *sh = w->shared;
	struct batch b = { 0 };

	while (!atomic_load_explicit(&sh->stop, memory_order_relaxed)) {
		int n;

		b.limit = limit_of(w);
		if (!b.limit)
			break;
		n = sh->ops->recv(w->engine, &b);
		if (UNLIKELY(n < 0)) {
			w->result = err_sys(&w->err, n, "worker %u: receive with %s", w->slot.index, sh->ops->name);
			break;
		}
		w->now.calls += b.calls;
		w->now.empty_polls += b.empty_polls;
		if (UNLIKELY(b.event)) {
			w->now.errors++;
			w->now.error[stats_errno_index(b.event)]++;
		}
		if (LIKELY(n > 0))
			take_batch(w, &b);
		else
			take_nothing(w, &b);
	}
}

/* How long ago the last batch came, when that is longer than a tick. */
static uint64_t silence(const struct worker *w)
{
	return w->dirty ? clock_elapsed(w->seen_ns + CLOCK_COARSE_STEP_MAX, clock_mono()) : 0;
}

static void finish(struct worker *w)
{
	mark_end(w, silence(w));
	stats_publish(w->block, &w->now, 0, true);
	w->cpu_obtained = cpu_current();
}

static int open_slot(struct worker *w)
{
	struct worker_shared *sh = w->shared;
	int rc = cpu_pin_self(w->slot.cpu, &w->err);

	if (rc)
		return rc;
	rc = handler_open(&w->handler, sh->handler_bits, sh->conf, &sh->sender, sh->ops, sh->run.set, &w->slot, &sh->run_id);
	if (rc)
		return err_sys(&w->err, rc, "worker %u: memory for checks", w->slot.index);
	return sh->ops->open(&sh->run, &w->slot, &w->engine, &w->err);
}

static void arrive(struct worker_shared *sh)
{
	pthread_mutex_lock(&sh->gate);
	sh->arrived++;
	pthread_cond_broadcast(&sh->gate_moved);
	while (!sh->open)
		pthread_cond_wait(&sh->gate_moved, &sh->gate);
	pthread_mutex_unlock(&sh->gate);
}

void worker_gather(struct worker_shared *sh, unsigned n)
{
	pthread_mutex_lock(&sh->gate);
	while (sh->arrived < n)
		pthread_cond_wait(&sh->gate_moved, &sh->gate);
	pthread_mutex_unlock(&sh->gate);
}

void worker_release(struct worker_shared *sh)
{
	pthread_mutex_lock(&sh->gate);
	sh->open = true;
	pthread_cond_broadcast(&sh->gate_moved);
	pthread_mutex_unlock(&sh->gate);
}

void *worker_main(void *argument)
{
	struct worker *w = argument;
	char name[16];

	snprintf(name, sizeof(name), "sink-%u", w->slot.index);
	pthread_setname_np(pthread_self(), name);
	w->tid = (int)syscall(SYS_gettid);
	w->result = open_slot(w);
	w->cpu_obtained = cpu_current();
	arrive(w->shared);
	receive(w);
	finish(w);
	atomic_store(&w->done, true);
	w->shared->notify(w->shared->notify_data);
	return NULL;
}
