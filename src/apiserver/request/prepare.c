/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.c: the phase `prepared`: sets the server's fields in the draft, then freezes and
 * type-checks the draft, once for a write. The result is call->proposed.
 *
 *     verb ─ kc__rest_prepare_create | kc__rest_prepare_update ─▶ allocating plugins ─▶ freeze
 *          ─▶ generation
 *
 * A client may send any metadata, but the server sets uid, timestamps and generation. On update,
 * fields that the client omitted are copied from the stored object; validation reports changes of
 * immutable fields.
 *
 * The generation counts changes of anything but metadata and status. It is known only when the
 * object is complete, so it is set last, in the bytes.
 */
#include "apiserver/admission/chain/admission.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/own.h"
#include "apiserver/request/scale.h"
#include "apiserver/request/write.h"
#include "kc/names.h"
#include "object/model/canonical.h"

/* The resourceVersion of an object as a number; 0 if absent. Errors have Go's messages. */
static int parse_version(kc_str text, uint64_t *ret, kc_error *err)
{
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

/* ---- create ---- */

static kc_str new_uid(kc__rest_call *call)
{
    uint8_t random[16];
    char *text = kc_arena_alloc(call->arena, KC_UID_TEXT);
    kc_rand_bytes(call->rand, random, sizeof(random));
    return kc_uid_of(random, text);
}

/* The client's name, or a generated one. */
static kc_str choose_name(kc__rest_call *call, const kc__rest_metadata *m)
{
    if (!kc_str_empty(m->name) || kc_str_empty(m->generate_name))
        return m->name;
    char *text = kc_arena_alloc(call->arena, KC_GENERATED_NAME);
    return kc_generate_name(m->generate_name, call->rand, text);
}

static void set_system_fields(kc__rest_call *call, kc__rest_metadata *m)
{
    char *now = kc_arena_alloc(call->arena, KC_TIME_TEXT);
    m->name = choose_name(call, m);
    m->uid = new_uid(call);
    m->created = kc__rest_call_now(call, now);
    if (call->resource->strategy->generation)
        m->generation = 1;
    /* Kubernetes clears these in the handler of POST, so an object that an apply creates may begin
     * as one that is being deleted. */
    if (call->verb == &kc__rest_verb_create) {
        m->deleted = (kc_str){0};
        m->has_grace = false;
    }
    /* A placeholder for the revision, which the commit fills in. */
    if (!call->options.dry_run)
        m->resource_version = KC_STR("0");
}

/* A new object must not have a resourceVersion, because that names an existing object. The error is
 * reported after validation and admission. */
static void check_no_version(kc__rest_call *call, const kc__rest_metadata *m)
{
    uint64_t version = 0;
    bool named = parse_version(m->resource_version, &version, NULL) == 0 && version;
    if (named && call->verb == &kc__rest_verb_create && !call->options.dry_run)
        call->refusal = "resourceVersion should not be set on objects to be created";
}

kc__rest_verdict kc__rest_prepare_create(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc__rest_metadata m;
    kc__rest_metadata_of_draft(&call->draft, call->arena, &m);
    kc__rest_verdict verdict = kc__rest_check_namespace(call, &m);
    if (verdict != KC__REST_NEXT)
        return verdict;
    check_no_version(call, &m);
    set_system_fields(call, &m);
    kc__rest_dedup_owners(call, &m);
    call->key = kc__rest_key_of(call, m.name);
    if (kc__rest_metadata_to_draft(&call->draft, &m, &call->error) < 0)
        return KC__REST_FAIL;
    return r->ops->prepare_create(r, &call->draft, &call->error) < 0 ? KC__REST_FAIL
                                                                     : KC__REST_NEXT;
}

/* ---- update ---- */

static kc__rest_verdict require_version(kc__rest_call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "metadata.resourceVersion", KC_STR("0"),
                        "must be specified for an update");
    kc_field_errors_to_error(&errors, kc_cstr(call->resource->group),
                             kc_cstr(call->resource->plural), call->info.name, &call->error);
    return KC__REST_FAIL;
}

/* A resourceVersion in the body is a precondition on the stored object. */
static kc__rest_verdict check_version(kc__rest_call *call)
{
    kc_scoped(kc_error) err = {0};
    uint64_t version;
    if (parse_version(kc__draft_resource_version(&call->draft), &version, &err) < 0)
        return kc__rest_fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
    if (!version) {
        bool needed = call->resource->strategy->conditional && !kc__rest_is_scale(call);
        return needed ? require_version(call) : KC__REST_NEXT;
    }
    call->conditional = true;
    return version == kc_object_revision(call->current)
               ? KC__REST_NEXT
               : kc__rest_fail_modified(call, call->info.name);
}

static bool grows_generation(const kc__rest_call *call, const kc_object *object)
{
    const kc__resource *r = call->resource;
    return r->strategy->generation &&
           r->ops->grows_generation(r, object, call->current, kc__rest_part_of(call));
}

/* Fields that only the server sets stay unchanged; validation reports a change of others. */
static void keep_system_fields(kc__rest_call *call, kc__rest_metadata *m)
{
    kc__rest_metadata old;
    kc__rest_metadata_of(call->current, call->arena, &old);
    if (kc_str_empty(m->uid))
        m->uid = old.uid;
    m->created = old.created;
    if (!kc_str_empty(old.deleted))
        m->deleted = old.deleted;
    if (old.has_grace && !m->has_grace) {
        m->has_grace = true;
        m->grace_seconds = old.grace_seconds;
    }
    m->resource_version = old.resource_version;
    m->generation = old.generation;
}

/* Sets *ret to whether this update completes the deletion of the object. KC__REST_FAIL:
 * call->error. */
static kc__rest_verdict ends_deletion(kc__rest_call *call, const kc__rest_metadata *m, bool *ret)
{
    const kc__strategy *strategy = call->resource->strategy;
    *ret = !kc_str_empty(m->deleted) && kc_str_empty(m->finalizers) && m->grace_seconds <= 0;
    if (!*ret || !strategy->may_go)
        return KC__REST_NEXT;
    const kc_object *object = kc__draft_freeze(&call->draft, call->resource, &call->error);
    if (!object)
        return KC__REST_FAIL;
    kc_auto(kc_view) *view = kc_view_of(object);
    *ret = strategy->may_go(kc_view_root(view));
    return KC__REST_NEXT;
}

/* Replaces the Scale in the draft by the scaled object. */
static kc__rest_verdict apply_scale(kc__rest_call *call)
{
    kc_object_unref(call->proposed);
    call->proposed = kc_take(call->draft.object);
    kc_auto(kc_object) *scale = kc_object_ref(call->proposed);
    kc__rest_verdict verdict = kc__rest_scale_apply(call);
    if (verdict == KC__REST_NEXT &&
        kc__rest_own_scaled_object(call, kc_object_managed_fields_json(scale)) < 0)
        verdict = KC__REST_FAIL;
    kc__draft_give(&call->draft, kc_take(call->proposed));
    return verdict;
}

static kc__rest_verdict prepare_metadata(kc__rest_call *call)
{
    kc__rest_metadata m;
    kc__rest_metadata_of_draft(&call->draft, call->arena, &m);
    kc__rest_check_namespace(call, &m);
    keep_system_fields(call, &m);
    kc__rest_dedup_owners(call, &m);
    if (ends_deletion(call, &m, &call->removes) != KC__REST_NEXT)
        return KC__REST_FAIL;
    /* All bytes but the metadata are final: setting the generation now saves a second splice. */
    if (!kc__draft_is_open(&call->draft))
        m.generation += grows_generation(call, call->draft.object);
    return kc__rest_metadata_to_draft(&call->draft, &m, &call->error) < 0 ? KC__REST_FAIL
                                                                          : KC__REST_NEXT;
}

/* ---- unrestricted updates ---- */

/* The object that the client sent, if it contains a status that the server accepts; the caller
 * frees it. NULL: the stored status stays. */
static kc_view *take_sent_status(kc__rest_call *call)
{
    if (!kc__rest_writes_status(call))
        return NULL;
    const kc_object *sent = kc__draft_freeze(&call->draft, call->resource, &call->error);
    kc_auto(kc_view) *view = sent ? kc_view_of(sent) : NULL;
    const bool has_status = view && kc_value_get(kc_view_root(view), "status");
    return has_status ? kc_take(view) : NULL;
}

/* `sent` may be NULL. */
static void restore_sent_status(kc__rest_call *call, const kc_view *sent)
{
    if (!sent)
        return;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("status"),
                kc_node_from_value(edit, kc_value_get(kc_view_root(sent), "status")));
}

kc__rest_verdict kc__rest_prepare_update(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc__rest_verdict verdict = kc__rest_is_scale(call) ? apply_scale(call) : KC__REST_NEXT;
    if (verdict == KC__REST_NEXT)
        verdict = check_version(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_auto(kc_view) *status = take_sent_status(call);
    if (call->error.reason || r->ops->prepare_update(r, &call->draft, call->current,
                                                     kc__rest_part_of(call), &call->error) < 0)
        return KC__REST_FAIL;
    restore_sent_status(call, status);
    return prepare_metadata(call);
}

/* ---- freezing ---- */

int kc__rest_edit_object(kc__rest_call *call, kc_object **object,
                         void (*change)(kc_edit *edit, kc__rest_call *call))
{
    kc__draft draft = {0};
    kc__draft_give(&draft, kc_take(*object));
    change(kc__draft_edit(&draft), call);
    int frozen = kc__draft_freeze(&draft, call->resource, &call->error) ? 0 : -1;
    *object = kc_take(draft.object);
    kc__draft_clear(&draft);
    return frozen;
}

/* An object that was frozen from a tree still has the generation of the old object. */
static int count_generation(kc__rest_call *call)
{
    if (!grows_generation(call, call->draft.object))
        return 0;
    kc__rest_metadata m;
    kc__rest_metadata_of(call->draft.object, call->arena, &m);
    m.generation = kc_object_generation(call->current) + 1;
    return kc__rest_metadata_to_draft(&call->draft, &m, &call->error);
}

/* Freezes the draft into call->proposed. */
static kc__rest_verdict freeze_draft(kc__rest_call *call)
{
    const bool open = kc__draft_is_open(&call->draft);
    if (kc__draft_is_empty(&call->draft))
        return KC__REST_NEXT;
    if (!kc__draft_freeze(&call->draft, call->resource, &call->error))
        return KC__REST_FAIL;
    if (open && call->current && count_generation(call) < 0)
        return KC__REST_FAIL;
    kc_object_unref(call->proposed);
    kc_view_free(call->proposed_view);
    call->proposed = kc__draft_take(&call->draft, &call->proposed_view);
    return KC__REST_NEXT;
}

/* Opens a draft with an empty list or map, so that freezing it checks its type, which makes null of
 * the ones that Kubernetes does not store. */
static void open_if_empty_is_null(kc__rest_call *call)
{
    kc__draft *draft = &call->draft;
    if (call->resource->ops->stores_empty_as_null && !kc__rest_is_scale(call) && draft->object &&
        kc__value_has_empty(kc__draft_value(draft)))
        kc__draft_edit(draft);
}

kc__rest_verdict kc__rest_phase_prepared(kc__rest_call *call)
{
    open_if_empty_is_null(call);
    kc__rest_verdict verdict = kc__rest_check_escalation(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_check_person(call);
    if (verdict == KC__REST_NEXT && call->verb->prepare)
        verdict = call->verb->prepare(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__admission_run(call, KC__ADMISSION_ALLOCATE);
    return verdict == KC__REST_NEXT ? freeze_draft(call) : verdict;
}
