/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_graph.c: vertices, edges, and the nodes that each vertex reaches.
 *
 * An edge leads from an object to the object that uses it: secret → pod. A vertex counts for each
 * node the ways that lead there: the edges to neighbours that reach the node. When the first way
 * appears or the last one goes, the vertices above learn it. The graph has no cycles and is at most
 * four edges deep, so a change costs about as many steps as the changed object has references.
 *
 * Pods, volumes, attachments and slices are the objects that follow the store: all edges belong to
 * one of them, and go with it. Other vertices exist as long as an edge does, even if the object
 * itself does not exist: a pod may name a secret that is created later.
 */
#include "apiserver/authz/node_graph.h"

#include "kc/buf.h"
#include "kc/dlist.h"
#include "kc/vec.h"

#define MIRROR_POD "kubernetes.io/config.mirror"

typedef struct graph_vertex {
    kc_dlist above;    /* Edges that lead here. */
    kc_dlist below;    /* Edges that lead away. */
    kc_dlist reached;  /* Of graph_reach. */
    size_t reached_by; /* Of a node: the number of graph_reach that name it. */
    size_t key_length;
    char key[];
} graph_vertex;

typedef struct graph_edge {
    graph_vertex *from, *to;
    kc_dlist_link in_below, in_above; /* Of `from` and `to`. */
} graph_edge;

typedef struct graph_pair {
    graph_vertex *from, *node;
} graph_pair;

typedef struct graph_reach {
    graph_pair pair; /* The key in the map. */
    size_t ways;
    kc_dlist_link link;
} graph_reach;

/* An entry of a map, besides the value. */
enum { MAP_ENTRY = 48 };

/* ---- vertices ---- */

/* Neither namespaces nor names contain a slash. */
static void write_vertex_key(kc_buf *out, kc__authz_object_type type, kc_str ns, kc_str name)
{
    kc_buf_putc(out, (char)type);
    kc_buf_putc(out, '/');
    kc_buf_append(out, ns);
    kc_buf_putc(out, '/');
    kc_buf_append(out, name);
}

static graph_vertex *find_vertex(const kc__authz_graph *g, kc__authz_object_type type, kc_str ns,
                                 kc_str name)
{
    kc_scoped(kc_buf) key = {0};
    write_vertex_key(&key, type, ns, name);
    return kc_map_get(&g->vertices, kc_buf_str(&key));
}

static size_t vertex_bytes(const graph_vertex *v)
{
    return sizeof(*v) + v->key_length + MAP_ENTRY;
}

static graph_vertex *vertex_of(kc__authz_graph *g, kc__authz_object_type type, kc_str ns,
                               kc_str name)
{
    kc_scoped(kc_buf) key = {0};
    write_vertex_key(&key, type, ns, name);
    graph_vertex *v = kc_map_get(&g->vertices, kc_buf_str(&key));
    if (v)
        return v;
    v = kc_calloc(1, sizeof(*v) + key.n);
    kc_dlist_init(&v->above);
    kc_dlist_init(&v->below);
    kc_dlist_init(&v->reached);
    v->key_length = key.n;
    memcpy(v->key, key.p, key.n);
    kc_map_put(&g->vertices, kc_str_of(v->key, v->key_length), v);
    g->bytes += vertex_bytes(v);
    return v;
}

static void drop_vertex_if_unused(kc__authz_graph *g, graph_vertex *v)
{
    if (!kc_dlist_empty(&v->above) || !kc_dlist_empty(&v->below) || !kc_dlist_empty(&v->reached) ||
        v->reached_by)
        return;
    kc_map_remove(&g->vertices, kc_str_of(v->key, v->key_length));
    g->bytes -= vertex_bytes(v);
    free(v);
}

/* ---- reached nodes ---- */

static kc_str pair_key(const graph_pair *pair)
{
    return kc_str_of((const char *)pair, sizeof(*pair));
}

static graph_reach *find_reach(const kc__authz_graph *g, graph_vertex *from, graph_vertex *node)
{
    const graph_pair pair = {from, node};
    return kc_map_get(&g->reaches, pair_key(&pair));
}

static void add_way(kc__authz_graph *g, graph_vertex *v, graph_vertex *node)
{
    graph_reach *r = find_reach(g, v, node);
    if (r) {
        r->ways++;
        return;
    }
    r = kc_new(graph_reach);
    *r = (graph_reach){.pair = {v, node}, .ways = 1};
    kc_map_put(&g->reaches, pair_key(&r->pair), r);
    kc_dlist_push(&v->reached, &r->link);
    node->reached_by++;
    g->bytes += sizeof(*r) + MAP_ENTRY;
    kc_dlist_each (&v->above, graph_edge, in_above, edge)
        add_way(g, edge->from, node);
}

static void remove_way(kc__authz_graph *g, graph_vertex *v, graph_vertex *node)
{
    graph_reach *r = find_reach(g, v, node);
    if (--r->ways)
        return;
    kc_dlist_each (&v->above, graph_edge, in_above, edge)
        remove_way(g, edge->from, node);
    kc_map_remove(&g->reaches, pair_key(&r->pair));
    kc_dlist_remove(&r->link);
    node->reached_by--;
    g->bytes -= sizeof(*r) + MAP_ENTRY;
    free(r);
}

/* ---- edges ---- */

static void add_edge(kc__authz_graph *g, graph_vertex *from, graph_vertex *to)
{
    graph_edge *edge = kc_new(graph_edge);
    *edge = (graph_edge){.from = from, .to = to};
    kc_dlist_push(&from->below, &edge->in_below);
    kc_dlist_push(&to->above, &edge->in_above);
    g->bytes += sizeof(*edge);
    kc_dlist_each (&to->reached, graph_reach, link, r)
        add_way(g, from, r->pair.node);
}

static void remove_edge(kc__authz_graph *g, graph_edge *edge)
{
    graph_vertex *from = edge->from, *to = edge->to;
    kc_dlist_remove(&edge->in_below);
    kc_dlist_remove(&edge->in_above);
    g->bytes -= sizeof(*edge);
    free(edge);
    kc_dlist_each (&to->reached, graph_reach, link, r)
        remove_way(g, from, r->pair.node);
}

/* ---- objects of the store ---- */

/* The edges of a pod, volume, attachment or slice are all its own. */
static void remove_object(kc__authz_graph *g, graph_vertex *v)
{
    kc_dlist_each (&v->above, graph_edge, in_above, edge) {
        graph_vertex *from = edge->from;
        remove_edge(g, edge);
        drop_vertex_if_unused(g, from);
    }
    kc_dlist_each (&v->below, graph_edge, in_below, edge) {
        graph_vertex *to = edge->to;
        remove_edge(g, edge);
        drop_vertex_if_unused(g, to);
    }
    kc_dlist_each (&v->reached, graph_reach, link, r) {
        graph_vertex *node = r->pair.node;
        remove_way(g, v, node);
        drop_vertex_if_unused(g, node);
    }
    drop_vertex_if_unused(g, v);
}

static void forget_object(kc__authz_graph *g, kc__authz_object_type type, kc_str ns, kc_str name)
{
    graph_vertex *v = find_vertex(g, type, ns, name);
    if (v)
        remove_object(g, v);
}

/* The object is on a node; NULL if the node has no name. */
static graph_vertex *put_on_node(kc__authz_graph *g, kc__authz_object_type type, kc_str ns,
                                 kc_str name, const kc_value *node)
{
    const kc_str node_name = kc_value_as_str(node);
    if (kc_str_empty(node_name))
        return NULL;
    graph_vertex *v = vertex_of(g, type, ns, name);
    add_way(g, v, vertex_of(g, KC__AUTHZ_NODE, (kc_str){0}, node_name));
    return v;
}

typedef struct linking {
    kc__authz_graph *graph;
    graph_vertex *to;
} linking;

static void link_reference(kc__authz_object_type type, kc_str ns, kc_str name, void *user)
{
    const linking *l = user;
    add_edge(l->graph, vertex_of(l->graph, type, ns, name), l->to);
}

/* A node may create mirror pods, and must not gain permissions by it: they have no references. */
void kc__authz_graph_set_pod(kc__authz_graph *g, kc_str key, const kc_object *object)
{
    kc_str name = key;
    const kc_str ns = kc_str_cut(&name, '/');
    forget_object(g, KC__AUTHZ_POD, ns, name);
    if (!object)
        return;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *pod = kc_view_root(view),
                   *annotations = kc_value_nested(pod, "metadata.annotations");
    graph_vertex *v =
        put_on_node(g, KC__AUTHZ_POD, ns, name, kc_value_nested(pod, "spec.nodeName"));
    if (v && !kc_value_get(annotations, MIRROR_POD))
        kc__authz_pod_references(pod, link_reference, &(linking){g, v});
}

void kc__authz_graph_set_volume(kc__authz_graph *g, kc_str key, const kc_object *object)
{
    forget_object(g, KC__AUTHZ_VOLUME, (kc_str){0}, key);
    if (!object)
        return;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *volume = kc_view_root(view), *claim = kc_value_nested(volume, "spec.claimRef");
    if (kc_value_type(claim) != KC_JSON_OBJECT)
        return;
    graph_vertex *v = vertex_of(g, KC__AUTHZ_VOLUME, (kc_str){0}, key);
    add_edge(g, v,
             vertex_of(g, KC__AUTHZ_VOLUME_CLAIM, kc_value_as_str(kc_value_get(claim, "namespace")),
                       kc_value_as_str(kc_value_get(claim, "name"))));
    kc__authz_volume_secrets(volume, link_reference, &(linking){g, v});
}

static void set_object_of_node(kc__authz_graph *g, kc__authz_object_type type, kc_str key,
                               const kc_object *object)
{
    forget_object(g, type, (kc_str){0}, key);
    if (!object)
        return;
    kc_auto(kc_view) *view = kc_view_of(object);
    put_on_node(g, type, (kc_str){0}, key, kc_value_nested(kc_view_root(view), "spec.nodeName"));
}

void kc__authz_graph_set_attachment(kc__authz_graph *g, kc_str key, const kc_object *attachment)
{
    set_object_of_node(g, KC__AUTHZ_VOLUME_ATTACHMENT, key, attachment);
}

void kc__authz_graph_set_slice(kc__authz_graph *g, kc_str key, const kc_object *slice)
{
    set_object_of_node(g, KC__AUTHZ_RESOURCE_SLICE, key, slice);
}

/* ---- lookups ---- */

bool kc__authz_graph_relates(const kc__authz_graph *g, kc__authz_object_type type, kc_str ns,
                             kc_str name, kc_str node)
{
    graph_vertex *v = find_vertex(g, type, ns, name),
                 *n = v ? find_vertex(g, KC__AUTHZ_NODE, (kc_str){0}, node) : NULL;
    return n && find_reach(g, v, n);
}

void kc__authz_graph_done(kc__authz_graph *g)
{
    kc_map_each (&g->reaches, entry)
        free(entry->value);
    kc_map_each (&g->vertices, entry) {
        graph_vertex *v = entry->value;
        kc_dlist_each (&v->below, graph_edge, in_below, edge)
            free(edge);
        free(v);
    }
    kc_map_done(&g->reaches);
    kc_map_done(&g->vertices);
}
