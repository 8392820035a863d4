#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What `kubectl get` shows of each kind, as a real cluster shows it; also wide, and in watches. All tests look at the same objects
# (fixtures/kinds.yaml), whose statuses are written here as controllers and nodes would.

setup_file() {
    load helpers
    server_start
    NS=tables
    export NS
    kubectl create namespace $NS
    sed "s/NAMESPACE/$NS/" "$E2E/fixtures/kinds.yaml" | k create -f -
    write_statuses
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
    for name in press saw; do
        k create -f - <<<"{\"apiVersion\":\"factory.example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":\"$name\"},\"spec\":{\"load\":3}}"
    done
    k patch machine saw --type=merge -p '{"spec":{"mode":"fast"}}'
}

teardown_file() { load helpers; server_stop; }
setup() { load helpers; job=; }
teardown() { background_end; }

# status GROUP_VERSION RESOURCE NAME JSON: writes the status of an object.
status() {
    local prefix=/apis/$1/namespaces/$NS
    [[ $1 == */* ]] || prefix=/api/$1/namespaces/$NS
    [[ $2 =~ ^(nodes|persistentvolumes)$ ]] && prefix=/api/v1
    api "$prefix/$2/$3/status" -f -o /dev/null -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\"status\":$4}"
}

write_statuses() {
    status v1 nodes node-1 '{"conditions":[{"type":"Ready","status":"True"}],
        "addresses":[{"type":"InternalIP","address":"192.0.2.1"},{"type":"ExternalIP","address":"198.51.100.1"}],
        "nodeInfo":{"kubeletVersion":"v1.34.1","osImage":"Debian 13","kernelVersion":"6.12.0","containerRuntimeVersion":"containerd://2.0.0"}}'
    status v1 pods pod-running '{"phase":"Running","podIP":"10.1.0.7","podIPs":[{"ip":"10.1.0.7"}],
        "initContainerStatuses":[{"name":"init","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}],
        "containerStatuses":[{"name":"main","ready":true,"restartCount":2,"state":{"running":{"startedAt":"2020-01-01T00:00:00Z"}}},
            {"name":"side","ready":false,"restartCount":5,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}'
    status apps/v1 deployments web '{"replicas":3,"readyReplicas":2,"updatedReplicas":3,"availableReplicas":2,"unavailableReplicas":1}'
    status apps/v1 replicasets web-1 '{"replicas":2,"readyReplicas":1}'
    status apps/v1 statefulsets db '{"replicas":2,"readyReplicas":1}'
    status apps/v1 daemonsets agent '{"currentNumberScheduled":3,"desiredNumberScheduled":4,"numberAvailable":1,"numberReady":2,
        "updatedNumberScheduled":3}'
    status v1 replicationcontrollers old '{"replicas":2,"readyReplicas":1}'
    status batch/v1 jobs work '{"startTime":"2020-01-01T00:00:00Z","succeeded":1,"active":1}'
    status batch/v1 cronjobs nightly '{"active":[{"name":"nightly-1"}],"lastScheduleTime":"2020-01-01T00:00:00Z"}'
    status v1 resourcequotas quota '{"hard":{"pods":"10","limits.cpu":"2"},"used":{"pods":"3","limits.cpu":"1"}}'
    status policy/v1 poddisruptionbudgets budget '{"currentHealthy":3,"desiredHealthy":1,"disruptionsAllowed":2,"expectedPods":3}'
    status networking.k8s.io/v1 ingresses front '{"loadBalancer":{"ingress":[{"ip":"192.0.2.9"},{"hostname":"lb.example.com"}]}}'
    status v1 persistentvolumes volume '{"phase":"Available"}'
    status autoscaling/v2 horizontalpodautoscalers web '{"currentReplicas":2,"desiredReplicas":3,
        "currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":40,"averageValue":"10m"}}}]}'
}

# shows EXPECTED ARGUMENT…: `kubectl get` prints the lines expected, apart from blanks, ages, times, and addresses and names given by the server.
shows() {
    local expected=$1
    shift
    diff -u <(printf '%s\n' "$expected") <(k get "$@" | sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UID/g; s/  +/  /g; s/ +$//; s/\b([0-9]+[smhd]){1,2}\b/AGE/g; s/\b[0-9]+y[0-9]+d\b/YEARS/g
        s/20[0-9-]+T[0-9:]+Z/TIME/g; s/\b10\.[0-9.]+/IP/g; /^$/d')
}

@test "nodes" {
    shows 'NAME  STATUS  ROLES  AGE  VERSION
node-1  Ready  worker  AGE  v1.34.1' nodes
    shows 'NAME  STATUS  ROLES  AGE  VERSION  INTERNAL-IP  EXTERNAL-IP  OS-IMAGE  KERNEL-VERSION  CONTAINER-RUNTIME
node-1  Ready  worker  AGE  v1.34.1  192.0.2.1  198.51.100.1  Debian 13  6.12.0  containerd://2.0.0' nodes -o wide
}

@test "namespaces" {
    shows 'NAME  STATUS  AGE
tables  Active  AGE' namespace tables
}

@test "config maps, secrets and service accounts" {
    shows 'NAME  DATA  AGE
configmap/settings  3  AGE
NAME  TYPE  DATA  AGE
secret/password  Opaque  1  AGE
NAME  SECRETS  AGE
serviceaccount/robot  1  AGE' configmaps,secrets,serviceaccounts
}

@test "pods" {
    shows 'NAME  READY  STATUS  RESTARTS  AGE
pod-running  1/2  CrashLoopBackOff  7  AGE
pod-waiting  0/1  Pending  0  AGE' pods
    shows 'NAME  READY  STATUS  RESTARTS  AGE  IP  NODE  NOMINATED NODE  READINESS GATES
pod-running  1/2  CrashLoopBackOff  7  AGE  IP  node-1  <none>  <none>
pod-waiting  0/1  Pending  0  AGE  <none>  <none>  <none>  0/1' pods -o wide
}

@test "services and endpoints" {
    shows 'NAME  TYPE  CLUSTER-IP  EXTERNAL-IP  PORT(S)  AGE  SELECTOR
service/svc-a  ClusterIP  IP  <none>  80/TCP,53/UDP  AGE  app=web
service/svc-external  ExternalName  <none>  example.com  <none>  AGE  <none>
service/svc-headless  ClusterIP  None  <none>  <none>  AGE  app=web
service/svc-node  NodePort  IP  1.2.3.4  80:30080/TCP  AGE  app=web
NAME  ENDPOINTS  AGE
endpoints/svc-a  1.2.3.4:80,1.2.3.5:80,1.2.3.6:80 + 1 more...  AGE
NAME  ADDRESSTYPE  PORTS  ENDPOINTS  AGE
endpointslice.discovery.k8s.io/slice  IPv4  80  1.2.3.4  AGE' services,endpoints,endpointslices -o wide
}

@test "workloads" {
    shows 'NAME  READY  UP-TO-DATE  AVAILABLE  AGE
deployment.apps/web  2/3  3  2  AGE
NAME  DESIRED  CURRENT  READY  AGE
replicaset.apps/web-1  2  2  1  AGE
NAME  READY  AGE
statefulset.apps/db  1/2  AGE
NAME  DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR  AGE
daemonset.apps/agent  4  3  2  3  1  disk=ssd  AGE
NAME  DESIRED  CURRENT  READY  AGE
replicationcontroller/old  2  2  1  AGE' deployments,replicasets,statefulsets,daemonsets,replicationcontrollers
    shows 'NAME  READY  UP-TO-DATE  AVAILABLE  AGE  CONTAINERS  IMAGES  SELECTOR
deployment.apps/web  2/3  3  2  AGE  main,side  img:1,img:2  app=web
NAME  DESIRED  CURRENT  READY  AGE  CONTAINERS  IMAGES  SELECTOR
replicaset.apps/web-1  2  2  1  AGE  main  img:1  app=web
NAME  READY  AGE  CONTAINERS  IMAGES
statefulset.apps/db  1/2  AGE  main  db:1
NAME  DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR  AGE  CONTAINERS  IMAGES  SELECTOR
daemonset.apps/agent  4  3  2  3  1  disk=ssd  AGE  main  agent:1  app=agent
NAME  DESIRED  CURRENT  READY  AGE  CONTAINERS  IMAGES  SELECTOR
replicationcontroller/old  2  2  1  AGE  main  old:1  app=old' deployments,replicasets,statefulsets,daemonsets,replicationcontrollers -o wide
}

@test "jobs and cron jobs" {
    shows 'NAME  STATUS  COMPLETIONS  DURATION  AGE  CONTAINERS  IMAGES  SELECTOR
job.batch/work  Running  1/3  YEARS  AGE  main  work:1  batch.kubernetes.io/controller-uid=UID
NAME  SCHEDULE  TIMEZONE  SUSPEND  ACTIVE  LAST SCHEDULE  AGE  CONTAINERS  IMAGES  SELECTOR
cronjob.batch/nightly  0 3 * * *  Europe/Paris  False  1  YEARS  AGE  main  work:1  <none>' jobs,cronjobs -o wide
}

@test "roles and their bindings" {
    shows 'NAME  CREATED AT
role.rbac.authorization.k8s.io/reader  TIME
NAME  ROLE  AGE  USERS  GROUPS  SERVICEACCOUNTS
rolebinding.rbac.authorization.k8s.io/readers  Role/reader  AGE  jane  dev  default/robot' roles,rolebindings -o wide
    shows 'NAME  CREATED AT
clusterrole.rbac.authorization.k8s.io/e2e-reader  TIME
NAME  ROLE  AGE
clusterrolebinding.rbac.authorization.k8s.io/e2e-readers  ClusterRole/e2e-reader  AGE' clusterrole/e2e-reader clusterrolebinding/e2e-readers
}

@test "webhooks, priorities, quotas, limits and leases" {
    shows 'NAME  WEBHOOKS  AGE
validatingwebhookconfiguration.admissionregistration.k8s.io/e2e-checks  0  AGE
NAME  WEBHOOKS  AGE
mutatingwebhookconfiguration.admissionregistration.k8s.io/e2e-changes  0  AGE' validatingwebhookconfigurations,mutatingwebhookconfigurations
    shows 'NAME  VALUE  GLOBAL-DEFAULT  AGE  PREEMPTIONPOLICY
urgent  1000  false  AGE  PreemptLowerPriority' priorityclass urgent
    shows 'NAME  REQUEST  LIMIT  AGE
resourcequota/quota  pods: 3/10  limits.cpu: 1/2  AGE
NAME  CREATED AT
limitrange/limits  TIME
NAME  HOLDER  AGE
lease.coordination.k8s.io/leader  me  AGE' resourcequotas,limitranges,leases
}

@test "networking, policy, scaling and storage" {
    shows 'NAME  CLASS  HOSTS  ADDRESS  PORTS  AGE
ingress.networking.k8s.io/front  nginx  a.example.com  192.0.2.9,lb.example.com  80, 443  AGE
NAME  POD-SELECTOR  AGE
networkpolicy.networking.k8s.io/closed  app=web  AGE
NAME  MIN AVAILABLE  MAX UNAVAILABLE  ALLOWED DISRUPTIONS  AGE
poddisruptionbudget.policy/budget  1  N/A  2  AGE
NAME  REFERENCE  TARGETS  MINPODS  MAXPODS  REPLICAS  AGE
horizontalpodautoscaler.autoscaling/web  Deployment/web  cpu: 40%/80%  1  5  2  AGE' ingresses,networkpolicies,poddisruptionbudgets,hpa
    shows 'NAME  CAPACITY  ACCESS MODES  RECLAIM POLICY  STATUS  CLAIM  STORAGECLASS  VOLUMEATTRIBUTESCLASS  REASON  AGE
persistentvolume/volume  1Gi  RWO  Retain  Available  <unset>  AGE
NAME  PROVISIONER  RECLAIMPOLICY  VOLUMEBINDINGMODE  ALLOWVOLUMEEXPANSION  AGE
storageclass.storage.k8s.io/fast  example.com/disks  Delete  Immediate  false  AGE' persistentvolumes,storageclasses
}

@test "devices, IP addresses and volume attributes classes" {
    k create -f - <<'EOF'
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec: {devices: {requests: [{name: one, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice}
spec: {driver: gpu.example.com, nodeName: node-1, pool: {name: pool-1, generation: 1, resourceSliceCount: 1}, devices: [{name: a}]}
---
apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata: {name: 10.96.0.77}
spec: {parentRef: {resource: services, namespace: default, name: web}}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata: {name: gold}
driverName: disk.example.com
parameters: {iops: "9"}
EOF
    run -0 k get resourceclaims --no-headers
    grep -qE '^gpu +pending +[0-9]+s$' <<<"$output"
    run -0 k get resourceslices --no-headers
    grep -qE '^slice +node-1 +gpu.example.com +pool-1 +[0-9]+s$' <<<"$output"
    run -0 k get resourceslices --field-selector spec.driver=other -o name
    [ -z "$output" ]
    run -0 k get ipaddresses --no-headers
    grep -qE '^10.96.0.77 +services/default/web' <<<"$output"
    run -0 k get servicecidrs --no-headers
    grep -qE '^kubernetes +10.96.0.0/12 +[0-9]+[a-z]' <<<"$output"
    run -0 k get vac --no-headers
    grep -qE '^gold +disk.example.com +[0-9]+s$' <<<"$output"
}

@test "custom objects and their CRDs" {
    shows 'NAME  MODE  AGE
press  slow  AGE
saw  fast  AGE' machines
    shows 'NAME  MODE  LOAD  AGE
press  slow  3  AGE
saw  fast  3  AGE' mc -o wide
    shows 'NAME  CREATED AT
machines.factory.example.com  TIME' crds machines.factory.example.com -o wide
}

@test "custom objects are selected by the selectable fields of their CRD" {
    [ "$(k get machines --field-selector spec.mode=fast -o name)" = machine.factory.example.com/saw ]
    [ "$(k get machines --field-selector 'spec.mode!=fast' -o name)" = machine.factory.example.com/press ]
    run -1 k get machines --field-selector spec.load=3
    says 'field label not supported: spec.load'
}

@test "watch of custom objects has rows of the selected objects" {
    background k get machines --field-selector spec.mode=fast -o wide -w --output-watch-events
    eventually background_says '^ADDED +saw +fast +3 '
    k patch machine press --type=merge -p '{"spec":{"mode":"fast","load":7}}'
    eventually background_says '^ADDED +press +fast +7 '
    k patch machine press --type=merge -p '{"spec":{"mode":"slow","load":3}}'
    eventually background_says '^DELETED +press '
}

@test "events, with kubectl events too" {
    shows 'LAST SEEN  TYPE  REASON  OBJECT  SUBOBJECT  SOURCE  MESSAGE  FIRST SEEN  COUNT  NAME
YEARS  Normal  Changed  configmap/settings  data  people, node-1  somebody changed it  YEARS  3  settings.1' events -o wide
    run -0 k events --for configmap/settings
    [[ ${lines[1]} =~ \(x3\ over\ [0-9yd]+\)\ +Normal\ +Changed\ +ConfigMap/settings\ +somebody\ changed\ it ]]
    run -0 k events --types=Warning
    says "No events found"
}

@test "all resources of a category" {
    run -0 k get all --no-headers
    for name in pod/pod-running service/svc-a deployment.apps/web replicaset.apps/web-1 statefulset.apps/db daemonset.apps/agent \
        replicationcontroller/old job.batch/work cronjob.batch/nightly horizontalpodautoscaler.autoscaling/web; do
        says "$name "
    done
    never_says settings password
}

@test "labels as text and as columns, without headers" {
    run -0 k get configmap settings --show-labels
    [[ ${lines[0]} =~ AGE\ +LABELS$ ]]
    [[ ${lines[1]} =~ app=web$ ]]
    run -0 k get pods -L app --no-headers
    [[ ${lines[0]} =~ web$ ]]
    [ "${#lines[@]}" -eq 2 ]
}

@test "custom columns, templates and JSONPath" {
    run -0 k get pods -o custom-columns='NAME:.metadata.name,IMAGES:.spec.containers[*].image,NODE:.spec.nodeName'
    [[ ${lines[1]} =~ ^pod-running\ +img:1,img:2\ +node-1$ ]]
    [[ ${lines[2]} =~ ^pod-waiting\ +img:1\ +\<none\>$ ]]
    [ "$(k get pods -o jsonpath='{range .items[*]}{.metadata.name}={.status.phase};{end}')" = "pod-running=Running;pod-waiting=Pending;" ]
    [ "$(k get deployment web -o go-template='{{.spec.replicas}} {{.status.readyReplicas}}')" = "3 2" ]
    [ "$(k get pods -o jsonpath='{.items[?(@.spec.nodeName=="node-1")].metadata.name}')" = pod-running ]
}

@test "sorted by a field of the whole object" {
    run -0 k get services --sort-by=.spec.type -o name
    [ "${lines[2]}" = service/svc-external ]
    [ "${lines[3]}" = service/svc-node ]
    run -0 k get pods --sort-by='{.status.phase}' --no-headers
    [[ ${lines[0]} =~ ^pod-waiting ]]
}

@test "pods are selected by their fields" {
    [ "$(k get pods --field-selector spec.nodeName=node-1 -o name)" = pod/pod-running ]
    [ "$(k get pods --field-selector 'status.phase!=Running' -o name)" = pod/pod-waiting ]
    [ "$(k get events --field-selector involvedObject.name=settings,reason=Changed -o name)" = event/settings.1 ]
    [ -z "$(k get events --field-selector involvedObject.kind=Pod -o name)" ]
}

@test "watch has rows, wide on request" {
    background k get pods -o wide -w --output-watch-events
    eventually background_says '^ADDED +pod-waiting +0/1 +Pending +0 '
    status v1 pods pod-waiting '{"phase":"Running","podIP":"10.1.0.8","podIPs":[{"ip":"10.1.0.8"}]}'
    eventually background_says '^MODIFIED +pod-waiting +0/1 +Running +0 .* 10\.1\.0\.8 +<none> +<none> +0/1'
    grep -qE '^EVENT +NAME +READY +STATUS +RESTARTS +AGE +IP +NODE ' "$BATS_TEST_TMPDIR/background"
    [ "$(grep -c EVENT "$BATS_TEST_TMPDIR/background")" -eq 1 ]
    status v1 pods pod-waiting '{"phase":"Pending","podIP":null,"podIPs":null}'
}

@test "watch of a deployment shows its rollout" {
    background k get deployment web -w
    eventually background_says '^web +2/3 '
    status apps/v1 deployments web '{"readyReplicas":3,"availableReplicas":3,"unavailableReplicas":0}'
    eventually background_says '^web +3/3 +3 +3 '
    status apps/v1 deployments web '{"readyReplicas":2,"availableReplicas":2,"unavailableReplicas":1}'
}

@test "rows include metadata, the whole object, or nothing" {
    table='Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
    [ "$(api "/api/v1/namespaces/$NS/configmaps" -H "$table" | field '.rows[0].object.kind')" = PartialObjectMetadata ]
    [ "$(api "/api/v1/namespaces/$NS/configmaps?includeObject=Object" -H "$table" | field '.rows[0].object.data.a')" = 1 ]
    [ "$(api "/api/v1/namespaces/$NS/configmaps?includeObject=None" -H "$table" | field '.rows[0].object')" = null ]
}
