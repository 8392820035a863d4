#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Commands of kubectl that make or change objects without a manifest: create and its generators, run, expose, autoscale, set, rollout, taint,
# cordon, patch. What a node or a controller would do next is no part of this.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

# is PATH EXPECTED ARGUMENT…: what `kubectl get` shows at a JSONPath.
is() {
    local path=$1 expected=$2 got
    shift 2
    got=$(k get "$@" -o jsonpath="$path")
    [ "$got" = "$expected" ] || { printf '%s of %s: %s\n' "$path" "$*" "$got"; return 1; }
}

# ---- create ----

@test "create deployment with several images" {
    run -0 k create deployment web --image=web:1 --image=registry.example.com/side --replicas=3
    says "deployment.apps/web created"
    is '{.spec.replicas} {.spec.template.spec.containers[*].name} {.spec.selector.matchLabels} {.spec.strategy.type}' \
        '3 web side {"app":"web"} RollingUpdate' deployment web
    is '{.spec.template.spec.containers[*].imagePullPolicy}' 'IfNotPresent Always' deployment web
}

@test "create service of every type" {
    k create service clusterip a --tcp=80:8080
    k create service nodeport b --tcp=80 --node-port=30123
    k create service loadbalancer c --tcp=443
    k create service externalname d --external-name=example.com
    k create service clusterip e --clusterip=None
    is '{.items[*].spec.type}' 'ClusterIP NodePort LoadBalancer ExternalName ClusterIP' services
    is '{.spec.ports[0].targetPort} {.spec.clusterIP}' "8080 $(k get service a -o jsonpath='{.spec.clusterIPs[0]}')" service a
    is '{.spec.ports[0].nodePort}' 30123 service b
    [ -n "$(k get service c -o jsonpath='{.spec.ports[0].nodePort}')" ]
    is '{.spec.externalName}{.spec.clusterIP}' example.com service d
    is '{.spec.clusterIP}' None service e
    run -1 k create service nodeport again --tcp=80 --node-port=30123
    says "provided port is already allocated"
}

@test "create configmap and secret from literals and files" {
    printf 'one\ntwo\n' >"$BATS_TEST_TMPDIR/lines"
    printf 'A=1\nB=2\n' >"$BATS_TEST_TMPDIR/env"
    head -c 300 /dev/urandom >"$BATS_TEST_TMPDIR/bytes"
    k create configmap words --from-literal=a=b --from-file="$BATS_TEST_TMPDIR/lines" --from-file=raw="$BATS_TEST_TMPDIR/bytes"
    k create configmap variables --from-env-file="$BATS_TEST_TMPDIR/env"
    is '{.data.a} {.data.lines}' $'b one\ntwo' configmap words
    cmp <(k get configmap words -o jsonpath='{.binaryData.raw}' | base64 -d) "$BATS_TEST_TMPDIR/bytes"
    is '{.data}' '{"A":"1","B":"2"}' configmap variables
    k create secret generic keys --from-literal=a=b --from-file=raw="$BATS_TEST_TMPDIR/bytes"
    cmp <(k get secret keys -o jsonpath='{.data.raw}' | base64 -d) "$BATS_TEST_TMPDIR/bytes"
    k create secret docker-registry pull --docker-server=registry.example.com --docker-username=me --docker-password=secret
    is '{.type}' kubernetes.io/dockerconfigjson secret pull
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout "$BATS_TEST_TMPDIR/key" -out "$BATS_TEST_TMPDIR/crt" 2>/dev/null
    k create secret tls pair --cert="$BATS_TEST_TMPDIR/crt" --key="$BATS_TEST_TMPDIR/key"
    is '{.type}' kubernetes.io/tls secret pair
}

@test "create job and cronjob, and a job from a cronjob" {
    k create job work --image=work:1 -- /bin/work --fast
    is '{.spec.template.spec.containers[0].command} {.spec.backoffLimit} {.spec.completions}' '["/bin/work","--fast"] 6 1' job work
    k create cronjob nightly --image=work:1 --schedule='0 3 * * *' -- true
    is '{.spec.concurrencyPolicy} {.spec.suspend} {.spec.successfulJobsHistoryLimit}' 'Allow false 3' cronjob nightly
    k create job now --from=cronjob/nightly
    is '{.metadata.ownerReferences[0].name} {.metadata.annotations}' 'nightly {"cronjob.kubernetes.io/instantiate":"manual"}' job now
    run -1 k create cronjob never --image=work:1 --schedule='at noon' -- true
    says 'CronJob.batch "never" is invalid: spec.schedule: Invalid value: "at noon": expected exactly 5 fields, found 2: [at noon]'
}

@test "create role, clusterrole and their bindings" {
    k create role reader --verb=get,list --resource=pods,deployments.apps/scale --resource-name=one
    is '{.rules[1].apiGroups} {.rules[1].resources} {.rules[1].resourceNames}' '["apps"] ["deployments/scale"] ["one"]' role reader
    k create rolebinding readers --role=reader --user=jane --group=dev --serviceaccount=default:robot
    is '{.roleRef.name} {.subjects[*].name}' 'reader jane dev robot' rolebinding readers
    kubectl create clusterrole "$NS" --verb=get --non-resource-url=/healthz
    kubectl create clusterrolebinding "$NS" --clusterrole="$NS" --user=jane
    run -0 k set subject rolebinding readers --user=john
    says "rolebinding.rbac.authorization.k8s.io/readers subjects updated"
    is '{.subjects[*].name}' 'jane dev robot john' rolebinding readers
    run -1 k patch rolebinding readers --type=merge -p '{"roleRef":{"name":"other"}}'
    says "cannot change roleRef"
}

@test "create quota, poddisruptionbudget, priorityclass, ingress, serviceaccount" {
    k create quota plain --hard=cpu=1,memory=1Gi,pods=2
    is '{.spec.hard}' '{"cpu":"1","memory":"1Gi","pods":"2"}' quota plain
    k create poddisruptionbudget half --selector=app=web --max-unavailable=50%
    is '{.spec.maxUnavailable} {.spec.selector.matchLabels}' '50% {"app":"web"}' pdb half
    kubectl create priorityclass "$NS" --value=7 --description=text --preemption-policy=Never
    is '{.value} {.preemptionPolicy}' '7 Never' priorityclass "$NS"
    k create ingress front --class=nginx --rule='example.com/shop*=shop:80,tls=cert' --rule='/=home:http' --annotation=a=b
    is '{.spec.rules[0].http.paths[0].pathType} {.spec.rules[1].http.paths[0].backend.service.port.name} {.spec.tls[0].secretName}' 'Prefix http cert' ingress front
    k create serviceaccount robot
    is '{.metadata.name}' robot serviceaccount robot
}

@test "create with invalid arguments is refused by client or server" {
    run -1 k create deployment Web --image=x
    says 'error: failed to create deployment: Deployment.apps "Web" is invalid' 'a lowercase RFC 1123 subdomain must consist of'
    run -1 kubectl create namespace Not_One
    says 'The Namespace "Not_One" is invalid: metadata.name: Invalid value: "Not_One": a lowercase RFC 1123 label must consist of'
    run -1 k create quota bad --hard=pods=-1
    says "must be greater than or equal to 0"
}

# ---- run, expose, autoscale ----

@test "run creates a pod, and with --expose a service" {
    run -0 k run shop --image=shop:1 --port=80 --expose --labels=app=shop,tier=front --env=LEVEL=low
    says "service/shop created" "pod/shop created"
    is '{.spec.containers[0].env[0].value} {.status.phase} {.status.qosClass} {.spec.restartPolicy}' 'low Pending BestEffort Always' pod shop
    is '{.spec.selector}' '{"app":"shop","tier":"front"}' service shop
    k run once --image=once --restart=Never --command -- sleep 5
    is '{.spec.restartPolicy} {.spec.containers[0].command}' 'Never ["sleep","5"]' pod once
    [ "$(k run dry --image=x --dry-run=server -o jsonpath='{.spec.schedulerName}')" = default-scheduler ]
    run -1 k get pod dry
}

@test "expose creates a service for a deployment, a pod and a service" {
    k create deployment web --image=web:1
    run -0 k expose deployment web --port=80
    says "service/web exposed"
    is '{.spec.ports[0].port} {.spec.ports[0].targetPort} {.spec.selector}' '80 80 {"app":"web"}' service web
    k expose service web --port=81 --name=web-again --type=NodePort
    is '{.spec.type} {.spec.selector}' 'NodePort {"app":"web"}' service web-again
    k run one --image=one
    k expose pod one --port=80
    is '{.spec.selector}' '{"run":"one"}' service one
}

@test "autoscale sets its target" {
    k create deployment web --image=web:1
    run -0 k autoscale deployment web --min=2 --max=5 --cpu-percent=80
    says "horizontalpodautoscaler.autoscaling/web autoscaled"
    is '{.spec.scaleTargetRef.kind}/{.spec.scaleTargetRef.name} {.spec.minReplicas} {.spec.maxReplicas}' 'Deployment/web 2 5' hpa web
}

# ---- set ----

@test "set image, env, resources, serviceaccount and selector" {
    k create deployment web --image=web:1 --image=side:1
    k create configmap words --from-literal=word=hello
    run -0 k set image deployment/web web=web:2
    says "deployment.apps/web image updated"
    run -1 k set image deployment/web nothing=web:2
    says 'unable to find container named "nothing"'
    k set env deployment/web -c web LEVEL=low
    k set env deployment/web -c web --from=configmap/words
    run -0 k set env deployment/web --list
    says "LEVEL=low" "WORD from configmap words, key word"
    k set env deployment/web LEVEL-
    k set resources deployment web -c=web --limits=cpu=200m,memory=512Mi --requests=cpu=100m
    k set serviceaccount deployment web robot
    is '{.spec.template.spec.containers[*].image} {.spec.template.spec.containers[0].resources.limits.memory} {.spec.template.spec.serviceAccountName}' \
        'web:2 side:1 512Mi robot' deployment web
    is '{.spec.template.spec.containers[0].env[*].name}' WORD deployment web
    k create service clusterip web --tcp=80
    k set selector service web app=other
    is '{.spec.selector}' '{"app":"other"}' service web
}

# ---- patch ----

@test "strategic merge patch merges lists by their keys" {
    k create deployment web --image=web:1 --image=side:1
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"},{"name":"new","image":"new:1"}]}}}}'
    is '{.spec.template.spec.containers[*].image}' 'web:1 side:2 new:1' deployment web
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}'
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].name}' | tr ' ' '\n' | sort | tr '\n' ' ')" = "new web " ]
    k patch deployment web -p '{"spec":{"template":{"spec":{"$retainKeys":["containers"],"containers":[{"$patch":"replace"},{"name":"only","image":"only:1"}]}}}}'
    is '{.spec.template.spec.containers[*].name}' only deployment web
}

@test "merge patch replaces lists, JSON patch changes list elements" {
    k create deployment web --image=web:1 --image=side:1
    k patch deployment web --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"only:1"}]}}}}'
    is '{.spec.template.spec.containers[*].name}' only deployment web
    k patch deployment web --type=json -p '[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"more","image":"more:1"}},
        {"op":"copy","from":"/metadata/labels/app","path":"/metadata/labels/copy"},{"op":"move","from":"/metadata/labels/copy","path":"/metadata/labels/moved"},
        {"op":"test","path":"/metadata/labels/moved","value":"web"},{"op":"replace","path":"/spec/replicas","value":4}]'
    is '{.spec.template.spec.containers[*].name} {.metadata.labels.moved} {.spec.replicas}' 'only more web 4' deployment web
    run -1 k patch deployment web --type=json -p '[{"op":"remove","path":"/spec/nothing"}]'
    says "the server rejected our request due to an error in our request"
    run -1 k patch deployment web --type=json -p '[{"op":"test","path":"/spec/replicas","value":5}]'
    says "the server rejected our request due to an error in our request"
}

@test "patched object is validated" {
    k create deployment web --image=web:1
    run -1 k patch deployment web -p '{"spec":{"replicas":-1}}'
    says 'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    run -1 k patch deployment web -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'
    says 'spec.selector: Invalid value' 'field is immutable'
    run -1 k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","ports":[{"containerPort":0}]}]}}}}'
    says 'spec.template.spec.containers[0].ports[0].containerPort'
    is '{.metadata.generation}' 1 deployment web
}

@test "annotations change the generation of a deployment, labels do not" {
    k create deployment web --image=web:1
    k annotate deployment web note=text
    is '{.metadata.generation}' 2 deployment web
    k label deployment web tier=front
    k annotate --overwrite deployment web note=text
    is '{.metadata.generation}' 2 deployment web
    k create configmap words
    k annotate configmap words note=text
    is '{.metadata.generation}' '' configmap words
}

@test "deprecated kind returns a warning" {
    run -0 k create -f - <<<'{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"old"}}'
    says "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" "endpoints/old created"
    run -0 k get endpoints
    says "Warning: v1 Endpoints is deprecated"
    run -0 k get endpointslices
    never_says Warning
}

# ---- rollout, nodes ----

@test "rollout pause, resume and restart" {
    k create deployment web --image=web:1
    run -0 k rollout pause deployment/web
    says "deployment.apps/web paused"
    is '{.spec.paused}' true deployment web
    run -1 k rollout pause deployment/web
    says "is already paused"
    run -1 k rollout restart deployment/web
    says "can't restart paused deployment"
    k rollout resume deployment/web
    is '{.spec.paused}' '' deployment web
    run -0 k rollout restart deployment/web
    says "deployment.apps/web restarted"
    [ -n "$(k get deployment web -o jsonpath='{.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}')" ]
    run -0 k rollout history deployment/web
    says "No rollout history found."
    run -0 k rollout status deployment/web --watch=false
    says "Waiting for deployment spec update to be observed..."
}

@test "taint, cordon and uncordon of a node" {
    kubectl create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"$NS\"}}"
    # As every new node, until it is ready.
    is '{.spec.taints[*].key}' node.kubernetes.io/not-ready node "$NS"
    kubectl taint node "$NS" node.kubernetes.io/not-ready-
    run -0 kubectl taint node "$NS" dedicated=gpu:NoSchedule
    says "node/$NS tainted"
    run -1 kubectl taint node "$NS" dedicated=cpu:NoSchedule
    says "already has dedicated taint(s) with same effect(s)"
    kubectl taint node "$NS" --overwrite dedicated=cpu:NoSchedule
    is '{.spec.taints}' '[{"effect":"NoSchedule","key":"dedicated","value":"cpu"}]' node "$NS"
    kubectl taint node "$NS" dedicated-
    is '{.spec.taints}' '' node "$NS"
    run -0 kubectl cordon "$NS"
    says "node/$NS cordoned"
    run -0 kubectl get node "$NS" --no-headers
    says "Unknown,SchedulingDisabled"
    run -0 kubectl uncordon "$NS"
    says "node/$NS uncordoned"
    kubectl delete node "$NS"
}
