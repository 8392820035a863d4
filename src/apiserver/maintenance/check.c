/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c: `kc store check`.
 *
 * The walk over live keys verifies for each that the key belongs to a known resource, that the
 * value can be decrypted and decoded, that the object belongs to its key, and that its revision is
 * one of the store. The walk over history does the same for the keys and values of events, except
 * for encrypted ones: after keys were rotated, old values may be unreadable, which a server
 * accepts. Opening the store and both walks also verify the checksums of the backend.
 *
 * The history of a shared backend (etcd) is not walked: its servers do not load it. Servers may
 * write to such a store meanwhile, so all is read at one revision.
 */
#include "apiserver/maintenance/check.h"

#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/values.h"
#include "apiserver/storage/stored_key.h"
#include "apiserver/storage/stored_marker.h"

typedef struct check_walk {
    kc__storage *storage;
    const kc__maintenance_check_opts *opts;
    kc__maintenance_kinds kinds;
    kc__maintenance_checked *result;
    uint64_t latest;
    uint64_t revision; /* Of the previous event. */
    kc_str prefix;     /* Of the last row of the counts. */
} check_walk;

void kc__maintenance_checked_done(kc__maintenance_checked *checked)
{
    kc_vec_done(&checked->counts);
    kc_arena_done(&checked->arena);
}

static void report_problem(check_walk *w, kc_str key, const char *reason)
{
    w->result->problems++;
    if (w->opts->problem)
        w->opts->problem(key, reason, w->opts->user);
}

static void report_error(check_walk *w, kc_str key, const kc_error *why)
{
    report_problem(w, key, kc_error_text(why));
}

/* ---- counting ---- */

static kc_str resource_name(check_walk *w, kc_str prefix)
{
    kc_arena *arena = &w->result->arena;
    const kc__maintenance_kind *kind = kc__maintenance_kinds_at(&w->kinds, prefix);
    if (!prefix.n)
        return KC_STR("(unknown)");
    if (!kind)
        return kc_arena_str(arena, prefix);
    return kind->group.n ? kc_arena_join(arena, kind->plural, KC_STR("."), kind->group)
                         : kc_arena_str(arena, kind->plural);
}

/* Keys arrive in order, so the keys of a resource are adjacent. */
static kc__maintenance_count *count_of(check_walk *w, kc_str prefix)
{
    kc__maintenance_checked *result = w->result;
    if (!result->counts.n || !kc_str_eq(w->prefix, prefix)) {
        w->prefix = kc_arena_str(&result->arena, prefix);
        kc_vec_push(&result->counts, ((kc__maintenance_count){.name = resource_name(w, prefix)}));
    }
    return kc_vec_last(&result->counts);
}

/* ---- keys and values ---- */

static int check_key(check_walk *w, kc_str key, kc_error *err)
{
    const kc_str prefix = kc__storage_key_prefix(key);
    if (!prefix.n || prefix.n == key.n)
        return kc_error_set(err, KC_INVALID, "the key names no object");
    if (!kc__maintenance_kinds_at(&w->kinds, prefix))
        return kc_error_set(err, KC_INVALID,
                            "no resource has this key: it is not built in, and no "
                            "CustomResourceDefinition of the store defines it");
    return 0;
}

static int check_stored_value(check_walk *w, kc_str key, kc_str value, kc_error *err)
{
    kc_auto(kc_object) *object =
        kc__maintenance_object_of(w->opts->encryption, w->storage, key, value, err);
    return object ? kc__maintenance_check_object(&w->kinds, key, object, err)
                  : kc_error_result(err);
}

static int check_live_entry(const kc__storage_entry *entry, void *user)
{
    check_walk *w = user;
    kc_scoped(kc_error) why = {0};
    if (kc__storage_marker_is_key(entry->key)) {
        kc__storage_marker_refuse(entry->value, &why);
        report_error(w, (kc_str){0}, &why);
        return 0;
    }
    /* Other programs may have keys in a shared storage, which servers ignore. */
    if (kc__maintenance_is_server_record(entry->key) ||
        (!w->storage->backend->exclusive && !kc__maintenance_is_object(entry->key))) {
        w->result->records++;
        return 0;
    }
    kc__maintenance_count *count = count_of(w, kc__storage_key_prefix(entry->key));
    const size_t before = w->result->problems;
    w->result->objects++;
    count->objects++;
    count->bytes += entry->value.n;
    count->encrypted += kc__maintenance_is_encrypted(entry->value);
    if (entry->revision < KC__STORAGE_FIRST || entry->revision > w->latest)
        report_problem(w, entry->key, "its revision is not one of the store");
    if (check_key(w, entry->key, &why) < 0 ||
        check_stored_value(w, entry->key, entry->value, &why) < 0)
        report_error(w, entry->key, &why);
    count->problems += w->result->problems - before;
    return 0;
}

/* ---- history ---- */

static int check_past_value(check_walk *w, kc_str key, kc_str value, kc_error *err)
{
    return kc__maintenance_is_encrypted(value) ? 0 : check_stored_value(w, key, value, err);
}

static int check_past_event(const kc__storage_event *event, void *user)
{
    check_walk *w = user;
    kc_scoped(kc_error) why = {0};
    w->result->events++;
    if (event->revision <= w->revision || event->revision > w->latest ||
        event->previous_revision >= event->revision)
        report_problem(w, event->key,
                       "an event of the history has a revision that is not one of the store");
    w->revision = event->revision;
    if (kc__storage_marker_is_key(event->key))
        return 0;
    const kc_str prefix = kc__storage_key_prefix(event->key);
    /* The definition of an object that was deleted may be gone, too. */
    if (prefix.n && prefix.n < event->key.n && !kc__maintenance_kinds_at(&w->kinds, prefix))
        return 0;
    const bool fails = check_key(w, event->key, &why) < 0 ||
                       (event->verb == KC__STORAGE_PUT &&
                        check_past_value(w, event->key, event->value, &why) < 0) ||
                       (event->previous_revision &&
                        check_past_value(w, event->key, event->previous_value, &why) < 0);
    if (fails) {
        kc_error_wrap(&why, "event %llu of the history", (unsigned long long)event->revision);
        report_error(w, event->key, &why);
    }
    return 0;
}

/* ---- the whole ---- */

/* Damage that the backend finds ends a walk; it is a problem of the contents like others. */
static int damage_is_a_problem(check_walk *w, int failed, kc_error *why, kc_error *err)
{
    if (failed >= 0)
        return 0;
    if (!kc_error_has_reason(why, KC_STORE_READ_ERROR))
        return kc_error_move(err, why);
    report_error(w, (kc_str){0}, why);
    return 0;
}

static int check_live(check_walk *w, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc__storage_list_opts opts = {.revision = w->latest};
    int failed =
        kc__maintenance_kinds_load(&w->kinds, w->storage, w->latest, w->opts->encryption, &why);
    if (failed >= 0)
        failed = kc__storage_list(w->storage, &opts, check_live_entry, w, NULL, &why);
    return damage_is_a_problem(w, failed, &why, err);
}

static int check_history(check_walk *w, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const uint64_t compacted = w->result->state.compacted;
    if (compacted < KC__STORAGE_FIRST || compacted > w->latest)
        report_problem(w, (kc_str){0}, "the compacted revision is not one of the store");
    w->revision = compacted;
    const int failed = kc__storage_history(w->storage, compacted, check_past_event, w, &why);
    return damage_is_a_problem(w, failed, &why, err);
}

static int check_contents(check_walk *w, kc_error *err)
{
    if (check_live(w, err) < 0)
        return kc_error_result(err);
    return w->storage->backend->exclusive ? check_history(w, err) : 0;
}

int kc__maintenance_check(kc__storage *storage, const kc__maintenance_check_opts *opts,
                          kc__maintenance_checked *ret, kc_error *err)
{
    check_walk w = {.storage = storage, .opts = opts, .result = ret};
    if (kc__storage_progress(storage, &ret->state, err) < 0)
        return kc_error_result(err);
    w.latest = ret->state.revision;
    kc__maintenance_kinds_init(&w.kinds);
    const int failed = check_contents(&w, err);
    kc__maintenance_kinds_done(&w.kinds);
    return failed;
}
