/* SPDX-License-Identifier: Apache-2.0 */
/* Adoption: orphans that match are adopted, objects that stop matching are released. */
#include "workload_testing.h"

#include "common/adoption.h"

#define SET &kc_kind_replica_set
#define POD &kc_kind_pod

/* An owner as a cache may have it, and an orphan that it selects. */
typedef struct fixture {
    kc_testenv *env;
    kc_object *owner, *child;
    kc_selector *selector;
} fixture;

static kc_object *pod_labelled(kc_testenv *env, const char *app)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'child','namespace':'default','labels':"
        "{'app':'%s'}},'spec':{'containers':[{'name':'c','image':'i'}]}}",
        app);
    return make(env, json);
}

static fixture fixture_with_pod(const char *app)
{
    fixture h = {.env = plane(1)};
    make_set(h.env, "web", 0);
    h.owner = look_up(h.env, SET, "web");
    h.child = pod_labelled(h.env, app);
    h.selector = kc_selector_parse(KC_STR("app=web"), NULL);
    return h;
}

static void fixture_done(fixture *h)
{
    kc_selector_free(h->selector);
    kc_object_unref(h->child);
    kc_object_unref(h->owner);
    kc_testenv_stop(h->env);
}

static int claim(fixture *h, bool *ret_ours, kc_error *err)
{
    kc_scoped(kc__common_claims) claims = {.client = kc_testenv_client(h->env),
                                           .owner = h->owner,
                                           .owner_kind = SET,
                                           .selector = h->selector};
    return kc__common_claim(&claims, POD, h->child, ret_ours, err);
}

static bool is_owned(fixture *h)
{
    kc_auto(kc_object) *child = look_up(h->env, POD, "child");
    return kc_object_controlled_by(child, kc_object_uid(h->owner));
}

static void refresh(fixture *h)
{
    kc_object_unref(h->child);
    h->child = look_up(h->env, POD, "child");
}

static void matching_orphan_is_adopted(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    bool ours = false;
    assert_int_equal(claim(&h, &ours, NULL), 0);
    assert_true(ours);
    assert_true(is_owned(&h));
    kc_auto(kc_object) *child = look_up(h.env, POD, "child");
    assert_contains(kc_object_owners_json(child).p, "\"blockOwnerDeletion\":true");
    assert_contains(kc_object_owners_json(child).p, "\"controller\":true");
    assert_int_equal(claim(&h, &ours, NULL), 0); /* Once more, from the same old list. */
    assert_true(ours);
}

static void orphan_that_does_not_match_is_unchanged(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("db");
    bool ours = true;
    assert_int_equal(claim(&h, &ours, NULL), 0);
    assert_false(ours);
    assert_false(is_owned(&h));
}

static void terminating_owner_does_not_adopt(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    kc_scoped(kc_error) err = {0};
    bool ours = false;
    kc_client_delete(kc_testenv_client(h.env), SET, KC_KEY("default", "web"),
                     &(kc_delete_opts){.propagation = "Foreground"}, NULL);
    assert_true(claim(&h, &ours, &err) < 0);
    assert_contains(kc_error_text(&err), "can't adopt Pod default/child");
    assert_contains(kc_error_text(&err), "default/web has just been deleted at");
    assert_false(is_owned(&h));
}

static void recreated_owner_with_same_name_does_not_adopt(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    kc_scoped(kc_error) err = {0};
    bool ours = false;
    kc_client_delete(kc_testenv_client(h.env), SET, KC_KEY("default", "web"), NULL, NULL);
    make_set(h.env, "web", 0);
    assert_true(claim(&h, &ours, &err) < 0);
    assert_contains(kc_error_text(&err), "original ReplicaSet default/web is gone: got uid");
    assert_false(is_owned(&h));
}

static void deleted_orphan_is_not_claimed(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    bool ours = true;
    kc_client_delete(kc_testenv_client(h.env), POD, KC_KEY("default", "child"), NULL, NULL);
    assert_int_equal(claim(&h, &ours, NULL), 0);
    assert_false(ours);
}

static void another_orphan_of_the_same_name_is_not_adopted(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    bool ours = false;
    kc_client_delete(kc_testenv_client(h.env), POD, KC_KEY("default", "child"), NULL, NULL);
    kc_auto(kc_object) *other = pod_labelled(h.env, "web");
    assert_true(claim(&h, &ours, NULL) < 0 || !ours);
    assert_false(is_owned(&h));
}

static void object_that_stops_matching_is_released(void **state)
{
    (void)state;
    kc_scoped(fixture) h = fixture_with_pod("web");
    bool ours;
    assert_int_equal(claim(&h, &ours, NULL), 0);
    patch_with(h.env, POD, KC_STR("child"), NULL, "{'metadata':{'labels':{'app':'debug'}}}");
    refresh(&h);
    assert_int_equal(claim(&h, &ours, NULL), 0);
    assert_false(ours);
    assert_false(is_owned(&h));
    assert_int_equal(claim(&h, &ours, NULL), 0); /* Once more, from the same old list. */
}

TESTS(matching_orphan_is_adopted, orphan_that_does_not_match_is_unchanged,
      terminating_owner_does_not_adopt, recreated_owner_with_same_name_does_not_adopt,
      deleted_orphan_is_not_claimed, another_orphan_of_the_same_name_is_not_adopted,
      object_that_stops_matching_is_released)
