/* SPDX-License-Identifier: Apache-2.0 */
/* The patch of a pod, computed from a pod and a ConfigMap. */
#include "testing.h"

#include "sidecar/inject.h"

#include "kc/clock.h"
#include "kc/strategic_patch.h"

static kc_object *map_of(const char *config)
{
    kc_auto(kc_edit) *map = kc_edit_new();
    kc_scoped(kc_error) err = {0};
    kc_edit_set_nested(map, "data.config", kc_node_str(map, kc_cstr(config)));
    return kc_edit_freeze(map, &err);
}

static sidecars *sidecars_of(const char *config)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *map = map_of(config);
    sidecars *what = sidecars_read(map, &err);
    if (!what)
        fail_msg("%s", kc_error_text(&err));
    return what;
}

#define ENVOY \
    "containers: [{name: envoy, image: 'envoy:1'}]\nvolumes: [{name: conf, emptyDir: {}}]\n"
#define NEWER_ENVOY "containers: [{name: envoy, image: 'envoy:2'}]\n"
#define WEB         "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'web','image':'w'}]}}"

/* The pod with the patch applied, as the server would; the patch's text into `patch`. */
static kc_object *injected(const kc_object *pod, const sidecars *what, kc_buf *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_view_of(pod);
    kc_auto(kc_edit) *change = sidecars_patch(kc_view_root(view), what, &err);
    if (!change)
        fail_msg("%s", kc_error_text(&err));
    kc_node_write(patch, kc_edit_root(change));
    kc_auto(kc_view) *text = kc_edit_view(change, &err);
    kc_auto(kc_edit) *after = kc_edit_of(pod);
    assert_int_equal(
        kc_strategic_patch_apply(after, kc_view_root(text), &kc_patch_schema_pod, &err), 0);
    return kc_edit_freeze(after, &err);
}

static kc_object *with(const kc_object *pod, const sidecars *what)
{
    kc_scoped(kc_buf) patch = {0};
    return injected(pod, what, &patch);
}

static void assert_untouched(const kc_object *pod, const sidecars *what)
{
    kc_scoped(kc_buf) patch = {0};
    kc_object_unref(injected(pod, what, &patch));
    assert_string_equal(kc_buf_cstr(&patch), "{}");
}

static char *names_of(const kc_object *pod, const char *list)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    kc_buf out = {0};
    kc_value_each_item (kc_value_get(kc_value_get(kc_view_root(view), "spec"), list), item)
        kc_buf_printf(&out, "%.*s:%.*s ", KC_ARG(kc_value_as_str(kc_value_get(item, "name"))),
                      KC_ARG(kc_value_as_str(kc_value_get(item, "image"))));
    return kc_buf_take(&out);
}

#define assert_list(pod, list, text)                    \
    do {                                                \
        kc_autofree char *names_ = names_of(pod, list); \
        assert_string_equal(names_, text);              \
    } while (0)

/* ---- merging ---- */

static void missing_sidecars_are_added(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_scoped(kc_buf) patch = {0};
    kc_auto(kc_object) *after = injected(pod, what, &patch);
    assert_list(after, "containers", "web:w envoy:envoy:1 ");
    assert_list(after, "volumes", "conf: ");
    assert_contains(kc_buf_cstr(&patch), "\"$setElementOrder/containers\"");
    assert_false(strstr(kc_buf_cstr(&patch), "\"image\":\"w\""));
    assert_contains(kc_object_json(after).p, "\\\"containers\\\":[\\\"envoy\\\"],"
                                             "\\\"volumes\\\":[\\\"conf\\\"]");
}

static void injected_pod_is_unchanged(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *after = with(pod, what);
    assert_untouched(after, what);
}

static void user_containers_are_unchanged(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_auto(kc_object) *pod =
        object_of("{'spec':{'containers':[{'name':'envoy','image':'mine'}]}}");
    assert_untouched(pod, what);
    kc_auto(sidecars) *two =
        sidecars_of("containers: [{name: envoy, image: e}, {name: log, image: l}]\n"
                    "volumes: [{name: mine, emptyDir: {}}]");
    kc_auto(kc_object) *other = object_of("{'spec':{'containers':[{'name':'envoy','image':'mine'}],"
                                          "'volumes':[{'name':'mine','hostPath':{'path':'/x'}}]}}");
    kc_auto(kc_object) *after = with(other, two);
    assert_list(after, "containers", "envoy:mine log:l ");
    assert_contains(kc_object_json(after).p, "hostPath");
    /* Nor are they taken for ours later. */
    kc_auto(kc_object) *without = with(after, NULL);
    assert_list(without, "containers", "envoy:mine ");
}

static void changed_config_map_changes_the_pod(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY), *newer = sidecars_of(NEWER_ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *old = with(pod, what);
    kc_auto(kc_object) *after = with(old, newer);
    assert_list(after, "containers", "web:w envoy:envoy:2 ");
    assert_list(after, "volumes", "");
    assert_untouched(after, newer);
}

/* A user's changes stay until the map says something new. */
static void user_changes_of_sidecars_stay_until_the_config_map_changes(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY), *newer = sidecars_of(NEWER_ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *made = with(pod, what);
    kc_auto(kc_edit) *edit = kc_edit_of(made);
    kc_node *containers =
        kc_node_get(kc_node_get(kc_edit_root(edit), KC_STR("spec")), KC_STR("containers"));
    kc_node_set(edit, kc_node_at(containers, 1), KC_STR("image"),
                kc_node_str(edit, KC_STR("patched")));
    kc_auto(kc_object) *changed = kc_edit_freeze(edit, NULL);
    assert_untouched(changed, what);
    kc_auto(kc_object) *after = with(changed, newer);
    assert_list(after, "containers", "web:w envoy:envoy:2 ");
}

/* So it does not matter what was there in between. */
static void sidecars_come_last_in_config_map_order(void **state)
{
    (void)state;
    kc_auto(sidecars) *one = sidecars_of("containers: [{name: b, image: x}]"),
                      *two = sidecars_of("containers: [{name: a, image: x}, {name: b, image: x}]");
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *first = with(pod, one);
    kc_auto(kc_object) *then = with(first, two), *at_once = with(pod, two);
    assert_list(then, "containers", "web:w a:x b:x ");
    assert_string_equal(kc_object_json(then).p, kc_object_json(at_once).p);
}

static void removed_sidecar_is_added_again(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *made = with(pod, what);
    kc_auto(kc_edit) *edit = kc_edit_of(made);
    kc_node *containers =
        kc_node_get(kc_node_get(kc_edit_root(edit), KC_STR("spec")), KC_STR("containers"));
    kc_node_remove_at(containers, 1);
    kc_auto(kc_object) *changed = kc_edit_freeze(edit, NULL);
    kc_auto(kc_object) *after = with(changed, what);
    assert_list(after, "containers", "web:w envoy:envoy:1 ");
}

static void sidecars_are_removed_when_not_wanted(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *made = with(pod, what);
    kc_auto(kc_object) *after = with(made, NULL);
    assert_list(after, "containers", "web:w ");
    assert_list(after, "volumes", "");
    assert_false(strstr(kc_object_json(after).p, SIDECARS_STATUS));
    assert_untouched(pod, NULL);
}

static void invalid_status_annotation_is_ignored(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    static const char *const texts[] = {"", "{", "[]", "{\\\"containers\\\":{}}",
                                        "{\\\"containers\\\":[1,null]}"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_autofree char *json =
            kc_asprintf("{'metadata':{'annotations':{'" SIDECARS_STATUS
                        "':'%s'}},'spec':{'containers':[{'name':'web','image':'w'}]}}",
                        texts[i]);
        kc_auto(kc_object) *pod = object_of(json);
        kc_auto(kc_object) *after = with(pod, what);
        assert_list(after, "containers", "web:w envoy:envoy:1 ");
    }
}

static void malformed_pods_do_not_crash(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    static const char *const pods[] = {"{}", "{'spec':null}", "{'spec':{'containers':{}}}",
                                       "{'spec':{'containers':[null,1,{}]},'metadata':[]}"};
    for (size_t i = 0; i < KC_COUNT(pods); i++) {
        kc_auto(kc_object) *pod = object_of(pods[i]);
        kc_auto(kc_view) *view = kc_view_of(pod);
        kc_auto(kc_edit) *patch = sidecars_patch(kc_view_root(view), what, NULL);
        (void)patch; /* Or NULL. */
    }
}

/* A client says how long they are, and waits. */
static void five_hundred_containers_are_patched_in_time(void **state)
{
    (void)state;
    kc_auto(sidecars) *what = sidecars_of(ENVOY);
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"metadata\":{\"annotations\":{\"" SIDECARS_STATUS
                       "\":\"{\\\"containers\\\":[\\\"c1\\\"]}\"}},\"spec\":{\"containers\":[");
    for (int i = 0; i < 50000; i++)
        kc_buf_printf(&json, "%s{\"name\":\"c%d\"}", i ? "," : "", i);
    kc_buf_puts(&json, "]}}");
    kc_auto(kc_view) *pod = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    const int64_t before = kc_clock_now(kc_clock_real());
    kc_auto(kc_edit) *patch = sidecars_patch(kc_view_root(pod), what, NULL);
    assert_non_null(patch);
    assert_true(kc_clock_now(kc_clock_real()) - before < 5 * KC_SECOND);
}

/* ---- selected pods ---- */

static bool wanted(const char *metadata, const char *rule)
{
    kc_auto(kc_object) *object = object_of(metadata);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_selector) *selector = rule ? kc_selector_parse(kc_cstr(rule), NULL) : NULL;
    return sidecars_wanted(kc_view_root(view), selector);
}

#define YES "'initializer.kubernetes.io/envoy':'true'"
#define NO  "'sidecar.kubecontroller.io/inject':'false'"

static void pods_are_selected_by_annotation_or_selector(void **state)
{
    (void)state;
    assert_true(wanted("{'annotations':{" YES "}}", NULL));
    assert_true(wanted("{'annotations':{" YES "}}", "a=b"));
    assert_true(wanted("{'labels':{'a':'b'}}", "a=b"));
    assert_false(wanted("{'labels':{'a':'c'}}", "a=b"));
    assert_false(wanted("{'labels':{'a':'b'}}", NULL));
    assert_false(wanted("{'annotations':{'initializer.kubernetes.io/envoy':'yes'}}", NULL));
    assert_false(wanted("{}", "a=b"));
}

static void opt_out_annotation_has_precedence(void **state)
{
    (void)state;
    assert_false(wanted("{'annotations':{" YES "," NO "}}", NULL));
    assert_false(wanted("{'labels':{'a':'b'},'annotations':{" NO "}}", "a=b"));
}

/* ---- reading ---- */

static void invalid_config_map_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *config, *message;
    } cases[] = {
        {"containers: [", "data.config: "},
        {"just text", "data.config: containers and volumes are required"},
        {"initContainers: []", "data.config: initContainers: unknown field"},
        {"containers: {}", "data.config: containers: must be a list"},
        {"containers: [{image: x}]", "data.config: containers[0]: \"\" is not a valid name"},
        {"containers: [{name: a}]", "data.config: containers[0]: a has no image"},
        {"containers: [{name: a, image: x}, {name: a, image: z}]",
         "data.config: containers[1]: duplicate name a"},
        {"volumes: [{name: A_B}]", "data.config: volumes[0]: \"A_B\" is not a valid name"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *map = map_of(cases[i].config);
        assert_null(sidecars_read(map, &err));
        assert_contains(kc_error_text(&err), cases[i].message);
    }
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *empty = object_of("{'data':{'conf':'x'}}");
    assert_null(sidecars_read(empty, &err));
    assert_error(&err, KC_INVALID, "data.config is missing");
}

static void number_of_sidecars_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) config = {0};
    kc_buf_puts(&config, "containers:\n");
    for (int i = 0; i <= SIDECARS_MAX; i++)
        kc_buf_printf(&config, "- {name: c%d, image: x}\n", i);
    kc_auto(kc_object) *map = map_of(kc_buf_cstr(&config));
    assert_null(sidecars_read(map, &err));
    assert_error(&err, KC_INVALID, "a list of at most 32");
}

/* How it is written does not matter. */
static void equal_content_has_an_equal_hash(void **state)
{
    (void)state;
    kc_auto(sidecars) *one = sidecars_of("containers: [{name: a, image: x}]"),
                      *two = sidecars_of("containers:\n# this\n- name: a\n  image: 'x'\n");
    kc_auto(kc_object) *pod = object_of(WEB);
    kc_auto(kc_object) *after = with(pod, one);
    assert_untouched(after, two);
}

TESTS(five_hundred_containers_are_patched_in_time, sidecars_come_last_in_config_map_order,
      missing_sidecars_are_added, injected_pod_is_unchanged, user_containers_are_unchanged,
      changed_config_map_changes_the_pod,
      user_changes_of_sidecars_stay_until_the_config_map_changes, removed_sidecar_is_added_again,
      sidecars_are_removed_when_not_wanted, invalid_status_annotation_is_ignored,
      malformed_pods_do_not_crash, pods_are_selected_by_annotation_or_selector,
      opt_out_annotation_has_precedence, invalid_config_map_is_reported,
      number_of_sidecars_is_limited, equal_content_has_an_equal_hash)
