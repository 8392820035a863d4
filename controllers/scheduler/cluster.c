/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: nodes and the pods on them; see cluster.h. counts.c counts pods, domains.c groups
 * nodes.
 *
 * Pods may be on a node that does not exist (yet, or any more): its sched node then has no node
 * object, is not a candidate of any decision, and is freed with its last pod.
 *
 * A node that is not ready counts as tainted, as the node lifecycle controller will taint it a
 * moment later: no pod is sent to a lost node because the taint is late, and pods that tolerate the
 * taint are still scheduled there.
 */
#include "scheduler/cluster.h"

#include "kc/buf.h"
#include "scheduler/texts.h"

/* ---- sched nodes ---- */

kc__sched_node *kc__sched_cluster_node(const kc__sched_cluster *c, kc_str name)
{
    return kc_map_get(&c->hosts, name);
}

static size_t free_slot(kc__sched_cluster *c)
{
    if (c->free_slots.n)
        return kc_vec_pop(&c->free_slots);
    kc_vec_push(&c->slots, NULL);
    return c->slots.n - 1;
}

static kc__sched_node *sched_cluster_host_of(kc__sched_cluster *c, kc_str name)
{
    kc__sched_node *host = kc__sched_cluster_node(c, name);
    if (host)
        return host;
    host = kc_new(kc__sched_node);
    host->name = kc_str_dup(name);
    host->slot = free_slot(c);
    c->slots.items[host->slot] = host;
    kc_dlist_init(&host->pods);
    kc_map_put(&c->hosts, kc_cstr(host->name), host);
    return host;
}

static void forget_node(kc__sched_node *host)
{
    kc_vec_each (&host->taints, t)
        free(t->reason);
    kc_vec_clear(&host->taints);
    host->decoded = kc_cluster_node_free(host->decoded);
    host->node = kc_object_unref(host->node);
    kc__common_resources_done(&host->allocatable);
    host->allocatable = (kc__common_resources){0};
    host->allowed_pods = 0;
}

static void host_free(kc__sched_cluster *c, kc__sched_node *host)
{
    forget_node(host);
    kc_vec_done(&host->taints);
    kc__common_resources_done(&host->used);
    kc_vec_done(&host->ports);
    kc_vec_done(&host->nominated);
    free(host->summary);
    c->slots.items[host->slot] = NULL;
    kc_vec_push(&c->free_slots, host->slot);
    kc_map_remove(&c->hosts, kc_cstr(host->name));
    free(host->name);
    free(host);
}

static void free_if_unused(kc__sched_cluster *c, kc__sched_node *host)
{
    if (!host->node && !host->n_pods && !host->nominated.n)
        host_free(c, host);
}

/* ---- nodes ---- */

static void add_taint(kc__sched_node *host, const char *key, const char *value, const char *effect)
{
    kc_vec_push(&host->taints,
                (kc__sched_taint){
                    .key = key,
                    .value = value,
                    .effect = effect,
                    .reason = kc_asprintf("node(s) had untolerated taint {%s: %s}", key, value),
                    .refuses = strcmp(effect, "PreferNoSchedule") != 0});
}

static bool has_taint(const kc__sched_node *host, const char *key)
{
    kc_vec_each (&host->taints, t)
        if (!strcmp(t->key, key) && !strcmp(t->effect, "NoSchedule"))
            return true;
    return false;
}

/* "True", "False" or "Unknown"; "False" if the condition is missing. */
static const char *readiness(const kc_cluster_node *node)
{
    for (size_t i = 0; i < node->status.n_conditions; i++)
        if (kc__sched_text_is(node->status.conditions[i].type, "Ready"))
            return kc__sched_text(node->status.conditions[i].status);
    return "False";
}

static void add_taint_of_condition(kc__sched_node *host)
{
    const char *ready = readiness(host->decoded);
    if (!strcmp(ready, "True"))
        return;
    const char *key = strcmp(ready, "Unknown") == 0 ? "node.kubernetes.io/unreachable"
                                                    : "node.kubernetes.io/not-ready";
    if (!has_taint(host, key))
        add_taint(host, key, "", "NoSchedule");
}

static void read_node(kc__sched_node *host)
{
    const kc_cluster_node *node = host->decoded;
    host->unschedulable = node->spec.unschedulable;
    for (size_t i = 0; i < node->spec.n_taints; i++) {
        const kc_taint *t = &node->spec.taints[i];
        add_taint(host, kc__sched_text(t->key), kc__sched_text(t->value),
                  kc__sched_text(t->effect));
    }
    add_taint_of_condition(host);
    kc__common_resources_read(&node->status.allocatable, &host->allocatable);
    kc__common_resource_find(&node->status.allocatable, "pods", &host->allowed_pods);
}

/* A heartbeat does not count as a change. */
static void note_changes(kc__sched_node *host)
{
    kc_scoped(kc_buf) summary = {0};
    kc_buf_append(&summary, kc_object_labels_json(host->node));
    kc_buf_printf(&summary, "\n%d %lld %lld %lld %lld", host->unschedulable,
                  (long long)host->allowed_pods, (long long)host->allocatable.cpu,
                  (long long)host->allocatable.memory, (long long)host->allocatable.storage);
    kc_vec_each (&host->allocatable.scalars, s)
        kc_buf_printf(&summary, "\n%s=%lld", kc__common_extended_resource_name(s),
                      (long long)s->value);
    kc_vec_each (&host->taints, t)
        kc_buf_printf(&summary, "\n%s=%s:%s", t->key, t->value, t->effect);
    if (host->summary && kc_str_is(kc_buf_str(&summary), host->summary))
        return;
    free(host->summary);
    host->summary = kc_buf_take(&summary);
    host->version++;
}

kc__sched_node *kc__sched_cluster_set_node(kc__sched_cluster *c, const kc_object *node,
                                           kc_error *err)
{
    kc_cluster_node *decoded = kc_cluster_node_of(node, err);
    if (!decoded)
        return NULL;
    kc__sched_node *host = sched_cluster_host_of(c, kc_object_name(node));
    if (!host->node) {
        host->rank = c->ready.n;
        kc_vec_push(&c->ready, host);
    }
    forget_node(host);
    host->node = kc_object_ref(node);
    host->decoded = decoded;
    read_node(host);
    note_changes(host);
    kc__sched_domains_update(c, host);
    return host;
}

void kc__sched_cluster_remove_node(kc__sched_cluster *c, kc_str name)
{
    kc__sched_node *host = kc__sched_cluster_node(c, name);
    if (!host || !host->node)
        return;
    kc__sched_node *last = kc_vec_pop(&c->ready);
    if (last != host) {
        c->ready.items[host->rank] = last;
        last->rank = host->rank;
    }
    forget_node(host);
    free(kc_take(host->summary));
    kc__sched_domains_update(c, host);
    free_if_unused(c, host);
}

/* ---- pods ---- */

kc__sched_pod *kc__sched_cluster_pod(const kc__sched_cluster *c, kc_str key)
{
    return kc_map_get(&c->places, key);
}

static void add_amounts(kc__sched_node *host, const kc__sched_demand *d, int times)
{
    kc__common_resources_add(&host->used, &d->requests, times);
    host->assumed_cpu += times * d->assumed_cpu;
    host->assumed_memory += times * d->assumed_memory;
    host->n_pods += times;
}

static void add_ports(kc__sched_node *host, const kc__sched_demand *d)
{
    kc_vec_each (&d->ports, port)
        kc_vec_push(&host->ports, port);
}

static void remove_ports(kc__sched_node *host, const kc__sched_demand *d)
{
    size_t kept = 0;
    if (!d->ports.n)
        return;
    for (size_t i = 0; i < host->ports.n; i++) {
        const kc__sched_port *port = host->ports.items[i];
        if (port < d->ports.items || port >= d->ports.items + d->ports.n)
            host->ports.items[kept++] = port;
    }
    host->ports.n = kept;
}

static void count_rank(kc__sched_cluster *c, int32_t priority, int by)
{
    for (size_t i = 0; i < c->ranks.n; i++)
        if (c->ranks.items[i].priority == priority) {
            c->ranks.items[i].n += (size_t)by;
            if (!c->ranks.items[i].n)
                kc_vec_remove(&c->ranks, i);
            return;
        }
    kc_vec_push(&c->ranks, (kc__sched_rank){priority, 1});
}

bool kc__sched_cluster_has_lesser(const kc__sched_cluster *c, int32_t priority)
{
    kc_vec_each (&c->ranks, rank)
        if (rank->priority < priority)
            return true;
    return false;
}

void kc__sched_pod_assign(kc__sched_cluster *c, kc__sched_pod *place, kc_str name)
{
    kc__sched_node *host = sched_cluster_host_of(c, name);
    place->host = host;
    kc_dlist_push(&host->pods, &place->on_host);
    add_amounts(host, place->demand, 1);
    add_ports(host, place->demand);
    count_rank(c, place->demand->priority, 1);
    kc__sched_counts_enter(c, place);
}

void kc__sched_pod_unassign(kc__sched_cluster *c, kc__sched_pod *place)
{
    kc__sched_node *host = place->host;
    if (!host)
        return;
    kc__sched_counts_leave(c, place);
    remove_ports(host, place->demand);
    add_amounts(host, place->demand, -1);
    count_rank(c, place->demand->priority, -1);
    kc_dlist_remove(&place->on_host);
    place->host = NULL;
    free_if_unused(c, host);
}

void kc__sched_pod_nominate(kc__sched_cluster *c, kc__sched_pod *place, kc__sched_node *host)
{
    kc__sched_node *old = place->nominated;
    if (old == host)
        return;
    place->nominated = host;
    if (host)
        kc_vec_push(&host->nominated, place);
    if (!old)
        return;
    for (size_t i = 0; i < old->nominated.n; i++)
        if (old->nominated.items[i] == place) {
            kc_vec_remove(&old->nominated, i);
            break;
        }
    free_if_unused(c, old);
}

void kc__sched_node_reserve(kc__sched_node *host, const kc__sched_demand *demand, int times)
{
    add_amounts(host, demand, times);
    if (times > 0)
        add_ports(host, demand);
    else
        remove_ports(host, demand);
}

kc__sched_pod *kc__sched_cluster_set_pod(kc__sched_cluster *c, kc__sched_demand *demand)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, demand->key);
    kc__sched_pod *place = kc__sched_cluster_pod(c, kc_buf_str(&key));
    if (!place) {
        place = kc_new(kc__sched_pod);
        place->key = kc_buf_take(&key);
        kc_map_put(&c->places, kc_cstr(place->key), place);
        place->demand = demand;
        return place;
    }
    kc_autofree char *host = place->host ? kc_strdup(place->host->name) : NULL;
    kc__sched_pod_unassign(c, place);
    kc__sched_demand_free(place->demand);
    place->demand = demand;
    if (host)
        kc__sched_pod_assign(c, place, kc_cstr(host));
    return place;
}

static void place_free(kc__sched_pod *place)
{
    kc__sched_demand_free(place->demand);
    free(place->last_event);
    free(place->message);
    free(place->key);
    free(place);
}

void kc__sched_cluster_remove_pod(kc__sched_cluster *c, kc__sched_pod *place)
{
    kc__sched_pod_nominate(c, place, NULL);
    kc__sched_pod_unassign(c, place);
    kc_map_remove(&c->places, kc_cstr(place->key));
    place_free(place);
}

/* ---- other objects ---- */

kc__sched_labelled kc__sched_cluster_labelled(const kc__sched_cluster *c, const kc__sched_demand *d)
{
    return (kc__sched_labelled){.pod = d->object,
                                .ns = kc_map_get(&c->namespaces, d->key.ns),
                                .owner = d->owner,
                                .leaving = d->leaving};
}

/* Keys are the objects' own. */
static void set_object(kc_map *map, kc_str key, const kc_object *object, kc_str own_key)
{
    if (object)
        kc_object_unref(kc_map_put(map, own_key, kc_object_ref(object)));
    else
        kc_object_unref(kc_map_remove(map, key));
}

void kc__sched_cluster_set_namespace(kc__sched_cluster *c, kc_str name, const kc_object *ns)
{
    const kc_object *old = kc_map_get(&c->namespaces, name);
    const bool same = old && ns && kc_str_eq(kc_object_labels_json(old), kc_object_labels_json(ns));
    if (!same)
        kc__sched_counts_namespaces_change(c);
    set_object(&c->namespaces, name, ns, ns ? kc_object_name(ns) : name);
}

typedef struct claim_entry {
    char *key;
    kc_object *claim;
} claim_entry;

static void claim_free(claim_entry *entry)
{
    if (!entry)
        return;
    kc_object_unref(entry->claim);
    free(entry->key);
    free(entry);
}

void kc__sched_cluster_set_claim(kc__sched_cluster *c, kc_key key, const kc_object *claim)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    claim_free(kc_map_remove(&c->claims, kc_buf_str(&text)));
    if (!claim)
        return;
    claim_entry *entry = kc_new(claim_entry);
    entry->key = kc_buf_take(&text);
    entry->claim = kc_object_ref(claim);
    kc_map_put(&c->claims, kc_cstr(entry->key), entry);
}

const kc_object *kc__sched_cluster_claim(const kc__sched_cluster *c, kc_str ns, kc_str name)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, (kc_key){ns, name});
    const claim_entry *entry = kc_map_get(&c->claims, kc_buf_str(&text));
    return entry ? entry->claim : NULL;
}

void kc__sched_cluster_set_budget(kc__sched_cluster *c, kc_key key, const kc_object *budget)
{
    for (size_t i = 0; i < c->budgets.n; i++)
        if (kc_key_eq(kc_object_key(c->budgets.items[i]), key)) {
            kc_object_unref(c->budgets.items[i]);
            kc_vec_remove(&c->budgets, i);
            break;
        }
    if (budget)
        kc_vec_push(&c->budgets, kc_object_ref(budget));
}

/* ---- cluster ---- */

void kc__sched_cluster_init(kc__sched_cluster *c)
{
    *c = (kc__sched_cluster){0};
    kc__sched_counts_init(c);
}

static void objects_done(kc_map *map)
{
    kc_map_each (map, entry)
        kc_object_unref(entry->value);
    kc_map_done(map);
}

void kc__sched_cluster_done(kc__sched_cluster *c)
{
    kc_map_each (&c->places, entry)
        kc__sched_cluster_remove_pod(c, entry->value);
    kc_map_done(&c->places);
    while (c->ready.n)
        kc__sched_cluster_remove_node(c, kc_cstr((*kc_vec_last(&c->ready))->name));
    kc_vec_done(&c->ready);
    kc_vec_done(&c->slots);
    kc_vec_done(&c->free_slots);
    kc_vec_done(&c->ranks);
    kc_map_done(&c->hosts);
    kc__sched_counts_done(c);
    kc__sched_domains_done(c);
    kc__sched_terms_done(&c->terms);
    objects_done(&c->namespaces);
    kc_map_each (&c->claims, entry)
        claim_free(entry->value);
    kc_map_done(&c->claims);
    kc_vec_each (&c->budgets, budget)
        kc_object_unref(*budget);
    kc_vec_done(&c->budgets);
}
