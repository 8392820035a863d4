/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h: memory that is freed all at once.
 *
 *     kc_scoped(kc_arena) scratch = {0};
 *     char *name = kc_arena_printf(&scratch, "%s-%d", base, i);
 *
 * One per request, per parse, per compiled schema. A zeroed arena is ready. With `limit` set,
 * allocations beyond it (or beyond what memory there is) return NULL, so an arena filled from
 * outside needs checks; without one it never returns NULL. Not for several threads at a time.
 */
#ifndef KC_ARENA_H
#define KC_ARENA_H

#include "kc/str.h"

typedef struct kc_arena_chunk kc_arena_chunk;

typedef struct kc_arena {
    kc_arena_chunk *chunks; /* Newest first; the first is the one being filled. */
    size_t used;            /* Bytes handed out in all, each block rounded up to its alignment. */
    size_t limit;           /* Bytes it may hand out. Defaults to no limit. */
} kc_arena;

/* Frees everything. */
void kc_arena_done(kc_arena *arena);
/* Forgets everything, keeps one chunk for the next round. */
void kc_arena_clear(kc_arena *arena);

/* Aligned for any type, not zeroed. NULL only in an arena with a limit. */
void *kc_arena_alloc(kc_arena *arena, size_t size);
/* Zeroed. */
void *kc_arena_calloc(kc_arena *arena, size_t count, size_t size);
/* Copies, terminated as well. */
char *kc_arena_strndup(kc_arena *arena, const char *text, size_t n);
kc_str kc_arena_str(kc_arena *arena, kc_str s);
char *kc_arena_printf(kc_arena *arena, const char *fmt, ...) KC_PRINTF(2, 3);

#define kc_arena_new(arena, type) ((type *)kc_arena_calloc(arena, 1, sizeof(type)))

#endif
