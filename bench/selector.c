/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.c: a compiled label selector of three requirements against an object with ten labels:
 * all hold (every requirement is tried), and one fails at once.
 */
#include "bench.h"

#include "kc/selector.h"

#include <assert.h>

typedef struct setup {
    kc_selector *selector;
    kc_object *object;
} setup;

static void match(void *input, size_t times)
{
    const setup *s = input;
    while (times--) {
        bool matches = kc_selector_match(s->selector, s->object);
        bench_use(matches);
    }
}

static double measure(const char *title, const char *text, kc_object *pod, bool matches)
{
    kc_auto(kc_selector) *selector = kc_selector_parse(kc_cstr(text), NULL);
    setup s = {selector, pod};
    contestant all[] = {{text, match}};
    assert(kc_selector_match(selector, pod) == matches);
    bench_run(title, all, 1, &s);
    return all[0].ns;
}

int main(void)
{
    kc_auto(kc_object) *pod = kc_object_parse(
        KC_STR(
            "{\"metadata\":{\"name\":\"web-1\",\"labels\":{\"app.kubernetes.io/name\":\"shop\",\"app.kubernetes.io/part-of\":\"store\","
            "\"app.kubernetes.io/version\":\"1.2.3\",\"app\":\"web\",\"tier\":\"frontend\",\"zone\":\"eu-west-1a\",\"pod-template-hash\":"
            "\"6d4cf56db6\",\"team\":\"checkout\",\"release\":\"stable\",\"env\":\"production\"}}}"),
        NULL, NULL);
    double hit = measure("three requirements, all hold",
                         "app=web,tier in (backend,frontend),env!=test", pod, true);
    double miss = measure("three requirements, one does not",
                          "app=web,tier in (backend,frontend),release=canary", pod, false);
    bench_at_most("ns a match", hit, 200);
    bench_at_most("ns a miss", miss, 200);
    return bench_result();
}
