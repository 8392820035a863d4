/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_backend.c: opens and reads a storage in etcd.
 *
 * A list reads pages at one revision: that of the first page. History is not loaded: it is complete
 * from the revision of a list on.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

#include "apiserver/storage/stored_key.h"

#define PREFIX       "/registry"
#define WAIT         (30 * KC_SECOND)
#define RETRY_AFTER  (500 * KC_MILLISECOND)
#define OPEN_TIMEOUT (5 * KC_SECOND)
enum { PAGE = 1000 };

/* ---- keys ---- */

/* Keys of the program itself are below the prefix, too: PREFIX/kc/NAME is /kc/NAME of the storage.
 * No resource has the prefix "kc/" (stored_key.c). */
#define OWN_KEYS KC_STR("kc/")

/* Replaces the prefix of a key. */
static kc_str replace_prefix(kc_str key, kc_str from, kc_str to, kc_arena *arena)
{
    if (kc_str_eq(from, to))
        return key;
    return kc_arena_join(arena, to, kc_str_sub(key, KC_MIN(from.n, key.n), key.n), (kc_str){0});
}

kc_str kc__storage_etcd_key(const kc__storage_etcd *s, kc_str key, kc_arena *arena)
{
    const kc_str prefix = kc_cstr(s->prefix);
    if (kc_str_starts(key, KC_STR(KC__STORAGE_KEY_OWN)))
        return kc_arena_join(arena, prefix, kc_str_sub(key, 1, key.n), (kc_str){0});
    return replace_prefix(key, KC_STR(KC__STORAGE_KEY_ROOT), prefix, arena);
}

kc_str kc__storage_etcd_own_key(const kc__storage_etcd *s, kc_str key, kc_arena *arena)
{
    const kc_str prefix = kc_cstr(s->prefix);
    if (!kc_str_starts(key, prefix))
        return (kc_str){0};
    const kc_str rest = kc_str_sub(key, prefix.n, key.n);
    if (kc_str_starts(rest, OWN_KEYS))
        return kc_arena_join(arena, KC_STR("/"), rest, (kc_str){0});
    return replace_prefix(key, prefix, KC_STR(KC__STORAGE_KEY_ROOT), arena);
}

/* ---- errors ---- */

int kc__storage_etcd_error(const kc__etcd_reply *reply, kc_error *err)
{
    return kc_error_set(err, reply->err.reason, "etcd: %s", kc_error_text(&reply->err));
}

/* ---- reading ---- */

static int etcd_get(kc__storage *storage, kc_str key, kc_buf *ret_value, uint64_t *ret_revision,
                    kc_error *err)
{
    const kc__storage_etcd *s = kc__storage_etcd_of(storage);
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(
        s->client, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                       .range = {.key = kc__storage_etcd_key(s, key, &arena)}});
    if (reply->code != KC__ETCD_OK)
        return kc__storage_etcd_error(reply, err);
    const kc__etcd_key_values *found = &reply->range->kvs;
    *ret_revision = found->n ? (uint64_t)found->items[0].mod_revision : 0;
    if (found->n && ret_value)
        kc_buf_append(ret_value, found->items[0].value);
    return 0;
}

/* A walk over pages. */
typedef struct etcd_list {
    const kc__storage_etcd *s;
    kc__storage_entry_fn *each;
    void *user;
    kc_arena arena;
    kc_buf next; /* The first key of the next page. */
    kc_str end;
    int64_t revision;
    size_t left; /* Of the limit. SIZE_MAX: none. */
    bool more;
} etcd_list;

static void etcd_list_done(etcd_list *l)
{
    kc_arena_done(&l->arena);
    kc_buf_done(&l->next);
}

/* Calls `each` for the keys of a page. */
static int list_entries(etcd_list *l, const kc__etcd_range_response *page)
{
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; l->each && i < page->kvs.n; i++) {
        const kc__etcd_key_value *kv = &page->kvs.items[i];
        const kc__storage_entry entry = {.key = kc__storage_etcd_own_key(l->s, kv->key, &arena),
                                         .value = kv->value,
                                         .revision = (uint64_t)kv->mod_revision};
        const int stopped = l->each(&entry, l->user);
        if (stopped)
            return stopped;
    }
    return 0;
}

static int list_page(etcd_list *l, kc_error *err)
{
    const size_t limit = KC_MIN(l->left, (size_t)PAGE);
    kc_auto(kc__etcd_reply) *reply =
        kc__etcd_call(l->s->client, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                                        .range = {.key = kc_buf_str(&l->next),
                                                                  .range_end = l->end,
                                                                  .limit = (int64_t)limit,
                                                                  .revision = l->revision}});
    if (reply->code != KC__ETCD_OK)
        return kc__storage_etcd_error(reply, err);
    const kc__etcd_range_response *page = reply->range;
    if (!l->revision)
        l->revision = reply->revision;
    l->more = page->more && page->kvs.n;
    l->left -= l->left == SIZE_MAX ? 0 : page->kvs.n;
    const int stopped = list_entries(l, page);
    if (page->kvs.n) {
        kc_buf_clear(&l->next);
        kc_buf_append(&l->next, page->kvs.items[page->kvs.n - 1].key);
        kc_buf_append(&l->next, kc_str_of("\0", 1));
    }
    return stopped;
}

static int etcd_list_all(kc__storage *storage, const kc__storage_list_opts *opts,
                         kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                         kc_error *err)
{
    kc_scoped(etcd_list) l = {.s = kc__storage_etcd_of(storage),
                              .each = each,
                              .user = user,
                              .revision = (int64_t)opts->revision,
                              .left = opts->limit ? opts->limit : SIZE_MAX};
    const kc_str prefix = opts->prefix.n ? opts->prefix : KC_STR(KC__STORAGE_KEY_ROOT);
    const kc_str first = kc__storage_etcd_key(l.s, prefix, &l.arena);
    l.end = kc__etcd_prefix_end(&l.arena, first);
    kc_buf_append(&l.next,
                  opts->after.n ? kc__storage_etcd_key(l.s, opts->after, &l.arena) : first);
    if (opts->after.n)
        kc_buf_append(&l.next, kc_str_of("\0", 1));
    do {
        const int stopped = list_page(&l, err);
        if (stopped)
            return stopped;
    } while (l.more && l.left);
    if (ret_state)
        *ret_state = (kc__storage_state){
            .revision = (uint64_t)l.revision, .compacted = (uint64_t)l.revision, .more = l.more};
    return 0;
}

/* ---- progress ---- */

/* Any linearizable read tells the revision; this one finds nothing. */
static kc__etcd_request revision_request(const kc__storage_etcd *s)
{
    return (kc__etcd_request){
        .method = KC__ETCD_RANGE, .quick = true, .range = {.key = kc_cstr(s->prefix)}};
}

int kc__storage_etcd_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err)
{
    const kc__storage_etcd *s = kc__storage_etcd_of(storage);
    const kc__etcd_request request = revision_request(s);
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(s->client, &request);
    if (reply->code != KC__ETCD_OK)
        return kc__storage_etcd_error(reply, err);
    *ret_state = (kc__storage_state){.revision = (uint64_t)reply->revision};
    return 0;
}

static void query_done(kc__etcd_reply *arrived, void *user)
{
    kc_auto(kc__etcd_reply) *reply = arrived;
    kc__storage_query *query = user;
    if (reply->code == KC__ETCD_OK)
        query->revision = (uint64_t)reply->revision;
    else
        kc__storage_etcd_error(reply, &query->error);
    query->done(query);
}

static void etcd_query(kc__storage *storage, kc__storage_query *query)
{
    const kc__storage_etcd *s = kc__storage_etcd_of(storage);
    const kc__etcd_request request = revision_request(s);
    kc__etcd_call_start(s->client, &request, query_done, query);
}

int kc__storage_etcd_compact(kc__storage *storage, uint64_t revision, kc_error *err)
{
    const kc__storage_etcd *s = kc__storage_etcd_of(storage);
    kc_auto(kc__etcd_reply) *reply =
        kc__etcd_call(s->client, &(kc__etcd_request){.method = KC__ETCD_COMPACT,
                                                     .compact = {.revision = (int64_t)revision}});
    if (reply->code == KC__ETCD_OK || reply->code == KC__ETCD_COMPACTED)
        return 0;
    return kc__storage_etcd_error(reply, err);
}

/* ---- opening ---- */

static char *prefix_of(const kc__storage_etcd_opts *opts)
{
    kc_scoped(kc_buf) text = {0};
    kc_str prefix = kc_cstr(opts->prefix ? opts->prefix : PREFIX);
    while (prefix.n && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    kc_buf_printf(&text, "%s%.*s/", prefix.n && prefix.p[0] == '/' ? "" : "/", KC_ARG(prefix));
    return kc_strdup(kc_buf_cstr(&text));
}

/* Waits until etcd answers. */
static int await_etcd(const kc__storage_etcd *s, const kc__storage_opts *opts, kc_error *err)
{
    const kc_clock *clock = opts->clock ? opts->clock : kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, opts->etcd->wait ? opts->etcd->wait : WAIT);
    kc__etcd_request request = revision_request(s);
    request.timeout = OPEN_TIMEOUT;
    for (bool told = false;; told = true) {
        kc_auto(kc__etcd_reply) *reply = kc__etcd_call(s->client, &request);
        if (reply->code == KC__ETCD_OK)
            return 0;
        if (kc_clock_now(clock) >= deadline)
            return kc__storage_etcd_error(reply, err);
        if (!told)
            kc_log_warn(s->log, "waiting for etcd", kc_kv("err", &reply->err));
        kc_clock_sleep(clock, RETRY_AFTER);
    }
}

static int start_compactor(kc__storage_etcd *s, const kc__storage_opts *opts, kc_error *err)
{
    s->periodic = kc__periodic_new(opts->clock);
    if (opts->etcd->compaction_interval)
        kc__periodic_add(s->periodic, opts->etcd->compaction_interval,
                         kc__storage_etcd_run_compactor, s);
    return kc__periodic_start(s->periodic, "compactor", err);
}

static void etcd_close(kc__storage *storage)
{
    kc__storage_etcd *s = kc__storage_etcd_of(storage);
    s->periodic = kc__periodic_free(s->periodic);
    s->client = kc__etcd_close(s->client);
    kc_mutex_done(&s->leases.mutex);
    free(s->prefix);
    free(s);
}

static int etcd_open(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err)
{
    const kc__storage_etcd_opts *o = opts->etcd;
    if (!o || !o->n_endpoints)
        return kc_error_set(err, KC_INVALID, "the backend etcd needs the URL of an etcd server");
    kc__storage_etcd *s = kc_new(kc__storage_etcd);
    s->base.backend = &kc__storage_etcd_backend;
    s->prefix = prefix_of(o);
    s->base.root = s->prefix;
    s->log = opts->log;
    s->advanced = o->advanced;
    s->advanced_user = o->user;
    s->leases.clock = opts->clock ? opts->clock : kc_clock_real();
    kc_mutex_init(&s->leases.mutex);
    s->client = kc__etcd_open(&(kc__etcd_opts){.endpoints = o->endpoints,
                                               .n_endpoints = o->n_endpoints,
                                               .ca_file = o->ca_file,
                                               .cert_file = o->cert_file,
                                               .key_file = o->key_file,
                                               .timeout = o->timeout,
                                               .clock = opts->clock,
                                               .log = opts->log,
                                               .metrics = opts->metrics},
                              err);
    if (!s->client || await_etcd(s, opts, err) < 0 || start_compactor(s, opts, err) < 0) {
        etcd_close(&s->base);
        return kc_error_result(err);
    }
    *ret_storage = &s->base;
    return 0;
}

const kc__storage_backend kc__storage_etcd_backend = {
    .name = "etcd",
    .durable = true,
    .open = etcd_open,
    .get = etcd_get,
    .list = etcd_list_all,
    .commit = kc__storage_etcd_commit,
    .watch = kc__storage_etcd_watch,
    .unwatch = kc__storage_etcd_unwatch,
    .compact = kc__storage_etcd_compact,
    .advance = kc__storage_etcd_advance,
    .progress = kc__storage_etcd_progress,
    .submit = kc__storage_etcd_submit,
    .query = etcd_query,
    .request_progress = kc__storage_etcd_request_progress,
    .close = etcd_close,
};
