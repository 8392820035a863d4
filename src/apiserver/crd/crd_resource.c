/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_resource.c: compiles a CRD.
 *
 *     CRD ─▶ kc__crd ─┬─ arena: all strings, arrays, structs
 *                     ├─ versions[]   kc__custom: schema, columns, paths, fields
 *                     └─ resources[]  kc__resource, for each that is served
 *
 * A resource points to its version and to strings in the arena; registries count references to the
 * whole. Names are the accepted ones, not the requested ones.
 *
 * A schema with its rules is by far the largest part, and the slowest to compile. So it is shared:
 * with the same CRD compiled earlier, and among versions. Two schemas are the same if the digests
 * of their text are; the digested text is not kept.
 */
#include "apiserver/crd/crd_resource_internal.h"
#include "apiserver/crd/custom_ops.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"

#include <openssl/evp.h>

/* Updates must name the version they replace; the generation counts changes. */
static const kc__strategy custom_strategy = {.generation = true, .conditional = true};

enum {
    READ_VERBS =
        KC__VERB_DELETE | KC__VERB_DELETE_COLLECTION | KC__VERB_GET | KC__VERB_LIST | KC__VERB_WATCH
};
enum { CHANGE_VERBS = KC__VERB_GET | KC__VERB_PATCH | KC__VERB_UPDATE };

/* ---- counting ---- */

kc__crd *kc__crd_unref(const kc__crd *crd)
{
    kc__resource_set_unref(crd ? &crd->set : NULL);
    return NULL;
}

static void free_version(const kc__custom *version, kc__custom_parts *parts)
{
    for (size_t i = 0; i < parts->n_paths; i++)
        kc_jsonpath_free(parts->paths[i]);
    kc_path_free(parts->scale.spec_replicas);
    kc_path_free(parts->scale.status_replicas);
    kc_path_free(parts->scale.selector);
    kc_fields_free(version->fields);
    kc_cel_rules_unref(version->rules);
    kc_schema_unref(version->schema);
    kc__crd_topology_free(version);
}

static void free_compiled_crd(kc__resource_set *set)
{
    kc__crd *crd = kc_container_of(set, kc__crd, set);
    for (size_t i = 0; i < crd->n_versions; i++)
        free_version(&crd->versions[i], &crd->parts[i]);
    kc__resource_create_gate_unref(crd->gate);
    kc__resource_unservable_set_free(crd->unservable);
    kc_map_done(&crd->schemas);
    kc_arena_done(&crd->arena);
    free(crd);
}

/* ---- the schema ---- */

/* The first version of a CRD that has the schema with this digest; NULL: none. */
static const kc__custom *find_schema(const kc__crd *crd, kc_str digest)
{
    return crd && digest.n ? kc_map_get(&crd->schemas, digest) : NULL;
}

/* The digest of a schema's text, in the arena. Empty if no digest library is available. */
static kc_str digest_of(kc_arena *arena, kc_str text)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    if (!EVP_Digest(text.p, text.n, digest, &n, EVP_sha256(), NULL))
        return (kc_str){0};
    return kc_arena_str(arena, kc_str_of((char *)digest, n));
}

/* Shares what another version has: the text with a version of the same CRD, the schema itself also
 * with the previously compiled CRD. */
static int compile_schema(kc__crd *crd, kc__custom *version, const kc_value *schema,
                          const kc__crd *before, kc_error *err)
{
    kc__custom_parts *parts = &crd->parts[version - crd->versions];
    version->topology = kc_arena_new(&crd->arena, kc__custom_topology);
    if (!schema)
        return 0;
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, schema);
    parts->digest = digest_of(&crd->arena, kc_buf_str(&text));
    const kc__custom *same = find_schema(crd, parts->digest);
    const kc__custom *earlier = same ? same : find_schema(before, parts->digest);
    version->schema_text = same ? same->schema_text : kc_arena_str(&crd->arena, kc_buf_str(&text));
    version->schema =
        earlier ? kc_schema_ref(earlier->schema) : kc_schema_compile(schema, NULL, err);
    if (!version->schema)
        return kc_error_wrap(err, "version %s", version->version);
    version->rules = earlier ? kc_cel_rules_ref(earlier->rules)
                             : kc_cel_rules_compile(schema, version->schema, NULL);
    if (!same && parts->digest.n)
        kc_map_put(&crd->schemas, parts->digest, version);
    return 0;
}

/* Records whether a schema embeds resources anywhere. */
static void inspect_schema(kc__custom *version, const kc_schema *schema, unsigned depth)
{
    kc_str name;
    const kc_schema *child;
    if (!schema || !depth || version->embeds)
        return;
    version->embeds |= kc_schema_embeds_resource(schema);
    for (size_t at = 0; (child = kc_schema_property_next(schema, &at, &name));)
        inspect_schema(version, child, depth - 1);
    inspect_schema(version, kc_schema_items(schema), depth - 1);
    inspect_schema(version, kc_schema_additional(schema), depth - 1);
}

/* ---- subresources and fields ---- */

static const char *keep_crd_text(kc__crd *crd, kc_str text)
{
    return kc_arena_strndup(&crd->arena, text.p ? text.p : "", text.n);
}

/* Kubernetes splits such paths at dots, whatever is between them. */
static kc_path *split_path(kc_str text, kc_error *err)
{
    kc_path_step steps[KC_PATH_MAX_STEPS];
    size_t n = 0;
    kc_str rest = kc_str_sub(text, kc_str_starts(text, KC_STR(".")), text.n);
    while (rest.p && n < KC_COUNT(steps))
        steps[n++] = (kc_path_step){.name = kc_str_cut(&rest, '.')};
    return kc_path_of(steps, n, err);
}

static kc_path *path_of(kc__crd *crd, const kc_value *scale, const char *member,
                        const char **ret_text, kc_error *err)
{
    kc_str text = kc_value_as_str(kc_value_get(scale, member));
    *ret_text = keep_crd_text(crd, text);
    return split_path(text, err);
}

static int compile_scale(kc__crd *crd, kc__custom *version, const kc_value *scale, kc_error *err)
{
    kc__custom_scale *s = &crd->parts[version - crd->versions].scale;
    if (kc_value_type(scale) != KC_JSON_OBJECT)
        return 0;
    s->spec_replicas = path_of(crd, scale, "specReplicasPath", &s->spec_replicas_text, err);
    if (!s->spec_replicas)
        return kc_error_result(err);
    s->status_replicas = path_of(crd, scale, "statusReplicasPath", &s->status_replicas_text, err);
    if (!s->status_replicas)
        return kc_error_result(err);
    if (kc_value_as_str(kc_value_get(scale, "labelSelectorPath")).n) {
        s->selector = path_of(crd, scale, "labelSelectorPath", &s->selector_text, err);
        if (!s->selector)
            return kc_error_result(err);
    }
    version->scale = s;
    return 0;
}

static int compile_fields(kc__crd *crd, kc__custom *version, const kc_value *fields, kc_error *err)
{
    size_t n = 0;
    kc_field_def *defs = kc_arena_calloc(&crd->arena, kc_value_len(fields) + 1, sizeof(*defs));
    const char **names = kc_arena_calloc(&crd->arena, kc_value_len(fields) + 1, sizeof(*names));
    kc_value_each_item (fields, field) {
        kc_str text = kc_value_as_str(kc_value_get(field, "jsonPath"));
        kc_auto(kc_path) *path = split_path(text, err);
        if (!path)
            return kc_error_result(err);
        text = kc_str_sub(text, kc_str_starts(text, KC_STR(".")), text.n);
        names[n] = keep_crd_text(crd, text);
        defs[n] = (kc_field_def){names[n], keep_crd_text(crd, kc_path_text(path)), NULL};
        n++;
    }
    version->selectable = names;
    version->fields = kc_fields_new(defs, n, err);
    return version->fields ? 0 : kc_error_result(err);
}

/* ---- deprecation ---- */

/* The most stable version that is served and not deprecated; NULL if there is none. */
static const kc_value *best_version(const kc_value *versions)
{
    const kc_value *best = NULL;
    kc_value_each_item (versions, version) {
        kc_str name = kc_value_as_str(kc_value_get(version, "name"));
        if (!kc_value_as_bool(kc_value_get(version, "served"), false) ||
            kc_value_as_bool(kc_value_get(version, "deprecated"), false))
            continue;
        if (!best ||
            kc__registry_version_order(name, kc_value_as_str(kc_value_get(best, "name"))) < 0)
            best = version;
    }
    return best;
}

/* The deprecation warning: use the best version, if that is newer. */
static const char *deprecation_of(kc__crd *crd, const kc__custom *version, const kc_value *from,
                                  const kc_value *best)
{
    if (!kc_value_as_bool(kc_value_get(from, "deprecated"), false))
        return NULL;
    const kc_value *own = kc_value_get(from, "deprecationWarning");
    if (kc_value_type(own) == KC_JSON_STRING)
        return keep_crd_text(crd, kc_value_as_str(own));
    kc_str better = kc_value_as_str(kc_value_get(best, "name"));
    const char *text =
        kc_arena_printf(&crd->arena, "%s %s is deprecated", version->api_version, version->kind);
    if (!best || kc__registry_version_order(better, kc_cstr(version->version)) >= 0)
        return text;
    return kc_arena_printf(&crd->arena, "%s; use %s/%.*s %s", text, version->group, KC_ARG(better),
                           version->kind);
}

/* ---- versions ---- */

static int compile_version(kc__crd *crd, kc__custom *version, const kc_value *from,
                           const kc_value *spec, const kc__crd *before, kc_error *err)
{
    const kc_value *subresources = kc_value_get(from, "subresources");
    version->version = keep_crd_text(crd, kc_value_as_str(kc_value_get(from, "name")));
    version->api_version = kc_arena_printf(&crd->arena, "%s/%s", version->group, version->version);
    version->served = kc_value_as_bool(kc_value_get(from, "served"), false);
    version->storage = kc_value_as_bool(kc_value_get(from, "storage"), false);
    version->preserve = kc_value_as_bool(kc_value_get(spec, "preserveUnknownFields"), false);
    version->status = kc_value_type(kc_value_get(subresources, "status")) == KC_JSON_OBJECT;
    if (version->storage && !crd->storage)
        crd->storage = version;
    if (compile_schema(crd, version, kc__crd_schema_of(from), before, err) < 0 ||
        compile_scale(crd, version, kc_value_get(subresources, "scale"), err) < 0 ||
        compile_fields(crd, version, kc_value_get(from, "selectableFields"), err) < 0)
        return kc_error_result(err);
    inspect_schema(version, version->schema, KC_JSON_MAX_DEPTH);
    kc__crd_columns(&crd->arena, kc_value_get(from, "additionalPrinterColumns"),
                    &crd->parts[version - crd->versions]);
    return 0;
}

static int compile_versions(kc__crd *crd, const kc_value *root, const kc__crd *before,
                            kc_error *err)
{
    const kc_value *spec = kc_value_get(root, "spec"), *versions = kc_value_get(spec, "versions");
    const kc_value *names = kc_value_get(kc_value_get(root, "status"), "acceptedNames");
    kc__custom common = {.crd = crd};
    common.group = keep_crd_text(crd, kc_value_as_str(kc_value_get(spec, "group")));
    common.kind = keep_crd_text(crd, kc_value_as_str(kc_value_get(names, "kind")));
    common.namespaced = kc_str_is(kc_value_as_str(kc_value_get(spec, "scope")), "Namespaced");
    size_t n = kc_value_len(versions);
    crd->versions = kc_arena_calloc(&crd->arena, n + 1, sizeof(*crd->versions));
    crd->parts = kc_arena_calloc(&crd->arena, n + 1, sizeof(*crd->parts));
    const kc_value *best = best_version(versions);
    kc_value_each_item (versions, version) {
        kc__custom *custom = &crd->versions[crd->n_versions++];
        *custom = common;
        if (compile_version(crd, custom, version, spec, before, err) < 0)
            return kc_error_result(err);
        custom->deprecation = deprecation_of(crd, custom, version, best);
    }
    if (!crd->storage)
        return kc_error_set(err, KC_INVALID, "no storage version");
    return 0;
}

/* ---- resources ---- */

static const char *const *keep_list(kc__crd *crd, const kc_value *list)
{
    size_t n = 0;
    const char **texts = kc_arena_calloc(&crd->arena, kc_value_len(list) + 1, sizeof(*texts));
    kc_value_each_item (list, item)
        texts[n++] = keep_crd_text(crd, kc_value_as_str(item));
    return n ? texts : NULL;
}

static const kc__resource_subresource *subresources_of(kc__crd *crd, const kc__custom *version)
{
    kc__resource_subresource *subs = kc_arena_calloc(&crd->arena, 3, sizeof(*subs));
    size_t n = 0;
    if (version->status)
        subs[n++] = (kc__resource_subresource){.name = "status", .verbs = CHANGE_VERBS};
    if (version->scale)
        subs[n++] = (kc__resource_subresource){.name = "scale",
                                               .verbs = CHANGE_VERBS,
                                               .group = "autoscaling",
                                               .version = "v1",
                                               .kind = "Scale"};
    return n ? subs : NULL;
}

/* The storage prefix of its objects; NULL if the prefix is not its own. */
static const char *key_prefix_of(kc__crd *crd, const kc_value *root)
{
    const kc_value *names = kc_value_get(kc_value_get(root, "status"), "acceptedNames");
    const kc_str group = kc_cstr(crd->storage->group),
                 plural = kc_value_as_str(kc_value_get(names, "plural"));
    kc_scoped(kc_buf) prefix = {0};
    kc__resource_key_custom_prefix(&prefix, group, plural);
    if (kc__resource_key_group_is_builtin(group) ||
        kc__resource_key_prefix_is_builtin(kc_buf_str(&prefix)))
        return NULL;
    return keep_crd_text(crd, kc_buf_str(&prefix));
}

static int make_resources(kc__crd *crd, const kc_value *root, kc_error *err)
{
    const char *key_prefix = key_prefix_of(crd, root);
    if (!key_prefix)
        return kc_error_set(err, KC_INVALID, "group \"%s\" is served by a built-in API",
                            crd->storage->group);
    const kc_value *names = kc_value_get(kc_value_get(root, "status"), "acceptedNames");
    kc__resource *list = kc_arena_calloc(&crd->arena, crd->n_versions + 1, sizeof(*list));
    kc__resource common = {
        .plural = keep_crd_text(crd, kc_value_as_str(kc_value_get(names, "plural"))),
        .singular = keep_crd_text(crd, kc_value_as_str(kc_value_get(names, "singular"))),
        .list_kind = keep_crd_text(crd, kc_value_as_str(kc_value_get(names, "listKind"))),
        .verbs = kc__crd_is_terminating(root) ? READ_VERBS : KC__VERB_ALL,
        .accepted_verbs = KC__VERB_ALL,
        .short_names = keep_list(crd, kc_value_get(names, "shortNames")),
        .categories = keep_list(crd, kc_value_get(names, "categories")),
        .strategy = &custom_strategy,
        .ops = &kc__custom_resource_ops,
        .storage_api_version = crd->storage->api_version,
        .scale_columns = &kc__print_custom_scale_columns,
        .unservable = crd->unservable,
    };
    common.storage = kc_arena_printf(&crd->arena, "%s/%s", crd->storage->group, common.plural);
    common.key_prefix = key_prefix;
    for (size_t i = 0; i < crd->n_versions; i++) {
        const kc__custom *version = &crd->versions[i];
        if (!version->served)
            continue;
        kc__resource *resource = &list[crd->set.n++];
        *resource = common;
        resource->group = version->group;
        resource->version = version->version;
        resource->kind = version->kind;
        resource->namespaced = version->namespaced;
        resource->subresources = subresources_of(crd, version);
        resource->custom = version;
        resource->schema = version->schema_text;
        resource->preserves_unknown_fields = version->preserve;
        resource->selectable = version->selectable;
        resource->fields = version->fields;
        resource->deprecation = version->deprecation;
        resource->columns = &crd->parts[i].columns;
    }
    crd->set.resources = list;
    return 0;
}

/* The generation alone does not identify the spec: a deletion increments it too. */
static void identify(kc__crd *crd, const kc_object *object, const kc_value *root,
                     const kc__crd *before)
{
    kc_scoped(kc_buf) text = {0};
    crd->uid = kc_arena_str(&crd->arena, kc_object_uid(object));
    kc_buf_append(&text, crd->uid);
    kc_json_write(&text, kc_value_get(root, "spec"));
    kc_json_write(&text, kc_value_get(kc_value_get(root, "status"), "acceptedNames"));
    crd->identity = digest_of(&crd->arena, kc_buf_str(&text));
    bool same = before && kc_str_eq(before->uid, crd->uid);
    crd->gate = same ? kc__resource_create_gate_ref(before->gate) : kc__resource_create_gate_new();
}

kc__crd *kc__crd_compile(const kc_object *crd, const kc__crd *before, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_auto(kc__crd) *compiled = kc_new(kc__crd);
    kc_ref_init(&compiled->set.refs);
    compiled->set.free = free_compiled_crd;
    compiled->unservable = kc__resource_unservable_set_new();
    if (compile_versions(compiled, kc_view_root(view), before, err) < 0 ||
        make_resources(compiled, kc_view_root(view), err) < 0) {
        kc_error_wrap(err, "custom resource definition %.*s", KC_ARG(kc_object_name(crd)));
        return NULL;
    }
    identify(compiled, crd, kc_view_root(view), before);
    compiled->webhook =
        kc__crd_webhook_read(&compiled->arena, kc_object_name(crd),
                             kc_value_nested(kc_view_root(view), "spec.conversion"));
    return kc_take(compiled);
}

/* ---- accessors ---- */

const kc__resource_set *kc__crd_resources(const kc__crd *crd)
{
    return &crd->set;
}

const kc__custom *kc__crd_versions(const kc__crd *crd, size_t *ret_n)
{
    *ret_n = crd->n_versions;
    return crd->versions;
}

const kc__custom *kc__crd_storage(const kc__crd *crd)
{
    return crd->storage;
}

const kc__custom *kc__crd_version(const kc__crd *crd, kc_str api_version)
{
    size_t n;
    const kc__custom *versions = kc__crd_versions(crd, &n);
    for (size_t i = 0; i < n; i++)
        if (kc_str_is(api_version, versions[i].api_version))
            return &versions[i];
    return NULL;
}

bool kc__crd_serves_alike(const kc__crd *a, const kc__crd *b)
{
    return a == b || (a->identity.n && kc_str_eq(a->identity, b->identity));
}

kc__resource_create_gate *kc__crd_gate(const kc__crd *crd)
{
    return crd->gate;
}
