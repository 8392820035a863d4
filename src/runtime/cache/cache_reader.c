/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_reader.c: reads from the cache, directly and through the kc_reader interface.
 *
 * The first term of a field selector that requires one value of an index is looked up in that
 * index; the other terms are compared at the paths that they name. Own writes are passed to the
 * informers of their kind. For a kind without an informer the cache records the revision, and the
 * informer's first list must be at least that new.
 */
#include "runtime/cache/cache_internal.h"
#include "runtime/cache/scope.h"

#include <inttypes.h>

/* ---- get ---- */

static int check_kept(const kc_informer *informer, kc_str ns, kc_error *err)
{
    if (kc__informer_has_namespace(informer, ns))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "the cache of %s does not include namespace \"%.*s\"",
                        kc_informer_kind(informer)->plural, KC_ARG(ns));
}

static void set_not_found(const kc_kind *kind, kc_str name, kc_error *err)
{
    kc_scoped(kc_buf) resource = {0};
    kc_group_resource_write(&resource,
                            (kc_group_resource){kc_cstr(kind->group), kc_cstr(kind->plural)});
    kc_error_set(err, KC_NOT_FOUND, "%s \"%.*s\" not found", kc_buf_cstr(&resource), KC_ARG(name));
    if (err)
        kc_error_about(err, kc_cstr(kind->group), kc_cstr(kind->plural), name);
}

static kc__cache_want wanted(bool metadata_only)
{
    return metadata_only ? KC__CACHE_WANT_METADATA : KC__CACHE_WANT_OBJECTS;
}

static kc_object *cache_reader_get(kc_cache *cache, const kc_kind *kind, kc_key key,
                                   kc__cache_want want, kc_cancel *cancel, kc_error *err)
{
    kc_auto(kc_informer) *informer = kc__cache_use(cache, kind, want, err);
    if (!informer || kc__informer_await(informer, cache->opts.sync_timeout, cancel, err) < 0)
        return NULL;
    if (!kind->namespaced)
        key.ns = (kc_str){0};
    if (check_kept(informer, key.ns, err) < 0)
        return NULL;
    kc_object *found = kc__informer_get(informer, key);
    if (!found)
        set_not_found(kind, key.name, err);
    return found;
}

kc_object *kc_cache_get(kc_cache *cache, const kc_kind *kind, kc_key key, kc_error *err)
{
    return cache_reader_get(cache, kind, key, KC__CACHE_WANT_OBJECTS, NULL, err);
}

/* ---- list ---- */

/* The parsed parts of a query. */
typedef struct parsed {
    kc_selector *labels;
    kc_field_selector *selector; /* As the caller gave it; the query's index points into it. */
    kc_field_selector *fields;   /* The terms left to compare. */
    kc_fields *field_paths;
} parsed;

static void parsed_done(parsed *p)
{
    kc_selector_free(p->labels);
    kc_field_selector_free(p->selector);
    kc_field_selector_free(p->fields);
    kc_fields_free(p->field_paths);
}

/* Uses the first term that requires one value of an index. */
static void cache_reader_use_index(const kc_informer *informer, const parsed *p,
                                   kc__cache_query *query)
{
    size_t n;
    const kc_field_requirement *terms = kc_field_selector_requirements(p->selector, &n);
    for (size_t k = 0; k < n && !query->index.p; k++)
        if (!terms[k].negated && kc__informer_has_index(informer, terms[k].field)) {
            query->index = terms[k].field;
            query->value = terms[k].value;
        }
}

/* Drops the term that the index handles: its name need not be a path. */
static int but_indexed(kc_str field, kc_str value, kc_str *ret_field, kc_str *ret_value,
                       kc_error *err, void *user)
{
    (void)err;
    const kc__cache_query *query = user;
    if (query->index.p && kc_str_eq(field, query->index) && kc_str_eq(value, query->value))
        *ret_field = *ret_value = (kc_str){0};
    return 0;
}

static int parse_fields(const kc_informer *informer, const char *text, parsed *p,
                        kc__cache_query *query, kc_error *err)
{
    p->selector = kc_field_selector_parse(kc_cstr(text), err);
    if (!p->selector)
        return kc_error_result(err);
    if (!query->index.p)
        cache_reader_use_index(informer, p, query);
    p->fields = kc_field_selector_transform(p->selector, but_indexed, query, err);
    p->field_paths = p->fields ? kc__cache_fields_named_by(p->fields, err) : NULL;
    if (!p->field_paths)
        return kc_error_result(err);
    if (!kc_field_selector_is_everything(p->fields))
        query->fields = p->fields;
    query->field_paths = p->field_paths;
    return 0;
}

static int parse_query(const kc_informer *informer, const kc_list_opts *opts, parsed *p,
                       kc__cache_query *query, kc_error *err)
{
    if (opts->continue_token && *opts->continue_token)
        return kc_error_set(err, KC_BAD_REQUEST, "a cache does not support continue tokens");
    *query = (kc__cache_query){.limit = opts->limit > 0 ? (size_t)opts->limit : SIZE_MAX};
    if (kc_informer_kind(informer)->namespaced)
        query->ns = kc_cstr(opts->ns);
    if (opts->index) {
        query->index = kc_cstr(opts->index);
        query->value = kc_cstr(opts->value);
    }
    if (opts->labels) {
        p->labels = kc_selector_parse(kc_cstr(opts->labels), err);
        if (!p->labels)
            return kc_error_result(err);
        query->labels = p->labels;
    }
    if (opts->fields && parse_fields(informer, opts->fields, p, query, err) < 0)
        return kc_error_result(err);
    return check_kept(informer, query->ns, err);
}

static int run_query(kc_informer *informer, const kc__cache_query *query, kc_object_list *ret,
                     kc_error *err)
{
    kc__cache_object_vec found = {0};
    uint64_t revision = 0;
    int failed = kc__informer_list(informer, query, &found, &revision, err);
    if (failed < 0)
        return failed;
    *ret = (kc_object_list){
        .items = found.items, .n = found.n, .resource_version = kc_asprintf("%" PRIu64, revision)};
    return 0;
}

static int list(kc_cache *cache, const kc_kind *kind, const kc_list_opts *opts, kc_cancel *cancel,
                kc_object_list *ret, kc_error *err)
{
    static const kc_list_opts everything;
    opts = opts ? opts : &everything;
    kc_auto(kc_informer) *informer = kc__cache_use(cache, kind, wanted(opts->metadata_only), err);
    if (!informer)
        return kc_error_result(err);
    int failed = kc__informer_await(informer, cache->opts.sync_timeout, cancel, err);
    if (failed < 0)
        return failed;
    kc_scoped(parsed) p = {0};
    kc__cache_query query;
    failed = parse_query(informer, opts, &p, &query, err);
    return failed < 0 ? failed : run_query(informer, &query, ret, err);
}

int kc_cache_list(kc_cache *cache, const kc_kind *kind, const kc_list_opts *opts,
                  kc_object_list *ret, kc_error *err)
{
    return list(cache, kind, opts, NULL, ret, err);
}

/* ---- own writes ---- */

static void kind_text(const kc_kind *kind, kc_buf *out)
{
    kc_gvk_write(out, kc_kind_gvk(kind));
}

uint64_t kc__cache_written(const kc_cache *cache, const kc_kind *kind)
{
    kc_scoped(kc_buf) text = {0};
    kind_text(kind, &text);
    const kc__cache_last_write *written = kc_map_get(&cache->written, kc_buf_str(&text));
    return written ? written->revision : 0;
}

void kc__cache_written_done(kc_cache *cache)
{
    kc_map_each (&cache->written, entry)
        free(entry->value);
    kc_map_done(&cache->written);
}

/* Call it with the mutex held. */
static void cache_reader_record(kc_cache *cache, const kc_kind *kind, uint64_t revision)
{
    kc_scoped(kc_buf) text = {0};
    kind_text(kind, &text);
    kc__cache_last_write *written = kc_map_get(&cache->written, kc_buf_str(&text));
    if (!written) {
        written = kc_calloc(1, sizeof(*written) + text.n);
        memcpy(written->kind, text.p, text.n);
        kc_map_put(&cache->written, kc_str_of(written->kind, text.n), written);
    }
    written->revision = KC_MAX(written->revision, revision);
}

/* The informer of a kind (of metadata, or of full objects), with a use added; NULL if there is
 * none. */
static kc_informer *informer_of(kc_cache *cache, const kc_kind *kind, bool metadata_only)
{
    kc_informer *found = NULL;
    kc_locked (&cache->mutex)
        kc_vec_each (&cache->informers, it)
            if (kc__cache_same_kind(kc_informer_kind(*it), kind) &&
                kc__informer_metadata_only(*it) == metadata_only)
                found = kc__informer_use(*it);
    return found;
}

static bool cache_reader_is_of(const kc_kind *kind, const kc_object *object)
{
    kc_str kind_name = kc_object_kind(object);
    return !kind_name.n ||
           kc_str_is(kind_name, kind->kind); /* The response may be a Scale or a Status. */
}

static void wrote(kc_cache *cache, const kc_kind *kind, const kc_object *object, bool deleted)
{
    if (!cache_reader_is_of(kind, object))
        return;
    kc_locked (&cache->mutex)
        cache_reader_record(cache, kind, kc_object_revision(object));
    for (int metadata_only = 0; metadata_only < 2; metadata_only++) {
        kc_auto(kc_informer) *informer = informer_of(cache, kind, metadata_only);
        if (informer)
            kc__informer_note_write(informer, object, deleted);
    }
}

/* ---- kc_reader ---- */

static kc_cache *cache_reader_cache_of(kc_reader *reader)
{
    return kc_container_of(reader, kc_cache, reader);
}

static kc_object *reader_get(kc_reader *reader, const kc_kind *kind, kc_key key,
                             const kc_get_opts *opts, kc_cancel *cancel, kc_error *err)
{
    return cache_reader_get(cache_reader_cache_of(reader), kind, key, wanted(opts->metadata_only),
                            cancel, err);
}

static int reader_list(kc_reader *reader, const kc_kind *kind, const kc_list_opts *opts,
                       kc_cancel *cancel, kc_object_list *ret, kc_error *err)
{
    return list(cache_reader_cache_of(reader), kind, opts, cancel, ret, err);
}

static void reader_wrote(kc_reader *reader, const kc_kind *kind, const kc_object *object,
                         bool deleted)
{
    wrote(cache_reader_cache_of(reader), kind, object, deleted);
}

const kc_reader_ops kc__cache_reader_ops = {reader_get, reader_list, reader_wrote};

kc_client *kc_cache_client(kc_cache *cache)
{
    return kc_client_with(cache->client, &(kc_client_overrides){.reader = &cache->reader});
}
