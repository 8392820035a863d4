/* SPDX-License-Identifier: Apache-2.0 */
/* Default classes of claims and Ingresses. */
#include "api_testing.h"

#define CLAIMS    "/api/v1/namespaces/default/persistentvolumeclaims"
#define CLASSES   "/apis/storage.k8s.io/v1/storageclasses"
#define INGRESSES "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
#define MARK      "'annotations':{'storageclass.kubernetes.io/is-default-class':'true'}"

static void make_class(api *a, const char *name, const char *metadata)
{
    assert_code(api_post(a, CLASSES,
                         text(a, "{'metadata':{'name':'%s'%s},'provisioner':'example.com/p'}", name,
                              metadata)),
                201);
}

static const reply *make_claim(api *a, const char *name, const char *metadata, const char *spec)
{
    return api_post(a, CLAIMS,
                    text(a,
                         "{'metadata':{'name':'%s'%s},'spec':{'accessModes':['ReadWriteOnce'],"
                         "'resources':{'requests':{'storage':'1Gi'}}%s}}",
                         name, metadata, spec));
}

static void claim_without_a_class_gets_the_newest_default(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    assert_at(make_claim(a, "none", "", ""), "spec.storageClassName", "");
    make_class(a, "other", "");
    make_class(a, "older", "," MARK);
    assert_at(make_claim(a, "a", "", ""), "spec.storageClassName", "older");
    make_class(a, "also", "," MARK);
    assert_at(make_claim(a, "b", "", ""), "spec.storageClassName", "also");
    api_advance(a, 2 * KC_SECOND);
    make_class(a, "newest",
               ",'annotations':{'storageclass.beta.kubernetes.io/is-default-class':'true'}");
    assert_at(make_claim(a, "c", "", ""), "spec.storageClassName", "newest");
}

static void claim_with_a_class_keeps_it(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_class(a, "default", "," MARK);
    assert_at(make_claim(a, "a", "", ",'storageClassName':'own'"), "spec.storageClassName", "own");
    assert_at(make_claim(a, "b", "", ",'storageClassName':''"), "spec.storageClassName", "");
    assert_at(
        make_claim(a, "c", ",'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}", ""),
        "spec.storageClassName", "");
}

static void ingress_without_a_class_gets_the_default(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
#define INGRESS(name, more)                                                                   \
    "{'metadata':{'name':'" name "'},'spec':{'defaultBackend':{'service':{'name':'s','port':" \
    "{'number':80}}}" more "}}"
    assert_code(api_post(a, "/apis/networking.k8s.io/v1/ingressclasses",
                         "{'metadata':{'name':'x','annotations':{"
                         "'ingressclass.kubernetes.io/is-default-class':'true'}},"
                         "'spec':{'controller':'example.com/c'}}"),
                201);
    assert_at(api_post(a, INGRESSES, INGRESS("a", "")), "spec.ingressClassName", "x");
    assert_at(api_post(a, INGRESSES, INGRESS("b", ",'ingressClassName':'own'")),
              "spec.ingressClassName", "own");
}

TESTS(claim_without_a_class_gets_the_newest_default, claim_with_a_class_keeps_it,
      ingress_without_a_class_gets_the_default)
