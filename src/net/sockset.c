/* SPDX-License-Identifier: MIT */
/* sockset - see sockset.h. Who else is bound is looked up in sockset_others.c. */
#include "net/sockset.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "net/group.h"
#include "net/sockset_own.h"

/* packet.sock, the index that engines hand over with each datagram, has 16 bits. */
#define MOST_SOCKETS 65536

/* Sockets to come, beside the listener on its port, make a group as well. */
static bool is_implicit(const struct sockset_conf *conf)
{
	return conf->group || conf->reserve;
}

static int check(const struct sockset_conf *conf, struct err *err)
{
	unsigned per_address = conf->shared ? 1 : conf->slots;

	if (conf->nlisten < 1 || conf->slots < 1)
		return err_say(err, EINVAL, "no address to listen on, or no worker to listen");
	if (conf->reserve && (conf->join || conf->steer_cpu))
		return err_say(err, EINVAL, "sockets that join later need a group of their own, spread by flow");
	if ((conf->group && conf->join) || (per_address > 1 && !conf->group && !conf->join))
		return err_say(err, EINVAL,
			       "%u sockets on one address: a group of their own, or to join?",
			       per_address);
	if ((uint64_t)per_address * conf->nlisten + conf->reserve > MOST_SOCKETS)
		return err_say(err, EINVAL,
			       "%u sockets on each of %u addresses, %u connected: %u is the most",
			       per_address, conf->nlisten, conf->reserve, MOST_SOCKETS);
	if (conf->ngroups && per_address > 1)
		return err_say(err, EINVAL,
			       "--join %s with %u sockets on one address: each would get every "
			       "datagram; use --shared-socket or one thread",
			       conf->groups[0], per_address);
	return 0;
}

/* Options of a socket on address number a. */
static struct sock_conf sock_conf_of(const struct sockset_conf *conf, unsigned a)
{
	struct sock_conf one = conf->sock;

	if (conf->v6only)
		one.v6only = conf->v6only[a];
	one.reuse_port = conf->join || is_implicit(conf);
	return one;
}

/* listen: the addresses with their ports chosen. */
static struct group_key key_of(const struct sockset_conf *conf, const struct addr *listen, unsigned a)
{
	return (struct group_key){ .addr = &listen[a],
				   .lite = conf->sock.lite,
				   .device = conf->sock.device,
				   .dual = listen[a].sa.sa_family == AF_INET6 &&
					   sock_conf_of(conf, a).v6only == SOCK_V6ONLY_OFF };
}

static int check_groups(const struct sockset_conf *conf, const struct addr *listen, struct err *err)
{
	int rc = 0;

	for (unsigned a = 0; a < conf->nlisten && !rc && conf->join; a++) {
		struct group_key key = key_of(conf, listen, a);

		rc = group_check(&key, err);
	}
	return rc;
}

/* Binds each address once without SO_REUSEPORT, so that the kernel refuses what is in use by anybody, and chooses
 * ports where 0 was asked. (A port-0 bind with SO_REUSEPORT may be given the port of another group of this user.)
 * The mark is taken while the address is held. */
static int claim(struct sockset_own *own, const struct sockset_conf *conf, struct addr *listen,
		 struct sock *probe, struct err *err)
{
	for (unsigned a = 0; a < conf->nlisten; a++) {
		const struct sock_conf plain = { .v6only = sock_conf_of(conf, a).v6only,
						 .lite = conf->sock.lite,
						 .device = conf->sock.device,
						 .tos = -1,
						 .ttl = -1 };
		struct group_key key = key_of(conf, listen, a);
		int rc = 0;

		if (!is_implicit(conf) && addr_port(&listen[a]))
			continue;
		rc = sock_open(&probe[a], &listen[a], &plain, err);
		if (rc)
			return rc;
		listen[a] = probe[a].local;
		if (is_implicit(conf))
			rc = group_mark(&own->group, &key, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The claim is given up only after all of it was made: addresses that overlap among themselves are refused as well. */
static int claim_all(struct sockset_own *own, const struct sockset_conf *conf, struct addr *listen,
		     struct err *err)
{
	struct sock *probe = malloc(conf->nlisten * sizeof(*probe));
	int rc;

	if (!probe)
		return err_sys(err, ENOMEM, "list of sockets");
	for (unsigned a = 0; a < conf->nlisten; a++)
		probe[a] = (struct sock)SOCK_INIT;
	rc = claim(own, conf, listen, probe, err);
	for (unsigned a = 0; a < conf->nlisten; a++)
		sock_close(&probe[a]);
	free(probe);
	return rc;
}

static int open_all(struct sock_set *set, const struct sockset_conf *conf,
		    const struct addr *listen, struct err *err)
{
	unsigned n = conf->nlisten * (conf->shared ? 1 : conf->slots);

	for (unsigned i = 0; i < n; i++) {
		const struct sock_conf one = sock_conf_of(conf, i % conf->nlisten);
		int rc = sock_open(&set->sock[i], &listen[i % conf->nlisten], &one, err);

		if (rc)
			return rc;
		atomic_store_explicit(&set->n, i + 1, memory_order_release);
	}
	set->opened = n;
	return 0;
}

/* Both are for a port of our own. A steering program belongs to the whole group, and its results are indexes of all
 * members. */
static int check_alone(const struct sock_set *set, const struct sockset_conf *conf, struct err *err)
{
	char text[ADDR_TEXT];

	for (unsigned a = 0; a < conf->nlisten && (conf->steer_cpu || conf->ngroups); a++)
		if (sockset_others(set, &set->sock[a].local) > 0)
			return err_say(err, EBUSY, "%s: another program shares %s, and %s",
				       conf->steer_cpu ? "--use-bpf" : "--join",
				       addr_format(&set->sock[a].local, text, sizeof(text)),
				       conf->steer_cpu ? "would be steered too" :
							 "each would get every datagram");
	return 0;
}

static int steer(struct sock_set *set, const struct sockset_conf *conf, struct err *err)
{
	int rc = 0;

	for (unsigned a = 0; a < conf->nlisten && !rc; a++) {
		if (conf->steer_cpu)
			rc = sock_steer_by_cpu(&set->sock[a], conf->slots, err);
		else if (conf->reserve)
			rc = sock_steer_by_flow(&set->sock[a], conf->slots, err);
	}
	return rc;
}

/* Each group on the first socket that takes its family. */
static int join_groups(struct sock_set *set, const struct sockset_conf *conf, struct err *err)
{
	for (unsigned g = 0; g < conf->ngroups; g++) {
		struct err why = ERR_INIT;
		int rc = -EAFNOSUPPORT;

		for (unsigned a = 0; a < conf->nlisten && rc == -EAFNOSUPPORT; a++)
			rc = sock_join(&set->sock[a], conf->groups[g], &why);
		if (rc)
			return err_say(err, why.code, "%s", why.text);
	}
	return 0;
}

static int open_in_order(struct sock_set *set, const struct sockset_conf *conf, struct addr *listen,
			 struct err *err)
{
	int rc = check_groups(conf, listen, err);

	if (!rc && set->own->conf.reuse_port)
		rc = claim_all(set->own, conf, listen, err);
	if (!rc)
		rc = open_all(set, conf, listen, err);
	/* Again: a group that took its mark after the first look may have probed before our sockets were bound. */
	if (!rc)
		rc = check_groups(conf, listen, err);
	if (!rc)
		rc = check_alone(set, conf, err);
	if (!rc)
		rc = steer(set, conf, err);
	if (!rc)
		rc = join_groups(set, conf, err);
	return rc;
}

int sockset_open(struct sock_set *set, const struct sockset_conf *conf, struct err *err)
{
	struct addr *listen;
	int rc = check(conf, err);

	memset(set, 0, sizeof(*set));
	if (rc)
		return rc;
	set->capacity = conf->nlisten * (conf->shared ? 1 : conf->slots) + conf->reserve;
	set->sock = calloc(set->capacity, sizeof(*set->sock));
	set->own = calloc(1, sizeof(*set->own));
	listen = calloc(conf->nlisten, sizeof(*listen));
	if (!set->sock || !set->own || !listen) {
		rc = err_sys(err, ENOMEM, "%u sockets", set->capacity);
	} else {
		memcpy(listen, conf->listen, conf->nlisten * sizeof(*listen));
		pthread_mutex_init(&set->own->lock, NULL);
		set->own->conf = conf->sock;
		set->own->conf.reuse_port = conf->join || is_implicit(conf);
		rc = open_in_order(set, conf, listen, err);
	}
	free(listen);
	if (rc)
		sockset_close(set);
	return rc;
}

/* Can this peer be connected to at all? Found out on a socket that gets no datagrams. */
static int try_peer(const struct sockset_flow *flow, const struct sock_conf *conf, int family, struct err *err)
{
	const struct addr any = { .sa.sa_family = (sa_family_t)family };
	struct sock probe;
	int rc = sock_open(&probe, &any, conf, err);

	if (!rc)
		rc = sock_connect(&probe, flow->peer, err);
	sock_close(&probe);
	return rc;
}

/* Watched before it can get a datagram, so that none is lost when it cannot be watched. Once it is, it stays open until the run ends, whatever happens: the
 * engine knows its descriptor. */
static int add(struct sock_set *set, const struct sockset_flow *flow, const struct sock_conf *conf, struct err *err)
{
	unsigned n = atomic_load_explicit(&set->n, memory_order_relaxed);
	struct addr local = *flow->local, any = { .sa.sa_family = (sa_family_t)flow->listener->family };
	int rc;

	if (n == set->capacity)
		return err_say(err, ENOSPC, "no room for another connected socket (%u are open)", n);
	rc = sock_open(&set->sock[n], &any, conf, err);
	if (!rc && flow->watch)
		rc = flow->watch(flow->data, n);
	if (rc) {
		sock_close(&set->sock[n]);
		return rc;
	}
	addr_to_family(&local, flow->listener->family);
	rc = sock_bind(&set->sock[n], &local, err);
	if (!rc)
		rc = sock_connect(&set->sock[n], flow->peer, err);
	atomic_store_explicit(&set->n, n + 1, memory_order_release);
	return rc ? rc : (int)n;
}

int sockset_add_connected(struct sock_set *set, const struct sockset_flow *flow, struct err *err)
{
	struct sock_conf conf = set->own->conf;
	int rc;

	conf.v6only = flow->listener->dual ? SOCK_V6ONLY_OFF : SOCK_V6ONLY_ON;
	rc = try_peer(flow, &conf, flow->listener->family, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&set->own->lock);
	rc = add(set, flow, &conf, err);
	pthread_mutex_unlock(&set->own->lock);
	return rc;
}

static void close_from(struct sock_set *set, unsigned first)
{
	unsigned n = atomic_load_explicit(&set->n, memory_order_acquire);

	for (unsigned i = first; i < n; i++)
		sock_close(&set->sock[i]);
	atomic_store_explicit(&set->n, MIN(first, n), memory_order_release);
}

void sockset_forget(struct sock_set *set)
{
	close_from(set, set->opened);
}

void sockset_close(struct sock_set *set)
{
	close_from(set, 0);
	if (set->own) {
		group_close(&set->own->group);
		pthread_mutex_destroy(&set->own->lock);
	}
	free(set->own);
	free(set->sock);
	memset(set, 0, sizeof(*set));
}
