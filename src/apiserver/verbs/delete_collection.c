/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_collection.c: DELETE of the objects that a list would return. Each object is deleted by
 * its own compare-and-swap, all submitted to the committer at once; the response lists them in
 * their state before deletion. It is not one transaction: if one deletion fails, others may have
 * succeeded. A Service and its cluster IPs and node ports are one group (services/service_claim.h).
 *
 * Admission policies are applied to all objects before any is deleted; the objects before the first
 * denial are deleted. With webhooks, objects are admitted one after the other, up to the first that
 * is denied. The phase runs again after each response of a webhook (admission/webhooks/dispatch.h).
 */
#include "apiserver/admission/chain/admission.h"
#include "apiserver/admission/chain/object_versions.h"
#include "apiserver/admission/policies/policy_phases.h"
#include "apiserver/admission/webhooks/webhook_phases.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/outgoing.h"
#include "apiserver/request/render.h"
#include "apiserver/request/write.h"
#include "apiserver/services/service_claim.h"
#include "apiserver/verbs/deletion.h"
#include "apiserver/verbs/list.h"

/* The cost of planning a deletion, in addition to examining the object. */
enum { DELETION_COST = 8 };

typedef struct collection_batch collection_batch;

typedef struct collection_item {
    collection_batch *batch;
    kc__store_write write;
    kc_object *listed;  /* As in the response. */
    kc_object *current; /* The last known stored state. */
    kc_object *next;    /* Its new state. */
    char *key;
    unsigned tries;
    bool more_writes;         /* The removal follows the write in progress. */
    kc__service_claim *claim; /* Of a Service: the numbers that it releases; NULL: none. */
} collection_item;

struct collection_batch {
    kc__rest_call *call;
    collection_item *items;
    size_t n, left;
    size_t next;              /* The next item to be admitted or submitted. */
    bool admitting;           /* Webhooks admit the items, one after the other. */
    bool to_worker;           /* Continues on a worker when no write is in progress. */
    size_t checked;           /* Items that policies have admitted. */
    kc_error denial;          /* Why a policy denied the item after the last one. */
    kc__loop_task turn;       /* Continues to submit. */
    kc__print_list_meta meta; /* Its token belongs to the call. */
    kc__rest_selection selection;
    kc__rest_page page;
    bool collected; /* `items` is complete. */
};

static kc__rest_verdict decode_delete_collection(kc__rest_call *call)
{
    kc_auto(kc_object) *body = NULL;
    kc__rest_verdict verdict = kc__rest_decode_options_body(call, &body);
    if (verdict != KC__REST_NEXT)
        return verdict;
    call->skip_validation = true;
    if (kc__rest_options_read_list(&call->query, false, &call->options, &call->error) < 0 ||
        kc__rest_options_read_delete(&call->query, body, call->arena, &call->options,
                                     &call->error) < 0)
        return KC__REST_FAIL;
    return KC__REST_NEXT;
}

static void batch_free(collection_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        kc_object_unref(b->items[i].listed);
        kc_object_unref(b->items[i].current);
        kc_object_unref(b->items[i].next);
        kc__service_claim_free(b->items[i].claim);
        free(b->items[i].key);
    }
    free(b->items);
    kc_error_done(&b->denial);
    kc__cow_snapshot_unref(b->page.snapshot);
    kc__rest_selection_done(&b->selection);
    free(b);
}

/* All writes are done. */
static kc__rest_verdict end_collection(collection_batch *b)
{
    kc_error *error = &b->call->error;
    if (!error->reason && b->denial.reason)
        kc_error_move(error, &b->denial);
    return error->reason ? KC__REST_FAIL : KC__REST_RESPOND;
}

/* ---- one object ---- */

static void collection_item_done(void *user);

/* An item with a claim is done when its claim is. */
static void collection_item_written(kc__store_write *write)
{
    collection_item *it = kc_container_of(write, collection_item, write);
    if (!it->claim)
        collection_item_done(it);
}

/* Submits the write, with the numbers that a removed Service releases. */
static void submit_item_group(collection_item *it, bool removes)
{
    kc__rest_call *call = it->batch->call;
    kc__service_numbers *numbers = call->api->numbers;
    kc__store_write *group[1 + KC__SERVICE_CLAIM_MAX] = {&it->write};
    size_t n = 1;
    it->claim = kc__service_claim_free(it->claim);
    if (removes && call->served->cache == kc__service_numbers_services(numbers))
        it->claim = kc__service_claim_new(numbers, &(kc__service_claim_change){.old = it->current});
    if (it->claim)
        n += kc__service_claim_join(it->claim, call->x->loop, group + 1, collection_item_done, it);
    kc__store_submit_group(call->api->store, group, n);
}

/* Submits the next write of an item; false if the item needs no more writes. */
static bool submit_collection_item(collection_item *it)
{
    kc__rest_call *call = it->batch->call;
    kc__rest_deletion plan;
    if (!it->current || call->error.reason ||
        kc__rest_deletion_check(call, it->current) != KC__REST_NEXT ||
        kc__rest_deletion_plan(call, it->current, &plan) < 0)
        return false;
    kc_object_unref(it->next);
    it->next = plan.object;
    it->more_writes = plan.more_writes;
    bool same =
        !plan.removes && kc_str_eq(kc_object_json(plan.object), kc_object_json(it->current));
    if (same || call->options.dry_run)
        return false;
    it->write = (kc__store_write){.cache = call->served->cache,
                                  .verb = plan.removes ? KC__STORAGE_DELETE : KC__STORAGE_PUT,
                                  .key = kc_cstr(it->key),
                                  .expected = kc_object_revision(it->current),
                                  .object = plan.removes ? NULL : it->next,
                                  .loop = call->x->loop,
                                  .done = collection_item_written};
    submit_item_group(it, plan.removes);
    return true;
}

/* While webhooks admit the items: the number of writes in progress. */
static size_t writes_in_progress(const collection_batch *b)
{
    return b->left - 1 - (b->n - b->next);
}

static void finish_one(collection_batch *b)
{
    b->left--;
    if (b->to_worker && !writes_in_progress(b)) {
        b->to_worker = false;
        kc__rest_call_resume(b->call, KC__REST_ON_WORKER);
        return;
    }
    if (!b->left)
        kc__rest_call_resume(b->call, end_collection(b));
}

static void collection_item_done(void *user)
{
    collection_item *it = user;
    kc__store_write *write = &it->write;
    collection_batch *b = it->batch;
    const bool skipped = write->outcome == KC__STORAGE_SKIPPED;
    if (write->error.reason && !b->call->error.reason)
        kc_error_move(&b->call->error, &write->error);
    kc_error_done(&write->error);
    bool lost = (write->outcome == KC__STORAGE_CONFLICT || skipped) && !b->call->error.reason;
    if (!skipped) {
        kc_object_unref(it->current);
        it->current = kc_take(write->result);
    }
    bool more = lost ? ++it->tries < KC__REST_MAX_CONFLICTS
                     : it->more_writes && write->outcome == KC__STORAGE_STORED;
    if (more && submit_collection_item(it))
        return;
    finish_one(b);
}

/* ---- with webhooks ---- */

/* A worker evaluates expensive match conditions. The end of a write uses the call as well, so the
 * worker waits for the writes in progress. */
static kc__rest_verdict move_to_worker(collection_batch *b)
{
    b->to_worker = writes_in_progress(b) > 0;
    return b->to_worker ? KC__REST_PENDING : KC__REST_ON_WORKER;
}

/* Admits and submits the remaining objects. Called again while it returns KC__REST_PENDING because
 * of a webhook, KC__REST_ON_WORKER or KC__REST_ON_LOOP; the last KC__REST_PENDING ends when all
 * writes are done (finish_one). */
static kc__rest_verdict admit_each(collection_batch *b)
{
    kc__rest_call *call = b->call;
    b->admitting = true;
    while (b->next < b->n && (call->dispatch || !call->error.reason)) {
        collection_item *it = &b->items[b->next];
        kc__rest_verdict verdict = kc__admission_webhooks_admit_deletion(call, it->current);
        if (verdict == KC__REST_ON_WORKER)
            return move_to_worker(b);
        if (verdict == KC__REST_PENDING || verdict == KC__REST_ON_LOOP)
            return verdict;
        b->next++;
        if (verdict != KC__REST_NEXT || !submit_collection_item(it))
            b->left--;
    }
    b->left -= b->n - b->next + 1; /* The objects after a denial, and the admission itself. */
    b->next = b->n;
    return b->left ? KC__REST_PENDING : end_collection(b);
}

/* ---- with policies ---- */

/* Removes the items from the one that was denied on. */
static void drop_from(collection_batch *b, size_t first)
{
    for (size_t i = first; i < b->n; i++) {
        kc_object_unref(b->items[i].listed);
        kc_object_unref(b->items[i].current);
        free(b->items[i].key);
    }
    b->n = first;
}

static kc__rest_verdict check_deletion(kc__rest_call *call, const kc_object *current)
{
    kc_auto(kc_object) *old = kc__admission_shown(call, current);
    if (!old)
        return KC__REST_FAIL;
    kc__admission_attributes about = kc__admission_attributes_of(call, NULL, old);
    const kc__rest_verdict verdict = kc__admission_policies_validate_attributes(call, &about);
    kc_object_unref(about.space);
    return verdict;
}

/* Runs the plugins that check deletions. The objects from the first that one rejects on stay. */
static void check_plugins(kc__rest_call *call, collection_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (kc__admission_run_deletion(call, b->items[i].current) != KC__REST_NEXT) {
            kc_error_move(&b->denial, &call->error);
            drop_from(b, i);
            return;
        }
}

/* Applies policies to all objects, on a worker if there is more than one. */
static kc__rest_verdict check_policies(kc__rest_call *call, collection_batch *b)
{
    if (b->checked == b->n || !kc__admission_policies_exist(call))
        return KC__REST_NEXT;
    const kc__rest_verdict awaited = kc__admission_versions_await(call);
    if (awaited != KC__REST_NEXT)
        return awaited;
    if (b->n > 1 && call->api->offload && !call->on_worker)
        return KC__REST_ON_WORKER;
    while (b->checked < b->n) {
        const kc__rest_verdict verdict = check_deletion(call, b->items[b->checked].current);
        if (verdict != KC__REST_NEXT && verdict != KC__REST_FAIL)
            return verdict;
        if (call->error.reason == KC_TIMEOUT)
            return verdict;
        if (verdict == KC__REST_FAIL) {
            kc_error_move(&b->denial, &call->error);
            drop_from(b, b->checked);
            break;
        }
        b->checked++;
    }
    return KC__REST_NEXT;
}

/* ---- all objects ---- */

static void collect(kc__rest_call *call, const kc__rest_selection *selection, kc__rest_page *page,
                    collection_batch *b)
{
    bool limited = kc__rest_page_is_limited(&call->options);
    size_t most = limited ? (size_t)call->options.limit : SIZE_MAX;
    KC_VEC(collection_item) items = {0};
    kc__cow_iter at = kc__rest_selection_start(selection, page->snapshot, page->from);
    b->meta.revision = page->revision;
    while (items.n < most && kc__rest_selection_next(selection, &at))
        kc_vec_push(&items, (collection_item){.batch = b,
                                              .listed = kc_object_ref(at.object),
                                              .current = kc_object_ref(at.object),
                                              .key = kc_str_dup(at.key)});
    if (items.n == most)
        kc__rest_page_end(call, selection, page->snapshot, &at, &b->meta);
    b->items = items.items;
    b->n = items.n;
}

/* Submits some of the remaining objects; true if none are left. Many objects take several turns of
 * the loop. */
static bool submit_some(collection_batch *b)
{
    size_t budget = KC__REST_SELECTION_SLICE;
    while (b->next < b->n && budget) {
        collection_item *it = &b->items[b->next++];
        budget -= KC_MIN(budget, DELETION_COST * kc__rest_selection_cost(it->current));
        if (!submit_collection_item(it))
            b->left--;
    }
    return b->next == b->n;
}

static void submit_more(kc__loop_task *task)
{
    collection_batch *b = kc_container_of(task, collection_batch, turn);
    if (submit_some(b))
        finish_one(b);
    else
        kc__loop_post(b->call->x->loop, &b->turn);
}

static kc__rest_verdict start_collection_item(kc__rest_call *call, collection_batch *b)
{
    if (b->admitting)
        return admit_each(b);
    b->left = b->n + 1; /* One for the submission itself, until all are submitted. */
    if (kc__admission_webhooks_exist(call))
        return admit_each(b);
    b->turn.run = submit_more;
    if (!submit_some(b)) {
        kc__loop_post(call->x->loop, &b->turn);
        return KC__REST_PENDING;
    }
    return --b->left ? KC__REST_PENDING : end_collection(b);
}

static kc__rest_verdict find_collection(kc__rest_call *call)
{
    collection_batch *b = kc_new(collection_batch);
    b->call = call;
    call->state = b;
    kc__rest_verdict verdict = kc__rest_selection_take(call, &b->selection);
    return verdict == KC__REST_NEXT ? kc__rest_page_find(call, &b->selection, &b->page) : verdict;
}

/* Finds the objects, after a conversion webhook has converted them for the response. */
static kc__rest_verdict find_all(kc__rest_call *call)
{
    kc__rest_verdict verdict = call->state ? KC__REST_NEXT : find_collection(call);
    collection_batch *b = call->state;
    if (b->collected || verdict != KC__REST_NEXT)
        return verdict;
    verdict = kc__rest_convert_page(call, &b->selection, &b->page);
    if (verdict != KC__REST_NEXT)
        return verdict;
    collect(call, &b->selection, &b->page, b);
    b->collected = true;
    check_plugins(call, b);
    b->page.snapshot = kc__cow_snapshot_unref(b->page.snapshot);
    return KC__REST_NEXT;
}

/* Any thread may find the objects and evaluate what admission needs to know; the loop submits. */
static kc__rest_verdict propose_delete_collection(kc__rest_call *call)
{
    const collection_batch *b = call->state;
    const bool admitting = b && b->admitting;
    kc__rest_verdict verdict = admitting ? KC__REST_NEXT : find_all(call);
    if (verdict == KC__REST_NEXT && !admitting)
        verdict = check_policies(call, call->state);
    if (verdict != KC__REST_NEXT)
        return verdict;
    return call->on_worker && !call->dispatch ? KC__REST_ON_LOOP
                                              : start_collection_item(call, call->state);
}

static kc__rest_verdict respond_delete_collection(kc__rest_call *call)
{
    collection_batch *b = call->state;
    kc_scoped(kc_buf) out = {0};
    kc__rest_renderer renderer = kc__rest_renderer_of(call);
    kc__rest_render_list_begin(&renderer, &out, &b->meta);
    for (size_t i = 0; i < b->n; i++)
        kc__rest_render_list_item(&renderer, &out, b->items[i].listed);
    kc__rest_render_list_end(&renderer, &out);
    kc__rest_renderer_done(&renderer);
    return kc__rest_respond_owned_text(call, 200, kc__rest_format_type(&call->form), &out);
}

static void forget(kc__rest_call *call)
{
    if (call->state)
        batch_free(call->state);
}

const kc__rest_verb kc__rest_verb_delete_collection = {
    .name = "deletecollection",
    .bit = KC__VERB_DELETE_COLLECTION,
    .mutates = true,
    .decode = decode_delete_collection,
    .propose = propose_delete_collection,
    .respond = respond_delete_collection,
    .forget = forget,
};
