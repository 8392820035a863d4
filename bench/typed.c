/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: an object through its type: one that needs no change, as every update of a stored object
 * is, and one as kubectl sends it, with its members by name and fields missing.
 */
#include "bench.h"

#include "typed_testing.h"

#include <stdio.h>

static void decode(void *input, size_t times)
{
    kc_object *object = input;
    while (times--) {
        kc_object *typed = kc__typed_decode(&thing, object, NULL, NULL);
        bench_use(typed);
        kc_object_unref(typed);
    }
}

/* What it has to be held against: reading the same text. */
static void parse(void *input, size_t times)
{
    kc_str text = kc_object_json(input);
    while (times--) {
        kc_object *object = kc_object_parse(text, NULL, NULL);
        bench_use(object);
        kc_object_unref(object);
    }
}

static void measure(const char *what, kc_object *object, double most)
{
    char title[96];
    contestant all[] = {{"kc__typed_decode", decode}, {"kc_object_parse", parse}};
    snprintf(title, sizeof(title), "%s, %zu bytes", what, kc_object_json(object).n);
    bench_run(title, all, KC_COUNT(all), object);
    bench_at_most("through its type, to reading its text", all[0].ns / all[1].ns, most);
}

/* About a kilobyte of labels stands for the data of a ConfigMap. */
static kc_object *sample(bool in_order)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, in_order ? "{\"kind\":\"Thing\",\"apiVersion\":\"v1\",\"metadata\":{"
                                : "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{");
    kc_buf_puts(&text, in_order ? "\"name\":\"web\",\"creationTimestamp\":\"2024-02-27T12:00:00Z\","
                                : "\"creationTimestamp\":null,\"name\":\"web\",");
    kc_buf_puts(&text, "\"labels\":{");
    for (int i = 0; i < 16; i++)
        kc_buf_printf(&text, "%s\"key-%02d.properties\":\"color=blue\\nallow.textmode=true %d\"",
                      i ? "," : "", in_order ? i : (i * 7) % 16, i);
    kc_buf_puts(&text, "}},\"spec\":{");
    kc_buf_puts(&text, in_order ? "\"replicas\":3,\"selector\":{},\"containers\":[{\"name\":\"a\","
                                  "\"image\":\"nginx\",\"resources\":{}}],\"due\":null}}"
                                : "\"replicas\":3,\"containers\":[{\"image\":\"nginx\",\"name\":"
                                  "\"a\"}]}}");
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

int main(void)
{
    the_thing();
    kc_auto(kc_object) *stored = sample(true);
    kc_auto(kc_object) *sent = sample(false);
    measure("nothing to change", stored, 3);
    measure("out of order, fields missing", sent, 8);
    return bench_result();
}
