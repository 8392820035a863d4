/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c: a list of chunks, filled from the front.
 *
 *     arena ──▶ [ chunk │ used ▓▓▓▓▓▓░░░ size ] ──▶ [ older chunk ▓▓▓▓▓▓▓▓▓ ] ──▶ NULL
 *
 * Chunks double from 4 KiB up to 256 KiB. A block that is larger than a quarter of the next chunk
 * gets a chunk of its own, put behind the first one, so that the space left in the first is not
 * wasted. Under AddressSanitizer every block is its own chunk, so that an overrun of one block is
 * seen. What counts against the limit is the same in both: the block rounded up to its alignment,
 * so that many tiny blocks cannot take a multiple of the limit.
 */
#include "kc/arena.h"

#include <stdarg.h>
#include <stdio.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 256 * 1024 };

#if defined(__SANITIZE_ADDRESS__)
#define EACH_BLOCK_ALONE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EACH_BLOCK_ALONE 1
#endif
#endif

struct kc_arena_chunk {
    kc_arena_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

/* A limit says that the sizes come from outside: then being short of memory is an answer, NULL. */
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
    size_t last = arena->chunks ? arena->chunks->size : 0;
    return KC_MIN(KC_MAX(last * 2, (size_t)FIRST_CHUNK), (size_t)LARGEST_CHUNK);
}

static bool wants_own_chunk(const kc_arena *arena, size_t size)
{
#ifdef EACH_BLOCK_ALONE
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

/* More than can be: NULL where the caller must look, the end where it need not. */
static void *refuse(const kc_arena *arena)
{
    return arena->limit ? NULL : kc_alloc(SIZE_MAX);
}

void *kc_arena_alloc(kc_arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    size_t rounded = (size + align - 1) & ~(align - 1), total;
    if (size > SIZE_MAX / 2 || __builtin_add_overflow(arena->used, rounded, &total))
        return refuse(arena);
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
    void *block = fits ? kc_arena_alloc(arena, total) : refuse(arena);
    return block ? memset(block, 0, total) : NULL;
}

char *kc_arena_strndup(kc_arena *arena, const char *text, size_t n)
{
    char *copy = n == SIZE_MAX ? refuse(arena) : kc_arena_alloc(arena, n + 1);
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

char *kc_arena_printf(kc_arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n < 0 ? NULL : kc_arena_alloc(arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}
