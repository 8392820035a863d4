/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin PodNodeSelector. The texts are those of kube-apiserver. */
#include "api_testing.h"

#include "apiserver/admission/admission_config.h"

#define CONFIG                                                              \
    "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: 'env=prod'," \
    " limited: 'disk=ssd, env=test'}"

static api *start_selecting(kc__admission_config *config, const char *text)
{
    kc__admission_selection on = 0;
    kc__admission_selection_parse("PodNodeSelector", &on, NULL);
    config->node_selectors = text ? kc__admission_node_selectors_parse(kc_cstr(text), NULL) : NULL;
    return api_start(&(api_opts){.server.enabled_plugins = on, .server.admission_config = config});
}

static void make_space(api *a, const char *name, const char *selector)
{
    const char *annotation =
        selector ? text(a, ",'annotations':{'scheduler.alpha.kubernetes.io/node-selector':'%s'}",
                        selector)
                 : "";
    assert_code(api_post(a, "/api/v1/namespaces",
                         text(a, "{'metadata':{'name':'%s'%s}}", name, annotation)),
                201);
}

static const reply *make_pod(api *a, const char *ns, const char *name, const char *selector)
{
    return api_post(a, text(a, "/api/v1/namespaces/%s/pods", ns),
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':"
                         "'i'}],'nodeSelector':{%s}}}",
                         name, selector));
}

static void selector_of_the_namespace_joins_that_of_the_pod(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_selecting(&config, NULL);
    make_space(a, "team", "env=dev, disk=ssd");
    const reply *r = make_pod(a, "team", "p", "'zone':'a','disk':'ssd'");
    assert_code(r, 201);
    assert_at(r, "spec.nodeSelector", "{\"disk\":\"ssd\",\"env\":\"dev\",\"zone\":\"a\"}");
    assert_at(make_pod(a, "default", "p", ""), "spec.nodeSelector", "");
    kc__admission_config_done(&config);
}

static void pod_with_another_value_is_forbidden(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_selecting(&config, NULL);
    make_space(a, "team", "env=dev");
    assert_status(make_pod(a, "team", "p", "'env':'prod'"), 403, "Forbidden",
                  "pods \"p\" is forbidden: pod node label selector conflicts with its namespace "
                  "node label selector");
    assert_status(api_post(a, "/api/v1/namespaces/team/pods",
                           "{'metadata':{'generateName':'p'},'spec':{'containers':[{'name':'c',"
                           "'image':'i'}],'nodeSelector':{'env':'x'}}}"),
                  403, "Forbidden",
                  "pods is forbidden: pod node label selector conflicts with its namespace node "
                  "label selector");
    kc__admission_config_done(&config);
}

static void configuration_has_the_default_and_the_allowed_labels(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_selecting(&config, CONFIG);
    make_space(a, "limited", "disk=ssd");
    make_space(a, "empty", "");
    assert_at(make_pod(a, "default", "p", ""), "spec.nodeSelector", "{\"env\":\"prod\"}");
    assert_at(make_pod(a, "empty", "p", ""), "spec.nodeSelector", "");
    assert_at(make_pod(a, "limited", "p", "'env':'test'"), "spec.nodeSelector",
              "{\"disk\":\"ssd\",\"env\":\"test\"}");
    assert_status(make_pod(a, "limited", "q", "'zone':'a'"), 403, "Forbidden",
                  "pods \"q\" is forbidden: pod node label selector labels conflict with its "
                  "namespace whitelist");
    kc__admission_config_done(&config);
}

static void update_of_a_pod_is_not_checked(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_auto(api) *a = start_selecting(&config, NULL);
    assert_code(make_pod(a, "default", "p", "'env':'prod'"), 201);
    assert_code(api_patch(a, "/api/v1/namespaces/default",
                          "{'metadata':{'annotations':{'scheduler.alpha.kubernetes.io/"
                          "node-selector':'env=dev'}}}"),
                200);
    assert_code(api_patch(a, "/api/v1/namespaces/default/pods/p", "{'metadata':{'labels':{}}}"),
                200);
    kc__admission_config_done(&config);
}

static void wrong_selector_of_a_namespace_fails_its_pods(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *message;
    } wrong[] = {
        {"env", "invalid selector: [env]"},
        {"a=b=c", "invalid selector: [a b c]"},
        {"a=b,", "invalid selector: []"},
        {"-x=b",
         "<nil>: Invalid value: \"-x\": name part must consist of alphanumeric characters, '-', "
         "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
         "'my.name',  or '123-abc', regex used for validation is "
         "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
        {"x=-b", "[x]: Invalid value: \"-b\": a valid label must be an empty string or consist of "
                 "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
                 "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
    };
    kc__admission_config config = {0};
    kc_auto(api) *a = start_selecting(&config, NULL);
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        const char *ns = text(a, "wrong-%zu", i);
        make_space(a, ns, wrong[i].selector);
        const reply *r = make_pod(a, ns, "p", "");
        assert_code(r, 500);
        assert_at(r, "message", wrong[i].message);
    }
    kc__admission_config_done(&config);
}

static void wrong_configuration_is_rejected(void **state)
{
    (void)state;
    static const char *const wrong[] = {"{}", "podNodeSelectorPluginConfig: x",
                                        "podNodeSelectorPluginConfig: {a: 1}", "a: ["};
    for (size_t i = 0; i < KC_COUNT(wrong); i++)
        assert_null(kc__admission_node_selectors_parse(kc_cstr(wrong[i]), NULL));
}

TESTS(selector_of_the_namespace_joins_that_of_the_pod, pod_with_another_value_is_forbidden,
      configuration_has_the_default_and_the_allowed_labels, update_of_a_pod_is_not_checked,
      wrong_selector_of_a_namespace_fails_its_pods, wrong_configuration_is_rejected)
