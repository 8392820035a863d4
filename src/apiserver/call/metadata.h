/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h: reads the metadata of an object or a draft into a struct, and writes it back.
 *
 *     kc__rest_metadata m;
 *     kc__rest_metadata_of_draft(&call->draft, call->arena, &m);
 *     m.uid = uid;
 *     kc__rest_metadata_to_draft(&call->draft, &m, err);
 *
 * In most objects the server sets fields of the metadata only. So metadata is spliced into the
 * bytes of an object, in the order in which Kubernetes writes it, and the other bytes stay
 * unchanged. In a draft whose tree is open, the members are set in the tree.
 */
#ifndef KC_APISERVER_METADATA_H
#define KC_APISERVER_METADATA_H

#include "apiserver/kinds/draft.h"
#include "kc/arena.h"
#include "kc/object.h"

/* Empty strings and zeros are omitted; selfLink is dropped, as Kubernetes does. */
typedef struct kc__rest_metadata {
    kc_str name, generate_name, ns, uid;
    kc_str resource_version;
    int64_t generation;
    kc_str created, deleted; /* Timestamps. */
    bool has_grace;
    int64_t grace_seconds;
    kc_str owners, finalizers; /* JSON. */
    /* JSON; not read from an open draft, where they stay unchanged. */
    kc_str labels, annotations, managed_fields;
    bool owners_changed; /* `owners` differs from what was read. */
} kc__rest_metadata;

/* The slices are valid as long as the object and the arena. */
void kc__rest_metadata_of(const kc_object *object, kc_arena *arena, kc__rest_metadata *ret);
/* Returns a new object whose metadata is replaced. */
kc_object *kc__rest_metadata_apply(const kc_object *object, const kc__rest_metadata *metadata,
                                   kc_error *err);

/* The same for a draft. The slices are valid as long as the contents of the draft and the arena. */
void kc__rest_metadata_of_draft(const kc__draft *draft, kc_arena *arena, kc__rest_metadata *ret);
/* 0 or negative. The draft keeps its form: bytes or tree. */
int kc__rest_metadata_to_draft(kc__draft *draft, const kc__rest_metadata *metadata, kc_error *err);

#endif
