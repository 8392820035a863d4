/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_change.c: applies changes of objects to the graph and emits the nodes they affect:
 *
 *     a reference to an unseen node ──▶ that node (does it exist?)
 *     an informer reports the deletion of an owner ──▶ the owner (is it gone?)
 *     an owner is gone, or waits for its dependents ──▶ its dependents
 *     a dependent joins such an owner, or refers to its owner by another name ──▶ the dependent
 *     the last dependent that blocked an owner leaves ──▶ the owner
 *
 * The consequences depend only on the states of the two nodes of an edge, never on the type of an
 * event: a missed event that shows up in a later list has the same effect.
 */
#include "gc/graph_internal.h"

#include <assert.h>

static void gc_graph_change_report_error(const kc__gc_graph *graph, const kc__gc_edge *edge)
{
    const kc__gc_identity dependent = kc__gc_identity_of(edge->dependent);
    /* The identity in the reference: in the dependent's namespace. */
    const kc__gc_identity owner = {kc__gc_text(edge->type), dependent.ns, kc__gc_text(edge->name),
                                   kc__gc_uid(edge->owner)};
    graph->sink.report_invalid_namespace(&dependent, &owner, graph->sink.user);
}

/* What an edge causes by itself. */
static void consider(const kc__gc_graph *graph, const kc__gc_edge *edge)
{
    const kc__gc_node *owner = edge->owner, *dependent = edge->dependent;
    const bool here = kc__gc_edge_scope_is_valid(edge), named = kc__gc_edge_name_matches(edge);
    switch ((kc__gc_state)owner->state) {
    case KC__GC_VIRTUAL:
        if (!named || owner->ns != dependent->ns)
            kc__gc_node_enqueue(graph, dependent);
        break;
    case KC__GC_UNCONFIRMED:
        if (here && !named)
            kc__gc_node_enqueue(graph, dependent);
        break;
    case KC__GC_LOST:
    case KC__GC_MISSING: kc__gc_node_enqueue(graph, dependent); break;
    case KC__GC_SEEN:
        if (!here)
            gc_graph_change_report_error(graph, edge);
        else if (!named || owner->waits)
            kc__gc_node_enqueue(graph, dependent);
        if (owner->releases)
            graph->sink.release(kc__gc_uid(owner), kc__gc_uid(dependent), graph->sink.user);
        break;
    }
}

static void consider_dependents(const kc__gc_graph *graph, const kc__gc_node *node)
{
    kc__gc_dependents_each(node, edge) consider(graph, edge);
}

/* ---- the owners of an object ---- */

static bool type_is(const kc__gc_interned *type, const kc_owner *owner)
{
    const kc_str text = kc__gc_text(type), version = owner->api_version, kind = owner->kind;
    return text.n == version.n + 1 + kind.n && kc_str_eq(kc_str_sub(text, 0, version.n), version) &&
           kc_str_eq(kc_str_sub(text, version.n + 1, text.n), kind);
}

static bool gc_graph_change_is_same(const kc__gc_edge *edge, const kc_owner *owner)
{
    return kc_str_eq(kc__gc_uid(edge->owner), owner->uid) &&
           edge->blocks == owner->block_owner_deletion && type_is(edge->type, owner) &&
           kc_str_eq(kc__gc_text(edge->name), owner->name);
}

/* Number of owners; `ret_same`: the node has the same ones already. */
static size_t count_owners(const kc__gc_node *node, const kc_object *object, bool *ret_same)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(object, &arena);
    kc_owner owner;
    size_t n = 0;
    bool same = true;
    while (kc_meta_next_owner(&at, &owner)) {
        if (!owner.uid.n)
            continue;
        same = same && n < node->n_edges && gc_graph_change_is_same(&node->edges[n], &owner);
        n++;
    }
    *ret_same = same && n == node->n_edges;
    return n;
}

static void gc_graph_change_join(kc__gc_graph *graph, kc__gc_edge *edge, const kc_owner *owner)
{
    kc_scoped(kc_buf) type = {0};
    kc_buf_append(&type, owner->api_version);
    kc_buf_putc(&type, ' ');
    kc_buf_append(&type, owner->kind);
    edge->type = kc__gc_interned_of(&graph->words, kc_buf_str(&type));
    edge->name = kc__gc_interned_of(&graph->words, owner->name);
    edge->blocks = owner->block_owner_deletion;
    edge->owner = kc__gc_find(graph, owner->uid);
    const bool known = edge->owner;
    if (!known)
        edge->owner = kc__gc_node_new(graph, &(kc__gc_identity){kc_buf_str(&type),
                                                                kc__gc_text(edge->dependent->ns),
                                                                owner->name, owner->uid});
    kc__gc_join(graph, edge);
    if (known)
        consider(graph, edge);
    else
        kc__gc_node_enqueue(graph, edge->owner);
}

/* New edges are joined before the old ones are removed, so that an unchanged owner is not
 * affected. */
static void set_owners(kc__gc_graph *graph, kc__gc_node *node, const kc_object *object)
{
    bool same;
    const size_t n = count_owners(node, object, &same), n_old = node->n_edges;
    if (same)
        return;
    kc__gc_edge *old = node->edges;
    node->edges = n ? kc_calloc(n, sizeof(*node->edges)) : NULL;
    node->n_edges = 0;
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(object, &arena);
    kc_owner owner;
    while (kc_meta_next_owner(&at, &owner)) {
        if (!owner.uid.n)
            continue;
        kc__gc_edge *edge = &node->edges[node->n_edges++];
        edge->dependent = node;
        gc_graph_change_join(graph, edge, &owner);
    }
    kc__gc_part(graph, old, n_old);
}

static void forget_owners(kc__gc_graph *graph, kc__gc_node *node)
{
    kc__gc_edge *edges = kc_take(node->edges);
    const size_t n = node->n_edges;
    node->n_edges = 0;
    kc__gc_part(graph, edges, n);
}

/* ---- deletion of the object ---- */

/* If both finalizers are set, dependents are orphaned. */
static void set_deletion(kc__gc_graph *graph, kc__gc_node *node, const kc_object *object)
{
    const bool waited = node->waits, released = node->releases;
    node->deleted = kc_object_being_deleted(object);
    node->orphan_finalizer = kc_object_has_finalizer(object, KC_STR("orphan"));
    node->foreground_finalizer = kc_object_has_finalizer(object, KC_STR("foregroundDeletion"));
    node->releases = node->deleted && node->orphan_finalizer;
    node->waits = node->deleted && node->foreground_finalizer && !node->releases;
    if ((node->waits && !waited) || (node->releases && !released))
        consider_dependents(graph, node);
    if (node->waits && !waited && !node->n_blocking)
        kc__gc_node_enqueue(graph, node);
    if (node->releases && !released && !node->n_dependents)
        graph->sink.release(kc__gc_uid(node), (kc_str){0}, graph->sink.user);
}

/* ---- events ---- */

void kc__gc_observe(kc__gc_graph *graph, kc_str type, const kc_object *object)
{
    const kc__gc_identity id = {type, kc_object_namespace(object), kc_object_name(object),
                                kc_object_uid(object)};
    if (!id.uid.n)
        return;
    kc__gc_node *node = kc__gc_find(graph, id.uid);
    const bool renamed = node && !kc__gc_node_has_identity(node, &id);
    const bool first = node && node->state != KC__GC_SEEN;
    if (!node)
        node = kc__gc_node_new(graph, &id);
    if (renamed) {
        forget_owners(graph, node); /* Its namespace decides which owners it blocks. */
        kc__gc_rename(graph, node, &id);
    }
    node->state = KC__GC_SEEN;
    node->tries = 0;
    node->revision = kc_object_revision(object);
    if (renamed || first)
        consider_dependents(graph, node);
    set_owners(graph, node, object);
    set_deletion(graph, node, object);
}

/* The node becomes unseen. Its dependents keep it; without dependents it is freed. */
static void node_unobserved(kc__gc_graph *graph, kc__gc_node *node, kc__gc_state state)
{
    node->state = state;
    node->deleted = node->waits = node->releases = false;
    if (node->n_dependents)
        kc__gc_node_enqueue(graph, node);
    else
        kc__gc_node_drop(graph, node);
}

void kc__gc_observe_delete(kc__gc_graph *graph, kc_str uid)
{
    kc__gc_node *node = kc__gc_find(graph, uid);
    if (!node || node->state != KC__GC_SEEN)
        return;
    forget_owners(graph, node);
    node_unobserved(graph, node, KC__GC_UNCONFIRMED);
}

void kc__gc_absent(kc__gc_graph *graph, const kc__gc_identity *what)
{
    kc__gc_node *node = kc__gc_find(graph, what->uid);
    if (!node || (node->state != KC__GC_VIRTUAL && node->state != KC__GC_UNCONFIRMED))
        return;
    kc__gc_identity requested = *what;
    if (!requested.ns.n) /* The kind is cluster-scoped, whatever the dependent's namespace is. */
        requested.ns = kc__gc_text(node->ns);
    if (!kc__gc_node_has_identity(node, &requested))
        return; /* The object has another name by now. */
    kc__gc_rename(graph, node, what);
    node->state = node->state == KC__GC_UNCONFIRMED ? KC__GC_LOST : KC__GC_MISSING;
    consider_dependents(graph, node);
}

void kc__gc_exists(kc__gc_graph *graph, const kc__gc_identity *what)
{
    kc__gc_node *node = kc__gc_find(graph, what->uid);
    if (!node || node->state == KC__GC_SEEN ||
        (kc__gc_node_has_identity(node, what) &&
         (node->state == KC__GC_VIRTUAL || node->state == KC__GC_UNCONFIRMED)))
        return;
    kc__gc_rename(graph, node, what);
    node->state = KC__GC_VIRTUAL;
    kc__gc_node_enqueue(graph, node);
}

void kc__gc_unwatched(kc__gc_graph *graph, kc_str type)
{
    KC_VEC(kc__gc_node *) nodes = {0};
    kc_map_each (&graph->nodes, entry) {
        kc__gc_node *node = entry->value;
        if (node->state == KC__GC_SEEN && kc_str_eq(kc__gc_text(node->type), type))
            kc_vec_push(&nodes, node);
    }
    kc_vec_each (&nodes, node) /* Drops no node: all of them are seen. */
        forget_owners(graph, *node);
    kc_vec_each (&nodes, node)
        node_unobserved(graph, *node, KC__GC_VIRTUAL);
    kc_vec_done(&nodes);
}

/* ---- emitting again ---- */

static void write_node(const kc__gc_graph *graph, const kc__gc_node *node)
{
    if (node->state == KC__GC_VIRTUAL || node->state == KC__GC_UNCONFIRMED ||
        (node->waits && !node->n_blocking))
        kc__gc_node_enqueue(graph, node);
    if (node->releases && !node->n_dependents)
        graph->sink.release(kc__gc_uid(node), (kc_str){0}, graph->sink.user);
    for (size_t i = 0; i < node->n_edges; i++)
        consider(graph, &node->edges[i]);
}

void kc__gc_resend(kc__gc_graph *graph)
{
    kc_map_each (&graph->nodes, entry)
        write_node(graph, entry->value);
}

void kc__gc_reconsider(kc__gc_graph *graph)
{
    kc_map_each (&graph->nodes, entry) {
        const kc__gc_node *node = entry->value;
        if (node->state == KC__GC_VIRTUAL || node->tries)
            kc__gc_node_enqueue(graph, node);
    }
}
