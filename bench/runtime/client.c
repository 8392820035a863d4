/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c: the client: lists cut into objects while they come, beside parsing the whole text first
 * and taking the objects from the tree; an event of a watch; and requests to a server in the same
 * process.
 */
#include "bench.h"

#include "client/stream/list_splitter.h"
#include "client/stream/watch_frames.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>

enum { ITEMS = 1000, CHUNK = 64 << 10 };

static int drop(kc_object *object, void *user, kc_error *err)
{
    (void)user, (void)err;
    kc_object_unref(object);
    return 0;
}

/* ---- lists ---- */

static void cut(void *input, size_t times)
{
    const kc_buf *list = input;
    while (times--) {
        kc_scoped(kc__stream_splitter) c = {.kind = &kc_kind_pod, .each = drop};
        for (kc_str rest = kc_buf_str(list); rest.n; rest = kc_str_sub(rest, CHUNK, rest.n))
            if (kc__stream_splitter_feed(&c, kc_str_sub(rest, 0, CHUNK), NULL) < 0)
                abort();
        kc_object_unref(kc__stream_splitter_end(&c, NULL));
    }
}

static void parse_all(void *input, size_t times)
{
    const kc_buf *list = input;
    while (times--) {
        kc_auto(kc_view) *view =
            kc_view_parse(kc_buf_str(list), &(kc_json_opts){.max_bytes = (size_t)1 << 30}, NULL);
        kc_value_each_item (kc_value_get(kc_view_root(view), "items"), item) {
            kc_scoped(kc_buf) text = {0};
            kc_json_write(&text, item);
            kc_object_unref(kc_object_parse(kc_buf_str(&text), NULL, NULL));
        }
    }
}

static void write_list(kc_buf *out, const char *pod)
{
    kc_buf_puts(out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[");
    for (int i = 0; i < ITEMS; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_buf_puts(out, pod);
    }
    kc_buf_puts(out, "]}");
}

/* ---- events ---- */

static void frames(void *input, size_t times)
{
    const kc_buf *event = input;
    kc_scoped(kc__stream_frames) f = {0};
    while (times--) {
        kc__stream_frame frame;
        kc__stream_frames_feed(&f, kc_buf_str(event));
        if (kc__stream_frames_next(&f, &frame, NULL) != 1)
            abort();
        kc_object_unref(kc_object_parse(frame.object, NULL, NULL));
    }
}

/* ---- requests ---- */

static void get(void *input, size_t times)
{
    while (times--)
        kc_object_unref(
            kc_client_get(input, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL));
}

static void handle(void *input, size_t times)
{
    while (times--)
        kc_client_unref(kc_client_with(input, &(kc_client_overrides){.ns = "default"}));
}

int main(void)
{
    kc_scoped(kc_buf) pod = {0}, list = {0}, event = {0};
    sample_pod(&pod);
    write_list(&list, kc_buf_cstr(&pod));
    contestant lists[] = {{"cut while it comes", cut}, {"parse, then take apart", parse_all}};
    printf("a list of %d pods, %.1f MB\n", ITEMS, (double)list.n / 1e6);
    bench_run("list", lists, KC_COUNT(lists), &list);
    printf("%.0f MB/s\n", (double)list.n / lists[0].ns * 1e3);
    bench_at_least("speed of a list, to parsing it first", lists[1].ns / lists[0].ns, 1.5);

    kc_buf_printf(&event, "{\"type\":\"MODIFIED\",\"object\":%s}\n", kc_buf_cstr(&pod));
    contestant events[] = {{"event to object", frames}};
    bench_run("watch", events, 1, &event);
    printf("%.0f MB/s\n", (double)event.n / events[0].ns * 1e3);

    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    contestant requests[] = {{"get, in the process", get}, {"another handle", handle}};
    bench_run("client", requests, KC_COUNT(requests), client);
    return bench_result();
}
