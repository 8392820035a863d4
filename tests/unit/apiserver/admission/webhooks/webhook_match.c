/* SPDX-License-Identifier: Apache-2.0 */
/* Which admission webhooks match a request. */
#include "testing.h"

#include "apiserver/admission/webhooks/webhook_config.h"

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
static const kc__resource_subresource status = {.name = "status"}, scale = {.name = "scale"};

/* ---- fixture: set with one webhook ---- */

/* Its fields beyond the name, ' for ". */
static kc__admission_webhook_set *set_of(const char *fields)
{
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_autofree char *json = kc_asprintf(
        "{'metadata':{'name':'a'},'webhooks':[{'name':'a.x.io','clientConfig':{'url':'https://"
        "h/p'}%s%s}]}",
        *fields ? "," : "", fields);
    kc_auto(kc_object) *configuration = object_of(json);
    kc_object_unref(kc__cow_tree_put(tree, KC_STR("a"), configuration));
    kc__cow_tree_publish(tree, 1);
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    return kc__admission_webhook_set_new(snapshot, NULL, NULL);
}

static kc__admission_match_result match(const char *fields, const kc__admission_attributes *about,
                                        const kc__resource **ret_as)
{
    kc_auto(kc__admission_webhook_set) *set = set_of(fields);
    assert_int_equal(set->mutating.n, 1);
    return kc__admission_match(&set->mutating.items[0]->criteria, about, ret_as);
}

static bool concerns(const char *fields, const kc__admission_attributes *about)
{
    const kc__resource *as = NULL;
    return match(fields, about, &as) == KC__ADMISSION_MATCH;
}

#define RULE(operations, groups, versions, resources)                                           \
    "'rules':[{'operations':[" operations "],'apiGroups':[" groups "],'apiVersions':[" versions \
    "],'resources':[" resources "]}]"
#define IN(space, ...) \
    (&(kc__admission_attributes){.operation = "CREATE", .ns = KC_STR(space), __VA_ARGS__})
#define ABOUT(...)   IN("default", __VA_ARGS__)
#define IN_NONE(...) (&(kc__admission_attributes){.operation = "CREATE", __VA_ARGS__})

/* ---- rules ---- */

static void rule_matches_operation_group_version_and_resource(void **state)
{
    (void)state;
    const struct {
        const char *rule;
        const kc__admission_attributes *about;
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

static void rule_scope_distinguishes_namespaced_and_cluster_resources(void **state)
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

static void equivalent_versions_match_unless_policy_is_exact(void **state)
{
    (void)state;
    const kc__resource *const others[] = {&scalers_v1};
    const kc__admission_attributes *about =
        ABOUT(.resource = &scalers_v2, .equivalents = others, .n_equivalents = 1);
    const kc__resource *as = NULL;
#define SCALERS(version) RULE("'*'", "'autoscaling'", version, "'horizontalpodautoscalers'")
    assert_int_equal(match(SCALERS("'v1'"), about, &as), KC__ADMISSION_MATCH);
    assert_ptr_equal(as, &scalers_v1);
    /* Its own comes first, wherever it stands. */
    assert_int_equal(match(SCALERS("'v1','v2'"), about, &as), KC__ADMISSION_MATCH);
    assert_ptr_equal(as, &scalers_v2);
    assert_int_equal(match("'matchPolicy':'Equivalent'," SCALERS("'v1'"), about, &as),
                     KC__ADMISSION_MATCH);
    assert_false(concerns("'matchPolicy':'Exact'," SCALERS("'v1'"), about));
}

/* ---- selectors ---- */

#define ANY RULE("'*'", "'*'", "'*'", "'*/*'")

static void object_selector_matches_new_or_old_object(void **state)
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

static void namespace_selector_matches_labels_of_namespace(void **state)
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
    /* A namespace that does not exist matters only to hooks whose other conditions match. */
    assert_int_equal(match(fields, ABOUT(.resource = &pods), &as),
                     KC__ADMISSION_MATCH_NO_NAMESPACE);
    assert_int_equal(match("'namespaceSelector':{'matchLabels':{'a':'b'}},'rules':[]",
                           ABOUT(.resource = &pods), &as),
                     KC__ADMISSION_NO_MATCH);
}

/* ---- parsed fields ---- */

static void absent_fields_have_their_defaults(void **state)
{
    (void)state;
    kc_auto(kc__admission_webhook_set) *set = set_of("");
    const kc__admission_webhook *hook = set->mutating.items[0];
    assert_str(hook->name, "a.x.io");
    assert_string_equal(hook->target.url, "https://h/p");
    assert_int_equal(hook->timeout, 10 * KC_SECOND);
    assert_true(hook->mutates && hook->criteria.equivalent);
    assert_false(hook->ignored || hook->reinvoked || hook->dry || hook->conditions || hook->beta);
    assert_int_equal(hook->target.ca.n, 0);
}

static void fields_of_configuration_are_read(void **state)
{
    (void)state;
    kc_auto(kc__admission_webhook_set) *set =
        set_of("'clientConfig':{'service':{'name':'s','namespace':'n','path':'/x','port':8443},"
               "'caBundle':'cGVt'},'failurePolicy':'Ignore','reinvocationPolicy':'IfNeeded',"
               "'sideEffects':'NoneOnDryRun','timeoutSeconds':3,'matchConditions':[{'name':'a'}],"
               "'admissionReviewVersions':['v2','v1beta1','v1']");
    const kc__admission_webhook *hook = set->mutating.items[0];
    assert_null(hook->target.url);
    assert_str(hook->target.service, "s");
    assert_str(hook->target.service_ns, "n");
    assert_str(hook->target.path, "/x");
    assert_int_equal(hook->target.port, 8443);
    assert_str(hook->target.ca, "pem");
    assert_int_equal(hook->timeout, 3 * KC_SECOND);
    assert_true(hook->ignored && hook->reinvoked && hook->dry && hook->conditions && hook->beta);
}

static void webhooks_are_ordered_by_configuration_name(void **state)
{
    (void)state;
    static const char *const names[] = {"b", "a", "c"};
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *json =
            kc_asprintf("{'metadata':{'name':'%s'},'webhooks':[{'name':'2.%s'},{'name':'1.%s'}]}",
                        names[i], names[i], names[i]);
        kc_auto(kc_object) *configuration = object_of(json);
        kc_object_unref(kc__cow_tree_put(tree, kc_cstr(names[i]), configuration));
    }
    kc__cow_tree_publish(tree, 1);
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    kc_auto(kc__admission_webhook_set) *set = kc__admission_webhook_set_new(NULL, snapshot, NULL);
    kc_scoped(kc_buf) all = {0};
    assert_int_equal(set->mutating.n, 0);
    kc_vec_each (&set->validating, hook)
        kc_buf_printf(&all, "%.*s ", KC_ARG((*hook)->name));
    assert_string_equal(kc_buf_cstr(&all), "2.a 1.a 2.b 1.b 2.c 1.c ");
    assert_false(set->validating.items[0]->mutates);
}

/* ---- changes ---- */

enum { MANY = 50 };

static void put_configuration(kc__cow_tree *tree, int number, const char *hook)
{
    kc_autofree char *name = kc_asprintf("c%03d", number);
    kc_autofree char *json =
        kc_asprintf("{'metadata':{'name':'%s'},'webhooks':[{'name':'%s.%s'}]}", name, hook, name);
    kc_auto(kc_object) *configuration = object_of(json);
    kc_object_unref(kc__cow_tree_put(tree, kc_cstr(name), configuration));
}

static kc__cow_snapshot *published(kc__cow_tree *tree, uint64_t revision)
{
    kc__cow_tree_publish(tree, revision);
    return kc__cow_tree_snapshot(tree);
}

/* How many webhooks of `a` are in `b`, too. */
static size_t shared_webhooks(const kc__admission_webhook_set *a,
                              const kc__admission_webhook_set *b)
{
    size_t n = 0;
    kc_vec_each (&a->mutating, one)
        kc_vec_each (&b->mutating, other)
            n += *one == *other;
    return n;
}

static void set_after_a_change_compiles_only_the_changed_configuration(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    for (int i = 0; i < MANY; i++)
        put_configuration(tree, i, "first");
    kc_auto(kc__cow_snapshot) *one = published(tree, 1);
    kc_auto(kc__admission_webhook_set) *first = kc__admission_webhook_set_new(one, NULL, NULL);
    put_configuration(tree, 7, "changed");
    put_configuration(tree, MANY, "added");
    kc_object_unref(kc__cow_tree_remove(tree, KC_STR("c000")));
    kc_auto(kc__cow_snapshot) *two = published(tree, 2);
    kc_auto(kc__admission_webhook_set) *second = kc__admission_webhook_set_new(two, NULL, first);
    assert_int_equal(second->mutating.n, MANY);
    assert_int_equal(shared_webhooks(first, second), MANY - 2);
    assert_str(second->mutating.items[0]->name, "first.c001");
    assert_str(second->mutating.items[6]->name, "changed.c007");
    assert_str(second->mutating.items[MANY - 1]->name, "added.c050");
    assert_str(first->mutating.items[7]->name, "first.c007");
}

static void configurations_outlive_the_set_that_compiled_them(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    put_configuration(tree, 1, "kept");
    kc_auto(kc__cow_snapshot) *snapshot = published(tree, 1);
    kc__admission_webhook_set *first = kc__admission_webhook_set_new(snapshot, snapshot, NULL);
    kc_auto(kc__admission_webhook_set) *second =
        kc__admission_webhook_set_new(snapshot, snapshot, first);
    kc__admission_webhook_set_unref(first);
    assert_str(second->mutating.items[0]->name, "kept.c001");
    assert_true(second->mutating.items[0]->mutates);
    assert_false(second->validating.items[0]->mutates);
}

TESTS(rule_matches_operation_group_version_and_resource,
      rule_scope_distinguishes_namespaced_and_cluster_resources,
      equivalent_versions_match_unless_policy_is_exact, object_selector_matches_new_or_old_object,
      namespace_selector_matches_labels_of_namespace, absent_fields_have_their_defaults,
      fields_of_configuration_are_read, webhooks_are_ordered_by_configuration_name,
      set_after_a_change_compiles_only_the_changed_configuration,
      configurations_outlive_the_set_that_compiled_them)
