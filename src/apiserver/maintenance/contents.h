/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.h: the objects of a store as a copy of it has them, and a digest of them all, by which
 * two stores are compared.
 */
#ifndef KC_APISERVER_MAINTENANCE_CONTENTS_H
#define KC_APISERVER_MAINTENANCE_CONTENTS_H

#include "apiserver/storage/storage.h"

enum { KC__MAINTENANCE_DIGEST = 32 };

typedef struct kc__maintenance_contents {
    size_t objects, events; /* Events are objects, too. */
    unsigned char all[KC__MAINTENANCE_DIGEST];
    /* Without Events: those of a store in etcd expire while no server runs. */
    unsigned char lasting[KC__MAINTENANCE_DIGEST];
} kc__maintenance_contents;

/* A value in the form that a copy has. */
typedef struct kc__maintenance_copied {
    kc_str value;   /* Points to the value that was copied, or into the buffer. */
    bool converted; /* It has another form than in the source, … */
    bool lossy;     /* … and lacks fields that this program does not know. */
} kc__maintenance_copied;

/*
 * The value of a key of `from` in a copy in `to`: JSON in an exclusive storage, the form of
 * Kubernetes in a shared one. An encrypted value stays as it is; KC_INVALID if the other storage
 * has another prefix, for which it would have to be encrypted. An error if a value cannot be
 * decoded.
 */
int kc__maintenance_copy_value(const kc__storage *from, const kc__storage *to,
                               const kc__storage_entry *entry, kc_buf *out,
                               kc__maintenance_copied *ret, kc_error *err);

/* Reads the objects at a revision (0: the latest), with the values that a copy in `to` has; NULL:
 * as they are. KC_EXPIRED: the revision is compacted. Blocks. */
int kc__maintenance_contents_read(kc__storage *storage, uint64_t revision, const kc__storage *to,
                                  kc__maintenance_contents *ret, kc_error *err);

/* Whether both have the same objects. `events_expire`: b may lack Events. */
bool kc__maintenance_contents_equal(const kc__maintenance_contents *a,
                                    const kc__maintenance_contents *b, bool events_expire);

#endif
