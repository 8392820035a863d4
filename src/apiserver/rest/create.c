/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: a new object. The client says what it wants; uid, creation time, generation and, with
 * generateName, the name are the server's. A generated name that is taken is drawn again.
 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/write.h"
#include "kc/names.h"

static kc__verdict decode(kc__call *call)
{
    if (kc__options_read_write(&call->query, "CreateOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    return kc__decode_body(call);
}

static kc_str new_uid(kc__call *call)
{
    uint8_t random[16];
    char *text = kc_arena_alloc(call->arena, KC_UID_TEXT);
    kc_rand_bytes(&call->lane->rand, random, sizeof(random));
    return kc_uid_of(random, text);
}

/* The name, drawn where the client left it to us. */
static kc_str name_of(kc__call *call, const kc__metadata *m)
{
    if (!kc_str_empty(m->name) || kc_str_empty(m->generate_name))
        return m->name;
    char *text = kc_arena_alloc(call->arena, KC_GENERATED_NAME);
    return kc_generate_name(m->generate_name, &call->lane->rand, text);
}

static void fill_system_fields(kc__call *call, kc__metadata *m)
{
    char *now = kc_arena_alloc(call->arena, KC_TIME_TEXT);
    m->name = name_of(call, m);
    m->uid = new_uid(call);
    m->created = kc__call_now(call, now);
    if (call->resource->strategy->generation)
        m->generation = 1;
    m->deleted = (kc_str){0};
    m->has_grace = false;
    /* A place for the revision, which the commit fills in. */
    if (!call->options.dry_run)
        m->resource_version = KC_STR("0");
}

/* A status is what controllers find, not what a client wishes. */
static bool clears_status(kc__call *call)
{
    return kc__subresource_find(call->resource, KC_STR("status")) &&
           !call->resource->strategy->keeps_status;
}

static void prepare(kc_edit *edit, kc__call *call)
{
    if (clears_status(call))
        kc_node_remove(kc_edit_root(edit), KC_STR("status"));
    if (call->resource->strategy->prepare)
        call->resource->strategy->prepare(edit);
}

/* A version belongs to an object that is there: one that is to be created must not name any. */
static void check_version(kc__call *call)
{
    uint64_t version = 0;
    bool named = kc__object_version(call->proposed, &version, NULL) == 0 && version;
    if (named && call->verb == &kc__verb_create && !call->options.dry_run)
        call->refusal = "resourceVersion should not be set on objects to be created";
}

static kc__verdict prepare_custom(kc__call *call)
{
    kc_auto(kc_object) *before = kc_take(call->proposed);
    call->proposed = kc__custom_prepare(call->resource->custom, before, &call->error);
    return call->proposed ? KC__NEXT : KC__FAIL;
}

kc__verdict kc__propose_new(kc__call *call)
{
    kc__metadata m = {.ns = kc_object_namespace(call->given)};
    kc__verdict verdict = kc__check_namespace(call, &m);
    if (verdict != KC__NEXT)
        return verdict;
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->given);
    return KC__NEXT;
}

kc__verdict kc__prepare_new(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    kc__verdict verdict = kc__check_namespace(call, &m);
    if (verdict != KC__NEXT)
        return verdict;
    check_version(call);
    fill_system_fields(call, &m);
    kc__dedup_owners(call, &m);
    call->key = kc__key_of(call, m.name);
    if (kc__propose_metadata(call, &m) != KC__NEXT)
        return KC__FAIL;
    if (call->resource->custom)
        return prepare_custom(call);
    bool plain = !clears_status(call) && !call->resource->strategy->prepare;
    return plain || kc__reshape(call, &call->proposed, prepare) == 0 ? KC__NEXT : KC__FAIL;
}

static kc__verdict answer(kc__call *call)
{
    return kc__answer_object(call, 201, call->current);
}

const kc__verb kc__verb_create = {
    .name = "create",
    .bit = KC__CREATE,
    .mutates = true,
    .decode = decode,
    .propose = kc__propose_new,
    .prepare = kc__prepare_new,
    .answer = answer,
};
