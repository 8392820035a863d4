/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.c: the documents of discovery, made when they are first asked for, found by group and
 * version.
 *
 * With a thousand custom resources making all of them takes milliseconds, and each new resource
 * replaces them all; so what nobody asks for is not made. A document is made by whoever asks first,
 * and published with one exchange; of two who do so at once, one throws its own away.
 *
 * Threads: nothing changes after kc__discovery_new has returned but the slots, from empty to a
 * document that stays.
 */
#include "apiserver/discovery/discovery.h"
#include "apiserver/discovery/discovery_internal.h"
#include "kc/ref.h"

#include <openssl/evp.h>

/* A document, once it was asked for. */
typedef _Atomic(kc__document *) slot;

struct kc__discovery {
    kc_ref refs;
    kc__kinds *kinds;
    char *server_address; /* May be NULL. */
    slot api_versions, groups, aggregated_core, aggregated_groups;
    slot *of_group;   /* By the group's index; that of the core group stays empty. */
    slot *of_version; /* By the version's index. */
    size_t n_groups, n_versions;
};

/* ---- documents ---- */

/* Takes the buffer's text. */
static kc__document plain(kc_buf *body)
{
    size_t n = body->n;
    return (kc__document){.type = KC_STR("application/json"),
                          .body = kc_str_of(kc_buf_take(body), n)};
}

/* Capital hexadecimal digits of the SHA-512, in quotes. */
static kc_str etag_of(kc_str body)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    if (!EVP_Digest(body.p, body.n, digest, &n, EVP_sha512(), NULL))
        return (kc_str){0}; /* No library of digests: the answer is sent in full each time. */
    kc_scoped(kc_buf) text = {0};
    kc_buf_putc(&text, '"');
    for (unsigned int i = 0; i < n; i++)
        kc_buf_printf(&text, "%02X", digest[i]);
    kc_buf_putc(&text, '"');
    size_t length = text.n;
    return kc_str_of(kc_buf_take(&text), length);
}

static kc__document aggregated(const kc__kinds *kinds, bool core)
{
    kc_buf body = {0};
    kc__write_aggregated(&body, kinds, core);
    kc__document document = plain(&body);
    document.type = KC_STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    document.etag = etag_of(document.body);
    return document;
}

static void free_document(kc__document *document)
{
    if (!document)
        return;
    free((char *)document->body.p);
    free((char *)document->etag.p);
    free(document);
}

static void empty_slot(slot *place)
{
    free_document(atomic_load(place));
}

static const kc__document *look(slot *place)
{
    return atomic_load_explicit(place, memory_order_acquire);
}

/* Puts a document where there was none; if somebody was faster, theirs counts. */
static const kc__document *publish(slot *place, kc__document made)
{
    kc__document *mine = kc_new(kc__document), *theirs = NULL;
    *mine = made;
    if (atomic_compare_exchange_strong(place, &theirs, mine))
        return mine;
    free_document(mine);
    return theirs;
}

/* ---- making and counting ---- */

kc__discovery *kc__discovery_new(const kc__kinds *kinds, const kc__discovery_opts *opts)
{
    kc__discovery *discovery = kc_new(kc__discovery);
    kc_ref_init(&discovery->refs);
    discovery->kinds = kc__kinds_ref(kinds);
    if (opts && opts->server_address)
        discovery->server_address = kc_strdup(opts->server_address);
    kc__kinds_groups(kinds, &discovery->n_groups);
    kc__kinds_versions(kinds, &discovery->n_versions);
    discovery->of_group = kc_calloc(discovery->n_groups, sizeof(slot));
    discovery->of_version = kc_calloc(discovery->n_versions, sizeof(slot));
    return discovery;
}

kc__discovery *kc__discovery_ref(const kc__discovery *discovery)
{
    kc__discovery *counted = (kc__discovery *)discovery;
    kc_ref_add(&counted->refs);
    return counted;
}

static void free_all(kc__discovery *discovery)
{
    empty_slot(&discovery->api_versions);
    empty_slot(&discovery->groups);
    empty_slot(&discovery->aggregated_core);
    empty_slot(&discovery->aggregated_groups);
    for (size_t i = 0; i < discovery->n_groups; i++)
        empty_slot(&discovery->of_group[i]);
    for (size_t i = 0; i < discovery->n_versions; i++)
        empty_slot(&discovery->of_version[i]);
    free(discovery->server_address);
    free(discovery->of_group);
    free(discovery->of_version);
    kc__kinds_unref(discovery->kinds);
    free(discovery);
}

kc__discovery *kc__discovery_unref(const kc__discovery *discovery)
{
    kc__discovery *counted = (kc__discovery *)discovery;
    if (counted && kc_ref_drop(&counted->refs))
        free_all(counted);
    return NULL;
}

/* ---- asking ---- */

const kc__kinds *kc__discovery_kinds(const kc__discovery *discovery)
{
    return discovery->kinds;
}

/* Slots are filled behind a const pointer: nobody sees the difference. */
static kc__discovery *filling(const kc__discovery *discovery)
{
    return (kc__discovery *)discovery;
}

const kc__document *kc__discovery_api_versions(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->api_versions;
    const kc__document *document = look(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__write_api_versions(&body, kc__kinds_find_group(discovery->kinds, KC_STR("")),
                           discovery->server_address);
    return publish(place, plain(&body));
}

const kc__document *kc__discovery_groups(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->groups;
    const kc__document *document = look(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__write_group_list(&body, discovery->kinds);
    return publish(place, plain(&body));
}

const kc__document *kc__discovery_group(const kc__discovery *discovery, kc_str group)
{
    const kc__kinds_group *found = kc__kinds_find_group(discovery->kinds, group);
    if (!found || !found->name[0])
        return NULL;
    slot *place = &discovery->of_group[found->index];
    const kc__document *document = look(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__write_group(&body, found);
    return publish(place, plain(&body));
}

const kc__document *kc__discovery_resources(const kc__discovery *discovery, kc_str group,
                                            kc_str version)
{
    const kc__kinds_version *found = kc__kinds_find_version(discovery->kinds, group, version);
    if (!found)
        return NULL;
    slot *place = &discovery->of_version[found->index];
    const kc__document *document = look(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__write_resource_list(&body, found);
    return publish(place, plain(&body));
}

const kc__document *kc__discovery_aggregated_core(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->aggregated_core;
    const kc__document *document = look(place);
    return document ? document : publish(place, aggregated(discovery->kinds, true));
}

const kc__document *kc__discovery_aggregated_groups(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->aggregated_groups;
    const kc__document *document = look(place);
    return document ? document : publish(place, aggregated(discovery->kinds, false));
}
