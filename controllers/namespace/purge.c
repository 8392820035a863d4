/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge.c: deletes everything in a namespace and counts what remains.
 *
 * Pods go first, and no other resource while a pod remains: a pod must not outlive the objects it
 * uses (a network policy that guards it, a secret it reads). All other resources follow in no
 * particular order: with deletecollection where the server supports it, else one by one. Deletions
 * use background propagation: owners and dependents are deleted alike, so neither needs to wait. A
 * failure of one resource does not stop the others.
 *
 * What remains is waiting: pods for their grace period, others for a finalizer. Objects that wait
 * for neither are a failure, which is retried soon. The purge keeps nothing of the listed objects
 * except counts and the names of finalizers.
 */
#include "namespace/purge.h"

#include "kc/kinds.h"
#include "kc/view.h"

/* Estimated time for finalizers. */
enum { FINALIZER_SECONDS = 15 };

void kc__purge_done(kc__purge *purge)
{
    kc_vec_done(&purge->content);
    kc_vec_done(&purge->failures);
    kc_map_done(&purge->finalizers);
    kc_arena_done(&purge->arena);
}

static void note_failure(kc__purge *p, const char *text)
{
    kc_vec_push(&p->failures, kc_arena_printf(&p->arena, "%s", text));
}

/* The server does not support the verb, whatever discovery said. */
static bool is_unsupported(const kc_error *err)
{
    return kc_error_has_reason(err, KC_METHOD_NOT_ALLOWED) || kc_is_not_found(err);
}

/* ---- grace periods ---- */

static int longest_grace(kc_object *pod, void *user, kc_error *err)
{
    int64_t *longest = user;
    (void)err;
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *root = kc_view_root(view);
    const kc_str phase = kc_value_as_str(kc_value_nested(root, "status.phase"));
    if (!kc_str_is(phase, "Succeeded") && !kc_str_is(phase, "Failed"))
        *longest = KC_MAX(
            *longest,
            kc_value_as_i64_or(kc_value_nested(root, "spec.terminationGracePeriodSeconds"), 0));
    kc_object_unref(pod);
    return 0;
}

/* Seconds that pods may take to terminate; 0 if that time has passed since the namespace was
 * deleted. */
static int estimate_grace(kc__purge *p, const kc__purge_content *c, int64_t *ret, kc_error *err)
{
    int64_t seconds = 0;
    if (kc_gvr_eq(kc_kind_gvr(c->kind), kc_kind_gvr(&kc_kind_pod)) &&
        kc_client_list_each(p->client, c->kind, &(kc_list_opts){.ns = p->ns}, longest_grace,
                            &seconds, NULL, err) < 0)
        return kc_error_result(err);
    const int64_t since = (kc_clock_wall(p->clock) - p->deleted_at) / KC_SECOND;
    *ret = since >= seconds ? 0 : seconds;
    return 0;
}

/* ---- deleting ---- */

/* Metadata is enough, and needs no conversion webhook. */
static const kc_delete_opts background = {.propagation = "Background", .metadata_only = true};

typedef struct deleter {
    kc__purge *purge;
    const kc__purge_content *content;
} deleter;

static int purge_delete_one(kc_object *object, void *user, kc_error *err)
{
    const deleter *d = user;
    kc_scoped(kc_error) why = {0};
    const int r = kc_client_delete(d->purge->client, d->content->kind, kc_object_key(object),
                                   &background, &why);
    kc_object_unref(object);
    return r < 0 && !is_unsupported(&why) ? kc_error_move(err, &why) : 0;
}

static int delete_each(kc__purge *p, const kc__purge_content *c, kc_error *err)
{
    deleter d = {p, c};
    kc_scoped(kc_error) why = {0};
    if (!c->can_list ||
        kc_client_list_each(p->client, c->kind, &(kc_list_opts){.ns = p->ns, .metadata_only = true},
                            purge_delete_one, &d, NULL, &why) >= 0 ||
        is_unsupported(&why))
        return 0;
    return kc_error_move(err, &why);
}

static int delete_content(kc__purge *p, const kc__purge_content *c, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    if (!c->can_delete_all)
        return delete_each(p, c, err);
    if (kc_client_delete_all(p->client, c->kind, &(kc_list_opts){.ns = p->ns}, &background, &why) >=
        0)
        return 0;
    return is_unsupported(&why) ? delete_each(p, c, err) : kc_error_move(err, &why);
}

/* ---- counting ---- */

typedef struct purge_counter {
    kc__purge *purge;
    size_t objects, with_finalizers;
} purge_counter;

static void count_finalizer(kc__purge *p, kc_str name)
{
    size_t *n = kc_map_get(&p->finalizers, name);
    if (!n) {
        n = kc_arena_new(&p->arena, size_t);
        kc_map_put(&p->finalizers, kc_arena_str(&p->arena, name), n);
    }
    ++*n;
}

static int count_one(kc_object *object, void *user, kc_error *err)
{
    purge_counter *c = user;
    (void)err;
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_finalizers(object, &arena);
    kc_str name;
    bool any = false;
    while (kc_meta_next_text(&at, &name)) {
        count_finalizer(c->purge, name);
        any = true;
    }
    c->objects++;
    c->with_finalizers += any;
    kc_object_unref(object);
    return 0;
}

/* Counts what remains and estimates the time; negative if objects remain without a reason. */
static int count_content(kc__purge *p, kc__purge_content *c, int64_t grace, kc_error *err)
{
    purge_counter n = {.purge = p};
    kc_scoped(kc_error) why = {0};
    if (!c->can_list ||
        kc_client_list_each(p->client, c->kind, &(kc_list_opts){.ns = p->ns, .metadata_only = true},
                            count_one, &n, NULL, &why) < 0) {
        p->estimate = KC_MAX(p->estimate, grace);
        return !c->can_list || is_unsupported(&why) ? 0 : kc_error_move(err, &why);
    }
    c->remaining = n.objects;
    if (!n.objects)
        return 0;
    const int64_t wait = grace ? grace : n.with_finalizers ? FINALIZER_SECONDS : 0;
    p->estimate = KC_MAX(p->estimate, wait);
    if (wait)
        return 0;
    return kc_error_set(
        err, KC_CONFLICT,
        "unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", p->ns,
        c->kind->group ? c->kind->group : "", c->kind->version, c->kind->plural);
}

/* ---- run ---- */

static void purge_content(kc__purge *p, kc__purge_content *c)
{
    int64_t grace = 0;
    kc_scoped(kc_error) err = {0};
    if (estimate_grace(p, c, &grace, &err) == 0 && delete_content(p, c, &err) == 0 &&
        count_content(p, c, grace, &err) == 0)
        return;
    p->estimate = KC_MAX(p->estimate, grace);
    note_failure(p, kc_error_text(&err));
}

static kc__purge_content *find_pods(kc__purge *p)
{
    kc_vec_each (&p->content, c)
        if (kc_gvr_eq(kc_kind_gvr(c->kind), kc_kind_gvr(&kc_kind_pod)))
            return c;
    return NULL;
}

bool kc__purge_run(kc__purge *purge)
{
    kc__purge_discover(purge);
    kc__purge_content *pods = find_pods(purge);
    if (pods)
        purge_content(purge, pods);
    if (!pods || !pods->remaining)
        kc_vec_each (&purge->content, c)
            if (c != pods)
                purge_content(purge, c);
    return !purge->undiscovered && !purge->unparsed && !purge->failures.n;
}
