/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapper.c: maps kinds and names to resources, discovered from the server on demand.
 *
 * A kind is looked up in its own group version only: one small request. A short name ("deploy") can
 * be in any group, so the first lookup by name discovers all groups. A failed lookup is repeated,
 * because the resource may be installed in the meantime, but not more often than every ten seconds.
 *
 * Returned resources live as long as the client, so nothing is ever freed: a resource that changes
 * (its CRD was deleted and created again) gets a new entry, and the old one stays for callers that
 * hold it. The mutex is not held during requests; two threads may send the same one.
 */
#include "client/rest/client_internal.h"
#include "kc/arena.h"
#include "kc/map.h"

#define LOOKUP_INTERVAL (10 * KC_SECOND)
/* Group versions whose last lookup is remembered. */
enum { MAX_LOOKED_UP = 1000 };

typedef struct resource {
    kc_api_resource api; /* Its kind is the next field. */
    kc_kind kind;
    kc_str key; /* "group/version/Kind" */
} resource;

struct kc__client_mapper {
    kc_mutex mutex; /* Guards all fields; last in the lock order. */
    kc_arena arena;
    kc_map by_kind;            /* Key to resource. */
    KC_VEC(resource *) all;    /* As of the last full discovery. */
    int64_t full_discovery_at; /* Time of the last full discovery; 0: never. */
    kc_map looked_up;          /* "group/version" to the time of the last lookup, an int64_t *. */
};

kc__client_mapper *kc__client_mapper_new(void)
{
    kc__client_mapper *m = kc_new(kc__client_mapper);
    kc_mutex_init(&m->mutex);
    return m;
}

static void forget_lookups(kc__client_mapper *m)
{
    kc_map_each (&m->looked_up, entry) {
        free(entry->value);
        free((char *)entry->key.p);
    }
    kc_map_done(&m->looked_up);
}

kc__client_mapper *kc__client_mapper_free(kc__client_mapper *m)
{
    if (!m)
        return NULL;
    forget_lookups(m);
    kc_map_done(&m->by_kind);
    kc_vec_done(&m->all);
    kc_arena_done(&m->arena);
    kc_mutex_done(&m->mutex);
    free(m);
    return NULL;
}

/* ---- adding resources ---- */

static void client_mapper_write_key(kc_buf *out, kc_gvk gvk)
{
    kc_buf_append(out, gvk.group);
    kc_buf_putc(out, '/');
    kc_buf_append(out, gvk.version);
    kc_buf_putc(out, '/');
    kc_buf_append(out, gvk.kind);
}

static bool client_mapper_is_text(const char *have, kc_str found)
{
    return kc_str_eq(kc_cstr(have), found);
}

static bool are_texts(const char *const *have, const kc_value *found)
{
    size_t i = 0;
    kc_value_each_item (found, item)
        if (!have[i] || !client_mapper_is_text(have[i++], kc_value_as_str(item)))
            return false;
    return !have[i];
}

static bool client_mapper_is_same(const resource *r, const kc__client_discovered *f, bool ranked)
{
    return (!ranked || r->api.preferred == f->preferred) &&
           client_mapper_is_text(r->kind.plural, f->plural) &&
           client_mapper_is_text(r->kind.singular, f->singular) &&
           r->kind.namespaced == f->namespaced && are_texts(r->api.verbs, f->verbs) &&
           are_texts(r->api.short_names, f->short_names) &&
           are_texts(r->api.categories, f->categories);
}

static const char *text(kc__client_mapper *m, kc_str s)
{
    return kc_arena_strndup(&m->arena, s.p ? s.p : "", s.n);
}

static const char *const *texts(kc__client_mapper *m, const kc_value *list)
{
    const char **all = kc_arena_calloc(&m->arena, kc_value_len(list) + 1, sizeof(char *));
    size_t n = 0;
    kc_value_each_item (list, item)
        all[n++] = text(m, kc_value_as_str(item));
    return all;
}

static resource *resource_new(kc__client_mapper *m, const kc__client_discovered *f, kc_str key)
{
    resource *r = kc_arena_new(&m->arena, resource);
    r->key = kc_arena_str(&m->arena, key);
    r->kind = (kc_kind){.group = text(m, f->gvk.group),
                        .version = text(m, f->gvk.version),
                        .kind = text(m, f->gvk.kind),
                        .plural = text(m, f->plural),
                        .singular = text(m, f->singular),
                        .namespaced = f->namespaced};
    r->api = (kc_api_resource){.kind = &r->kind,
                               .verbs = texts(m, f->verbs),
                               .short_names = texts(m, f->short_names),
                               .categories = texts(m, f->categories),
                               .preferred = f->preferred};
    return r;
}

/* Returns the entry of a resource; adds it if it is new. The preferred version is known only if
 * all versions of the group are seen. Requires the mutex. */
static resource *learn(kc__client_mapper *m, const kc__client_discovered *f, bool ranked)
{
    kc_scoped(kc_buf) key = {0};
    client_mapper_write_key(&key, f->gvk);
    resource *r = kc_map_get(&m->by_kind, kc_buf_str(&key));
    if (r && client_mapper_is_same(r, f, ranked))
        return r;
    r = resource_new(m, f, kc_buf_str(&key));
    kc_map_put(&m->by_kind, r->key, r);
    return r;
}

static void learn_one(const kc__client_discovered *found, void *user)
{
    kc__client_mapper *m = user;
    kc_locked (&m->mutex)
        learn(m, found, false);
}

/* ---- by kind ---- */

static const kc_kind *find_kind(kc__client_mapper *m, kc_gvk gvk)
{
    kc_scoped(kc_buf) key = {0};
    const resource *r = NULL;
    client_mapper_write_key(&key, gvk);
    kc_locked (&m->mutex)
        r = kc_map_get(&m->by_kind, kc_buf_str(&key));
    return r ? &r->kind : NULL;
}

/* Returns the time of the last lookup of a group version; adds an entry if there is none.
 * Requires the mutex. */
static int64_t *lookup_time(kc__client_mapper *m, kc_gvk gvk)
{
    kc_scoped(kc_buf) key = {0};
    kc_api_version_write(&key, gvk.group, gvk.version);
    int64_t *at = kc_map_get(&m->looked_up, kc_buf_str(&key));
    if (at)
        return at;
    if (m->looked_up.n >= MAX_LOOKED_UP)
        forget_lookups(m);
    at = kc_new(int64_t);
    const kc_str own = kc_buf_str(&key);
    kc_map_put(&m->looked_up, kc_str_of(kc_str_dup(own), own.n), at);
    return at;
}

static bool was_looked_up(kc_client *client, kc_gvk gvk)
{
    kc__client_mapper *m = client->core->mapper;
    const int64_t now = kc_clock_now(client->core->clock);
    bool recent = false;
    kc_locked (&m->mutex) {
        const int64_t at = *lookup_time(m, gvk);
        recent = at && now - at < LOOKUP_INTERVAL;
    }
    return recent;
}

static int discover_version(kc_client *client, kc_gvk gvk, kc_error *err)
{
    kc__client_mapper *m = client->core->mapper;
    kc_scoped(kc_error) why = {0};
    const int r = kc__client_discover_version(client, gvk.group, gvk.version, learn_one, m, &why);
    if (r < 0 && why.reason != KC_NOT_FOUND)
        return kc_error_move(err, &why);
    const int64_t now = kc_clock_now(client->core->clock);
    kc_locked (&m->mutex)
        *lookup_time(m, gvk) = now;
    return 0;
}

static const kc_kind *no_such_kind(kc_gvk gvk, kc_error *err)
{
    kc_scoped(kc_buf) version = {0};
    kc_api_version_write(&version, gvk.group, gvk.version);
    kc_error_set(err, KC_NOT_FOUND, "no matches for kind \"%.*s\" in version \"%s\"",
                 KC_ARG(gvk.kind), kc_buf_cstr(&version));
    return NULL;
}

const kc_kind *kc__client_kind_refresh(kc_client *client, kc_gvk gvk, kc_error *err)
{
    kc__client_mapper *m = client->core->mapper;
    const kc_kind *kind = find_kind(m, gvk);
    if (kind)
        return kind;
    if (discover_version(client, gvk, err) < 0)
        return NULL;
    kind = find_kind(m, gvk);
    return kind ? kind : no_such_kind(gvk, err);
}

const kc_kind *kc_client_kind(kc_client *client, kc_gvk gvk, kc_error *err)
{
    if (!was_looked_up(client, gvk))
        return kc__client_kind_refresh(client, gvk, err);
    const kc_kind *kind = find_kind(client->core->mapper, gvk);
    return kind ? kind : no_such_kind(gvk, err);
}

/* ---- by name ---- */

typedef KC_VEC(resource *) resource_vec;

typedef struct learner {
    kc__client_mapper *mapper;
    resource_vec all;
} learner;

static void learn_all(const kc__client_discovered *found, void *user)
{
    learner *l = user;
    resource *r = NULL;
    kc_locked (&l->mapper->mutex)
        r = learn(l->mapper, found, true);
    kc_vec_push(&l->all, r);
}

/* Discovers all resources now. The caller owns the vector. */
static int discover_all(kc_client *client, resource_vec *ret, kc_error *missing, kc_error *err)
{
    kc__client_mapper *m = client->core->mapper;
    learner l = {.mapper = m};
    const int r = kc__client_discover_all(client, learn_all, &l, missing, err);
    if (r < 0) {
        kc_vec_done(&l.all);
        return r;
    }
    const int64_t now = kc_clock_now(client->core->clock);
    kc_locked (&m->mutex) {
        m->full_discovery_at = now;
        kc_vec_clear(&m->all);
        kc_vec_each (&l.all, found)
            kc_vec_push(&m->all, *found);
    }
    *ret = l.all;
    return 0;
}

static bool has_short_name(const resource *r, kc_str name)
{
    for (const char *const *s = r->api.short_names; *s; s++)
        if (kc_str_eq_nocase(kc_cstr(*s), name))
            return true;
    return false;
}

/* Returns how well a name matches; 0: no match. */
static int client_mapper_fits(const resource *r, const kc_resource_arg *arg)
{
    const kc_str name = arg->resource.resource, group = kc_cstr(r->kind.group);
    const bool exact = arg->has_gvr && kc_str_eq(arg->gvr.group, group) &&
                       kc_str_is(arg->gvr.version, r->kind.version);
    if (!exact && arg->resource.group.n && !kc_str_eq(arg->resource.group, group))
        return 0;
    const int by_name = kc_str_eq_nocase(kc_cstr(r->kind.plural), name)     ? 3
                        : kc_str_eq_nocase(kc_cstr(r->kind.singular), name) ? 2
                        : has_short_name(r, name)                           ? 1
                                                                            : 0;
    return by_name ? by_name * 4 + exact * 2 + r->api.preferred : 0;
}

static const kc_kind *find_name(kc__client_mapper *m, const kc_resource_arg *arg)
{
    const resource *best = NULL;
    int best_fit = 0;
    kc_locked (&m->mutex)
        kc_vec_each (&m->all, r) {
            const int fit = client_mapper_fits(*r, arg);
            if (fit > best_fit) {
                best = *r;
                best_fit = fit;
            }
        }
    return best ? &best->kind : NULL;
}

static bool discovered_recently(kc_client *client)
{
    kc__client_mapper *m = client->core->mapper;
    const int64_t now = kc_clock_now(client->core->clock);
    bool recent = false;
    kc_locked (&m->mutex)
        recent = m->full_discovery_at && now - m->full_discovery_at < LOOKUP_INTERVAL;
    return recent;
}

const kc_kind *kc_client_kind_of_resource(kc_client *client, kc_str name, kc_error *err)
{
    kc__client_mapper *m = client->core->mapper;
    const kc_resource_arg arg = kc_resource_arg_parse(name);
    const kc_kind *kind = find_name(m, &arg);
    if (!kind && !discovered_recently(client)) {
        kc_scoped(kc_error) missing = {0};
        resource_vec all = {0};
        if (discover_all(client, &all, &missing, err) < 0)
            return NULL;
        kc_vec_done(&all);
        kind = find_name(m, &arg);
    }
    if (!kind)
        kc_error_set(err, KC_NOT_FOUND, "the server doesn't have a resource type \"%.*s\"",
                     KC_ARG(name));
    return kind;
}

/* Returns one error for all groups that failed; the causes name each group. */
static void report_missing(const kc_error *missing, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!missing->reason)
        return;
    kc_vec_each (&missing->causes, cause)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "; " : "", cause->field, cause->message);
    kc_error_set(err, missing->reason, "%s", kc_buf_cstr(&text));
    kc_vec_each (&missing->causes, cause)
        kc_error_add_cause(err, "", kc_cstr(cause->field), kc_cstr(cause->message));
}

int kc_client_discover(kc_client *client, void (*each)(const kc_api_resource *resource, void *user),
                       void *user, kc_error *err)
{
    kc_scoped(kc_error) missing = {0};
    resource_vec all = {0};
    const int r = discover_all(client, &all, &missing, err);
    if (r < 0)
        return r;
    kc_vec_each (&all, found)
        each(&(*found)->api, user);
    kc_vec_done(&all);
    report_missing(&missing, err);
    return 0;
}
