/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h: memory that is freed all at once.
 *
 *     kc_scoped(kc_arena) scratch = {0};
 *     char *name = kc_arena_printf(&scratch, "%s-%d", base, i);
 *
 * Typically one per request, per parse, per compiled schema. A zeroed arena is ready. If `limit` is
 * set, an allocation that exceeds the limit or the available memory returns NULL: check the results
 * when input from outside fills the arena. Without a limit, allocations never return NULL. Not
 * thread-safe.
 */
#ifndef KC_ARENA_H
#define KC_ARENA_H

#include "kc/str.h"

typedef struct kc_arena_chunk kc_arena_chunk;

typedef struct kc_arena {
    kc_arena_chunk *chunks; /* Newest first; allocations come from the first. */
    size_t used;            /* Total bytes allocated, each block rounded up to its alignment. */
    size_t limit;           /* Maximum of `used`. Defaults to no limit. */
    size_t first;           /* Bytes of the first chunk. Defaults to 4 KiB. */
} kc_arena;

/* Frees all memory. */
void kc_arena_done(kc_arena *arena);
/* Frees all allocations, but keeps one chunk for reuse. */
void kc_arena_clear(kc_arena *arena);

/* Aligned for any type, not zeroed. NULL only in an arena with a limit. */
void *kc_arena_alloc(kc_arena *arena, size_t size);
/* As kc_arena_alloc, zeroed. */
void *kc_arena_calloc(kc_arena *arena, size_t count, size_t size);
/* Copies `text` and appends a terminator. */
char *kc_arena_strndup(kc_arena *arena, const char *text, size_t n);
kc_str kc_arena_str(kc_arena *arena, kc_str s);
/* Three slices one after the other, terminated. */
kc_str kc_arena_join(kc_arena *arena, kc_str a, kc_str b, kc_str c);
char *kc_arena_printf(kc_arena *arena, const char *fmt, ...) KC_PRINTF(2, 3);

#define kc_arena_new(arena, type) ((type *)kc_arena_calloc(arena, 1, sizeof(type)))

#endif
