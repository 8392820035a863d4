/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests_read.c: reads the directory: which objects it defines, and what is wrong with it.
 *
 * A file is read as a whole or not at all: if one of its documents is broken, none of its objects
 * is applied. Every defect makes the work incomplete, so that nothing is deleted.
 *
 * Limits of the whole directory (files, bytes) end the sync before the first object is applied;
 * those of a file concern this file only.
 */
#include "runtime/manifests/manifests_internal.h"

#include "kc/file.h"

void kc__manifests_id(const kc__manifests *m, kc_buf *out, kc_gvk gvk, kc_key key)
{
    kc_group_kind_write(out, (kc_group_kind){gvk.group, gvk.kind});
    kc_buf_putc(out, ' ');
    kc_buf_append(out, key.ns.n ? key.ns : kc_cstr(m->opts.ns));
    kc_buf_putc(out, ' ');
    kc_buf_append(out, key.name);
}

/* A file that is being written, or vanished during the walk: the next event leads to a sync. */
static void file_busy(kc__manifests_work *w, const char *path)
{
    kc_log_debug(w->m->opts.log, "manifest is being written", kc_kv("file", path));
    w->complete = false;
    w->m->busy = true;
}

/* ---- reading ---- */

/* An empty file is what a full disk or a power failure leaves of a manifest. */
static int read_manifest(kc__manifests_work *w, const char *path, kc_buf *text, kc_error *err)
{
    if (kc_file_read(path, KC_APPLY_MAX_TEXT, text, err) < 0)
        return kc_error_result(err);
    w->bytes += text->n;
    if (!text->n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s: the file is empty; to delete its objects, delete it or write a "
                            "comment into it",
                            path);
    return 0;
}

static void parse_manifest(kc__manifests_work *w, const char *path, kc_str text)
{
    kc_scoped(kc_error) why = {0};
    const size_t before = w->items.n;
    if (kc__apply_read(&w->items, &(kc_apply_source){path, text}, &why) == 0)
        return;
    while (w->items.n > before)
        kc_object_unref(kc_vec_pop(&w->items).object);
    kc__manifests_file_problem(w, KC__MANIFESTS_STAGE_PARSE, NULL, &why);
}

static int add_manifest(kc__manifests_work *w, const kc__apply_tree_file *file, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) why = {0};
    const int64_t now = kc_clock_now(kc_clock_real());
    if (kc_is_not_found(&file->err) || kc__manifests_watch_is_open(w->m->watch, file->path, now)) {
        file_busy(w, file->path);
        return 0;
    }
    if (file->err.reason) {
        kc__manifests_file_problem(w, KC__MANIFESTS_STAGE_READ, file->path, &file->err);
        return 0;
    }
    if (read_manifest(w, file->path, &text, &why) == 0) {
        if (w->bytes > KC_APPLY_MAX_DIR)
            return kc_error_set(err, KC_TOO_LARGE, "%s has manifests of more than %zu bytes",
                                w->m->dir, KC_APPLY_MAX_DIR);
        parse_manifest(w, file->path, kc_buf_str(&text));
    } else if (kc_is_not_found(&why)) {
        file_busy(w, file->path);
    } else {
        kc__manifests_file_problem(w, KC__MANIFESTS_STAGE_READ, NULL, &why);
    }
    return 0;
}

static void visit_directory(const char *path, void *user)
{
    const kc__manifests_work *w = user;
    kc__manifests_watch_visit(w->m->watch, path);
}

int kc__manifests_read(kc__manifests_work *w, kc_error *err)
{
    const kc__apply_tree_opts opts = {.recursive = true, .enter = visit_directory, .user = w};
    kc__manifests_watch_begin(w->m->watch);
    const int r = kc__apply_tree_read(w->m->dir, &opts, &w->tree, err);
    kc__manifests_watch_end(w->m->watch);
    if (r < 0)
        return r;
    kc_vec_each (&w->tree.files, file)
        if (add_manifest(w, file, err) < 0)
            return kc_error_result(err);
    w->summary->files = w->tree.files.n;
    return 0;
}

/* ---- what the directory defines ---- */

static void duplicate_problem(kc__manifests_work *w, const kc__apply_item *item,
                              const kc__apply_item *first)
{
    kc_scoped(kc_error) why = {0};
    kc_error_set(&why, KC_BAD_REQUEST, "the object is defined twice, first in %s: line %zu",
                 first->source, first->line);
    kc__manifests_object_problem(
        w, KC__MANIFESTS_STAGE_PARSE,
        &(kc_apply_failure){
            .text = item->object, .source = item->source, .line = item->line, .err = &why});
}

/* Fills `defined`, and drops the later ones of equal objects. */
void kc__manifests_index(kc__manifests_work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->items.n; i++) {
        kc__apply_item item = w->items.items[i];
        kc_scoped(kc_buf) id = {0};
        kc__manifests_id(w->m, &id, kc_object_gvk(item.object), kc_object_key(item.object));
        const void *first = kc_map_get(&w->defined, kc_buf_str(&id));
        if (first) {
            duplicate_problem(w, &item, &w->items.items[(size_t)(uintptr_t)first - 1]);
            kc_object_unref(item.object);
            continue;
        }
        const size_t n = id.n;
        w->items.items[kept++] = item;
        kc_map_put(&w->defined, kc_str_of(kc_buf_take(&id), n), (void *)(uintptr_t)kept);
    }
    w->items.n = kept;
    w->summary->objects = kept;
}

/* The kinds and namespaces of the items. A namespace is left out if the kind is known to have
 * none. */
void kc__manifests_scope(const kc__manifests_work *w, kc__apply_scope *scope)
{
    kc_vec_each (&w->items, item) {
        const kc_gvk gvk = kc_object_gvk(item->object);
        const kc_kind *kind = kc_client_kind(w->m->client, gvk, NULL);
        const kc_str ns = kc_object_namespace(item->object);
        kc_scoped(kc_buf) name = {0};
        kc_group_kind_write(&name, (kc_group_kind){gvk.group, gvk.kind});
        kc__apply_names_add(&scope->kinds, kc_buf_str(&name));
        if (!kind || kind->namespaced)
            kc__apply_names_add(&scope->namespaces, ns.n ? ns : kc_cstr(w->m->opts.ns));
    }
}
