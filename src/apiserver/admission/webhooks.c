/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhooks.c: what a call is to admission webhooks, and when they are asked about it.
 *
 *     create, update, patch    changed when it was proposed, refused when it was validated
 *     delete                   both with what goes; of a collection one by one
 *     binding, eviction        both with what was sent, before anything is proposed
 *
 * An object that is created is shown as the client sent it: what the server gives it (a uid, a
 * generated name) it has only when it was prepared. The configurations themselves are never shown:
 * nobody could be kept from repairing them.
 */
#include "apiserver/admission/asking.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/scale.h"
#include "apiserver/rest/metadata.h"
#include "apiserver/rest/scale.h"
#include "apiserver/rest/write.h"

#include "kc/arena.h"

/* ---- options ---- */

static void text_member(kc_buf *out, const char *name, kc_str text)
{
    if (kc_str_empty(text))
        return;
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, text);
}

static void write_delete_options(kc_buf *out, const kc__options *o)
{
    static const char *const propagations[] = {[KC__PROPAGATE_BACKGROUND] = "Background",
                                               [KC__PROPAGATE_FOREGROUND] = "Foreground",
                                               [KC__PROPAGATE_ORPHAN] = "Orphan"};
    if (o->has_grace)
        kc_buf_printf(out, ",\"gracePeriodSeconds\":%lld", (long long)o->grace_seconds);
    if (o->uid.p || o->precondition_version.p) {
        kc_scoped(kc_buf) inner = {0};
        text_member(&inner, "uid", o->uid);
        text_member(&inner, "resourceVersion", o->precondition_version);
        kc_buf_puts(out, ",\"preconditions\":{");
        kc_buf_append(out, kc_str_sub(kc_buf_str(&inner), 1, inner.n));
        kc_buf_putc(out, '}');
    }
    if (o->orphan_dependents != KC__UNSET)
        kc_buf_printf(out, ",\"orphanDependents\":%s",
                      o->orphan_dependents == KC__YES ? "true" : "false");
    text_member(out, "propagationPolicy", kc_cstr(propagations[o->propagation]));
}

/* The options of what is done, whatever the client called it. */
static kc_str options_of(kc__call *call, const char *operation)
{
    const kc__options *o = &call->options;
    const bool deletes = !strcmp(operation, "DELETE"), creates = !strcmp(operation, "CREATE");
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{\"kind\":\"%sOptions\",\"apiVersion\":\"meta.k8s.io/v1\"",
                  deletes   ? "Delete"
                  : creates ? "Create"
                            : "Update");
    if (deletes)
        write_delete_options(&out, o);
    if (o->dry_run)
        kc_buf_puts(&out, ",\"dryRun\":[\"All\"]");
    if (!deletes) {
        kc_str validation = {0};
        kc__query_get(&call->query, KC_STR("fieldValidation"), &validation);
        text_member(&out, "fieldManager", o->field_manager);
        text_member(&out, "fieldValidation", validation);
    }
    kc_buf_putc(&out, '}');
    return kc_arena_str(call->arena, kc_buf_str(&out));
}

/* ---- attributes ---- */

static const char *operation_of(const kc__call *call)
{
    if (call->verb->bit & (KC__DELETE | KC__DELETE_COLLECTION))
        return "DELETE";
    return call->verb->bit == KC__CREATE || !call->current ? "CREATE" : "UPDATE";
}

static bool is_stored_alike(const kc__resource *a, const kc__resource *b)
{
    return a != b && a->storage && b->storage && !strcmp(a->storage, b->storage);
}

/* The resource in its other versions. */
static void find_equivalents(kc__call *call, kc__attributes *about)
{
    size_t n, found = 0;
    const kc__resource *all = kc__kinds_resources(call->snapshot->kinds, &n);
    const kc__resource **list = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_stored_alike(&all[i], call->resource))
            continue;
        if (!list)
            list = kc_arena_calloc(call->arena, n, sizeof(const kc__resource *));
        list[found++] = &all[i];
    }
    about->equivalents = list;
    about->n_equivalents = found;
}

static kc_str namespace_of(const kc__call *call, const kc__attributes *about)
{
    const bool own = !*call->resource->group && !strcmp(call->resource->plural, "namespaces");
    return own && kc_str_empty(call->info.ns) ? about->name : call->info.ns;
}

static kc__attributes attributes_of(kc__call *call, const kc_object *object, const kc_object *old)
{
    kc__attributes about = {
        .operation = operation_of(call),
        .resource = call->resource,
        .subresource = call->subresource,
        .name = call->info.named ? call->info.name
                : object         ? kc_arena_str(call->arena, kc_object_name(object))
                                 : (kc_str){0},
        .object = object,
        .old = old,
        .user = &call->user,
        .dry_run = call->options.dry_run,
    };
    about.ns = namespace_of(call, &about);
    about.options = options_of(call, about.operation);
    find_equivalents(call, &about);
    return about;
}

/* ---- when ---- */

static bool is_exempt(const kc__call *call)
{
    static const char *const kinds[] = {"ValidatingWebhookConfiguration",
                                        "MutatingWebhookConfiguration",
                                        "ValidatingAdmissionPolicy",
                                        "ValidatingAdmissionPolicyBinding",
                                        "MutatingAdmissionPolicy",
                                        "MutatingAdmissionPolicyBinding",
                                        NULL};
    return !strcmp(call->resource->group, "admissionregistration.k8s.io") &&
           kc_str_is_any(kc_cstr(call->resource->kind), kinds);
}

/* Those to ask about a call; NULL: nobody. The caller drops the reference. */
static kc__hook_set *hooks_for(kc__call *call)
{
    return is_exempt(call) ? NULL : kc__hooks_now(call->api->hooks);
}

static kc__asking *begin(kc__call *call, kc__hook_set *set, const kc_object *object,
                         const kc_object *old)
{
    kc__attributes about = attributes_of(call, object, old);
    kc_auto(kc_object) *space =
        kc_str_empty(about.ns) ? NULL : kc__cache_get(call->api->namespaces, about.ns);
    about.space = space;
    return kc__asking_new(call, kc__hook_set_ref(set), &about);
}

static void go_on(kc__asking *a, kc__verdict verdict)
{
    kc__call_go_on(a->call, verdict);
}

/* ---- what they see ---- */

static bool deletes(const kc__call *call)
{
    return call->verb->bit & (KC__DELETE | KC__DELETE_COLLECTION);
}

/* In the version of the request; a Scale of it where that is what is spoken of. */
static kc_object *shown(kc__call *call, const kc_object *object)
{
    const kc__resource *r = call->resource;
    const bool ready = r->custom && !deletes(call);
    kc_auto(kc_object) *own =
        ready ? kc_object_ref(object) : kc__from_stored(r, object, &call->error);
    if (!own || !kc__is_scale(call))
        return kc_take(own);
    return kc__scale_of(r, own, false, &call->error);
}

/* Without what is not a client's to say; in the namespace of the path. */
static kc__verdict wipe(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    kc__check_namespace(call, &m);
    if (!call->current) {
        m.uid = m.created = m.deleted = (kc_str){0};
        m.has_grace = false;
    }
    return kc__propose_metadata(call, &m);
}

/* A new object has the place for its revision, which is nobody's business. */
static kc_object *shown_finished(kc__call *call)
{
    if (call->current)
        return shown(call, call->proposed);
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    m.resource_version = (kc_str){0};
    kc_auto(kc_object) *plain = kc__metadata_apply(call->proposed, &m, &call->error);
    return plain ? shown(call, plain) : NULL;
}

/* ---- changing ---- */

/* A generated name that is taken is drawn again, and nothing else is done again. */
static void keep_given(kc__call *call)
{
    if (call->current || call->verb->bit != KC__CREATE)
        return;
    call->hooks_mutated = true;
    kc_object_unref(call->given);
    call->given = kc_object_ref(call->proposed);
}

static void mutated(kc__asking *a, kc__verdict verdict)
{
    if (verdict == KC__NEXT && !deletes(a->call))
        keep_given(a->call);
    go_on(a, verdict);
}

static kc__verdict mutate(kc__call *call, kc__hook_set *set)
{
    if (!deletes(call) && wipe(call) != KC__NEXT)
        return KC__FAIL;
    kc_auto(kc_object) *old = call->current ? shown(call, call->current) : NULL;
    kc_auto(kc_object) *object = deletes(call)        ? NULL
                                 : kc__is_scale(call) ? kc_object_ref(call->proposed)
                                                      : shown(call, call->proposed);
    if ((call->current && !old) || (!deletes(call) && !object))
        return KC__FAIL;
    kc__asking *a = begin(call, set, object, old);
    a->target = deletes(call) ? NULL : &call->proposed;
    a->done = mutated;
    kc__verdict verdict = kc__asking_mutate(a);
    if (verdict == KC__NEXT && !deletes(call))
        keep_given(call);
    return verdict;
}

kc__verdict kc__admit_mutating_hooks(kc__call *call)
{
    const bool asked = call->hooks_asked || call->hooks_mutated;
    kc_auto(kc__hook_set) *set = asked ? NULL : hooks_for(call);
    return set && set->mutating.n ? mutate(call, set) : KC__NEXT;
}

/* ---- refusing ---- */

static kc__verdict validate(kc__call *call, kc__hook_set *set)
{
    kc_auto(kc_object) *old = call->current ? shown(call, call->current) : NULL;
    kc_auto(kc_object) *object = deletes(call) ? NULL : shown_finished(call);
    if ((call->current && !old) || (!deletes(call) && !object))
        return KC__FAIL;
    kc__asking *a = begin(call, set, object, old);
    a->done = go_on;
    return kc__asking_validate(a);
}

kc__verdict kc__admit_validating_hooks(kc__call *call)
{
    kc_auto(kc__hook_set) *set = call->hooks_asked ? NULL : hooks_for(call);
    return set && set->validating.n ? validate(call, set) : KC__NEXT;
}

/* ---- what is sent in an object's place ---- */

/* A Binding's uid is the pod's, and stays. */
static kc__verdict wipe_sent(kc__call *call)
{
    kc__metadata m;
    kc_auto(kc_object) *sent = kc_take(call->sent);
    kc__metadata_of(sent, call->arena, &m);
    kc__check_namespace(call, &m);
    if (call->eviction)
        m.uid = m.created = m.deleted = (kc_str){0};
    call->sent = kc__metadata_apply(sent, &m, &call->error);
    return call->sent ? KC__NEXT : KC__FAIL;
}

static void sent_validated(kc__asking *a, kc__verdict verdict)
{
    go_on(a, verdict == KC__NEXT ? KC__PROPOSE : verdict);
}

static kc__verdict validate_sent(kc__call *call)
{
    kc_auto(kc__hook_set) *set = hooks_for(call);
    if (!set || !set->validating.n)
        return KC__PROPOSE;
    kc__asking *a = begin(call, set, call->sent, NULL);
    a->done = sent_validated;
    kc__verdict verdict = kc__asking_validate(a);
    return verdict == KC__NEXT ? KC__PROPOSE : verdict;
}

static void sent_mutated(kc__asking *a, kc__verdict verdict)
{
    go_on(a, verdict == KC__NEXT ? validate_sent(a->call) : verdict);
}

kc__verdict kc__admit_sent(kc__call *call)
{
    kc_auto(kc__hook_set) *set = hooks_for(call);
    call->hooks_asked = true;
    if (!set)
        return KC__PROPOSE;
    if (wipe_sent(call) != KC__NEXT)
        return KC__FAIL;
    kc__asking *a = begin(call, set, call->sent, NULL);
    a->target = &call->sent;
    a->done = sent_mutated;
    kc__verdict verdict = kc__asking_mutate(a);
    return verdict == KC__NEXT ? validate_sent(call) : verdict;
}

/* ---- of a collection ---- */

bool kc__asks_hooks(kc__call *call)
{
    kc_auto(kc__hook_set) *set = hooks_for(call);
    return set != NULL;
}

typedef struct departure {
    kc__departure_done *done;
    void *user;
    const kc_object *old; /* As it is shown. */
} departure;

static kc__verdict depart(kc__asking *a, departure *d, kc__verdict verdict)
{
    d->old = kc_object_unref(d->old);
    if (a)
        d->done(d->user, verdict);
    return verdict;
}

static void departure_validated(kc__asking *a, kc__verdict verdict)
{
    depart(a, a->user, verdict);
}

static kc__verdict validate_departure(kc__call *call, departure *d)
{
    kc_auto(kc__hook_set) *set = hooks_for(call);
    if (!set)
        return KC__NEXT;
    kc__asking *a = begin(call, set, NULL, d->old);
    a->done = departure_validated;
    a->user = d;
    return kc__asking_validate(a);
}

static void departure_mutated(kc__asking *a, kc__verdict verdict)
{
    if (verdict == KC__NEXT)
        verdict = validate_departure(a->call, a->user);
    if (verdict != KC__LATER)
        depart(a, a->user, verdict);
}

kc__verdict kc__admit_departure(kc__call *call, const kc_object *current, kc__departure_done *done,
                                void *user)
{
    kc_auto(kc__hook_set) *set = hooks_for(call);
    kc_object *old = set ? shown(call, current) : NULL;
    if (!old)
        return set ? KC__FAIL : KC__NEXT;
    departure *d = kc_arena_calloc(call->arena, 1, sizeof(*d));
    *d = (departure){done, user, old};
    kc__asking *a = begin(call, set, NULL, old);
    a->done = departure_mutated;
    a->user = d;
    kc__verdict verdict = kc__asking_mutate(a);
    if (verdict == KC__NEXT)
        verdict = validate_departure(call, d);
    return verdict == KC__LATER ? verdict : depart(NULL, d, verdict);
}
