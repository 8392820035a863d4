/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that check permissions: owner references, signers of certificates. The texts are those
 * of kube-apiserver. */
#include "rbac_testing.h"

#define MAPS     "/api/v1/namespaces/default/configmaps"
#define REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"

/* A user with these rules in all namespaces. */
static void grant(rbac *r, const char *user, const char *rules)
{
    rbac_create(r, ROLES "/clusterroles",
                text(r->api, "{'metadata':{'name':'%s'},'rules':[%s]}", user, rules));
    rbac_create(r, ROLES "/clusterrolebindings",
                text(r->api,
                     "{'metadata':{'name':'%s'},'subjects':[{'kind':'User','name':'%s'}],"
                     "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
                     "'name':'%s'}}",
                     user, user, user));
}

#define OWNER(more)                                                                           \
    "{'metadata':{'name':'m','ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment'," \
    "'name':'d','uid':'u'" more "}]}}"
#define EDIT "{'apiGroups':[''],'resources':['configmaps'],'verbs':['get','create','update','patch'"

static rbac *start_with_owners(void)
{
    kc__admission_selection on = 0;
    kc__admission_selection_parse("OwnerReferencesPermissionEnforcement", &on, NULL);
    return rbac_start_with_plugins(on);
}

static void changed_owners_need_the_right_to_delete(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_owners();
    grant(r, "eve", EDIT "]}");
    grant(r, "bob", EDIT ",'delete']}");
    assert_code(AS(r, "eve", "POST", MAPS, "{'metadata':{'name':'m'}}"), 201);
    assert_status(AS(r, "eve", "PUT", MAPS "/m", OWNER("")), 403, "Forbidden",
                  "configmaps \"m\" is forbidden: cannot set an ownerRef on a resource you can't "
                  "delete: , <nil>");
    assert_code(AS(r, "eve", "PUT", MAPS "/m", "{'metadata':{'name':'m'},'data':{'a':'b'}}"), 200);
    assert_code(AS(r, "bob", "PUT", MAPS "/m", OWNER("")), 200);
}

static void blocking_owner_needs_the_right_to_its_finalizers(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_owners();
    grant(r, "eve", EDIT "]}");
    grant(r, "bob",
          EDIT "]},{'apiGroups':['apps'],'resources':['deployments/finalizers'],'verbs':["
               "'update']}");
    assert_status(AS(r, "eve", "POST", MAPS, OWNER(",'blockOwnerDeletion':true")), 403, "Forbidden",
                  "configmaps \"m\" is forbidden: cannot set blockOwnerDeletion if an "
                  "ownerReference refers to a resource you can't set finalizers on: , <nil>");
    assert_code(AS(r, "bob", "POST", MAPS, OWNER(",'blockOwnerDeletion':true")), 201);
    assert_status(
        AS(r, "eve", "POST", MAPS,
           "{'metadata':{'name':'n','ownerReferences':[{'apiVersion':'x.io/v1','kind':'Y',"
           "'name':'d','uid':'u','blockOwnerDeletion':true}]}}"),
        403, "Forbidden",
        "configmaps \"n\" is forbidden: cannot set blockOwnerDeletion in this case because cannot "
        "find RESTMapping for APIVersion x.io/v1 Kind Y: no matches for kind \"Y\" in version "
        "\"x.io/v1\"");
}

#define CSR_RULE(subresource, verbs)                                                            \
    "{'apiGroups':['certificates.k8s.io'],'resources':['certificatesigningrequests" subresource \
    "'],'verbs':[" verbs "]}"
#define SIGNERS(verb, names)                                                               \
    "{'apiGroups':['certificates.k8s.io'],'resources':['signers'],'resourceNames':[" names \
    "],'verbs':['" verb "']}"
#define APPROVED \
    "{'status':{'conditions':[{'type':'Approved','status':'True','reason':'r','message':'m'}]}}"

static const reply *patch_request(rbac *r, const char *user, const char *subresource,
                                  const char *body)
{
    return SEND(
        r->api, "PATCH", text(r->api, REQUESTS "/c/%s", subresource), .body = body,
        .type = "application/merge-patch+json",
        .headers = {"Authorization: Bearer admin", text(r->api, "Impersonate-User: %s", user)});
}

/* A PKCS#10 request of /CN=robot/O=robots. */
#define PKCS10                                                                       \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIY01JR0RBZ0VBTUNFeERqQU1CZ0" \
    "5WQkFNTUJYSnZZbTkwTVE4d0RRWURWUVFLREFaeWIySnZkSE13V1RBVApCZ2NxaGtqT1BRSUJCZ2dx" \
    "aGtqT1BRTUJCd05DQUFSWjRLcEQ5NEtYUjlvcUhhUFluUHZOYTUyU1dadHRmOG9jCmRycFBsVG51M3" \
    "hlS082Sk1XMTZOd3MxK014c1R6alFOeHNYelcrb1hZVEhaV0kvd0dTUWxvQUF3Q2dZSUtvWkkKemow" \
    "RUF3SURTQUF3UlFJaEFLNHQxc2xTRnNpZUhueHR0dkxYVll1dW14SGFRcFNXQlRPYTBXRlpEV3NSQW" \
    "lBMApENkdRQkF5cFE5ZUtHU0VnUjRNc2wzWG51TkdIY2ZlYnhsMmRPOThwMEE9PQotLS0tLUVORCBD" \
    "RVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
#define REQUEST_BODY                                                                        \
    "{'metadata':{'name':'c'},'spec':{'signerName':'x.io/robots','usages':['client auth']," \
    "'request':'" PKCS10 "'}}"

static void approval_needs_the_right_to_the_signer(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    grant(r, "eve", CSR_RULE("/approval", "'update','patch'"));
    grant(r, "bob", CSR_RULE("/approval", "'update','patch'") "," SIGNERS("approve", "'x.io/*'"));
    rbac_create(r, REQUESTS, REQUEST_BODY);
    assert_status(patch_request(r, "eve", "approval", APPROVED), 403, "Forbidden",
                  "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: user not "
                  "permitted to approve requests with signerName \"x.io/robots\"");
    assert_code(patch_request(r, "bob", "approval", APPROVED), 200);
}

static void signing_needs_the_right_to_the_signer(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
#define FAILED \
    "{'status':{'conditions':[{'type':'Failed','status':'True','reason':'r','message':'m'}]}}"
    grant(r, "eve", CSR_RULE("/status", "'update','patch'"));
    grant(r, "bob", CSR_RULE("/status", "'update','patch'") "," SIGNERS("sign", "'x.io/robots'"));
    rbac_create(r, REQUESTS, REQUEST_BODY);
    assert_status(patch_request(r, "eve", "status", FAILED), 403, "Forbidden",
                  "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: user not "
                  "permitted to sign requests with signerName \"x.io/robots\"");
    assert_code(patch_request(r, "bob", "status", FAILED), 200);
}

TESTS(changed_owners_need_the_right_to_delete, blocking_owner_needs_the_right_to_its_finalizers,
      approval_needs_the_right_to_the_signer, signing_needs_the_right_to_the_signer)
