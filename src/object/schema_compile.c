/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_compile.c: OpenAPI v3 JSON to nodes: the structure of a schema. What values must be like
 * beyond their structure is schema_rules.c; references are schema_defs.c.
 *
 * Compiling goes bottom up: children are interned before the node that points to them, so a node is
 * interned by its bytes. A compiler lives for one document.
 *
 * To add a keyword: read it in compile_extras (if nothing looks at it while validating) or in the
 * rule it belongs to, give it a place in schema_internal.h and an accessor in schema.c.
 */
#include "object/schema_internal.h"

#include <stdarg.h>

enum { MOST_NODES = 100 * 1000 };

size_t kc__enter(kc__compiler *c, const char *fmt, ...)
{
    size_t before = c->path.n;
    va_list args;
    va_start(args, fmt);
    if (before)
        kc_buf_putc(&c->path, '.');
    kc_buf_vprintf(&c->path, fmt, args);
    va_end(args);
    return before;
}

void kc__leave(kc__compiler *c, size_t before)
{
    c->path.n = before;
}

int kc__compile_error(kc__compiler *c, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_error_set(c->err, KC_INVALID, "%s%s%s", kc_buf_cstr(&c->path), c->path.n ? ": " : "",
                 kc_buf_cstr(&text));
    return -1;
}

int kc__keyword(kc__compiler *c, const kc_value *json, const char *name, kc_type type,
                const kc_value **ret)
{
    const kc_value *value = kc_get(json, name);
    kc_type found = kc_type_of(value);
    if (found == KC_ABSENT || found == KC_NULL)
        return 0;
    if (found != type) {
        kc__enter(c, "%s", name);
        return kc__compile_error(c, "must be of type %s, not %s", kc_type_name(type),
                                 kc_type_name(found));
    }
    *ret = value;
    return 0;
}

int kc__keyword_bool(kc__compiler *c, const kc_value *json, const char *name, bool *ret)
{
    const kc_value *value = NULL;
    if (kc__keyword(c, json, name, KC_BOOL, &value) < 0)
        return -1;
    *ret = kc_as_bool(value, false);
    return 0;
}

/* Sets a flag if the keyword is true. */
static int compile_flag(kc__compiler *c, const kc_value *json, const char *name, uint16_t flag,
                        kc_schema *node)
{
    bool on;
    if (kc__keyword_bool(c, json, name, &on) < 0)
        return -1;
    node->flags |= on ? flag : 0;
    return 0;
}

static int compile_flags(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    static const struct {
        const char *name;
        uint16_t flag;
    } flags[] = {
        {"nullable", KC__NULLABLE},
        {"x-kubernetes-preserve-unknown-fields", KC__PRESERVE},
        {"x-kubernetes-embedded-resource", KC__EMBEDDED},
        {"x-kubernetes-int-or-string", KC__INT_OR_STRING},
    };
    for (size_t i = 0; i < KC_COUNT(flags); i++)
        if (compile_flag(c, json, flags[i].name, flags[i].flag, node) < 0)
            return -1;
    return 0;
}

typedef struct word {
    const char *text;
    uint8_t value;
} word;

/* A keyword whose value is one of a few words; *ret is left alone when it is absent or empty. */
static int compile_word(kc__compiler *c, const kc_value *json, const char *name, const word *words,
                        size_t n_words, uint8_t *ret)
{
    const kc_value *value = NULL;
    if (kc__keyword(c, json, name, KC_STRING, &value) < 0)
        return -1;
    kc_str text = kc_as_str(value);
    for (size_t i = 0; i < n_words; i++) {
        if (kc_str_is(text, words[i].text)) {
            *ret = words[i].value;
            return 0;
        }
    }
    if (!text.n)
        return 0;
    kc__enter(c, "%s", name);
    return kc__compile_error(c, "unsupported value \"%.*s\"", KC_ARG(text));
}

static int compile_type(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    static const word types[] = {
        {"object", KC__OBJECT},   {"array", KC__ARRAY},   {"string", KC__STRING},
        {"integer", KC__INTEGER}, {"number", KC__NUMBER}, {"boolean", KC__BOOLEAN},
    };
    if (compile_word(c, json, "type", types, KC_COUNT(types), &node->types) < 0)
        return -1;
    if (node->flags & KC__INT_OR_STRING)
        node->types = KC__INTEGER | KC__STRING;
    node->accepts = node->types ? node->types : 0xFF;
    if (node->types & KC__NUMBER)
        node->accepts |= KC__INTEGER;
    if (node->flags & KC__NULLABLE)
        node->accepts |= KC__NULL;
    return 0;
}

static int compile_topology(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    static const word lists[] = {
        {"atomic", KC_LIST_ATOMIC}, {"set", KC_LIST_SET}, {"map", KC_LIST_MAP}};
    static const word maps[] = {{"granular", KC_MAP_GRANULAR}, {"atomic", KC_MAP_ATOMIC}};
    if (compile_word(c, json, "x-kubernetes-list-type", lists, KC_COUNT(lists), &node->list_type) <
            0 ||
        compile_word(c, json, "x-kubernetes-map-type", maps, KC_COUNT(maps), &node->map_type) < 0)
        return -1;
    if (node->list_type == KC_LIST_SET || node->list_type == KC_LIST_MAP)
        node->flags |= KC__LISTS_BELOW;
    return 0;
}

/* "merge,retainKeys" */
static int compile_patch_strategy(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    static const word strategies[] = {{"merge", KC_STRATEGY_MERGE},
                                      {"replace", KC_STRATEGY_REPLACE},
                                      {"retainKeys", KC_STRATEGY_RETAIN_KEYS}};
    const kc_value *value = NULL;
    if (kc__keyword(c, json, "x-kubernetes-patch-strategy", KC_STRING, &value) < 0)
        return -1;
    kc_str rest = kc_as_str(value);
    while (rest.p) {
        kc_str one = kc_str_trim(kc_str_cut(&rest, ','));
        for (size_t i = 0; i < KC_COUNT(strategies); i++)
            if (kc_str_is(one, strategies[i].text))
                node->patch |= strategies[i].value;
    }
    return 0;
}

/* What walks must know about a child without going there. A named one may not be complete yet. */
static uint16_t below(const kc_schema *child, bool counts_own_default)
{
    if (!child)
        return 0;
    if (child->flags & KC__NAMED)
        return KC__DEFAULTS_BELOW | KC__LISTS_BELOW;
    uint16_t flags = child->flags & (KC__DEFAULTS_BELOW | KC__LISTS_BELOW);
    if (counts_own_default && kc__default_of(child))
        flags |= KC__DEFAULTS_BELOW;
    return flags;
}

typedef struct row_list {
    KC_VEC(kc__row) list;
    kc_map positions; /* By name: position + 1. */
} row_list;

static void row_list_done(row_list *rows)
{
    kc_vec_done(&rows->list);
    kc_map_done(&rows->positions);
}

static kc__row *row_for(kc__compiler *c, row_list *rows, kc_str name)
{
    uintptr_t at = (uintptr_t)kc_map_get(&rows->positions, name);
    if (at)
        return &rows->list.items[at - 1];
    const char *text = kc__intern_str(&c->in, name);
    kc_vec_push(&rows->list, (kc__row){.name = text, .n = (uint32_t)name.n});
    kc_map_put(&rows->positions, kc_str_of(text, name.n), (void *)(uintptr_t)rows->list.n);
    return kc_vec_last(&rows->list);
}

static int compile_required(kc__compiler *c, const kc_value *json, row_list *rows)
{
    const kc_value *required = NULL;
    if (kc__keyword(c, json, "required", KC_ARRAY, &required) < 0)
        return -1;
    kc_items (required, name) {
        if (kc_type_of(name) != KC_STRING) {
            kc__enter(c, "required");
            return kc__compile_error(c, "must hold strings only");
        }
        row_for(c, rows, kc_as_str(name));
    }
    return 0;
}

static int compile_properties(kc__compiler *c, const kc_value *json, row_list *rows,
                              kc_schema *node)
{
    const kc_value *properties = NULL;
    if (kc__keyword(c, json, "properties", KC_OBJECT, &properties) < 0)
        return -1;
    kc_members (properties, name, value) {
        size_t before = kc__enter(c, "properties[%.*s]", KC_ARG(name));
        const kc_schema *child = kc__compile_node(c, value);
        if (!child)
            return -1;
        kc__leave(c, before);
        row_for(c, rows, name)->schema = child;
        node->flags |= below(child, true);
    }
    return 0;
}

static int compile_fields(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    kc_scoped(row_list) rows = {0};
    if (compile_required(c, json, &rows) < 0)
        return -1;
    size_t n_required = rows.list.n;
    if (compile_properties(c, json, &rows, node) < 0)
        return -1;
    if (rows.list.n > KC__TABLE_MAX)
        return kc__compile_error(c, "has %zu properties: limit is %d", rows.list.n, KC__TABLE_MAX);
    if (rows.list.n)
        node->fields = kc__intern_table(&c->in, rows.list.items, rows.list.n, n_required);
    return 0;
}

static int compile_child(kc__compiler *c, const kc_value *json, const char *name, kc_schema *node,
                         const kc_schema **ret)
{
    const kc_value *value = NULL;
    if (kc__keyword(c, json, name, KC_OBJECT, &value) < 0)
        return -1;
    if (!value)
        return 0;
    size_t before = kc__enter(c, "%s", name);
    *ret = kc__compile_node(c, value);
    if (!*ret)
        return -1;
    kc__leave(c, before);
    node->flags |= below(*ret, true);
    return 0;
}

static int compile_additional(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    const kc_value *value = kc_get(json, "additionalProperties");
    kc_type type = kc_type_of(value);
    if (type == KC_ABSENT || type == KC_NULL)
        return 0;
    node->flags |= KC__ADDITIONAL;
    if (type == KC_BOOL) {
        node->flags |= kc_as_bool(value, true) ? 0 : KC__CLOSED;
        return 0;
    }
    return compile_child(c, json, "additionalProperties", node, &node->additional);
}

/* Fields a default has beyond its schema would be pruned from every object that gets it. */
static const kc_value *pruned_default(kc__compiler *c, const kc_schema *node, const kc_value *value)
{
    if (c->making_defs || !kc__count_unknown(node, value, false, true, NULL, 0))
        return kc__intern_value(&c->in, value);
    kc_auto(kc_edit) *edit = kc_edit_of_value(value);
    kc__prune_node(node, kc_edit_root(edit), false);
    kc_auto(kc_view) *view = kc_edit_view(edit, c->err);
    return kc__intern_value(&c->in, kc_view_root(view));
}

static int compile_extras(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    const kc_value *keys = NULL, *rules = NULL, *merge_key = NULL;
    const kc_value *default_value = kc_get(json, "default");
    if (kc__keyword(c, json, "x-kubernetes-list-map-keys", KC_ARRAY, &keys) < 0 ||
        kc__keyword(c, json, "x-kubernetes-validations", KC_ARRAY, &rules) < 0 ||
        kc__keyword(c, json, "x-kubernetes-patch-merge-key", KC_STRING, &merge_key) < 0)
        return -1;
    if (kc_type_of(default_value) == KC_NULL)
        default_value = NULL;
    if (!keys && !rules && !merge_key && !default_value)
        return 0;
    kc__extras extras = {
        .default_value = default_value ? pruned_default(c, node, default_value) : NULL,
        .validations = kc__intern_value(&c->in, rules),
        .list_map_keys = kc__intern_value(&c->in, keys),
        .merge_key = kc__intern_str(&c->in, kc_as_str(merge_key)),
    };
    node->extras = kc__intern(&c->in, KC__K_EXTRAS, &extras, sizeof(extras));
    return 0;
}

static int fill(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    return compile_flags(c, json, node) < 0 || compile_type(c, json, node) < 0 ||
                   compile_topology(c, json, node) < 0 ||
                   compile_patch_strategy(c, json, node) < 0 || compile_fields(c, json, node) < 0 ||
                   compile_child(c, json, "items", node, &node->items) < 0 ||
                   compile_additional(c, json, node) < 0 || kc__compile_checks(c, json, node) < 0 ||
                   compile_extras(c, json, node) < 0
               ? -1
               : 0;
}

/* It says more than "$ref" (and things that are not kept). */
static bool adds_to_ref(const kc_value *json)
{
    static const char *const silent[] = {"$ref", "allOf", "description", "title", "example"};
    kc_members (json, name, value) {
        bool counts = kc_type_of(value) != KC_NULL;
        for (size_t i = 0; i < KC_COUNT(silent); i++)
            counts = counts && !kc_str_is(name, silent[i]);
        if (counts)
            return true;
    }
    return false;
}

static const kc_schema *with_target(kc__compiler *c, const kc_value *json, const kc_schema *target)
{
    if (!adds_to_ref(json))
        return target;
    kc_schema *node = kc_arena_new(&c->in.document->arena, kc_schema);
    if (fill(c, json, node) < 0)
        return NULL;
    node->flags |= KC__NAMED; /* Not interned, not complete: treated as a definition. */
    kc__complete_later(c, node, target);
    return node;
}

const kc_schema *kc__compile_node(kc__compiler *c, const kc_value *json)
{
    bool failed = false;
    if (kc_type_of(json) != KC_OBJECT) {
        kc__compile_error(c, "must be an object");
        return NULL;
    }
    if (++c->nodes > c->max_nodes) {
        kc__compile_error(c, "the schema has more than %zu parts", c->max_nodes);
        return NULL;
    }
    const kc_schema *target = kc__follow_ref(c, json, &failed);
    if (failed)
        return NULL;
    if (target)
        return with_target(c, json, target);
    kc_schema node;
    memset(&node, 0, sizeof(node));
    if (fill(c, json, &node) < 0)
        return NULL;
    return kc__intern(&c->in, KC__K_NODE, &node, sizeof(node));
}

void kc__compiler_done(kc__compiler *c)
{
    kc__interner_done(&c->in);
    kc_map_done(&c->pending_by_node);
    kc_buf_done(&c->path);
}

void kc__compiler_init(kc__compiler *c, const kc_schema_opts *opts, kc_error *err)
{
    *c = (kc__compiler){.outside = opts ? opts->defs : NULL,
                        .max_nodes = opts && opts->max_nodes ? opts->max_nodes : MOST_NODES,
                        .err = err};
    c->in.document = kc__document_new();
    c->in.document->uses = kc_schema_defs_ref(c->outside);
}

kc_schema *kc_schema_compile(const kc_value *openapi, const kc_schema_opts *opts, kc_error *err)
{
    kc_scoped(kc__compiler) c;
    kc__compiler_init(&c, opts, err);
    kc_schema_defs *document = c.in.document;
    const kc_schema *top = kc__compile_node(&c, openapi);
    if (!top || kc__complete_all(&c) < 0) {
        kc_schema_defs_unref(document);
        return NULL;
    }
    document->root = *top;
    document->root.flags |= KC__IS_ROOT;
    return &document->root;
}
