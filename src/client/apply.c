/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c: objects to a server, turn by turn.
 *
 *     definitions ─▶ (all of them served) ─▶ namespaces ─▶ others
 *
 * Definitions are all sent before the first is waited for: the server works on the others while we
 * wait for one, so thirty take hardly longer than one.
 *
 * An object is read first, and written only if the text changes it: that is what tells "unchanged"
 * without a write, and lets a client that may only read see that there is nothing to do. Others may
 * write at the same time; who finds the world changed between its two requests looks again.
 */
#include "client/apply_internal.h"

#include "kc/kinds.h"
#include "kc/merge_patch.h"

#define TIMEOUT      (10 * KC_SECOND)
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
/* Times an object may appear or vanish between reading and writing it. */
enum { MAX_TRIES = 5 };

const char *kc_applied_text(kc_applied what)
{
    static const char *const texts[] = {"created", "configured", "unchanged", "kept"};
    return texts[what];
}

typedef struct application {
    kc_client *client;
    kc_apply_opts opts;
    kc__apply_items items;
    KC_VEC(kc_object *) definitions; /* As the server answered them. */
} application;

static void application_done(application *a)
{
    kc_vec_each (&a->definitions, d)
        kc_object_unref(*d);
    kc_vec_done(&a->definitions);
    kc__apply_items_done(&a->items);
}

static application application_of(kc_client *client, const kc_apply_opts *opts)
{
    application a = {.client = client, .opts = opts ? *opts : (kc_apply_opts){0}};
    if (!a.opts.ns)
        a.opts.ns = "default";
    if (a.opts.timeout <= 0)
        a.opts.timeout = TIMEOUT;
    return a;
}

/* ---- one object ---- */

static kc_object *with_namespace(const application *a, const kc_object *object, const kc_kind *kind,
                                 kc_error *err)
{
    if (!kind->namespaced || kc_object_namespace(object).n)
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_edit_set_namespace(edit, kc_cstr(a->opts.ns));
    return kc_edit_freeze(edit, err);
}

/* As it is written. */
static kc_object *with_memory(const application *a, const kc_object *object, kc_error *err)
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

/* Whether a merge patch of `wanted` leaves the object as it is. */
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

/* What one request, or two, came to. */
typedef struct outcome {
    kc_applied what;
    kc_object *object; /* NULL: an error, or `again`. */
    bool again;        /* The world changed in between. */
} outcome;

static outcome create(const application *a, const kc_object *wanted, const kc_write_opts *opts,
                      kc_error *err)
{
    kc_auto(kc_object) *written = with_memory(a, wanted, err);
    kc_object *made = written ? kc_client_create(a->client, written, opts, err) : NULL;
    return (outcome){KC_APPLIED_CREATED, made, !made && kc_is_already_exists(err)};
}

static outcome patch(const application *a, const kc_object *now, const kc_object *wanted,
                     const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *written = with_memory(a, wanted, err);
    if (!written)
        return (outcome){0};
    kc_object *changed = kc_client_patch(a->client, opts->kind, kc_object_key(wanted),
                                         KC_PATCH_MERGE, kc_object_json(written), opts, err);
    if (!changed)
        return (outcome){.again = kc_is_not_found(err)};
    const bool same =
        kc_str_eq(kc_object_resource_version(changed), kc_object_resource_version(now));
    return (outcome){same ? KC_APPLIED_UNCHANGED : KC_APPLIED_CONFIGURED, changed, false};
}

static outcome try_once(const application *a, const kc_object *wanted, kc_apply_how how,
                        const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *now = kc_client_get(a->client, opts->kind, kc_object_key(wanted),
                                            &(kc_get_opts){.live = true}, err);
    if (!now && !kc_is_not_found(err))
        return (outcome){0};
    if (!now) {
        kc_error_done(err);
        return create(a, wanted, opts, err);
    }
    if (how == KC_APPLY_KEEP)
        return (outcome){KC_APPLIED_KEPT, kc_take(now), false};
    if (says_nothing_new(now, wanted))
        return (outcome){KC_APPLIED_UNCHANGED, kc_take(now), false};
    return patch(a, now, wanted, opts, err);
}

static void tell(const application *a, const kc__apply_item *item, const kc_kind *kind,
                 const outcome *o)
{
    if (a->opts.report)
        a->opts.report(&(kc_apply_report){.what = o->what,
                                          .kind = kind,
                                          .key = kc_object_key(o->object),
                                          .object = o->object,
                                          .text = item->object,
                                          .source = item->source,
                                          .document = item->document},
                       a->opts.user);
}

static int apply_item(application *a, const kc__apply_item *item, kc_apply_how how, kc_error *err)
{
    const kc_gvk gvk = kc_object_gvk(item->object);
    const kc_kind *kind = kc__apply_kind(a->client, gvk, a->opts.timeout, err);
    kc_auto(kc_object) *wanted = kind ? with_namespace(a, item->object, kind, err) : NULL;
    if (!wanted)
        return -1;
    const kc_write_opts opts = {.kind = kind, .field_manager = a->opts.field_manager};
    kc_scoped(kc_error) failed = {0};
    outcome o = {.again = true};
    for (int i = 0; i < MAX_TRIES && o.again; i++) {
        kc_error_done(&failed);
        o = try_once(a, wanted, how, &opts, &failed);
    }
    if (!o.object)
        return kc_error_move(err, &failed);
    tell(a, item, kind, &o);
    if (item->turn == KC__APPLY_DEFINITIONS)
        kc_vec_push(&a->definitions, o.object);
    else
        kc_object_unref(o.object);
    return 0;
}

static int name_object(const kc__apply_item *item, kc_error *err)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, kc_object_key(item->object));
    kc_error_wrap(err, "%.*s %s", KC_ARG(kc_object_kind(item->object)), kc_buf_cstr(&key));
    return kc__apply_where(err, item->source, item->document);
}

/* ---- all of them ---- */

static int await_definitions(application *a, kc_error *err)
{
    kc_vec_each (&a->definitions, d)
        if (kc__apply_await_definition(a->client, *d, a->opts.timeout, err) < 0)
            return -1;
    return 0;
}

static kc_apply_how how_of(const application *a, const kc_object *object)
{
    return a->opts.choose ? a->opts.choose(object, a->opts.user) : a->opts.how;
}

static int apply_turn(application *a, kc__apply_turn turn, kc_error *err)
{
    kc_vec_each (&a->items, item) {
        const kc_apply_how how = item->turn != turn ? KC_APPLY_SKIP : how_of(a, item->object);
        if (how != KC_APPLY_SKIP && apply_item(a, item, how, err) < 0)
            return name_object(item, err);
    }
    return turn == KC__APPLY_DEFINITIONS ? await_definitions(a, err) : 0;
}

static int apply_all(application *a, kc_error *err)
{
    for (kc__apply_turn turn = 0; turn < KC__APPLY_TURNS; turn++)
        if (apply_turn(a, turn, err) < 0)
            return -1;
    return 0;
}

int kc_apply_sources(kc_client *client, const kc_apply_source *sources, size_t n,
                     const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(application) a = application_of(client, opts);
    for (size_t i = 0; i < n; i++)
        if (kc__apply_read(&a.items, &sources[i], err) < 0)
            return -1;
    return apply_all(&a, err);
}

int kc_apply_text(kc_client *client, kc_str text, const kc_apply_opts *opts, kc_error *err)
{
    return kc_apply_sources(client, &(kc_apply_source){.text = text}, 1, opts, err);
}
