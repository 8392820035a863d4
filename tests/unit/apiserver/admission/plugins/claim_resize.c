/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of claims. */
#include "api_testing.h"

#define CLAIM "/api/v1/namespaces/default/persistentvolumeclaims/c"

static void make_bound_claim(api *a, const char *expansion)
{
    assert_code(api_post(a, "/apis/storage.k8s.io/v1/storageclasses",
                         text(a,
                              "{'metadata':{'name':'s'},'provisioner':'example.com/p',"
                              "'allowVolumeExpansion':%s}",
                              expansion)),
                201);
    assert_code(api_post(a, "/api/v1/namespaces/default/persistentvolumeclaims",
                         "{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],"
                         "'storageClassName':'s','resources':{'requests':{'storage':'1Gi'}}}}"),
                201);
    assert_code(api_patch(a, CLAIM "/status", "{'status':{'phase':'Bound'}}"), 200);
}

static const reply *resize(api *a, const char *size)
{
    return api_patch(a, CLAIM,
                     text(a, "{'spec':{'resources':{'requests':{'storage':'%s'}}}}", size));
}

static void bound_claim_of_an_expandable_class_grows(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_bound_claim(a, "true");
    assert_code(resize(a, "2Gi"), 200);
}

static void claim_of_a_fixed_class_cannot_grow(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_bound_claim(a, "false");
    assert_status(resize(a, "2Gi"), 403, "Forbidden",
                  "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can "
                  "be resized and the storageclass that provisions the pvc must support resize");
    assert_code(api_patch(a, CLAIM, "{'metadata':{'labels':{'a':'b'}}}"), 200);
}

TESTS(bound_claim_of_an_expandable_class_grows, claim_of_a_fixed_class_cannot_grow)
