/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cache/object_store.h"
#include "testing.h"

#include <stdio.h>

#include "kc/meta.h"
#include "kc/rand.h"

static const kc_str SPEC = KC_STR_INIT("spec.node");

static kc_object *pod(const char *ns, const char *name, const char *node, unsigned revision)
{
    kc_autofree char *text =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'%s',"
                    "'resourceVersion':'%u'},'spec':{'node':'%s'}}",
                    name, ns, revision, node);
    return object_of(text);
}

typedef struct fixture {
    kc__cache_store store;
    kc_path *path;
    kc__index_values before, after;
} fixture;

static fixture *fixture_new(void)
{
    fixture *f = kc_new(fixture);
    f->path = kc_path_parse(SPEC, NULL);
    kc__cache_store_init(
        &f->store, 1,
        (kc__index_def[]){kc__index_namespace, {.name = "spec.node", .path = f->path}}, 2);
    return f;
}

static void fixture_free(fixture *f)
{
    kc__cache_store_done(&f->store);
    kc_path_free(f->path);
    kc__index_values_done(&f->before);
    kc__index_values_done(&f->after);
    free(f);
}

/* Whether it was there before. */
static bool put(fixture *f, kc_object *object)
{
    kc__cache_store_values(&f->store, kc__cache_store_get(&f->store, kc_object_key(object)),
                           &f->before);
    kc__cache_store_values(&f->store, object, &f->after);
    kc_auto(kc_object) *old = kc__cache_store_put(&f->store, object, &f->before, &f->after);
    return old != NULL;
}

static bool drop(fixture *f, const char *ns, const char *name)
{
    kc__cache_store_values(&f->store, kc__cache_store_get(&f->store, KC_KEY(ns, name)), &f->before);
    kc_auto(kc_object) *old = kc__cache_store_remove(&f->store, KC_KEY(ns, name), &f->before);
    return old != NULL;
}

static size_t count_under(const fixture *f, const char *index, const char *value)
{
    kc__index_id_vec ids = {0};
    kc__index_ids(kc__cache_store_index(&f->store, kc_cstr(index)), kc_cstr(value), &ids);
    const size_t n = ids.n;
    kc_vec_done(&ids);
    return n;
}

static void stored_object_is_found_by_key(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    assert_false(put(f, pod("a", "web", "n1", 1)));
    assert_false(put(f, pod("b", "web", "n1", 2)));
    assert_int_equal(f->store.n, 2);
    assert_int_equal(kc_object_revision(kc__cache_store_get(&f->store, KC_KEY("a", "web"))), 1);
    assert_int_equal(kc_object_revision(kc__cache_store_get(&f->store, KC_KEY("b", "web"))), 2);
    assert_null(kc__cache_store_get(&f->store, KC_KEY("c", "web")));
    assert_null(kc__cache_store_get(&f->store, KC_KEY("", "a/web")));
    fixture_free(f);
}

static void put_of_existing_key_replaces_the_object(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    put(f, pod("a", "web", "n1", 1));
    assert_true(put(f, pod("a", "web", "n1", 5)));
    assert_int_equal(f->store.n, 1);
    assert_int_equal(kc_object_revision(kc__cache_store_get(&f->store, KC_KEY("a", "web"))), 5);
    fixture_free(f);
}

static void removal_of_absent_key_returns_nothing(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    assert_false(drop(f, "a", "web"));
    put(f, pod("a", "web", "n1", 1));
    assert_true(drop(f, "a", "web"));
    assert_false(drop(f, "a", "web"));
    assert_int_equal(f->store.n, 0);
    fixture_free(f);
}

static void indexes_follow_object_values(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    put(f, pod("a", "one", "n1", 1));
    put(f, pod("a", "two", "n1", 2));
    put(f, pod("b", "one", "n2", 3));
    assert_int_equal(count_under(f, "spec.node", "n1"), 2);
    assert_int_equal(count_under(f, "metadata.namespace", "a"), 2);
    put(f, pod("a", "two", "n2", 4));
    assert_int_equal(count_under(f, "spec.node", "n1"), 1);
    assert_int_equal(count_under(f, "spec.node", "n2"), 2);
    drop(f, "a", "one");
    assert_int_equal(count_under(f, "spec.node", "n1"), 0);
    assert_int_equal(count_under(f, "metadata.namespace", "a"), 1);
    assert_null(kc__cache_store_index(&f->store, KC_STR("spec.none")));
    fixture_free(f);
}

static void snapshot_is_immutable(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    char name[16];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        put(f, pod("a", name, "n1", i + 1));
    }
    kc_auto(kc__cache_pages) *then = kc__cache_store_snapshot(&f->store);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        if (i % 2)
            drop(f, "a", name);
        else
            put(f, pod("a", name, "n2", 5000));
    }
    assert_int_equal(f->store.n, 500);
    assert_int_equal(then->n, 1000);
    for (uint32_t id = 0; id < then->n; id++)
        assert_int_equal(kc_object_revision(kc__cache_pages_at(then, id)), id + 1);
    fixture_free(f);
}

static void list_sweeps_unmarked_objects(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    put(f, pod("a", "stays", "n1", 1));
    put(f, pod("a", "goes", "n1", 2));
    put(f, pod("b", "elsewhere", "n1", 3));
    kc__cache_store_unmark(&f->store, KC_STR("a"));
    put(f, pod("a", "stays", "n1", 1));
    put(f, pod("a", "comes", "n1", 4));
    kc__cache_object_vec gone = {0};
    kc__cache_store_unmarked(&f->store, KC_STR("a"), &gone);
    assert_int_equal(gone.n, 1);
    assert_str(kc_object_name(gone.items[0]), "goes");
    kc_object_unref(gone.items[0]);
    kc_vec_done(&gone);
    fixture_free(f);
}

/* A table of what should be there, by number. */
enum { NAMES = 700, STEPS = 20000 };

static void check_agrees(const fixture *f, const unsigned *expected)
{
    char name[16];
    size_t n = 0;
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        const kc_object *object = kc__cache_store_get(&f->store, KC_KEY("a", name));
        assert_int_equal(object ? kc_object_revision(object) : 0, expected[i]);
        n += object != NULL;
    }
    assert_int_equal(f->store.n, n);
    assert_int_equal(count_under(f, "metadata.namespace", "a"), n);
    assert_int_equal(count_under(f, "spec.node", "n0") + count_under(f, "spec.node", "n1") +
                         count_under(f, "spec.node", "n2"),
                     n);
}

static void random_changes_keep_objects_and_indexes_consistent(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    unsigned expected[NAMES] = {0};
    for (unsigned step = 1; step <= STEPS; step++) {
        const unsigned i = (unsigned)kc_rand_below(&rand, NAMES);
        char name[16], node[16];
        snprintf(name, sizeof(name), "p%u", i);
        snprintf(node, sizeof(node), "n%u", (unsigned)kc_rand_below(&rand, 3));
        if (kc_rand_below(&rand, 3)) {
            assert_int_equal(put(f, pod("a", name, node, step)), expected[i] != 0);
            expected[i] = step;
        } else {
            assert_int_equal(drop(f, "a", name), expected[i] != 0);
            expected[i] = 0;
        }
        if (step % 5000 == 0)
            check_agrees(f, expected);
    }
    fixture_free(f);
}

TESTS(stored_object_is_found_by_key, put_of_existing_key_replaces_the_object,
      removal_of_absent_key_returns_nothing, indexes_follow_object_values, snapshot_is_immutable,
      list_sweeps_unmarked_objects, random_changes_keep_objects_and_indexes_consistent)
