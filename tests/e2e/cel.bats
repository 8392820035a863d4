#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# `kc cel eval` as authors of rules use it: value, type, cost and estimate of an expression; objects and CRDs from files, pipes and standard
# input; errors with their place. The last test gives the same rule to the server and to the command.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$BATS_TEST_TMPDIR" || return
    cat >robot.yaml <<'END'
apiVersion: factory.example.com/v1
kind: Robot
metadata: {name: r2}
spec:
  replicas: 3
  names: [a, b]
END
    echo '{"apiVersion":"factory.example.com/v1","kind":"Robot","metadata":{"name":"r2"},"spec":{"replicas":2,"names":["a"]}}' >old.json
    crd '' >crd.yaml
}

# crd RULES: a CustomResourceDefinition whose older version has another type of replicas.
crd() {
    cat <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.factory.example.com}
spec:
  group: factory.example.com
  scope: Namespaced
  names: {kind: Robot, plural: robots}
  versions:
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {replicas: {type: string}}}}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        $1
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, maximum: 10}
              names: {type: array, maxItems: 5, items: {type: string, maxLength: 10}}
END
}

# evaluate EXPRESSION FLAG…
evaluate() { "$KC" cel eval "$@"; }

# shows NAME TEXT: a line of the last output, such as `value     3`.
shows() { [ "$(sed -n "s/^$1  *//p" <<<"$output")" = "$2" ] || { printf '%s is not %s in:\n%s\n' "$1" "$2" "$output"; return 1; }; }

# ---- values ----

@test "value, type, cost and estimate are printed, and false is no failure" {
    run -0 evaluate '1 + 2'
    [ "$output" = 'value     3
type      int
cost      1 (limit 1000000)
estimate  1 to 1 (limit of a rule 10000000)' ]
    run -0 evaluate '1 > 2'
    shows value false
    shows type bool
}

@test "values are printed as expressions" {
    run -0 evaluate '"a\n" + "ü"'
    shows value '"a\nü"'
    run -0 evaluate '[1, 2].map(i, i * 2)'
    shows value '[2, 4]'
    shows type 'list(int)'
    run -0 evaluate '{"a": 1.0}'
    shows value '{"a": 1.0}'
    run -0 evaluate 'quantity("1Gi").add(quantity("1Gi"))'
    shows value 'quantity("2Gi")'
    run -0 evaluate 'timestamp("2026-01-01T00:00:00Z") + duration("1h")'
    shows value 'timestamp("2026-01-01T01:00:00Z")'
    run -0 evaluate 'self'
    shows value null
}

@test "expression that begins with a minus sign follows two dashes" {
    run -0 evaluate -- '-1 - 2'
    shows value -3
    run -2 evaluate '-1 - 2'
    says "kc cel: unknown flag '-1 - 2'"
}

# ---- files ----

@test "self is the object of a file in YAML or JSON, and oldSelf that of another" {
    run -0 evaluate 'self.spec.replicas' -f robot.yaml
    shows value 3
    shows type dyn
    run -0 evaluate 'self.spec.names[0] + self.metadata.name' --filename=old.json
    shows value '"ar2"'
    run -0 evaluate 'self.spec.replicas > oldSelf.spec.replicas' -f robot.yaml --old old.json
    shows value true
    run -1 evaluate 'oldSelf == null' -f robot.yaml
    says "ERROR: <input>:1:1: undeclared reference to 'oldSelf'"
}

@test "object comes from standard input, also from a writer that is slow" {
    run -0 evaluate self.spec.replicas -f - <robot.yaml
    shows value 3
    slow() { sleep 0.3; head -c 20 robot.yaml; sleep 0.3; tail -c +21 robot.yaml; }
    run -0 evaluate self.spec.replicas -f - < <(slow)
    shows value 3
    run -0 evaluate self.spec.replicas -f <(slow)
    shows value 3
    run -0 evaluate 'oldSelf.spec.replicas' -f robot.yaml --old - <old.json
    shows value 2
    run -2 evaluate self -f - --old - <robot.yaml
    says "kc cel: only one of --filename, --old and --schema can be standard input"
}

@test "object of the server is evaluated" {
    kubectl create configmap settings --from-literal=colour=blue
    run -0 evaluate 'self.data.colour.matches("^bl") && has(self.metadata.uid)' -f <(kubectl get configmap settings -o yaml)
    shows value true
    run -0 evaluate 'self.data.size()' -f - < <(kubectl get configmap settings -o json)
    shows value 1
}

@test "file that is missing or invalid is named" {
    run -1 evaluate self -f none.yaml
    [ "$output" = "kc cel: cannot open none.yaml: No such file or directory" ]
    run -1 evaluate self -f robot.yaml --old none.json
    says "kc cel: cannot open none.json"
    run -1 evaluate self -f .
    says "kc cel: cannot read .: Is a directory"
    printf 'a: 1\nb: [\n' >broken.yaml
    run -1 evaluate self -f broken.yaml
    says "kc cel: broken.yaml: line 3, column"
    run -1 evaluate self -f - <broken.yaml
    says "kc cel: standard input: line 3, column"
    run -1 evaluate self --schema robot.yaml
    says "kc cel: robot.yaml: no CustomResourceDefinition with a schema"
}

# ---- schemas ----

@test "schema gives types, and bounds for the estimate" {
    run -0 evaluate 'self.spec.replicas + 1' -f robot.yaml --schema crd.yaml
    shows value 4
    shows type int
    run -0 evaluate 'self.spec.names.exists(n, n == "b")' -f robot.yaml
    [[ $output == *$'\nestimate  '*' or more, without bound' ]]
    run -0 evaluate 'self.spec.names.exists(n, n == "b")' -f robot.yaml --schema crd.yaml
    shows value true
    [[ $output =~ estimate\ \ [0-9]+\ to\ [0-9]+\ \(limit\ of\ a\ rule\ 10000000\) ]]
    run -1 evaluate 'self.spec.size' -f robot.yaml --schema crd.yaml
    says "ERROR: <input>:1:10: undefined field 'size'" ' | self.spec.size' ' | .........^'
    run -1 evaluate 'self.spec.replicas == "3"' -f robot.yaml --schema crd.yaml
    says "ERROR: <input>:1:20: found no matching overload for '_==_' applied to '(int, string)'"
}

@test "schema is that of the object's version" {
    sed 's|/v1$|/v1alpha1|; s/replicas: 3/replicas: three/' robot.yaml >older.yaml
    run -0 evaluate 'self.spec.replicas' -f older.yaml --schema crd.yaml
    shows value '"three"'
    shows type string
}

@test "object that does not match its schema fails the evaluation" {
    sed 's/replicas: 3/replicas: three/' robot.yaml >wrong.yaml
    run -1 evaluate 'self.spec.replicas > 1' -f wrong.yaml --schema crd.yaml
    says "evaluation failed after a cost of "
}

# ---- errors ----

@test "syntax error has line, column and a caret" {
    run -1 --separate-stderr evaluate $'1 +\n  2 2'
    [ -z "$output" ]
    output=${stderr:?}
    says "ERROR: <input>:2:5: Syntax error: " ' |   2 2' ' | ....^'
    run -1 evaluate 'nobody.name'
    [ "$output" = "ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')
 | nobody.name
 | ^" ]
    run -1 evaluate ''
    says "ERROR: "
}

@test "runtime error has its cost and no value" {
    run -1 --separate-stderr evaluate 'self.spec.size > 1' -f robot.yaml
    [ -z "$output" ]
    [[ $stderr =~ ^evaluation\ failed\ after\ a\ cost\ of\ [0-9]+:\ no\ such\ key:\ size$ ]]
    run -1 evaluate '1 / 0'
    says ": division by zero"
    # The cost of the evaluation is bounded, not only that of rules.
    run -1 evaluate '[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f >= 0))))))'
    says "operation cancelled: actual cost limit exceeded"
}

@test "usage errors exit with 2" {
    run -2 "$KC" cel evl 1
    [ "$output" = "kc cel: unknown command 'evl': must be eval; did you mean 'eval'?" ]
    run -2 "$KC" cel
    [ "$output" = "kc cel: expected 'eval' and one expression" ]
    run -2 evaluate
    says "expected 'eval' and one expression"
    run -2 evaluate 1 2
    says "expected 'eval' and one expression"
    run -2 evaluate 1 --scheme=crd.yaml
    says "unknown flag '--scheme'; did you mean '--schema'?"
    run -2 evaluate 1 -f
    says "--filename needs a value: --filename=FILE"
    run -0 "$KC" cel --help
    says "Usage: kc cel eval EXPR" "--old" "--schema" "-f -"
}

# ---- the same rule in the server ----

@test "rule has the value and the error that the server gives it" {
    rule='self.spec.names.size() <= self.spec.replicas'
    crd "x-kubernetes-validations: [{rule: '$rule', message: too many names}]" >rules.yaml
    kubectl apply -f rules.yaml
    kubectl wait --for=condition=Established --timeout=90s crd/robots.factory.example.com
    run -0 evaluate "$rule" -f robot.yaml --schema rules.yaml
    shows value true
    kubectl apply -f robot.yaml
    sed 's/replicas: 3/replicas: 1/' robot.yaml >few.yaml
    run -0 evaluate "$rule" -f few.yaml --schema rules.yaml
    shows value false
    run -1 kubectl apply -f few.yaml
    says "too many names"
    run -1 evaluate 'self.spec.size == 1' --schema rules.yaml
    error=$output
    run -1 kubectl apply -f <(crd "x-kubernetes-validations: [{rule: 'self.spec.size == 1'}]")
    says "$(head -n 1 <<<"$error")"
}
