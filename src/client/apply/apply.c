/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c: applies objects to a server in dependency order.
 *
 *     CRDs ─▶ (wait until all are served) ─▶ namespaces ─▶ other objects
 *
 * All CRDs are sent before the first one is awaited. The server establishes the others while the
 * client waits for one, so thirty CRDs take hardly longer than one.
 *
 * Merge. Each object is read first and written only if the manifest changes it. This detects
 * "unchanged" without a write, and a client with read-only permissions learns that nothing is to be
 * done. Other clients may write at the same time: if the object was created or deleted between the
 * read and the write, the operation starts again with a read.
 *
 * Server-side apply. The server creates or merges in one request. The object is read first, too:
 * to tell "created" from "configured", and to refuse a member of another apply set, which force
 * would otherwise take over.
 */
#include "client/apply/apply_internal.h"

#include "client/apply/apply_set.h"
#include "client/rest/client_internal.h"
#include "kc/kinds.h"
#include "kc/merge_patch.h"

#define TIMEOUT      (10 * KC_SECOND)
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
/* Retries of one object that is created or deleted between its read and its write. */
enum { MAX_TRIES = 5 };

const char *kc_apply_result_text(kc_apply_result what)
{
    static const char *const texts[] = {"created", "configured", "unchanged", "kept"};
    return texts[what];
}

/* A CRD as returned by the server, and its manifest. */
typedef struct apply_definition {
    kc_object *object;
    const kc__apply_item *item;
} apply_definition;

typedef struct apply_operation {
    kc_client *client;
    kc_apply_opts opts;
    const kc__apply_items *items;
    KC_VEC(apply_definition) definitions;
} apply_operation;

static void apply_operation_done(apply_operation *a)
{
    kc_vec_each (&a->definitions, d)
        kc_object_unref(d->object);
    kc_vec_done(&a->definitions);
}

static apply_operation application_of(kc_client *client, const kc__apply_items *items,
                                      const kc_apply_opts *opts)
{
    apply_operation a = {
        .client = client, .opts = opts ? *opts : (kc_apply_opts){0}, .items = items};
    if (!a.opts.ns)
        a.opts.ns = "default";
    if (a.opts.timeout <= 0)
        a.opts.timeout = TIMEOUT;
    return a;
}

/* ---- one object ---- */

static kc_object *with_namespace(const apply_operation *a, const kc_object *object,
                                 const kc_kind *kind, kc_error *err)
{
    if (!kind->namespaced || kc_object_namespace(object).n)
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_edit_set_namespace(edit, kc_cstr(a->opts.ns));
    return kc_edit_freeze(edit, err);
}

/* Returns the object in the form in which it is written. */
static kc_object *with_memory(const apply_operation *a, const kc_object *object, kc_error *err)
{
    if (!a->opts.last_applied)
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, kc_object_json(object));
    kc_buf_putc(&text, '\n');
    kc_edit_set_annotation(edit, KC_STR(LAST_APPLIED), kc_buf_str(&text));
    return kc_edit_freeze(edit, err);
}

/* Returns whether a merge patch with `wanted` leaves the object unchanged. */
static bool says_nothing_new(const kc_object *now, const kc_object *wanted)
{
    kc_auto(kc_view) *have = kc_view_of(now), *want = kc_view_of(wanted);
    kc_auto(kc_edit) *edit = kc_edit_of(now);
    kc_merge_patch_apply(edit, kc_view_root(want));
    kc_auto(kc_view) *merged = kc_edit_view(edit, NULL);
    kc_auto(kc_edit) *difference =
        merged ? kc_merge_patch_make(kc_view_root(have), kc_view_root(merged), NULL, NULL) : NULL;
    return difference && kc_node_len(kc_edit_root(difference)) == 0;
}

/* Result of one read and at most one write. */
typedef struct outcome {
    kc_apply_result what;
    kc_object *object; /* NULL on error or if `retry` is set. */
    bool retry;        /* The object was created or deleted between read and write. */
} outcome;

static outcome apply_create(const apply_operation *a, const kc_object *wanted,
                            const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *written = with_memory(a, wanted, err);
    kc_object *made = written ? kc_client_create(a->client, written, opts, err) : NULL;
    return (outcome){KC_APPLY_CREATED, made, !made && kc_is_already_exists(err)};
}

static outcome apply_patch(const apply_operation *a, const kc_object *now, const kc_object *wanted,
                           const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *written = with_memory(a, wanted, err);
    if (!written)
        return (outcome){0};
    kc_object *changed = kc_client_patch(a->client, opts->kind, kc_object_key(wanted),
                                         KC_PATCH_MERGE, kc_object_json(written), opts, err);
    if (!changed)
        return (outcome){.retry = kc_is_not_found(err)};
    const bool same =
        kc_str_eq(kc_object_resource_version(changed), kc_object_resource_version(now));
    return (outcome){same ? KC_APPLY_UNCHANGED : KC_APPLY_CONFIGURED, changed, false};
}

/* Returns the object with the label of the apply set. The text must not have the label: kubectl
 * refuses that, too. */
static kc_object *as_member(const apply_operation *a, const kc_object *object, kc_error *err)
{
    if (!a->opts.part_of)
        return kc_object_ref(object);
    if (kc_object_has_label(object, KC_STR(KC__APPLY_SET_PART_OF))) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "ApplySet label \"" KC__APPLY_SET_PART_OF "\" already set in input data");
        return NULL;
    }
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_edit_set_label(edit, KC_STR(KC__APPLY_SET_PART_OF), kc_cstr(a->opts.part_of));
    return kc_edit_freeze(edit, err);
}

static int check_membership(const apply_operation *a, const kc_object *now, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str set = kc_object_label(now, KC_STR(KC__APPLY_SET_PART_OF), &arena);
    if (!a->opts.part_of || !set.n || kc_str_is(set, a->opts.part_of))
        return 0;
    return kc_error_set(err, KC_CONFLICT,
                        "the object is a member of another apply set (label " KC__APPLY_SET_PART_OF
                        "=%.*s)",
                        KC_ARG(set));
}

/* The text without managedFields, whose times a dry run changes. */
static void write_content(kc_buf *out, const kc_object *object)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node_remove(metadata, KC_STR("managedFields"));
    kc_node_write(out, kc_edit_root(edit));
}

/* A dry run returns the old resourceVersion, so the contents are compared. */
static bool is_unchanged(const apply_operation *a, const kc_object *now, const kc_object *stored)
{
    kc_scoped(kc_buf) before = {0}, after = {0};
    if (!a->opts.dry_run)
        return kc_str_eq(kc_object_resource_version(stored), kc_object_resource_version(now));
    write_content(&before, now);
    write_content(&after, stored);
    return kc_str_eq(kc_buf_str(&before), kc_buf_str(&after));
}

/* `now` is NULL if the object does not exist. */
static outcome apply_server_side(const apply_operation *a, const kc_object *now,
                                 const kc_object *wanted, const kc_write_opts *opts, kc_error *err)
{
    if (now && check_membership(a, now, err) < 0)
        return (outcome){0};
    kc_auto(kc_object) *written = as_member(a, wanted, err);
    kc_object *stored = written ? kc_client_apply(a->client, written, opts, err) : NULL;
    if (!stored)
        return (outcome){0};
    const bool same = now && is_unchanged(a, now, stored);
    return (outcome){!now   ? KC_APPLY_CREATED
                     : same ? KC_APPLY_UNCHANGED
                            : KC_APPLY_CONFIGURED,
                     stored, false};
}

static outcome apply_try_once(const apply_operation *a, const kc_object *wanted, kc_apply_mode how,
                              const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *now = kc_client_get(a->client, opts->kind, kc_object_key(wanted),
                                            &(kc_get_opts){.live = true}, err);
    if (!now && !kc_is_not_found(err))
        return (outcome){0};
    if (!now)
        kc_error_done(err);
    else if (how == KC_APPLY_KEEP)
        return (outcome){KC_APPLY_KEPT, kc_take(now), false};
    if (a->opts.server_side)
        return apply_server_side(a, now, wanted, opts, err);
    if (!now)
        return apply_create(a, wanted, opts, err);
    if (says_nothing_new(now, wanted))
        return (outcome){KC_APPLY_UNCHANGED, kc_take(now), false};
    return apply_patch(a, now, wanted, opts, err);
}

static void apply_notify(const apply_operation *a, const kc__apply_item *item, const kc_kind *kind,
                         const outcome *o)
{
    if (a->opts.report)
        a->opts.report(&(kc_apply_report){.what = o->what,
                                          .kind = kind,
                                          .key = kc_object_key(o->object),
                                          .object = o->object,
                                          .text = item->object,
                                          .source = item->source,
                                          .document = item->document,
                                          .line = item->line},
                       a->opts.user);
}

static int apply_object(apply_operation *a, const kc__apply_item *item, const kc_object *wanted,
                        const kc_kind *kind, kc_apply_mode how, kc_error *err)
{
    const kc_write_opts opts = {.kind = kind,
                                .field_manager = a->opts.field_manager,
                                .field_validation = a->opts.field_validation,
                                .force = a->opts.server_side && a->opts.force,
                                .dry_run = a->opts.dry_run};
    kc_scoped(kc_error) failed = {0};
    outcome o = {.retry = true};
    for (int i = 0; i < MAX_TRIES && o.retry; i++) {
        kc_error_done(&failed);
        o = apply_try_once(a, wanted, how, &opts, &failed);
    }
    if (!o.object)
        return kc_error_move(err, &failed);
    apply_notify(a, item, kind, &o);
    if (item->turn == KC__APPLY_DEFINITIONS)
        kc_vec_push(&a->definitions, (apply_definition){o.object, item});
    else
        kc_object_unref(o.object);
    return 0;
}

/* ---- failures ---- */

static int name_object(const kc__apply_item *item, kc_error *err)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, kc_object_key(item->object));
    kc_error_wrap(err, "%.*s %s", KC_ARG(kc_object_kind(item->object)), kc_buf_cstr(&key));
    return kc__apply_error_add_source(err, item->source, item->line);
}

/* Passes the error to the caller, which goes on with the next object (0), or ends the operation. */
static int apply_fail(const apply_operation *a, const kc__apply_item *item, const kc_kind *kind,
                      const kc_object *text, kc_error *why, kc_error *err)
{
    if (kc_cancel_check(a->client->bind.cancel, err) < 0)
        return kc_error_result(err);
    if (!a->opts.failed) {
        name_object(item, why);
        return kc_error_move(err, why);
    }
    a->opts.failed(&(kc_apply_failure){.kind = kind,
                                       .text = text ? text : item->object,
                                       .source = item->source,
                                       .document = item->document,
                                       .line = item->line,
                                       .err = why},
                   a->opts.user);
    return 0;
}

static int apply_item(apply_operation *a, const kc__apply_item *item, kc_apply_mode how,
                      kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc_kind *kind =
        kc__apply_kind(a->client, kc_object_gvk(item->object), a->opts.timeout, &why);
    kc_auto(kc_object) *wanted = kind ? with_namespace(a, item->object, kind, &why) : NULL;
    if (wanted && apply_object(a, item, wanted, kind, how, &why) == 0)
        return 0;
    return apply_fail(a, item, kind, wanted, &why, err);
}

/* ---- all objects ---- */

/* The CRDs of a dry run do not exist, so their kinds are never served. */
static int await_definitions(apply_operation *a, kc_error *err)
{
    if (a->opts.dry_run)
        return 0;
    kc_vec_each (&a->definitions, d) {
        kc_scoped(kc_error) why = {0};
        if (kc__apply_await_definition(a->client, d->object, a->opts.timeout, &why) == 0)
            continue;
        if (!a->opts.failed)
            return kc_error_move(err, &why);
        if (apply_fail(a, d->item, &kc_kind_custom_resource_definition, NULL, &why, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

static kc_apply_mode how_of(const apply_operation *a, const kc_object *object)
{
    return a->opts.choose ? a->opts.choose(object, a->opts.user) : a->opts.how;
}

static int apply_turn(apply_operation *a, kc__apply_pass turn, kc_error *err)
{
    kc_vec_each (a->items, item) {
        const kc_apply_mode how = item->turn != turn ? KC_APPLY_SKIP : how_of(a, item->object);
        if (how != KC_APPLY_SKIP && apply_item(a, item, how, err) < 0)
            return kc_error_result(err);
    }
    return turn == KC__APPLY_DEFINITIONS ? await_definitions(a, err) : 0;
}

int kc__apply_items_run(kc_client *client, const kc__apply_items *items, const kc_apply_opts *opts,
                        kc_error *err)
{
    kc_scoped(apply_operation) a = application_of(client, items, opts);
    for (kc__apply_pass turn = 0; turn < KC__APPLY_PASSES; turn++)
        if (apply_turn(&a, turn, err) < 0)
            return kc_error_result(err);
    return 0;
}

int kc_apply_sources(kc_client *client, const kc_apply_source *sources, size_t n,
                     const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(kc__apply_items) items = {0};
    for (size_t i = 0; i < n; i++)
        if (kc__apply_read(&items, &sources[i], err) < 0)
            return kc_error_result(err);
    return kc__apply_items_run(client, &items, opts, err);
}

int kc_apply_text(kc_client *client, kc_str text, const kc_apply_opts *opts, kc_error *err)
{
    return kc_apply_sources(client, &(kc_apply_source){.text = text}, 1, opts, err);
}
