/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.c: text to kc_object (validated, metadata found, canonical) against json-c and cJSON
 * building their trees of the same text, and the memory a cached object takes.
 */
#include "bench.h"

#include "kc/object.h"

#include <cjson/cJSON.h>
#include <json-c/json.h>
#include <stdio.h>
#include <yyjson.h>

static void with_kc(void *input, size_t times)
{
    kc_str text = kc_buf_str(input);
    while (times--) {
        kc_object *object = kc_object_parse(text, NULL, NULL);
        bench_use(object);
        kc_object_unref(object);
    }
}

static void with_kc_view(void *input, size_t times)
{
    kc_object *object = kc_object_parse(kc_buf_str(input), NULL, NULL);
    while (times--) {
        kc_view *view = kc_view_of(object);
        bench_use(view);
        kc_view_free(view);
    }
    kc_object_unref(object);
}

static void with_json_c(void *input, size_t times)
{
    kc_str text = kc_buf_str(input);
    while (times--) {
        json_tokener *tokener = json_tokener_new();
        json_object *object = json_tokener_parse_ex(tokener, text.p, (int)text.n);
        bench_use(object);
        json_object_put(object);
        json_tokener_free(tokener);
    }
}

static void with_cjson(void *input, size_t times)
{
    kc_str text = kc_buf_str(input);
    while (times--) {
        cJSON *object = cJSON_ParseWithLength(text.p, text.n);
        bench_use(object);
        cJSON_Delete(object);
    }
}

static void with_yyjson(void *input, size_t times)
{
    kc_str text = kc_buf_str(input);
    while (times--) {
        yyjson_doc *doc = yyjson_read(text.p, text.n, 0);
        bench_use(doc);
        yyjson_doc_free(doc);
    }
}

static void compare(const char *title, kc_buf *text)
{
    contestant all[] = {
        {"kc_object_parse", with_kc}, {"json-c", with_json_c},      {"cJSON", with_cjson},
        {"yyjson_read", with_yyjson}, {"kc_view_of", with_kc_view},
    };
    bench_run(title, all, KC_COUNT(all), text);
    bench_at_least("speed of parsing, to json-c", all[1].ns / all[0].ns, 5);
    bench_at_least("speed of parsing, to cJSON", all[2].ns / all[0].ns, 5);

    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(text), NULL, NULL);
    bench_at_most("bytes of a cached object beyond its JSON",
                  (double)(kc_object_size(object) - kc_object_json(object).n), 160);
}

int main(void)
{
    kc_scoped(kc_buf) config_map = {0};
    kc_scoped(kc_buf) pod = {0};
    char title[64];
    sample_config_map(&config_map, 2048);
    snprintf(title, sizeof(title), "ConfigMap, %zu bytes", config_map.n);
    compare(title, &config_map);
    sample_pod(&pod);
    snprintf(title, sizeof(title), "Pod, %zu bytes", pod.n);
    compare(title, &pod);
    return bench_result();
}
