/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_mapper.c: which resource an object of a kind is, learnt from the server when it is needed.
 *
 * A kind is looked up by asking for its group and version alone: one small request. A name
 * ("deploy") could be in any group, so for it everything is asked for, once. What was not there is
 * asked for again, because somebody may install it meanwhile, but not more often than every ten
 * seconds.
 *
 * What is returned lives as long as the client, so nothing is ever freed: a resource that changes
 * (a definition was deleted and made anew) gets a new entry, and the old one stays for those who
 * hold it. The mutex is not held while the server is asked; two threads may ask the same.
 */
#include "client/client_internal.h"
#include "kc/arena.h"
#include "kc/map.h"

#define ASK_AGAIN (10 * KC_SECOND)
/* Versions of groups that are remembered as asked for. */
enum { MAX_ASKED = 1000 };

typedef struct resource {
    kc_api_resource api; /* Its kind is the next. */
    kc_kind kind;
    kc_str key; /* "group/version/Kind" */
} resource;

struct kc__mapper {
    kc_mutex mutex; /* Guards everything; taken last. */
    kc_arena arena;
    kc_map by_kind;         /* Of resource, by its key. */
    KC_VEC(resource *) all; /* As discovery told them last. */
    int64_t all_asked;      /* When; 0: never. */
    kc_map asked;           /* By "group/version": when, as an int64_t *. */
};

kc__mapper *kc__mapper_new(void)
{
    kc__mapper *m = kc_new(kc__mapper);
    kc_mutex_init(&m->mutex);
    return m;
}

static void forget_asked(kc__mapper *m)
{
    kc_map_each (&m->asked, entry) {
        free(entry->value);
        free((char *)entry->key.p);
    }
    kc_map_done(&m->asked);
}

kc__mapper *kc__mapper_free(kc__mapper *m)
{
    if (!m)
        return NULL;
    forget_asked(m);
    kc_map_done(&m->by_kind);
    kc_vec_done(&m->all);
    kc_arena_done(&m->arena);
    kc_mutex_done(&m->mutex);
    free(m);
    return NULL;
}

/* ---- learning ---- */

static void write_key(kc_buf *out, kc_gvk gvk)
{
    kc_buf_append(out, gvk.group);
    kc_buf_putc(out, '/');
    kc_buf_append(out, gvk.version);
    kc_buf_putc(out, '/');
    kc_buf_append(out, gvk.kind);
}

static bool is_text(const char *have, kc_str found)
{
    return kc_str_eq(kc_cstr(have), found);
}

static bool are_texts(const char *const *have, const kc_value *found)
{
    size_t i = 0;
    kc_items (found, item)
        if (!have[i] || !is_text(have[i++], kc_as_str(item)))
            return false;
    return !have[i];
}

static bool is_same(const resource *r, const kc__found *f, bool ranked)
{
    return (!ranked || r->api.preferred == f->preferred) && is_text(r->kind.plural, f->plural) &&
           is_text(r->kind.singular, f->singular) && r->kind.namespaced == f->namespaced &&
           are_texts(r->api.verbs, f->verbs) && are_texts(r->api.short_names, f->short_names) &&
           are_texts(r->api.categories, f->categories);
}

static const char *text(kc__mapper *m, kc_str s)
{
    return kc_arena_strndup(&m->arena, s.p ? s.p : "", s.n);
}

static const char *const *texts(kc__mapper *m, const kc_value *list)
{
    const char **all = kc_arena_calloc(&m->arena, kc_len(list) + 1, sizeof(char *));
    size_t n = 0;
    kc_items (list, item)
        all[n++] = text(m, kc_as_str(item));
    return all;
}

static resource *resource_new(kc__mapper *m, const kc__found *f, kc_str key)
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

/* Its entry, made if it is new. Only who sees all versions of a group knows which is preferred.
 * With the mutex held. */
static resource *learn(kc__mapper *m, const kc__found *f, bool ranked)
{
    kc_scoped(kc_buf) key = {0};
    write_key(&key, f->gvk);
    resource *r = kc_map_get(&m->by_kind, kc_buf_str(&key));
    if (r && is_same(r, f, ranked))
        return r;
    r = resource_new(m, f, kc_buf_str(&key));
    kc_map_put(&m->by_kind, r->key, r);
    return r;
}

static void learn_one(const kc__found *found, void *user)
{
    kc__mapper *m = user;
    kc_locked (&m->mutex)
        learn(m, found, false);
}

/* ---- by kind ---- */

static const kc_kind *find_kind(kc__mapper *m, kc_gvk gvk)
{
    kc_scoped(kc_buf) key = {0};
    const resource *r = NULL;
    write_key(&key, gvk);
    kc_locked (&m->mutex)
        r = kc_map_get(&m->by_kind, kc_buf_str(&key));
    return r ? &r->kind : NULL;
}

/* When a version of a group was asked for; made if it was not. With the mutex held. */
static int64_t *asked_at(kc__mapper *m, kc_gvk gvk)
{
    kc_scoped(kc_buf) key = {0};
    kc_api_version_write(&key, gvk.group, gvk.version);
    int64_t *at = kc_map_get(&m->asked, kc_buf_str(&key));
    if (at)
        return at;
    if (m->asked.n >= MAX_ASKED)
        forget_asked(m);
    at = kc_new(int64_t);
    const kc_str own = kc_buf_str(&key);
    kc_map_put(&m->asked, kc_str_of(kc_str_dup(own), own.n), at);
    return at;
}

static bool was_asked(kc_client *client, kc_gvk gvk)
{
    kc__mapper *m = client->core->mapper;
    const int64_t now = kc_clock_now(client->core->clock);
    bool recent = false;
    kc_locked (&m->mutex) {
        const int64_t at = *asked_at(m, gvk);
        recent = at && now - at < ASK_AGAIN;
    }
    return recent;
}

static int ask_version(kc_client *client, kc_gvk gvk, kc_error *err)
{
    kc__mapper *m = client->core->mapper;
    kc_scoped(kc_error) why = {0};
    const int r = kc__discover_version(client, gvk.group, gvk.version, learn_one, m, &why);
    if (r < 0 && why.reason != KC_NOT_FOUND)
        return kc_error_move(err, &why);
    const int64_t now = kc_clock_now(client->core->clock);
    kc_locked (&m->mutex)
        *asked_at(m, gvk) = now;
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

const kc_kind *kc__client_kind_now(kc_client *client, kc_gvk gvk, kc_error *err)
{
    kc__mapper *m = client->core->mapper;
    const kc_kind *kind = find_kind(m, gvk);
    if (kind)
        return kind;
    if (ask_version(client, gvk, err) < 0)
        return NULL;
    kind = find_kind(m, gvk);
    return kind ? kind : no_such_kind(gvk, err);
}

const kc_kind *kc_client_kind(kc_client *client, kc_gvk gvk, kc_error *err)
{
    if (!was_asked(client, gvk))
        return kc__client_kind_now(client, gvk, err);
    const kc_kind *kind = find_kind(client->core->mapper, gvk);
    return kind ? kind : no_such_kind(gvk, err);
}

/* ---- by name ---- */

typedef KC_VEC(resource *) resource_vec;

typedef struct learner {
    kc__mapper *mapper;
    resource_vec all;
} learner;

static void learn_all(const kc__found *found, void *user)
{
    learner *l = user;
    resource *r = NULL;
    kc_locked (&l->mapper->mutex)
        r = learn(l->mapper, found, true);
    kc_vec_push(&l->all, r);
}

/* Everything, asked now. The vector is the caller's. */
static int ask_all(kc_client *client, resource_vec *ret, kc_error *missing, kc_error *err)
{
    kc__mapper *m = client->core->mapper;
    learner l = {.mapper = m};
    const int r = kc__discover_all(client, learn_all, &l, missing, err);
    if (r < 0) {
        kc_vec_done(&l.all);
        return r;
    }
    const int64_t now = kc_clock_now(client->core->clock);
    kc_locked (&m->mutex) {
        m->all_asked = now;
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

/* How well a name fits; 0: not at all. */
static int fits(const resource *r, const kc_resource_arg *arg)
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

static const kc_kind *find_name(kc__mapper *m, const kc_resource_arg *arg)
{
    const resource *best = NULL;
    int best_fit = 0;
    kc_locked (&m->mutex)
        kc_vec_each (&m->all, r) {
            const int fit = fits(*r, arg);
            if (fit > best_fit) {
                best = *r;
                best_fit = fit;
            }
        }
    return best ? &best->kind : NULL;
}

static bool all_asked(kc_client *client)
{
    kc__mapper *m = client->core->mapper;
    const int64_t now = kc_clock_now(client->core->clock);
    bool recent = false;
    kc_locked (&m->mutex)
        recent = m->all_asked && now - m->all_asked < ASK_AGAIN;
    return recent;
}

const kc_kind *kc_client_kind_of_resource(kc_client *client, kc_str name, kc_error *err)
{
    kc__mapper *m = client->core->mapper;
    const kc_resource_arg arg = kc_resource_arg_parse(name);
    const kc_kind *kind = find_name(m, &arg);
    if (!kind && !all_asked(client)) {
        kc_scoped(kc_error) missing = {0};
        resource_vec all = {0};
        if (ask_all(client, &all, &missing, err) < 0)
            return NULL;
        kc_vec_done(&all);
        kind = find_name(m, &arg);
    }
    if (!kind)
        kc_error_set(err, KC_NOT_FOUND, "the server doesn't have a resource type \"%.*s\"",
                     KC_ARG(name));
    return kind;
}

/* One error of all that is missing; the causes say it group by group. */
static void tell_missing(const kc_error *missing, kc_error *err)
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
    const int r = ask_all(client, &all, &missing, err);
    if (r < 0)
        return r;
    kc_vec_each (&all, found)
        each(&(*found)->api, user);
    kc_vec_done(&all);
    tell_missing(&missing, err);
    return 0;
}
