#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl over plain HTTP without credentials, on a server that trusts the programs of its machine; and who it does not trust.

setup_file() { load helpers; server_start --authn-allow-localhost --anonymous-auth=false; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

p() { kubectl --kubeconfig /dev/null -s "$HTTP" -n "$NS" "$@"; }

@test "kubectl creates, reads, changes and deletes" {
    run -0 p create configmap greeting --from-literal=text=hello
    [ "$(p get configmap greeting -o jsonpath='{.data.text}')" = hello ]
    run -0 p patch configmap greeting --type merge -p '{"data":{"text":"goodbye"}}'
    [ "$(p get configmap greeting -o jsonpath='{.data.text}')" = goodbye ]
    run -0 p delete configmap greeting
    run -1 p get configmap greeting
    says 'configmaps "greeting" not found'
}

@test "kubectl watches" {
    background p get configmaps -w --output-watch-events --no-headers
    config_map greeting
    eventually background_says '^ADDED +greeting '
    p delete configmap greeting
    eventually background_says '^DELETED +greeting '
}

@test "writes on one port are read on the other" {
    p create configmap greeting
    [ "$(k get configmap greeting -o name)" = configmap/greeting ]
}

@test "cross-site page has no local trust" {
    for header in "Host: evil.example" "Origin: http://evil.example" "Sec-Fetch-Site: cross-site"; do
        run -0 curl -s -H "$header" -H 'Content-Type: application/json' -d '{"metadata":{"name":"stolen"}}' \
            "$HTTP/api/v1/namespaces/$NS/configmaps"
        [ "$(field .code <<<"$output")" = 401 ] || { echo "$header: $output"; return 1; }
    done
    run -1 p get configmap stolen
}

@test "forwarding header does not make a request local" {
    run -0 curl -s -H 'Authorization: Bearer wrong' -H 'X-Forwarded-For: 127.0.0.1' "$HTTP/api/v1/namespaces"
    [ "$(field .code <<<"$output")" = 401 ]
}

@test "impersonation changes the user" {
    run -0 p --as=viewer --as-group=viewers --as-uid=7 auth whoami -o 'jsonpath={.status.userInfo}'
    says '{"groups":["viewers","system:authenticated"],"uid":"7","username":"viewer"}'
}

@test "another local user needs credentials" {
    [ "$(id -u)" -eq 0 ] || skip "only root can act as another user"
    run -0 setpriv --reuid=65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces"
    says 401
    run -0 setpriv --reuid=65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer admintoken' "$HTTP/api/v1/namespaces"
    says 200
    run -0 setpriv --reuid=65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer usertoken' "$HTTP/api/v1/namespaces"
    says 403
}
