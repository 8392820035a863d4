/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_trim.c: returns free heap memory to the system.
 *
 * By itself glibc returns memory only from the top of a heap; after a burst of requests, free pages
 * between live blocks stay resident. malloc_trim returns them, but walks over the free blocks with
 * the heap locked. So it runs rarely, beside the requests, and only when it is worthwhile:
 *
 *     resident anonymous memory - memory in use = what malloc_trim can return, approximately
 *
 * malloc_trim does not shrink the top of each thread's heap. The top shrinks when memory is freed
 * and it exceeds a threshold, which glibc raises up to 64 MiB after large blocks were freed; so
 * both thresholds are fixed here. A thread that commits batches of objects frees up to a megabyte
 * at once and soon needs it again: below that, each page would be returned and faulted in anew for
 * every batch.
 *
 * No effect with other C libraries.
 */
#include "base/mem_trim.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#define WORTH_IT ((size_t)2 << 20)

enum {
    MMAP_THRESHOLD = 1 << 20, /* Larger blocks are separate mappings. */
    TRIM_THRESHOLD = 1 << 20, /* Maximum free memory at the top of a heap. */
};

struct kc__mem_trimmer {
    kc_counter *trims;
};

#ifdef __GLIBC__

/* Resident pages not backed by files, in bytes; 0 when unknown. */
static size_t resident(void)
{
    size_t total = 0, pages = 0, shared = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm)
        return 0;
    int n = fscanf(statm, "%zu %zu %zu", &total, &pages, &shared);
    fclose(statm);
    return n == 3 && pages > shared ? (pages - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static void fix_thresholds(void)
{
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD);
}

bool kc_mem_trim(size_t at_least)
{
    const struct mallinfo2 info = mallinfo2();
    const size_t used = info.uordblks + info.hblkhd, all = resident();
    if (all < used || all - used < at_least)
        return false;
    malloc_trim(0);
    return true;
}

#else

static void fix_thresholds(void)
{
}

bool kc_mem_trim(size_t at_least)
{
    (void)at_least;
    return false;
}

#endif

static void trim_if_worthwhile(void *user)
{
    kc__mem_trimmer *t = user;
    if (kc_mem_trim(WORTH_IT))
        kc_counter_inc(t->trims);
}

kc__mem_trimmer *kc__mem_trimmer_new(kc__periodic *periodic, int64_t interval, kc_metrics *metrics)
{
    kc__mem_trimmer *t = kc_new(kc__mem_trimmer);
    fix_thresholds();
    if (metrics)
        t->trims = kc_metric_counter(kc_metrics_counter(
            metrics,
            &(kc_metric_opts){.name = "memory_trims_total",
                              .help =
                                  "Number of times free heap memory was returned to the system."},
            NULL));
    kc__periodic_add(periodic, interval, trim_if_worthwhile, t);
    return t;
}

kc__mem_trimmer *kc__mem_trimmer_free(kc__mem_trimmer *t)
{
    free(t);
    return NULL;
}
