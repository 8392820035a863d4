#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# `kc apply-dir` and `kc up --manifests`, checked with kubectl: what is applied, re-applied and pruned, what is kept while a file is broken, and what
# kubectl itself makes of the apply set.

bats_require_minimum_version 1.5.0

setup_file() {
    load helpers
    server_start --authn-allow-localhost
}

teardown_file() {
    load helpers
    server_stop
}

setup() {
    load helpers
    pid='' job=''
    [[ $BATS_TEST_DESCRIPTION == up:* ]] || namespace
    dir=$BATS_TEST_TMPDIR/manifests
    mkdir "$dir"
}

teardown() {
    each background_end up_end
}

# map NAME VALUE: a manifest.
map() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  key: %s\n' "$1" "$2"; }

# apply_dir FLAG…
apply_dir() { "$KC" apply-dir "$dir" -n "$NS" "$@"; }

has() { k get "$1" "$2" >/dev/null 2>&1; }
# lacks KIND NAME: the server says so. A request that fails in another way proves nothing.
lacks() { k get "$1" "$2" 2>&1 >/dev/null | grep -q NotFound; }

# set_name: the parent of the directory's apply set.
set_name() { k get configmaps -l applyset.kubernetes.io/id -o jsonpath='{.items[0].metadata.name}'; }

@test "directory is applied once, and objects that left it are pruned" {
    map a one >"$dir/a.yaml"
    mkdir "$dir/sub"
    map b one >"$dir/sub/b.yml"
    printf '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"c"}}' >"$dir/c.json"
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: any}]}\n' >"$dir/d.yaml"
    echo 'not: a manifest' >"$dir/.hidden.yaml"
    chmod 555 "$dir"
    run -0 apply_dir
    chmod 755 "$dir"
    [ "$output" = $'configmap/a serverside-applied\nsecret/c serverside-applied\ndeployment.apps/web serverside-applied\nconfigmap/b serverside-applied' ]
    never_says $'\033'
    rm "$dir/sub/b.yml" "$dir/d.yaml"
    map a two >"$dir/a.yaml"
    run -0 apply_dir
    says "configmap/a serverside-applied" "configmap/b pruned" "deployment.apps/web pruned"
    [ "$(k get configmap a -o jsonpath='{.data.key}')" = two ]
    lacks configmap b
    lacks deployment web
    has secret c
}

@test "fields have the directory's field manager, and dropped fields are removed" {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1", y: "2"}\n' >"$dir/a.yaml"
    apply_dir
    run -0 k get configmap a --show-managed-fields -o jsonpath='{.metadata.managedFields[0].manager}/{.metadata.managedFields[0].operation}'
    says kc-manifests/Apply
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n' >"$dir/a.yaml"
    apply_dir
    [ "$(k get configmap a -o jsonpath='{.data}')" = '{"x":"1"}' ]
}

@test "change of another client is undone, or reported with --force-conflicts=false" {
    map a one >"$dir/a.yaml"
    apply_dir
    k patch configmap a --type=merge -p '{"data":{"key":"drifted"}}'
    run -1 apply_dir --force-conflicts=false
    says "$dir/a.yaml: line 1: ConfigMap $NS/a: Apply failed with 1 conflict" ".data.key"
    field_is configmap a '{.data.key}' drifted
    run -0 apply_dir
    field_is configmap a '{.data.key}' one
}

@test "dry run changes nothing" {
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    apply_dir
    rm "$dir/b.yaml"
    map a two >"$dir/a.yaml"
    run -0 apply_dir --dry-run
    [ "$output" = $'configmap/a serverside-applied (server dry run)\nconfigmap/b pruned (server dry run)' ]
    field_is configmap a '{.data.key}' one
    has configmap b
}

@test "nothing is pruned with --prune=false" {
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    apply_dir
    rm "$dir/b.yaml"
    run -0 apply_dir --prune=false
    never_says pruned
    has configmap b
    run -0 apply_dir
    says "configmap/b pruned"
}

@test "broken file is named with its line, prunes nothing, and the others are applied" {
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    map c one >"$dir/c.yaml"
    apply_dir
    rm "$dir/c.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {key: [one}\n' >"$dir/b.yaml"
    map a two >"$dir/a.yaml"
    run -1 --separate-stderr apply_dir
    [ "$output" = "configmap/a serverside-applied" ]
    output=$stderr
    says "error: $dir/b.yaml: line 4, column" "kc apply-dir: 1 failed" "no object was pruned"
    has configmap b
    has configmap c
    map b two >"$dir/b.yaml"
    run -0 apply_dir
    says "configmap/b serverside-applied" "configmap/c pruned"
}

@test "failures are events of the parent and of the object" {
    printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: a\n' >"$dir/s.yaml"
    apply_dir
    printf '\n\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: b\n' >"$dir/s.yaml"
    echo 'a: [' >"$dir/broken.yaml"
    run -1 apply_dir
    says "$dir/s.yaml: line 3: Secret $NS/s: " "field is immutable" "2 failed"
    run -0 k describe configmap "$(set_name)"
    says ApplyFailed "s.yaml: line 3: Secret" InvalidManifest "broken.yaml: line 2"
    run -0 k get events --field-selector involvedObject.kind=Secret,involvedObject.name=s
    says ApplyFailed "field is immutable"
}

@test "CRDs and namespaces come first, in any order of files" {
    cat >"$dir/a.yaml" <<END
apiVersion: dir.test/v1
kind: Widget
metadata: {name: w, namespace: $NS-far}
END
    echo "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-far}}" >"$dir/y.yaml"
    cat >"$dir/z.yaml" <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.dir.test}
spec:
  group: dir.test
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
    run -0 apply_dir
    [ "$output" = "customresourcedefinition.apiextensions.k8s.io/widgets.dir.test serverside-applied
namespace/$NS-far serverside-applied
widget.dir.test/w serverside-applied" ]
    k get configmap "$(set_name)" -o jsonpath='{.metadata.annotations.applyset\.kubernetes\.io/contains-group-kinds} {.metadata.annotations.applyset\.kubernetes\.io/additional-namespaces}' >"$BATS_TEST_TMPDIR/scope"
    [ "$(cat "$BATS_TEST_TMPDIR/scope")" = "CustomResourceDefinition.apiextensions.k8s.io,Namespace,Widget.dir.test $NS-far" ]
}

@test "kubectl reads the apply set, and prunes it once it is told that the set is its own" {
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    apply_dir --applyset=configmaps/shop
    export KUBECTL_APPLYSET=true
    run -1 k apply --server-side --prune --applyset=configmaps/shop -f "$dir/a.yaml"
    says 'is managed by tooling "kc" instead of "kubectl"'
    k annotate --overwrite configmap shop applyset.kubernetes.io/tooling=kubectl/v1.34.1
    run -0 k apply --server-side --force-conflicts --prune --applyset=configmaps/shop -f "$dir/a.yaml"
    says "configmap/b pruned"
    has configmap a
    run -1 apply_dir --applyset=configmaps/shop
    says 'the apply set is managed by the tool "kubectl", not by "kc"'
}

@test "two directories do not share objects" {
    map a one >"$dir/a.yaml"
    apply_dir
    other=$BATS_TEST_TMPDIR/other
    mkdir "$other"
    map a two >"$other/a.yaml"
    run -1 "$KC" apply-dir "$other" -n "$NS"
    says "is a member of another apply set"
    field_is configmap a '{.data.key}' one
}

@test "two directories with equal names prune only their own objects" {
    other=$BATS_TEST_TMPDIR/other/manifests
    mkdir -p "$other"
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    map c one >"$other/c.yaml"
    map d one >"$other/d.yaml"
    apply_dir
    "$KC" apply-dir "$other" -n "$NS"
    [ "$(k get configmaps -l applyset.kubernetes.io/id -o name | wc -l)" -eq 2 ]
    rm "$dir/b.yaml"
    run -0 apply_dir
    [ "$output" = $'configmap/a serverside-applied\nconfigmap/b pruned' ]
    rm "$other/d.yaml"
    run -0 "$KC" apply-dir "$other" -n "$NS"
    [ "$output" = $'configmap/c serverside-applied\nconfigmap/d pruned' ]
    run -0 k get configmaps -l applyset.kubernetes.io/part-of -o name
    [ "$output" = $'configmap/a\nconfigmap/c' ]
    k delete configmap c
    run -0 apply_dir
    never_says configmap/c
}

@test "watch keeps the objects of a broken file, and applies it when it is mended" {
    printf '%s\n---\n%s\n' "$(map a one)" "$(map b one)" >"$dir/ab.yaml"
    map c one >"$dir/c.yaml"
    background "$KC" apply-dir "$dir" -n "$NS" --watch
    eventually has configmap b
    eventually has configmap c
    # Broken after the first document, in one step.
    printf '%s\n---\ndata: [\n' "$(map a two)" >"$dir/.tmp" && mv "$dir/.tmp" "$dir/ab.yaml"
    eventually background_says "error: $dir/ab.yaml: line [0-9]+, column"
    event() { k get events -o jsonpath='{.items[*].reason} {.items[*].message}' | grep -q 'InvalidManifest.*ab.yaml: line'; }
    eventually event
    # A sync that follows applies the other files and deletes nothing.
    rm "$dir/c.yaml"
    map d one >"$dir/d.yaml"
    eventually has configmap d
    field_is configmap a '{.data.key}' one
    has configmap b
    has configmap c
    printf '%s\n' "$(map a three)" >"$dir/.tmp" && mv "$dir/.tmp" "$dir/ab.yaml"
    eventually field_is configmap a '{.data.key}' three
    eventually lacks configmap b
    eventually lacks configmap c
    has configmap d
}

@test "watch applies changes, also by rename and by swapped links, and prunes" {
    map a one >"$dir/a.yaml"
    background "$KC" apply-dir "$dir" -n "$NS" --watch
    eventually has configmap a
    map b one >"$dir/.b.tmp" && mv "$dir/.b.tmp" "$dir/b.yaml"
    eventually has configmap b
    map b two >"$dir/.b.tmp" && mv "$dir/.b.tmp" "$dir/b.yaml"
    eventually field_is configmap b '{.data.key}' two
    mkdir "$dir/..1" "$dir/..2"
    map c one >"$dir/..1/c.yaml"
    map c two >"$dir/..2/c.yaml"
    ln -s ..1 "$dir/..data"
    ln -s ..data/c.yaml "$dir/c.yaml"
    eventually has configmap c
    ln -s ..2 "$dir/..tmp" && mv -T "$dir/..tmp" "$dir/..data"
    eventually field_is configmap c '{.data.key}' two
    rm "$dir/b.yaml"
    eventually lacks configmap b
    k delete configmap a
    touch "$dir/a.yaml"
    eventually has configmap a
    echo 'a: [' >"$dir/x.yaml"
    eventually background_says 'x.yaml: line 2'
    rm "$dir/c.yaml" "$dir/x.yaml"
    eventually lacks configmap c
    kill -TERM "$job"
    background_ends
    run -0 cat "$BATS_TEST_TMPDIR/background"
    says "configmap/b serverside-applied" "configmap/b pruned"
    [ "$(grep -c 'x.yaml: line 2' <<<"$output")" -eq 1 ]
}

@test "mistakes on the command line and missing directories are one sentence" {
    run -2 "$KC" apply-dir
    says "expected one directory: kc apply-dir DIR"
    run -2 apply_dir --applyset=deployments/x
    says "--applyset: invalid value 'deployments/x': must be NAME, secrets/NAME or configmaps/NAME"
    run -2 apply_dir --resync=10s
    says "--resync: invalid value '10s': must be a duration of at least 1m"
    run -1 "$KC" apply-dir /no/such
    [ "$output" = "kc apply-dir: cannot read the directory of manifests /no/such: No such file or directory" ]
    run -1 apply_dir
    [ "$output" = "kc apply-dir: $dir has no file *.yaml, *.yml or *.json" ]
    run -0 "$KC" apply-dir --help
    says "--watch" "--applyset" "--dry-run" "kc apply-dir manifests --dry-run"
}

# ---- kc up ----

@test "up: manifests are applied at the start, re-applied after a change, and pruned" {
    up_prepare
    map a one >"$dir/a.yaml"
    up --without=hub,pods --manifests="$dir"
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says "manifests    $dir"
    eventually has configmap a
    map b one >"$dir/b.yaml"
    eventually has configmap b
    map a two >"$dir/a.yaml"
    eventually field_is configmap a '{.data.key}' two
    rm "$dir/b.yaml"
    eventually lacks configmap b
    echo 'a: [' >"$dir/broken.yaml"
    described() { kubectl -n kube-system describe configmap kc-manifests | grep -q 'broken.yaml: line 2'; }
    eventually described
    run -0 curl -sf "$HTTP/metrics"
    says 'kc_manifests_problems 1' 'kc_manifests_objects 1' 'kc_manifests_errors_total{stage="parse"}'
    grep -c broken.yaml "$BATS_TEST_TMPDIR/err"
    [ "$(grep -c broken.yaml "$BATS_TEST_TMPDIR/err")" -eq 1 ]
}

@test "up: --manifests and kc apply-dir prune only their own objects" {
    up_prepare
    other=$BATS_TEST_TMPDIR/other
    mkdir "$other"
    map a one >"$dir/a.yaml"
    map b one >"$dir/b.yaml"
    map c one >"$other/c.yaml"
    map d one >"$other/d.yaml"
    up --without=hub,pods --manifests="$dir"
    eventually has configmap b
    "$KC" apply-dir "$other" -n default
    rm "$dir/b.yaml"
    eventually lacks configmap b
    rm "$other/d.yaml"
    run -0 "$KC" apply-dir "$other" -n default
    [ "$output" = $'configmap/c serverside-applied\nconfigmap/d pruned' ]
    has configmap a
    has configmap c
}

@test "up: kill -9 at any time loses nothing, and the next start finishes" {
    up_prepare
    for i in 1 2 3 4 5 6 7 8; do map "m$i" one >"$dir/$i.yaml"; done
    up --without=hub,pods --manifests="$dir"
    eventually has configmap m8
    for round in 1 2 3; do
        rm "$dir"/*.yaml
        for i in 1 2 3 4; do map "m$i" "round$round" >"$dir/$i.yaml"; done
        map "new$round" one >"$dir/new.yaml"
        sleep "0.1$round"
        kill -KILL "$pid"
        wait_for "$pid" || true
        pid=
        up_ports
        up --without=hub,pods --manifests="$dir"
        for i in 1 2 3 4; do eventually field_is configmap "m$i" '{.data.key}' "round$round"; done
        eventually has configmap "new$round"
        for i in 5 6 7 8; do eventually lacks configmap "m$i"; done
        eventually lacks configmap "new$((round - 1))"
    done
}

@test "up: missing directory is refused before anything is created" {
    up_prepare
    run -1 timeout 90 "$KC" up --file-rootpath="$root" --manifests=/no/such
    says "kc up: --manifests: cannot read the directory of manifests /no/such: No such file or directory"
    [ ! -e "$root" ]
    run -1 timeout 90 "$KC" up --file-rootpath="$root" --manifests=/dev/null
    says "/dev/null is not a directory"
}

@test "up: directory that other users can write to is a warning" {
    up_prepare
    chmod 777 "$dir"
    up --without=hub,pods --manifests="$dir"
    run -0 cat "$BATS_TEST_TMPDIR/err"
    says "other users can change the manifests" "$dir"
}

@test "up: directory that vanishes keeps its objects, and is applied when it returns" {
    up_prepare
    map a one >"$dir/a.yaml"
    up --without=hub,pods --manifests="$dir"
    eventually has configmap a
    mv "$dir" "$dir.away"
    logged() { grep -q 'cannot open directory' "$BATS_TEST_TMPDIR/err"; }
    eventually logged
    has configmap a
    map b one >"$dir.away/b.yaml"
    mv "$dir.away" "$dir"
    eventually has configmap b
}

@test "up: idle directory costs one thread and no processor time" {
    up_prepare
    map a one >"$dir/a.yaml"
    up --without=hub,pods
    sleep 6
    before=$(ls "/proc/$pid/task" | wc -l)
    down INT 0
    rm -rf "$root"
    up_ports
    up --without=hub,pods --manifests="$dir"
    eventually has configmap a
    sleep 6
    one_more() { [ "$(ls "/proc/$pid/task" | wc -l)" -le $((before + 1)) ]; }
    eventually one_more
    thread=$(grep -l '^manifests' /proc/"$pid"/task/*/comm)
    ticks() { awk '{print $14 + $15}' "$(dirname "$thread")/stat"; }
    is_idle() {
        was=$(ticks)
        sleep 3
        [ "$(ticks)" -eq "$was" ]
    }
    eventually is_idle
    grep -q '^voluntary_ctxt_switches' "$(dirname "$thread")/status"
}
