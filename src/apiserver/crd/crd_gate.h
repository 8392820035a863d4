/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_gate.h: through which objects of a definition are created.
 *
 * A definition that is deleted takes its objects along, and goes when none is left. A creation that
 * was let in before may still be on its way to the store then, and its object would be left behind,
 * served by nobody. So whoever creates goes in through the gate before the write is handed over and
 * leaves when it is decided; whoever deletes closes the gate, and counts objects only when nobody
 * is inside any more.
 *
 *     creating:  inside++, closed?      deleting:  closed = true, inside == 0?
 *
 * Each writes its own word before it reads the other's, so one of both sees the other. Counted, any
 * thread, nothing blocks. A gate stays closed.
 */
#ifndef KC_APISERVER_CRD_GATE_H
#define KC_APISERVER_CRD_GATE_H

#include "kc/mem.h"
#include "kc/ref.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct kc__gate {
    kc_ref refs;
    atomic_size_t inside;
    atomic_bool closed;
} kc__gate;

static inline kc__gate *kc__gate_new(void)
{
    kc__gate *gate = kc_new(kc__gate);
    kc_ref_init(&gate->refs);
    return gate;
}

static inline kc__gate *kc__gate_ref(kc__gate *gate)
{
    kc_ref_add(&gate->refs);
    return gate;
}

/* NULL is allowed; returns NULL. */
static inline kc__gate *kc__gate_unref(kc__gate *gate)
{
    if (gate && kc_ref_drop(&gate->refs))
        free(gate);
    return NULL;
}

/* False: it is closed, and the caller is not inside. */
static inline bool kc__gate_enter(kc__gate *gate)
{
    atomic_fetch_add(&gate->inside, 1);
    if (!atomic_load(&gate->closed))
        return true;
    atomic_fetch_sub(&gate->inside, 1);
    return false;
}

static inline void kc__gate_leave(kc__gate *gate)
{
    atomic_fetch_sub(&gate->inside, 1);
}

static inline void kc__gate_close(kc__gate *gate)
{
    atomic_store(&gate->closed, true);
}

/* Of a closed one: whether nobody is inside, and nobody will be. */
static inline bool kc__gate_is_empty(kc__gate *gate)
{
    return atomic_load(&gate->inside) == 0;
}

#endif
