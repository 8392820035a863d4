/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_gate.h: counts the in-flight creates of a resource that can be withdrawn.
 *
 * Deleting a CRD deletes its custom objects and finishes when none is left. A create that was
 * admitted earlier may still be in flight at that time; its object would stay behind, unserved. So
 * a create enters the gate before its write is submitted, and leaves the gate when the write is
 * decided. The CRD controller closes the gate first, and counts objects only when no create is
 * inside.
 *
 *     create:  inside++, closed?      delete:  closed = true, inside == 0?
 *
 * Each side writes its own word before it reads the other's, so at least one side sees the other. A
 * gate is reference-counted, may be used from any thread and never blocks. A closed gate stays
 * closed.
 */
#ifndef KC_APISERVER_CREATE_GATE_H
#define KC_APISERVER_CREATE_GATE_H

#include "kc/mem.h"
#include "kc/ref.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct kc__resource_create_gate {
    kc_ref refs;
    atomic_size_t inside;
    atomic_bool closed;
} kc__resource_create_gate;

static inline kc__resource_create_gate *kc__resource_create_gate_new(void)
{
    kc__resource_create_gate *gate = kc_new(kc__resource_create_gate);
    kc_ref_init(&gate->refs);
    return gate;
}

static inline kc__resource_create_gate *kc__resource_create_gate_ref(kc__resource_create_gate *gate)
{
    kc_ref_add(&gate->refs);
    return gate;
}

/* Drops a reference. NULL is allowed; returns NULL. */
static inline kc__resource_create_gate *kc__resource_create_gate_unref(
    kc__resource_create_gate *gate)
{
    if (gate && kc_ref_drop(&gate->refs))
        free(gate);
    return NULL;
}

/* Enters the gate. False: the gate is closed and the caller is not inside. */
static inline bool kc__resource_create_gate_enter(kc__resource_create_gate *gate)
{
    atomic_fetch_add(&gate->inside, 1);
    if (!atomic_load(&gate->closed))
        return true;
    atomic_fetch_sub(&gate->inside, 1);
    return false;
}

static inline void kc__resource_create_gate_leave(kc__resource_create_gate *gate)
{
    atomic_fetch_sub(&gate->inside, 1);
}

static inline void kc__resource_create_gate_close(kc__resource_create_gate *gate)
{
    atomic_store(&gate->closed, true);
}

/* For a closed gate: whether no create is in flight, now and from now on. */
static inline bool kc__resource_create_gate_is_empty(kc__resource_create_gate *gate)
{
    return atomic_load(&gate->inside) == 0;
}

#endif
