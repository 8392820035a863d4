/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletion.c: marking and removing.
 *
 *     no finalizers, nothing in the way ──▶ removed
 *     finalizers, or the kind says wait ──▶ deletionTimestamp; who holds it back lets it go later
 *
 * "Foreground" and "Orphan" are finalizers too: the garbage collector deletes or releases the
 * dependents and takes them off.
 */
#include "apiserver/rest/deletion.h"

#include "apiserver/rest/metadata.h"
#include "apiserver/rest/write.h"
#include "kc/meta.h"

#define ORPHAN     "orphan"
#define FOREGROUND "foregroundDeletion"

/* ---- preconditions ---- */

/* Namespaces, which are deleted in a way of their own, also say it in one. */
static kc__verdict not_meant(kc__call *call, const kc_object *current, const char *what,
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
        kc__fail(call, KC_CONFLICT,
                 "%s: Precondition failed: %s in precondition: %.*s, %s in object meta: %.*s",
                 about, what, KC_ARG(wanted), what, KC_ARG(is));
    else
        kc__fail(
            call, KC_CONFLICT,
            "%s: the %s in the precondition (%.*s) does not match the %s in record (%.*s). The "
            "object might have been %s",
            about, what, KC_ARG(wanted), what, KC_ARG(is), hint);
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(kind), name);
    return KC__FAIL;
}

kc__verdict kc__deletion_check(kc__call *call, const kc_object *current)
{
    const kc__options *o = &call->options;
    kc_str uid = kc_object_uid(current), version = kc_object_resource_version(current);
    if (o->uid.p && !kc_str_eq(o->uid, uid))
        return not_meant(call, current, "UID", o->uid, uid, "deleted and then recreated");
    if (o->precondition_version.p && !kc_str_eq(o->precondition_version, version))
        return not_meant(call, current, "ResourceVersion", o->precondition_version, version,
                         "modified");
    return KC__NEXT;
}

/* ---- what becomes of it ---- */

/* The client decides, else the finalizers it has already, else its kind. */
static bool wants_orphans(kc__call *call, const kc_object *object)
{
    const kc__options *o = &call->options;
    if (call->resource->strategy->owns_nothing)
        return false;
    if (o->orphan_dependents != KC__UNSET)
        return o->orphan_dependents == KC__YES;
    if (o->propagation != KC__PROPAGATE_DEFAULT)
        return o->propagation == KC__PROPAGATE_ORPHAN;
    return kc_object_has_finalizer(object, KC_STR(ORPHAN)) ||
           (call->resource->strategy->orphans &&
            !kc_object_has_finalizer(object, KC_STR(FOREGROUND)));
}

static bool wants_foreground(kc__call *call, const kc_object *object)
{
    const kc__options *o = &call->options;
    if (o->orphan_dependents != KC__UNSET || call->resource->strategy->owns_nothing)
        return false;
    if (o->propagation != KC__PROPAGATE_DEFAULT)
        return o->propagation == KC__PROPAGATE_FOREGROUND;
    return kc_object_has_finalizer(object, KC_STR(FOREGROUND));
}

static void append(kc_buf *out, kc_str name)
{
    kc_buf_putc(out, out->n ? ',' : '[');
    kc_json_quote(out, name);
}

/* The finalizers it has from now on, as JSON; empty for none. */
static kc_str finalizers_of(kc__call *call, const kc_object *object)
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

static bool may_go(kc__call *call, const kc_object *object)
{
    if (!call->resource->strategy->may_go)
        return true;
    kc_auto(kc_view) *view = kc_view_of(object);
    return call->resource->strategy->may_go(kc_view_root(view));
}

static void begin(kc_edit *edit, kc__call *call)
{
    call->resource->strategy->begin_deletion(edit, kc_clock_wall(call->api->clock));
}

static int mark(kc__call *call, const kc_object *current, kc__metadata *m, kc_object **ret)
{
    bool first = kc_str_empty(m->deleted);
    if (first) {
        m->deleted = kc__call_now(call, kc_arena_alloc(call->arena, KC_TIME_TEXT));
        m->has_grace = !call->resource->strategy->begin_deletion;
        m->grace_seconds = 0;
        m->generation += m->generation > 0;
    }
    kc_auto(kc_object) *marked = kc__metadata_apply(current, m, &call->error);
    if (!marked)
        return -1;
    /* The kind may add a finalizer, so it comes after the metadata. */
    if (first && call->resource->strategy->begin_deletion && kc__reshape(call, &marked, begin) < 0)
        return -1;
    *ret = kc_take(marked);
    return 0;
}

/* ---- with grace: whoever runs it ends it first, and then deletes it for good ----
 *
 * What has no time left is marked with that before it is removed, in a write of its own: its last
 * states say that it was deleted. */

static kc_str seconds_later(kc__call *call, kc_time from, int64_t seconds)
{
    return kc_time_print(from + seconds * KC_SECOND, kc_arena_alloc(call->arena, KC_TIME_TEXT));
}

static int64_t grace_of(kc__call *call, const kc_object *current)
{
    kc_auto(kc_view) *view = kc_view_of(current);
    const int64_t *asked = call->options.has_grace ? &call->options.grace_seconds : NULL;
    return call->resource->strategy->grace(kc_view_root(view), asked);
}

/* One that is already going can only be made to go sooner. False: nothing changes. */
static bool hasten(kc__call *call, kc__metadata *m)
{
    kc_time end;
    if (!call->options.has_grace || call->options.grace_seconds >= m->grace_seconds ||
        kc_time_parse(m->deleted, &end, NULL) < 0)
        return false;
    m->deleted = seconds_later(call, end, call->options.grace_seconds - m->grace_seconds);
    m->grace_seconds = call->options.grace_seconds;
    return true;
}

static int plan_graceful(kc__call *call, const kc_object *current, kc__metadata *m,
                         kc__deletion *ret)
{
    bool pending = !kc_str_empty(m->deleted) && m->grace_seconds > 0;
    if (kc_str_empty(m->deleted)) {
        m->has_grace = true;
        m->grace_seconds = grace_of(call, current);
        m->deleted = seconds_later(call, kc_clock_wall(call->api->clock), m->grace_seconds);
        m->generation += m->generation > 0;
    } else if (pending && !hasten(call, m)) {
        *ret = (kc__deletion){.object = kc_object_ref(current)};
        return 0;
    }
    kc_object *marked = kc__metadata_apply(current, m, &call->error);
    if (!marked)
        return -1;
    bool goes = m->grace_seconds <= 0 && kc_str_empty(m->finalizers);
    bool told = kc_str_eq(kc_object_json(marked), kc_object_json(current));
    *ret = (kc__deletion){marked, .removes = goes && told, .again = goes && !told};
    return 0;
}

void kc__deletion_go_on(kc__call *call)
{
    call->hooks_asked = true;
    if (call->options.precondition_version.p)
        call->options.precondition_version =
            kc_arena_str(call->arena, kc_object_resource_version(call->current));
}

int kc__deletion_plan(kc__call *call, const kc_object *current, kc__deletion *ret)
{
    kc__metadata m;
    kc__metadata_of(current, call->arena, &m);
    m.finalizers = finalizers_of(call, current);
    if (call->resource->strategy->grace)
        return plan_graceful(call, current, &m, ret);
    if (kc_str_empty(m.finalizers) && may_go(call, current)) {
        *ret = (kc__deletion){.object = kc_object_ref(current), .removes = true};
        return 0;
    }
    kc_object *marked = NULL;
    if (mark(call, current, &m, &marked) < 0)
        return -1;
    *ret = (kc__deletion){.object = marked};
    return 0;
}
