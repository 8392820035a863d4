#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Pods whose containers are processes of this machine, as kubectl sees them.

setup_file() {
    load helpers
    server_start --authn-allow-localhost
    export PODS=$BATS_FILE_TMPDIR/pods
    node_start
}

teardown_file() {
    load helpers
    each controllers_stop server_stop
}

setup() { load helpers; namespace; }

node_start() { controllers_start --pods=process --pods-dir="$PODS" --node-name=machine "${UNSAFE[@]}"; }

# pod NAME SPEC: of this spec, on our node.
pod() {
    k create -f - <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1"},
 "spec":{"nodeName":"machine","terminationGracePeriodSeconds":2,${2}}}
JSON
}

# script NAME RESTART-POLICY SCRIPT: one container that runs it.
script() {
    pod "$1" "\"restartPolicy\":\"$2\",\"containers\":[{\"name\":\"c\",\"image\":\"none\",\"command\":[\"sh\",\"-c\",\"$3\"]}]"
}

# status POD JSONPATH
status() { k get pod "$1" -o jsonpath="{.status$2}"; }

status_is() { [ "$(status "$1" "$2")" = "$3" ]; }

# log POD [ATTEMPT]: of its container c, from the files.
log() { cut -d' ' -f4- "$PODS/pods/$(k get pod "$1" -o jsonpath='{.metadata.uid}')/c/${2:-0}.log"; }

logged() { log "$1" 2>/dev/null | grep -qF -- "$2"; }

event_says() { k get events -o jsonpath='{range .items[*]}{.type} {.reason} {.involvedObject.name}: {.message}{"\n"}{end}' | grep -qF -- "$1"; }

@test "node reports its capacity and version" {
    eventually k get node machine
    k wait --for=condition=Ready node/machine --timeout=90s
    grep -q 'running pods as processes' "$SERVER/controllers.err"
}

@test "command runs to its end" {
    script once Never 'echo hello; exit 0'
    eventually status_is once .phase Succeeded
    status_is once '.containerStatuses[0].state.terminated.reason' Completed
    [ "$(log once)" = hello ]
}

@test "kubectl run starts a command" {
    kubectl -n "$NS" run web --image=none --restart=Never --overrides='{"spec":{"nodeName":"machine"}}' --command -- sh -c 'exit 3'
    eventually status_is web .phase Failed
    status_is web '.containerStatuses[0].state.terminated.exitCode' 3
    status_is web '.containerStatuses[0].state.terminated.reason' Error
}

@test "failed container is restarted" {
    script again OnFailure 'test -e /dev/null; echo attempt; exit 1'
    eventually status_is again '.containerStatuses[0].restartCount' 1
    status_is again '.containerStatuses[0].lastState.terminated.exitCode' 1
}

@test "missing program is a start error" {
    pod nothing '"restartPolicy":"Never","containers":[{"name":"c","image":"none","command":["no-such-program"]}]'
    eventually status_is nothing .phase Failed
    status_is nothing '.containerStatuses[0].state.terminated.reason' StartError
    status_is nothing '.containerStatuses[0].state.terminated.exitCode' 128
}

@test "container without a command waits with a reason" {
    pod idle '"containers":[{"name":"c","image":"none"}]'
    says_why() { status idle '.containerStatuses[0].state.waiting.message' | grep -q 'has no command'; }
    eventually says_why
}

# shellcheck disable=SC2016  # It is for the container's shell.
@test "environment, user and host name are those of the pod" {
    pod env '"restartPolicy":"Never","containers":[{"name":"c","image":"none","command":["sh","-c","echo $GREETING from $POD as $(id -u) $HOSTNAME"],
        "env":[{"name":"GREETING","value":"hello"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]'
    eventually status_is env .phase Succeeded
    if [ "$(id -u)" = 0 ]; then
        [[ $(log env) =~ ^"hello from env as 20000"[0-9]{5}" env"$ ]]
    else
        [ "$(log env)" = "hello from env as $(id -u) env" ]
    fi
}

@test "config maps, secrets and empty directories are mounted after init containers" {
    mounts_work || skip "no mount namespaces"
    k create configmap settings --from-literal=colour=green
    k create secret generic hidden --from-literal=word=sesame
    pod volumes '"restartPolicy":"Never",
        "volumes":[{"name":"m","configMap":{"name":"settings"}},{"name":"s","secret":{"secretName":"hidden"}},{"name":"d","emptyDir":{}}],
        "initContainers":[{"name":"i","image":"none","command":["sh","-c","echo first > /data/init"],"volumeMounts":[{"name":"d","mountPath":"/data"}]}],
        "containers":[{"name":"c","image":"none","command":["sh","-c","cat /etc/settings/colour /s/word /data/init"],
            "volumeMounts":[{"name":"m","mountPath":"/etc/settings"},{"name":"s","mountPath":"/s"},{"name":"d","mountPath":"/data"}]}]'
    eventually status_is volumes .phase Succeeded
    [ "$(log volumes)" = "greensesamefirst" ]
    [ ! -e /etc/settings ]
}

@test "readiness and liveness probes are applied" {
    mounts_work || skip "the files of the probes are in a volume"
    pod probed '"volumes":[{"name":"d","emptyDir":{}}],
        "initContainers":[{"name":"i","image":"none","command":["touch","/d/alive"],"volumeMounts":[{"name":"d","mountPath":"/d"}]}],
        "containers":[{"name":"c","image":"none","command":["sh","-c","trap exit TERM; while :; do sleep 0.1; done"],"volumeMounts":[{"name":"d","mountPath":"/d"}],
        "readinessProbe":{"exec":{"command":["cat","/d/ready"]},"periodSeconds":1,"timeoutSeconds":60},
        "livenessProbe":{"exec":{"command":["cat","/d/alive"]},"periodSeconds":1,"timeoutSeconds":60,"failureThreshold":1}}]'
    eventually status_is probed .phase Running
    status_is probed '.containerStatuses[0].ready' false
    # The test decides when it is ready, and when it dies.
    volume=$PODS/pods/$(k get pod probed -o jsonpath='{.metadata.uid}')/.volumes/d
    touch "$volume/ready"
    eventually status_is probed '.containerStatuses[0].ready' true
    status_is probed '.containerStatuses[0].restartCount' 0
    rm "$volume/alive"
    eventually status_is probed '.containerStatuses[0].restartCount' 1
    eventually event_says 'Liveness probe failed: cat: /d/alive: No such file or directory'
}

@test "termination message is reported" {
    mounts_work || skip "no mount namespaces"
    script message Never 'echo out of luck > /dev/termination-log; exit 1'
    eventually status_is message .phase Failed
    [ "$(status message '.containerStatuses[0].state.terminated.message')" = "out of luck" ]
}

@test "deleted pod leaves no processes and no files" {
    script gone Always 'trap exit TERM; echo up; while :; do sleep 0.1; done'
    eventually logged gone up
    uid=$(k get pod gone -o jsonpath='{.metadata.uid}')
    k delete pod gone --timeout=90s
    folder_is_gone() { [ ! -e "$PODS/pods/$uid" ]; }
    eventually folder_is_gone
}

@test "deployment runs, is changed and is deleted" {
    k create deployment web --image=none --replicas=3 -- sh -c 'trap exit TERM; while :; do sleep 0.1; done'
    k rollout status deployment/web --timeout=90s
    k set env deployment/web COLOUR=green
    k rollout status deployment/web --timeout=90s
    k scale deployment/web --replicas=0
    none_left() { [ -z "$(k get pods -l app=web -o name)" ]; }
    eventually none_left
}

@test "container that ignores SIGTERM is killed after its grace period" {
    script stubborn Always 'trap : TERM; echo up; while :; do sleep 0.1; done'
    eventually logged stubborn up
    k delete pod stubborn --timeout=90s
}

@test "containers end with the node process and restart with the next" {
    local seconds=42$$
    script survivor Always "echo up; exec sleep $seconds"
    eventually logged survivor up
    kill -KILL "$(cat "$SERVER/controllers.pid")"
    sleeps() { pgrep -fx "sleep $seconds" >/dev/null; }
    if mounts_work; then
        nothing_sleeps() { ! sleeps; }
        eventually nothing_sleeps
    fi
    node_start
    eventually status_is survivor '.containerStatuses[0].restartCount' 1
    eventually sleeps
    [ "$(pgrep -fxc "sleep $seconds")" = 1 ]
    k delete pod survivor --now
}

# waits_with POD REASON TEXT: its container waits, for this reason.
waits_with() {
    status_is "$1" '.containerStatuses[0].state.waiting.reason' "$2" && status "$1" '.containerStatuses[0].state.waiting.message' | grep -qF -- "$3"
}

# shellcheck disable=SC2016  # They are for the node to expand.
@test "subPathExpr is expanded from the environment, and refused without a value" {
    mounts_work || skip "no mount namespaces"
    pod expr '"restartPolicy":"Never","volumes":[{"name":"d","emptyDir":{}}],
        "containers":[{"name":"c","image":"none","command":["sh","-c","echo one > /mine/x; ls /all"],
            "env":[{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
            "volumeMounts":[{"name":"d","mountPath":"/mine","subPathExpr":"logs-$(POD)"},{"name":"d","mountPath":"/all"}]}]'
    eventually status_is expr .phase Succeeded
    [ "$(log expr)" = logs-expr ]
    pod missing '"volumes":[{"name":"d","emptyDir":{}}],"containers":[{"name":"c","image":"none","command":["true"],
            "volumeMounts":[{"name":"d","mountPath":"/mine","subPathExpr":"$(NONE)"}]}]'
    eventually waits_with missing CreateContainerConfigError 'missing value for NONE'
}

@test "pod over the sizeLimit of an emptyDir is evicted" {
    mounts_work || skip "no mount namespaces"
    pod full '"volumes":[{"name":"d","emptyDir":{"sizeLimit":"1Mi"}}],
        "containers":[{"name":"c","image":"none","command":["sh","-c","head -c 2000000 /dev/zero > /d/x; trap exit TERM; while :; do sleep 0.1; done"],
            "volumeMounts":[{"name":"d","mountPath":"/d"}]}]'
    eventually status_is full .reason Evicted
    eventually status_is full .phase Failed
    eventually event_says 'Warning Evicted full: Usage of EmptyDir volume "d" exceeds the limit "1Mi"'
}

@test "unenforced limits and other fields are reported once, in an event and a condition" {
    pod told '"hostAliases":[{"ip":"10.0.0.1","hostnames":["x"]}],"containers":[{"name":"c","image":"none","command":["sleep","60"],"tty":true,
            "resources":{"limits":{"memory":"64Mi"}}}]'
    eventually status_is told .phase Running
    condition() { status told '.conditions[?(@.type=="kubecontroller.io/SpecApplied")].message'; }
    run condition
    says 'Not applied on this node: ' 'hostAliases (' 'container c: tty ('
    if ! grep -q 'cgroup with limits:.* memory' "$SERVER/controllers.err"; then
        says 'container c: resources.limits.memory (no cgroup v2 memory controller: the limit is not enforced)'
    fi
    one_event() { [ "$(k get events --field-selector involvedObject.name=told,reason=FieldsNotApplied -o name | wc -l)" = 1 ]; }
    eventually one_event
    script plain Never true
    eventually status_is plain .phase Succeeded
    [ -z "$(status plain '.conditions[?(@.type=="kubecontroller.io/SpecApplied")].message')" ]
}

@test "unsupported fields keep a container from starting, with the reason" {
    pod hostpid '"hostPID":true,"containers":[{"name":"c","image":"none","command":["true"]}]'
    pod user '"securityContext":{"runAsUser":0},"containers":[{"name":"c","image":"none","command":["true"]}]'
    pod gpu '"containers":[{"name":"c","image":"none","command":["true"],"resources":{"limits":{"nvidia.com/gpu":"1"}}}]'
    pod grpc '"containers":[{"name":"c","image":"none","command":["true"],"livenessProbe":{"grpc":{"port":1}}}]'
    eventually waits_with hostpid CreateContainerConfigError 'hostPID is not supported'
    if [ "$(id -u)" = 0 ]; then
        eventually waits_with user CreateContainerConfigError 'runAsUser 0 is refused'
    fi
    eventually waits_with gpu CreateContainerConfigError 'resources.limits.nvidia.com/gpu is not supported'
    eventually waits_with grpc CreateContainerConfigError 'livenessProbe.grpc is not supported'
}

@test "pods run as different users" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    script first Never 'id -u; id -G'
    script second Never 'id -u; id -G'
    eventually status_is first .phase Succeeded
    eventually status_is second .phase Succeeded
    [ "$(log first)" != "$(log second)" ]
    [ "$(log first | sort -u | wc -l)" = 1 ]
}
