/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker.c: how restore and migrate fill a store.
 *
 *     begin ─▶ marker, raised revision ─▶ objects, batch by batch ─▶ end: history dropped,
 *                                                                       marker removed
 *
 * Whatever interrupts the operation, the store has the marker until it is complete. History is
 * dropped before the marker is removed, so no complete store has the history of its filling; the
 * removal itself is the only change that may be left in it, and the server ignores that.
 */
#include "apiserver/maintenance/marker.h"

#include "apiserver/maintenance/pages.h"
#include "apiserver/maintenance/submit.h"
#include "kc/arena.h"
#include "kc/vec.h"

int kc__maintenance_marker_get(kc__storage *storage, kc_buf *value, kc__storage_marker *ret_marker,
                               kc_error *err)
{
    uint64_t revision = 0;
    *ret_marker = (kc__storage_marker){0};
    if (kc__storage_get(storage, KC_STR(KC__STORAGE_MARKER_KEY), value, &revision, err) < 0)
        return kc_error_result(err);
    if (revision && !kc__storage_marker_read(kc_buf_str(value), ret_marker))
        return kc_error_set(err, KC_STORE_READ_ERROR, "the value of %s is damaged",
                            KC__STORAGE_MARKER_KEY);
    return 0;
}

int kc__maintenance_require_complete(kc__storage *storage, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker marker;
    if (kc__maintenance_marker_get(storage, &value, &marker, err) < 0)
        return kc_error_result(err);
    return marker.operation.n ? kc__storage_marker_refuse(kc_buf_str(&value), err) : 0;
}

int kc__maintenance_refused(const kc__storage_op *op, kc_error *err)
{
    const char *problem = kc__storage_op_problem(op);
    if (problem)
        return kc_error_set(err, KC_INVALID, "%.*s was not stored: %s", KC_ARG(op->key), problem);
    return kc_error_set(err, KC_TOO_LARGE,
                        "%.*s was not stored: its value has %zu bytes, more than etcd accepts in a "
                        "request; raise --max-request-bytes of etcd",
                        KC_ARG(op->key), op->value.n);
}

/* A key to delete that is gone is deleted: keys of etcd may expire. */
static bool is_done(const kc__storage_op *op, const kc__storage_result *result)
{
    return result->outcome == KC__STORAGE_STORED ||
           (op->verb == KC__STORAGE_DELETE && result->outcome == KC__STORAGE_CONFLICT &&
            !result->revision);
}

int kc__maintenance_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                           kc_error *err)
{
    kc_autofree kc__storage_result *results = kc_calloc(n_ops + 1, sizeof(*results));
    const int failed = storage->backend->submit
                           ? kc__maintenance_submit(storage, ops, n_ops, results, err)
                           : kc__storage_commit(storage, ops, n_ops, results, NULL, err);
    for (size_t i = 0; !failed && i < n_ops; i++) {
        if (results[i].outcome == KC__STORAGE_REFUSED)
            return kc__maintenance_refused(&ops[i], err);
        if (!is_done(&ops[i], &results[i]))
            return kc_error_set(err, KC_CONFLICT,
                                "%.*s was not stored: another process changes the store",
                                KC_ARG(ops[i].key));
    }
    return failed;
}

/* ---- emptying ---- */

typedef struct key_page {
    kc_arena keys;
    KC_VEC(kc__storage_op) ops;
} key_page;

static void key_page_done(key_page *page)
{
    kc_vec_done(&page->ops);
    kc_arena_done(&page->keys);
}

/* The marker stays until the store is complete. */
static int delete_entry(const kc__storage_entry *entry, void *user)
{
    key_page *page = user;
    if (!kc__storage_marker_is_key(entry->key))
        kc_vec_push(&page->ops, ((kc__storage_op){.verb = KC__STORAGE_DELETE,
                                                  .key = kc_arena_str(&page->keys, entry->key),
                                                  .expected = KC__STORAGE_ANY}));
    return 0;
}

static int empty_store(kc__storage *storage, kc_error *err)
{
    kc_scoped(kc__maintenance_pages) pages = {.storage = storage};
    while (!pages.end) {
        kc_scoped(key_page) page = {0};
        if (kc__maintenance_page_read(&pages, delete_entry, &page, err) < 0 ||
            kc__maintenance_commit(storage, page.ops.items, page.ops.n, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* ---- filling ---- */

static int stop_at_first(const kc__storage_entry *entry, void *user)
{
    (void)entry;
    *(bool *)user = true;
    return 1;
}

static int require_empty(kc__storage *storage, kc_error *err)
{
    bool found = false;
    if (kc__storage_load(storage, stop_at_first, &found, NULL, err) < 0)
        return kc_error_result(err);
    if (!found)
        return 0;
    return kc_error_set(err, KC_CONFLICT, "the store has objects: name an empty location%s",
                        storage->backend->exclusive ? ", or remove the store"
                                                    : " or another --etcd-prefix");
}

static int put_marker(kc__storage *storage, const char *operation, uint64_t revision, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker_write(
        &value, &(kc__storage_marker){.operation = kc_cstr(operation), .revision = revision});
    const kc__storage_op op = {.key = KC_STR(KC__STORAGE_MARKER_KEY),
                               .expected = KC__STORAGE_ANY,
                               .value = kc_buf_str(&value)};
    return kc__maintenance_commit(storage, &op, 1, err);
}

static int refuse_other_operation(kc_str operation, kc_error *err)
{
    return kc_error_set(err, KC_CONFLICT,
                        "the store was being filled by 'kc store %.*s', which was interrupted: run "
                        "that again, or remove the store",
                        KC_ARG(operation));
}

int kc__maintenance_begin_fill(kc__storage *storage, const char *operation, uint64_t revision,
                               uint64_t raised, kc_buf *ret_after, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker marker;
    if (kc__maintenance_marker_get(storage, &value, &marker, err) < 0)
        return kc_error_result(err);
    if (!marker.operation.n && require_empty(storage, err) < 0)
        return kc_error_result(err);
    if (marker.operation.n && !kc_str_is(marker.operation, operation))
        return refuse_other_operation(marker.operation, err);
    if (ret_after && marker.operation.n && marker.revision == revision) {
        kc_buf_append(ret_after, marker.after);
        return kc__storage_advance(storage, raised, err);
    }
    if (marker.operation.n && empty_store(storage, err) < 0)
        return kc_error_result(err);
    if (put_marker(storage, operation, revision, err) < 0)
        return kc_error_result(err);
    return kc__storage_advance(storage, raised, err);
}

static int compact_all(kc__storage *storage, kc_error *err)
{
    kc__storage_state state;
    if (kc__storage_progress(storage, &state, err) < 0)
        return kc_error_result(err);
    return kc__storage_compact(storage, state.revision, err);
}

int kc__maintenance_end_fill(kc__storage *storage, kc_error *err)
{
    const kc__storage_op op = {.verb = KC__STORAGE_DELETE,
                               .key = KC_STR(KC__STORAGE_MARKER_KEY),
                               .expected = KC__STORAGE_ANY};
    if (compact_all(storage, err) < 0 || kc__maintenance_commit(storage, &op, 1, err) < 0)
        return kc_error_result(err);
    return compact_all(storage, err);
}
