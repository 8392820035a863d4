/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/arena.h"

static void blocks_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    char *blocks[300];
    for (size_t i = 0; i < KC_COUNT(blocks); i++) {
        blocks[i] = kc_arena_alloc(&arena, i);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        memset(blocks[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < KC_COUNT(blocks); i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal((unsigned char)blocks[i][j], i & 0xff);
}

static void large_and_small_blocks_mix(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    char *small = kc_arena_strndup(&arena, "small", 5);
    char *large = kc_arena_alloc(&arena, 1 << 20);
    memset(large, 'x', 1 << 20);
    char *next = kc_arena_strndup(&arena, "next", 4);
    assert_string_equal(small, "small");
    assert_string_equal(next, "next");
}

static void copies_and_formats_are_terminated(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_str copy = kc_arena_str(&arena, kc_str_of("website", 3));
    assert_str(copy, "web");
    assert_int_equal(copy.p[3], '\0');
    assert_int_equal(kc_arena_str(&arena, (kc_str){0}).n, 0);
    assert_string_equal(kc_arena_printf(&arena, "%s-%d", "web", 7), "web-7");
}

static void calloc_in_reused_memory_is_zeroed(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    memset(kc_arena_alloc(&arena, 1000), 'x', 1000);
    kc_arena_clear(&arena);
    const uint64_t *zeros = kc_arena_calloc(&arena, 100, sizeof(*zeros));
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    assert_null(*kc_arena_new(&arena, void *));
}

static void allocation_beyond_limit_returns_null(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 64};
    assert_non_null(kc_arena_alloc(&arena, 48));
    assert_null(kc_arena_alloc(&arena, 17));
    assert_non_null(kc_arena_alloc(&arena, 16));
    assert_null(kc_arena_alloc(&arena, 1));
    assert_null(kc_arena_strndup(&arena, "x", 1));
    assert_null(kc_arena_str(&arena, KC_STR("x")).p);
    assert_null(kc_arena_printf(&arena, "x"));
    assert_int_equal(arena.used, 64);
}

static void tiny_blocks_count_with_their_padding(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 1024};
    size_t n = 0;
    while (kc_arena_alloc(&arena, 1))
        n++;
    assert_int_equal(n, 1024 / _Alignof(max_align_t));
}

static void overflowing_sizes_return_null(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = SIZE_MAX};
    volatile size_t half = SIZE_MAX / 2 + 1;
    assert_null(kc_arena_calloc(&arena, half, 2));
    assert_null(kc_arena_alloc(&arena, SIZE_MAX));
    assert_null(kc_arena_strndup(&arena, "", SIZE_MAX));
    assert_int_equal(arena.used, 0);
}

static void cleared_arena_is_empty(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 4096};
    kc_arena_clear(&arena);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++)
            assert_non_null(kc_arena_alloc(&arena, 1024));
        assert_null(kc_arena_alloc(&arena, 1));
        kc_arena_clear(&arena);
        assert_int_equal(arena.used, 0);
    }
}

TESTS(blocks_are_aligned_and_do_not_overlap, large_and_small_blocks_mix,
      copies_and_formats_are_terminated, calloc_in_reused_memory_is_zeroed,
      allocation_beyond_limit_returns_null, tiny_blocks_count_with_their_padding,
      overflowing_sizes_return_null, cleared_arena_is_empty)
