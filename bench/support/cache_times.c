/* SPDX-License-Identifier: Apache-2.0 */
/* cache_times.c: see cache_times.h. */
#include "cache_times.h"

#include "kc/kinds.h"

#include <stdio.h>

enum { ROUNDS = 5 };

void bench_cache_die(const char *what, const kc_error *err)
{
    fprintf(stderr, "bench cache: %s: %s\n", what, kc_error_text(err));
    exit(2);
}

static double seconds_since(int64_t start)
{
    return (double)(kc_clock_now(kc_clock_real()) - start) / (double)KC_SECOND;
}

static int throw_away(kc_object *object, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_object_unref(object);
    return 0;
}

static double time_list(kc_client *client)
{
    kc_scoped(kc_error) err = {0};
    const int64_t start = kc_clock_now(kc_clock_real());
    if (kc_client_list_each(client, &kc_kind_config_map, &(kc_list_opts){.page = -1}, throw_away,
                            NULL, NULL, &err) < 0)
        bench_cache_die("list", &err);
    return seconds_since(start);
}

kc_cache *bench_synced_cache(kc_client *client, bool plain, double *ret_seconds)
{
    kc_scoped(kc_error) err = {0};
    const int64_t start = kc_clock_now(kc_clock_real());
    kc_cache *cache = kc_cache_new(&(kc_cache_opts){.client = client, .plain_lists = plain});
    kc_informer *informer = kc_cache_informer(cache, &kc_kind_config_map, &err);
    if (!informer || kc_cache_start(cache, &err) < 0 ||
        !kc_cache_wait_synced(cache, kc_clock_deadline(kc_clock_real(), KC_MINUTE), NULL))
        bench_cache_die("sync a cache", &err);
    *ret_seconds = seconds_since(start);
    return cache;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *figures)
{
    qsort(figures, ROUNDS, sizeof(double), compare);
    return figures[ROUNDS / 2];
}

void bench_cache_times(const char *how, kc_client *client)
{
    double list[ROUNDS], streamed[ROUNDS], plain[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        list[i] = time_list(client);
        kc_cache_free(bench_synced_cache(client, false, &streamed[i]));
        kc_cache_free(bench_synced_cache(client, true, &plain[i]));
    }
    const double base = median(list);
    printf("%s: list thrown away %.0f ms; to a synced cache: streamed %.0f ms, plain %.0f ms\n",
           how, base * 1e3, median(streamed) * 1e3, median(plain) * 1e3);
    printf("%s: that is %.2f and %.2f of the list\n", how, streamed[ROUNDS / 2] / base,
           plain[ROUNDS / 2] / base);
}
