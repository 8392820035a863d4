/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/kind.h"
#include "testing.h"

static void api_version_is_split_at_slash(void **state)
{
    (void)state;
    static const char *const table[][3] = {
        {"apps/v1", "apps", "v1"},
        {"v1", "", "v1"},
        {"", "", ""},
        {"/", "", ""},
        {"/v1", "", "v1"},
        {"robot.llleon.io/v1beta1", "robot.llleon.io", "v1beta1"},
        {"apps/", "apps", ""},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_str group, version;
        assert_int_equal(kc_api_version_parse(kc_cstr(table[i][0]), &group, &version, NULL), 0);
        assert_str(group, table[i][1]);
        assert_str(version, table[i][2]);
    }
    kc_scoped(kc_error) err = {0};
    kc_str group = KC_STR("untouched"), version = group;
    assert_int_equal(kc_api_version_parse(KC_STR("a/b/c"), &group, &version, &err),
                     -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "unexpected GroupVersion string: a/b/c");
    assert_str(group, "untouched");
}

static void core_group_is_not_written(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_api_version_write(&out, KC_STR("apps"), KC_STR("v1"));
    assert_str(kc_buf_str(&out), "apps/v1");
    kc_buf_clear(&out);
    kc_api_version_write(&out, KC_STR(""), KC_STR("v1"));
    assert_str(kc_buf_str(&out), "v1");
}

static void gvk_of_object_is_read(void **state)
{
    (void)state;
    kc_auto(kc_object) *o = object_of("{'apiVersion':'apps/v1','kind':'Deployment'}");
    kc_gvk gvk = kc_object_gvk(o);
    assert_str(gvk.group, "apps");
    assert_str(gvk.version, "v1");
    assert_str(gvk.kind, "Deployment");
    kc_gvk odd = kc_gvk_of(KC_STR("a/b/c"), KC_STR("K"));
    assert_str(odd.group, "");
    assert_str(odd.version, "");
    assert_str(odd.kind, "K");
}

static void kind_converts_to_gvk_and_gvr(void **state)
{
    (void)state;
    static const kc_kind pod_kind = {
        .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true};
    assert_str(kc_kind_gvk(&pod_kind).group, "");
    assert_str(kc_kind_gvk(&pod_kind).kind, "Pod");
    assert_str(kc_kind_gvr(&pod_kind).resource, "pods");
}

static void display_text_matches_kubernetes(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_gvk_write(&out, kc_gvk_of(KC_STR("apps/v1"), KC_STR("Deployment")));
    kc_buf_putc(&out, ';');
    kc_gvk_write(&out, kc_gvk_of(KC_STR("v1"), KC_STR("Pod")));
    kc_buf_putc(&out, ';');
    kc_gvr_write(&out, (kc_gvr){KC_STR("apps"), KC_STR("v1"), KC_STR("deployments")});
    kc_buf_putc(&out, ';');
    kc_group_kind_write(&out, (kc_group_kind){KC_STR("apps"), KC_STR("Deployment")});
    kc_buf_putc(&out, ';');
    kc_group_resource_write(&out, (kc_group_resource){KC_STR(""), KC_STR("pods")});
    assert_str(kc_buf_str(&out), "apps/v1, Kind=Deployment;/v1, Kind=Pod;"
                                 "apps/v1, Resource=deployments;Deployment.apps;pods");
}

static void kinds_compare_by_group_version_and_name(void **state)
{
    (void)state;
    kc_gvk a = kc_gvk_of(KC_STR("apps/v1"), KC_STR("A")),
           b = kc_gvk_of(KC_STR("apps/v1"), KC_STR("B")),
           c = kc_gvk_of(KC_STR("apps/v2"), KC_STR("A")),
           core = kc_gvk_of(KC_STR("v9"), KC_STR("Z"));
    assert_true(kc_gvk_cmp(a, b) < 0);
    assert_true(kc_gvk_cmp(c, b) > 0);
    assert_true(kc_gvk_cmp(core, a) < 0);
    assert_int_equal(kc_gvk_cmp(a, a), 0);
    assert_true(kc_gvk_eq(a, a));
    assert_false(kc_gvk_eq(a, b) || kc_gvk_eq(a, c));
    kc_gvr pods = {KC_STR(""), KC_STR("v1"), KC_STR("pods")},
           jobs = {KC_STR("batch"), KC_STR("v1"), KC_STR("jobs")};
    assert_true(kc_gvr_cmp(pods, jobs) < 0);
    assert_true(kc_gvr_eq(pods, pods) && !kc_gvr_eq(pods, jobs));
    kc_group_kind x = {KC_STR("a"), KC_STR("X")}, y = {KC_STR("a"), KC_STR("Y")};
    assert_true(kc_group_kind_cmp(x, y) < 0);
}

static void versions_are_ordered_by_priority(void **state)
{
    (void)state;
    static const char *const best_first[] = {
        "v11",      "v10",     "v2",        "v1",        "v11beta2",
        "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1",
        "foo10",    "v",       "v1beta",    "v1beta1x",  "v99999999999999999999",
    };
    size_t n = KC_COUNT(best_first);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 9; j++) {
            int order = kc_version_cmp(kc_cstr(best_first[i]), kc_cstr(best_first[j]));
            assert_int_equal((order > 0) - (order < 0), (i < j) - (i > j));
        }
    assert_true(kc_version_cmp(KC_STR("foo1"), KC_STR("foo10")) > 0);
    assert_true(kc_version_cmp(KC_STR("v"), KC_STR("foo10")) < 0);
    assert_true(kc_version_cmp(KC_STR("v1beta"), KC_STR("v1beta1x")) > 0);
    assert_int_equal(kc_version_cmp(KC_STR("v01"), KC_STR("v1")), 0);
    assert_int_equal(kc_version_cmp(KC_STR("x"), KC_STR("x")), 0);
}

static void resource_argument_has_two_readings(void **state)
{
    (void)state;
    kc_resource_arg arg = kc_resource_arg_parse(KC_STR("deployments.v1.apps.example.com"));
    assert_true(arg.has_gvr);
    assert_str(arg.gvr.resource, "deployments");
    assert_str(arg.gvr.version, "v1");
    assert_str(arg.gvr.group, "apps.example.com");
    assert_str(arg.resource.resource, "deployments");
    assert_str(arg.resource.group, "v1.apps.example.com");
    arg = kc_resource_arg_parse(KC_STR("deployments.apps"));
    assert_false(arg.has_gvr);
    assert_str(arg.resource.group, "apps");
    arg = kc_resource_arg_parse(KC_STR("pods"));
    assert_false(arg.has_gvr);
    assert_str(arg.resource.resource, "pods");
    assert_str(arg.resource.group, "");
    /* Two dots suffice, with any text between them. */
    arg = kc_resource_arg_parse(KC_STR("pods.v1."));
    assert_true(arg.has_gvr);
    assert_str(arg.gvr.group, "");
    assert_str(arg.gvr.version, "v1");
}

static void kind_argument_has_two_readings(void **state)
{
    (void)state;
    kc_gvk gvk = {0};
    kc_group_kind kind;
    assert_true(kc_kind_arg_parse(KC_STR("Deployment.v1.apps"), &gvk, &kind));
    assert_str(gvk.kind, "Deployment");
    assert_str(gvk.group, "apps");
    assert_str(kind.group, "v1.apps");
    gvk = (kc_gvk){.kind = KC_STR_INIT("untouched")};
    assert_false(kc_kind_arg_parse(KC_STR("Deployment.apps"), &gvk, &kind));
    assert_str(gvk.kind, "untouched");
    assert_str(kind.kind, "Deployment");
}

static void plural_is_guessed_by_last_letter(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"Pod", "pods"},
        {"Policy", "policies"},
        {"Ingress", "ingresses"},
        {"Endpoints", "endpoints"},
        {"MyEndpoints", "myendpoints"},
        {"StatefulSet", "statefulsets"},
        {"Gateway", "gatewaies"},
        {"Y", "ies"},
        {"", ""},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_buf_puts(&out, "x/");
        kc_guess_plural(&out, kc_cstr(table[i][0]));
        assert_str(kc_str_sub(kc_buf_str(&out), 2, out.n), table[i][1]);
    }
}

TESTS(api_version_is_split_at_slash, core_group_is_not_written, gvk_of_object_is_read,
      kind_converts_to_gvk_and_gvr, display_text_matches_kubernetes,
      kinds_compare_by_group_version_and_name, versions_are_ordered_by_priority,
      resource_argument_has_two_readings, kind_argument_has_two_readings,
      plural_is_guessed_by_last_letter)
