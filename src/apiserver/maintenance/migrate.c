/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c: `kc store migrate`.
 *
 *     marker, raised revision ─▶ page of the source ─▶ puts, then the marker ─▶ …
 *          ─▶ both sides have the same number of keys and the same digest ─▶ marker removed
 *
 * The whole source is read at one revision. The marker has that revision, and the last key of the
 * page that was stored before it. Puts have no expectation, so a page that was stored without its
 * marker is stored again.
 *
 * An exclusive source cannot change meanwhile: this process has it open. A shared one can. Events
 * expire in etcd while no server runs, which is no change; any other one means that a server runs,
 * whose writes would be lost, and fails the migration. For the same reason the revision of etcd
 * says nothing about a run that was interrupted: the next one compares the objects, and continues
 * at the revision of the marker if they are the same.
 */
#include "apiserver/maintenance/migrate.h"

#include "apiserver/maintenance/batch.h"
#include "apiserver/maintenance/contents.h"
#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/pages.h"

typedef struct store_migration {
    kc__storage *source, *target;
    const kc__maintenance_migrate_opts *opts;
    kc__maintenance_pages pages;
    kc__maintenance_batch batch;
    kc__maintenance_migrated result;
    kc_error *err;
} store_migration;

static void store_migration_done(store_migration *m)
{
    kc__maintenance_pages_done(&m->pages);
    kc__maintenance_batch_done(&m->batch);
}

/* ---- copying ---- */

static int copy_entry(const kc__storage_entry *entry, void *user)
{
    store_migration *m = user;
    kc_scoped(kc_buf) out = {0};
    kc__maintenance_copied copied;
    if (!kc__maintenance_is_object(entry->key)) {
        m->result.left_out++;
        return 0;
    }
    if (kc__maintenance_copy_value(m->source, m->target, entry, &out, &copied, m->err) < 0)
        return kc_error_result(m->err);
    m->result.converted += copied.converted;
    m->result.lossy += copied.lossy;
    kc__maintenance_batch_put(&m->batch, entry->key, copied.value);
    return 0;
}

/* The puts of a page and its marker: in one commit, or the marker after the puts. */
static int store_page(store_migration *m, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker_write(&value, &(kc__storage_marker){.operation = KC_STR("migrate"),
                                                           .revision = m->pages.revision,
                                                           .after = kc_buf_str(&m->pages.after)});
    if (!m->target->backend->exclusive &&
        kc__maintenance_batch_commit(&m->batch, m->target, err) < 0)
        return kc_error_result(err);
    kc__maintenance_batch_put(&m->batch, KC_STR(KC__STORAGE_MARKER_KEY), kc_buf_str(&value));
    return kc__maintenance_batch_commit(&m->batch, m->target, err);
}

static int copy_pages(store_migration *m, kc_error *err)
{
    while (!m->pages.end) {
        if (kc__maintenance_page_read(&m->pages, copy_entry, m, err) < 0)
            return kc_error_wrap(err, "source");
        m->result.copied += m->batch.ops.n;
        if (store_page(m, err) < 0)
            return kc_error_wrap(err, "target");
        if (m->opts->progress)
            m->opts->progress(m->result.copied, m->opts->user);
    }
    return 0;
}

/* ---- comparing ---- */

/* The next run starts from the beginning: its source has another revision than this. */
static int target_differs(store_migration *m, const kc__maintenance_contents *from,
                          const kc__maintenance_contents *to, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker_write(&value, &(kc__storage_marker){.operation = KC_STR("migrate")});
    const kc__storage_op op = {.key = KC_STR(KC__STORAGE_MARKER_KEY),
                               .expected = KC__STORAGE_ANY,
                               .value = kc_buf_str(&value)};
    if (kc__maintenance_commit(m->target, &op, 1, err) < 0)
        return kc_error_wrap(err, "target");
    return kc_error_set(err, KC_INTERNAL,
                        "the target differs from the source: %zu of %zu objects; run the command "
                        "again, which starts from the beginning",
                        to->objects, from->objects);
}

static int require_unchanged_source(store_migration *m, const kc__maintenance_contents *copied,
                                    kc_error *err)
{
    kc__maintenance_contents now;
    if (m->source->backend->exclusive)
        return 0;
    if (kc__maintenance_contents_read(m->source, 0, m->target, &now, err) < 0)
        return kc_error_wrap(err, "source");
    if (kc__maintenance_contents_equal(copied, &now, true))
        return 0;
    return kc_error_set(err, KC_CONFLICT,
                        "source: objects changed since revision %llu, which was copied: stop all "
                        "of its servers and controllers, and run the command again",
                        (unsigned long long)m->pages.revision);
}

static int compare_stores(store_migration *m, kc_error *err)
{
    kc__maintenance_contents from, to;
    if (kc__maintenance_contents_read(m->source, m->pages.revision, m->target, &from, err) < 0)
        return kc_error_wrap(err, "source");
    if (kc__maintenance_contents_read(m->target, 0, NULL, &to, err) < 0)
        return kc_error_wrap(err, "target");
    if (!kc__maintenance_contents_equal(&from, &to, !m->target->backend->exclusive))
        return target_differs(m, &from, &to, err);
    m->result.objects = to.objects;
    return require_unchanged_source(m, &from, err);
}

/* ---- the whole ---- */

/* Whether a shared source has the same objects at the revision of an interrupted run. */
static bool is_unchanged_since(store_migration *m, uint64_t revision)
{
    kc__maintenance_contents then, now;
    return kc__maintenance_contents_read(m->source, revision, m->target, &then, NULL) == 0 &&
           kc__maintenance_contents_read(m->source, 0, m->target, &now, NULL) == 0 &&
           kc__maintenance_contents_equal(&then, &now, true);
}

/* The revision to copy: the latest, or that of an interrupted run. */
static int choose_revision(store_migration *m, uint64_t latest, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker marker;
    m->pages.revision = latest;
    if (m->source->backend->exclusive)
        return 0;
    if (kc__maintenance_marker_get(m->target, &value, &marker, err) < 0)
        return kc_error_wrap(err, "target");
    if (kc_str_is(marker.operation, "migrate") && marker.revision && marker.revision < latest &&
        is_unchanged_since(m, marker.revision))
        m->pages.revision = marker.revision;
    return 0;
}

static int begin_migration(store_migration *m, uint64_t latest, kc_error *err)
{
    const uint64_t margin = m->opts->margin ? m->opts->margin : 1;
    if (margin > INT64_MAX - latest)
        return kc_error_set(err, KC_INVALID, "the revision %llu cannot be raised by %llu",
                            (unsigned long long)latest, (unsigned long long)margin);
    if (choose_revision(m, latest, err) < 0)
        return kc_error_result(err);
    if (kc__maintenance_begin_fill(m->target, "migrate", m->pages.revision, latest + margin,
                                   &m->pages.after, err) < 0)
        return kc_error_wrap(err, "target");
    m->result.resumed = m->pages.after.n > 0;
    return 0;
}

int kc__maintenance_migrate(kc__storage *source, kc__storage *target,
                            const kc__maintenance_migrate_opts *opts, kc__maintenance_migrated *ret,
                            kc_error *err)
{
    kc_scoped(store_migration) m = {.source = source,
                                    .target = target,
                                    .opts = opts,
                                    .pages.storage = source,
                                    .batch.event_ttl = opts->event_ttl,
                                    .err = err};
    kc__storage_state from, to;
    if (kc__maintenance_require_complete(source, err) < 0 ||
        kc__storage_progress(source, &from, err) < 0)
        return kc_error_wrap(err, "source");
    if (begin_migration(&m, from.revision, err) < 0 || copy_pages(&m, err) < 0 ||
        compare_stores(&m, err) < 0 || kc__maintenance_end_fill(target, err) < 0 ||
        kc__storage_progress(target, &to, err) < 0)
        return kc_error_result(err);
    m.result.source_revision = from.revision;
    m.result.target_revision = to.revision;
    *ret = m.result;
    return 0;
}
