/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c: makes documents when they are asked for, and keeps none.
 *
 * A document of the core group is more than a megabyte, and a client that has read it once keeps it
 * under its hash for good. So the server keeps hashes, some hundred bytes for each group version,
 * and a document only while an answer carries it: whoever asks meanwhile shares it (`alive`), and
 * the last one frees it. An answer costs a few milliseconds then; the index costs that for every
 * group version that has changed since the last one, as hashes are those of the text itself: they
 * are the same after a restart, and differ when a newer server says something else.
 *
 * Threads: any. The mutex guards everything but `source`, and the making of documents, so that
 * each is made once however many ask. It is held while one is written, and is a leaf: nothing
 * below takes a lock.
 */
#include "apiserver/openapi/document.h"
#include "apiserver/openapi/gnostic.h"
#include "apiserver/openapi/openapi_internal.h"
#include "kc/ref.h"
#include "kc/thread.h"

#include <assert.h>
#include <malloc.h>
#include <openssl/evp.h>

struct kc__openapi_document {
    kc_ref refs;
    kc__openapi *openapi;
    size_t slot; /* Of `alive`; NOWHERE: it was replaced. */
    kc_str body;
    char hash[KC__OPENAPI_HASH];
};

#define NOWHERE SIZE_MAX

/* Slots behind those of the group versions. */
enum { SLOT_V2, SLOT_INDEX, SLOT_V2_PROTOBUF, N_SLOTS };

struct kc__openapi {
    kc__openapi_source source;
    kc_mutex mutex;
    size_t n_documents; /* That are carried by somebody. */
    kc__kinds *kinds;   /* What the rest is about; NULL: nothing yet. */
    size_t n_versions;  /* Of `kinds`. */
    size_t n_slots;     /* One for each version by its index, and SLOT_… behind them. */
    char (*hashes)[KC__OPENAPI_HASH]; /* By slot; "": not known yet. */
    kc__openapi_document **alive;     /* By slot; NULL: it is not there. Not counted. */
};

kc__openapi *kc__openapi_new(const kc__openapi_source *source)
{
    kc__openapi *openapi = kc_new(kc__openapi);
    if (source)
        openapi->source = *source;
    kc_mutex_init(&openapi->mutex);
    return openapi;
}

/* Forgets everything about a snapshot; documents that are still carried stay whole. */
static void forget(kc__openapi *openapi)
{
    for (size_t i = 0; openapi->alive && i < openapi->n_slots; i++) {
        if (openapi->alive[i])
            openapi->alive[i]->slot = NOWHERE;
    }
    free(openapi->alive);
    free(openapi->hashes);
    openapi->alive = NULL;
    openapi->hashes = NULL;
    openapi->kinds = kc__kinds_unref(openapi->kinds);
}

kc__openapi *kc__openapi_free(kc__openapi *openapi)
{
    if (!openapi)
        return NULL;
    forget(openapi);
    kc_mutex_done(&openapi->mutex);
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

/* Writing a document takes megabytes for a moment, which the allocator would keep for each thread:
 * as nobody will need them soon, they are given back to the system. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* The count falls to nothing under the lock: nobody can find the document in between. */
kc__openapi_document *kc__openapi_document_unref(kc__openapi_document *doc)
{
    bool last = false, idle = false;
    if (!doc)
        return NULL;
    kc_locked (&doc->openapi->mutex) {
        last = kc_ref_drop(&doc->refs);
        if (last && doc->slot != NOWHERE)
            doc->openapi->alive[doc->slot] = NULL;
        if (last)
            idle = --doc->openapi->n_documents == 0;
    }
    if (last) {
        free((char *)doc->body.p);
        free(doc);
    }
    if (idle)
        give_memory_back();
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

/* The document in a slot of `alive`, made of the buffer's text. */
static kc__openapi_document *keep(kc__openapi *openapi, size_t slot, kc_buf *text)
{
    kc__openapi_document *doc = kc_new(kc__openapi_document);
    kc_ref_init(&doc->refs);
    doc->openapi = openapi;
    doc->slot = slot;
    size_t n = text->n;
    doc->body = kc_str_of(kc_buf_take(text), n);
    hash_of(doc->body, doc->hash);
    memcpy(openapi->hashes[slot], doc->hash, KC__OPENAPI_HASH);
    openapi->alive[slot] = doc;
    openapi->n_documents++;
    return doc;
}

static kc__openapi_document *carried(kc__openapi *openapi, size_t slot)
{
    kc__openapi_document *doc = openapi->alive[slot];
    return doc ? kc__openapi_document_ref(doc) : NULL;
}

/* ---- making ---- */

static kc_str schema_text(const kc__openapi *openapi, const kc__resource *resource)
{
    return openapi->source.schema ? openapi->source.schema(resource, openapi->source.user)
                                  : (kc_str){0};
}

/* Whether documents say the same of both. Texts live as long as their snapshots, and both are held:
 * equal addresses are the same text. */
static bool is_same(const kc__openapi *openapi, const kc__resource *a, const kc__resource *b)
{
    if (a->kind != b->kind || a->plural != b->plural || a->list_kind != b->list_kind ||
        a->verbs != b->verbs || a->namespaced != b->namespaced ||
        a->subresources != b->subresources || a->type != b->type || a->strategy != b->strategy)
        return false;
    if (a->type)
        return true;
    kc_str x = schema_text(openapi, a), y = schema_text(openapi, b);
    return x.p == y.p && x.n == y.n;
}

static bool is_same_version(const kc__openapi *openapi, const kc__kinds_version *a,
                            const kc__kinds_version *b)
{
    if (a->n_resources != b->n_resources)
        return false;
    for (size_t i = 0; i < a->n_resources; i++) {
        if (!is_same(openapi, &a->resources[i], &b->resources[i]))
            return false;
    }
    return true;
}

/* Hashes of group versions that are the same in both snapshots: a custom resource more changes one
 * document, not all. */
static void take_hashes(kc__openapi *openapi, const kc__kinds *kinds,
                        char (*hashes)[KC__OPENAPI_HASH])
{
    size_t n;
    const kc__kinds_version *versions = kc__kinds_versions(kinds, &n);
    for (size_t i = 0; openapi->kinds && i < n; i++) {
        const kc__kinds_version *before = kc__kinds_find_version(
            openapi->kinds, kc_cstr(versions[i].group), kc_cstr(versions[i].name));
        if (before && is_same_version(openapi, before, &versions[i]))
            memcpy(hashes[i], openapi->hashes[before->index], KC__OPENAPI_HASH);
    }
}

/* From here on all is about this snapshot. */
static void turn_to(kc__openapi *openapi, const kc__kinds *kinds)
{
    size_t n_versions;
    if (openapi->kinds == kinds)
        return;
    kc__kinds_versions(kinds, &n_versions);
    char(*hashes)[KC__OPENAPI_HASH] = kc_calloc(n_versions + N_SLOTS, KC__OPENAPI_HASH);
    take_hashes(openapi, kinds, hashes);
    forget(openapi);
    openapi->kinds = kc__kinds_ref(kinds);
    openapi->n_versions = n_versions;
    openapi->n_slots = n_versions + N_SLOTS;
    openapi->hashes = hashes;
    openapi->alive = kc_calloc(openapi->n_slots, sizeof(kc__openapi_document *));
}

static kc__openapi_input input_of(const kc__openapi *openapi, const kc__descriptions *texts)
{
    return (kc__openapi_input){.kinds = openapi->kinds, .source = &openapi->source, .texts = texts};
}

/* Hashes of all group versions, one document after the other. */
static void hash_all(kc__openapi *openapi)
{
    kc_auto(kc__descriptions) *texts = NULL;
    kc_scoped(kc_buf) text = {0};
    const kc__kinds_version *versions = kc__kinds_versions(openapi->kinds, &openapi->n_versions);
    for (size_t i = 0; i < openapi->n_versions; i++) {
        if (openapi->hashes[i][0])
            continue;
        if (!texts)
            texts = kc__descriptions_open();
        kc__openapi_input in = input_of(openapi, texts);
        kc_buf_clear(&text);
        kc__openapi_write_v3(&text, &in, &versions[i]);
        hash_of(kc_buf_str(&text), openapi->hashes[i]);
    }
}

static kc__openapi_document *make_index(kc__openapi *openapi)
{
    kc_scoped(kc_buf) text = {0};
    const kc__kinds_version *versions = kc__kinds_versions(openapi->kinds, &openapi->n_versions);
    hash_all(openapi);
    kc_buf_puts(&text, "{\"paths\":{");
    for (size_t i = 0; i < openapi->n_versions; i++) {
        const char *group = versions[i].group;
        kc_scoped(kc_buf) path = {0};
        kc_buf_printf(&path, "%s%s/%s", *group ? "apis/" : "api", group, versions[i].name);
        kc__json_member(&text, kc_buf_cstr(&path));
        kc_buf_printf(&text, "{\"serverRelativeURL\":\"/openapi/v3/%s?hash=%s\"}",
                      kc_buf_cstr(&path), openapi->hashes[i]);
    }
    kc_buf_puts(&text, "}}");
    return keep(openapi, openapi->n_versions + SLOT_INDEX, &text);
}

static kc__openapi_document *make_v3(kc__openapi *openapi, const kc__kinds_version *version)
{
    kc_auto(kc__descriptions) *texts = kc__descriptions_open();
    kc_scoped(kc_buf) text = {0};
    kc__openapi_input in = input_of(openapi, texts);
    kc__openapi_write_v3(&text, &in, version);
    return keep(openapi, version->index, &text);
}

static kc__openapi_document *make_v2(kc__openapi *openapi)
{
    kc_auto(kc__descriptions) *texts = kc__descriptions_open();
    kc_scoped(kc_buf) text = {0};
    kc__openapi_input in = input_of(openapi, texts);
    kc__openapi_write_v2(&text, &in);
    return keep(openapi, openapi->n_versions + SLOT_V2, &text);
}

/* In another form, under the same hash. */
static kc__openapi_document *make_v2_protobuf(kc__openapi *openapi,
                                              const kc__openapi_document *json)
{
    kc_scoped(kc_buf) bytes = {0};
    int rc = kc__gnostic_v2(json->body, &bytes, NULL);
    assert(rc == 0); /* The text is ours. */
    (void)rc;
    kc__openapi_document *doc = keep(openapi, openapi->n_versions + SLOT_V2_PROTOBUF, &bytes);
    memcpy(doc->hash, json->hash, KC__OPENAPI_HASH);
    return doc;
}

/* ---- asking ---- */

kc__openapi_document *kc__openapi_index(kc__openapi *openapi, const kc__kinds *kinds)
{
    kc__openapi_document *doc = NULL;
    kc_locked (&openapi->mutex) {
        turn_to(openapi, kinds);
        doc = carried(openapi, openapi->n_versions + SLOT_INDEX);
        if (!doc)
            doc = make_index(openapi);
    }
    return doc;
}

kc__openapi_document *kc__openapi_v3(kc__openapi *openapi, const kc__kinds *kinds, kc_str group,
                                     kc_str version)
{
    kc__openapi_document *doc = NULL;
    const kc__kinds_version *found = kc__kinds_find_version(kinds, group, version);
    if (!found)
        return NULL;
    kc_locked (&openapi->mutex) {
        turn_to(openapi, kinds);
        doc = carried(openapi, found->index);
        if (!doc)
            doc = make_v3(openapi, found);
    }
    return doc;
}

kc__openapi_document *kc__openapi_v2(kc__openapi *openapi, const kc__kinds *kinds,
                                     kc__openapi_form form)
{
    kc__openapi_document *json = NULL, *doc = NULL;
    kc_locked (&openapi->mutex) {
        turn_to(openapi, kinds);
        if (form == KC__OPENAPI_PROTOBUF)
            doc = carried(openapi, openapi->n_versions + SLOT_V2_PROTOBUF);
        if (!doc)
            json = carried(openapi, openapi->n_versions + SLOT_V2);
        if (!doc && !json)
            json = make_v2(openapi);
        if (!doc && form == KC__OPENAPI_PROTOBUF)
            doc = make_v2_protobuf(openapi, json);
    }
    if (!doc)
        return json;
    kc__openapi_document_unref(json);
    return doc;
}

static bool known_hash(kc__openapi *openapi, const kc__kinds *kinds, size_t slot,
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

bool kc__openapi_v3_hash(kc__openapi *openapi, const kc__kinds *kinds, kc_str group, kc_str version,
                         char ret[KC__OPENAPI_HASH])
{
    const kc__kinds_version *found = kc__kinds_find_version(kinds, group, version);
    return found && known_hash(openapi, kinds, found->index, ret);
}

bool kc__openapi_v2_hash(kc__openapi *openapi, const kc__kinds *kinds, char ret[KC__OPENAPI_HASH])
{
    size_t n;
    kc__kinds_versions(kinds, &n);
    return known_hash(openapi, kinds, n + SLOT_V2, ret);
}
