/* SPDX-License-Identifier: Apache-2.0 */
/* mem_trim.c: free memory is returned only if that is worthwhile, and leaves the process. */
#include "testing.h"

#include "base/mem_trim.h"
#include "base/sanitizer.h"
#include "kc/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { BLOCKS = 4000, SIZE = 16 * 1024 };

static size_t resident(void)
{
    size_t total, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_int_equal(fscanf(f, "%zu %zu", &total, &pages), 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Leaves holes between small live blocks, which free alone does not return. */
static void make_holes(char **kept)
{
    char *freed[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        freed[i] = memset(kc_alloc(SIZE), 'x', SIZE);
        kept[i] = kc_alloc(64);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(freed[i]);
}

static void free_all(char **kept)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(kept[i]);
}

static void freed_memory_between_blocks_in_use_is_returned(void **state)
{
    (void)state;
#if KC__SANITIZED
    skip();
#endif
    char *kept[BLOCKS];
    make_holes(kept);
    size_t before = resident();
    assert_true(kc_mem_trim((size_t)BLOCKS * SIZE / 2));
    assert_true(resident() + (size_t)BLOCKS * SIZE / 2 < before);
    assert_false(kc_mem_trim((size_t)BLOCKS * SIZE / 2));
    free_all(kept);
}

static void trimmer_returns_memory_at_its_interval(void **state)
{
    (void)state;
#if KC__SANITIZED
    skip();
#endif
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__periodic *periodic = kc__periodic_new(NULL);
    kc__mem_trimmer *trimmer = kc__mem_trimmer_new(periodic, 10 * KC_MILLISECOND, metrics);
    char *kept[BLOCKS];
    make_holes(kept);
    size_t before = resident();
    assert_int_equal(kc__periodic_start(periodic, "test", NULL), 0); /* Not before the holes. */
    for (int i = 0; i < 1000 && resident() + (size_t)BLOCKS * SIZE / 2 > before; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_true(resident() + (size_t)BLOCKS * SIZE / 2 < before);
    free_all(kept);
    assert_null(kc__periodic_free(periodic));
    assert_null(kc__mem_trimmer_free(trimmer));
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "memory_trims_total ");
}

/* Allocates blocks from the top of the heap and frees them. Returns whether the heap shrank. */
static bool heap_shrinks_after(size_t n_blocks)
{
    enum { BLOCK = 100 * 1024, MOST = 32 };
    char *blocks[MOST];
    assert_true(n_blocks <= MOST);
    for (size_t i = 0; i < n_blocks; i++)
        blocks[i] = memset(kc_alloc(BLOCK), 'x', BLOCK);
    const char *end = sbrk(0);
    for (size_t i = n_blocks; i-- > 0;)
        free(blocks[i]);
    return (const char *)sbrk(0) < end;
}

static void memory_at_the_top_of_a_heap_is_returned_beyond_a_megabyte(void **state)
{
    (void)state;
#if KC__SANITIZED
    skip();
#endif
    kc__periodic *periodic = kc__periodic_new(NULL);
    kc__mem_trimmer *trimmer = kc__mem_trimmer_new(periodic, KC_MINUTE, NULL);
    assert_false(heap_shrinks_after(7));
    assert_true(heap_shrinks_after(25));
    assert_false(heap_shrinks_after(7));
    assert_null(kc__periodic_free(periodic));
    assert_null(kc__mem_trimmer_free(trimmer));
}

TESTS(memory_at_the_top_of_a_heap_is_returned_beyond_a_megabyte,
      freed_memory_between_blocks_in_use_is_returned, trimmer_returns_memory_at_its_interval)
