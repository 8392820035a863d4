/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c: `kc store import`.
 *
 *     line ─▶ object ─▶ key, stored form ─▶ group of puts ─▶ one commit
 *
 * A group is a group of the storage contract: its operations are stored together. A definition is
 * known to the lines after its own, so a file that has definitions first needs no second pass.
 *
 * With `check_only` the same code runs without the commit: the command reads a file twice, and
 * stores nothing if a line is wrong.
 */
#include "apiserver/maintenance/import.h"

#include "apiserver/maintenance/lines.h"
#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/stored_kinds.h"
#include "apiserver/maintenance/values.h"
#include "kc/vec.h"

/* The values of a group have at most so many bytes, unless it is a single one: etcd accepts
 * requests of 1.5 MiB. */
#define GROUP_BYTES ((size_t)1 << 20)

typedef struct import_item {
    size_t line;
    kc_buf key, value;
} import_item;

typedef struct import_run {
    kc__storage *storage;
    const kc__maintenance_import_opts *opts;
    kc__maintenance_kinds kinds;
    kc__maintenance_lines lines;
    KC_VEC(import_item) items;
    size_t bytes;
    kc__maintenance_imported *result;
    kc_error *err;
} import_run;

static void clear_group(import_run *run)
{
    kc_vec_each (&run->items, item) {
        kc_buf_done(&item->key);
        kc_buf_done(&item->value);
    }
    kc_vec_clear(&run->items);
    run->bytes = 0;
}

static void import_run_done(import_run *run)
{
    clear_group(run);
    kc_vec_done(&run->items);
    kc__maintenance_lines_done(&run->lines);
    kc__maintenance_kinds_done(&run->kinds);
}

/* ---- a group ---- */

static int refuse_existing(import_run *run, const import_item *item)
{
    return kc_error_set(run->err, KC_ALREADY_EXISTS,
                        "line %zu: %.*s exists in the store; --skip-existing keeps the stored "
                        "object, --overwrite replaces it",
                        item->line, KC_ARG(kc_buf_str(&item->key)));
}

static int refuse_value(import_run *run, const kc__storage_op *op, size_t line)
{
    kc__maintenance_refused(op, run->err);
    return kc_error_wrap(run->err, "line %zu", line);
}

static int report_results(import_run *run, const kc__storage_op *ops,
                          const kc__storage_result *results)
{
    for (size_t i = 0; i < run->items.n; i++) {
        const import_item *item = &run->items.items[i];
        if (results[i].outcome == KC__STORAGE_CONFLICT)
            return refuse_existing(run, item);
        if (results[i].outcome == KC__STORAGE_REFUSED)
            return refuse_value(run, &ops[i], item->line);
    }
    return 0;
}

static int commit_group(import_run *run)
{
    kc__storage_op ops[KC__STORAGE_MAX_GROUP];
    kc__storage_result results[KC__STORAGE_MAX_GROUP];
    const size_t n = run->items.n;
    for (size_t i = 0; i < n; i++)
        ops[i] = (kc__storage_op){
            .verb = KC__STORAGE_PUT,
            .key = kc_buf_str(&run->items.items[i].key),
            .value = kc_buf_str(&run->items.items[i].value),
            .expected = run->opts->existing == KC__MAINTENANCE_OVERWRITE ? KC__STORAGE_ANY
                                                                         : KC__STORAGE_ABSENT,
            .ttl = kc__maintenance_ttl(kc_buf_str(&run->items.items[i].key), run->opts->event_ttl),
            .joined = i > 0,
        };
    if (kc__storage_commit(run->storage, ops, n, results, NULL, run->err) < 0)
        return kc_error_wrap(run->err, "lines %zu to %zu", run->items.items[0].line,
                             kc_vec_last(&run->items)->line);
    return report_results(run, ops, results);
}

static int finish_group(import_run *run)
{
    if (run->items.n && !run->opts->check_only && commit_group(run) < 0)
        return kc_error_result(run->err);
    run->result->stored += run->items.n;
    if (run->items.n)
        run->result->lines = kc_vec_last(&run->items)->line;
    clear_group(run);
    if (run->opts->progress)
        run->opts->progress(run->result->lines, run->opts->user);
    return 0;
}

/* ---- a line ---- */

static const import_item *find_in_group(const import_run *run, kc_str key)
{
    kc_vec_each (&run->items, item)
        if (kc_str_eq(kc_buf_str(&item->key), key))
            return item;
    return NULL;
}

/* Whether the object is to be left out, or its key must not exist. */
static int check_existing(import_run *run, const import_item *item, bool *ret_skip)
{
    uint64_t revision = 0;
    *ret_skip = false;
    if (run->opts->existing == KC__MAINTENANCE_OVERWRITE)
        return 0;
    if (kc__storage_get(run->storage, kc_buf_str(&item->key), NULL, &revision, run->err) < 0)
        return kc_error_result(run->err);
    if (revision && run->opts->existing == KC__MAINTENANCE_REFUSE)
        return refuse_existing(run, item);
    *ret_skip = revision != 0;
    return 0;
}

static int encode_object(import_run *run, const kc_object *object, import_item *item)
{
    const kc__maintenance_kind *kind = NULL;
    if (kc__maintenance_key_of(&run->kinds, object, &item->key, &kind, run->err) < 0)
        return kc_error_result(run->err);
    kc_auto(kc_object) *stored = kc__maintenance_stored_form(kind, object, run->err);
    if (!stored ||
        (kind->is_definition && kc__maintenance_kinds_add(&run->kinds, stored, run->err)))
        return kc_error_result(run->err);
    if (kc__maintenance_store_value(run->opts->encryption, run->storage, kc_buf_str(&item->key),
                                    stored, &item->value, run->err) < 0)
        return kc_error_result(run->err);
    const kc__storage_op op = {.key = kc_buf_str(&item->key), .value = kc_buf_str(&item->value)};
    const char *problem = kc__storage_op_problem(&op);
    return problem ? kc_error_set(run->err, KC_TOO_LARGE, "%s", problem) : 0;
}

static int add_to_group(import_run *run, import_item *item)
{
    const import_item *same = find_in_group(run, kc_buf_str(&item->key));
    bool skip = false;
    if (same && run->opts->existing != KC__MAINTENANCE_OVERWRITE)
        return kc_error_set(run->err, KC_INVALID, "line %zu: the object is the same as in line %zu",
                            item->line, same->line);
    const bool full = run->bytes + item->value.n > GROUP_BYTES;
    if (((same || full) && finish_group(run) < 0) || check_existing(run, item, &skip) < 0)
        return kc_error_result(run->err);
    if (skip) {
        run->result->skipped++;
        return 0;
    }
    run->bytes += item->value.n;
    kc_vec_push(&run->items, *item);
    *item = (import_item){0};
    return run->items.n == KC__STORAGE_MAX_GROUP ? finish_group(run) : 0;
}

static int import_line(import_run *run, const kc_object *object)
{
    import_item item = {.line = run->lines.number};
    int failed = encode_object(run, object, &item);
    if (failed)
        failed = kc_error_wrap(run->err, "line %zu", item.line);
    else
        failed = add_to_group(run, &item);
    kc_buf_done(&item.key);
    kc_buf_done(&item.value);
    return failed;
}

static int import_lines(import_run *run)
{
    bool end = false;
    for (;;) {
        kc_auto(kc_object) *object = kc__maintenance_lines_next(&run->lines, &end, run->err);
        if (end)
            return finish_group(run);
        if (!object || import_line(run, object) < 0)
            return kc_error_result(run->err);
    }
}

int kc__maintenance_import(kc__storage *storage, FILE *in, const kc__maintenance_import_opts *opts,
                           kc__maintenance_imported *ret, kc_error *err)
{
    kc_scoped(import_run) run = {
        .storage = storage, .opts = opts, .lines.in = in, .result = ret, .err = err};
    kc__maintenance_kinds_init(&run.kinds);
    if (kc__maintenance_require_complete(storage, err) < 0 ||
        kc__maintenance_kinds_load(&run.kinds, storage, 0, opts->encryption, err) < 0)
        return kc_error_result(err);
    return import_lines(&run);
}
