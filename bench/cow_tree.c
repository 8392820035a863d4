/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_tree.c: the copy-on-write tree with 100,000 objects: what a step of each operation costs, and
 * what an entry takes beside its object. No promises.
 */
#include "bench.h"

#include "apiserver/store/cow_tree.h"
#include "kc/object.h"
#include "kc/rand.h"

#include <assert.h>
#include <malloc.h>
#include <stdio.h>

enum { ENTRIES = 100000, KEY_BYTES = 28 };

typedef struct setup {
    char (*keys)[KEY_BYTES + 1];
    kc_object **objects;
    uint32_t *order; /* A random one. */
    kc__cow_tree *tree;
    kc__cow_snapshot *snapshot;
    size_t next;
} setup;

static size_t random_entry(setup *s)
{
    return s->order[s->next++ % ENTRIES];
}

static void put_entry(setup *s, kc__cow_tree *tree, size_t i)
{
    kc_object_unref(kc__cow_tree_put(tree, kc_str_of(s->keys[i], KEY_BYTES), s->objects[i]));
}

static void get(void *input, size_t times)
{
    setup *s = input;
    while (times--)
        bench_use(
            kc__cow_snapshot_get(s->snapshot, kc_str_of(s->keys[random_entry(s)], KEY_BYTES)));
}

static void count(void *input, size_t times)
{
    setup *s = input;
    while (times--) {
        kc_str key = kc_str_of(s->keys[random_entry(s)], KEY_BYTES);
        kc__cow_range range = {.prefix = kc_str_sub(key, 0, 15), .after = key};
        bench_use(kc__cow_snapshot_count_in(s->snapshot, &range));
    }
}

static void put(void *input, size_t times)
{
    setup *s = input;
    while (times--)
        put_entry(s, s->tree, random_entry(s));
}

static void put_and_publish(void *input, size_t times)
{
    setup *s = input;
    while (times--) {
        put_entry(s, s->tree, random_entry(s));
        kc__cow_tree_publish(s->tree, times);
    }
}

static void take_snapshot(void *input, size_t times)
{
    setup *s = input;
    while (times--)
        kc__cow_snapshot_unref(kc__cow_tree_snapshot(s->tree));
}

static void iterate(void *input, size_t times)
{
    setup *s = input;
    kc__cow_iter it = {0};
    while (times--) {
        if (!kc__cow_iter_next(&it))
            it = kc__cow_iter_start(s->snapshot, NULL);
        bench_use(it.object);
    }
}

/* Loads a tree, in order or not, and prints what an entry took. */
static kc__cow_tree *load(setup *s, bool in_order)
{
    size_t before = mallinfo2().uordblks;
    kc__cow_tree *tree = kc__cow_tree_new();
    for (size_t i = 0; i < ENTRIES; i++)
        put_entry(s, tree, in_order ? i : s->order[i]);
    printf("  %-34s %10.1f bytes an entry\n", in_order ? "loaded in order" : "loaded at random",
           (double)(mallinfo2().uordblks - before) / ENTRIES);
    return tree;
}

/* Keeps a version for each of many changes, and prints what one took. */
static void measure_versions(setup *s)
{
    enum { VERSIONS = 1000 };
    static kc__cow_snapshot *kept[VERSIONS];
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < VERSIONS; i++) {
        put_and_publish(s, 1);
        kept[i] = kc__cow_tree_snapshot(s->tree);
    }
    printf("  %-34s %10.1f bytes\n", "a kept version of one change",
           (double)(mallinfo2().uordblks - before) / VERSIONS);
    for (size_t i = 0; i < VERSIONS; i++)
        kc__cow_snapshot_unref(kept[i]);
}

static void make_entries(setup *s)
{
    s->keys = kc_calloc(ENTRIES, sizeof(*s->keys));
    s->objects = kc_calloc(ENTRIES, sizeof(*s->objects));
    s->order = kc_calloc(ENTRIES, sizeof(*s->order));
    for (size_t i = 0; i < ENTRIES; i++) {
        int n = snprintf(s->keys[i], KEY_BYTES + 1, "namespace-%04zu/web-%09zu", i / 100 % 10000,
                         i % 1000000000);
        assert(n == KEY_BYTES);
        (void)n;
        kc_scoped(kc_buf) json = {0};
        sample_config_map(&json, 1000);
        s->objects[i] = kc_object_parse(kc_str_of(json.p, json.n), NULL, NULL);
        s->order[i] = (uint32_t)i;
    }
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    kc_rand_shuffle(&rand, s->order, ENTRIES, sizeof(*s->order));
}

static void free_entries(setup *s)
{
    for (size_t i = 0; i < ENTRIES; i++)
        kc_object_unref(s->objects[i]);
    free(s->keys);
    free(s->objects);
    free(s->order);
}

int main(void)
{
    setup s = {0};
    make_entries(&s);
    printf("copy-on-write tree: memory of 100,000 keys of %d bytes\n", KEY_BYTES);
    kc__cow_tree_free(load(&s, true));
    s.tree = load(&s, false);
    contestant writing[] = {{"put, changed in place", put}};
    bench_run("copy-on-write tree: loading", writing, KC_COUNT(writing), &s);
    kc__cow_tree_publish(s.tree, 1);
    s.snapshot = kc__cow_tree_snapshot(s.tree);
    contestant reading[] = {{"get", get},
                            {"count after a key in a prefix", count},
                            {"take and drop a snapshot", take_snapshot},
                            {"iterate, a step", iterate},
                            {"put and publish (copies the way)", put_and_publish}};
    bench_run("copy-on-write tree: a published one", reading, KC_COUNT(reading), &s);
    measure_versions(&s);
    kc__cow_snapshot_unref(s.snapshot);
    kc__cow_tree_free(s.tree);
    free_entries(&s);
    return bench_result();
}
