/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of the volumes of pods. */
#include "kinds_samples.h"

static const sample pod_1[] = {
    {POD_WITH(",'volumes':[{'name':'','emptyDir':{}}]"), "spec.volumes[0].name: Required value"},
    {POD_WITH(",'volumes':[{'name':'A','emptyDir':{}}]"),
     "spec.volumes[0].name: Invalid value: \"A\": " LABEL},
    {POD_WITH(",'volumes':[{'name':'a','emptyDir':{}},{'name':'a',"
              "'emptyDir':{}}]"),
     "spec.volumes[1].name: Duplicate value: \"a\""},
    {POD_WITH(",'volumes':[{'name':'v','emptyDir':{},"
              "'hostPath':{'path':'/x'}}]"),
     "spec.volumes[0].hostPath: Forbidden: may not specify more "
     "than 1 volume type"},
    {POD_WITH(",'volumes':[{'name':'v','emptyDir':{'sizeLimit':'-1'}}]"),
     "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit "
     "field must be a valid resource quantity"},
    {POD_WITH(",'volumes':[{'name':'v','hostPath':{}}]"),
     "spec.volumes[0].hostPath.path: Required value"},
    {POD_WITH(",'volumes':[{'name':'v','hostPath':{'path':'/a/../b'}}]"),
     "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must "
     "not contain '..'"},
    {POD_WITH(",'volumes':[{'name':'v','hostPath':{'path':'/a','type':'X'}}]"),
     "spec.volumes[0].hostPath.type: Unsupported value: \"X\": "
     "supported values: \"\", \"BlockDevice\", \"CharDevice\", "
     "\"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", "
     "\"Socket\""},
    {POD_WITH(",'volumes':[{'name':'v','secret':{}}]"),
     "spec.volumes[0].secret.secretName: Required value"},
    {POD_WITH(",'volumes':[{'name':'v','secret':{'secretName':'s',"
              "'defaultMode':1000,'items':[{}]}}]"),
     "spec.volumes[0].secret.defaultMode: Invalid value: 1000: must "
     "be a number between 0 and 0777 (octal), both inclusive\n"
     "spec.volumes[0].secret.items[0].key: Required value\n"
     "spec.volumes[0].secret.items[0].path: Required value"},
    {POD_WITH(",'volumes':[{'name':'v','secret':{'secretName':'s',"
              "'items':[{'key':'a','path':'/b','mode':-1}]}}]"),
     "spec.volumes[0].secret.items[0].path: Invalid value: \"/b\": "
     "must be a relative path\n"
     "spec.volumes[0].secret.items[0].mode: Invalid value: -1: must "
     "be a number between 0 and 0777 (octal), both inclusive"},
    {POD_WITH(",'volumes':[{'name':'v','secret':{'secretName':'s',"
              "'items':[{'key':'a','path':'..b'}]}}]"),
     "spec.volumes[0].secret.items[0].path: Invalid value: \"..b\": "
     "must not start with '..'"},
    {POD_WITH(",'volumes':[{'name':'v','secret':{'secretName':'s',"
              "'items':[{'key':'a','path':'../b'}]}}]"),
     "spec.volumes[0].secret.items[0].path: Invalid value: \"../b\": "
     "must not contain '..'"},
    {POD_WITH(",'volumes':[{'name':'v','configMap':{}}]"),
     "spec.volumes[0].configMap.name: Required value"},
    {POD_WITH(",'volumes':[{'name':'v','configMap':{'name':'x',"
              "'items':[{'key':'','path':''}]}}]"),
     "spec.volumes[0].configMap.items[0].key: Required value\n"
     "spec.volumes[0].configMap.items[0].path: Required value"},
    {POD_WITH(",'volumes':[{'name':'v','downwardAPI':{'items':[{}]}}]"),
     "spec.volumes[0].downwardAPI.path: Required value\n"
     "spec.volumes[0].downwardAPI: Required value: one of fieldRef "
     "and resourceFieldRef is required"},
    {POD_WITH(",'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'a',"
              "'fieldRef':{'fieldPath':'status.podIP'}}]}}]"),
     "spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported "
     "value: \"status.podIP\": supported values: "
     "\"metadata.annotations\", \"metadata.labels\", \"metadata.name\", "
     "\"metadata.namespace\", \"metadata.uid\""},
    {POD_WITH(",'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'a',"
              "'resourceFieldRef':{'resource':'limits.cpu'}}]}}]"),
     "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: "
     "Required value"},
    {POD_WITH(",'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'a',"
              "'resourceFieldRef':{'resource':'limits.cpu',"
              "'containerName':'c','divisor':'7'}}]}}]"),
     "spec.volumes[0].downwardAPI.resourceFieldRef.divisor: Invalid "
     "value: \"limits.cpu\": only divisor's values 1m and 1 are "
     "supported with the cpu resource"},
    {POD_WITH(",'volumes':[{'name':'v','downwardAPI':{'defaultMode':9999}}]"),
     "spec.volumes[0].downwardAPI.defaultMode: Invalid value: 9999: "
     "must be a number between 0 and 0777 (octal), both inclusive"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'secret':{'name':''}}]}}]"),
     "spec.volumes[0].projected.sources[0].secret.name: Required "
     "value"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'secret':{'name':'a',"
              "'items':[{'key':'x','path':'p'}]}},{'configMap':{'name':'b',"
              "'items':[{'key':'x','path':'p'}]}}]}}]"),
     "spec.volumes[0].projected: Invalid value: \"b\": conflicting "
     "duplicate paths"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'serviceAccountToken':{'path':'t',"
              "'expirationSeconds':5}}]}}]"),
     "spec.volumes[0].projected.sources[0].serviceAccountToken."
     "expirationSeconds: Invalid value: 5: may not specify a "
     "duration less than 10 minutes\n"
     "spec.volumes[0].projected.sources[0].serviceAccountToken: "
     "Forbidden: must not be specified when serviceAccountName is "
     "not set"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'serviceAccountToken':{}}]}}]"),
     "spec.volumes[0].projected.path: Required value\n"
     "spec.volumes[0].projected.sources[0].serviceAccountToken: "
     "Forbidden: must not be specified when serviceAccountName is "
     "not set"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'secret':{'name':'a'},"
              "'configMap':{'name':'b'}}]}}]"),
     "spec.volumes[0].projected.sources[0]: Forbidden: may not "
     "specify more than 1 volume type per source"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'projected':{'sources':[{'downwardAPI':{'items':[{'path':'x'}]"
              "}}]}}]"),
     "spec.volumes[0].projected.sources[0].downwardAPI: Required "
     "value: one of fieldRef and resourceFieldRef is required"},
    {POD_WITH(",'volumes':[{'name':'v','projected':{'defaultMode':-1,"
              "'sources':[]}}]"),
     "spec.volumes[0].projected.defaultMode: Invalid value: -1: "
     "must be a number between 0 and 0777 (octal), both inclusive"},
    {POD_WITH(",'volumes':[{'name':'v','persistentVolumeClaim':{}}]"),
     "spec.volumes[0].persistentVolumeClaim.claimName: Required "
     "value"},
    {POD_WITH(",'volumes':[{'name':'v','csi':{}}]"),
     "spec.volumes[0].csi.driver: Required value\n"
     "spec.volumes[0].csi.driver: Invalid value: \"\": " SUBDOMAIN},
    {POD_WITH(",'volumes':[{'name':'v','csi':{'driver':'a b'}}]"),
     "spec.volumes[0].csi.driver: Invalid value: \"a b\": " SUBDOMAIN},
    {POD_WITH(",'volumes':[{'name':'v','csi':{'driver':'a.b',"
              "'nodePublishSecretRef':{}}}]"),
     "spec.volumes[0].csi.nodePublishSecretRef.name: Required value"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'csi':{'driver':'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxxxxxxxxxxxxxxx'}}]"),
     "spec.volumes[0].csi.driver: Too long: may not be more than 63 "
     "bytes"},
    {POD_WITH(",'volumes':[{'name':'v','ephemeral':{}}]"),
     "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
    {POD_WITH(",'volumes':[{'name':'v',"
              "'ephemeral':{'volumeClaimTemplate':{'spec':{}}}}]"),
     "spec.volumes[0].ephemeral.volumeClaimTemplate.spec."
     "accessModes: Required value: at least 1 access mode is "
     "required\n"
     "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources["
     "storage]: Required value"},
};

static void invalid_volumes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_1, KC_COUNT(pod_1));
}

static const sample pod_2[] = {
    {CONTAINER_WITH("'volumeMounts':[{'name':'v','mountPath':'/x'}]"),
     "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
    {CONTAINER_WITH("'volumeMounts':[{}]"),
     "spec.containers[0].volumeMounts[0].name: Required value\n"
     "spec.containers[0].volumeMounts[0].name: Not found: \"\"\n"
     "spec.containers[0].volumeMounts[0].mountPath: Required value"},
    {CONTAINER_WITH("'volumeDevices':[{'name':'v','devicePath':'/x'}]"),
     "spec.containers[0].volumeDevices[0].name: Not found: \"v\""},
};

static void invalid_volume_devices_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_2, KC_COUNT(pod_2));
}

TESTS(invalid_volumes_are_reported, invalid_volume_devices_are_reported)
