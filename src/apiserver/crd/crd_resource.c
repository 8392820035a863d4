/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_resource.c: compiling a definition.
 *
 *     definition ─▶ kc__crd ─┬─ arena: all text, arrays, structs
 *                            ├─ versions[]   kc__custom: schema, columns, paths, fields
 *                            └─ resources[]  kc__resource, for each that is served
 *
 * A resource points to its version and to text in the arena; snapshots count the whole. Names are
 * those that were accepted, not those asked for.
 *
 * A schema is by far the largest part, and the slowest to make. So it is shared: with the same
 * definition compiled earlier, and among versions. Whether two are the same is told by a digest of
 * their text, which is not kept.
 */
#include "apiserver/crd/crd_internal.h"
#include "apiserver/crd/crd_resource_internal.h"
#include "apiserver/crd/crd_status.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"

#include <openssl/evp.h>

/* Updates must name the version they replace; the generation counts changes. */
static const kc__strategy custom_strategy = {.generation = true, .conditional = true};

enum { READ_VERBS = KC__DELETE | KC__DELETE_COLLECTION | KC__GET | KC__LIST | KC__WATCH };
enum { CHANGE_VERBS = KC__GET | KC__PATCH | KC__UPDATE };

/* ---- counting ---- */

kc__crd *kc__crd_ref(const kc__crd *crd)
{
    kc__resource_set_ref(&crd->set);
    return (kc__crd *)crd;
}

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
    kc_schema_unref(version->schema);
}

static void free_all(kc__resource_set *set)
{
    kc__crd *crd = kc_container_of(set, kc__crd, set);
    for (size_t i = 0; i < crd->n_versions; i++)
        free_version(&crd->versions[i], &crd->parts[i]);
    kc__gate_unref(crd->gate);
    kc_arena_done(&crd->arena);
    free(crd);
}

/* ---- the schema ---- */

/* The schema with this digest, if a definition has it. */
static kc_schema *find_schema(const kc__crd *crd, kc_str digest)
{
    for (size_t i = 0; crd && digest.n && i < crd->n_versions; i++)
        if (crd->versions[i].schema && kc_str_eq(crd->parts[i].digest, digest))
            return kc_schema_ref(crd->versions[i].schema);
    return NULL;
}

/* Its text, in the arena: that of another version which is the same. */
static kc_str keep_text(kc__crd *crd, const kc__custom *version, kc_str text)
{
    for (const kc__custom *other = crd->versions; other < version; other++)
        if (kc_str_eq(other->schema_text, text))
            return other->schema_text;
    return kc_arena_str(&crd->arena, text);
}

/* The digest of a schema's text, in the arena. Empty without a library of digests. */
static kc_str digest_of(kc_arena *arena, kc_str text)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    if (!EVP_Digest(text.p, text.n, digest, &n, EVP_sha256(), NULL))
        return (kc_str){0};
    return kc_arena_str(arena, kc_str_of((char *)digest, n));
}

static int compile_schema(kc__crd *crd, kc__custom *version, const kc_value *schema,
                          const kc__crd *before, kc_error *err)
{
    kc__custom_parts *parts = &crd->parts[version - crd->versions];
    if (!schema)
        return 0;
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, schema);
    version->schema_text = keep_text(crd, version, kc_buf_str(&text));
    parts->digest = digest_of(&crd->arena, version->schema_text);
    version->schema = find_schema(before, parts->digest);
    if (!version->schema)
        version->schema = find_schema(crd, parts->digest);
    if (version->schema)
        return 0;
    version->schema = kc_schema_compile(schema, NULL, err);
    return version->schema ? 0 : kc_error_wrap(err, "version %s", version->version);
}

/* Notes what there is anywhere in a schema. */
static void look_into(kc__custom *version, const kc_schema *schema, unsigned depth)
{
    kc_str name;
    const kc_schema *child;
    if (!schema || !depth || (version->rules && version->embeds))
        return;
    version->rules |= kc_schema_validations(schema) != NULL;
    version->embeds |= kc_schema_embeds_resource(schema);
    for (size_t i = 0; (child = kc_schema_property_at(schema, i, &name)); i++)
        look_into(version, child, depth - 1);
    look_into(version, kc_schema_items(schema), depth - 1);
    look_into(version, kc_schema_additional(schema), depth - 1);
}

/* ---- subresources and fields ---- */

static const char *keep(kc__crd *crd, kc_str text)
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
    kc_str text = kc_as_str(kc_get(scale, member));
    *ret_text = keep(crd, text);
    return split_path(text, err);
}

static int compile_scale(kc__crd *crd, kc__custom *version, const kc_value *scale, kc_error *err)
{
    kc__custom_scale *s = &crd->parts[version - crd->versions].scale;
    if (kc_type_of(scale) != KC_OBJECT)
        return 0;
    s->spec_replicas = path_of(crd, scale, "specReplicasPath", &s->spec_replicas_text, err);
    if (!s->spec_replicas)
        return -1;
    s->status_replicas = path_of(crd, scale, "statusReplicasPath", &s->status_replicas_text, err);
    if (!s->status_replicas)
        return -1;
    if (kc_as_str(kc_get(scale, "labelSelectorPath")).n) {
        s->selector = path_of(crd, scale, "labelSelectorPath", &s->selector_text, err);
        if (!s->selector)
            return -1;
    }
    version->scale = s;
    return 0;
}

static int compile_fields(kc__crd *crd, kc__custom *version, const kc_value *fields, kc_error *err)
{
    size_t n = 0;
    kc_field_def *defs = kc_arena_calloc(&crd->arena, kc_len(fields) + 1, sizeof(*defs));
    const char **names = kc_arena_calloc(&crd->arena, kc_len(fields) + 1, sizeof(*names));
    kc_items (fields, field) {
        kc_str text = kc_as_str(kc_get(field, "jsonPath"));
        kc_auto(kc_path) *path = split_path(text, err);
        if (!path)
            return -1;
        text = kc_str_sub(text, kc_str_starts(text, KC_STR(".")), text.n);
        names[n] = keep(crd, text);
        defs[n] = (kc_field_def){names[n], keep(crd, kc_path_text(path)), NULL};
        n++;
    }
    version->selectable = names;
    version->fields = kc_fields_new(defs, n, err);
    return version->fields ? 0 : -1;
}

/* ---- deprecation ---- */

/* The most stable version that is newer and not deprecated itself; NULL when there is none. */
static const kc_value *better_version(const kc_value *versions, kc_str than)
{
    const kc_value *best = NULL;
    kc_items (versions, version) {
        kc_str name = kc_as_str(kc_get(version, "name"));
        if (!kc_as_bool(kc_get(version, "served"), false) ||
            kc_as_bool(kc_get(version, "deprecated"), false) || kc__version_order(name, than) >= 0)
            continue;
        if (!best || kc__version_order(name, kc_as_str(kc_get(best, "name"))) < 0)
            best = version;
    }
    return best;
}

static const char *deprecation_of(kc__crd *crd, const kc__custom *version, const kc_value *from,
                                  const kc_value *versions)
{
    if (!kc_as_bool(kc_get(from, "deprecated"), false))
        return NULL;
    const kc_value *own = kc_get(from, "deprecationWarning");
    if (kc_type_of(own) == KC_STRING)
        return keep(crd, kc_as_str(own));
    const kc_value *better = better_version(versions, kc_cstr(version->version));
    const char *text =
        kc_arena_printf(&crd->arena, "%s %s is deprecated", version->api_version, version->kind);
    if (!better)
        return text;
    return kc_arena_printf(&crd->arena, "%s; use %s/%.*s %s", text, version->group,
                           KC_ARG(kc_as_str(kc_get(better, "name"))), version->kind);
}

/* ---- versions ---- */

static int compile_version(kc__crd *crd, kc__custom *version, const kc_value *from,
                           const kc_value *spec, const kc__crd *before, kc_error *err)
{
    const kc_value *subresources = kc_get(from, "subresources");
    version->version = keep(crd, kc_as_str(kc_get(from, "name")));
    version->api_version = kc_arena_printf(&crd->arena, "%s/%s", version->group, version->version);
    version->served = kc_as_bool(kc_get(from, "served"), false);
    version->storage = kc_as_bool(kc_get(from, "storage"), false);
    version->preserve = kc_as_bool(kc_get(spec, "preserveUnknownFields"), false);
    version->status = kc_type_of(kc_get(subresources, "status")) == KC_OBJECT;
    version->deprecation = deprecation_of(crd, version, from, kc_get(spec, "versions"));
    if (version->storage && !crd->storage)
        crd->storage = version;
    if (compile_schema(crd, version, kc__crd_schema_of(from), before, err) < 0 ||
        compile_scale(crd, version, kc_get(subresources, "scale"), err) < 0 ||
        compile_fields(crd, version, kc_get(from, "selectableFields"), err) < 0)
        return -1;
    look_into(version, version->schema, KC_JSON_MAX_DEPTH);
    kc__custom_columns(&crd->arena, kc_get(from, "additionalPrinterColumns"),
                       &crd->parts[version - crd->versions]);
    return 0;
}

static int compile_versions(kc__crd *crd, const kc_value *root, const kc__crd *before,
                            kc_error *err)
{
    const kc_value *spec = kc_get(root, "spec"), *versions = kc_get(spec, "versions");
    const kc_value *names = kc_get(kc_get(root, "status"), "acceptedNames");
    kc__custom common = {.crd = crd};
    common.group = keep(crd, kc_as_str(kc_get(spec, "group")));
    common.kind = keep(crd, kc_as_str(kc_get(names, "kind")));
    common.namespaced = kc_str_is(kc_as_str(kc_get(spec, "scope")), "Namespaced");
    size_t n = kc_len(versions);
    crd->versions = kc_arena_calloc(&crd->arena, n + 1, sizeof(*crd->versions));
    crd->parts = kc_arena_calloc(&crd->arena, n + 1, sizeof(*crd->parts));
    kc_items (versions, version) {
        kc__custom *custom = &crd->versions[crd->n_versions++];
        *custom = common;
        if (compile_version(crd, custom, version, spec, before, err) < 0)
            return -1;
    }
    if (!crd->storage)
        return kc_error_set(err, KC_INVALID, "it has no version that is stored");
    return 0;
}

/* ---- resources ---- */

static const char *const *keep_list(kc__crd *crd, const kc_value *list)
{
    size_t n = 0;
    const char **texts = kc_arena_calloc(&crd->arena, kc_len(list) + 1, sizeof(*texts));
    kc_items (list, item)
        texts[n++] = keep(crd, kc_as_str(item));
    return n ? texts : NULL;
}

static const kc__subresource *subresources_of(kc__crd *crd, const kc__custom *version)
{
    kc__subresource *subs = kc_arena_calloc(&crd->arena, 3, sizeof(*subs));
    size_t n = 0;
    if (version->status)
        subs[n++] = (kc__subresource){.name = "status", .verbs = CHANGE_VERBS};
    if (version->scale)
        subs[n++] = (kc__subresource){.name = "scale",
                                      .verbs = CHANGE_VERBS,
                                      .group = "autoscaling",
                                      .version = "v1",
                                      .kind = "Scale"};
    return n ? subs : NULL;
}

static void make_resources(kc__crd *crd, const kc_value *root)
{
    const kc_value *names = kc_get(kc_get(root, "status"), "acceptedNames");
    kc__resource *list = kc_arena_calloc(&crd->arena, crd->n_versions + 1, sizeof(*list));
    kc__resource common = {
        .plural = keep(crd, kc_as_str(kc_get(names, "plural"))),
        .singular = keep(crd, kc_as_str(kc_get(names, "singular"))),
        .list_kind = keep(crd, kc_as_str(kc_get(names, "listKind"))),
        .verbs = kc__crd_is_terminating(root) ? READ_VERBS : KC__ALL_VERBS,
        .short_names = keep_list(crd, kc_get(names, "shortNames")),
        .categories = keep_list(crd, kc_get(names, "categories")),
        .strategy = &custom_strategy,
        .storage_api_version = crd->storage->api_version,
    };
    common.storage = kc_arena_printf(&crd->arena, "%s/%s", crd->storage->group, common.plural);
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
        resource->deprecation = version->deprecation;
        resource->columns = &crd->parts[i].columns;
    }
    crd->set.resources = list;
}

/* The generation is no number of the spec: it counts the deletion, too. */
static void identify(kc__crd *crd, const kc_object *object, const kc_value *root,
                     const kc__crd *before)
{
    kc_scoped(kc_buf) text = {0};
    crd->uid = kc_arena_str(&crd->arena, kc_object_uid(object));
    kc_buf_append(&text, crd->uid);
    kc_json_write(&text, kc_get(root, "spec"));
    kc_json_write(&text, kc_get(kc_get(root, "status"), "acceptedNames"));
    crd->identity = digest_of(&crd->arena, kc_buf_str(&text));
    bool same = before && kc_str_eq(before->uid, crd->uid);
    crd->gate = same ? kc__gate_ref(before->gate) : kc__gate_new();
}

kc__crd *kc__crd_compile(const kc_object *crd, const kc__crd *before, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_auto(kc__crd) *compiled = kc_new(kc__crd);
    kc_ref_init(&compiled->set.refs);
    compiled->set.free = free_all;
    if (compile_versions(compiled, kc_view_root(view), before, err) < 0) {
        kc_error_wrap(err, "custom resource definition %.*s", KC_ARG(kc_object_name(crd)));
        return NULL;
    }
    make_resources(compiled, kc_view_root(view));
    identify(compiled, crd, kc_view_root(view), before);
    return kc_take(compiled);
}

/* ---- asking ---- */

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

bool kc__crd_serves_alike(const kc__crd *a, const kc__crd *b)
{
    return a == b || (a->identity.n && kc_str_eq(a->identity, b->identity));
}

kc__gate *kc__crd_gate(const kc__crd *crd)
{
    return crd->gate;
}

size_t kc__crd_memory(const kc__crd *crd)
{
    size_t bytes = sizeof(*crd) + crd->arena.used;
    for (size_t i = 0; i < crd->n_versions; i++) {
        bool counted = false;
        for (size_t j = 0; j < i; j++)
            counted |= crd->versions[j].schema == crd->versions[i].schema;
        if (crd->versions[i].schema && !counted)
            bytes += kc_schema_memory(crd->versions[i].schema);
    }
    return bytes;
}
