/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_config.h: a validated EncryptionConfiguration (apiserver.config.k8s.io/v1): which
 * providers encrypt the values of which resources.
 *
 *     rule  secrets     ─▶ providers: aesgcm [key2, key1], identity
 *     rule  *.example.com ─▶ providers: secretbox [key1]
 *
 * Immutable and counted. Keys are in locked memory, excluded from core dumps, and wiped when the
 * last reference is dropped. Any thread.
 */
#ifndef KC_APISERVER_ENCRYPTION_CONFIG_H
#define KC_APISERVER_ENCRYPTION_CONFIG_H

#include "apiserver/config/config_reloads.h"
#include "apiserver/storage/encryption/encryption_cipher.h"
#include "kc/arena.h"
#include "kc/error.h"
#include "kc/field_error.h"
#include "kc/ref.h"
#include "kc/vec.h"

/* A resource of an API group: {"", "secrets"}; {"example.com", "*"}: all of the group; {"*", "*"}:
 * all. */
typedef struct kc__encryption_resource {
    kc_str group, name;
} kc__encryption_resource;

typedef struct kc__encryption_key {
    kc_str name;
    kc_str prefix; /* "key1:" */
    kc__encryption_secret secret;
} kc__encryption_key;

typedef struct kc__encryption_provider {
    const kc__encryption_cipher *cipher; /* NULL: identity, which stores the plain value. */
    kc__encryption_key *keys;            /* The first one encrypts. */
    size_t n_keys;
} kc__encryption_provider;

typedef struct kc__encryption_rule {
    kc__encryption_resource resource;
    KC_VEC(const kc__encryption_provider *) providers; /* The first one encrypts. */
} kc__encryption_rule;

typedef struct kc__encryption_config {
    kc_ref refs;
    kc_arena arena;
    KC_VEC(kc__encryption_rule) rules;
    unsigned char *secrets;     /* All keys, one after the other. */
    char hash[KC__CONFIG_HASH]; /* Of the file. */
} kc__encryption_config;

/* Reads a file. Errors are those of kube-apiserver. NULL on error, and without an error if the file
 * has the hash `known` (NULL: read it in any case). Blocks. */
kc__encryption_config *kc__encryption_config_read(const char *path, const char *known,
                                                  kc_error *err);
/* The same for text; `path` is for messages. Wipes the text. */
kc__encryption_config *kc__encryption_config_parse(kc_buf *text, const char *path, kc_error *err);
kc__encryption_config *kc__encryption_config_ref(kc__encryption_config *config);
/* NULL is allowed; returns NULL. */
kc__encryption_config *kc__encryption_config_unref(kc__encryption_config *config);
KC_AUTO_DEFINE(kc__encryption_config, kc__encryption_config_unref)

/* The rule of a resource: its own, else that of its group, else that of all. NULL: not
 * encrypted. */
const kc__encryption_rule *kc__encryption_config_find(const kc__encryption_config *config,
                                                      kc__encryption_resource resource);

/* Splits "pods", "deployments.apps", "*.", "*.*". */
kc__encryption_resource kc__encryption_resource_parse(kc_str text);

/* ---- encryption_validate.c ---- */

/* Adds the errors of a decoded configuration. */
void kc__encryption_validate(const kc_value *root, kc_field_errors *errors);

#endif
