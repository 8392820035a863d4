/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of an etcd server: any bytes may be refused, none may crash. Slices of a decoded message
 * are within the bytes. What is decoded can be encoded, and decodes to the same. The first byte
 * selects the message. Events of a watch pass through the cursor, which delivers none twice.
 */
#include "fuzzing.h"

#include "etcd/cursor.h"

static const kc__etcd_proto_message *const tables[] = {
#define MESSAGE_TABLE(name, struct_name) &kc__etcd_##struct_name##_table,
    KC__ETCD_MESSAGES(MESSAGE_TABLE)
#undef MESSAGE_TABLE
};

static const kc__etcd_proto_limits limits = {.max_elements = 4096};

typedef struct any_list {
    const char *items;
    size_t n;
} any_list;

static void check_slice(kc_str s, kc_str bytes)
{
    assert(!s.n || (s.p >= bytes.p && s.p + s.n <= bytes.p + bytes.n));
}

static void check_message(const kc__etcd_proto_message *table, const char *message, kc_str bytes);

static void check_list(const kc__etcd_proto_field *field, any_list list, kc_str bytes)
{
    assert(list.n <= limits.max_elements);
    for (size_t i = 0; i < list.n; i++) {
        if (field->message)
            check_message(field->message, list.items + i * field->message->size, bytes);
        else
            check_slice(((const kc_str *)(const void *)list.items)[i], bytes);
    }
}

static void check_message(const kc__etcd_proto_message *table, const char *message, kc_str bytes)
{
    for (size_t i = 0; i < table->n_fields; i++) {
        const kc__etcd_proto_field *field = &table->fields[i];
        const char *at = message + field->offset;
        const char *nested;
        any_list list;
        switch (field->type) {
        case KC__ETCD_PROTO_BYTES:
        case KC__ETCD_PROTO_PRESENT_BYTES:
            check_slice(*(const kc_str *)(const void *)at, bytes);
            break;
        case KC__ETCD_PROTO_STRUCT:
            memcpy(&nested, at, sizeof(nested));
            if (nested)
                check_message(field->message, nested, bytes);
            break;
        case KC__ETCD_PROTO_BYTES_LIST:
        case KC__ETCD_PROTO_STRUCT_LIST:
            memcpy(&list, at, sizeof(list));
            check_list(field, list, bytes);
            break;
        default: break;
        }
    }
}

static void check_again(const kc__etcd_proto_message *table, const void *message)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) once = {0}, twice = {0};
    void *again = kc_arena_calloc(&arena, 1, table->size);
    kc__etcd_proto_encode(table, message, &once);
    assert(kc__etcd_proto_decode(table, kc_buf_str(&once), &limits, &arena, again, NULL) == 0);
    kc__etcd_proto_encode(table, again, &twice);
    assert(kc_str_eq(kc_buf_str(&once), kc_buf_str(&twice)));
}

/* The same response three times, as two fragments and after a restart. */
static void check_cursor(const kc__etcd_watch_response *response)
{
    kc__etcd_cursor cursor = {.next = 1};
    kc__etcd_events first = {0}, repeated = {0};
    if (!kc__etcd_cursor_take(&cursor, response->events, true, &first))
        return;
    assert(first.n <= response->events.n);
    kc__etcd_cursor_restart(&cursor);
    assert(kc__etcd_cursor_take(&cursor, response->events, response->fragment, &repeated));
    assert(!repeated.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    if (!size)
        return 0;
    const kc__etcd_proto_message *table = tables[data[0] % KC_COUNT(tables)];
    const kc_str bytes = kc_str_of((const char *)data + 1, size - 1);
    void *message = kc_arena_calloc(&arena, 1, table->size);
    if (kc__etcd_proto_decode(table, bytes, &limits, &arena, message, &err) < 0) {
        assert(err.reason == KC_BAD_REQUEST || err.reason == KC_TOO_LARGE);
        return 0;
    }
    check_message(table, message, bytes);
    check_again(table, message);
    if (table == &kc__etcd_watch_response_table)
        check_cursor(message);
    return 0;
}
