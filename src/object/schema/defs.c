/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defs.c: definitions that refer to each other.
 *
 * Every definition gets its node before any is compiled, so a "$ref" is the address of a node that
 * will be complete in the end. A subschema that contains more than its "$ref" (a default, a merge
 * key: OpenAPI v3 writes {"allOf":[{"$ref":…}],"default":{}}) becomes a node of its own that copies
 * the rest from the target, at the end, in an order that follows chains of references.
 */
#include "object/schema/schema_internal.h"

static kc_str schema_defs_name_of(kc_str ref)
{
    static const kc_str prefixes[] = {KC_STR_INIT("#/definitions/"),
                                      KC_STR_INIT("#/components/schemas/")};
    for (size_t i = 0; i < KC_COUNT(prefixes); i++)
        if (kc_str_starts(ref, prefixes[i]))
            return kc_str_sub(ref, prefixes[i].n, ref.n);
    return (kc_str){0};
}

/* "$ref" itself, or that of an allOf with a single "$ref". */
static const kc_value *ref_of(const kc_value *json)
{
    const kc_value *ref = kc_value_get(json, "$ref"), *all = kc_value_get(json, "allOf");
    if (ref && kc_value_type(ref) != KC_JSON_NULL)
        return ref;
    if (kc_value_len(all) != 1 || kc_value_get(json, "type") || kc_value_get(json, "properties"))
        return NULL;
    return kc_value_get(kc_value_at(all, 0), "$ref");
}

const kc_schema *kc__schema_follow_ref(kc__schema_compiler *c, const kc_value *json,
                                       bool *ret_failed)
{
    const kc_value *ref = ref_of(json);
    if (!ref)
        return NULL;
    kc_str name = schema_defs_name_of(kc_value_as_str(ref));
    const kc_schema *target = name.n ? kc_schema_defs_get(c->in.document, name) : NULL;
    if (!target && name.n)
        target = kc_schema_defs_get(c->outside, name);
    if (target)
        return target;
    *ret_failed = true;
    kc__schema_enter_child(c, "$ref");
    if (!c->outside && !c->making_defs)
        kc__schema_compile_error(c, "$ref is not supported");
    else
        kc__schema_compile_error(c, "unknown definition \"%.*s\"", KC_ARG(kc_value_as_str(ref)));
    return NULL;
}

/* The key of a node in a map: its address. `node` must not move. */
static kc_str address(kc_schema *const *node)
{
    return kc_str_of((const char *)node, sizeof(*node));
}

void kc__schema_complete_later(kc__schema_compiler *c, kc_schema *node, const kc_schema *target)
{
    kc__schema_pending_ref *pending = kc_arena_new(&c->in.keys, kc__schema_pending_ref);
    *pending = (kc__schema_pending_ref){.next = c->pending, .node = node, .target = target};
    c->pending = pending;
    kc_map_put(&c->pending_by_node, address(&pending->node), pending);
}

static const kc__schema_extras *merge_extras(kc__schema_compiler *c, const kc__schema_extras *own,
                                             const kc__schema_extras *target)
{
    if (!own || !target)
        return own ? own : target;
    kc__schema_extras both = *own;
    if (!both.default_value) {
        both.default_value = target->default_value;
        both.default_text = target->default_text;
        both.default_size = target->default_size;
        both.filled_size = target->filled_size;
    }
    if (!both.validations)
        both.validations = target->validations;
    if (!both.list_map_keys)
        both.list_map_keys = target->list_map_keys;
    if (!*both.merge_key)
        both.merge_key = target->merge_key;
    return kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_EXTRAS, &both, sizeof(both));
}

static void take_rest(kc__schema_compiler *c, kc_schema *node, const kc_schema *target)
{
    kc_schema own = *node;
    *node = *target;
    node->flags |= own.flags | KC__SCHEMA_DEFAULTS_BELOW | KC__SCHEMA_LISTS_BELOW;
    node->flags &= (uint16_t)~KC__SCHEMA_IS_ROOT;
    if (own.flags & KC__SCHEMA_NULLABLE)
        node->accepts |= KC__SCHEMA_NULL;
    if (own.list_type)
        node->list_type = own.list_type;
    if (own.map_type)
        node->map_type = own.map_type;
    if (own.patch)
        node->patch = own.patch;
    if (own.checks)
        node->checks = own.checks;
    node->extras = merge_extras(c, own.extras, target->extras);
}

static int schema_defs_complete(kc__schema_compiler *c, kc__schema_pending_ref *pending,
                                unsigned depth)
{
    if (pending->state == KC__SCHEMA_FILLED)
        return 0;
    if (pending->state == KC__SCHEMA_FILLING || depth > KC_JSON_MAX_DEPTH)
        return kc__schema_compile_error(c, "a $ref leads back to itself");
    pending->state = KC__SCHEMA_FILLING;
    kc_schema *target = (kc_schema *)pending->target;
    kc__schema_pending_ref *first = kc_map_get(&c->pending_by_node, address(&target));
    if (first && schema_defs_complete(c, first, depth + 1) < 0)
        return -1;
    take_rest(c, pending->node, target);
    pending->state = KC__SCHEMA_FILLED;
    return 0;
}

int kc__schema_complete_all(kc__schema_compiler *c)
{
    for (kc__schema_pending_ref *p = c->pending; p; p = p->next)
        if (schema_defs_complete(c, p, 0) < 0)
            return -1;
    return 0;
}

static int compile_definition(kc__schema_compiler *c, kc_str name, const kc_value *json)
{
    size_t before = kc__schema_enter_child(c, "%.*s", KC_ARG(name));
    kc_schema *node = kc_map_get(&c->in.document->names, name);
    const kc_schema *compiled = kc__schema_compile_node(c, json);
    if (!compiled)
        return -1;
    kc__schema_leave_child(c, before);
    if (compiled->flags & KC__SCHEMA_NAMED)
        kc__schema_complete_later(c, node, compiled); /* It is an alias of another definition. */
    else
        *node = *compiled;
    node->flags |= KC__SCHEMA_NAMED;
    return 0;
}

static int compile_definitions(kc__schema_compiler *c, const kc_value *definitions)
{
    kc_schema_defs *document = c->in.document;
    if (kc_value_type(definitions) != KC_JSON_OBJECT)
        return kc__schema_compile_error(c, "definitions must be an object");
    kc_value_each_member (definitions, name, unused) {
        (void)unused;
        kc_schema *node = kc_arena_new(&document->arena, kc_schema);
        node->flags = KC__SCHEMA_NAMED;
        kc_map_put(&document->names, kc_str_of(kc__schema_intern_str(&c->in, name), name.n), node);
    }
    kc_value_each_member (definitions, name, json)
        if (compile_definition(c, name, json) < 0)
            return -1;
    return kc__schema_complete_all(c);
}

kc_schema_defs *kc_schema_defs_compile(const kc_value *definitions, const kc_schema_opts *opts,
                                       kc_error *err)
{
    kc_scoped(kc__schema_compiler) c;
    kc__schema_compiler_init(&c, opts, err);
    c.making_defs = true;
    if (compile_definitions(&c, definitions) < 0)
        return kc_schema_defs_unref(c.in.document);
    return c.in.document;
}
