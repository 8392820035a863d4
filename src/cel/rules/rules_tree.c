/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_tree.c: builds the tree of rules of a schema, and owns it.
 *
 * The walk follows additionalProperties, properties and items, as Kubernetes does: schemas inside
 * of allOf, anyOf, oneOf and not have no rules. Each schema with rules gets a type: a part of the
 * type of the nearest schema above with rules, or a type of its own. A schema without a type in CEL
 * (one that preserves unknown fields, or a list of such) cannot have rules.
 */
#include "cel/rules/rules_internal.h"

#include <stdarg.h>

typedef struct rules_walk {
    kc__cel_rule_compiler *compiler;
    const kc__cel_rule_visitor *visitor;
    kc_buf path;
} rules_walk;

/* A schema of the walk. */
typedef struct rules_place {
    const kc_value *json;
    const kc_schema *schema;
    const kc_cel_type *type; /* As a part of the type above; NULL: not known. */
    bool in_scope;           /* A schema at or above this one has rules. */
    bool resource;           /* The root, or an embedded resource. */
    bool bounded;
    uint64_t count;
    size_t no_old_self; /* As much of the path leads to a list without counterparts; 0: none. */
} rules_place;

static const kc__cel_rule_node *build_node(rules_walk *w, rules_place at);

static size_t enter_schema(rules_walk *w, const char *fmt, ...) KC_PRINTF(2, 3);
static size_t enter_schema(rules_walk *w, const char *fmt, ...)
{
    size_t before = w->path.n;
    va_list args;
    va_start(args, fmt);
    kc_buf_putc(&w->path, '.');
    kc_buf_vprintf(&w->path, fmt, args);
    va_end(args);
    return before;
}

static bool has_rules(const kc_value *json)
{
    return kc_value_len(kc_value_get(json, "x-kubernetes-validations")) > 0;
}

/* ---- types and bounds ---- */

static const kc_cel_type *type_of_place(rules_walk *w, const rules_place *at)
{
    if (at->type || !at->in_scope)
        return at->type;
    kc_cel_schema_opts opts = {.resource_root = at->resource};
    return kc_cel_types_schema(w->compiler->rules->types, at->schema, "selfType", &opts);
}

static uint64_t multiply_counts(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* How many values of a child exist for one value of a schema; false: any number. */
static bool children_of_one(const kc_value *json, uint64_t *ret)
{
    kc_str type = kc_value_as_str(kc_value_get(json, "type"));
    const char *limit = NULL;
    int64_t most = 1;
    if (kc_str_is(type, "array"))
        limit = "maxItems";
    else if (kc_str_is(type, "object") && kc_value_get(json, "additionalProperties"))
        limit = "maxProperties";
    if (limit && !kc_value_as_i64(kc_value_get(json, limit), &most))
        return false;
    *ret = (uint64_t)KC_MAX(most, 0);
    return true;
}

static rules_place place_of_child(const rules_place *at, const kc_cel_type *type,
                                  const kc_value *json, const kc_schema *schema)
{
    uint64_t each = 1;
    bool bounded = at->bounded && children_of_one(at->json, &each);
    return (rules_place){.json = json,
                         .schema = schema,
                         .type = type,
                         .in_scope = at->in_scope || has_rules(json),
                         .resource = kc_schema_embeds_resource(schema),
                         .bounded = bounded,
                         .count = bounded ? multiply_counts(at->count, each) : 0,
                         .no_old_self = at->no_old_self};
}

/* ---- children ---- */

static const kc__cel_rule_node *build_additional(rules_walk *w, const rules_place *at)
{
    const kc_value *json = kc_value_get(at->json, "additionalProperties");
    if (kc_value_type(json) != KC_JSON_OBJECT)
        return NULL;
    size_t before = enter_schema(w, "additionalProperties");
    const kc__cel_rule_node *node =
        build_node(w, place_of_child(at, kc_cel_type_of_elements(at->type), json,
                                     kc_schema_additional(at->schema)));
    w->path.n = before;
    return node;
}

/* Items of lists that are not of type map have no counterpart in the old list. */
static const kc__cel_rule_node *build_items(rules_walk *w, const rules_place *at)
{
    const kc_value *json = kc_value_get(at->json, "items");
    if (kc_value_type(json) != KC_JSON_OBJECT)
        return NULL;
    rules_place child =
        place_of_child(at, kc_cel_type_of_elements(at->type), json, kc_schema_items(at->schema));
    if (!child.no_old_self &&
        !kc_str_is(kc_value_as_str(kc_value_get(at->json, "x-kubernetes-list-type")), "map"))
        child.no_old_self = w->path.n;
    size_t before = enter_schema(w, "items");
    const kc__cel_rule_node *node = build_node(w, child);
    w->path.n = before;
    return node;
}

typedef KC_VEC(kc__cel_rule_field) rule_fields;

static int compare_rule_fields(const void *a, const void *b)
{
    const kc__cel_rule_field *x = a, *y = b;
    return kc_str_cmp(x->name, y->name);
}

static void build_fields(rules_walk *w, const rules_place *at, kc__cel_rule_node *node)
{
    kc_arena *arena = &w->compiler->rules->arena;
    rule_fields found = {0};
    kc_value_each_member (kc_value_get(at->json, "properties"), name, json) {
        size_t before = enter_schema(w, "properties[%.*s]", KC_ARG(name));
        const kc__cel_rule_node *child =
            build_node(w, place_of_child(at, kc_cel_type_of_field(at->type, name), json,
                                         kc_schema_property(at->schema, name)));
        if (child)
            kc_vec_push(&found, (kc__cel_rule_field){kc_arena_str(arena, name), child});
        w->path.n = before;
    }
    if (found.n) {
        kc_vec_sort(&found, compare_rule_fields);
        kc__cel_rule_field *kept = kc_arena_alloc(arena, found.n * sizeof(*kept));
        memcpy(kept, found.items, found.n * sizeof(*kept));
        node->fields = kept;
        node->n_fields = found.n;
    }
    kc_vec_done(&found);
}

/* ---- nodes ---- */

/* The type of JSON that a schema declares, quoted. */
static kc_str type_name_of(rules_walk *w, const rules_place *at)
{
    kc_str type = kc_value_as_str(kc_value_get(at->json, "type"));
    return kc_cstr(kc_arena_printf(&w->compiler->rules->arena, "\"%.*s\"", KC_ARG(type)));
}

static void compile_place(rules_walk *w, const rules_place *at, kc__cel_rule_node *node)
{
    const kc__cel_rule_visitor *v = w->visitor;
    const char *path = kc_buf_cstr(&w->path);
    if (v && v->accepts && !v->accepts(path, v->user))
        return;
    node->type = at->type;
    node->type_name = type_name_of(w, at);
    if (node->type)
        kc__cel_rules_compile_node(w->compiler, at->json, node);
    else
        node->has_no_type = true;
    if (v && v->visit)
        v->visit(&(kc__cel_rule_place){.json = at->json,
                                       .node = node,
                                       .path = path,
                                       .bounded = at->bounded,
                                       .count = at->count,
                                       .no_old_self = kc_str_of(path, at->no_old_self)},
                 v->user);
}

/* The node of a schema; NULL when there are no rules at or below it. */
static const kc__cel_rule_node *build_node(rules_walk *w, rules_place at)
{
    if (!at.schema)
        return NULL;
    kc__cel_rule_node node = {.schema = at.schema};
    at.type = type_of_place(w, &at);
    node.additional = build_additional(w, &at);
    build_fields(w, &at, &node);
    node.items = build_items(w, &at);
    bool own = has_rules(at.json);
    if (own)
        compile_place(w, &at, &node);
    if (!own && !node.additional && !node.n_fields && !node.items)
        return NULL;
    kc__cel_rule_node *kept = kc_arena_alloc(&w->compiler->rules->arena, sizeof(*kept));
    *kept = node;
    return kept;
}

void kc__cel_rules_build(kc__cel_rule_compiler *c, const kc_value *openapi, const kc_schema *schema,
                         const kc__cel_rule_build_opts *opts)
{
    rules_walk w = {.compiler = c, .visitor = opts->visitor};
    kc_buf_puts(&w.path, opts->base);
    c->rules->root = build_node(&w, (rules_place){.json = openapi,
                                                  .schema = schema,
                                                  .in_scope = has_rules(openapi),
                                                  .resource = !opts->fragment,
                                                  .bounded = true,
                                                  .count = 1});
    kc_buf_done(&w.path);
}

/* ---- the tree ---- */

/* Whether a schema has rules at any place where they count. */
static bool any_rules(const kc_schema *schema)
{
    kc_str name;
    const kc_schema *child;
    if (!schema)
        return false;
    if (kc_value_len(kc_schema_validations(schema)))
        return true;
    for (size_t at = 0; (child = kc_schema_property_next(schema, &at, &name));)
        if (any_rules(child))
            return true;
    return any_rules(kc_schema_items(schema)) || any_rules(kc_schema_additional(schema));
}

static void free_rules(kc_cel_rules *rules)
{
    kc_vec_each (&rules->programs, program)
        kc_cel_program_free(*program);
    kc_vec_done(&rules->programs);
    kc_cel_types_free(rules->types);
    kc_arena_done(&rules->arena);
    free(rules);
}

kc_cel_rules *kc__cel_rules_new(void)
{
    kc_cel_rules *rules = kc_new(kc_cel_rules);
    kc_ref_init(&rules->refs);
    rules->types = kc_cel_types_new();
    return rules;
}

kc_cel_rules *kc_cel_rules_compile(const kc_value *openapi, const kc_schema *schema,
                                   const kc_cel_rules_compile_opts *opts)
{
    if (!any_rules(schema))
        return NULL;
    kc_cel_rules *rules = kc__cel_rules_new();
    kc__cel_rule_compiler compiler = {.rules = rules, .all_stored = true};
    kc__cel_rule_build_opts build = {.base = ".", .fragment = opts && opts->fragment};
    kc__cel_rules_build(&compiler, openapi, schema, &build);
    kc__cel_rule_compiler_done(&compiler);
    return rules;
}

kc_cel_rules *kc_cel_rules_ref(const kc_cel_rules *rules)
{
    if (rules)
        kc_ref_add(&((kc_cel_rules *)rules)->refs);
    return (kc_cel_rules *)rules;
}

kc_cel_rules *kc_cel_rules_unref(const kc_cel_rules *rules)
{
    if (rules && kc_ref_drop(&((kc_cel_rules *)rules)->refs))
        free_rules((kc_cel_rules *)rules);
    return NULL;
}

size_t kc_cel_rules_memory(const kc_cel_rules *rules)
{
    size_t memory = sizeof(*rules) + rules->arena.used + kc_cel_types_memory(rules->types);
    kc_vec_each (&rules->programs, program)
        memory += kc_cel_program_memory(*program);
    return memory;
}

size_t kc_cel_rules_count(const kc_cel_rules *rules)
{
    return rules ? rules->n_rules : 0;
}
