/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_schema.c: how the fields of kinds merge, from the server's OpenAPI documents.
 *
 *     GET /openapi/v3/apis/apps/v1 ──▶ components.schemas ──▶ kc__fields_types
 *                                        └ x-kubernetes-group-version-kind ──▶ kinds
 *
 * A document describes one group version, and so does a kc_merge_schema. The client keeps the last
 * MAX_KEPT of them for SCHEMA_TTL: a definition of a custom resource may change its lists. Threads
 * that need the same document at the same time each fetch it; the last one is kept.
 */
#include "client/rest/merge_schema.h"

#include "kc/ascii.h"
#include "kc/view.h"

/* As client-go's extractor. */
#define SCHEMA_TTL KC_MINUTE
enum { MAX_KEPT = 32 };
#define MAX_DOCUMENT ((size_t)64 << 20)

/* A kind, and the type of its objects. */
typedef struct merge_kind {
    char *group, *version, *kind;
    const kc__fields_type *type;
} merge_kind;

struct kc_merge_schema {
    kc_ref refs;
    kc__fields_types *types;
    KC_VEC(merge_kind) kinds;
};

/* ---- a document ---- */

kc_merge_schema *kc_merge_schema_ref(const kc_merge_schema *schema)
{
    kc_merge_schema *shared = (kc_merge_schema *)schema;
    if (shared)
        kc_ref_add(&shared->refs);
    return shared;
}

kc_merge_schema *kc_merge_schema_unref(kc_merge_schema *schema)
{
    if (!schema || !kc_ref_drop(&schema->refs))
        return NULL;
    kc_vec_each (&schema->kinds, kind) {
        free(kind->group);
        free(kind->version);
        free(kind->kind);
    }
    kc_vec_done(&schema->kinds);
    kc__fields_types_free(schema->types);
    free(schema);
    return NULL;
}

/* A definition may be of several kinds: those of DeleteOptions are of every group. */
static void add_kinds(kc_merge_schema *schema, kc_str name, const kc_value *definition)
{
    const kc__fields_type *type = kc__fields_types_get(schema->types, name);
    if (!type)
        return;
    kc_value_each_item (kc_value_get(definition, "x-kubernetes-group-version-kind"), gvk) {
        const merge_kind kind = {
            .group = kc_str_dup(kc_value_as_str(kc_value_get(gvk, "group"))),
            .version = kc_str_dup(kc_value_as_str(kc_value_get(gvk, "version"))),
            .kind = kc_str_dup(kc_value_as_str(kc_value_get(gvk, "kind"))),
            .type = type,
        };
        kc_vec_push(&schema->kinds, kind);
    }
}

/* components.schemas of v3, definitions of v2. */
static const kc_value *definitions_of(const kc_value *document)
{
    const kc_value *v3 = kc_value_get(kc_value_get(document, "components"), "schemas");
    return v3 ? v3 : kc_value_get(document, "definitions");
}

static kc_merge_schema *schema_of_definitions(const kc_value *definitions, kc_error *err)
{
    kc_auto(kc_merge_schema) *schema = kc_new(kc_merge_schema);
    kc_ref_init(&schema->refs);
    schema->types = kc__fields_types_new();
    if (kc__fields_types_add_openapi(schema->types, definitions, NULL, err) < 0)
        return NULL;
    kc__fields_types_finish(schema->types);
    kc_value_each_member (definitions, name, definition)
        add_kinds(schema, name, definition);
    return kc_take(schema);
}

kc_merge_schema *kc_merge_schema_parse(kc_str json, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, &(kc_json_opts){.max_bytes = MAX_DOCUMENT}, err);
    const kc_value *definitions = view ? definitions_of(kc_view_root(view)) : NULL;
    if (view && kc_value_type(definitions) != KC_JSON_OBJECT)
        kc_error_set(err, KC_INVALID, "not an OpenAPI document: it has no schemas");
    if (kc_value_type(definitions) != KC_JSON_OBJECT)
        return NULL;
    return schema_of_definitions(definitions, err);
}

const kc__fields_type *kc__client_merge_type(const kc_merge_schema *schema, kc_gvk gvk)
{
    kc_vec_each (&schema->kinds, kind)
        if (kc_str_is(gvk.kind, kind->kind) && kc_str_is(gvk.version, kind->version) &&
            kc_str_is(gvk.group, kind->group))
            return kind->type;
    return NULL;
}

/* ---- the documents of a server ---- */

typedef struct kept_schema {
    char *path;
    kc_merge_schema *schema;
    int64_t fetched;
} kept_schema;

struct kc__client_schemas {
    kc_mutex mutex; /* Guards all fields; last in the lock order. */
    KC_VEC(kept_schema) kept;
};

kc__client_schemas *kc__client_schemas_new(void)
{
    kc__client_schemas *schemas = kc_new(kc__client_schemas);
    kc_mutex_init(&schemas->mutex);
    return schemas;
}

static void drop_schema(kept_schema *kept)
{
    free(kept->path);
    kc_merge_schema_unref(kept->schema);
}

void kc__client_schemas_free(kc__client_schemas *schemas)
{
    kc_vec_each (&schemas->kept, kept)
        drop_schema(kept);
    kc_vec_done(&schemas->kept);
    kc_mutex_done(&schemas->mutex);
    free(schemas);
}

static kc_merge_schema *find_recent_schema(kc_client *client, const char *path)
{
    kc__client_schemas *schemas = client->core->schemas;
    const int64_t now = kc_clock_now(client->core->clock);
    kc_merge_schema *found = NULL;
    kc_locked (&schemas->mutex)
        kc_vec_each (&schemas->kept, kept)
            if (!strcmp(kept->path, path) && now - kept->fetched < SCHEMA_TTL)
                found = kc_merge_schema_ref(kept->schema);
    return found;
}

/* The place of a path: its own, a new one, or that of the oldest document. Requires the mutex. */
static kept_schema *place_of_schema(kc__client_schemas *schemas, const char *path)
{
    kept_schema *oldest = NULL;
    kc_vec_each (&schemas->kept, kept) {
        if (!strcmp(kept->path, path))
            return kept;
        if (!oldest || kept->fetched < oldest->fetched)
            oldest = kept;
    }
    if (schemas->kept.n >= MAX_KEPT)
        return oldest;
    kc_vec_push(&schemas->kept, (kept_schema){0});
    return &schemas->kept.items[schemas->kept.n - 1];
}

static void keep_schema(kc_client *client, const char *path, const kc_merge_schema *schema)
{
    kc__client_schemas *schemas = client->core->schemas;
    kept_schema old = {0};
    const kept_schema fresh = {.path = kc_strdup(path),
                               .schema = kc_merge_schema_ref(schema),
                               .fetched = kc_clock_now(client->core->clock)};
    kc_locked (&schemas->mutex) {
        kept_schema *place = place_of_schema(schemas, path);
        old = *place;
        *place = fresh;
    }
    drop_schema(&old);
}

static kc_merge_schema *fetch_schema(kc_client *client, const char *path, kc_error *err)
{
    kc_scoped(kc_buf) document = {.limit = MAX_DOCUMENT};
    if (kc_client_raw(client, "GET", kc_cstr(path), (kc_str){0}, (kc_str){0}, &document, err) < 0) {
        kc_error_wrap(err, "get the OpenAPI document");
        return NULL;
    }
    kc_merge_schema *schema = kc_merge_schema_parse(kc_buf_str(&document), err);
    if (!schema)
        kc__client_bad_response(err, path);
    return schema;
}

/* The group version comes from an object and becomes a part of a URL. */
static bool is_group_version(kc_gvk gvk)
{
    const kc_str parts[] = {gvk.group, gvk.version};
    for (size_t i = 0; i < KC_COUNT(parts); i++)
        for (size_t k = 0; k < parts[i].n; k++)
            if (!kc_is_alnum(parts[i].p[k]) && parts[i].p[k] != '-' && parts[i].p[k] != '.')
                return false;
    return gvk.version.n > 0 && gvk.version.p[0] != '.' && !kc_str_starts(gvk.group, KC_STR("."));
}

kc_merge_schema *kc_client_merge_schema(kc_client *client, kc_gvk gvk, kc_error *err)
{
    if (!is_group_version(gvk)) {
        kc_error_set(err, KC_BAD_REQUEST, "invalid group \"%.*s\" or version \"%.*s\"",
                     KC_ARG(gvk.group), KC_ARG(gvk.version));
        return NULL;
    }
    kc_autofree char *path = gvk.group.n ? kc_asprintf("/openapi/v3/apis/%.*s/%.*s",
                                                       KC_ARG(gvk.group), KC_ARG(gvk.version))
                                         : kc_asprintf("/openapi/v3/api/%.*s", KC_ARG(gvk.version));
    kc_merge_schema *schema = find_recent_schema(client, path);
    if (schema)
        return schema;
    schema = fetch_schema(client, path, err);
    if (schema)
        keep_schema(client, path, schema);
    return schema;
}
