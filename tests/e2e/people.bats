#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# People: users with passwords, logins, sessions, temporary tokens, and their ends.

setup_file() {
    load helpers
    server_start --authorization-mode=RBAC
    kubectl apply -f "$E2E/../../initialization/teams"
    printf 'apiVersion: platform.kubecontroller.io/v1\nkind: Team\nmetadata: {name: dev}\nspec: {displayName: Developers}\n' | kubectl apply -f -
    kubectl create clusterrolebinding dev-view --clusterrole=view --group=team:dev
}
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    ADMIN=$KUBECONFIG
    PERSON=$BATS_TEST_TMPDIR/kubeconfig
    PASSWORD='correct horse battery staple'
    job=
}
teardown() { background_end; }

# admin ARGS...: kc user as the administrator.
admin() { "$KC" user "$@" --kubeconfig="$ADMIN"; }
# login NAME PASSWORD: kc login to a kubeconfig that has the server only.
login() {
    [ -e "$PERSON" ] || { kubectl config view --raw --minify | grep -vE 'client-(certificate|key)-data' >"$PERSON"; chmod 600 "$PERSON"; }
    printf '%s\n' "$2" | "$KC" login --username="$1" --kubeconfig="$PERSON"
}
# person ARGS...: kubectl as the person that is logged in.
person() { kubectl --kubeconfig="$PERSON" "$@"; }
# token: the token of the session.
token() { "$KC" login --exec-credential "$(dirname "$PERSON")"/kc-sessions/*.json | sed 's/.*"token":"\([^"]*\)".*/\1/'; }
# bearer TOKEN: the status code of a request with the token.
bearer() { curl -sk -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "$HTTPS/api/v1/namespaces/default/pods"; }

@test "user logs in, reads what the team may read, and logs out" {
    admin add ann --teams=dev <<<"$PASSWORD"
    run -0 login ann "$PASSWORD"
    says 'logged in to' 'as ann until'
    run -0 person auth whoami
    says ann team:dev system:authenticated
    person get pods
    run -1 person get nodes
    says 'User "ann" cannot list resource "nodes"'
    TOKEN=$(token)
    [ "$(bearer "$TOKEN")" = 200 ]
    run -0 "$KC" logout --kubeconfig="$PERSON"
    says 'logged out'
    [ "$(bearer "$TOKEN")" = 401 ]
    run -1 person get pods
    says 'not logged in; run: kc login'
}

@test "kubeconfig has no secret, and the session file is private" {
    admin add bea <<<"$PASSWORD"
    login bea "$PASSWORD"
    FILE=$(echo "$(dirname "$PERSON")"/kc-sessions/*.json)
    [ "$(stat -c %a "$FILE")" = 600 ]
    [ "$(stat -c %a "$PERSON")" = 600 ]
    run ! grep -F "$(token)" "$PERSON"
    run ! grep -E '"session"|token:|password' "$PERSON"
}

@test "wrong password and unknown user are refused alike" {
    admin add cat <<<"$PASSWORD"
    run -1 login cat wrong-password
    says 'invalid user name or password'
    run -1 login nobody wrong-password
    says 'invalid user name or password'
    run -1 login cat ''
    says 'the password is empty'
}

@test "password change ends tokens and sessions" {
    admin add dan --teams=dev <<<"$PASSWORD"
    login dan "$PASSWORD"
    TOKEN=$(token)
    [ "$(bearer "$TOKEN")" = 200 ]
    run -0 admin passwd dan <<<'another good password'
    says 'its earlier sessions and tokens have ended'
    [ "$(bearer "$TOKEN")" = 401 ]
    run -1 login dan "$PASSWORD"
    run -0 login dan 'another good password'
}

@test "disabled user cannot log in, and enabling does not revive tokens" {
    admin add eve --teams=dev <<<"$PASSWORD"
    login eve "$PASSWORD"
    TOKEN=$(token)
    kubectl patch user eve --type=merge -p '{"spec":{"disabled":true}}'
    [ "$(bearer "$TOKEN")" = 401 ]
    run -1 login eve "$PASSWORD"
    run -0 admin enable eve
    [ "$(bearer "$TOKEN")" = 401 ]
    run -0 login eve "$PASSWORD"
}

@test "logout everywhere ends the sessions of other machines" {
    admin add fay --teams=dev <<<"$PASSWORD"
    login fay "$PASSWORD"
    TOKEN=$(token)
    PERSON=$BATS_TEST_TMPDIR/other/kubeconfig
    mkdir -p "$(dirname "$PERSON")"
    login fay "$PASSWORD"
    "$KC" logout --all --kubeconfig="$PERSON"
    [ "$(bearer "$TOKEN")" = 401 ]
}

@test "administrator prints a temporary token" {
    admin add gil --teams=dev --no-password
    run -0 "$KC" token gil --duration=10m
    TOKEN=$output
    [ "$(bearer "$TOKEN")" = 200 ]
    run -1 "$KC" token gil --duration=48h
    says 'expirationSeconds must be 60 to 86400'
    run -1 "$KC" token none
    says 'users.platform.kubecontroller.io "none" not found'
    admin disable gil
    [ "$(bearer "$TOKEN")" = 401 ]
}

@test "person cannot join a team, set another password or read the hashes" {
    admin add hal --teams=dev <<<"$PASSWORD"
    kubectl create clusterrole edit-users --verb=get,update,patch --resource=users.platform.kubecontroller.io
    kubectl create clusterrolebinding hal-edits --clusterrole=edit-users --user=hal
    login hal "$PASSWORD"
    run -1 person patch user hal --type=merge -p '{"spec":{"teams":["dev","admins"]}}'
    says 'cannot bind resource "teams"'
    run -1 "$KC" user passwd ann --kubeconfig="$PERSON" <<<'a password of mine'
    says 'cannot bind resource "users/credentials"'
    run -1 kubectl -n kc-credentials get secrets
    says 'the namespace is reserved for credentials'
    run -0 kubectl get secrets -A -o name
    never_says user-hal session-
    run -1 kubectl delete namespace kc-credentials
    says 'this namespace may not be deleted'
}

# log_in PASSWORD: head and body of the response.
log_in() { curl -sk -D - -H 'Content-Type: application/json' -d "{\"username\":\"ida\",\"password\":\"$1\"}" "$HTTPS/people/login"; }

# Attempts are given back with time, so a slow machine has more of them.
@test "guessing is slowed down" {
    admin add ida <<<"$PASSWORD"
    for attempt in $(seq 60); do
        run -0 log_in "guess-$attempt"
        [[ $output == *" 401"* ]] || break
    done
    [ "$attempt" -gt 10 ]
    says 429 retry-after 'too many attempts'
    run -0 log_in "$PASSWORD"
    says 429 retry-after 'too many attempts'
}

@test "password on a terminal is not shown, and the echo returns" {
    [ -e "$PERSON" ] || { kubectl config view --raw --minify | grep -vE 'client-(certificate|key)-data' >"$PERSON"; chmod 600 "$PERSON"; }
    run -0 "$E2E/fixtures/terminal" "$PASSWORD" "$PASSWORD" -- "$KC" user add jan --kubeconfig="$ADMIN"
    says 'Password of jan' '(again)' 'echo off: 2' 'echo on at the end' 'exit code 0'
    never_says "$PASSWORD"
    run -0 "$E2E/fixtures/terminal" "$PASSWORD" -- "$KC" login --username=jan --kubeconfig="$PERSON"
    says 'Password of jan at' 'logged in to' 'echo off: 1' 'echo on at the end' 'exit code 0'
    never_says "$PASSWORD"
}

@test "passwords on a terminal that differ, or are empty, are refused" {
    run -0 "$E2E/fixtures/terminal" "$PASSWORD" "$PASSWORD!" -- "$KC" user add kim --kubeconfig="$ADMIN"
    says 'the passwords differ' 'echo on at the end' 'exit code 1'
    run -0 "$E2E/fixtures/terminal" '' -- "$KC" user add kim --kubeconfig="$ADMIN"
    says 'the password is empty' 'echo on at the end' 'exit code 1'
}

@test "Ctrl-C at the prompt restores the terminal" {
    run -0 "$E2E/fixtures/terminal" --interrupt 'half a passw' -- "$KC" user add kim --kubeconfig="$ADMIN"
    says 'echo off: 1' 'echo on at the end' 'signal 2'
    never_says 'half a passw'
}

@test "session ends after the lifetime that the server was given" {
    run -0 "$KC" apiserver --help
    says session-lifetime
    local port left
    read -r port _ < <(free_ports)
    background "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/short" --secure-port="$port" --insecure-port=0 --session-lifetime=1h
    export KUBECONFIG=$BATS_TEST_TMPDIR/short/admin.kubeconfig
    eventually test -s "$KUBECONFIG"
    eventually kubectl get --raw /readyz
    "$KC" user add lea <<<"$PASSWORD"
    kubectl config view --raw --minify | grep -vE 'client-(certificate|key)-data' >"$PERSON"
    chmod 600 "$PERSON"
    run -0 "$KC" login --username=lea --kubeconfig="$PERSON" <<<"$PASSWORD"
    background_end
    [[ $output =~ until\ ([0-9TZ:-]+) ]]
    left=$(($(date -d "${BASH_REMATCH[1]}" +%s) - $(date +%s)))
    [ "$left" -gt 3500 ] && [ "$left" -le 3600 ]
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/never" --session-lifetime=10s
    says '--session-lifetime must be between 1m and 720h'
}

@test "users are listed with their state" {
    run -0 admin list
    says NAME STATE 'DISPLAY NAME' TEAMS
    [[ $output =~ ann\ +active\ +ann\ +dev ]]
    [[ $output =~ gil\ +disabled ]]
    run -0 admin delete gil
    run -0 admin list
    never_says gil
}

@test "commands explain what is missing" {
    run -2 "$KC" user
    says 'expected a command'
    run -2 "$KC" user add
    says 'add: expected the name of one user'
    run -2 "$KC" user ad ann
    says "unknown command 'ad'"
    run -2 "$KC" token
    says 'expected the name of one user'
}
