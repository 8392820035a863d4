/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h: the metadata of an object, taken apart and put together again.
 *
 *     kc__metadata m;
 *     kc__metadata_of(object, arena, &m);
 *     m.uid = uid;
 *     kc_object *with = kc__metadata_apply(object, &m, err);
 *
 * The server decides most of an object's metadata, and nothing else of most objects; so that part
 * is written anew, in the order in which Kubernetes writes it, and the rest of the bytes stays.
 */
#ifndef KC_APISERVER_METADATA_H
#define KC_APISERVER_METADATA_H

#include "kc/arena.h"
#include "kc/object.h"

/* Empty texts and zeros are left out. managedFields are not kept: nobody keeps them up to date yet.
 */
typedef struct kc__metadata {
    kc_str name, generate_name, ns, uid;
    kc_str resource_version;
    int64_t generation;
    kc_str created, deleted; /* Timestamps. */
    bool has_grace;
    int64_t grace_seconds;
    kc_str labels, annotations, owners, finalizers; /* JSON texts. */
} kc__metadata;

/* The texts live as long as the object and the arena. */
void kc__metadata_of(const kc_object *object, kc_arena *arena, kc__metadata *ret);
/* A new object with this metadata in the place of its own. */
kc_object *kc__metadata_apply(const kc_object *object, const kc__metadata *metadata, kc_error *err);

#endif
