#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Stopping and starting again: what stays, what goes on, and how a server ends.

setup() { load helpers; NS=default job=; server_start; }
teardown() { each background_end server_stop; }

restart() { server_stop; server_start; }

version() { api /api/v1/namespaces/default/configmaps | field .metadata.resourceVersion; }

@test "restart keeps all objects unchanged" {
    k create configmap greeting --from-literal=text=hello
    k create deployment web --image=example/web
    kubectl create namespace other
    k create configmap gone
    k delete configmap gone
    before=$(kubectl get configmaps,deployments,namespaces -A -o yaml)
    restart
    [ "$(kubectl get configmaps,deployments,namespaces -A -o yaml)" = "$before" ]
}

@test "resourceVersions continue after a restart and are never reused" {
    config_map one
    before=$(version)
    restart
    [ "$(version)" -ge "$before" ]
    config_map two
    [ "$(k get configmap two -o jsonpath='{.metadata.resourceVersion}')" -gt "$before" ]
}

@test "watch from before a restart resumes without a gap" {
    config_map one
    before=$(version)
    config_map two
    k delete configmap one
    restart
    config_map three
    background_watch "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$before"
    eventually watch_is "ADDED two DELETED one ADDED three "
}

@test "continue token remains valid after a restart" {
    for name in a b c; do config_map $name; done
    token=$(api "/api/v1/namespaces/default/configmaps?limit=1" | field .metadata.continue)
    restart
    run -0 api "/api/v1/namespaces/default/configmaps?limit=5&continue=$token"
    [ "$(field .items[0].metadata.name <<<"$output")" = b ]
    [ "$(field .items[1].metadata.name <<<"$output")" = c ]
}

@test "kubeconfig of the first start remains valid" {
    cp "$SERVER/root/certs/ca.crt" "$BATS_TEST_TMPDIR/ca.crt"
    restart
    cmp "$SERVER/root/certs/ca.crt" "$BATS_TEST_TMPDIR/ca.crt"
    kubectl get namespaces
}

@test "second server on the same directory is refused and changes nothing" {
    file_backend_only
    read -r secure insecure < <(free_ports)
    run -1 "$KC" apiserver --file-rootpath="$SERVER/root" --secure-port="$secure" --insecure-port="$insecure"
    says "is in use by process $(cat "$SERVER/pid")"
    config_map after
}

@test "open watch does not delay the stop and ends cleanly" {
    background curl -sS -N -H 'Authorization: Bearer admintoken' "$HTTP/api/v1/namespaces?watch=1"
    eventually background_says ADDED
    start=$SECONDS
    server_stop
    [ $((SECONDS - start)) -le "$(bound 5 60)" ]
    # A connection that still were open ten seconds after the signal would be cut, which curl reports.
    background_ends
}

@test "idle connection does not delay the stop" {
    exec 9<>"/dev/tcp/127.0.0.1/${HTTP##*:}"
    start=$SECONDS
    server_signal TERM
    # Closed at once, and not after the ten seconds that open requests have.
    run ! read -r -t 90 -u 9
    [ $((SECONDS - start)) -lt 9 ]
    eventually server_ended
    server_stop
    exec 9>&-
    [ $((SECONDS - start)) -le "$(bound 5 60)" ]
}

@test "second SIGTERM ends the server at once" {
    # A request of which the server knows the head keeps it from ending after the first.
    exec 9<>"/dev/tcp/127.0.0.1/${HTTP##*:}"
    printf 'POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admintoken\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n' >&9
    read -r -t 90 -u 9 answer
    [[ $answer == "HTTP/1.1 100 Continue"* ]]
    server_signal TERM
    eventually grep -q stopping "$SERVER/err"
    server_signal TERM
    eventually server_ended
    exec 9>&-
    [ "$(cat "$SERVER/rc")" -eq 143 ]
    server_log_is_clean
    rm "$SERVER/pid"
    server_start
}

@test "killed server restarts with every acknowledged write" {
    for i in $(seq 20); do config_map "kept-$i"; done
    server_signal KILL
    eventually server_ended
    server_start
    [ "$(k get configmaps -o name | grep -c kept-)" -eq 20 ]
}
