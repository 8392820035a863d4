/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of volumes, claims, storage classes, CSI objects and nodes. */
#include "kinds_samples.h"

static const sample pv_1[] = {
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'hostPath':{'path':'/x'}}}",
     "spec.capacity: Required value\n"
     "spec.capacity: Unsupported value: null: supported values: "
     "\"storage\""},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'0'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}",
     "spec.capacity[storage]: Invalid value: \"0\": must be greater "
     "than zero"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'cpu':'1'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}",
     "spec.capacity: Unsupported value: {\"cpu\":\"1\"}: supported "
     "values: \"storage\""},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'-1'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}",
     "spec.capacity[storage]: Invalid value: -1: must be a valid "
     "resource quantity\n"
     "spec.capacity[storage]: Invalid value: \"-1\": must be greater "
     "than zero"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':[],'hostPath':{'path':'/x'}}}",
     "spec.accessModes: Required value"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['X'],'hostPath':{'path':'/x'}}}",
     "spec.accessModes: Unsupported value: \"X\": supported values: "
     "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", "
     "\"ReadWriteOncePod\""},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce','ReadWriteOncePod'],"
     "'hostPath':{'path':'/x'}}}",
     "spec.accessModes: Forbidden: may not use ReadWriteOncePod "
     "with other access modes"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce']}}",
     "spec: Required value: must specify a volume type"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'},"
     "'nfs':{'server':'a','path':'/b'}}}",
     "spec.nfs: Forbidden: may not specify more than 1 volume type"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':''}}}",
     "spec.hostPath.path: Required value"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],"
     "'hostPath':{'path':'/a/../b'}}}",
     "spec.hostPath.path: Invalid value: \"/a/../b\": must not "
     "contain '..'"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'nfs':{'server':'',"
     "'path':'b'}}}",
     "spec.nfs.server: Required value\n"
     "spec.nfs.path: Invalid value: \"b\": must be an absolute path"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'},"
     "'persistentVolumeReclaimPolicy':'X'}}",
     "spec.persistentVolumeReclaimPolicy: Unsupported value: \"X\": "
     "supported values: \"Delete\", \"Recycle\", \"Retain\""},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/'},"
     "'persistentVolumeReclaimPolicy':'Recycle'}}",
     "spec.persistentVolumeReclaimPolicy: Forbidden: may not be "
     "'recycle' for a hostPath mount of '/'"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'},"
     "'storageClassName':'A_'}}",
     "spec.storageClassName: Invalid value: \"A_\": " SUBDOMAIN},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'},"
     "'volumeMode':'X'}}",
     "spec.volumeMode: Unsupported value: \"X\": supported values: "
     "\"Block\", \"Filesystem\""},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'local':{'path':'/x'}}}",
     "spec.nodeAffinity: Required value: Local volume requires node "
     "affinity"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'local':{'path':''},"
     "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'"
     "matchExpressions':[{'key':'a','operator':'Exists'}]}]}}}}",
     "spec.local.path: Required value"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'csi':{'driver':'a b'}}}",
     "spec.csi.driver: Invalid value: \"a b\": " SUBDOMAIN "\n"
     "spec.csi.volumeHandle: Required value"},
    {"{'apiVersion':'v1','kind':'PersistentVolume',"
     "'metadata':{'name':'pv'},'spec':{'capacity':{'storage':'1Gi'},"
     "'accessModes':['ReadWriteOnce'],'csi':{'driver':'a.b',"
     "'volumeHandle':''}}}",
     "spec.csi.volumeHandle: Required value"},
};

static void invalid_persistent_volumes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.PersistentVolume", &kc__strategy_volume, pv_1,
                   KC_COUNT(pv_1));
}

static const sample pvc_2[] = {
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},'spec':{'accessModes':[],"
     "'resources':{'requests':{'storage':'1Gi'}}}}",
     "spec.accessModes: Required value: at least 1 access mode is "
     "required"},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},'spec':{'accessModes':['X'],"
     "'resources':{'requests':{'storage':'1Gi'}}}}",
     "spec.accessModes: Unsupported value: \"X\": supported values: "
     "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", "
     "\"ReadWriteOncePod\""},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce','ReadWriteOncePod'],"
     "'resources':{'requests':{'storage':'1Gi'}}}}",
     "spec.accessModes: Forbidden: may not use ReadWriteOncePod "
     "with other access modes"},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],'resources':{}}}",
     "spec.resources[storage]: Required value"},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'0'}}}}",
     "spec.resources[storage]: Invalid value: \"0\": must be greater "
     "than zero"},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'-1'}}}}",
     "spec.resources[storage]: Invalid value: \"-1\": must be greater "
     "than zero"},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'1Gi'}},"
     "'storageClassName':'A_'}}",
     "spec.storageClassName: Invalid value: \"A_\": " SUBDOMAIN},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'1Gi'}},'volumeMode':'X'}}",
     "spec.volumeMode: Unsupported value: \"X\": supported values: "
     "\"Block\", \"Filesystem\""},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'1Gi'}},"
     "'selector':{'matchLabels':{'a b':'c'}}}}",
     "spec.selector.matchLabels: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
     "'metadata':{'name':'pvc'},"
     "'spec':{'accessModes':['ReadWriteOnce'],"
     "'resources':{'requests':{'storage':'1Gi'}},"
     "'dataSourceRef':{'kind':'','name':''}}}",
     "spec.dataSource.name: Required value\n"
     "spec.dataSource.kind: Required value\n"
     "spec.dataSource: Invalid value: \"\": must be "
     "'PersistentVolumeClaim' when referencing the default apiGroup\n"
     "spec.dataSourceRef.name: Required value\n"
     "spec.dataSourceRef.kind: Required value\n"
     "spec.dataSourceRef: Invalid value: \"\": must be "
     "'PersistentVolumeClaim' when referencing the default apiGroup"},
};

static void invalid_persistent_volume_claims_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.PersistentVolumeClaim", &kc__strategy_claim, pvc_2,
                   KC_COUNT(pvc_2));
}

static const sample sc_3[] = {
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':''}",
     "provisioner: Required value"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a b'}",
     "provisioner: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'A_.b/C'}",
     "provisioner: Invalid value: \"a_.b/c\": prefix part " SUBDOMAIN},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a.b/c',"
     "'reclaimPolicy':'X'}",
     "reclaimPolicy: Unsupported value: \"X\": supported values: "
     "\"Delete\", \"Retain\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a.b/c',"
     "'reclaimPolicy':'Recycle'}",
     "reclaimPolicy: Unsupported value: \"Recycle\": supported "
     "values: \"Delete\", \"Retain\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a.b/c',"
     "'volumeBindingMode':'X'}",
     "volumeBindingMode: Unsupported value: \"X\": supported values: "
     "\"Immediate\", \"WaitForFirstConsumer\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a.b/c',"
     "'parameters':{'':'x'}}",
     "parameters: Invalid value: \"\": field can not be empty."},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
     "'metadata':{'name':'sc'},'provisioner':'a.b/c',"
     "'allowedTopologies':[{'matchLabelExpressions':[{'key':'a b',"
     "'values':[]}]}]}",
     "allowedTopologies[0].matchLabelExpressions[0].values: "
     "Required value\n"
     "allowedTopologies[0].matchLabelExpressions[0].key: Invalid "
     "value: \"a b\": " QUALIFIED},
};

static void invalid_storage_classes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.storage.v1.StorageClass", &kc__strategy_storage_class, sc_3,
                   KC_COUNT(sc_3));
}

static const sample csidriver_4[] = {
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver',"
     "'metadata':{'name':'d.example'},"
     "'spec':{'volumeLifecycleModes':['X']}}",
     "spec.volumeLifecycleModes: Unsupported value: \"X\": supported "
     "values: \"Persistent\", \"Ephemeral\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver',"
     "'metadata':{'name':'d.example'},'spec':{'fsGroupPolicy':'X'}}",
     "spec.fsGroupPolicy: Unsupported value: \"X\": supported values: "
     "\"File\", \"None\", \"ReadWriteOnceWithFSType\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver',"
     "'metadata':{'name':'d.example'},"
     "'spec':{'tokenRequests':[{'audience':'a'},{'audience':'a'}]}}",
     "spec.tokenRequests[1].audience: Duplicate value: \"a\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver',"
     "'metadata':{'name':'d.example'},"
     "'spec':{'tokenRequests':[{'audience':'a',"
     "'expirationSeconds':5}]}}",
     "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: "
     "may not specify a duration less than 10 minutes"},
};

static const sample csinode_4[] = {
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'',"
     "'nodeID':'n','topologyKeys':null}]}}",
     "spec.drivers[0].name: Required value\n"
     "spec.drivers[0].name: Invalid value: \"\": " SUBDOMAIN},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a b',"
     "'nodeID':'n','topologyKeys':null}]}}",
     "spec.drivers[0].name: Invalid value: \"a b\": " SUBDOMAIN},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a.b',"
     "'nodeID':'','topologyKeys':null}]}}",
     "spec.drivers[0].nodeID: Required value"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a.b',"
     "'nodeID':'n','topologyKeys':['a b']}]}}",
     "spec.drivers[0]: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a.b',"
     "'nodeID':'n','topologyKeys':['a','a']}]}}",
     "spec.drivers[0]: Duplicate value: \"a\""},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a.b',"
     "'nodeID':'n','topologyKeys':['']}]}}",
     "spec.drivers[0]: Required value\n"
     "spec.drivers[0]: Invalid value: \"\": name part must be "
     "non-empty\n"
     "spec.drivers[0]: Invalid value: \"\": " QUALIFIED},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a.b',"
     "'nodeID':'n','topologyKeys':null,"
     "'allocatable':{'count':-1}}]}}",
     "spec.drivers[0].allocatable.count: Invalid value: -1: must be "
     "greater than or equal to 0"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode',"
     "'metadata':{'name':'n1'},'spec':{'drivers':[{'name':'a',"
     "'nodeID':'n','topologyKeys':null},{'name':'a','nodeID':'n',"
     "'topologyKeys':null}]}}",
     "spec.drivers[1].name: Duplicate value: \"a\""},
};

static const sample va_4[] = {
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment',"
     "'metadata':{'name':'va'},'spec':{'attacher':'a.b',"
     "'nodeName':'','source':{'persistentVolumeName':'pv'}}}",
     "spec.nodeName: Invalid value: \"\": " SUBDOMAIN},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment',"
     "'metadata':{'name':'va'},'spec':{'attacher':'a.b',"
     "'nodeName':'n','source':{}}}",
     "spec.source: Required value: must specify exactly one of "
     "inlineVolumeSpec and persistentVolumeName"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment',"
     "'metadata':{'name':'va'},'spec':{'attacher':'a.b',"
     "'nodeName':'n','source':{'persistentVolumeName':'x',"
     "'inlineVolumeSpec':{}}}}",
     "spec.source: Forbidden: must specify exactly one of "
     "inlineVolumeSpec and persistentVolumeName"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment',"
     "'metadata':{'name':'va'},'spec':{'attacher':'a b',"
     "'nodeName':'n','source':{'persistentVolumeName':'pv'}}}",
     "spec.attacher: Invalid value: \"a b\": " SUBDOMAIN},
};

static const sample rtc_4[] = {
    {"{'apiVersion':'node.k8s.io/v1','kind':'RuntimeClass',"
     "'metadata':{'name':'rt'},'handler':''}",
     "handler: Invalid value: \"\": " LABEL},
    {"{'apiVersion':'node.k8s.io/v1','kind':'RuntimeClass',"
     "'metadata':{'name':'rt'},'handler':'A_'}",
     "handler: Invalid value: \"A_\": " LABEL},
};

static void invalid_csi_and_runtime_objects_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.storage.v1.CSIDriver", &kc__strategy_csi_driver, csidriver_4,
                   KC_COUNT(csidriver_4));
    assert_samples("io.k8s.api.storage.v1.CSINode", &kc__strategy_csi_node, csinode_4,
                   KC_COUNT(csinode_4));
    assert_samples("io.k8s.api.storage.v1.VolumeAttachment", &kc__strategy_volume_attachment, va_4,
                   KC_COUNT(va_4));
    assert_samples("io.k8s.api.node.v1.RuntimeClass", &kc__strategy_runtime_class, rtc_4,
                   KC_COUNT(rtc_4));
}

static const sample node_5[] = {
    {"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},"
     "'spec':{'podCIDR':'x'}}",
     "spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR "
     "value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
    {"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},"
     "'spec':{'podCIDRs':['10.0.0.0/24','10.0.1.0/24']}}",
     "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: "
     "may specify no more than one CIDR for each IP family"},
    {"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},"
     "'spec':{'taints':[{'key':'a','effect':'X'}]}}",
     "metadata.taints[0].effect: Unsupported value: \"X\": supported "
     "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
    {"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},"
     "'spec':{'taints':[{'key':'','effect':''}]}}",
     "metadata.taints[0].key: Invalid value: \"\": name part must be "
     "non-empty\n"
     "metadata.taints[0].key: Invalid value: \"\": " QUALIFIED "\n"
     "metadata.taints[0].effect: Required value"},
    {"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},"
     "'spec':{'taints':[{'key':'a','effect':'NoSchedule'},"
     "{'key':'a','effect':'NoSchedule'}]}}",
     "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\","
     "\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must be "
     "unique by key and effect pair"},
};

static void invalid_nodes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Node", &kc__strategy_node, node_5, KC_COUNT(node_5));
}

TESTS(invalid_persistent_volumes_are_reported, invalid_persistent_volume_claims_are_reported,
      invalid_storage_classes_are_reported, invalid_csi_and_runtime_objects_are_reported,
      invalid_nodes_are_reported)
