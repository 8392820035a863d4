/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.c: compiles OpenAPI v3 JSON to nodes: the structure of a schema. rules.c compiles value
 * validation; defs.c resolves references.
 *
 * Compilation is bottom up: children are interned before the node that points to them, so a node is
 * interned by its bytes. A compiler is used for one document.
 *
 * To add a keyword: read it in compile_extras (if validation does not use it) or in the rule it
 * belongs to, add a member in schema_internal.h and an accessor in schema.c.
 */
#include "object/schema/schema_internal.h"

#include <stdarg.h>

enum { MOST_NODES = 100 * 1000 };

size_t kc__schema_enter_child(kc__schema_compiler *c, const char *fmt, ...)
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

void kc__schema_leave_child(kc__schema_compiler *c, size_t before)
{
    c->path.n = before;
}

int kc__schema_compile_error(kc__schema_compiler *c, const char *fmt, ...)
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

int kc__schema_keyword(kc__schema_compiler *c, const kc_value *json, const char *name,
                       kc_json_type type, const kc_value **ret)
{
    const kc_value *value = kc_value_get(json, name);
    kc_json_type found = kc_value_type(value);
    if (found == KC_JSON_ABSENT || found == KC_JSON_NULL)
        return 0;
    if (found != type) {
        kc__schema_enter_child(c, "%s", name);
        return kc__schema_compile_error(c, "must be of type %s, not %s", kc_json_type_name(type),
                                        kc_json_type_name(found));
    }
    *ret = value;
    return 0;
}

int kc__schema_keyword_bool(kc__schema_compiler *c, const kc_value *json, const char *name,
                            bool *ret)
{
    const kc_value *value = NULL;
    if (kc__schema_keyword(c, json, name, KC_JSON_BOOL, &value) < 0)
        return -1;
    *ret = kc_value_as_bool(value, false);
    return 0;
}

/* Sets a flag if the keyword is true. */
static int compile_flag(kc__schema_compiler *c, const kc_value *json, const char *name,
                        uint16_t flag, kc_schema *node)
{
    bool on;
    if (kc__schema_keyword_bool(c, json, name, &on) < 0)
        return -1;
    node->flags |= on ? flag : 0;
    return 0;
}

static int compile_flags(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    static const struct {
        const char *name;
        uint16_t flag;
    } flags[] = {
        {"nullable", KC__SCHEMA_NULLABLE},
        {"x-kubernetes-preserve-unknown-fields", KC__SCHEMA_PRESERVE},
        {"x-kubernetes-embedded-resource", KC__SCHEMA_EMBEDDED},
        {"x-kubernetes-int-or-string", KC__SCHEMA_IS_INT_OR_STRING},
    };
    for (size_t i = 0; i < KC_COUNT(flags); i++)
        if (compile_flag(c, json, flags[i].name, flags[i].flag, node) < 0)
            return -1;
    return 0;
}

typedef struct schema_compile_word {
    const char *text;
    uint8_t value;
} schema_compile_word;

/* A keyword with a fixed set of values; leaves *ret untouched when it is absent or empty. */
static int compile_word(kc__schema_compiler *c, const kc_value *json, const char *name,
                        const schema_compile_word *words, size_t n_words, uint8_t *ret)
{
    const kc_value *value = NULL;
    if (kc__schema_keyword(c, json, name, KC_JSON_STRING, &value) < 0)
        return -1;
    kc_str text = kc_value_as_str(value);
    for (size_t i = 0; i < n_words; i++) {
        if (kc_str_is(text, words[i].text)) {
            *ret = words[i].value;
            return 0;
        }
    }
    if (!text.n)
        return 0;
    kc__schema_enter_child(c, "%s", name);
    return kc__schema_compile_error(c, "unsupported value \"%.*s\"", KC_ARG(text));
}

static int compile_type(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    static const schema_compile_word types[] = {
        {"object", KC__SCHEMA_OBJECT}, {"array", KC__SCHEMA_ARRAY},
        {"string", KC__SCHEMA_STRING}, {"integer", KC__SCHEMA_INTEGER},
        {"number", KC__SCHEMA_NUMBER}, {"boolean", KC__SCHEMA_BOOLEAN},
    };
    if (compile_word(c, json, "type", types, KC_COUNT(types), &node->types) < 0)
        return -1;
    if (node->flags & KC__SCHEMA_IS_INT_OR_STRING)
        node->types = KC__SCHEMA_INTEGER | KC__SCHEMA_STRING;
    node->accepts = node->types ? node->types : 0xFF;
    if (node->types & KC__SCHEMA_NUMBER)
        node->accepts |= KC__SCHEMA_INTEGER;
    if (node->flags & KC__SCHEMA_NULLABLE)
        node->accepts |= KC__SCHEMA_NULL;
    return 0;
}

static int compile_topology(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    static const schema_compile_word lists[] = {
        {"atomic", KC_LIST_ATOMIC}, {"set", KC_LIST_SET}, {"map", KC_LIST_MAP}};
    static const schema_compile_word maps[] = {{"granular", KC_MAP_GRANULAR},
                                               {"atomic", KC_MAP_ATOMIC}};
    if (compile_word(c, json, "x-kubernetes-list-type", lists, KC_COUNT(lists), &node->list_type) <
            0 ||
        compile_word(c, json, "x-kubernetes-map-type", maps, KC_COUNT(maps), &node->map_type) < 0)
        return -1;
    if (node->list_type == KC_LIST_SET || node->list_type == KC_LIST_MAP)
        node->flags |= KC__SCHEMA_LISTS_BELOW;
    return 0;
}

/* "merge,retainKeys" */
static int compile_patch_strategy(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    static const schema_compile_word strategies[] = {{"merge", KC_STRATEGY_MERGE},
                                                     {"replace", KC_STRATEGY_REPLACE},
                                                     {"retainKeys", KC_STRATEGY_RETAIN_KEYS}};
    const kc_value *value = NULL;
    if (kc__schema_keyword(c, json, "x-kubernetes-patch-strategy", KC_JSON_STRING, &value) < 0)
        return -1;
    kc_str rest = kc_value_as_str(value);
    while (rest.p) {
        kc_str one = kc_str_trim(kc_str_cut(&rest, ','));
        for (size_t i = 0; i < KC_COUNT(strategies); i++)
            if (kc_str_is(one, strategies[i].text))
                node->patch |= strategies[i].value;
    }
    return 0;
}

/* What traversals must know about a child without visiting it. A named child may be incomplete. */
static uint16_t below(const kc_schema *child, bool counts_own_default)
{
    if (!child)
        return 0;
    if (child->flags & KC__SCHEMA_NAMED)
        return KC__SCHEMA_DEFAULTS_BELOW | KC__SCHEMA_LISTS_BELOW;
    uint16_t flags = child->flags & (KC__SCHEMA_DEFAULTS_BELOW | KC__SCHEMA_LISTS_BELOW);
    if (counts_own_default && kc__schema_default_node(child))
        flags |= KC__SCHEMA_DEFAULTS_BELOW;
    return flags;
}

typedef struct row_list {
    KC_VEC(kc__schema_property_row) list;
    kc_map positions; /* By name: position + 1. */
} row_list;

static void row_list_done(row_list *rows)
{
    kc_vec_done(&rows->list);
    kc_map_done(&rows->positions);
}

static kc__schema_property_row *row_for(kc__schema_compiler *c, row_list *rows, kc_str name)
{
    uintptr_t at = (uintptr_t)kc_map_get(&rows->positions, name);
    if (at)
        return &rows->list.items[at - 1];
    const char *text = kc__schema_intern_str(&c->in, name);
    kc_vec_push(&rows->list, (kc__schema_property_row){.name = text, .n = (uint32_t)name.n});
    kc_map_put(&rows->positions, kc_str_of(text, name.n), (void *)(uintptr_t)rows->list.n);
    return kc_vec_last(&rows->list);
}

static int compile_required(kc__schema_compiler *c, const kc_value *json, row_list *rows)
{
    const kc_value *required = NULL;
    if (kc__schema_keyword(c, json, "required", KC_JSON_ARRAY, &required) < 0)
        return -1;
    kc_value_each_item (required, name) {
        if (kc_value_type(name) != KC_JSON_STRING) {
            kc__schema_enter_child(c, "required");
            return kc__schema_compile_error(c, "must contain only strings");
        }
        row_for(c, rows, kc_value_as_str(name));
    }
    return 0;
}

static int compile_properties(kc__schema_compiler *c, const kc_value *json, row_list *rows,
                              kc_schema *node)
{
    const kc_value *properties = NULL;
    if (kc__schema_keyword(c, json, "properties", KC_JSON_OBJECT, &properties) < 0)
        return -1;
    kc_value_each_member (properties, name, value) {
        size_t before = kc__schema_enter_child(c, "properties[%.*s]", KC_ARG(name));
        const kc_schema *child = kc__schema_compile_node(c, value);
        if (!child)
            return -1;
        kc__schema_leave_child(c, before);
        row_for(c, rows, name)->schema = child;
        node->flags |= below(child, true);
    }
    return 0;
}

static int compile_fields(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    kc_scoped(row_list) rows = {0};
    if (compile_required(c, json, &rows) < 0)
        return -1;
    size_t n_required = rows.list.n;
    if (compile_properties(c, json, &rows, node) < 0)
        return -1;
    if (rows.list.n > KC__SCHEMA_TABLE_MAX)
        return kc__schema_compile_error(c, "has %zu properties: limit is %d", rows.list.n,
                                        KC__SCHEMA_TABLE_MAX);
    if (rows.list.n)
        node->fields = kc__schema_intern_table(&c->in, rows.list.items, rows.list.n, n_required);
    return 0;
}

static int compile_child(kc__schema_compiler *c, const kc_value *json, const char *name,
                         kc_schema *node, const kc_schema **ret)
{
    const kc_value *value = NULL;
    if (kc__schema_keyword(c, json, name, KC_JSON_OBJECT, &value) < 0)
        return -1;
    if (!value)
        return 0;
    size_t before = kc__schema_enter_child(c, "%s", name);
    *ret = kc__schema_compile_node(c, value);
    if (!*ret)
        return -1;
    kc__schema_leave_child(c, before);
    node->flags |= below(*ret, true);
    return 0;
}

static int compile_additional(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    const kc_value *value = kc_value_get(json, "additionalProperties");
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_ABSENT || type == KC_JSON_NULL)
        return 0;
    node->flags |= KC__SCHEMA_ADDITIONAL;
    if (type == KC_JSON_BOOL) {
        node->flags |= kc_value_as_bool(value, true) ? 0 : KC__SCHEMA_CLOSED;
        return 0;
    }
    return compile_child(c, json, "additionalProperties", node, &node->additional);
}

/* Fields of a default that its schema does not know would be pruned from every object that gets it.
 */
static const kc_value *pruned_default(kc__schema_compiler *c, const kc_schema *node,
                                      const kc_value *value, kc__schema_size *ret_size)
{
    if (c->making_defs || !kc__schema_count_unknown(node, value, false, true, NULL, 0))
        return kc__schema_intern_value(&c->in, value, ret_size);
    kc_auto(kc_edit) *edit = kc_edit_of_value(value);
    kc__schema_prune_node(node, kc_edit_root(edit), false);
    kc_auto(kc_view) *view = kc_edit_view(edit, c->err);
    return kc__schema_intern_value(&c->in, kc_view_root(view), ret_size);
}

static void compile_default(kc__schema_compiler *c, const kc_schema *node, const kc_value *value,
                            kc__schema_extras *extras)
{
    kc_scoped(kc_buf) text = {0};
    extras->default_value = pruned_default(c, node, value, &extras->default_size);
    if (extras->default_value)
        kc_json_write(&text, extras->default_value);
    extras->default_text = kc__schema_intern_str(&c->in, kc_buf_str(&text));
    extras->filled_size = extras->default_size;
    kc__schema_default_measure(node, extras->default_value, &extras->filled_size);
}

static int compile_extras(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    const kc_value *keys = NULL, *rules = NULL, *merge_key = NULL;
    const kc_value *default_value = kc_value_get(json, "default");
    if (kc__schema_keyword(c, json, "x-kubernetes-list-map-keys", KC_JSON_ARRAY, &keys) < 0 ||
        kc__schema_keyword(c, json, "x-kubernetes-validations", KC_JSON_ARRAY, &rules) < 0 ||
        kc__schema_keyword(c, json, "x-kubernetes-patch-merge-key", KC_JSON_STRING, &merge_key) < 0)
        return -1;
    if (kc_value_type(default_value) == KC_JSON_NULL)
        default_value = NULL;
    if (!keys && !rules && !merge_key && !default_value)
        return 0;
    kc__schema_extras extras = {
        .validations = kc__schema_intern_value(&c->in, rules, NULL),
        .list_map_keys = kc__schema_intern_value(&c->in, keys, NULL),
        .merge_key = kc__schema_intern_str(&c->in, kc_value_as_str(merge_key)),
    };
    if (default_value)
        compile_default(c, node, default_value, &extras);
    node->extras = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_EXTRAS, &extras, sizeof(extras));
    return 0;
}

static int schema_compile_fill(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    return compile_flags(c, json, node) < 0 || compile_type(c, json, node) < 0 ||
                   compile_topology(c, json, node) < 0 ||
                   compile_patch_strategy(c, json, node) < 0 || compile_fields(c, json, node) < 0 ||
                   compile_child(c, json, "items", node, &node->items) < 0 ||
                   compile_additional(c, json, node) < 0 ||
                   kc__schema_compile_checks(c, json, node) < 0 || compile_extras(c, json, node) < 0
               ? -1
               : 0;
}

/* True if it contains more than "$ref" (and dropped keywords). */
static bool adds_to_ref(const kc_value *json)
{
    static const char *const silent[] = {"$ref", "allOf", "description", "title", "example"};
    kc_value_each_member (json, name, value) {
        bool counts = kc_value_type(value) != KC_JSON_NULL;
        for (size_t i = 0; i < KC_COUNT(silent); i++)
            counts = counts && !kc_str_is(name, silent[i]);
        if (counts)
            return true;
    }
    return false;
}

static const kc_schema *with_target(kc__schema_compiler *c, const kc_value *json,
                                    const kc_schema *target)
{
    if (!adds_to_ref(json))
        return target;
    kc_schema *node = kc_arena_new(&c->in.document->arena, kc_schema);
    if (schema_compile_fill(c, json, node) < 0)
        return NULL;
    node->flags |= KC__SCHEMA_NAMED; /* Neither interned nor complete: treated as a definition. */
    kc__schema_complete_later(c, node, target);
    return node;
}

const kc_schema *kc__schema_compile_node(kc__schema_compiler *c, const kc_value *json)
{
    bool failed = false;
    if (kc_value_type(json) != KC_JSON_OBJECT) {
        kc__schema_compile_error(c, "must be an object");
        return NULL;
    }
    if (++c->nodes > c->max_nodes) {
        kc__schema_compile_error(c, "the schema has more than %zu parts", c->max_nodes);
        return NULL;
    }
    const kc_schema *target = kc__schema_follow_ref(c, json, &failed);
    if (failed)
        return NULL;
    if (target)
        return with_target(c, json, target);
    kc_schema node;
    memset(&node, 0, sizeof(node));
    if (schema_compile_fill(c, json, &node) < 0)
        return NULL;
    return kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_NODE, &node, sizeof(node));
}

void kc__schema_compiler_done(kc__schema_compiler *c)
{
    kc__schema_interner_done(&c->in);
    kc_map_done(&c->pending_by_node);
    kc_buf_done(&c->path);
}

void kc__schema_compiler_init(kc__schema_compiler *c, const kc_schema_opts *opts, kc_error *err)
{
    *c = (kc__schema_compiler){.outside = opts ? opts->defs : NULL,
                               .max_nodes = opts && opts->max_nodes ? opts->max_nodes : MOST_NODES,
                               .err = err};
    c->in.document = kc__schema_document_new();
    c->in.document->uses = kc_schema_defs_ref(c->outside);
}

kc_schema *kc_schema_compile(const kc_value *openapi, const kc_schema_opts *opts, kc_error *err)
{
    kc_scoped(kc__schema_compiler) c;
    kc__schema_compiler_init(&c, opts, err);
    kc_schema_defs *document = c.in.document;
    const kc_schema *top = kc__schema_compile_node(&c, openapi);
    if (!top || kc__schema_complete_all(&c) < 0) {
        kc_schema_defs_unref(document);
        return NULL;
    }
    document->root = *top;
    document->root.flags |= KC__SCHEMA_IS_ROOT;
    return &document->root;
}
