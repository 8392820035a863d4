/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c: creates, connects, disconnects and reads nodes and edges. See graph.h.
 *
 * The graph counts the dependents that block an owner's deletion as edges come and go. The end of a
 * foreground deletion is noticed when the count reaches 0, without a scan: deleting n dependents
 * takes n steps.
 */
#include "gc/graph_internal.h"

#include "kc/kind.h"

#include <assert.h>

void kc__gc_type_parts(kc_str type, kc_str *ret_version, kc_str *ret_kind)
{
    const ptrdiff_t at = kc_str_rfind(type, ' ');
    *ret_version = kc_str_sub(type, 0, at < 0 ? 0 : (size_t)at);
    *ret_kind = kc_str_sub(type, (size_t)(at + 1), type.n);
}

kc__gc_graph *kc__gc_graph_new(const kc__gc_sink *sink)
{
    kc__gc_graph *graph = kc_new(kc__gc_graph);
    graph->sink = *sink;
    return graph;
}

static bool owns_its_name(const kc__gc_node *node)
{
    return node->name != node->text + node->uid_n;
}

static size_t bytes_of(const kc__gc_node *node)
{
    return sizeof(*node) + node->text_n + (owns_its_name(node) ? node->name_n : 0);
}

static void node_free(kc__gc_node *node)
{
    if (owns_its_name(node))
        free((char *)node->name);
    free(node->edges);
    free(node);
}

kc__gc_graph *kc__gc_graph_free(kc__gc_graph *graph)
{
    if (!graph)
        return NULL;
    kc_map_each (&graph->nodes, entry)
        node_free(entry->value);
    kc_map_done(&graph->nodes);
    kc__gc_interner_done(&graph->words);
    free(graph);
    return NULL;
}

/* ---- nodes ---- */

kc__gc_node *kc__gc_find(const kc__gc_graph *graph, kc_str uid)
{
    return kc_map_get(&graph->nodes, uid);
}

kc__gc_node *kc__gc_node_new(kc__gc_graph *graph, const kc__gc_identity *id)
{
    const size_t text_n = id->uid.n + id->name.n;
    kc__gc_node *node = kc_calloc(1, sizeof(*node) + text_n);
    node->type = kc__gc_interned_of(&graph->words, id->type);
    node->ns = kc__gc_interned_of(&graph->words, id->ns);
    node->uid_n = (uint32_t)id->uid.n;
    node->name_n = (uint32_t)id->name.n;
    node->text_n = (uint32_t)text_n;
    memcpy(node->text, id->uid.p, id->uid.n);
    node->name = node->text + node->uid_n;
    if (id->name.n)
        memcpy(node->text + node->uid_n, id->name.p, id->name.n);
    kc_dlist_init(&node->dependents);
    kc_map_put(&graph->nodes, kc__gc_uid(node), node);
    graph->bytes += bytes_of(node);
    return node;
}

void kc__gc_node_drop(kc__gc_graph *graph, kc__gc_node *node)
{
    assert(kc_dlist_empty(&node->dependents) && !node->edges);
    graph->bytes -= bytes_of(node);
    kc_map_remove(&graph->nodes, kc__gc_uid(node));
    kc__gc_interned_unref(&graph->words, node->type);
    kc__gc_interned_unref(&graph->words, node->ns);
    node_free(node);
}

bool kc__gc_node_has_identity(const kc__gc_node *node, const kc__gc_identity *id)
{
    return kc_str_eq(kc__gc_text(node->type), id->type) &&
           kc_str_eq(kc__gc_text(node->ns), id->ns) && kc_str_eq(kc__gc_name(node), id->name);
}

static void set_word(kc__gc_graph *graph, kc__gc_interned **word, kc_str text)
{
    kc__gc_interned *old = *word;
    *word = kc__gc_interned_of(&graph->words, text);
    kc__gc_interned_unref(&graph->words, old);
}

static void set_name(kc__gc_node *node, kc_str name)
{
    if (kc_str_eq(kc__gc_name(node), name))
        return;
    char *own = kc_str_dup(name);
    if (owns_its_name(node))
        free((char *)node->name);
    node->name = own;
    node->name_n = (uint32_t)name.n;
}

/* An absent node will never be deleted, and a node does not wait for itself. */
static bool holds_up(const kc__gc_edge *edge)
{
    return edge->blocks && kc__gc_edge_scope_is_valid(edge) && edge->owner != edge->dependent;
}

/* The node's namespace decides which of its dependents block its deletion. */
void kc__gc_rename(kc__gc_graph *graph, kc__gc_node *node, const kc__gc_identity *id)
{
    graph->bytes -= bytes_of(node);
    set_word(graph, &node->type, id->type);
    set_word(graph, &node->ns, id->ns);
    set_name(node, id->name);
    graph->bytes += bytes_of(node);
    node->n_blocking = 0;
    kc__gc_dependents_each(node, edge) node->n_blocking += holds_up(edge);
}

/* ---- edges ---- */

static bool is_same_kind(const kc__gc_interned *a, const kc__gc_interned *b)
{
    kc_str version, kind_a, kind_b;
    if (a == b)
        return true;
    kc__gc_type_parts(kc__gc_text(a), &version, &kind_a);
    const kc_gvk one = kc_gvk_of(version, kind_a);
    kc__gc_type_parts(kc__gc_text(b), &version, &kind_b);
    const kc_gvk other = kc_gvk_of(version, kind_b);
    return kc_str_eq(one.group, other.group) && kc_str_eq(one.kind, other.kind);
}

bool kc__gc_edge_name_matches(const kc__gc_edge *edge)
{
    return is_same_kind(edge->type, edge->owner->type) &&
           kc_str_eq(kc__gc_text(edge->name), kc__gc_name(edge->owner));
}

void kc__gc_join(kc__gc_graph *graph, kc__gc_edge *edge)
{
    kc__gc_node *owner = edge->owner;
    kc_dlist_push(&owner->dependents, &edge->link);
    owner->n_dependents++;
    owner->n_blocking += holds_up(edge);
    graph->n_edges++;
    graph->bytes += sizeof(*edge);
}

static void part_one(kc__gc_graph *graph, kc__gc_edge *edge)
{
    kc__gc_node *owner = edge->owner;
    const kc__gc_sink *sink = &graph->sink;
    const bool held_up = holds_up(edge);
    kc_dlist_remove(&edge->link);
    owner->n_dependents--;
    owner->n_blocking -= held_up;
    if (owner->state != KC__GC_SEEN && !owner->n_dependents)
        kc__gc_node_drop(graph, owner);
    else if (owner->waits && held_up && !owner->n_blocking)
        kc__gc_node_enqueue(graph, owner);
    else if (owner->releases && !owner->n_dependents)
        sink->release(kc__gc_uid(owner), (kc_str){0}, sink->user);
}

void kc__gc_part(kc__gc_graph *graph, kc__gc_edge *edges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        part_one(graph, &edges[i]);
        kc__gc_interned_unref(&graph->words, edges[i].type);
        kc__gc_interned_unref(&graph->words, edges[i].name);
    }
    graph->n_edges -= n;
    graph->bytes -= n * sizeof(*edges);
    free(edges);
}

/* ---- reading ---- */

static kc__gc_owner_state owner_state_of(const kc__gc_edge *edge)
{
    const bool here = kc__gc_edge_scope_is_valid(edge), named = kc__gc_edge_name_matches(edge);
    switch ((kc__gc_state)edge->owner->state) {
    case KC__GC_SEEN:
        if (here && named)
            return edge->owner->waits ? KC__GC_WAITING : KC__GC_SOLID;
        return here ? KC__GC_UNSURE : KC__GC_FOREIGN;
    case KC__GC_UNCONFIRMED: return here ? KC__GC_UNSURE : KC__GC_FOREIGN;
    case KC__GC_LOST: return !here ? KC__GC_FOREIGN : named ? KC__GC_ABSENT : KC__GC_UNSURE;
    case KC__GC_MISSING: return here && named ? KC__GC_ABSENT : KC__GC_UNSURE;
    case KC__GC_VIRTUAL: break;
    }
    return KC__GC_UNSURE;
}

static void copy_refs(const kc__gc_node *node, kc_arena *arena, kc__gc_item *ret)
{
    ret->n_refs = node->n_edges;
    ret->refs = kc_arena_calloc(arena, node->n_edges, sizeof(*ret->refs));
    for (size_t i = 0; i < node->n_edges; i++) {
        const kc__gc_edge *edge = &node->edges[i];
        ret->refs[i] = (kc__gc_ref){
            .type = kc_arena_str(arena, kc__gc_text(edge->type)),
            .name = kc_arena_str(arena, kc__gc_text(edge->name)),
            .uid = kc_arena_str(arena, kc__gc_uid(edge->owner)),
            .blocks = edge->blocks,
            .owner_state = owner_state_of(edge),
        };
    }
}

static bool a_dependent_waits(const kc__gc_node *node)
{
    kc__gc_dependents_each(node, edge) if (edge->dependent->waits) return true;
    return false;
}

bool kc__gc_lookup(const kc__gc_graph *graph, kc_str uid, kc_arena *arena, kc__gc_item *ret)
{
    const kc__gc_node *node = kc__gc_find(graph, uid);
    if (!node)
        return false;
    *ret = (kc__gc_item){
        .id = {kc_arena_str(arena, kc__gc_text(node->type)),
               kc_arena_str(arena, kc__gc_text(node->ns)), kc_arena_str(arena, kc__gc_name(node)),
               kc_arena_str(arena, kc__gc_uid(node))},
        .revision = node->revision,
        .seen = node->state == KC__GC_SEEN,
        .unconfirmed = node->state == KC__GC_UNCONFIRMED,
        .gone = node->state == KC__GC_LOST || node->state == KC__GC_MISSING,
        .deleted = node->deleted,
        .waits = node->waits,
        .releases = node->releases,
        .orphan_finalizer = node->orphan_finalizer,
        .foreground_finalizer = node->foreground_finalizer,
        .n_dependents = node->n_dependents,
        .n_blocking = node->n_blocking,
        .a_dependent_waits = a_dependent_waits(node),
    };
    copy_refs(node, arena, ret);
    return true;
}

bool kc__gc_is_orphaning(const kc__gc_graph *graph, kc_str uid)
{
    const kc__gc_node *node = kc__gc_find(graph, uid);
    return node && node->releases;
}

unsigned kc__gc_node_attempts(kc__gc_graph *graph, kc_str uid)
{
    kc__gc_node *node = kc__gc_find(graph, uid);
    if (!node)
        return 0;
    const unsigned before = node->tries;
    node->tries += node->tries < UINT8_MAX;
    return before;
}

kc__gc_size kc__gc_graph_size(const kc__gc_graph *graph)
{
    const kc_map *map = &graph->nodes;
    const size_t table = map->cap * sizeof(*map->entries) +
                         (map->slots ? (map->slots_mask + 1) * sizeof(*map->slots) : 0);
    return (kc__gc_size){map->n, graph->n_edges, graph->bytes + table};
}
