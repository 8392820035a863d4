/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests_prune.c: deletes the members of the apply set that no manifest names.
 *
 * Deletion is the reverse of applying: first the objects, then the namespaces, then the CRDs, so
 * that an object is deleted by itself and not by the end of its kind. The uid is a precondition: an
 * object that was deleted and created again since the list is left alone.
 */
#include "runtime/manifests/manifests_internal.h"

/* The uid finds an object that the directory names in another API group. */
static bool is_defined(const kc__manifests_work *w, const kc_map *uids,
                       const kc__apply_member *member)
{
    kc_scoped(kc_buf) id = {0};
    kc__manifests_id(w->m, &id, kc_kind_gvk(member->kind), kc_object_key(member->object));
    return kc_map_get(&w->defined, kc_buf_str(&id)) ||
           kc_map_get(uids, kc_object_uid(member->object));
}

/* Members that the directory lacks, in the reverse order of applying. */
static void find_leftovers(const kc__manifests_work *w, kc__apply_members *ret)
{
    kc_scoped(kc_map) uids = {0};
    kc_map_each (&w->m->objects, entry) {
        const kc__manifests_object *o = entry->value;
        if (o->uid)
            kc_map_put(&uids, kc_cstr(o->uid), entry->value);
    }
    for (kc__apply_pass pass = KC__APPLY_PASSES; pass-- > 0;)
        kc_vec_each (&w->members, member)
            if (kc__apply_pass_of(kc_kind_gvk(member->kind)) == pass &&
                !kc_object_being_deleted(member->object) && !is_defined(w, &uids, member))
                kc_vec_push(ret, (kc__apply_member){member->kind, kc_object_ref(member->object)});
}

static void member_problem(kc__manifests_work *w, const kc__apply_member *member,
                           const kc_error *why)
{
    kc_scoped(kc_buf) message = {0};
    kc_buf_printf(&message, "%s: delete %s ", w->m->dir, member->kind->kind);
    kc_key_write(&message, kc_object_key(member->object));
    kc_buf_printf(&message, ": %s", kc_error_text(why));
    w->complete = false;
    w->summary->failed++;
    w->m->retry = true;
    kc__manifests_problem_add(w->m, &(kc__manifests_problem){.stage = KC__MANIFESTS_STAGE_PRUNE,
                                                             .message = kc_buf_cstr(&message),
                                                             .kind = member->kind,
                                                             .key = kc_object_key(member->object)});
}

static void prune_member(kc__manifests_work *w, const kc__apply_member *member)
{
    const kc_key key = kc_object_key(member->object);
    kc_scoped(kc_error) why = {0};
    if (kc__apply_member_delete(w->m->client, member, w->m->opts.dry_run, &why) < 0) {
        if (!kc__manifests_is_cancelled(w))
            member_problem(w, member, &why);
        return;
    }
    w->summary->pruned++;
    kc_counter_inc(w->m->metrics.pruned);
    kc_log_info(w->m->opts.log, "object pruned", kc_kv("kind", member->kind->kind),
                kc_kv("namespace", key.ns), kc_kv("name", key.name));
    if (w->m->opts.report)
        w->m->opts.report(&(kc__manifests_result){.action = KC__MANIFESTS_PRUNED,
                                                  .kind = member->kind,
                                                  .key = key},
                          w->m->opts.user);
}

/* An empty directory is believed only if this process saw the same directory with manifests. */
static bool is_suspiciously_empty(const kc__manifests_work *w)
{
    const kc__manifests *m = w->m;
    const bool same = w->tree.device == m->device && w->tree.inode == m->inode;
    return !w->tree.files.n && !(m->had_files && same);
}

void kc__manifests_prune(kc__manifests_work *w)
{
    kc_scoped(kc__apply_members) leftovers = {0};
    kc_scoped(kc_error) why = {0};
    find_leftovers(w, &leftovers);
    if (leftovers.n && w->complete && is_suspiciously_empty(w)) {
        kc_error_set(&why, KC_NOT_FOUND,
                     "%s has no file *.yaml, *.yml or *.json, so nothing is pruned; to delete the "
                     "%zu objects that were applied before, put a file with only a comment there",
                     w->m->dir, leftovers.n);
        kc__manifests_file_problem(w, KC__MANIFESTS_STAGE_PRUNE, NULL, &why);
    }
    w->summary->kept = leftovers.n && !w->complete;
    if (w->complete)
        kc_vec_each (&leftovers, member)
            prune_member(w, member);
}
