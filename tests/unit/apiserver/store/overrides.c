/* SPDX-License-Identifier: Apache-2.0 */
/* A resource that is in another storage than the others. */
#include "shared_plane.h"

static const kc_str elsewhere[] = {KC_STR_INIT("/registry/configmaps/")};

typedef struct override_plane {
    shared_storage one, other;
    kc__store_override override;
    stage *s;
} override_plane;

static void open_plane(override_plane *p)
{
    p->override = (kc__store_override){
        .storage = shared_open(&p->other), .prefixes = elsewhere, .n_prefixes = 1};
    p->s = server_over(&p->one, &(kc__store_opts){.overrides = &p->override, .n_overrides = 1});
}

static override_plane *plane_new(void)
{
    override_plane *p = kc_new(override_plane);
    shared_storage_init(&p->one);
    shared_storage_init(&p->other);
    open_plane(p);
    return p;
}

static override_plane *plane_free(override_plane *p)
{
    stage_leave(p->s);
    shared_storage_done(&p->one);
    shared_storage_done(&p->other);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(override_plane, plane_free)

static uint64_t put_map(stage *s, const char *key, const char *value)
{
    kc_scoped(attempt) a = try_write(s, s->maps, key, KC__STORAGE_ANY, value);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    return kc_object_revision(a.write.result);
}

static bool has_key(shared_storage *all, const char *key)
{
    uint64_t revision = 0;
    kc__storage_get(all->inner, kc_cstr(key), NULL, &revision, NULL);
    return revision > 0;
}

static void object_is_stored_in_the_storage_of_its_resource_only(void **state)
{
    (void)state;
    kc_auto(override_plane) *p = plane_new();
    put(p->s, "a", "1");
    put(p->s, "a", "2");
    put_map(p->s, "m", "1");
    assert_true(has_key(&p->one, "/registry/pods/a"));
    assert_false(has_key(&p->one, "/registry/configmaps/m"));
    assert_true(has_key(&p->other, "/registry/configmaps/m"));
    assert_false(has_key(&p->other, "/registry/pods/a"));
}

static void each_storage_has_its_own_revision(void **state)
{
    (void)state;
    kc_auto(override_plane) *p = plane_new();
    put(p->s, "a", "1");
    put(p->s, "a", "2");
    assert_int_equal(put_map(p->s, "m", "1"), 2);
    assert_int_equal(kc__watch_cache_revision(p->s->pods), 3);
    assert_int_equal(kc__watch_cache_revision(p->s->maps), 2);
    assert_true(kc__store_is_elsewhere(p->s->store, p->s->maps));
    assert_false(kc__store_is_elsewhere(p->s->store, p->s->pods));
}

static void watches_and_syncs_follow_the_other_storage(void **state)
{
    (void)state;
    kc_auto(override_plane) *p = plane_new();
    put_map(p->s, "m", "1");
    put(p->s, "a", "1");
    put_map(p->s, "m", "2");
    sync_store(p->s, kc__watch_cache_store(p->s->maps));
    expect_watch(p->s, p->s->maps, 1, "ADDED m@2 MODIFIED m@3 ", KC__STORE_WATCH_EMPTY);
    expect_watch(p->s, p->s->pods, 1, "ADDED a@2 ", KC__STORE_WATCH_EMPTY);
}

static void store_raw(shared_storage *all, const char *key, const char *value)
{
    const kc__storage_op op = {.verb = KC__STORAGE_PUT,
                               .key = kc_cstr(key),
                               .expected = KC__STORAGE_ANY,
                               .value = kc_cstr(value)};
    kc__storage_result result = {0};
    kc_locked (&all->mutex) {
        assert_int_equal(kc__storage_commit(all->inner, &op, 1, &result, NULL, NULL), 0);
        shared_wake_all(all);
    }
}

static void keys_in_the_wrong_storage_are_ignored(void **state)
{
    (void)state;
    kc_auto(override_plane) *p = plane_new();
    store_raw(&p->one, "/registry/configmaps/left-behind", "{\"data\":\"1\"}");
    store_raw(&p->other, "/registry/pods/foreign", "{\"data\":\"1\"}");
    put(p->s, "a", "1");
    put_map(p->s, "m", "1");
    expect_now(p->s->pods, "a=1@3 ");
    expect_now(p->s->maps, "m=1@3 ");
    stage_leave(p->s);
    open_plane(p);
    expect_now(p->s->pods, "a=1@3 ");
    expect_now(p->s->maps, "m=1@3 ");
}

static bool is_healthy(stage *s)
{
    kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    return kc__store_health(s->store, NULL) == 0;
}

static void server_is_unhealthy_while_the_other_storage_is_down(void **state)
{
    (void)state;
    kc_auto(override_plane) *p = plane_new();
    const int64_t end = kc_clock_deadline(kc_clock_real(), 30 * KC_SECOND);
    assert_true(is_healthy(p->s));
    kc_locked (&p->other.mutex)
        p->other.down = true;
    while (is_healthy(p->s) && kc_clock_now(kc_clock_real()) < end) {
    }
    assert_false(is_healthy(p->s));
    put(p->s, "a", "1");
}

TESTS(object_is_stored_in_the_storage_of_its_resource_only, each_storage_has_its_own_revision,
      watches_and_syncs_follow_the_other_storage, keys_in_the_wrong_storage_are_ignored,
      server_is_unhealthy_while_the_other_storage_is_down)
