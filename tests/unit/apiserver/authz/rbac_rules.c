/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of roles: what they match, and what they cover. */
#include "apiserver/authz/rbac_rules.h"
#include "testing.h"

/* A view of text in which ' stands for ". */
static kc__rbac_rules *rules_of(const char *text)
{
    kc_autofree char *json = kc_strdup(text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    assert_non_null(view);
    return kc__rbac_rules_new(kc_view_root(view));
}

static bool allows(const char *rules, kc__authz_attributes a)
{
    kc_auto(kc__rbac_rules) *compiled = rules_of(rules);
    return kc__rbac_rules_allow(compiled, &a);
}

#define RESOURCE(v, g, r, s, n)                                                            \
    (kc__authz_attributes)                                                                 \
    {                                                                                      \
        .is_resource = true, .verb = KC_STR(v), .group = KC_STR(g), .resource = KC_STR(r), \
        .subresource = KC_STR(s), .name = KC_STR(n)                                        \
    }
#define PATH(v, p)                           \
    (kc__authz_attributes)                   \
    {                                        \
        .verb = KC_STR(v), .path = KC_STR(p) \
    }

#define PODS "[{'verbs':['get','list'],'apiGroups':[''],'resources':['pods','pods/log']}]"

static void rule_matches_verb_group_and_resource(void **state)
{
    (void)state;
    assert_true(allows(PODS, RESOURCE("get", "", "pods", "", "a")));
    assert_true(allows(PODS, RESOURCE("get", "", "pods", "log", "a")));
    assert_false(allows(PODS, RESOURCE("delete", "", "pods", "", "a")));
    assert_false(allows(PODS, RESOURCE("get", "apps", "pods", "", "a")));
    assert_false(allows(PODS, RESOURCE("get", "", "pods", "status", "a")));
    assert_false(allows(PODS, RESOURCE("get", "", "secrets", "", "a")));
    assert_false(allows("[]", RESOURCE("get", "", "pods", "", "a")));
}

static void star_matches_every_verb_group_and_resource(void **state)
{
    (void)state;
    const char *all = "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]";
    assert_true(allows(all, RESOURCE("get", "", "pods", "", "")));
    assert_true(allows(all, RESOURCE("patch", "apps", "deployments", "scale", "x")));
    assert_false(allows(all, PATH("get", "/healthz")));
}

static void star_before_subresource_matches_it_for_every_resource(void **state)
{
    (void)state;
    const char *scale = "[{'verbs':['get'],'apiGroups':['apps'],'resources':['*/scale']}]";
    assert_true(allows(scale, RESOURCE("get", "apps", "deployments", "scale", "")));
    assert_false(allows(scale, RESOURCE("get", "apps", "deployments", "", "")));
    assert_false(allows(scale, RESOURCE("get", "apps", "deployments", "status", "")));
    assert_false(allows("[{'verbs':['get'],'apiGroups':[''],'resources':['pods/*']}]",
                        RESOURCE("get", "", "pods", "log", "")));
}

static void resource_names_limit_the_rule(void **state)
{
    (void)state;
    const char *named = "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],"
                        "'resourceNames':['a','*']}]";
    assert_true(allows(named, RESOURCE("get", "", "pods", "", "a")));
    assert_false(allows(named, RESOURCE("get", "", "pods", "", "b")));
    assert_false(allows(named, RESOURCE("get", "", "pods", "", "")));
}

static void url_pattern_may_end_in_star(void **state)
{
    (void)state;
    const char *urls = "[{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*']}]";
    assert_true(allows(urls, PATH("get", "/healthz")));
    assert_true(allows(urls, PATH("get", "/apis/")));
    assert_true(allows(urls, PATH("get", "/apis/apps")));
    assert_false(allows(urls, PATH("get", "/apis")));
    assert_false(allows(urls, PATH("post", "/healthz")));
    assert_false(allows(urls, PATH("get", "/healthz/x")));
    assert_false(allows(urls, RESOURCE("get", "", "pods", "", "")));
    assert_true(allows("[{'verbs':['*'],'nonResourceURLs':['*']}]", PATH("put", "/x")));
}

/* ---- covering ---- */

/* The number of parts of `servant` that `owner` does not cover. */
static size_t uncovered(const char *owner, const char *servant)
{
    kc_auto(kc__rbac_rules) *owned = rules_of(owner), *wanted = rules_of(servant);
    kc__rbac_rule_list parts = {0};
    size_t n = 0;
    for (size_t i = 0; i < wanted->n; i++)
        assert_true(kc__rbac_rule_split(&wanted->items[i], 1000, &parts));
    kc_vec_each (&parts, part) {
        bool covered = false;
        for (size_t i = 0; i < owned->n && !covered; i++)
            covered = kc__rbac_rule_covers(&owned->items[i], part);
        n += !covered;
    }
    kc_vec_done(&parts);
    return n;
}

static void rules_cover_parts_that_they_allow(void **state)
{
    (void)state;
    assert_int_equal(uncovered(PODS, PODS), 0);
    assert_int_equal(uncovered("[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]", PODS), 0);
    assert_int_equal(uncovered(PODS, "[{'verbs':['get','delete'],'apiGroups':['','apps'],"
                                     "'resources':['pods']}]"),
                     3);
    assert_int_equal(uncovered(PODS, "[{'verbs':['*'],'apiGroups':[''],'resources':['pods']}]"), 1);
    assert_int_equal(uncovered("[{'verbs':['get'],'apiGroups':[''],'resources':['*/log']}]",
                               "[{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}]"),
                     0);
}

static void named_rule_covers_the_same_names_only(void **state)
{
    (void)state;
    const char *named = "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],"
                        "'resourceNames':['a']}]";
    assert_int_equal(uncovered(named, named), 0);
    assert_int_equal(uncovered(PODS, named), 0);
    assert_int_equal(uncovered(named, "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]"),
                     1);
}

static void url_pattern_covers_longer_patterns(void **state)
{
    (void)state;
    const char *apis = "[{'verbs':['get'],'nonResourceURLs':['/apis/*']}]";
    assert_int_equal(
        uncovered(apis, "[{'verbs':['get'],'nonResourceURLs':['/apis/apps','/apis/a*']}]"), 0);
    assert_int_equal(uncovered(apis, "[{'verbs':['get'],'nonResourceURLs':['/api/*']}]"), 1);
}

static void split_stops_at_its_limit(void **state)
{
    (void)state;
    kc_auto(kc__rbac_rules) *rules = rules_of(
        "[{'verbs':['a','b','c'],'apiGroups':['','x'],'resources':['p','q'],'resourceNames':"
        "['1','2']}]");
    kc__rbac_rule_list parts = {0};
    assert_true(kc__rbac_rule_split(&rules->items[0], 24, &parts));
    assert_int_equal(parts.n, 24);
    kc_vec_clear(&parts);
    assert_false(kc__rbac_rule_split(&rules->items[0], 23, &parts));
    kc_vec_done(&parts);
}

TESTS(rule_matches_verb_group_and_resource, star_matches_every_verb_group_and_resource,
      star_before_subresource_matches_it_for_every_resource, resource_names_limit_the_rule,
      url_pattern_may_end_in_star, rules_cover_parts_that_they_allow,
      named_rule_covers_the_same_names_only, url_pattern_covers_longer_patterns,
      split_stops_at_its_limit)
