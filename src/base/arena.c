/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c: a list of chunks, filled from the front.
 *
 *     arena ──▶ [ chunk │ used ▓▓▓▓▓▓░░░ size ] ──▶ [ older chunk ▓▓▓▓▓▓▓▓▓ ] ──▶ NULL
 *
 * Chunks double from 4 KiB, or the size that the owner chose, up to 256 KiB. A block that is larger
 * than a quarter of the next chunk gets its own chunk, inserted behind the first one, so that the
 * space left in the first is not wasted. Under AddressSanitizer every block is its own chunk, so
 * that the sanitizer detects an overrun of one block. Both modes count the same against the limit:
 * the block rounded up to its alignment, so that many tiny blocks cannot take a multiple of the
 * limit.
 */
#include "kc/arena.h"

#include "base/sanitizer.h"

#include <stdarg.h>
#include <stdio.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 256 * 1024 };

struct kc_arena_chunk {
    kc_arena_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

/* An arena with a limit holds data sized from outside: return NULL when memory is short. */
static kc_arena_chunk *chunk_new(const kc_arena *arena, size_t size)
{
    size_t total = sizeof(kc_arena_chunk) + size;
    kc_arena_chunk *chunk = arena->limit ? kc_try_alloc(total, total) : kc_alloc(total);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->used = 0;
    chunk->size = size;
    return chunk;
}

void kc_arena_done(kc_arena *arena)
{
    if (!arena)
        return;
    for (kc_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    arena->chunks = NULL;
    arena->used = 0;
}

void kc_arena_clear(kc_arena *arena)
{
    kc_arena_chunk *first = arena->chunks;
    if (!first)
        return;
    arena->chunks = first->next;
    kc_arena_done(arena);
    first->next = NULL;
    first->used = 0;
    arena->chunks = first;
}

static size_t next_chunk_size(const kc_arena *arena)
{
    if (!arena->chunks && arena->first)
        return arena->first;
    size_t last = arena->chunks ? arena->chunks->size : 0;
    return KC_MIN(KC_MAX(last * 2, (size_t)FIRST_CHUNK), (size_t)LARGEST_CHUNK);
}

static bool wants_own_chunk(const kc_arena *arena, size_t size)
{
#if KC__ASAN
    (void)arena;
    (void)size;
    return true;
#else
    return size > next_chunk_size(arena) / 4;
#endif
}

static void *own_chunk(kc_arena *arena, size_t size)
{
    kc_arena_chunk *chunk = chunk_new(arena, size);
    if (!chunk)
        return NULL;
    chunk->used = size;
    if (arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        arena->chunks = chunk;
    }
    return chunk->bytes;
}

static void *part_of_first_chunk(kc_arena *arena, size_t rounded)
{
    kc_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < rounded) {
        chunk = chunk_new(arena, next_chunk_size(arena));
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *block = chunk->bytes + chunk->used;
    chunk->used += rounded;
    return block;
}

/* A block above the limit: NULL if the arena has a limit, else the out-of-memory hook. */
static void *refuse_arena_limit(const kc_arena *arena)
{
    return arena->limit ? NULL : kc_alloc(SIZE_MAX);
}

void *kc_arena_alloc(kc_arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    size_t rounded = (size + align - 1) & ~(align - 1), total;
    if (size > SIZE_MAX / 2 || __builtin_add_overflow(arena->used, rounded, &total))
        return refuse_arena_limit(arena);
    if (arena->limit && total > arena->limit)
        return NULL;
    void *block =
        wants_own_chunk(arena, size) ? own_chunk(arena, size) : part_of_first_chunk(arena, rounded);
    if (block)
        arena->used = total;
    return block;
}

void *kc_arena_calloc(kc_arena *arena, size_t count, size_t size)
{
    size_t total;
    bool fits = !__builtin_mul_overflow(count, size, &total);
    void *block = fits ? kc_arena_alloc(arena, total) : refuse_arena_limit(arena);
    return block ? memset(block, 0, total) : NULL;
}

char *kc_arena_strndup(kc_arena *arena, const char *text, size_t n)
{
    char *copy = n == SIZE_MAX ? refuse_arena_limit(arena) : kc_arena_alloc(arena, n + 1);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

kc_str kc_arena_str(kc_arena *arena, kc_str s)
{
    char *copy = kc_arena_strndup(arena, s.p, s.n);
    return copy ? kc_str_of(copy, s.n) : (kc_str){0};
}

kc_str kc_arena_join(kc_arena *arena, kc_str a, kc_str b, kc_str c)
{
    const kc_str parts[] = {a, b, c};
    char *all = kc_arena_alloc(arena, a.n + b.n + c.n + 1), *to = all;
    if (!all)
        return (kc_str){0};
    for (size_t i = 0; i < KC_COUNT(parts); i++) {
        if (parts[i].n)
            memcpy(to, parts[i].p, parts[i].n);
        to += parts[i].n;
    }
    *to = '\0';
    return kc_str_of(all, (size_t)(to - all));
}

char *kc_arena_printf(kc_arena *arena, const char *fmt, ...)
{
    va_list args, args_copy;
    va_start(args, fmt);
    va_copy(args_copy, args);
    int n = vsnprintf(NULL, 0, fmt, args_copy);
    va_end(args_copy);
    char *text = n < 0 ? NULL : kc_arena_alloc(arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}
