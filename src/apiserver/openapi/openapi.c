/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c: builds documents on demand and shares each one among concurrent responses.
 *
 * The document of the core group is more than a megabyte, and a client that has read it caches it
 * under its hash permanently. So the server keeps only hashes, some hundred bytes per group
 * version, and a document only while a response carries it: concurrent requests share it (`alive`),
 * and the last one frees it. Building takes a few milliseconds; building the index takes that for
 * every group version that has changed since the last index, because hashes are computed from the
 * text itself: they are stable across restarts, and change when a newer server describes something
 * differently.
 *
 * Threads: worker threads build documents (the endpoints are `heavy`, endpoints/endpoints.c), never
 * an event loop. There are two locks. `making` is held while a document is built, which takes a
 * second with thousands of versions, so that each is built once however many clients request it;
 * only workers take it, and it comes first in the lock order. `mutex` guards everything but
 * `memory`; it is held only for a few assignments, because event loops take it when a response
 * ends. `kinds` and the fields that belong to it change under both.
 *
 * Memory: a document is freed on the event loop that has sent it. Its pages return to the system
 * when the memory trimmer runs (base/mem_trim.h): trimming locks the heap for milliseconds, which
 * would block a loop.
 */
#include "apiserver/governor/governor.h"
#include "apiserver/openapi/document.h"
#include "apiserver/openapi/gnostic.h"
#include "apiserver/openapi/openapi_internal.h"
#include "kc/ref.h"
#include "kc/thread.h"

#include <assert.h>
#include <openssl/evp.h>

struct kc__openapi_document {
    kc_ref refs;
    kc__openapi *openapi;
    size_t slot; /* Index in `alive`; NOWHERE: it was replaced. */
    kc_str body;
    char hash[KC__OPENAPI_HASH];
};

#define NOWHERE SIZE_MAX

/* Slots after those of the group versions. */
enum { SLOT_V2, SLOT_INDEX, SLOT_V2_PROTOBUF, N_SLOTS };

struct kc__openapi {
    kc__memory_account *memory; /* Accounts for the bytes of documents; may be NULL. */
    kc_mutex making, mutex;
    kc__registry *kinds; /* The registry that the fields below belong to; NULL: none yet. */
    size_t n_versions;   /* Of `kinds`. */
    size_t n_slots;      /* One per version by its index, then SLOT_…. */
    char (*hashes)[KC__OPENAPI_HASH]; /* By slot; "": not computed yet. */
    kc__openapi_document **alive;     /* By slot; NULL: none. Not counted references. */
};

kc__openapi *kc__openapi_new(kc__memory_account *memory)
{
    kc__openapi *openapi = kc_new(kc__openapi);
    openapi->memory = memory;
    kc_mutex_init(&openapi->making);
    kc_mutex_init(&openapi->mutex);
    return openapi;
}

/* Drops everything about a registry; documents in flight stay valid. Returns the registry, whose
 * last reference may free a lot: not under `mutex`. */
static kc__registry *forget(kc__openapi *openapi)
{
    for (size_t i = 0; openapi->alive && i < openapi->n_slots; i++) {
        if (openapi->alive[i])
            openapi->alive[i]->slot = NOWHERE;
    }
    free(openapi->alive);
    free(openapi->hashes);
    openapi->alive = NULL;
    openapi->hashes = NULL;
    return kc_take(openapi->kinds);
}

kc__openapi *kc__openapi_free(kc__openapi *openapi)
{
    if (!openapi)
        return NULL;
    kc__registry_unref(forget(openapi));
    kc_mutex_done(&openapi->mutex);
    kc_mutex_done(&openapi->making);
    free(openapi);
    return NULL;
}

/* ---- documents ---- */

kc_str kc__openapi_body(const kc__openapi_document *doc)
{
    return doc->body;
}

kc_str kc__openapi_hash(const kc__openapi_document *doc)
{
    return kc_cstr(doc->hash);
}

kc__openapi_document *kc__openapi_document_ref(kc__openapi_document *doc)
{
    kc_ref_add(&doc->refs);
    return doc;
}

/* The count drops to zero under the lock, so that no other thread can find the document
 * meanwhile. */
kc__openapi_document *kc__openapi_document_unref(kc__openapi_document *doc)
{
    bool last = false;
    if (!doc)
        return NULL;
    kc_locked (&doc->openapi->mutex) {
        last = kc_ref_drop(&doc->refs);
        if (last && doc->slot != NOWHERE)
            doc->openapi->alive[doc->slot] = NULL;
    }
    if (last) {
        kc__memory_add(doc->openapi->memory, KC__MEMORY_CACHES, -(int64_t)doc->body.n);
        free((char *)doc->body.p);
        free(doc);
    }
    return NULL;
}

static void hash_of(kc_str text, char out[KC__OPENAPI_HASH])
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    static const char digits[] = "0123456789ABCDEF";
    EVP_Digest(text.p, text.n, digest, NULL, EVP_sha512(), NULL);
    for (size_t i = 0; i < (KC__OPENAPI_HASH - 1) / 2; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[KC__OPENAPI_HASH - 1] = 0;
}

/* Creates the document of a slot of `alive` from the buffer's text. `hash` NULL: the text's own. */
static kc__openapi_document *keep_openapi_document(kc__openapi *openapi, size_t slot, kc_buf *text,
                                                   const char *hash)
{
    kc__openapi_document *doc = kc_new(kc__openapi_document);
    kc_ref_init(&doc->refs);
    doc->openapi = openapi;
    doc->slot = slot;
    size_t n = text->n;
    doc->body = kc_str_of(kc_buf_take(text), n);
    if (hash)
        memcpy(doc->hash, hash, KC__OPENAPI_HASH);
    else
        hash_of(doc->body, doc->hash);
    kc_locked (&openapi->mutex) {
        memcpy(openapi->hashes[slot], doc->hash, KC__OPENAPI_HASH);
        openapi->alive[slot] = doc;
    }
    kc__memory_add(openapi->memory, KC__MEMORY_CACHES, (int64_t)n);
    return doc;
}

/* The document of a slot, if one is alive for this registry; NULL otherwise. */
static kc__openapi_document *carried(kc__openapi *openapi, const kc__registry *kinds, size_t slot)
{
    kc__openapi_document *doc = NULL;
    kc_locked (&openapi->mutex) {
        doc = openapi->kinds == kinds ? openapi->alive[slot] : NULL;
        if (doc)
            kc__openapi_document_ref(doc);
    }
    return doc;
}

/* ---- making ---- */

/* Whether documents describe both identically. Strings live as long as their registries, and both
 * are referenced, so equal addresses are the same string. */
static bool is_same(const kc__resource *a, const kc__resource *b)
{
    if (a->kind != b->kind || a->plural != b->plural || a->list_kind != b->list_kind ||
        a->verbs != b->verbs || a->namespaced != b->namespaced ||
        a->subresources != b->subresources || a->type != b->type || a->strategy != b->strategy)
        return false;
    return a->schema.p == b->schema.p && a->schema.n == b->schema.n;
}

static bool is_same_version(const kc__registry_version *a, const kc__registry_version *b)
{
    if (a->n_resources != b->n_resources)
        return false;
    for (size_t i = 0; i < a->n_resources; i++) {
        if (!is_same(&a->resources[i], &b->resources[i]))
            return false;
    }
    return true;
}

/* Takes over the hashes of group versions that are the same in both registries: a new custom
 * resource changes one document, not all. */
static void take_hashes(kc__openapi *openapi, const kc__registry *kinds,
                        char (*hashes)[KC__OPENAPI_HASH])
{
    size_t n;
    const kc__registry_version *versions = kc__registry_versions(kinds, &n);
    for (size_t i = 0; openapi->kinds && i < n; i++) {
        const kc__registry_version *before = kc__registry_find_version(
            openapi->kinds, kc_cstr(versions[i].group), kc_cstr(versions[i].name));
        if (before && is_same_version(before, &versions[i]))
            memcpy(hashes[i], openapi->hashes[before->index], KC__OPENAPI_HASH);
    }
}

/* Switches to this registry. Call it with `making` locked. */
static void turn_to(kc__openapi *openapi, const kc__registry *kinds)
{
    size_t n_versions;
    if (openapi->kinds == kinds)
        return;
    kc__registry_versions(kinds, &n_versions);
    char(*hashes)[KC__OPENAPI_HASH] = kc_calloc(n_versions + N_SLOTS, KC__OPENAPI_HASH);
    kc__openapi_document **alive = kc_calloc(n_versions + N_SLOTS, sizeof(*alive));
    kc__registry *before = NULL;
    take_hashes(openapi, kinds, hashes);
    kc_locked (&openapi->mutex) {
        before = forget(openapi);
        openapi->kinds = kc__registry_ref(kinds);
        openapi->n_versions = n_versions;
        openapi->n_slots = n_versions + N_SLOTS;
        openapi->hashes = hashes;
        openapi->alive = alive;
    }
    kc__registry_unref(before);
}

static kc__openapi_input input_of(const kc__openapi *openapi, const kc__openapi_descriptions *texts)
{
    return (kc__openapi_input){.kinds = openapi->kinds, .texts = texts};
}

/* Computes the hashes of all group versions, one document after the other. */
static void hash_all(kc__openapi *openapi)
{
    kc_auto(kc__openapi_descriptions) *texts = NULL;
    kc_scoped(kc_buf) text = {0};
    const kc__registry_version *versions =
        kc__registry_versions(openapi->kinds, &openapi->n_versions);
    for (size_t i = 0; i < openapi->n_versions; i++) {
        if (openapi->hashes[i][0])
            continue;
        if (!texts)
            texts = kc__openapi_descriptions_open();
        kc__openapi_input in = input_of(openapi, texts);
        kc_buf_clear(&text);
        kc__openapi_write_v3(&text, &in, &versions[i]);
        char hash[KC__OPENAPI_HASH];
        hash_of(kc_buf_str(&text), hash);
        kc_locked (&openapi->mutex)
            memcpy(openapi->hashes[i], hash, sizeof(hash));
    }
}

static kc__openapi_document *make_index(kc__openapi *openapi)
{
    kc_scoped(kc_buf) text = {0};
    const kc__registry_version *versions =
        kc__registry_versions(openapi->kinds, &openapi->n_versions);
    hash_all(openapi);
    kc_buf_puts(&text, "{\"paths\":{");
    for (size_t i = 0; i < openapi->n_versions; i++) {
        const char *group = versions[i].group;
        kc_scoped(kc_buf) path = {0};
        kc_buf_printf(&path, "%s%s/%s", *group ? "apis/" : "api", group, versions[i].name);
        kc__openapi_json_member(&text, kc_buf_cstr(&path));
        kc_buf_printf(&text, "{\"serverRelativeURL\":\"/openapi/v3/%s?hash=%s\"}",
                      kc_buf_cstr(&path), openapi->hashes[i]);
    }
    kc_buf_puts(&text, "}}");
    return keep_openapi_document(openapi, openapi->n_versions + SLOT_INDEX, &text, NULL);
}

static kc__openapi_document *make_v3(kc__openapi *openapi, const kc__registry_version *version)
{
    kc_auto(kc__openapi_descriptions) *texts = kc__openapi_descriptions_open();
    kc_scoped(kc_buf) text = {0};
    kc__openapi_input in = input_of(openapi, texts);
    kc__openapi_write_v3(&text, &in, version);
    return keep_openapi_document(openapi, version->index, &text, NULL);
}

static kc__openapi_document *make_v2(kc__openapi *openapi)
{
    kc_auto(kc__openapi_descriptions) *texts = kc__openapi_descriptions_open();
    kc_scoped(kc_buf) text = {0};
    kc__openapi_input in = input_of(openapi, texts);
    kc__openapi_write_v2(&text, &in);
    return keep_openapi_document(openapi, openapi->n_versions + SLOT_V2, &text, NULL);
}

/* The same document in another encoding, under the same hash. */
static kc__openapi_document *make_v2_protobuf(kc__openapi *openapi,
                                              const kc__openapi_document *json)
{
    kc_scoped(kc_buf) bytes = {0};
    int rc = kc__openapi_gnostic_v2(json->body, &bytes, NULL);
    assert(rc == 0); /* The server has written the text itself. */
    (void)rc;
    return keep_openapi_document(openapi, openapi->n_versions + SLOT_V2_PROTOBUF, &bytes,
                                 json->hash);
}

/* ---- requests ---- */

/* The slot of a document that is not of one group version. */
static size_t common_slot(const kc__registry *kinds, size_t which)
{
    size_t n;
    kc__registry_versions(kinds, &n);
    return n + which;
}

kc__openapi_document *kc__openapi_index(kc__openapi *openapi, const kc__registry *kinds)
{
    const size_t slot = common_slot(kinds, SLOT_INDEX);
    kc__openapi_document *doc = carried(openapi, kinds, slot);
    if (doc)
        return doc;
    kc_locked (&openapi->making) {
        turn_to(openapi, kinds);
        doc = carried(openapi, kinds, slot);
        if (!doc)
            doc = make_index(openapi);
    }
    return doc;
}

kc__openapi_document *kc__openapi_v3(kc__openapi *openapi, const kc__registry *kinds, kc_str group,
                                     kc_str version)
{
    const kc__registry_version *found = kc__registry_find_version(kinds, group, version);
    kc__openapi_document *doc = found ? carried(openapi, kinds, found->index) : NULL;
    if (!found || doc)
        return doc;
    kc_locked (&openapi->making) {
        turn_to(openapi, kinds);
        doc = carried(openapi, kinds, found->index);
        if (!doc)
            doc = make_v3(openapi, found);
    }
    return doc;
}

/* The JSON document, from which protobuf is encoded. */
static kc__openapi_document *v2_json(kc__openapi *openapi, const kc__registry *kinds)
{
    kc__openapi_document *json = carried(openapi, kinds, common_slot(kinds, SLOT_V2));
    return json ? json : make_v2(openapi);
}

kc__openapi_document *kc__openapi_v2(kc__openapi *openapi, const kc__registry *kinds,
                                     kc__openapi_form form)
{
    const bool protobuf = form == KC__OPENAPI_PROTOBUF;
    const size_t slot = common_slot(kinds, protobuf ? SLOT_V2_PROTOBUF : SLOT_V2);
    kc__openapi_document *json = NULL, *doc = carried(openapi, kinds, slot);
    if (doc)
        return doc;
    kc_locked (&openapi->making) {
        turn_to(openapi, kinds);
        doc = carried(openapi, kinds, slot);
        if (!doc)
            json = v2_json(openapi, kinds);
        if (!doc && protobuf)
            doc = make_v2_protobuf(openapi, json);
    }
    if (!doc)
        return json;
    kc__openapi_document_unref(json);
    return doc;
}

static bool known_hash(kc__openapi *openapi, const kc__registry *kinds, size_t slot,
                       char ret[KC__OPENAPI_HASH])
{
    bool known = false;
    kc_locked (&openapi->mutex) {
        known = openapi->kinds == kinds && openapi->hashes[slot][0];
        if (known)
            memcpy(ret, openapi->hashes[slot], KC__OPENAPI_HASH);
    }
    return known;
}

bool kc__openapi_v3_hash(kc__openapi *openapi, const kc__registry *kinds, kc_str group,
                         kc_str version, char ret[KC__OPENAPI_HASH])
{
    const kc__registry_version *found = kc__registry_find_version(kinds, group, version);
    return found && known_hash(openapi, kinds, found->index, ret);
}

bool kc__openapi_v2_hash(kc__openapi *openapi, const kc__registry *kinds,
                         char ret[KC__OPENAPI_HASH])
{
    return known_hash(openapi, kinds, common_slot(kinds, SLOT_V2), ret);
}
