/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_rbac.c: writes roles from +kubebuilder:rbac markers.
 *
 * A marker becomes a rule for each resource it names. Rules of the same role are then merged, one
 * list at a time: rules that differ only in that list become one rule with its union.
 *
 *     groups=a  resources=x  verbs=get    ┐ differ in verbs      ┐
 *     groups=a  resources=x  verbs=list   ┘ → x: get, list       │ differ in resources
 *     groups=a  resources=y  verbs=get;list                      ┘ → x, y: get, list
 *
 * Lists are merged in the order of `merges`, which is controller-gen's; with the same sort key for
 * rules the files are equal. One thing differs: if merging groups or URLs gives two rules with the
 * same resources, controller-gen keeps a random one; here their verbs are merged.
 *
 * Rules that the API server would refuse are errors here, with the position of the marker.
 */
#include "generate/write/write_rbac.h"

#include "generate/write/manifest.h"

#include "kc/map.h"

#define DEFAULT_ROLE "manager-role"

typedef enum list_id { GROUPS, RESOURCES, NAMES, URLS, VERBS, N_LISTS } list_id;

/* Names of each list in markers and roles. */
static const struct list_names {
    const char *marker, *role;
} names[N_LISTS] = {
    [GROUPS] = {"groups", "apiGroups"},
    [RESOURCES] = {"resources", "resources"},
    [NAMES] = {"resourceNames", "resourceNames"},
    [URLS] = {"urls", "nonResourceURLs"},
    [VERBS] = {"verbs", "verbs"},
};

static const list_id merges[] = {VERBS, RESOURCES, GROUPS, VERBS, URLS, VERBS};

/* Sorted, without duplicates. */
typedef struct gen_write_rbac_texts {
    kc_str *items;
    size_t n;
} gen_write_rbac_texts;

typedef struct policy_rule {
    gen_write_rbac_texts lists[N_LISTS];
    kc_str key; /* All lists but the verbs, as sort key. */
} policy_rule;

typedef struct policy_role {
    kc_str ns, name; /* No namespace: a ClusterRole. */
    KC_VEC(policy_rule) rules;
} policy_role;

typedef struct roles {
    kc_arena arena;
    KC_VEC(policy_role) items;
    bool failed;
    kc_error *err;
} roles;

static void roles_done(roles *all)
{
    kc_vec_each (&all->items, role)
        kc_vec_done(&role->rules);
    kc_vec_done(&all->items);
    kc_arena_done(&all->arena);
}

/* ---- lists ---- */

static void sort_and_dedupe(gen_write_rbac_texts *list)
{
    size_t n = 0;
    if (list->n > 1)
        qsort(list->items, list->n, sizeof(*list->items), kc_str_compare);
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || !kc_str_eq(list->items[n - 1], list->items[i]))
            list->items[n++] = list->items[i];
    list->n = n;
}

static gen_write_rbac_texts list_of(roles *all, const kc__gen_marker *marker, list_id id)
{
    kc_auto(kc_view) *view =
        kc_view_parse(kc__gen_marker_json(marker, names[id].marker), NULL, NULL);
    const kc_value *items = kc_view_root(view);
    gen_write_rbac_texts list = {
        kc_arena_alloc(&all->arena, (kc_value_len(items) + 1) * sizeof(kc_str)), 0};
    kc_value_each_item (items, item) {
        kc_str text = kc_arena_str(&all->arena, kc_value_as_str(item));
        if (id == GROUPS && kc_str_is(text, "core"))
            text = KC_STR("");
        list.items[list.n++] = text;
    }
    sort_and_dedupe(&list);
    return list;
}

static gen_write_rbac_texts gen_write_rbac_join(roles *all, gen_write_rbac_texts a,
                                                gen_write_rbac_texts b)
{
    gen_write_rbac_texts both = {kc_arena_alloc(&all->arena, (a.n + b.n + 1) * sizeof(kc_str)),
                                 a.n + b.n};
    if (a.n)
        memcpy(both.items, a.items, a.n * sizeof(kc_str));
    if (b.n)
        memcpy(both.items + a.n, b.items, b.n * sizeof(kc_str));
    sort_and_dedupe(&both);
    return both;
}

/* ---- rules ---- */

/* Every list but one, as text; also controller-gen's sort key. */
static kc_str key_without(roles *all, const policy_rule *rule, list_id left_out)
{
    kc_scoped(kc_buf) key = {0};
    for (list_id id = 0; id < N_LISTS; id++) {
        if (id == left_out)
            continue;
        kc_buf_puts(&key, id ? " + " : "");
        for (size_t i = 0; i < rule->lists[id].n; i++)
            kc_buf_printf(&key, "%s%.*s", i ? "&" : "", KC_ARG(rule->lists[id].items[i]));
    }
    return kc_arena_str(&all->arena, kc_buf_str(&key));
}

/* Merges rules that differ in one list only. */
static void merge_by(roles *all, policy_role *role, list_id id)
{
    kc_scoped(kc_map) first = {0}; /* By key: the rule that others are merged into. */
    size_t n = 0;
    for (size_t i = 0; i < role->rules.n; i++) {
        policy_rule *at = &role->rules.items[i];
        const kc_str key = key_without(all, at, id);
        policy_rule *same = kc_map_get(&first, key);
        if (same) {
            same->lists[id] = gen_write_rbac_join(all, same->lists[id], at->lists[id]);
            continue;
        }
        role->rules.items[n] = *at;
        kc_map_put(&first, key, &role->rules.items[n++]);
    }
    role->rules.n = n;
}

static int gen_write_rbac_by_key(const void *a, const void *b)
{
    return kc_str_cmp(((const policy_rule *)a)->key, ((const policy_rule *)b)->key);
}

static void allow_all(gen_write_rbac_texts *verbs)
{
    for (size_t i = 0; i < verbs->n; i++)
        if (kc_str_is(verbs->items[i], "*"))
            *verbs = (gen_write_rbac_texts){&verbs->items[i], 1};
}

static void normalize(roles *all, policy_role *role)
{
    for (size_t i = 0; i < KC_COUNT(merges); i++)
        merge_by(all, role, merges[i]);
    kc_vec_each (&role->rules, rule) {
        allow_all(&rule->lists[VERBS]);
        rule->key = key_without(all, rule, VERBS);
    }
    kc_vec_sort(&role->rules, gen_write_rbac_by_key);
}

/* ---- markers ---- */

static policy_role *role_of(roles *all, kc_str ns, kc_str name)
{
    kc_vec_each (&all->items, role)
        if (kc_str_eq(role->ns, ns) && kc_str_eq(role->name, name))
            return role;
    policy_role *role = kc_vec_add(&all->items);
    role->ns = ns;
    role->name = name;
    return role;
}

#define fail(all, at, ...) \
    ((all)->failed = true, (void)kc__gen_error((all)->err, at, "'+kubebuilder:rbac'" __VA_ARGS__))

static void gen_write_rbac_check(roles *all, const kc__gen_marker *marker, const policy_rule *rule)
{
    const bool resources = rule->lists[RESOURCES].n > 0, urls = rule->lists[URLS].n > 0;
    if (!resources && !urls)
        fail(all, marker->at, " names neither resources nor urls");
    if (resources && urls)
        fail(all, marker->at, " names resources and urls; write a marker for each");
    if (resources && !rule->lists[GROUPS].n)
        fail(all, marker->at, " names resources but no groups; the group of pods is groups=\"\"");
    if (urls && kc__gen_marker_arg(marker, "namespace").n)
        fail(all, marker->at, " names urls, which no namespace has; leave out namespace");
}

static void add_marker(roles *all, const kc__gen_marker *marker, const char *default_name)
{
    const kc_str name = kc__gen_marker_arg(marker, "roleName");
    policy_role *role = role_of(all, kc__gen_marker_arg(marker, "namespace"),
                                name.n ? name : kc_cstr(default_name));
    policy_rule full_rule = {0};
    for (list_id id = 0; id < N_LISTS; id++)
        full_rule.lists[id] = list_of(all, marker, id);
    gen_write_rbac_check(all, marker, &full_rule);
    if (full_rule.lists[URLS].n)
        kc_vec_push(&role->rules, full_rule);
    const gen_write_rbac_texts resources = full_rule.lists[RESOURCES];
    for (size_t i = 0; i < resources.n; i++) {
        full_rule.lists[RESOURCES] = (gen_write_rbac_texts){&resources.items[i], 1};
        kc_vec_push(&role->rules, full_rule);
    }
}

static int by_namespace(const void *a, const void *b)
{
    const policy_role *x = a, *y = b;
    const int spaces = kc_str_cmp(x->ns, y->ns);
    return spaces ? spaces : kc_str_cmp(x->name, y->name);
}

/* ---- writing ---- */

static void put_rule(const policy_rule *rule, kc_buf *json)
{
    kc_buf_putc(json, '{');
    for (list_id id = 0; id < N_LISTS; id++)
        if (rule->lists[id].n || id == VERBS)
            kc__gen_manifest_list(json, names[id].role, rule->lists[id].items, rule->lists[id].n);
    kc_buf_putc(json, '}');
}

static int put_role(const policy_role *role, kc_buf *yaml, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json,
                  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"%s\","
                  "\"metadata\":{",
                  role->ns.n ? "Role" : "ClusterRole");
    kc__gen_manifest_text(&json, "name", role->name);
    if (role->ns.n)
        kc__gen_manifest_text(&json, "namespace", role->ns);
    kc_buf_puts(&json, "},\"rules\":[");
    kc_vec_each (&role->rules, rule) {
        kc_buf_puts(&json, rule == role->rules.items ? "" : ",");
        put_rule(rule, &json);
    }
    kc_buf_puts(&json, "]}");
    return kc__gen_manifest_add(yaml, kc_buf_str(&json), err);
}

static int gen_write_rbac_write_all(roles *all, const char *header, kc__gen_output_put *put,
                                    void *user, kc_error *err)
{
    kc_scoped(kc_buf) yaml = {0};
    if (all->failed)
        return kc_error_result(err);
    if (all->items.n == 0)
        return 0;
    kc_buf_puts(&yaml, header ? header : "");
    kc_vec_each (&all->items, role) {
        normalize(all, role);
        const int done = put_role(role, &yaml, err);
        if (done < 0)
            return done;
    }
    return put("role.yaml", kc_buf_str(&yaml), user, err);
}

int kc__gen_write_rbac(const kc__gen_model *model, const kc__gen_rbac_opts *opts,
                       kc__gen_output_put *put, void *user, kc_error *err)
{
    roles all = {.err = err};
    for (size_t i = 0; i < model->rbac.n; i++)
        add_marker(&all, &model->rbac.items[i], opts->role_name ? opts->role_name : DEFAULT_ROLE);
    kc_vec_sort(&all.items, by_namespace);
    const int done = gen_write_rbac_write_all(&all, opts->header, put, user, err);
    roles_done(&all);
    return done;
}
