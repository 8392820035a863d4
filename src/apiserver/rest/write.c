/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: the phases from a proposal to a stored object: validated, admitted, stored.
 *
 * A write is a compare-and-swap against the state it was made from. If somebody else was faster, it
 * goes back to `proposed` with the new state, unless the client named a version itself. What is the
 * same as before is not written: no revision, no event.
 */
#include "apiserver/rest/write.h"

#include "apiserver/admission/asking.h"
#include "apiserver/crd/crd_gate.h"
#include "apiserver/crd/crd_validate.h"
#include "apiserver/crd/custom_object.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/scale.h"
#include "kc/diff.h"
#include "kc/metadata_validation.h"

kc_str kc__key_of(kc__call *call, kc_str name)
{
    if (!call->resource->namespaced)
        return kc_arena_str(call->arena, name);
    return kc_cstr(kc_arena_printf(call->arena, "%.*s/%.*s", KC_ARG(call->info.ns), KC_ARG(name)));
}

kc__verdict kc__check_namespace(kc__call *call, kc__metadata *metadata)
{
    kc_str own = call->resource->namespaced ? call->info.ns : (kc_str){0};
    if (kc_str_empty(metadata->ns) || !call->resource->namespaced)
        metadata->ns = own;
    if (!kc_str_eq(metadata->ns, own))
        return kc__fail(call, KC_BAD_REQUEST,
                        "the namespace of the provided object does not match the namespace sent on "
                        "the request");
    return KC__NEXT;
}

int kc__object_version(const kc_object *object, uint64_t *ret, kc_error *err)
{
    kc_str text = kc_object_resource_version(object);
    uint64_t version = 0;
    if (!kc_str_empty(text) && !kc_str_to_u64(text, &version)) {
        kc_scoped(kc_buf) quoted = {0};
        kc_json_quote(&quoted, text);
        return kc_error_set(err, KC_BAD_REQUEST, "strconv.ParseUint: parsing %s: invalid syntax",
                            kc_buf_cstr(&quoted));
    }
    *ret = version;
    return 0;
}

/* What is in the edit, with its type, in the place of *object. */
static int replace(kc__call *call, kc_object **object, kc_edit *edit)
{
    kc_auto(kc_object) *changed = kc_edit_freeze(edit, &call->error);
    const kc__resource *r = call->resource;
    kc_object *typed = !changed ? NULL
                       : r->custom
                           ? kc__custom_default(r->custom, changed, &call->error)
                           : kc__typed_decode(kc__type_of(r, changed), changed, NULL, &call->error);
    if (!typed)
        return -1;
    kc_object_unref(*object);
    *object = typed;
    return 0;
}

int kc__reshape(kc__call *call, kc_object **object, void (*change)(kc_edit *edit, kc__call *call))
{
    kc_auto(kc_edit) *edit = kc_edit_of(*object);
    change(edit, call);
    return replace(call, object, edit);
}

static kc_object *with_defaults(const kc__resource *r, const kc_object *object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc__defaults_apply(r->strategy->defaults, edit, kc_edit_root(edit));
    kc_auto(kc_object) *changed = kc_edit_freeze(edit, err);
    return changed ? kc__typed_decode(kc__type_of(r, changed), changed, NULL, err) : NULL;
}

kc_object *kc__completed(const kc__resource *r, const kc_object *object, kc_error *err)
{
    kc_auto(kc_object) *whole =
        r->strategy->defaults ? with_defaults(r, object, err) : kc_object_ref(object);
    return whole ? kc__to_stored(r, whole, err) : NULL;
}

kc_str kc__proposed_name(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    return kc_str_empty(m.name) ? m.generate_name : m.name;
}

kc__verdict kc__fill_in(kc__call *call, kc_object **object)
{
    if (call->resource->custom || call->spoken != call->resource)
        return KC__NEXT;
    kc_object *stored = kc__completed(call->resource, *object, &call->error);
    if (!stored)
        return KC__FAIL;
    kc_object_unref(*object);
    *object = stored;
    return KC__NEXT;
}

/* What is stored stays in its own form where it is only marked or removed; whoever changes it sees
 * the form of the version. The reference is taken over. */
static kc_object *as_changed(kc__call *call, kc_object *stored)
{
    if (!stored || !call->resource->custom)
        return stored;
    kc_auto(kc_object) *held = stored;
    call->stale = !kc_str_is(kc_object_api_version(stored), call->resource->storage_api_version);
    return kc__from_stored(call->resource, held, &call->error);
}

bool kc__load_current(kc__call *call)
{
    if (!call->current)
        call->current = as_changed(call, kc__cache_get(call->served->cache, call->key));
    return call->current != NULL;
}

kc__verdict kc__replace_proposed(kc__call *call, kc_edit *edit)
{
    if (replace(call, &call->proposed, edit) < 0)
        return KC__FAIL;
    bool counted =
        call->current && call->resource->strategy->generation && call->phase >= KC__PHASE_PREPARED;
    return counted ? kc__recount_generation(call) : KC__NEXT;
}

kc__verdict kc__propose_metadata(kc__call *call, const kc__metadata *metadata)
{
    kc_auto(kc_object) *base = kc_take(call->proposed);
    call->proposed = kc__metadata_apply(base, metadata, &call->error);
    return call->proposed ? KC__NEXT : KC__FAIL;
}

/* ---- validated ---- */

/* Built-in kinds want finalizers that say whose they are, or one of the three everybody knows. */
static void validate_finalizers(const kc_value *object, kc_field_errors *errors)
{
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion"};
    size_t i = 0;
    kc_items (kc_get(kc_get(object, "metadata"), "finalizers"), item) {
        kc_str name = kc_as_str(item);
        bool known = kc_str_find(name, '/') >= 0;
        for (size_t j = 0; j < KC_COUNT(standard); j++)
            known = known || kc_str_is(name, standard[j]);
        if (!known)
            kc_field_errors_add_value(
                errors, KC_FIELD_INVALID,
                kc_arena_printf(&errors->arena, "metadata.finalizers[%zu]", i), item,
                "name is neither a standard finalizer name nor is it fully qualified");
        i++;
    }
}

const char *kc__part_of(const kc__call *call)
{
    return call->subresource && !kc__is_scale(call) ? call->subresource->name : NULL;
}

static void check_rules(kc__call *call, const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors);
    if (call->resource->strategy->rules && !kc__part_of(call))
        kc__rules_check(call->resource->strategy->rules, &root);
}

/* Custom objects have rules of their own from the beginning; what all kinds have in common comes on
 * top where an object is changed. */
static void validate_custom(kc__call *call, const kc_value *object, kc_field_errors *errors)
{
    kc_metadata_rules common = {.name = KC_NAME_PATH_SEGMENT,
                                .namespaced = call->resource->namespaced};
    kc_auto(kc_view) *view = call->current ? kc_view_of(call->current) : NULL;
    const kc_value *old = view ? kc_view_root(view) : NULL, *metadata = kc_get(object, "metadata");
    if (old) {
        kc_validate_metadata(errors, metadata, &common);
        kc_validate_metadata_update(errors, metadata, kc_get(old, "metadata"), &common);
    }
    kc__custom_validate(call->resource->custom, object,
                        &(kc__custom_rules){.old = old, .subresource = kc__part_of(call)}, errors);
}

static bool is_definition(const kc__call *call)
{
    return call->served->cache == call->api->definitions;
}

/* What one should know about what is accepted. */
static void warn_about(kc__call *call, const kc_value *object)
{
    kc_scoped(kc_paths) warnings = {0};
    const kc__strategy *strategy = call->resource->strategy;
    if (call->tries || (!call->resource->custom && !is_definition(call) && !strategy->warn))
        return;
    kc_auto(kc_view) *view = call->current ? kc_view_of(call->current) : NULL;
    const kc_value *old = view ? kc_view_root(view) : NULL;
    if (call->resource->custom)
        kc__custom_warnings(object, old, &warnings);
    else if (call->subresource)
        return;
    else if (strategy->warn)
        strategy->warn(object, &warnings);
    else
        kc__crd_warnings(object, old, &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        kc__warn(call, kc_arena_str(call->arena, kc_cstr(warnings.items[i])));
}

static void validate_new(kc__call *call, const kc_value *object, kc_field_errors *errors)
{
    const kc__strategy *strategy = call->resource->strategy;
    kc_metadata_rules rules = {.name = strategy->names, .namespaced = call->resource->namespaced};
    kc_validate_metadata(errors, kc_get(object, "metadata"), &rules);
    validate_finalizers(object, errors);
    check_rules(call, object, errors);
    if (strategy->validate)
        strategy->validate(object, errors);
}

/* By the rules of the kind for the part that is changed. */
static void validate_part(kc__call *call, const kc_value *object, const kc_value *old,
                          kc_field_errors *errors)
{
    const kc__strategy *strategy = call->resource->strategy;
    const char *part = kc__part_of(call) ? kc__part_of(call) : "";
    void (*validate)(const kc_value *, const kc_value *, kc_field_errors *) =
        !strcmp(part, "status")     ? strategy->validate_status
        : !strcmp(part, "finalize") ? strategy->validate_finalize
        : !*part                    ? strategy->validate_update
                                    : NULL;
    if (validate)
        validate(object, old, errors);
    else if (*part && strategy->validate_part)
        strategy->validate_part(object, old, part, errors);
}

/* Kubernetes checks metadata twice, by the rules of all kinds and by those of the kind, and clients
 * see both in the causes. */
static void validate_changed(kc__call *call, const kc_value *object, kc_field_errors *errors)
{
    kc_metadata_rules common = {.name = KC_NAME_PATH_SEGMENT,
                                .namespaced = call->resource->namespaced};
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *old = kc_view_root(view), *metadata = kc_get(object, "metadata");
    kc_validate_metadata(errors, metadata, &common);
    for (int i = 0; i < 2; i++)
        kc_validate_metadata_update(errors, metadata, kc_get(old, "metadata"), &common);
    validate_finalizers(object, errors);
    check_rules(call, object, errors);
    validate_part(call, object, old, errors);
}

kc__verdict kc__phase_validated(kc__call *call)
{
    if (call->skip_validation)
        return KC__NEXT;
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    if (call->resource->custom)
        validate_custom(call, kc_view_root(view), &errors);
    else if (call->current)
        validate_changed(call, kc_view_root(view), &errors);
    else
        validate_new(call, kc_view_root(view), &errors);
    /* Of built-in kinds only what is accepted is warned about. */
    if (!errors.list.n || !call->resource->strategy || !call->resource->strategy->warn)
        warn_about(call, kc_view_root(view));
    if (!errors.list.n)
        return KC__NEXT;
    return kc__fail_invalid(call, kc_object_name(call->proposed), &errors);
}

/* ---- admitted ---- */

/* The place for those who may refuse a finished object. */
kc__verdict kc__phase_admitted(kc__call *call)
{
    return kc__admit_validating_hooks(call);
}

/* ---- stored ---- */

/* What the committer holds of a call: outlives it when the client's patience ends first. */
typedef struct pending {
    kc__write write;
    kc__call *call; /* NULL: answered already. */
    kc_object *object;
    char *key;
    kc__gate *gate; /* Where it is inside; NULL: nowhere. */
} pending;

static bool same_object(const kc_object *a, const kc_object *b)
{
    kc_str x = kc_object_json(a), y = kc_object_json(b);
    return kc_str_eq(x, y) || (x.n == y.n && kc_object_equal(a, b, NULL));
}

static kc__verdict create_conflict(kc__call *call, const kc_object *existing)
{
    bool drawn = kc_str_empty(kc_object_name(call->given));
    if (drawn && ++call->tries < KC__MAX_TRIES)
        return KC__PROPOSE;
    bool dying = existing && !kc_str_empty(kc_object_deletion_timestamp(existing));
    kc__fail_exists(call, kc_object_name(call->proposed), dying);
    if (drawn)
        call->error.retry_after_seconds = 1;
    return KC__FAIL;
}

/* Somebody was faster; `now` is what is stored, with a reference that is taken over. */
static kc__verdict conflict(kc__call *call, kc_object *now)
{
    kc_auto(kc_object) *existing = now;
    if (!call->current)
        return create_conflict(call, existing);
    /* What is gone is not found, also by who named a version of it. */
    if (existing && (call->conditional || ++call->tries >= KC__MAX_RACES))
        return kc__fail_modified(call, kc_object_name(call->current));
    kc_object_unref(call->current);
    bool there = existing != NULL, changes = call->verb != &kc__verb_delete;
    call->current = changes ? as_changed(call, kc_take(existing)) : kc_take(existing);
    return there && !call->current ? KC__FAIL : KC__PROPOSE;
}

static kc__verdict decided(kc__call *call, kc__write *write)
{
    if (write->error.reason) {
        kc_error_move(&call->error, &write->error);
        return KC__FAIL;
    }
    switch (write->outcome) {
    case KC_STORAGE_STORED: {
        /* An update that was the end of an object is answered with what was sent. */
        bool last = call->removes && call->verb != &kc__verb_delete;
        kc_object_unref(call->current);
        call->current = last ? kc_take(call->proposed) : kc_take(write->result);
        return KC__NEXT;
    }
    case KC_STORAGE_CONFLICT: return conflict(call, kc_take(write->result));
    default: return kc__fail(call, KC_TOO_LARGE, "etcdserver: request is too large");
    }
}

static void pending_free(pending *p)
{
    if (p->gate)
        kc__gate_leave(p->gate);
    kc__gate_unref(p->gate);
    kc_object_unref(p->object);
    free(p->key);
    free(p);
}

static void done(kc__write *write)
{
    pending *p = kc_container_of(write, pending, write);
    kc__call *call = p->call;
    kc__verdict verdict = KC__DONE;
    if (call) {
        kc__timer_stop(&call->timeout);
        verdict = decided(call, write);
    }
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    pending_free(p);
    if (call)
        kc__call_go_on(call, verdict);
}

/* The store takes longer than the client shall wait; the write may still succeed. */
static void give_up(kc__timer *timer)
{
    kc__call *call = kc_container_of(timer, kc__call, timeout);
    pending *p = call->state;
    p->call = NULL;
    kc__call_go_on(call, kc__fail(call, KC_TIMEOUT,
                                  "Timeout: request did not complete within requested timeout - "
                                  "context deadline exceeded"));
}

/* Whether it may be stored as far as its definition is concerned: a new object may be left behind
 * by one that goes meanwhile. */
static bool goes_in(kc__call *call, pending *p)
{
    if (!call->resource->custom || call->current)
        return true;
    kc__gate *gate = kc__crd_gate(call->resource->custom->crd);
    if (!kc__gate_enter(gate))
        return false;
    p->gate = kc__gate_ref(gate);
    return true;
}

static kc__verdict submit(kc__call *call)
{
    kc_object *stored = call->resource->custom && !call->removes
                            ? kc__to_stored(call->resource, call->proposed, &call->error)
                            : kc_object_ref(call->proposed);
    if (!stored)
        return KC__FAIL;
    pending *p = kc_new(pending);
    p->call = call;
    p->object = stored;
    /* A new object has its defaults, and nothing that it should not. */
    call->as_shown = call->resource->custom && !call->current && stored == call->proposed;
    p->key = kc_str_dup(call->key);
    if (!goes_in(call, p)) {
        pending_free(p);
        return kc__fail_terminating(call, kc_object_name(call->proposed));
    }
    p->write = (kc__write){
        .cache = call->served->cache,
        .verb = call->removes ? KC_STORAGE_DELETE : KC_STORAGE_PUT,
        .key = kc_str_of(p->key, call->key.n),
        .expected = call->current ? kc_object_revision(call->current) : KC_STORAGE_ABSENT,
        .object =
            call->removes ? NULL : p->object, /* Watchers see the last state that was stored. */
        .loop = call->x->loop,
        .done = done,
    };
    call->state = p;
    call->timeout.loop = call->x->loop;
    call->timeout.fire = give_up;
    kc__timer_start(&call->timeout, kc_clock_deadline(call->api->clock, call->patience));
    kc__store_submit(call->api->store, &p->write);
    return KC__LATER;
}

/* A dry run ends where the store would begin, with what would have been stored. */
static kc__verdict pretend(kc__call *call)
{
    kc_object_unref(call->current);
    call->current = kc_take(call->proposed);
    return KC__NEXT;
}

kc__verdict kc__phase_stored(kc__call *call)
{
    if (call->refusal)
        return kc__fail(call, KC_UNKNOWN, "%s", call->refusal);
    if (!call->current) {
        kc_auto(kc_object) *existing = kc__cache_get(call->served->cache, call->key);
        if (existing)
            return create_conflict(call, existing);
    } else if (!call->removes && !call->stale && same_object(call->proposed, call->current)) {
        return KC__NEXT;
    }
    return call->options.dry_run ? pretend(call) : submit(call);
}
