/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests_sync.c: makes the server match the directory once.
 *
 *     read the tree ─▶ parse ─▶ widen the apply set ─▶ list its members ─▶ apply ─▶ delete ─▶
 * narrow
 *
 * Which objects are applied: those that are new, whose text changed, that failed before, that are
 * missing on the server, or whose resourceVersion is not the one that the last apply returned
 * (another client changed them). The others cost nothing but their share of the list. The state is
 * in memory only: the first sync of a process applies everything, which changes nothing on the
 * server where nothing changed.
 *
 * Which members are deleted: those that no manifest names, and only if every file was read and
 * every object was applied. A file that is broken, or half written, does not lose its objects; nor
 * does a rename whose new object is refused lose the old one. A directory without any manifest may
 * be a volume that is not mounted: it deletes nothing, unless this process saw it with manifests
 * before.
 *
 * If the process ends at any point, the next sync finishes the work: the apply set covers all
 * members from before the first apply until after the last deletion.
 */
#include "runtime/manifests/manifests_internal.h"

#include "kc/kinds.h"
#include "kc/view.h"

static void kc__manifests_work_done(kc__manifests_work *w)
{
    kc_map_each (&w->defined, entry)
        free((char *)entry->key.p);
    kc_map_done(&w->defined);
    kc_map_done(&w->versions);
    kc__apply_members_done(&w->members);
    kc__apply_items_done(&w->items);
    kc__apply_tree_done(&w->tree);
}

bool kc__manifests_is_cancelled(const kc__manifests_work *w)
{
    return w->m->stop && kc_cancel_fired(w->m->stop);
}

/* ---- problems ---- */

void kc__manifests_file_problem(kc__manifests_work *w, kc__manifests_stage stage, const char *path,
                                const kc_error *why)
{
    kc_scoped(kc_buf) message = {0};
    if (path)
        kc_buf_printf(&message, "%s: ", path);
    kc_buf_puts(&message, kc_error_text(why));
    w->complete = false;
    w->summary->failed++;
    kc__manifests_problem_add(
        w->m, &(kc__manifests_problem){.stage = stage, .message = kc_buf_cstr(&message)});
}

void kc__manifests_object_problem(kc__manifests_work *w, kc__manifests_stage stage,
                                  const kc_apply_failure *f)
{
    kc_scoped(kc_buf) message = {0}, key = {0};
    kc_key_write(&key, kc_object_key(f->text));
    kc_buf_printf(&message, "%s: line %zu: %.*s %s: %s", f->source, f->line,
                  KC_ARG(kc_object_kind(f->text)), kc_buf_cstr(&key), kc_error_text(f->err));
    w->complete = false;
    w->summary->failed++;
    kc__manifests_problem_add(w->m, &(kc__manifests_problem){.stage = stage,
                                                             .message = kc_buf_cstr(&message),
                                                             .kind = f->kind,
                                                             .key = kc_object_key(f->text)});
}

/* ---- members ---- */

static int list_members(kc__manifests_work *w, kc_error *err)
{
    if (kc__apply_set_members(w->m->set, w->m->client, &w->members, err) < 0)
        return kc_error_result(err);
    kc_vec_each (&w->members, member)
        kc_map_put(&w->versions, kc_object_uid(member->object), member->object);
    return 0;
}

/* True if the member has the version that the last apply returned. */
static bool is_as_applied(const kc__manifests_work *w, const kc__manifests_object *o)
{
    const kc_object *member = o->uid ? kc_map_get(&w->versions, kc_cstr(o->uid)) : NULL;
    return member && kc_str_is(kc_object_resource_version(member), o->version);
}

/* ---- applying ---- */

static uint64_t hash_of(const kc_object *object)
{
    const uint64_t hash = kc_str_hash(kc_object_json(object), 0x6d616e69);
    return hash ? hash : 1;
}

void kc__manifests_object_free(kc__manifests_object *o)
{
    free(o->id);
    free(o->uid);
    free(o->version);
    free(o);
}

/* The state of an object; a new one if there is none. */
static kc__manifests_object *state_of(const kc__manifests_work *w, const kc_object *text)
{
    kc__manifests *m = w->m;
    kc_scoped(kc_buf) id = {0};
    kc__manifests_id(m, &id, kc_object_gvk(text), kc_object_key(text));
    kc__manifests_object *o = kc_map_get(&m->objects, kc_buf_str(&id));
    if (!o) {
        const size_t n = id.n;
        o = kc_new(kc__manifests_object);
        o->id = kc_buf_take(&id);
        kc_map_put(&m->objects, kc_str_of(o->id, n), o);
    }
    o->sync = m->sync;
    return o;
}

static kc_apply_mode choose_object(const kc_object *object, void *user)
{
    const kc__manifests_work *w = user;
    kc__manifests_object *o = state_of(w, object);
    const bool same = o->hash == hash_of(object) && is_as_applied(w, o);
    return same ? KC_APPLY_SKIP : KC_APPLY_MERGE;
}

static void object_applied(const kc_apply_report *r, void *user)
{
    kc__manifests_work *w = user;
    kc__manifests_object *o = state_of(w, r->text);
    const int verbosity = r->what == KC_APPLY_UNCHANGED ? 4 : 0;
    o->hash = w->m->opts.dry_run ? 0 : hash_of(r->text);
    free(o->uid);
    free(o->version);
    o->uid = kc_str_dup(kc_object_uid(r->object));
    o->version = kc_str_dup(kc_object_resource_version(r->object));
    w->summary->applied++;
    w->summary->changed += r->what != KC_APPLY_UNCHANGED;
    kc_counter_inc(w->m->metrics.applied);
    kc_log_verbose(w->m->opts.log, verbosity, "manifest applied", kc_kv("kind", r->kind->kind),
                   kc_kv("namespace", r->key.ns), kc_kv("name", r->key.name),
                   kc_kv("file", r->source), kc_kv("result", kc_apply_result_text(r->what)));
    if (w->m->opts.report)
        w->m->opts.report(&(kc__manifests_result){.action = KC__MANIFESTS_APPLIED,
                                                  .unchanged = r->what == KC_APPLY_UNCHANGED,
                                                  .kind = r->kind,
                                                  .key = r->key},
                          w->m->opts.user);
}

/* True if a CRD of the directory defines the kind. */
static bool defines_kind(const kc__manifests_work *w, kc_gvk gvk)
{
    kc_vec_each (&w->items, item) {
        if (item->turn != KC__APPLY_DEFINITIONS)
            continue;
        kc_auto(kc_view) *view = kc_view_of(item->object);
        const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
        if (kc_str_eq(kc_value_as_str(kc_value_get(spec, "group")), gvk.group) &&
            kc_str_eq(kc_value_as_str(kc_value_nested(spec, "names.kind")), gvk.kind))
            return true;
    }
    return false;
}

/* True if the object failed only because a dry run creates neither CRDs nor namespaces. */
static bool fails_by_dry_run(const kc__manifests_work *w, const kc_apply_failure *f)
{
    if (!w->m->opts.dry_run || !kc_is_not_found(f->err))
        return false;
    if (!f->kind)
        return defines_kind(w, kc_object_gvk(f->text));
    kc_scoped(kc_buf) id = {0};
    const kc_key ns = {.name = kc_object_namespace(f->text)};
    kc__manifests_id(w->m, &id, kc_kind_gvk(&kc_kind_namespace), ns);
    return kc_str_is(kc_cstr(f->err->kind), "namespaces") &&
           kc_map_get(&w->defined, kc_buf_str(&id));
}

static void object_is_conditional(kc__manifests_work *w, const kc_apply_failure *f)
{
    const kc_gvk gvk = kc_object_gvk(f->text);
    kc_autofree char *name = kc_str_dup(gvk.kind), *group = kc_str_dup(gvk.group);
    const kc_kind kind = {.kind = name, .group = group};
    w->summary->applied++;
    w->summary->changed++;
    if (w->m->opts.report)
        w->m->opts.report(&(kc__manifests_result){.action = KC__MANIFESTS_APPLIED,
                                                  .kind = &kind,
                                                  .key = kc_object_key(f->text)},
                          w->m->opts.user);
}

static void object_failed(const kc_apply_failure *f, void *user)
{
    kc__manifests_work *w = user;
    if (fails_by_dry_run(w, f)) {
        object_is_conditional(w, f);
        return;
    }
    state_of(w, f->text)->hash = 0;
    w->m->retry = true;
    kc__manifests_object_problem(w, KC__MANIFESTS_STAGE_APPLY, f);
}

static int apply_items(kc__manifests_work *w, kc_error *err)
{
    const kc__manifests_opts *o = &w->m->opts;
    const kc_apply_opts opts = {.ns = o->ns,
                                .choose = choose_object,
                                .report = object_applied,
                                .failed = object_failed,
                                .user = w,
                                .field_manager = o->field_manager,
                                .field_validation = "Strict",
                                .dry_run = o->dry_run,
                                .server_side = true,
                                .force = !o->no_force,
                                .part_of = kc__apply_set_id(w->m->set)};
    return kc__apply_items_run(w->m->client, &w->items, &opts, err);
}

/* Forgets objects that left the directory, or whose file is broken: the latter are applied again
 * when it is correct. */
static void forget_objects(kc__manifests *m)
{
    kc_map_each (&m->objects, entry) {
        kc__manifests_object *o = entry->value;
        if (o->sync == m->sync)
            continue;
        kc_map_remove(&m->objects, entry->key);
        kc__manifests_object_free(o);
    }
}

/* ---- one sync ---- */

static int server_problem(kc__manifests_work *w, kc__manifests_stage stage, const kc_error *why)
{
    if (!kc__manifests_is_cancelled(w))
        kc__manifests_file_problem(w, stage, NULL, why);
    w->m->retry = true;
    return -1;
}

/* Makes the parent cover the items and finds the members. A dry run does not write the parent. */
static int open_set(kc__manifests_work *w)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc__apply_scope) scope = {0};
    kc__manifests_scope(w, &scope);
    if ((!w->m->opts.dry_run && kc__apply_set_widen(w->m->set, w->m->client, &scope, &why) < 0) ||
        list_members(w, &why) < 0)
        return server_problem(w, KC__MANIFESTS_STAGE_APPLY, &why);
    return 0;
}

static void close_set(kc__manifests_work *w)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc__apply_scope) scope = {0};
    kc__manifests_scope(w, &scope);
    if (kc__apply_set_narrow(w->m->set, w->m->client, &scope, &why) < 0)
        server_problem(w, KC__MANIFESTS_STAGE_PRUNE, &why);
}

static void sync_objects(kc__manifests_work *w)
{
    kc_scoped(kc_error) why = {0};
    if (open_set(w) < 0)
        return;
    if (apply_items(w, &why) < 0) {
        server_problem(w, KC__MANIFESTS_STAGE_APPLY, &why);
        return;
    }
    forget_objects(w->m);
    if (w->m->opts.no_prune || kc__manifests_is_cancelled(w))
        return;
    kc__manifests_prune(w);
    if (w->complete && !w->m->opts.dry_run && !kc__manifests_is_cancelled(w))
        close_set(w);
}

static void remember_directory(const kc__manifests_work *w)
{
    kc__manifests *m = w->m;
    if (!w->tree.files.n)
        return;
    m->had_files = true;
    m->device = w->tree.device;
    m->inode = w->tree.inode;
}

/* The parent is read first, and created, so that Events have an object. */
static int prepare_set(kc__manifests_work *w)
{
    kc_scoped(kc_error) why = {0};
    const kc__apply_scope nothing = {0};
    if (kc__apply_set_fetch(w->m->set, w->m->client, &why) < 0 ||
        (!w->m->opts.dry_run && !kc__apply_set_parent(w->m->set) &&
         kc__apply_set_widen(w->m->set, w->m->client, &nothing, &why) < 0))
        return server_problem(w, KC__MANIFESTS_STAGE_APPLY, &why);
    return 0;
}

static void sync_directory(kc__manifests_work *w)
{
    kc_scoped(kc_error) why = {0};
    if (prepare_set(w) < 0)
        return;
    if (kc__manifests_read(w, &why) < 0) {
        kc__manifests_file_problem(w, KC__MANIFESTS_STAGE_READ, NULL, &why);
        return;
    }
    kc__manifests_index(w);
    sync_objects(w);
    remember_directory(w);
}

/* Reports what the sync did, if it did anything. */
static void report_sync(const kc__manifests *m, const kc__manifests_summary *s)
{
    const kc_object *parent = kc__apply_set_parent(m->set);
    if (s->kept && m->problems.fresh)
        kc_log_warn(m->opts.log, "pruning skipped: some manifests failed", kc_kv("dir", m->dir),
                    kc_kv("failed", s->failed));
    if (!s->changed && !s->pruned)
        return;
    kc_log_info(m->opts.log, "manifests synced", kc_kv("dir", m->dir), kc_kv("files", s->files),
                kc_kv("objects", s->objects), kc_kv("changed", s->changed),
                kc_kv("pruned", s->pruned), kc_kv("failed", s->failed));
    if (parent && !m->opts.dry_run)
        kc_recorder_event(m->opts.recorder, parent, KC_EVENT_TYPE_NORMAL, "Synced",
                          "Changed %zu of %zu objects, pruned %zu, %zu failed", s->changed,
                          s->objects, s->pruned, s->failed);
}

static void count_sync(const kc__manifests *m, const kc__manifests_summary *s)
{
    kc_counter_inc(m->metrics.syncs[!s->failed]);
    kc_gauge_set(m->metrics.files, (double)s->files);
    kc_gauge_set(m->metrics.objects, (double)s->objects);
    if (!s->failed)
        kc_gauge_set(m->metrics.last_success,
                     (double)kc_clock_wall(kc_clock_real()) / (double)KC_SECOND);
}

int kc__manifests_sync(kc__manifests *m, kc_cancel *stop, kc__manifests_summary *ret, kc_error *err)
{
    kc_auto(kc_client) *client =
        kc_client_with(m->opts.client, &(kc_client_overrides){.cancel = stop});
    kc__manifests_summary summary = {0};
    kc_scoped(kc__manifests_work) w = {.m = m, .summary = &summary, .complete = true};
    m->client = client;
    m->stop = stop;
    m->sync++;
    m->retry = m->busy = false;
    kc__manifests_problems_begin(m);
    sync_directory(&w);
    if (!kc__manifests_is_cancelled(&w)) {
        kc__manifests_problems_end(m);
        count_sync(m, &summary);
        report_sync(m, &summary);
        if (m->opts.synced)
            m->opts.synced(&summary, m->opts.user);
    }
    m->client = NULL;
    m->stop = NULL;
    *ret = summary;
    return kc_cancel_check(stop, err);
}
