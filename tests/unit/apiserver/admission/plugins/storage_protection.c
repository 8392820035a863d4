/* SPDX-License-Identifier: Apache-2.0 */
/* Finalizers of storage objects. */
#include "api_testing.h"

static void new_storage_objects_get_their_finalizer_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, "/api/v1/namespaces/default/persistentvolumeclaims",
                              "{'metadata':{'name':'c','finalizers':['example.com/x']},'spec':"
                              "{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"
                              "'1Gi'}}}}");
    assert_at(r, "metadata.finalizers", "[\"example.com/x\",\"kubernetes.io/pvc-protection\"]");
    r = api_post(a, "/api/v1/persistentvolumes",
                 "{'metadata':{'name':'v','finalizers':['kubernetes.io/pv-protection']},'spec':"
                 "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':"
                 "'/x'}}}");
    assert_at(r, "metadata.finalizers", "[\"kubernetes.io/pv-protection\"]");
    r = api_post(a, "/apis/storage.k8s.io/v1/volumeattributesclasses",
                 "{'metadata':{'name':'a'},'driverName':'example.com','parameters':{'a':'b'}}");
    assert_at(r, "metadata.finalizers", "[\"kubernetes.io/vac-protection\"]");
}

static void update_can_remove_the_finalizer(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, "/api/v1/persistentvolumes",
                         "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},"
                         "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}"),
                201);
    assert_at(api_patch(a, "/api/v1/persistentvolumes/v", "{'metadata':{'finalizers':null}}"),
              "metadata.finalizers", "");
}

TESTS(new_storage_objects_get_their_finalizer_once, update_can_remove_the_finalizer)
