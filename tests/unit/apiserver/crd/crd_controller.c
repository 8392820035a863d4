/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller.c: the CRD controller over a store, with a publisher that records its calls. No
 * server.
 */
#include "apiserver/crd/crd_controller.h"
#include "store_testing.h"

#include "apiserver/kinds/apiextensions/crd_type.h"

#define WAIT (30 * KC_SECOND)

typedef struct fixture {
    stage *s;
    kc__watch_cache *definitions, *robots;
    kc__crd_controller *controller;
    kc_mutex mutex; /* Guards what the publisher records. */
    kc_cond published;
    size_t n, n_publications;
    bool withdraws; /* Of any publication so far. */
    bool fails;     /* The next publication does. */
} fixture;

/* ---- unreachable servers ---- */

static int record(const kc__crd_publication *publication, void *user, kc_error *err)
{
    fixture *f = user;
    int result = 0;
    kc_locked (&f->mutex) {
        f->n_publications++;
        if (f->fails) {
            f->fails = false;
            result = kc_error_set(err, KC_INTERNAL, "the test says so");
        } else {
            f->n = publication->n;
            f->withdraws |= publication->withdraws;
        }
        kc_cond_broadcast(&f->published);
    }
    return result;
}

static kc_object *mark(const kc_object *object, kc_time now)
{
    (void)now;
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("deletionTimestamp"),
                kc_node_str(edit, KC_STR("2026-01-01T00:00:00Z")));
    return kc_edit_freeze(edit, NULL);
}

static void await_resources(fixture *f, size_t n)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), WAIT);
    kc_locked (&f->mutex)
        while (f->n != n && kc_cond_wait_until(&f->published, &f->mutex, kc_clock_real(), deadline))
            ;
    kc_locked (&f->mutex)
        assert_int_equal(f->n, n);
}

/* ---- the store ---- */

static void put_object(fixture *f, kc__watch_cache *cache, const char *key, const char *json)
{
    kc_scoped(attempt) a = {.write = {.cache = cache,
                                      .verb = KC__STORAGE_PUT,
                                      .key = kc_cstr(key),
                                      .expected = KC__STORAGE_ANY,
                                      .object = object_of(json)}};
    attempt_submit(f->s, &a);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
}

/* `metadata` and `mode` are what the tests change. */
static void put_crd(fixture *f, const char *metadata, const char *mode, const char *status)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(
        &json,
        "{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','metadata':{"
        "'name':'robots.x.io','uid':'u',%s},'spec':{'group':'x.io','names':{'plural':'robots',"
        "'singular':'robot','kind':'Robot','listKind':'RobotList'},'scope':'Namespaced','versions'"
        ":[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
        "'properties':{'mode':{'type':'string','default':'%s'}}}}}]}%s}",
        metadata, mode, status);
    put_object(f, f->definitions, "robots.x.io", kc_buf_cstr(&json));
}

/* Waits until an object is stored in which `text` stands; NULL: until it is gone. */
static void await_stored(kc__watch_cache *cache, const char *key, const char *text)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), WAIT);
    for (;;) {
        kc_auto(kc_object) *now = kc__watch_cache_get(cache, kc_cstr(key));
        if (text ? now && kc_str_contains(kc_object_json(now), kc_cstr(text)) : !now)
            return;
        if (kc_clock_now(kc_clock_real()) > deadline)
            fail_msg("%s: %s", key, now ? kc_object_json(now).p : "not stored");
        usleep(1000);
    }
}

/* ---- starting and stopping ---- */

static fixture *fixture_new(void)
{
    fixture *f = kc_new(fixture);
    f->s = stage_new();
    f->definitions = kc__store_watch_cache(
        f->s->store, KC_STR("/registry/apiextensions.k8s.io/customresourcedefinitions/"));
    f->robots = kc__store_watch_cache(f->s->store, KC_STR("/registry/x.io/robots/"));
    kc_mutex_init(&f->mutex);
    kc_cond_init(&f->published);
    return f;
}

static void start(fixture *f)
{
    f->controller = kc__crd_controller_start(&(kc__crd_controller_opts){.store = f->s->store,
                                                                        .clock = kc_clock_real(),
                                                                        .publish = record,
                                                                        .mark_deleted = mark,
                                                                        .user = f},
                                             NULL);
    assert_non_null(f->controller);
}

static fixture *fixture_free(fixture *f)
{
    if (f->controller)
        kc__crd_controller_stop(f->controller);
    stage_close(f->s);
    kc__crd_controller_free(f->controller);
    stage_free(f->s);
    kc_cond_done(&f->published);
    kc_mutex_done(&f->mutex);
    free(f);
    return NULL;
}
KC_AUTO_DEFINE(fixture, fixture_free)

/* ---- tests ---- */

static void stored_crd_is_published_when_start_returns(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    put_crd(f, "'generation':1", "slow", "");
    start(f);
    kc_locked (&f->mutex) {
        assert_int_equal(f->n_publications, 1);
        assert_int_equal(f->n, 1);
        assert_false(f->withdraws);
    }
}

static void new_crd_is_published_and_established(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    start(f);
    put_crd(f, "'generation':1", "slow", "");
    await_resources(f, 1);
    await_stored(f->definitions, "robots.x.io", "\"type\":\"Established\",\"status\":\"True\"");
}

#define TERMINATING                                                            \
    "'generation':2,'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':[" \
    "'customresourcecleanup.apiextensions.k8s.io']"
#define ESTABLISHED                                                                               \
    ",'status':{'acceptedNames':{'plural':'robots','singular':'robot','kind':'Robot','listKind':" \
    "'RobotList'},'conditions':[{'type':'NamesAccepted','status':'True'},{'type':'Established',"  \
    "'status':'True'}]}"

static void changed_schema_withdraws_the_old_resource(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    put_crd(f, "'generation':1", "slow", "");
    start(f);
    await_stored(f->definitions, "robots.x.io", "\"Established\"");
    put_crd(f, "'generation':2", "fast", ESTABLISHED);
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), WAIT);
    kc_locked (&f->mutex) {
        while (!f->withdraws &&
               kc_cond_wait_until(&f->published, &f->mutex, kc_clock_real(), deadline))
            ;
        assert_true(f->withdraws);
        assert_int_equal(f->n, 1);
    }
}

static void deleted_crd_deletes_its_objects(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    put_crd(f, "'generation':1", "slow", "");
    start(f);
    await_stored(f->definitions, "robots.x.io", "\"Established\"");
    put_object(f, f->robots, "default/r", "{'metadata':{'name':'r','namespace':'default'}}");
    put_crd(f, TERMINATING, "slow", ESTABLISHED);
    await_stored(f->robots, "default/r", NULL);
    await_stored(f->definitions, "robots.x.io", NULL);
    await_resources(f, 0);
    kc_locked (&f->mutex)
        assert_true(f->withdraws);
}

static void object_with_finalizer_keeps_terminating_crd(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    put_crd(f, "'generation':1", "slow", "");
    start(f);
    await_stored(f->definitions, "robots.x.io", "\"Established\"");
    put_object(f, f->robots, "default/r",
               "{'metadata':{'name':'r','namespace':'default','finalizers':['x.io/stay']}}");
    put_crd(f, TERMINATING, "slow", ESTABLISHED);
    await_stored(f->robots, "default/r", "deletionTimestamp");
    await_stored(f->definitions, "robots.x.io", "InstanceDeletionInProgress");
    await_resources(f, 1);
}

static void failed_publication_is_retried_with_the_next_change(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    f->fails = true;
    put_crd(f, "'generation':1", "slow", "");
    start(f);
    kc_locked (&f->mutex) {
        assert_int_equal(f->n_publications, 1);
        assert_int_equal(f->n, 0);
    }
    put_crd(f, "'generation':2", "fast", "");
    await_resources(f, 1);
}

TESTS(stored_crd_is_published_when_start_returns, new_crd_is_published_and_established,
      changed_schema_withdraws_the_old_resource, deleted_crd_deletes_its_objects,
      object_with_finalizer_keeps_terminating_crd,
      failed_publication_is_retried_with_the_next_change)
