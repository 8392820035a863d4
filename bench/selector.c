/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.c: a compiled label selector of three requirements against an object with ten labels:
 * once all requirements hold, once one fails. The peer is written by hand for the same
 * requirements: a linear search with strcmp in an array of labels.
 */
#include "bench.h"

#include "kc/selector.h"

#include <assert.h>
#include <string.h>

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

/* The labels of the object, as a program that knows nothing else would keep them. */
static const struct label {
    const char *key, *value;
} labels[] = {
    {"app.kubernetes.io/name", "shop"},
    {"app.kubernetes.io/part-of", "store"},
    {"app.kubernetes.io/version", "1.2.3"},
    {"app", "web"},
    {"tier", "frontend"},
    {"zone", "eu-west-1a"},
    {"pod-template-hash", "6d4cf56db6"},
    {"team", "checkout"},
    {"release", "stable"},
    {"env", "production"},
};

static const char *label_of(const char *key)
{
    for (size_t i = 0; i < KC_COUNT(labels); i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return "";
}

static void match_by_hand(void *input, size_t times)
{
    (void)input;
    while (times--) {
        bench_use(labels);
        const bool matches = strcmp(label_of("app"), "web") == 0 &&
                             (strcmp(label_of("tier"), "backend") == 0 ||
                              strcmp(label_of("tier"), "frontend") == 0) &&
                             strcmp(label_of("env"), "test") != 0;
        bench_use(matches);
    }
}

/* The time of a match, to that of the peer. */
static double measure(const char *title, const char *text, kc_object *pod, bool matches)
{
    kc_auto(kc_selector) *selector = kc_selector_parse(kc_cstr(text), NULL);
    setup s = {selector, pod};
    contestant all[] = {{text, match}, {"by hand", match_by_hand}};
    assert(kc_selector_match(selector, pod) == matches);
    bench_run(title, all, KC_COUNT(all), &s);
    return all[0].ns / all[1].ns;
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
    bench_at_most("a match, to strcmp over an array", hit, 8);
    bench_at_most("a mismatch, to strcmp over an array", miss, 8);
    return bench_result();
}
