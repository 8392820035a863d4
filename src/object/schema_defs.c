/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_defs.c: definitions that refer to each other.
 *
 * Every definition gets its node before any is compiled, so a "$ref" is the address of a node that
 * will be complete when all are. A subschema that says more than its "$ref" (a default, a merge
 * key: OpenAPI v3 writes {"allOf":[{"$ref":…}],"default":{}}) becomes a node of its own that takes
 * the rest from the target, at the end, in an order that follows chains of them.
 */
#include "object/schema_internal.h"

static kc_str name_of(kc_str ref)
{
    static const kc_str prefixes[] = {KC_STR_INIT("#/definitions/"),
                                      KC_STR_INIT("#/components/schemas/")};
    for (size_t i = 0; i < KC_COUNT(prefixes); i++)
        if (kc_str_starts(ref, prefixes[i]))
            return kc_str_sub(ref, prefixes[i].n, ref.n);
    return (kc_str){0};
}

/* "$ref" itself, or that of an allOf which stands for it. */
static const kc_value *ref_of(const kc_value *json)
{
    const kc_value *ref = kc_get(json, "$ref"), *all = kc_get(json, "allOf");
    if (ref && kc_type_of(ref) != KC_NULL)
        return ref;
    if (kc_len(all) != 1 || kc_get(json, "type") || kc_get(json, "properties"))
        return NULL;
    return kc_get(kc_at(all, 0), "$ref");
}

const kc_schema *kc__follow_ref(kc__compiler *c, const kc_value *json, bool *ret_failed)
{
    const kc_value *ref = ref_of(json);
    if (!ref)
        return NULL;
    kc_str name = name_of(kc_as_str(ref));
    const kc_schema *target = name.n ? kc_schema_defs_get(c->in.document, name) : NULL;
    if (!target && name.n)
        target = kc_schema_defs_get(c->outside, name);
    if (target)
        return target;
    *ret_failed = true;
    kc__enter(c, "$ref");
    if (!c->outside && !c->making_defs)
        kc__compile_error(c, "$ref is not supported");
    else
        kc__compile_error(c, "there is no definition \"%.*s\"", KC_ARG(kc_as_str(ref)));
    return NULL;
}

/* The key of a node in a map: its address. `node` must stay where it is. */
static kc_str address(kc_schema *const *node)
{
    return kc_str_of((const char *)node, sizeof(*node));
}

void kc__complete_later(kc__compiler *c, kc_schema *node, const kc_schema *target)
{
    kc__pending *pending = kc_arena_new(&c->in.keys, kc__pending);
    *pending = (kc__pending){.next = c->pending, .node = node, .target = target};
    c->pending = pending;
    kc_map_put(&c->pending_by_node, address(&pending->node), pending);
}

static const kc__extras *merge_extras(kc__compiler *c, const kc__extras *own,
                                      const kc__extras *target)
{
    if (!own || !target)
        return own ? own : target;
    kc__extras both = *own;
    if (!both.default_value)
        both.default_value = target->default_value;
    if (!both.validations)
        both.validations = target->validations;
    if (!both.list_map_keys)
        both.list_map_keys = target->list_map_keys;
    if (!*both.merge_key)
        both.merge_key = target->merge_key;
    return kc__intern(&c->in, KC__K_EXTRAS, &both, sizeof(both));
}

static void take_rest(kc__compiler *c, kc_schema *node, const kc_schema *target)
{
    kc_schema own = *node;
    *node = *target;
    node->flags |= own.flags | KC__DEFAULTS_BELOW | KC__LISTS_BELOW;
    node->flags &= (uint16_t)~KC__IS_ROOT;
    if (own.flags & KC__NULLABLE)
        node->accepts |= KC__NULL;
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

static int complete(kc__compiler *c, kc__pending *pending, unsigned depth)
{
    if (pending->state == KC__FILLED)
        return 0;
    if (pending->state == KC__BEING_FILLED || depth > KC_JSON_MAX_DEPTH)
        return kc__compile_error(c, "a $ref leads back to itself");
    pending->state = KC__BEING_FILLED;
    kc_schema *target = (kc_schema *)pending->target;
    kc__pending *first = kc_map_get(&c->pending_by_node, address(&target));
    if (first && complete(c, first, depth + 1) < 0)
        return -1;
    take_rest(c, pending->node, target);
    pending->state = KC__FILLED;
    return 0;
}

int kc__complete_all(kc__compiler *c)
{
    for (kc__pending *p = c->pending; p; p = p->next)
        if (complete(c, p, 0) < 0)
            return -1;
    return 0;
}

static int compile_definition(kc__compiler *c, kc_str name, const kc_value *json)
{
    size_t before = kc__enter(c, "%.*s", KC_ARG(name));
    kc_schema *node = kc_map_get(&c->in.document->names, name);
    const kc_schema *compiled = kc__compile_node(c, json);
    if (!compiled)
        return -1;
    kc__leave(c, before);
    if (compiled->flags & KC__NAMED)
        kc__complete_later(c, node, compiled); /* It is another definition by another name. */
    else
        *node = *compiled;
    node->flags |= KC__NAMED;
    return 0;
}

static int compile_definitions(kc__compiler *c, const kc_value *definitions)
{
    kc_schema_defs *document = c->in.document;
    if (kc_type_of(definitions) != KC_OBJECT)
        return kc__compile_error(c, "definitions must be an object");
    kc_members (definitions, name, unused) {
        (void)unused;
        kc_schema *node = kc_arena_new(&document->arena, kc_schema);
        node->flags = KC__NAMED;
        kc_map_put(&document->names, kc_str_of(kc__intern_str(&c->in, name), name.n), node);
    }
    kc_members (definitions, name, json)
        if (compile_definition(c, name, json) < 0)
            return -1;
    return kc__complete_all(c);
}

kc_schema_defs *kc_schema_defs_compile(const kc_value *definitions, const kc_schema_opts *opts,
                                       kc_error *err)
{
    kc_scoped(kc__compiler) c;
    kc__compiler_init(&c, opts, err);
    c.making_defs = true;
    if (compile_definitions(&c, definitions) < 0)
        return kc_schema_defs_unref(c.in.document);
    return c.in.document;
}
