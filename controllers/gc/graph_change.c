/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_change.c: what happens to objects, and what that calls for.
 *
 * When somebody has to be looked at:
 *
 *     a node nobody has seen is referred to ──▶ that node (does it exist?)
 *     its informer says that an owner is gone ──▶ the owner (is it?)
 *     it is, or it waits for its dependents ──▶ its dependents
 *     a dependent joins such an owner, or calls its owner by another name ──▶ the dependent
 *     the last dependent that held up an owner parts from it ──▶ the owner
 *
 * All of it comes from the state of the two nodes of an edge, never from the kind of an event: an
 * event that was missed and shows later in a list has the same effect.
 */
#include "gc/graph_internal.h"

#include <assert.h>

static void complain(const kc__gc_graph *graph, const kc__gc_edge *edge)
{
    const kc__gc_identity dependent = kc__gc_identity_of(edge->dependent);
    /* As the dependent calls it: in its own namespace. */
    const kc__gc_identity owner = {kc__gc_text(edge->type), dependent.ns, kc__gc_text(edge->name),
                                   kc__gc_uid(edge->owner)};
    graph->sink.complain(&dependent, &owner, graph->sink.user);
}

/* What an edge calls for, of itself. */
static void consider(const kc__gc_graph *graph, const kc__gc_edge *edge)
{
    const kc__gc_node *owner = edge->owner, *dependent = edge->dependent;
    const bool here = kc__gc_in_reach(edge), named = kc__gc_names_it(edge);
    switch ((kc__gc_state)owner->state) {
    case KC__GC_VIRTUAL:
        if (!named || owner->ns != dependent->ns)
            kc__gc_look(graph, dependent);
        break;
    case KC__GC_DOUBTED:
        if (here && !named)
            kc__gc_look(graph, dependent);
        break;
    case KC__GC_LOST:
    case KC__GC_MISSING: kc__gc_look(graph, dependent); break;
    case KC__GC_SEEN:
        if (!here)
            complain(graph, edge);
        else if (!named || owner->waits)
            kc__gc_look(graph, dependent);
        if (owner->releases)
            graph->sink.release(kc__gc_uid(owner), kc__gc_uid(dependent), graph->sink.user);
        break;
    }
}

static void consider_dependents(const kc__gc_graph *graph, const kc__gc_node *node)
{
    kc__gc_dependents_each(node, edge) consider(graph, edge);
}

/* ---- the owners an object names ---- */

static bool type_is(const kc__gc_word *type, const kc_owner *owner)
{
    const kc_str text = kc__gc_text(type), version = owner->api_version, kind = owner->kind;
    return text.n == version.n + 1 + kind.n && kc_str_eq(kc_str_sub(text, 0, version.n), version) &&
           kc_str_eq(kc_str_sub(text, version.n + 1, text.n), kind);
}

static bool is_same(const kc__gc_edge *edge, const kc_owner *owner)
{
    return kc_str_eq(kc__gc_uid(edge->owner), owner->uid) &&
           edge->blocks == owner->block_owner_deletion && type_is(edge->type, owner) &&
           kc_str_eq(kc__gc_text(edge->name), owner->name);
}

/* How many there are; `ret_same`: they are those the node has. */
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
        same = same && n < node->n_edges && is_same(&node->edges[n], &owner);
        n++;
    }
    *ret_same = same && n == node->n_edges;
    return n;
}

static void join(kc__gc_graph *graph, kc__gc_edge *edge, const kc_owner *owner)
{
    kc_scoped(kc_buf) type = {0};
    kc_buf_append(&type, owner->api_version);
    kc_buf_putc(&type, ' ');
    kc_buf_append(&type, owner->kind);
    edge->type = kc__gc_word_of(&graph->words, kc_buf_str(&type));
    edge->name = kc__gc_word_of(&graph->words, owner->name);
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
        kc__gc_look(graph, edge->owner);
}

/* The new ones are joined before the old ones part: who stays an owner does not notice. */
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
        join(graph, edge, &owner);
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

/* ---- its own deletion ---- */

/* Where both are asked for, dependents are released. */
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
        kc__gc_look(graph, node);
    if (node->releases && !released && !node->n_dependents)
        graph->sink.release(kc__gc_uid(node), (kc_str){0}, graph->sink.user);
}

/* ---- events ---- */

void kc__gc_saw(kc__gc_graph *graph, kc_str type, const kc_object *object)
{
    const kc__gc_identity id = {type, kc_object_namespace(object), kc_object_name(object),
                                kc_object_uid(object)};
    if (!id.uid.n)
        return;
    kc__gc_node *node = kc__gc_find(graph, id.uid);
    const bool renamed = node && !kc__gc_is_called(node, &id);
    const bool first = node && node->state != KC__GC_SEEN;
    if (!node)
        node = kc__gc_node_new(graph, &id);
    if (renamed) {
        forget_owners(graph, node); /* Where it is decides whom it holds up. */
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

/* It is not seen any more. Its dependents keep the node; without any it is not needed. */
static void lose_sight(kc__gc_graph *graph, kc__gc_node *node, kc__gc_state state)
{
    node->state = state;
    node->deleted = node->waits = node->releases = false;
    if (node->n_dependents)
        kc__gc_look(graph, node);
    else
        kc__gc_node_drop(graph, node);
}

void kc__gc_lost(kc__gc_graph *graph, kc_str uid)
{
    kc__gc_node *node = kc__gc_find(graph, uid);
    if (!node || node->state != KC__GC_SEEN)
        return;
    forget_owners(graph, node);
    lose_sight(graph, node, KC__GC_DOUBTED);
}

void kc__gc_absent(kc__gc_graph *graph, const kc__gc_identity *what)
{
    kc__gc_node *node = kc__gc_find(graph, what->uid);
    if (!node || (node->state != KC__GC_VIRTUAL && node->state != KC__GC_DOUBTED))
        return;
    kc__gc_identity asked = *what;
    if (!asked.ns.n) /* A kind that has no namespaces, whatever that of its dependent. */
        asked.ns = kc__gc_text(node->ns);
    if (!kc__gc_is_called(node, &asked))
        return; /* It goes by another name meanwhile. */
    kc__gc_rename(graph, node, what);
    node->state = node->state == KC__GC_DOUBTED ? KC__GC_LOST : KC__GC_MISSING;
    consider_dependents(graph, node);
}

void kc__gc_exists(kc__gc_graph *graph, const kc__gc_identity *what)
{
    kc__gc_node *node = kc__gc_find(graph, what->uid);
    if (!node || node->state == KC__GC_SEEN ||
        (kc__gc_is_called(node, what) &&
         (node->state == KC__GC_VIRTUAL || node->state == KC__GC_DOUBTED)))
        return;
    kc__gc_rename(graph, node, what);
    node->state = KC__GC_VIRTUAL;
    kc__gc_look(graph, node);
}

void kc__gc_unwatched(kc__gc_graph *graph, kc_str type)
{
    KC_VEC(kc__gc_node *) nodes = {0};
    kc_map_each (&graph->nodes, entry) {
        kc__gc_node *node = entry->value;
        if (node->state == KC__GC_SEEN && kc_str_eq(kc__gc_text(node->type), type))
            kc_vec_push(&nodes, node);
    }
    kc_vec_each (&nodes, node) /* None of them is dropped by that: they are all seen. */
        forget_owners(graph, *node);
    kc_vec_each (&nodes, node)
        lose_sight(graph, *node, KC__GC_VIRTUAL);
    kc_vec_done(&nodes);
}

/* ---- saying again ---- */

static void say_node(const kc__gc_graph *graph, const kc__gc_node *node)
{
    if (node->state == KC__GC_VIRTUAL || node->state == KC__GC_DOUBTED ||
        (node->waits && !node->n_blocking))
        kc__gc_look(graph, node);
    if (node->releases && !node->n_dependents)
        graph->sink.release(kc__gc_uid(node), (kc_str){0}, graph->sink.user);
    for (size_t i = 0; i < node->n_edges; i++)
        consider(graph, &node->edges[i]);
}

void kc__gc_say_again(kc__gc_graph *graph)
{
    kc_map_each (&graph->nodes, entry)
        say_node(graph, entry->value);
}

void kc__gc_reconsider(kc__gc_graph *graph)
{
    kc_map_each (&graph->nodes, entry) {
        const kc__gc_node *node = entry->value;
        if (node->state == KC__GC_VIRTUAL || node->tries)
            kc__gc_look(graph, node);
    }
}
