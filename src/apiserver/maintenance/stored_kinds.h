/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_kinds.h: the kinds whose objects a store may hold, and how an object and its key belong
 * together. Built-in kinds are known; custom kinds come from the CustomResourceDefinitions of the
 * store, or of the file that is imported.
 *
 *     v1 Pod default/web                     /registry/pods/default/web
 *     example.com/v1 Robot default/r2        /registry/example.com/robots/default/r2
 *
 * Not thread-safe.
 */
#ifndef KC_APISERVER_MAINTENANCE_STORED_KINDS_H
#define KC_APISERVER_MAINTENANCE_STORED_KINDS_H

#include "apiserver/codec/api_types.h"
#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"
#include "kc/arena.h"
#include "kc/map.h"
#include "kc/object.h"

typedef struct kc__maintenance_kind {
    kc_str group, plural; /* "" is the core group. */
    kc_str prefix;        /* "/registry/pods/" */
    bool namespaced;
    bool is_definition;           /* CustomResourceDefinitions. */
    const kc__type_message *type; /* NULL: any fields. */
} kc__maintenance_kind;

/* Zero is not valid: see kc__maintenance_kinds_init. */
typedef struct kc__maintenance_kinds {
    kc_arena arena;
    kc_map by_prefix; /* To kc__maintenance_kind. */
    kc_map by_name;   /* The same by "API_VERSION KIND", for each version that may be stored. */
} kc__maintenance_kinds;

/* Contains the built-in kinds. */
void kc__maintenance_kinds_init(kc__maintenance_kinds *kinds);
void kc__maintenance_kinds_done(kc__maintenance_kinds *kinds);
/* Adds the kind of a CustomResourceDefinition. KC_INVALID if it names none, or one whose keys would
 * be those of another kind. */
int kc__maintenance_kinds_add(kc__maintenance_kinds *kinds, const kc_object *definition,
                              kc_error *err);
/* Adds the CustomResourceDefinitions of a store at a revision (0: the latest); those that cannot be
 * read are left out. */
int kc__maintenance_kinds_load(kc__maintenance_kinds *kinds, kc__storage *storage,
                               uint64_t revision, kc__encryption *encryption, kc_error *err);

/* The kind whose objects have this prefix; NULL if there is none. */
const kc__maintenance_kind *kc__maintenance_kinds_at(const kc__maintenance_kinds *kinds,
                                                     kc_str prefix);
/* The kind of "pods", "deployments.apps" or "robots.example.com"; NULL on error, with the nearest
 * name. */
const kc__maintenance_kind *kc__maintenance_kinds_named(const kc__maintenance_kinds *kinds,
                                                        const char *resource, kc_error *err);

/* Appends the key of an object. KC_INVALID if its kind or version is unknown, its name or namespace
 * is missing or invalid, or it lacks what only the server sets: uid and creationTimestamp. */
int kc__maintenance_key_of(const kc__maintenance_kinds *kinds, const kc_object *object, kc_buf *out,
                           const kc__maintenance_kind **ret_kind, kc_error *err);
/* Checks that an object belongs to its key and can be decoded. */
int kc__maintenance_check_object(const kc__maintenance_kinds *kinds, kc_str key,
                                 const kc_object *object, kc_error *err);
/* The object in the form in which the server stores it; unknown fields are an error. A new
 * reference, or NULL. */
kc_object *kc__maintenance_stored_form(const kc__maintenance_kind *kind, const kc_object *object,
                                       kc_error *err);

#endif
