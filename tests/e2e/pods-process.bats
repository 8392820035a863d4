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
    controllers_stop
    server_stop
}

setup() { load helpers; namespace; }

node_start() { controllers_start --pods=process --pods-folder="$PODS" --node-name=machine; }

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

mounts_work() { grep -q 'namespaces: mount' "$SERVER/controllers.err"; }

@test "a node says what it is" {
    eventually k get node machine
    k wait --for=condition=Ready node/machine --timeout=20s
    grep -q 'pods are processes' "$SERVER/controllers.err"
}

@test "a command runs to its end" {
    script once Never 'echo hello; exit 0'
    eventually status_is once .phase Succeeded
    status_is once '.containerStatuses[0].state.terminated.reason' Completed
    [ "$(log once)" = hello ]
}

@test "kubectl run gives a command" {
    kubectl -n "$NS" run web --image=none --restart=Never --overrides='{"spec":{"nodeName":"machine"}}' --command -- sh -c 'exit 3'
    eventually status_is web .phase Failed
    status_is web '.containerStatuses[0].state.terminated.exitCode' 3
    status_is web '.containerStatuses[0].state.terminated.reason' Error
}

@test "what fails is started again" {
    script again OnFailure 'test -e /dev/null; echo attempt; exit 1'
    eventually status_is again '.containerStatuses[0].restartCount' 1
    status_is again '.containerStatuses[0].lastState.terminated.exitCode' 1
}

@test "a program that there is not is a start error" {
    pod nothing '"restartPolicy":"Never","containers":[{"name":"c","image":"none","command":["no-such-program"]}]'
    eventually status_is nothing .phase Failed
    status_is nothing '.containerStatuses[0].state.terminated.reason' StartError
    status_is nothing '.containerStatuses[0].state.terminated.exitCode' 128
}

@test "without a command a container waits, and says why" {
    pod idle '"containers":[{"name":"c","image":"none"}]'
    says_why() { status idle '.containerStatuses[0].state.waiting.message' | grep -q 'has no command'; }
    eventually says_why
}

# shellcheck disable=SC2016  # It is for the container's shell.
@test "environment, user and name are the pod's" {
    pod env '"restartPolicy":"Never","containers":[{"name":"c","image":"none","command":["sh","-c","echo $GREETING from $POD as $(id -u) $HOSTNAME"],
        "env":[{"name":"GREETING","value":"hello"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]'
    eventually status_is env .phase Succeeded
    if [ "$(id -u)" = 0 ]; then
        [ "$(log env)" = "hello from env as 65534 env" ]
    else
        [ "$(log env)" = "hello from env as $(id -u) env" ]
    fi
}

@test "config maps, secrets and empty directories are mounted, after init containers" {
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

@test "a container is ready when its probe says so, and killed when it is not alive" {
    mounts_work || skip "the probe's file is in a private /tmp"
    pod probed '"containers":[{"name":"c","image":"none","command":["sh","-c","trap exit TERM; sleep 1; touch /tmp/ready; sleep 2; rm /tmp/ready; while :; do sleep 0.1; done"],
        "readinessProbe":{"exec":{"command":["cat","/tmp/ready"]},"periodSeconds":1},
        "livenessProbe":{"exec":{"command":["cat","/tmp/ready"]},"initialDelaySeconds":2,"periodSeconds":1,"failureThreshold":1}}]'
    eventually status_is probed '.containerStatuses[0].ready' true
    eventually status_is probed '.containerStatuses[0].restartCount' 1
    run k get events
    says 'Liveness probe failed' 'cat: /tmp/ready: No such file or directory'
}

@test "a message is kept" {
    mounts_work || skip "no mount namespaces"
    script message Never 'echo out of luck > /dev/termination-log; exit 1'
    eventually status_is message .phase Failed
    [ "$(status message '.containerStatuses[0].state.terminated.message')" = "out of luck" ]
}

@test "a deleted pod is gone, processes, files and all" {
    script gone Always 'trap exit TERM; echo up; while :; do sleep 0.1; done'
    eventually logged gone up
    uid=$(k get pod gone -o jsonpath='{.metadata.uid}')
    k delete pod gone --timeout=20s
    folder_is_gone() { [ ! -e "$PODS/pods/$uid" ]; }
    eventually folder_is_gone
}

@test "a deployment runs here, changes and goes" {
    k create deployment web --image=none --replicas=3 -- sh -c 'trap exit TERM; while :; do sleep 0.1; done'
    k rollout status deployment/web --timeout=30s
    k set env deployment/web COLOUR=green
    k rollout status deployment/web --timeout=30s
    k scale deployment/web --replicas=0
    none_left() { [ -z "$(k get pods -l app=web -o name)" ]; }
    eventually none_left
}

@test "what ignores SIGTERM is killed when its time is over" {
    script stubborn Always 'trap : TERM; echo up; while :; do sleep 0.1; done'
    eventually logged stubborn up
    k delete pod stubborn --timeout=20s
}

@test "containers end with the node's process, and start again with the next" {
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
