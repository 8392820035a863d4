/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.c: the phases that pass the prepared object to the store: `encoded` converts it to the
 * stored form, `stored` submits it.
 *
 * A write is a compare-and-swap against the state that it was made from. If another write was
 * committed first, the request returns to `proposed` with the new state, unless the client sent a
 * resourceVersion. An object that equals the stored one is not written: no revision, no event. As
 * in Kubernetes, that compares stored bytes: an object that reading changes (new defaults of its
 * CRD, metadata that an apply stored as merged) is written by the next update, whatever it changes.
 *
 * A write that charges quotas is one group with them (admission/quota/quota_charge.h). If a quota
 * has changed so that the write may not fit any more, the group is not stored, and `stored` checks
 * the quotas again. The cluster IPs and node ports of a Service belong to the group as well
 * (services/service_claim.h). If another write took one of them, the request returns to `proposed`.
 *
 * Objects of a CRD with a conversion webhook are converted by it, before they become `current` and
 * before they are stored (call/call_conversion.h).
 */
#include "apiserver/admission/quota/quota_charge.h"
#include "apiserver/admission/quota/resource_quota.h"
#include "apiserver/background/event_expiry.h"
#include "apiserver/call/call_conversion.h"
#include "apiserver/kinds/create_gate.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/own.h"
#include "apiserver/request/request_metrics.h"
#include "apiserver/request/unservable.h"
#include "apiserver/request/write.h"
#include "apiserver/services/service_claim.h"
#include "kc/diff.h"

/* ---- the stored object ---- */

/* The stored object in the form in which the write edits it. Takes over the reference. */
static kc_object *in_edited_form(kc__rest_call *call, kc_object *stored)
{
    const kc__resource *r = call->resource;
    call->as_stored = kc_object_unref(call->as_stored);
    if (!stored || !r->ops->edits_served_form)
        return stored;
    kc_auto(kc_object) *held = stored;
    call->stale = !kc_str_is(kc_object_api_version(stored), r->storage_api_version);
    kc_object *shown = kc__rest_show_stored(call->api, r, held, &call->error);
    if (shown != held && !kc__remote_is_needed(r, held))
        call->as_stored = kc_take(held);
    return shown;
}

kc__rest_verdict kc__rest_await_current(kc__rest_call *call)
{
    if (call->current || !kc__remote_may_be_needed(call->resource))
        return KC__REST_NEXT;
    if (!call->unread)
        call->unread = kc__watch_cache_get(call->served->cache, call->key);
    return kc__rest_convert_stored(call, call->resource, call->unread);
}

bool kc__rest_load_current(kc__rest_call *call)
{
    if (call->current)
        return true;
    kc_object *stored =
        call->unread ? kc_take(call->unread) : kc__watch_cache_get(call->served->cache, call->key);
    if (!stored && kc__watch_cache_check_readable(call->served->cache, call->key, &call->error) < 0)
        return false;
    call->current = in_edited_form(call, stored);
    return call->current != NULL;
}

/* ---- encoded ---- */

/* Equal objects of built-in kinds have equal bytes: decoding has put their members in order. */
static bool are_same_objects(const kc__rest_call *call, const kc_object *a, const kc_object *b)
{
    kc_str x = kc_object_json(a), y = kc_object_json(b);
    if (kc_str_eq(x, y))
        return true;
    return !call->resource->type && x.n == y.n && kc_object_equal(a, b, NULL);
}

/* Whether the write leaves `current` as it is. Times of managedFields do not count, and are reset:
 * later phases changed back what the client changed. Metadata as an apply merged it is a change
 * here, even if it is not stored. */
static bool keeps_current(kc__rest_call *call)
{
    if (!call->current || call->removes)
        return false;
    if (are_same_objects(call, call->proposed, call->current))
        return true;
    if (call->merged_metadata.n || !kc__rest_own_same_but_times(call->proposed, call->current))
        return false;
    kc_auto(kc_object) *touched = call->proposed;
    call->proposed =
        kc_object_with_managed_fields(touched, kc_object_managed_fields_json(call->current));
    return true;
}

/* Whether the stored value must be written again: it has another version, or was encrypted with an
 * earlier key. */
static bool is_stale(const kc__rest_call *call)
{
    return call->stale || kc__watch_cache_is_stale(call->served->cache, call->key,
                                                   kc_object_revision(call->current));
}

/* A deletion changes the metadata of the stored form, and needs no conversion webhook. A dry run is
 * encoded too, so that its response lacks what the storage version would lose, but not by webhook.
 */
static kc__rest_verdict encode_proposed(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    const bool remote = !call->removes && kc__remote_is_needed_to_store(r, call->proposed);
    if (remote && call->options.dry_run)
        return KC__REST_NEXT;
    if (remote && call->verb != &kc__rest_verb_delete)
        return kc__rest_convert_to_storage(call, r, call->proposed, &call->encoded);
    call->encoded = call->removes || remote ? kc_object_ref(call->proposed)
                                            : r->ops->to_stored(r, call->proposed, &call->error);
    return call->encoded ? KC__REST_NEXT : KC__REST_FAIL;
}

/* Whether the metadata of an apply is stored as merged. A conversion to the storage version coerces
 * it. */
static bool stores_merged_metadata(const kc__rest_call *call)
{
    return call->merged_metadata.n &&
           kc_str_is(kc_object_api_version(call->proposed), call->resource->storage_api_version);
}

/* Puts the members of the metadata that an apply stores as merged into the stored form. */
static kc__rest_verdict restore_merged_metadata(kc__rest_call *call)
{
    if (!stores_merged_metadata(call) || !call->encoded)
        return KC__REST_NEXT;
    kc_auto(kc_object) *decoded = kc_take(call->encoded);
    call->encoded =
        call->resource->ops->with_merged_metadata(decoded, call->merged_metadata, &call->error);
    return call->encoded ? KC__REST_NEXT : KC__REST_FAIL;
}

kc__rest_verdict kc__rest_phase_encoded(kc__rest_call *call)
{
    if (call->verb->unstored)
        return KC__REST_RESPOND;
    if (call->refusal)
        return kc__rest_fail(call, KC_UNKNOWN, "%s", call->refusal);
    const bool same = keeps_current(call) && !is_stale(call) && !stores_merged_metadata(call);
    call->unchanged = same && !call->as_stored;
    call->encoded = kc_object_unref(call->encoded);
    const kc__rest_verdict verdict = call->unchanged ? KC__REST_NEXT : encode_proposed(call);
    if (verdict == KC__REST_NEXT && same && call->encoded)
        call->unchanged = are_same_objects(call, call->encoded, call->as_stored);
    return verdict == KC__REST_NEXT ? restore_merged_metadata(call) : verdict;
}

/* ---- stored ---- */

/* A write in the committer. It outlives the call if the request times out first. */
typedef struct pending {
    kc__store_write write;
    kc__rest_call *call; /* NULL: already answered. */
    kc_object *object;
    char *key;
    kc__resource_create_gate
        *gate; /* The create gate of the CRD that the write has entered; NULL: none. */
    /* The rest of the group: quotas, the numbers of a Service; NULL: none. */
    kc__quota_charges *charges;
    kc__service_claim *claim;
    size_t left; /* Parts of the group that are not done. */
} pending;

static kc__rest_verdict create_conflict(kc__rest_call *call, const kc_object *existing)
{
    bool drawn = kc_str_empty(kc_object_name(call->body));
    if (drawn && ++call->tries < KC__REST_MAX_NAME_TRIES)
        return KC__REST_PROPOSE;
    bool terminating = existing && !kc_str_empty(kc_object_deletion_timestamp(existing));
    kc__rest_fail_exists(call, kc_object_name(call->proposed), terminating);
    if (drawn)
        call->error.retry_after_seconds = 1;
    return KC__REST_FAIL;
}

/* Another write was committed first. `now` is the stored object; takes over the reference. */
static kc__rest_verdict resolve_conflict(kc__rest_call *call, kc_object *now)
{
    kc_auto(kc_object) *existing = now;
    if (!call->current && call->verb == &kc__rest_verb_create)
        return create_conflict(call, existing);
    /* A deleted object is not found, even if the client sent a resourceVersion of it. */
    if (existing && (call->conditional || ++call->tries >= KC__REST_MAX_CONFLICTS))
        return kc__rest_fail_modified(
            call, kc_object_name(call->current ? call->current : call->proposed));
    call->current = kc_object_unref(call->current);
    const bool there = existing != NULL, changes = call->verb != &kc__rest_verb_delete;
    if (there && changes && kc__remote_is_needed(call->resource, existing)) {
        call->unread = kc_take(existing);
        return KC__REST_PROPOSE;
    }
    call->current = changes ? in_edited_form(call, kc_take(existing)) : kc_take(existing);
    return there && !call->current ? KC__REST_FAIL : KC__REST_PROPOSE;
}

/* A quota of the group has changed: `stored` checks the quotas and submits the object again. */
static kc__rest_verdict charge_again(kc__rest_call *call, pending *p)
{
    if (++call->tries >= KC__REST_MAX_CONFLICTS)
        return kc__rest_fail_modified(call, kc_object_name(call->proposed));
    call->encoded = kc_take(p->object);
    call->recharge = true;
    return KC__REST_ON_LOOP;
}

/* Another write took a cluster IP or node port of the Service. */
static kc__rest_verdict propose_again(kc__rest_call *call)
{
    if (++call->tries >= KC__REST_MAX_CONFLICTS)
        return kc__rest_fail_modified(call, kc_object_name(call->proposed));
    return KC__REST_PROPOSE;
}

/* Another write of the group was not stored. */
static kc__rest_verdict resolve_skipped(kc__rest_call *call, pending *p)
{
    const kc_error *error = kc__service_claim_error(p->claim);
    if (error)
        return kc__rest_fail(call, error->reason, "%s", kc_error_text(error));
    return kc__service_claim_is_lost(p->claim) ? propose_again(call) : charge_again(call, p);
}

static kc__rest_verdict take_outcome(kc__rest_call *call, pending *p)
{
    kc__store_write *write = &p->write;
    if (write->error.reason) {
        kc_error_move(&call->error, &write->error);
        return KC__REST_FAIL;
    }
    switch (write->outcome) {
    case KC__STORAGE_STORED: {
        /* An update that removes the object (it removed the last finalizer) responds with the
         * updated object. */
        bool last = call->removes && call->verb != &kc__rest_verb_delete;
        kc_object_unref(call->current);
        call->current = last ? kc_take(call->proposed) : kc_take(write->result);
        return KC__REST_NEXT;
    }
    case KC__STORAGE_CONFLICT: return resolve_conflict(call, kc_take(write->result));
    case KC__STORAGE_SKIPPED: return resolve_skipped(call, p);
    default: return kc__rest_fail(call, KC_TOO_LARGE, "etcdserver: request is too large");
    }
}

static void pending_free(pending *p)
{
    if (p->gate)
        kc__resource_create_gate_leave(p->gate);
    kc__resource_create_gate_unref(p->gate);
    kc__quota_charges_free(p->charges);
    kc__service_claim_free(p->claim);
    kc_object_unref(p->object);
    free(p->key);
    free(p);
}

/* The write, with all of its group, is done. */
static void finish_write(pending *p)
{
    kc__rest_call *call = p->call;
    kc__rest_verdict verdict = KC__REST_DONE;
    if (call) {
        kc__loop_timer_stop(&call->timeout);
        verdict = take_outcome(call, p);
    }
    kc_object_unref(p->write.result);
    kc_error_done(&p->write.error);
    pending_free(p);
    if (call)
        kc__rest_call_resume(call, verdict);
}

static void part_done(void *user)
{
    pending *p = user;
    if (--p->left == 0)
        finish_write(p);
}

static void write_done(kc__store_write *write)
{
    part_done(kc_container_of(write, pending, write));
}

/* The request's deadline passed while the store was writing; the write may still succeed. */
static void write_timed_out(kc__loop_timer *timer)
{
    kc__rest_call *call = kc_container_of(timer, kc__rest_call, timeout);
    pending *p = call->state;
    p->call = NULL;
    kc__rest_call_resume(call, kc__rest_fail_timeout(call));
}

/* A creation enters the gate of its CRD, so that the deletion of the CRD does not leave the object
 * behind. False: the gate is closed. */
static bool enter_gate(kc__rest_call *call, pending *p)
{
    const kc__resource *r = call->resource;
    if (!r->ops->create_gate || call->current)
        return true;
    kc__resource_create_gate *gate = r->ops->create_gate(r);
    if (!kc__resource_create_gate_enter(gate))
        return false;
    p->gate = kc__resource_create_gate_ref(gate);
    return true;
}

/* The object comes first: a reader that sees the charged quota also sees the object. */
static void submit_pending(kc__rest_call *call, pending *p)
{
    kc__store_write *group[KC__STORAGE_MAX_GROUP] = {&p->write};
    size_t n = 1;
    p->left = 1;
    if (p->claim) {
        n += kc__service_claim_join(p->claim, call->x->loop, group + n, part_done, p);
        p->left++;
    }
    if (p->charges) {
        n += kc__quota_charges_join(p->charges, call->x->loop, group + n, part_done, p);
        p->left++;
    }
    kc__store_submit_group(call->api->store, group, n);
}

/* NULL: the write takes and releases no numbers of a Service. */
static kc__service_claim *claim_numbers(kc__rest_call *call, const kc_object *object)
{
    kc__service_numbers *numbers = call->api->numbers;
    if (call->served->cache != kc__service_numbers_services(numbers))
        return NULL;
    return kc__service_claim_new(numbers,
                                 &(kc__service_claim_change){.old = call->current,
                                                             .new = call->removes ? NULL : object,
                                                             .now = kc_clock_wall(call->api->clock),
                                                             .rand = call->rand});
}

static kc__rest_verdict submit_write(kc__rest_call *call)
{
    pending *p = kc_new(pending);
    p->call = call;
    p->object = kc_take(call->encoded);
    p->claim = claim_numbers(call, p->object);
    if (kc__service_claim_is_lost(p->claim)) {
        pending_free(p);
        return propose_again(call);
    }
    /* A new object is stored in the form that this version serves: defaulted and pruned. That of an
     * apply has metadata as it was merged. */
    call->as_shown = call->resource->ops->edits_served_form && !call->current && !call->config &&
                     p->object == call->proposed;
    p->key = kc_str_dup(call->key);
    if (!enter_gate(call, p)) {
        pending_free(p);
        return kc__rest_fail_terminating(call, kc_object_name(call->proposed));
    }
    p->write = (kc__store_write){
        .cache = call->served->cache,
        .verb = call->removes ? KC__STORAGE_DELETE : KC__STORAGE_PUT,
        .key = kc_str_of(p->key, call->key.n),
        .expected = call->current ? kc_object_revision(call->current) : KC__STORAGE_ABSENT,
        .ttl = kc__event_expiry_ttl(call->api->event_expiry, call->served->cache),
        .object = call->removes ? NULL : p->object, /* Watchers receive the last stored state. */
        .loop = call->x->loop,
        .done = write_done,
    };
    call->state = p;
    call->timeout.loop = call->x->loop;
    call->timeout.fire = write_timed_out;
    kc__loop_timer_start(&call->timeout,
                         kc_clock_deadline(call->api->clock, call->request_timeout));
    p->charges = kc_take(call->charges);
    submit_pending(call, p);
    return KC__REST_PENDING;
}

static bool is_too_large(const kc__rest_call *call)
{
    const size_t n = kc_object_json(call->proposed).n, most = call->api->max_object_bytes;
    const size_t was = call->current ? kc_object_json(call->current).n : 0;
    if (n <= most || call->verb == &kc__rest_verb_delete || call->verb == &kc__rest_verb_evict)
        return false;
    return was <= most || n > was + KC__REST_OVERSIZE_GROWTH;
}

static void strip_managed_fields(kc_object **object)
{
    kc_auto(kc_object) *with = *object;
    if (with)
        *object = kc_object_without_managed_fields(with);
}

/* Removes managedFields from an object that is too large with them. Not for an apply, which needs
 * them. */
static void drop_managed_fields(kc__rest_call *call)
{
    if (call->config || !kc_object_managed_fields_json(call->proposed).n)
        return;
    strip_managed_fields(&call->proposed);
    strip_managed_fields(&call->encoded);
    kc_counter_inc(call->api->counts->dropped_owners);
}

/* The message of Kubernetes' store, as a client error, with both sizes. */
static kc__rest_verdict check_object_size(kc__rest_call *call)
{
    if (!is_too_large(call))
        return KC__REST_NEXT;
    drop_managed_fields(call);
    if (!is_too_large(call))
        return KC__REST_NEXT;
    return kc__rest_fail(call, KC_TOO_LARGE,
                         "etcdserver: request is too large: the object has %zu bytes, limit is %zu",
                         kc_object_json(call->proposed).n, call->api->max_object_bytes);
}

/* A dry run ends before the store, and responds with the object that would have been stored. */
static kc__rest_verdict finish_dry_run(kc__rest_call *call)
{
    kc_object_unref(call->current);
    call->current = call->encoded ? kc_take(call->encoded) : kc_object_ref(call->proposed);
    call->proposed = kc_object_unref(call->proposed);
    return KC__REST_NEXT;
}

/* Whether the quotas that changed since `admitted` still have room. */
static kc__rest_verdict check_quotas_again(kc__rest_call *call)
{
    if (!call->recharge)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict = kc__admission_resource_quota(call);
    call->recharge = verdict == KC__REST_ON_WORKER;
    return verdict;
}

kc__rest_verdict kc__rest_phase_stored(kc__rest_call *call)
{
    if (call->unchanged)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict = check_quotas_again(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!call->current && !kc__store_is_shared(call->api->store)) {
        kc_auto(kc_object) *existing = kc__watch_cache_get(call->served->cache, call->key);
        if (existing)
            return resolve_conflict(call, kc_take(existing));
    }
    if (!call->removes && check_object_size(call) == KC__REST_FAIL)
        return KC__REST_FAIL;
    return call->options.dry_run ? finish_dry_run(call) : submit_write(call);
}
