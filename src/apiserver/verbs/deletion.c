/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletion.c: marks and removes objects.
 *
 *     no finalizers, removal allowed       ──▶ removed
 *     finalizers, or the strategy waits    ──▶ deletionTimestamp; controllers remove the finalizers
 *
 * "Foreground" and "Orphan" are finalizers, too: the garbage collector deletes or orphans the
 * dependents and removes the finalizer.
 */
#include "apiserver/verbs/deletion.h"

#include "apiserver/background/system_crds.h"
#include "apiserver/call/metadata.h"
#include "apiserver/request/write.h"
#include "kc/meta.h"

#define ORPHAN     "orphan"
#define FOREGROUND "foregroundDeletion"

/* ---- preconditions ---- */

/* Kinds with a deletion of their own (namespaces) have another message. */
static kc__rest_verdict not_meant(kc__rest_call *call, const kc_object *current, const char *what,
                                  kc_str wanted, kc_str is, const char *hint)
{
    const kc__resource *r = call->resource;
    kc_str name = kc_object_name(current);
    bool own_way = r->strategy->begin_deletion;
    const char *kind = own_way ? r->plural : r->kind;
    const char *about =
        kc_arena_printf(call->arena, "Operation cannot be fulfilled on %s%s%s \"%.*s\"", kind,
                        *r->group ? "." : "", r->group, KC_ARG(name));
    if (own_way)
        kc__rest_fail(call, KC_CONFLICT,
                      "%s: Precondition failed: %s in precondition: %.*s, %s in object meta: %.*s",
                      about, what, KC_ARG(wanted), what, KC_ARG(is));
    else
        kc__rest_fail(
            call, KC_CONFLICT,
            "%s: the %s in the precondition (%.*s) does not match the %s in record (%.*s). The "
            "object might have been %s",
            about, what, KC_ARG(wanted), what, KC_ARG(is), hint);
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(kind), name);
    return KC__REST_FAIL;
}

kc__rest_verdict kc__rest_deletion_check(kc__rest_call *call, const kc_object *current)
{
    const kc__rest_options *o = &call->options;
    kc_str uid = kc_object_uid(current), version = kc_object_resource_version(current);
    if (kc__bootstrap_is_system_crd(call, kc_object_name(current)))
        return kc__bootstrap_protect_crd(call, kc_object_name(current), "deleted");
    if (o->uid.p && !kc_str_eq(o->uid, uid))
        return not_meant(call, current, "UID", o->uid, uid, "deleted and then recreated");
    if (o->precondition_version.p && !kc_str_eq(o->precondition_version, version))
        return not_meant(call, current, "ResourceVersion", o->precondition_version, version,
                         "modified");
    return KC__REST_NEXT;
}

/* ---- finalizers and removal ---- */

/* Decided by the client's options, otherwise by the existing finalizers, otherwise by the kind. */
static bool wants_orphans(kc__rest_call *call, const kc_object *object)
{
    const kc__rest_options *o = &call->options;
    if (call->resource->strategy->owns_nothing)
        return false;
    if (o->orphan_dependents != KC__REST_UNSET)
        return o->orphan_dependents == KC__REST_YES;
    if (o->propagation != KC__REST_PROPAGATE_DEFAULT)
        return o->propagation == KC__REST_PROPAGATE_ORPHAN;
    return kc_object_has_finalizer(object, KC_STR(ORPHAN)) ||
           (call->resource->strategy->orphans &&
            !kc_object_has_finalizer(object, KC_STR(FOREGROUND)));
}

static bool wants_foreground(kc__rest_call *call, const kc_object *object)
{
    const kc__rest_options *o = &call->options;
    if (o->orphan_dependents != KC__REST_UNSET || call->resource->strategy->owns_nothing)
        return false;
    if (o->propagation != KC__REST_PROPAGATE_DEFAULT)
        return o->propagation == KC__REST_PROPAGATE_FOREGROUND;
    return kc_object_has_finalizer(object, KC_STR(FOREGROUND));
}

static void append(kc_buf *out, kc_str name)
{
    kc_buf_putc(out, out->n ? ',' : '[');
    kc_json_quote(out, name);
}

/* The new finalizers as JSON; empty for none. */
static kc_str finalizers_of(kc__rest_call *call, const kc_object *object)
{
    kc_scoped(kc_buf) out = {0};
    kc_str name;
    kc_meta_iter at = kc_object_finalizers(object, call->arena);
    while (kc_meta_next_text(&at, &name))
        if (!kc_str_is(name, ORPHAN) && !kc_str_is(name, FOREGROUND))
            append(&out, name);
    if (wants_orphans(call, object))
        append(&out, KC_STR(ORPHAN));
    if (wants_foreground(call, object))
        append(&out, KC_STR(FOREGROUND));
    if (!out.n)
        return (kc_str){0};
    kc_buf_putc(&out, ']');
    return kc_arena_str(call->arena, kc_buf_str(&out));
}

static bool object_may_be_removed(kc__rest_call *call, const kc_object *object)
{
    if (!call->resource->strategy->may_go)
        return true;
    kc_auto(kc_view) *view = kc_view_of(object);
    return call->resource->strategy->may_go(kc_view_root(view));
}

static void begin_object_deletion(kc_edit *edit, kc__rest_call *call)
{
    call->resource->strategy->begin_deletion(edit, kc_clock_wall(call->api->clock));
}

static int mark(kc__rest_call *call, const kc_object *current, kc__rest_metadata *m,
                kc_object **ret)
{
    bool first = kc_str_empty(m->deleted);
    if (first) {
        m->deleted = kc__rest_call_now(call, kc_arena_alloc(call->arena, KC_TIME_TEXT));
        m->has_grace = !call->resource->strategy->begin_deletion;
        m->grace_seconds = 0;
        m->generation += m->generation > 0;
    }
    kc_auto(kc_object) *marked = kc__rest_metadata_apply(current, m, &call->error);
    if (!marked)
        return -1;
    /* The strategy may add a finalizer, so it runs after the metadata is set. */
    if (first && call->resource->strategy->begin_deletion &&
        kc__rest_edit_object(call, &marked, begin_object_deletion) < 0)
        return -1;
    *ret = kc_take(marked);
    return 0;
}

kc_object *kc__rest_deletion_mark(const kc_object *object, kc_time now)
{
    kc_scoped(kc_arena) arena = {0};
    char text[KC_TIME_TEXT];
    kc__rest_metadata m;
    kc__rest_metadata_of(object, &arena, &m);
    m.deleted = kc_time_print(now, text);
    m.has_grace = true;
    m.grace_seconds = 0;
    m.generation += m.generation > 0;
    return kc__rest_metadata_apply(object, &m, NULL);
}

/* ---- graceful deletion: the node stops the pod, then deletes it for good ----
 *
 * An object whose grace period is 0 is marked with it before it is removed, in a separate write: so
 * its last state in the watch shows the deletion. */

static kc_str seconds_later(kc__rest_call *call, kc_time from, int64_t seconds)
{
    return kc_time_print(from + seconds * KC_SECOND, kc_arena_alloc(call->arena, KC_TIME_TEXT));
}

static int64_t grace_of(kc__rest_call *call, const kc_object *current)
{
    kc_auto(kc_view) *view = kc_view_of(current);
    const int64_t *requested = call->options.has_grace ? &call->options.grace_seconds : NULL;
    return call->resource->strategy->grace(kc_view_root(view), requested);
}

/* The grace period of an object that is being deleted can only be shortened. False: unchanged. */
static bool shorten_grace(kc__rest_call *call, kc__rest_metadata *m)
{
    kc_time end;
    if (!call->options.has_grace || call->options.grace_seconds >= m->grace_seconds ||
        kc_time_parse(m->deleted, &end, NULL) < 0)
        return false;
    m->deleted = seconds_later(call, end, call->options.grace_seconds - m->grace_seconds);
    m->grace_seconds = call->options.grace_seconds;
    return true;
}

static int plan_graceful(kc__rest_call *call, const kc_object *current, kc__rest_metadata *m,
                         kc__rest_deletion *ret)
{
    bool pending = !kc_str_empty(m->deleted) && m->grace_seconds > 0;
    if (kc_str_empty(m->deleted)) {
        m->has_grace = true;
        m->grace_seconds = grace_of(call, current);
        m->deleted = seconds_later(call, kc_clock_wall(call->api->clock), m->grace_seconds);
        m->generation += m->generation > 0;
    } else if (pending && !shorten_grace(call, m)) {
        *ret = (kc__rest_deletion){.object = kc_object_ref(current)};
        return 0;
    }
    kc_object *marked = kc__rest_metadata_apply(current, m, &call->error);
    if (!marked)
        return -1;
    bool goes = m->grace_seconds <= 0 && kc_str_empty(m->finalizers);
    bool unchanged = kc_str_eq(kc_object_json(marked), kc_object_json(current));
    *ret = (kc__rest_deletion){marked, .removes = goes && unchanged,
                               .more_writes = goes && !unchanged};
    return 0;
}

void kc__rest_deletion_resume(kc__rest_call *call)
{
    call->webhooks_done = true;
    if (call->options.precondition_version.p)
        call->options.precondition_version =
            kc_arena_str(call->arena, kc_object_resource_version(call->current));
}

int kc__rest_deletion_plan(kc__rest_call *call, const kc_object *current, kc__rest_deletion *ret)
{
    kc__rest_metadata m;
    kc__rest_metadata_of(current, call->arena, &m);
    m.finalizers = finalizers_of(call, current);
    if (call->resource->strategy->grace)
        return plan_graceful(call, current, &m, ret);
    if (kc_str_empty(m.finalizers) && object_may_be_removed(call, current)) {
        *ret = (kc__rest_deletion){.object = kc_object_ref(current), .removes = true};
        return 0;
    }
    kc_object *marked = NULL;
    if (mark(call, current, &m, &marked) < 0)
        return -1;
    *ret = (kc__rest_deletion){.object = marked};
    return 0;
}
