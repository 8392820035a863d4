/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin PodTolerationRestriction. The texts are those of kube-apiserver. */
#include "api_testing.h"

#include "apiserver/admission/admission_config.h"

#define ALPHA "scheduler.alpha.kubernetes.io/"
#define HEAD  "apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\nkind: Configuration\n"
#define TOLERATES(key, effect) \
    "{\"key\":\"" key "\",\"operator\":\"Exists\",\"effect\":\"" effect "\"}"

static api *start_restricting(kc__admission_config *config, const char *yaml)
{
    kc__admission_selection on = 0, off = 0;
    kc_scoped(kc_error) err = {0};
    kc__admission_selection_parse("PodTolerationRestriction", &on, NULL);
    kc__admission_selection_parse("DefaultTolerationSeconds", &off, NULL);
    if (yaml) {
        config->toleration_limits = kc__admission_toleration_limits_parse(kc_cstr(yaml), &err);
        assert_non_null(config->toleration_limits);
    }
    return api_start(&(api_opts){.server.enabled_plugins = on,
                                 .server.disabled_plugins = off,
                                 .server.admission_config = config});
}

/* An annotation of the namespace default; its quotes are escaped as in JSON. */
static void annotate(api *a, const char *name, const char *value)
{
    kc_scoped(kc_buf) quoted = {0};
    for (const char *c = value; *c; c++)
        kc_buf_puts(&quoted, *c == '\'' ? "\\'" : (char[]){*c, 0});
    assert_code(api_patch(a, "/api/v1/namespaces/default",
                          text(a, "{'metadata':{'annotations':{'" ALPHA "%s':'%s'}}}", name,
                               kc_buf_cstr(&quoted))),
                200);
}

static const reply *make_pod(api *a, const char *name, const char *resources,
                             const char *tolerations)
{
    return api_post(a, "/api/v1/namespaces/default/pods",
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i',"
                         "'resources':{%s}}],'tolerations':[%s]}}",
                         name, resources, tolerations));
}

static void default_tolerations_are_merged_into_new_pods(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_restricting(
        &config, HEAD "default: [{key: cluster, operator: Exists, effect: NoSchedule}]\n");
    assert_at(make_pod(a, "a", "", ""), "spec.tolerations",
              "[" TOLERATES("cluster", "NoSchedule") "]");
    annotate(a, "defaultTolerations", "[{'key':'team','operator':'Exists','effect':'NoExecute'}]");
    assert_at(make_pod(a, "b", "", "{'key':'own','operator':'Exists','effect':'NoSchedule'}"),
              "spec.tolerations",
              "[" TOLERATES("own", "NoSchedule") "," TOLERATES("team", "NoExecute") "]");
    annotate(a, "defaultTolerations", "");
    assert_at(make_pod(a, "c", "", ""), "spec.tolerations", "");
    kc__admission_config_done(&config);
}

static void pod_with_requests_tolerates_memory_pressure(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_restricting(&config, NULL);
    assert_at(make_pod(a, "a", "'requests':{'cpu':'1'}", ""), "spec.tolerations",
              "[" TOLERATES("node.kubernetes.io/memory-pressure", "NoSchedule") "]");
    assert_at(make_pod(a, "b", "", ""), "spec.tolerations", "");
    kc__admission_config_done(&config);
}

static void toleration_outside_the_whitelist_is_rejected(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_restricting(
        &config, HEAD "whitelist: [{key: cluster, operator: Exists, effect: NoSchedule}]\n");
    const char *team = "{'key':'team','operator':'Equal','value':'x','effect':'NoSchedule'}";
    const reply *r = make_pod(a, "a", "", team);
    assert_code(r, 500);
    assert_at(r, "message",
              "pod tolerations (possibly merged with namespace default tolerations) conflict with "
              "its cluster whitelist");
    annotate(a, "tolerationsWhitelist", "[{'key':'team','operator':'Exists'}]");
    assert_code(make_pod(a, "b", "", team), 201);
    r = make_pod(a, "c", "", "{'key':'cluster','operator':'Exists','effect':'NoSchedule'}");
    assert_code(r, 500);
    assert_at(r, "message",
              "pod tolerations (possibly merged with namespace default tolerations) conflict with "
              "its namespace whitelist");
    annotate(a, "tolerationsWhitelist", "");
    assert_code(make_pod(a, "d", "", "{'key':'any','operator':'Exists'}"), 201);
    kc__admission_config_done(&config);
}

static void annotation_that_is_no_list_of_tolerations_fails_pods(void **state)
{
    (void)state;
    static const struct {
        const char *value, *message;
    } wrong[] = {
        {"x", "invalid character 'x' looking for beginning of value"},
        {"{}", "json: cannot unmarshal object into Go value of type []v1.Toleration"},
        {"['a']", "json: cannot unmarshal string into Go value of type v1.Toleration"},
        {"[{'key':1}]",
         "json: cannot unmarshal number into Go struct field Toleration.key of type string"},
        {"[{'effect':true}]", "json: cannot unmarshal bool into Go struct field Toleration.effect "
                              "of type v1.TaintEffect"},
        {"[{'tolerationSeconds':'1'}]", "json: cannot unmarshal string into Go struct field "
                                        "Toleration.tolerationSeconds of type int64"},
        {"[{'tolerationSeconds':1.5}]", "json: cannot unmarshal number 1.5 into Go struct field "
                                        "Toleration.tolerationSeconds of type int64"},
    };
    kc__admission_config config = {0};
    kc_auto(api) *a = start_restricting(&config, NULL);
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        annotate(a, "defaultTolerations", wrong[i].value);
        const reply *r = make_pod(a, "p", "", "");
        assert_code(r, 500);
        assert_at(r, "message", wrong[i].message);
    }
    kc__admission_config_done(&config);
}

static void wrong_configuration_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem;
    } wrong[] = {
        {"kind: Configuration\n", ""},
        {HEAD "more: 1\n", "unknown field \"more\""},
        {HEAD "default: [{key: a, operator: Exists, value: b}]\n",
         "invalid config: default[0].operator: Invalid value"},
        {HEAD "whitelist: [{key: a, operator: Is}]\n",
         "invalid config: whitelist[0].operator: Unsupported value: \"Is\""},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc__admission_toleration_limits_parse(kc_cstr(wrong[i].text), &err));
        assert_contains(kc_error_text(&err), wrong[i].problem);
    }
}

TESTS(default_tolerations_are_merged_into_new_pods, pod_with_requests_tolerates_memory_pressure,
      toleration_outside_the_whitelist_is_rejected,
      annotation_that_is_no_list_of_tolerations_fails_pods, wrong_configuration_is_rejected)
