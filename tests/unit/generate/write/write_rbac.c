/* SPDX-License-Identifier: Apache-2.0 */
/* Roles from markers: how rules are merged and sorted, their role, and errors. */
#include "testing.h"

#include "generate/read/read_headers.h"
#include "generate/write/write_rbac.h"

static int keep(const char *name, kc_str text, void *user, kc_error *err)
{
    (void)err;
    assert_string_equal(name, "role.yaml");
    kc_buf_append(user, text);
    return 0;
}

/* The roles of markers, one a line without what stands before their arguments; or the errors. */
static char *roles_with(const char *lines, const kc__gen_rbac_opts *opts)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) source = {0};
    kc_scoped(kc_buf) out = {0};
    for (kc_str rest = kc_cstr(lines); rest.n;) {
        const kc_str line = kc_str_cut(&rest, '\n');
        kc_buf_printf(&source, "/// +kubebuilder:rbac:%.*s\n", KC_ARG(line));
    }
    assert_int_equal(kc__gen_read_project_text(kc_buf_str(&source), "main.c", &model, &err), 0);
    if (kc__gen_write_rbac(&model, opts, keep, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

/* The rules of one ClusterRole, a line each: "groups resources names urls verbs". */
static char *rules_of(const char *lines)
{
    static const char *const lists[] = {
        "apiGroups:", "resources:", "resourceNames:", "nonResourceURLs:", "verbs:"};
    kc_autofree char *yaml = roles_with(lines, &(kc__gen_rbac_opts){0});
    kc_scoped(kc_buf) out = {0};
    kc_str rest = kc_cstr(yaml);
    while (rest.n && !kc_str_is(kc_str_cut(&rest, '\n'), "rules:"))
        ;
    while (rest.n) {
        kc_str line = kc_str_cut(&rest, '\n');
        if (kc_str_starts(line, KC_STR("- ")))
            kc_buf_puts(&out, out.n ? "\n" : "");
        bool is_list = false;
        const kc_str word = kc_str_sub(line, 2, line.n);
        for (size_t i = 0; i < KC_COUNT(lists); i++)
            is_list = is_list || kc_str_is(word, lists[i]);
        if (is_list)
            kc_buf_printf(&out, "%s%.*s", kc_str_starts(line, KC_STR("- ")) ? "" : " ",
                          KC_ARG(word));
        else
            kc_buf_printf(&out, "%.*s;", KC_ARG(kc_str_sub(line, 4, line.n)));
    }
    return kc_buf_take(&out);
}

static void marker_becomes_a_cluster_role(void **state)
{
    (void)state;
    kc_autofree char *yaml = roles_with("groups=apps.example.io,resources=robots,verbs=list;get",
                                        &(kc__gen_rbac_opts){0});
    assert_string_equal(yaml, "---\n"
                              "apiVersion: rbac.authorization.k8s.io/v1\n"
                              "kind: ClusterRole\n"
                              "metadata:\n"
                              "  name: manager-role\n"
                              "rules:\n"
                              "- apiGroups:\n"
                              "  - apps.example.io\n"
                              "  resources:\n"
                              "  - robots\n"
                              "  verbs:\n"
                              "  - get\n"
                              "  - list\n");
}

static void no_marker_writes_nothing(void **state)
{
    (void)state;
    kc_autofree char *yaml = roles_with("", &(kc__gen_rbac_opts){0});
    assert_string_equal(yaml, "");
}

static void role_name_and_header_are_options(void **state)
{
    (void)state;
    kc_autofree char *yaml =
        roles_with("groups=a,resources=u,verbs=get",
                   &(kc__gen_rbac_opts){.role_name = "walker", .header = "# Mine.\n"});
    assert_contains(yaml, "# Mine.\n---\napiVersion: rbac");
    assert_contains(yaml, "  name: walker\n");
}

static const struct merge_case {
    const char *name, *markers, *rules;
} merge_cases[] = {
    {"verbs of the same things are merged, sorted, once each",
     "groups=a,resources=u,verbs=watch;get\ngroups=a,resources=u,verbs=get;create",
     "apiGroups:a; resources:u; verbs:create;get;watch;"},
    {"resources with the same verbs share a rule",
     "groups=a,resources=v,verbs=get\ngroups=a,resources=u,verbs=get",
     "apiGroups:a; resources:u;v; verbs:get;"},
    {"resources with other verbs do not",
     "groups=a,resources=u;v,verbs=get\ngroups=a,resources=v,verbs=list",
     "apiGroups:a; resources:u; verbs:get;\napiGroups:a; resources:v; verbs:get;list;"},
    {"groups with the same resources and verbs share a rule",
     "groups=b,resources=u,verbs=get\ngroups=a,resources=u,verbs=get",
     "apiGroups:a;b; resources:u; verbs:get;"},
    {"groups with other verbs do not",
     "groups=b,resources=u,verbs=get\ngroups=a,resources=u,verbs=list",
     "apiGroups:a; resources:u; verbs:list;\napiGroups:b; resources:u; verbs:get;"},
    {"what becomes the same by merging groups has all its verbs",
     "groups=a,resources=u,verbs=get\ngroups=b,resources=u,verbs=get\n"
     "groups=a;b,resources=u,verbs=list",
     "apiGroups:a;b; resources:u; verbs:get;list;"},
    {"a group twice is once", "groups=a;a,resources=u,verbs=get",
     "apiGroups:a; resources:u; verbs:get;"},
    {"core is the group without a name",
     "groups=core,resources=pods,verbs=get\ngroups=\"\",resources=pods,verbs=list",
     "apiGroups:\"\"; resources:pods; verbs:get;list;"},
    {"names of objects keep rules apart",
     "groups=a,resources=u,verbs=get\ngroups=a,resources=u,resourceNames=two;one,verbs=get",
     "apiGroups:a; resources:u; verbs:get;\n"
     "apiGroups:a; resourceNames:one;two; resources:u; verbs:get;"},
    {"an asterisk is all verbs",
     "groups=a,resources=u,verbs=get;list\ngroups=a,resources=u,verbs=*",
     "apiGroups:a; resources:u; verbs:'*';"},
    {"urls with the same verbs share a rule, which comes first",
     "groups=\"\",resources=u,verbs=get\nurls=/metrics,verbs=get\nurls=/healthz,verbs=get",
     "nonResourceURLs:/healthz;/metrics; verbs:get;\napiGroups:\"\"; resources:u; verbs:get;"},
    {"rules are sorted by groups, then resources",
     "groups=b,resources=a,verbs=get\ngroups=a,resources=z,verbs=list\n"
     "groups=a,resources=v,verbs=watch",
     "apiGroups:a; resources:v; verbs:watch;\napiGroups:a; resources:z; verbs:list;\n"
     "apiGroups:b; resources:a; verbs:get;"},
};

static void rules_are_merged_and_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(merge_cases); i++) {
        kc_autofree char *rules = rules_of(merge_cases[i].markers);
        if (strcmp(rules, merge_cases[i].rules))
            print_message("%s\n", merge_cases[i].name);
        assert_string_equal(rules, merge_cases[i].rules);
    }
}

static void namespace_gets_its_own_role(void **state)
{
    (void)state;
    kc_autofree char *yaml = roles_with("groups=a,resources=u,verbs=get,namespace=zoo\n"
                                        "groups=a,resources=u,verbs=get,namespace=park\n"
                                        "groups=a,resources=u,verbs=get",
                                        &(kc__gen_rbac_opts){0});
    const char *whole = strstr(yaml, "kind: ClusterRole\nmetadata:\n  name: manager-role\nrules");
    const char *park = strstr(yaml, "kind: Role\nmetadata:\n  name: manager-role\n"
                                    "  namespace: park\n");
    const char *zoo = strstr(yaml, "  namespace: zoo\n");
    assert_true(whole && park && zoo && whole < park && park < zoo);
}

static void role_name_of_the_marker_is_used(void **state)
{
    (void)state;
    kc_autofree char *yaml = roles_with("groups=a,resources=u,verbs=get,roleName=reader\n"
                                        "groups=a,resources=v,verbs=get,roleName=reader\n"
                                        "groups=a,resources=z,verbs=get",
                                        &(kc__gen_rbac_opts){0});
    const char *manager = strstr(yaml, "  name: manager-role\n");
    const char *reader = strstr(yaml, "  name: reader\n");
    assert_true(manager && reader && manager < reader);
    assert_contains(reader, "  - u\n  - v\n  verbs");
}

static const struct mistake {
    const char *marker, *error;
} mistakes[] = {
    {"groups=a,verbs=get", "main.c:1:5: '+kubebuilder:rbac' names neither resources nor urls"},
    {"groups=a,resources=u,urls=/y,verbs=get", "names resources and urls"},
    {"resources=u,verbs=get", "names resources but no groups"},
    {"urls=/y,namespace=zoo,verbs=get", "names urls, which no namespace has"},
};

static void rules_the_server_refuses_are_errors_with_location(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(mistakes); i++) {
        kc_autofree char *text = roles_with(mistakes[i].marker, &(kc__gen_rbac_opts){0});
        assert_contains(text, mistakes[i].error);
    }
}

TESTS(marker_becomes_a_cluster_role, no_marker_writes_nothing, role_name_and_header_are_options,
      rules_are_merged_and_sorted, namespace_gets_its_own_role, role_name_of_the_marker_is_used,
      rules_the_server_refuses_are_errors_with_location)
