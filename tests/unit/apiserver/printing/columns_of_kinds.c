/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/registry.h"
#include "apiserver/printing/table.h"
#include "testing.h"

/* 2024-02-29T12:00:00Z */
static const kc_time now = (kc_time)1709208000 * 1000000000;
#define META "'metadata':{'name':'x','creationTimestamp':'2024-02-29T11:55:00Z'}"

/* How the cells of an object begin, as they stand in its row. */
static void assert_cells(const char *group, const char *version, const char *plural,
                         const char *json, const char *cells)
{
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__resource *resource =
        kc__registry_find(kinds, kc_cstr(group), kc_cstr(version), kc_cstr(plural));
    assert_non_null(resource);
    kc_auto(kc_object) *object = object_of(json);
    kc__print_table table = {.columns = kc__print_columns_of(resource),
                             .include = KC__PRINT_INCLUDE_NONE,
                             .now = now,
                             .no_headers = true};
    kc_scoped(kc_buf) out = {0}, expected = {0};
    kc__print_table_of(&table, &out, object);
    kc_buf_puts(&expected, "{\"cells\":[");
    for (const char *p = cells; *p; p++)
        kc_buf_putc(&expected, *p == '\'' ? '"' : *p);
    assert_contains(kc_buf_cstr(&out), kc_buf_cstr(&expected));
}

static void assert_pod(const char *rest, const char *cells)
{
    kc_autofree char *json = kc_asprintf("{" META ",'spec':{'containers':[{'name':'c'}]}%s}", rest);
    assert_cells("", "v1", "pods", json, cells);
}

static void pod_status_is_its_phase_unless_containers_have_a_reason(void **state)
{
    (void)state;
    assert_pod(",'status':{'phase':'Pending'}",
               "'x','0/1','Pending','0','5m','<none>','<none>','<none>','<none>'");
    assert_pod(",'status':{'phase':'Running','podIPs':[{'ip':'10.0.0.1'}],'containerStatuses':"
               "[{'name':'c','ready':true,'restartCount':0,'state':{'running':{}}}]}",
               "'x','1/1','Running','0','5m','10.0.0.1','<none>','<none>','<none>'");
    assert_pod(",'status':{'phase':'Running','containerStatuses':[{'name':'c','ready':false,"
               "'restartCount':3,'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':"
               "{'terminated':{'exitCode':1,'finishedAt':'2024-02-29T11:59:00Z'}}}]}",
               "'x','0/1','CrashLoopBackOff','3 (60s ago)','5m'");
    assert_pod(",'status':{'phase':'Failed','containerStatuses':[{'name':'c','restartCount':0,"
               "'state':{'terminated':{'exitCode':2}}}]}",
               "'x','0/1','ExitCode:2','0','5m'");
}

static void pod_status_has_progress_of_init_containers(void **state)
{
    (void)state;
    assert_cells("", "v1", "pods",
                 "{" META ",'spec':{'initContainers':[{'name':'a'},{'name':'b'}],"
                 "'containers':[{'name':'c'}]},'status':{'phase':'Pending',"
                 "'initContainerStatuses':[{'name':'a','restartCount':0,'state':{'terminated':"
                 "{'exitCode':0}}},{'name':'b','restartCount':0,'state':{'running':{}}}]}}",
                 "'x','0/1','Init:1/2','0','5m'");
}

static void deleted_pod_is_terminating(void **state)
{
    (void)state;
    assert_cells("", "v1", "pods",
                 "{'metadata':{'name':'x','creationTimestamp':'2024-02-29T11:55:00Z',"
                 "'deletionTimestamp':'2024-02-29T12:00:00Z'},'spec':{'containers':[{'name':'c'}]},"
                 "'status':{'phase':'Running'}}",
                 "'x','0/1','Terminating','0','5m'");
}

static void workload_rows_have_their_counts(void **state)
{
    (void)state;
    assert_cells("apps", "v1", "deployments",
                 "{" META ",'spec':{'replicas':3,'selector':{'matchLabels':{'a':'b'}},'template':"
                 "{'spec':{'containers':[{'name':'c','image':'i'},{'name':'d','image':'j'}]}}},"
                 "'status':{'readyReplicas':2,'updatedReplicas':3}}",
                 "'x','2/3',3,0,'5m','c,d','i,j','a=b'");
    assert_cells("apps", "v1", "daemonsets", "{" META ",'spec':{'selector':{}}}",
                 "'x',0,0,0,0,0,'<none>','5m','','','<none>'");
    assert_cells("batch", "v1", "jobs",
                 "{" META ",'spec':{'completions':2},'status':{'succeeded':1,"
                 "'startTime':'2024-02-29T11:58:00Z'}}",
                 "'x','Running','1/2','2m','5m','','','<none>'");
}

static void service_row_has_addresses_and_ports(void **state)
{
    (void)state;
    assert_cells("", "v1", "services",
                 "{" META ",'spec':{'type':'NodePort','clusterIPs':['10.96.0.9'],'ports':"
                 "[{'port':80,'nodePort':30080,'protocol':'TCP'},{'port':53,'protocol':'UDP'}],"
                 "'selector':{'app':'web'}}}",
                 "'x','NodePort','10.96.0.9','<none>','80:30080/TCP,53/UDP','5m','app=web'");
    assert_cells("", "v1", "services",
                 "{" META ",'spec':{'type':'LoadBalancer','clusterIPs':['10.96.0.9']}}",
                 "'x','LoadBalancer','10.96.0.9','<pending>','<none>','5m','<none>'");
}

static void endpoints_row_has_three_addresses(void **state)
{
    (void)state;
    assert_cells("", "v1", "endpoints", "{" META "}", "'x','<none>','5m'");
    assert_cells("", "v1", "endpoints",
                 "{" META ",'subsets':[{'addresses':[{'ip':'1.1.1.1'},{'ip':'1.1.1.2'}],"
                 "'ports':[{'port':80},{'port':81}]}]}",
                 "'x','1.1.1.1:80,1.1.1.2:80,1.1.1.1:81 + 1 more...','5m'");
}

static void endpoint_slice_row_has_three_addresses(void **state)
{
    (void)state;
    assert_cells("discovery.k8s.io", "v1", "endpointslices",
                 "{" META ",'addressType':'IPv4','ports':[{'name':'http','port':80},{'name':'x'}],"
                 "'endpoints':[{'addresses':['1.1.1.1','1.1.1.2']},{'addresses':['1.1.1.3',"
                 "'1.1.1.4']}]}",
                 "'x','IPv4','80,x','1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...','5m'");
    assert_cells("discovery.k8s.io", "v1", "endpointslices", "{" META "}",
                 "'x','','<unset>','<unset>','5m'");
}

static void node_row_has_status_and_roles(void **state)
{
    (void)state;
    assert_cells("", "v1", "nodes",
                 "{'metadata':{'name':'x','creationTimestamp':'2024-02-29T11:55:00Z','labels':"
                 "{'node-role.kubernetes.io/worker':''}},'spec':{'unschedulable':true},"
                 "'status':{'conditions':[{'type':'Ready','status':'True'}],"
                 "'nodeInfo':{'kubeletVersion':'v1'}}}",
                 "'x','Ready,SchedulingDisabled','worker','5m','v1','<none>','<none>',"
                 "'<unknown>','<unknown>','<unknown>'");
}

static void claim_row_has_volume_and_capacity(void **state)
{
    (void)state;
    assert_cells("", "v1", "persistentvolumeclaims",
                 "{" META ",'spec':{'volumeName':'v','storageClassName':'s'},'status':{'phase':"
                 "'Bound','capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']}}",
                 "'x','Bound','v','1Gi','RWO','s','<unset>','5m','<unset>'");
}

static void binding_row_has_role_and_subjects(void **state)
{
    (void)state;
    assert_cells("rbac.authorization.k8s.io", "v1", "rolebindings",
                 "{" META ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User',"
                 "'name':'a'},{'kind':'ServiceAccount','namespace':'n','name':'s'}]}",
                 "'x','Role/r','5m','a','','n/s'");
}

static void autoscaler_row_has_its_metrics(void **state)
{
    (void)state;
    assert_cells("autoscaling", "v2", "horizontalpodautoscalers",
                 "{" META ",'spec':{'scaleTargetRef':{'kind':'Deployment','name':'web'},"
                 "'minReplicas':1,'maxReplicas':5,'metrics':[{'type':'Resource','resource':"
                 "{'name':'cpu','target':{'averageUtilization':80}}}]}}",
                 "'x','Deployment/web','cpu: <unknown>/80%','1',5,0,'5m'");
}

static void storage_and_flow_control_rows_have_their_settings(void **state)
{
    (void)state;
    assert_cells("storage.k8s.io", "v1", "csidrivers",
                 "{" META ",'spec':{'attachRequired':false,'storageCapacity':true,"
                 "'tokenRequests':[{'audience':'a'},{'audience':'b'}],"
                 "'volumeLifecycleModes':['Persistent','Ephemeral']}}",
                 "'x',false,false,true,'a,b',false,'Persistent,Ephemeral','5m'");
    assert_cells("storage.k8s.io", "v1", "csidrivers", "{" META ",'spec':{}}",
                 "'x',true,false,false,'<unset>',false,'<none>','5m'");
    assert_cells("storage.k8s.io", "v1", "volumeattachments",
                 "{" META ",'spec':{'attacher':'a','nodeName':'n',"
                 "'source':{'persistentVolumeName':'pv'}},'status':{'attached':true}}",
                 "'x','a','pv','n',true,'5m'");
    assert_cells("flowcontrol.apiserver.k8s.io", "v1", "flowschemas",
                 "{" META ",'spec':{'priorityLevelConfiguration':{'name':'low'},"
                 "'matchingPrecedence':900,'distinguisherMethod':{'type':'ByUser'}},"
                 "'status':{'conditions':[{'type':'Dangling','status':'False'}]}}",
                 "'x','low',900,'ByUser','5m','False'");
    assert_cells("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "{" META ",'spec':{}}",
                 "'x','',0,'<none>','5m','?'");
    assert_cells("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
                 "{" META ",'spec':{'type':'Limited','limited':{'nominalConcurrencyShares':0,"
                 "'limitResponse':{'queuing':{'queues':64,'handSize':6,'queueLengthLimit':50}}}}}",
                 "'x','Limited',0,64,6,50,'5m'");
    assert_cells("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
                 "{" META ",'spec':{'type':'Exempt'}}",
                 "'x','Exempt','<none>','<none>','<none>','<none>','5m'");
}

static void certificate_request_row_has_its_condition(void **state)
{
    (void)state;
    assert_cells("certificates.k8s.io", "v1", "certificatesigningrequests",
                 "{" META ",'spec':{'signerName':'example.com/s','username':'jane'}}",
                 "'x','5m','example.com/s','jane','<none>','Pending'");
    assert_cells("certificates.k8s.io", "v1", "certificatesigningrequests",
                 "{" META ",'spec':{'signerName':'example.com/s','expirationSeconds':7200},"
                 "'status':{'certificate':'AA==','conditions':[{'type':'Approved'}]}}",
                 "'x','5m','example.com/s','','120m','Approved,Issued'");
    assert_cells("certificates.k8s.io", "v1", "certificatesigningrequests",
                 "{" META
                 ",'spec':{},'status':{'conditions':[{'type':'Failed'},{'type':'Denied'}]}}",
                 "'x','5m','<none>','','<none>','Denied,Failed'");
}

static void policy_and_revision_rows_have_parameters_and_owner(void **state)
{
    (void)state;
    assert_cells("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                 "{" META ",'spec':{'validations':[{}],'paramKind':{'apiVersion':'v1',"
                 "'kind':'ConfigMap'}}}",
                 "'x',1,'v1/ConfigMap','5m'");
    assert_cells("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
                 "{" META ",'spec':{'policyName':'p','paramRef':{'name':'a'}}}",
                 "'x','p','*/a','5m'");
    assert_cells("apps", "v1", "controllerrevisions",
                 "{'metadata':{'name':'x','ownerReferences':[{'apiVersion':'apps/v1',"
                 "'kind':'StatefulSet','name':'db','controller':true}],"
                 "'creationTimestamp':'2024-02-29T11:55:00Z'},'revision':3}",
                 "'x','statefulset.apps/db',3,'5m'");
    assert_cells("apps", "v1", "controllerrevisions", "{" META ",'revision':1}",
                 "'x','<none>',1,'5m'");
}

TESTS(pod_status_is_its_phase_unless_containers_have_a_reason,
      pod_status_has_progress_of_init_containers, deleted_pod_is_terminating,
      workload_rows_have_their_counts, service_row_has_addresses_and_ports,
      endpoints_row_has_three_addresses, endpoint_slice_row_has_three_addresses,
      node_row_has_status_and_roles, claim_row_has_volume_and_capacity,
      binding_row_has_role_and_subjects, autoscaler_row_has_its_metrics,
      storage_and_flow_control_rows_have_their_settings, certificate_request_row_has_its_condition,
      policy_and_revision_rows_have_parameters_and_owner)
