/* SPDX-License-Identifier: Apache-2.0 */
/* Which admission webhooks a request concerns. */
#include "testing.h"

#include "apiserver/admission/hook.h"

static const kc__resource pods = {.group = "",
                                  .version = "v1",
                                  .plural = "pods",
                                  .kind = "Pod",
                                  .namespaced = true,
                                  .storage = "core/pods"};
static const kc__resource deployments = {.group = "apps",
                                         .version = "v1",
                                         .plural = "deployments",
                                         .kind = "Deployment",
                                         .namespaced = true};
static const kc__resource nodes = {.group = "", .version = "v1", .plural = "nodes", .kind = "Node"};
static const kc__resource namespaces = {
    .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace"};
static const kc__resource scalers_v1 = {.group = "autoscaling",
                                        .version = "v1",
                                        .plural = "horizontalpodautoscalers",
                                        .namespaced = true};
static const kc__resource scalers_v2 = {.group = "autoscaling",
                                        .version = "v2",
                                        .plural = "horizontalpodautoscalers",
                                        .namespaced = true};
static const kc__subresource status = {.name = "status"}, scale = {.name = "scale"};

/* ---- a set with one hook ---- */

/* Its fields beyond the name, ' for ". */
static kc__hook_set *set_of(const char *fields)
{
    kc_auto(kc_cow_tree) *tree = kc_cow_tree_new();
    kc_autofree char *json = kc_asprintf(
        "{'metadata':{'name':'a'},'webhooks':[{'name':'a.x.io','clientConfig':{'url':'https://"
        "h/p'}%s%s}]}",
        *fields ? "," : "", fields);
    kc_auto(kc_object) *configuration = object_of(json);
    kc_object_unref(kc_cow_tree_put(tree, KC_STR("a"), configuration));
    kc_cow_tree_publish(tree, 1);
    kc_auto(kc_cow_snapshot) *snapshot = kc_cow_tree_snapshot(tree);
    return kc__hook_set_new(snapshot, NULL);
}

static kc__hook_match_result match(const char *fields, const kc__attributes *about,
                                   const kc__resource **ret_as)
{
    kc_auto(kc__hook_set) *set = set_of(fields);
    assert_int_equal(set->mutating.n, 1);
    return kc__hook_match(&set->mutating.items[0], about, ret_as);
}

static bool concerns(const char *fields, const kc__attributes *about)
{
    const kc__resource *as = NULL;
    return match(fields, about, &as) == KC__HOOK_CONCERNED;
}

#define RULE(operations, groups, versions, resources)                                           \
    "'rules':[{'operations':[" operations "],'apiGroups':[" groups "],'apiVersions':[" versions \
    "],'resources':[" resources "]}]"
#define IN(space, ...) (&(kc__attributes){.operation = "CREATE", .ns = KC_STR(space), __VA_ARGS__})
#define ABOUT(...)     IN("default", __VA_ARGS__)
#define IN_NONE(...)   (&(kc__attributes){.operation = "CREATE", __VA_ARGS__})

/* ---- rules ---- */

static void rules_name_operations_groups_versions_and_resources(void **state)
{
    (void)state;
    const struct {
        const char *rule;
        const kc__attributes *about;
        bool concerned;
    } cases[] = {
        {RULE("'CREATE'", "''", "'v1'", "'pods'"), ABOUT(.resource = &pods), true},
        {RULE("'*'", "'*'", "'*'", "'*'"), ABOUT(.resource = &pods), true},
        {RULE("'UPDATE','DELETE'", "''", "'v1'", "'pods'"), ABOUT(.resource = &pods), false},
        {RULE("'CREATE'", "'apps'", "'v1'", "'pods'"), ABOUT(.resource = &pods), false},
        {RULE("'CREATE'", "''", "'v2'", "'pods'"), ABOUT(.resource = &pods), false},
        {RULE("'CREATE'", "''", "'v1'", "'nodes','pods'"), ABOUT(.resource = &pods), true},
        {RULE("'CREATE'", "'apps'", "'v1'", "'deployments'"), ABOUT(.resource = &deployments),
         true},
        {RULE("'CREATE'", "''", "'v1'", "'pods'"), ABOUT(.resource = &pods, .subresource = &status),
         false},
        {RULE("'CREATE'", "''", "'v1'", "'pods/status'"),
         ABOUT(.resource = &pods, .subresource = &status), true},
        {RULE("'CREATE'", "''", "'v1'", "'pods/status'"), ABOUT(.resource = &pods), false},
        {RULE("'CREATE'", "''", "'v1'", "'pods/*'"),
         ABOUT(.resource = &pods, .subresource = &status), true},
        {RULE("'CREATE'", "''", "'v1'", "'pods/*'"), ABOUT(.resource = &pods), true},
        {RULE("'CREATE'", "''", "'v1'", "'*'"), ABOUT(.resource = &pods, .subresource = &status),
         false},
        {RULE("'CREATE'", "''", "'v1'", "'*/status'"),
         ABOUT(.resource = &pods, .subresource = &status), true},
        {RULE("'CREATE'", "''", "'v1'", "'*/status'"),
         ABOUT(.resource = &pods, .subresource = &scale), false},
        {RULE("'CREATE'", "'*'", "'*'", "'*/*'"), ABOUT(.resource = &pods, .subresource = &scale),
         true},
        {RULE("'CREATE'", "'*'", "'*'", "'*/*'"), IN_NONE(.resource = &nodes), true},
        {"'rules':[]", ABOUT(.resource = &pods), false},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        if (concerns(cases[i].rule, cases[i].about) != cases[i].concerned)
            fail_msg("case %zu: %s", i, cases[i].rule);
}

static void a_scope_tells_objects_of_namespaces_from_others(void **state)
{
    (void)state;
    const char *inside = "'rules':[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],"
                         "'resources':['*'],'scope':'Namespaced'}]";
    const char *outside = "'rules':[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],"
                          "'resources':['*'],'scope':'Cluster'}]";
    assert_true(concerns(inside, ABOUT(.resource = &pods)));
    assert_false(concerns(outside, ABOUT(.resource = &pods)));
    assert_false(concerns(inside, IN_NONE(.resource = &nodes)));
    assert_true(concerns(outside, IN_NONE(.resource = &nodes)));
    /* A namespace has its own name there, and is in none all the same. */
    assert_false(concerns(inside, IN("a", .resource = &namespaces)));
    assert_true(concerns(outside, IN("a", .resource = &namespaces)));
}

static void other_versions_of_a_resource_count_unless_it_is_to_be_exact(void **state)
{
    (void)state;
    const kc__resource *const others[] = {&scalers_v1};
    const kc__attributes *about =
        ABOUT(.resource = &scalers_v2, .equivalents = others, .n_equivalents = 1);
    const kc__resource *as = NULL;
#define SCALERS(version) RULE("'*'", "'autoscaling'", version, "'horizontalpodautoscalers'")
    assert_int_equal(match(SCALERS("'v1'"), about, &as), KC__HOOK_CONCERNED);
    assert_ptr_equal(as, &scalers_v1);
    /* Its own comes first, wherever it stands. */
    assert_int_equal(match(SCALERS("'v1','v2'"), about, &as), KC__HOOK_CONCERNED);
    assert_ptr_equal(as, &scalers_v2);
    assert_int_equal(match("'matchPolicy':'Equivalent'," SCALERS("'v1'"), about, &as),
                     KC__HOOK_CONCERNED);
    assert_false(concerns("'matchPolicy':'Exact'," SCALERS("'v1'"), about));
}

/* ---- selectors ---- */

#define ANY RULE("'*'", "'*'", "'*'", "'*/*'")

static void objects_are_selected_by_what_they_are_or_were(void **state)
{
    (void)state;
    const char *fields = "'objectSelector':{'matchLabels':{'a':'b'}}," ANY;
    kc_auto(kc_object) *with = object_of("{'metadata':{'labels':{'a':'b'}}}");
    kc_auto(kc_object) *without = object_of("{'metadata':{'labels':{'a':'c'}}}");
    assert_true(concerns(fields, ABOUT(.resource = &pods, .object = with)));
    assert_false(concerns(fields, ABOUT(.resource = &pods, .object = without)));
    assert_true(concerns(fields, ABOUT(.resource = &pods, .object = without, .old = with)));
    assert_true(concerns(fields, ABOUT(.resource = &pods, .old = with)));
    assert_false(concerns(fields, ABOUT(.resource = &pods)));
    assert_true(concerns("'objectSelector':{}," ANY, ABOUT(.resource = &pods)));
}

static void namespaces_are_selected_by_their_labels(void **state)
{
    (void)state;
    const char *fields = "'namespaceSelector':{'matchLabels':{'a':'b'}}," ANY;
    const kc__resource *as = NULL;
    kc_auto(kc_object) *with = object_of("{'metadata':{'labels':{'a':'b'}}}");
    kc_auto(kc_object) *without = object_of("{'metadata':{}}");
    assert_true(concerns(fields, ABOUT(.resource = &pods, .space = with)));
    assert_false(concerns(fields, ABOUT(.resource = &pods, .space = without)));
    /* What is in none is never left out. */
    assert_true(concerns(fields, IN_NONE(.resource = &nodes)));
    /* Of a namespace that is written its new labels count; of one that goes those it has. */
    assert_true(concerns(fields, ABOUT(.resource = &namespaces, .object = with, .space = without)));
    assert_false(
        concerns(fields, ABOUT(.resource = &namespaces, .object = without, .space = with)));
    assert_true(concerns(fields, ABOUT(.resource = &namespaces, .old = without, .space = with)));
    /* One that is not there cannot be looked at, which matters only to whom the rest concerns. */
    assert_int_equal(match(fields, ABOUT(.resource = &pods), &as), KC__HOOK_NO_NAMESPACE);
    assert_int_equal(match("'namespaceSelector':{'matchLabels':{'a':'b'}},'rules':[]",
                           ABOUT(.resource = &pods), &as),
                     KC__HOOK_UNCONCERNED);
}

/* ---- what is read ---- */

static void what_a_configuration_leaves_open_has_its_default(void **state)
{
    (void)state;
    kc_auto(kc__hook_set) *set = set_of("");
    const kc__hook *hook = &set->mutating.items[0];
    assert_str(hook->name, "a.x.io");
    assert_string_equal(hook->url, "https://h/p");
    assert_int_equal(hook->timeout, 10 * KC_SECOND);
    assert_true(hook->mutates && hook->equivalent);
    assert_false(hook->ignored || hook->again || hook->dry || hook->conditions || hook->beta);
    assert_int_equal(hook->ca.n, 0);
}

static void what_it_says_is_read(void **state)
{
    (void)state;
    kc_auto(kc__hook_set) *set =
        set_of("'clientConfig':{'service':{'name':'s','namespace':'n','path':'/x','port':8443},"
               "'caBundle':'cGVt'},'failurePolicy':'Ignore','reinvocationPolicy':'IfNeeded',"
               "'sideEffects':'NoneOnDryRun','timeoutSeconds':3,'matchConditions':[{'name':'a'}],"
               "'admissionReviewVersions':['v2','v1beta1','v1']");
    const kc__hook *hook = &set->mutating.items[0];
    assert_null(hook->url);
    assert_str(hook->service, "s");
    assert_str(hook->service_ns, "n");
    assert_str(hook->path, "/x");
    assert_int_equal(hook->port, 8443);
    assert_str(hook->ca, "pem");
    assert_int_equal(hook->timeout, 3 * KC_SECOND);
    assert_true(hook->ignored && hook->again && hook->dry && hook->conditions && hook->beta);
}

static void hooks_stand_in_the_order_of_their_configurations_names(void **state)
{
    (void)state;
    static const char *const names[] = {"b", "a", "c"};
    kc_auto(kc_cow_tree) *tree = kc_cow_tree_new();
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *json =
            kc_asprintf("{'metadata':{'name':'%s'},'webhooks':[{'name':'2.%s'},{'name':'1.%s'}]}",
                        names[i], names[i], names[i]);
        kc_auto(kc_object) *configuration = object_of(json);
        kc_object_unref(kc_cow_tree_put(tree, kc_cstr(names[i]), configuration));
    }
    kc_cow_tree_publish(tree, 1);
    kc_auto(kc_cow_snapshot) *snapshot = kc_cow_tree_snapshot(tree);
    kc_auto(kc__hook_set) *set = kc__hook_set_new(NULL, snapshot);
    kc_scoped(kc_buf) all = {0};
    assert_int_equal(set->mutating.n, 0);
    kc_vec_each (&set->validating, hook)
        kc_buf_printf(&all, "%.*s ", KC_ARG(hook->name));
    assert_string_equal(kc_buf_cstr(&all), "2.a 1.a 2.b 1.b 2.c 1.c ");
    assert_false(set->validating.items[0].mutates);
}

TESTS(rules_name_operations_groups_versions_and_resources,
      a_scope_tells_objects_of_namespaces_from_others,
      other_versions_of_a_resource_count_unless_it_is_to_be_exact,
      objects_are_selected_by_what_they_are_or_were, namespaces_are_selected_by_their_labels,
      what_a_configuration_leaves_open_has_its_default, what_it_says_is_read,
      hooks_stand_in_the_order_of_their_configurations_names)
