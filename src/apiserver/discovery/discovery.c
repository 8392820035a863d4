/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.c: builds the discovery documents on demand and finds them by group and version.
 *
 * With a thousand custom resources, building all documents takes milliseconds, and each new
 * resource replaces them all; so a document is built by the first request for it. It is published
 * with one atomic exchange; if two requests build the same document concurrently, one discards its
 * copy.
 *
 * Threads: after kc__discovery_new has returned, only the slots change, once, from empty to a
 * document that stays.
 */
#include "apiserver/discovery/discovery.h"
#include "apiserver/discovery/discovery_internal.h"

#include <openssl/evp.h>

/* A document, once it was requested. */
typedef _Atomic(kc__discovery_document *) slot;

struct kc__discovery {
    kc__registry *kinds;
    char *server_address; /* May be NULL. */
    slot api_versions, groups, aggregated_core, aggregated_groups;
    slot *of_group;   /* By the group's index; the core group's slot stays empty. */
    slot *of_version; /* By the version's index. */
    size_t n_groups, n_versions;
};

/* ---- documents ---- */

/* Takes over the buffer's text. */
static kc__discovery_document plain(kc_buf *body)
{
    size_t n = body->n;
    return (kc__discovery_document){.type = KC_STR("application/json"),
                                    .body = kc_str_of(kc_buf_take(body), n)};
}

/* The SHA-512 in upper-case hexadecimal digits, in quotes. */
static kc_str etag_of(kc_str body)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    if (!EVP_Digest(body.p, body.n, digest, &n, EVP_sha512(), NULL))
        return (kc_str){0}; /* No digest library: the response is sent in full each time. */
    kc_scoped(kc_buf) text = {0};
    kc_buf_putc(&text, '"');
    for (unsigned int i = 0; i < n; i++)
        kc_buf_printf(&text, "%02X", digest[i]);
    kc_buf_putc(&text, '"');
    size_t length = text.n;
    return kc_str_of(kc_buf_take(&text), length);
}

static kc__discovery_document aggregated(const kc__registry *kinds, bool core)
{
    kc_buf body = {0};
    kc__discovery_write_aggregated(&body, kinds, core);
    kc__discovery_document document = plain(&body);
    document.type = KC_STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    document.etag = etag_of(document.body);
    return document;
}

static void free_document(kc__discovery_document *document)
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

static const kc__discovery_document *load_discovery_document(slot *place)
{
    return atomic_load_explicit(place, memory_order_acquire);
}

/* Publishes a document in an empty slot; if another thread was faster, its document is used. */
static const kc__discovery_document *publish_discovery_document(slot *place,
                                                                kc__discovery_document made)
{
    kc__discovery_document *mine = kc_new(kc__discovery_document), *theirs = NULL;
    *mine = made;
    if (atomic_compare_exchange_strong(place, &theirs, mine))
        return mine;
    free_document(mine);
    return theirs;
}

/* ---- creation ---- */

kc__discovery *kc__discovery_new(const kc__registry *kinds, const kc__discovery_opts *opts)
{
    kc__discovery *discovery = kc_new(kc__discovery);
    discovery->kinds = kc__registry_ref(kinds);
    if (opts && opts->server_address)
        discovery->server_address = kc_strdup(opts->server_address);
    kc__registry_groups(kinds, &discovery->n_groups);
    kc__registry_versions(kinds, &discovery->n_versions);
    discovery->of_group = kc_calloc(discovery->n_groups, sizeof(slot));
    discovery->of_version = kc_calloc(discovery->n_versions, sizeof(slot));
    return discovery;
}

kc__discovery *kc__discovery_free(kc__discovery *discovery)
{
    if (!discovery)
        return NULL;
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
    kc__registry_unref(discovery->kinds);
    free(discovery);
    return NULL;
}

/* ---- requests ---- */

/* Slots are filled lazily behind a const pointer; callers cannot observe it. */
static kc__discovery *filling(const kc__discovery *discovery)
{
    return (kc__discovery *)discovery;
}

const kc__discovery_document *kc__discovery_api_versions(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->api_versions;
    const kc__discovery_document *document = load_discovery_document(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__discovery_write_api_versions(&body, kc__registry_find_group(discovery->kinds, KC_STR("")),
                                     discovery->server_address);
    return publish_discovery_document(place, plain(&body));
}

const kc__discovery_document *kc__discovery_groups(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->groups;
    const kc__discovery_document *document = load_discovery_document(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__discovery_write_group_list(&body, discovery->kinds);
    return publish_discovery_document(place, plain(&body));
}

const kc__discovery_document *kc__discovery_group(const kc__discovery *discovery, kc_str group)
{
    const kc__registry_group *found = kc__registry_find_group(discovery->kinds, group);
    if (!found || !found->name[0])
        return NULL;
    slot *place = &discovery->of_group[found->index];
    const kc__discovery_document *document = load_discovery_document(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__discovery_write_group(&body, found);
    return publish_discovery_document(place, plain(&body));
}

const kc__discovery_document *kc__discovery_resources(const kc__discovery *discovery, kc_str group,
                                                      kc_str version)
{
    const kc__registry_version *found = kc__registry_find_version(discovery->kinds, group, version);
    if (!found)
        return NULL;
    slot *place = &discovery->of_version[found->index];
    const kc__discovery_document *document = load_discovery_document(place);
    if (document)
        return document;
    kc_buf body = {0};
    kc__discovery_write_resource_list(&body, found);
    return publish_discovery_document(place, plain(&body));
}

const kc__discovery_document *kc__discovery_aggregated_core(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->aggregated_core;
    const kc__discovery_document *document = load_discovery_document(place);
    return document ? document
                    : publish_discovery_document(place, aggregated(discovery->kinds, true));
}

const kc__discovery_document *kc__discovery_aggregated_groups(const kc__discovery *discovery)
{
    slot *place = &filling(discovery)->aggregated_groups;
    const kc__discovery_document *document = load_discovery_document(place);
    return document ? document
                    : publish_discovery_document(place, aggregated(discovery->kinds, false));
}
