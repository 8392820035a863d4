/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printing/table.h"
#include "testing.h"

/* ---- columns of a test kind ---- */

static void cell_size(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_number(
        out, kc_value_as_i64_or(kc_value_get(kc__print_row_root(row), "size"), -1));
}

static void cell_color(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_value_as_str(kc_value_get(kc__print_row_root(row), "color")));
}

static void conditions_when_big(kc_buf *out, kc__print_row *row)
{
    if (kc_value_as_i64_or(kc_value_get(kc__print_row_root(row), "size"), 0) > 9)
        kc_buf_puts(out, "[{\"type\":\"Completed\",\"status\":\"True\"}]");
}

static const kc__print_column list[] = {
    {.name = "Name", .type = "string", .format = "name", .cell = kc__print_cell_name},
    {.name = "Size", .type = "integer", .description = "How \"big\".", .cell = cell_size},
    {.name = "Color", .type = "string", .priority = 1, .cell = cell_color},
};
static const kc__print_columns columns = {
    .list = list, .n = KC_COUNT(list), .conditions = conditions_when_big};

#define DEFINITIONS                                                                     \
    "[{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\",\"description\":\"\"," \
    "\"priority\":0},"                                                                  \
    "{\"name\":\"Size\",\"type\":\"integer\",\"format\":\"\","                          \
    "\"description\":\"How \\\"big\\\".\",\"priority\":0},"                             \
    "{\"name\":\"Color\",\"type\":\"string\",\"format\":\"\",\"description\":\"\",\"priority\":1}]"
#define PARTIAL                                                              \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"," \
    "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"}}"

static kc_object *sample(void)
{
    return object_of("{'kind':'Ball','metadata':{'name':'a','resourceVersion':'5'},"
                     "'size':3,'color':'red'}");
}

static kc_buf table_of(kc__print_table *table, const kc_object *object)
{
    kc_buf out = {0};
    kc__print_table_of(table, &out, object);
    return out;
}

/* ---- tables ---- */

static void single_object_is_a_table_of_one_row(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc__print_table table = {.columns = &columns};
    kc_scoped(kc_buf) out = table_of(&table, object);
    assert_str(kc_buf_str(&out),
               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
               "\"metadata\":{\"resourceVersion\":\"5\"},\"columnDefinitions\":" DEFINITIONS
               ",\"rows\":[{\"cells\":[\"a\",3,\"red\"],\"object\":" PARTIAL "}]}");
}

static void only_first_event_of_a_watch_has_column_definitions(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc__print_table table = {.columns = &columns};
    kc_scoped(kc_buf) first = table_of(&table, object);
    kc_scoped(kc_buf) second = table_of(&table, object);
    assert_contains(kc_buf_cstr(&first), "\"columnDefinitions\":[{");
    assert_str(kc_buf_str(&second),
               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
               "\"metadata\":{\"resourceVersion\":\"5\"},\"columnDefinitions\":null,"
               "\"rows\":[{\"cells\":[\"a\",3,\"red\"],\"object\":" PARTIAL "}]}");
}

static void list_is_written_row_by_row(void **state)
{
    (void)state;
    kc_auto(kc_object) *a = sample();
    kc_auto(kc_object) *b = object_of("{'metadata':{'name':'b'}}");
    kc__print_table table = {.columns = &columns, .include = KC__PRINT_INCLUDE_NONE};
    kc_scoped(kc_buf) out = {0};
    kc__print_table_begin(&table, &out, &(kc__print_list_meta){.revision = 9, .remaining = 1});
    assert_str(kc_buf_str(&out),
               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
               "\"metadata\":{\"resourceVersion\":\"9\",\"remainingItemCount\":1},"
               "\"columnDefinitions\":" DEFINITIONS ",\"rows\":");
    kc_buf_clear(&out);
    kc__print_table_row(&table, &out, a);
    kc__print_table_row(&table, &out, b);
    kc__print_table_end(&table, &out);
    assert_str(kc_buf_str(&out), "[{\"cells\":[\"a\",3,\"red\"],\"object\":null},"
                                 "{\"cells\":[\"b\",-1,\"\"],\"object\":null}]}");
}

static void empty_list_has_no_rows(void **state)
{
    (void)state;
    kc__print_columns with_null = columns;
    with_null.null_when_empty = true;
    kc__print_table table = {.columns = &columns, .no_headers = true}, other = table;
    other.columns = &with_null;
    kc_scoped(kc_buf) out = {0};
    kc__print_table_begin(&table, &out, NULL);
    kc__print_table_end(&table, &out);
    assert_str(kc_buf_str(&out), "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
                                 "\"metadata\":{},\"columnDefinitions\":null,\"rows\":[]}");
    kc_buf_clear(&out);
    kc__print_table_begin(&other, &out, NULL);
    kc__print_table_end(&other, &out);
    assert_contains(kc_buf_cstr(&out), "\"rows\":null}");
}

static void row_may_include_the_whole_object(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc__print_table table = {.columns = &columns, .include = KC__PRINT_INCLUDE_OBJECT};
    kc_scoped(kc_buf) out = table_of(&table, object);
    assert_contains(kc_buf_cstr(&out),
                    ",\"object\":{\"kind\":\"Ball\",\"metadata\":{\"name\":\"a\","
                    "\"resourceVersion\":\"5\"},\"size\":3,\"color\":\"red\"}}]}");
}

static void v1beta1_is_used_for_table_and_objects(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc__print_table table = {.columns = &columns, .version = KC__PRINT_META_V1BETA1};
    kc_scoped(kc_buf) out = table_of(&table, object);
    assert_contains(kc_buf_cstr(&out),
                    "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1beta1\"");
    assert_contains(kc_buf_cstr(&out),
                    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1beta1\"");
}

static void conditions_are_between_cells_and_object(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'big'},'size':10}");
    kc__print_table table = {.columns = &columns, .include = KC__PRINT_INCLUDE_NONE};
    kc_scoped(kc_buf) out = table_of(&table, object);
    assert_contains(kc_buf_cstr(&out),
                    "{\"cells\":[\"big\",10,\"\"],\"conditions\":[{\"type\":\"Completed\","
                    "\"status\":\"True\"}],\"object\":null}");
}

static void initial_events_bookmark_keeps_its_metadata(void **state)
{
    (void)state;
    kc_auto(kc_object) *end = object_of("{'metadata':{'resourceVersion':'8','annotations':"
                                        "{'k8s.io/initial-events-end':'true'}}}");
    kc_auto(kc_object) *bookmark = object_of("{'metadata':{'resourceVersion':'8'}}");
    kc__print_table table = {.columns = &columns, .include = KC__PRINT_INCLUDE_NONE};
    kc_scoped(kc_buf) ending = table_of(&table, end);
    kc_scoped(kc_buf) other = table_of(&table, bookmark);
    assert_contains(kc_buf_cstr(&ending), "\"k8s.io/initial-events-end\":\"true\"");
    assert_contains(kc_buf_cstr(&other), "\"object\":null");
    assert_contains(kc_buf_cstr(&other), "\"metadata\":{\"resourceVersion\":\"8\"}");
}

static void include_object_is_parsed(void **state)
{
    (void)state;
    kc__print_include include = KC__PRINT_INCLUDE_NONE;
    assert_int_equal(kc__print_include_parse(KC_STR(""), &include, NULL), 0);
    assert_int_equal(include, KC__PRINT_INCLUDE_METADATA);
    assert_int_equal(kc__print_include_parse(KC_STR("Object"), &include, NULL), 0);
    assert_int_equal(include, KC__PRINT_INCLUDE_OBJECT);
    assert_int_equal(kc__print_include_parse(KC_STR("None"), &include, NULL), 0);
    assert_int_equal(include, KC__PRINT_INCLUDE_NONE);
    assert_int_equal(kc__print_include_parse(KC_STR("Metadata"), &include, NULL), 0);
    assert_int_equal(include, KC__PRINT_INCLUDE_METADATA);
}

static void unknown_include_object_is_refused(void **state)
{
    (void)state;
    kc__print_include include = KC__PRINT_INCLUDE_OBJECT;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__print_include_parse(KC_STR("none"), &include, &err), -KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err),
                        "Unable to convert to Table as requested: includeObject: Invalid value: "
                        "\"none\": must be 'Metadata', 'Object', 'None', or empty");
    assert_int_equal(include, KC__PRINT_INCLUDE_OBJECT);
}

TESTS(single_object_is_a_table_of_one_row, only_first_event_of_a_watch_has_column_definitions,
      list_is_written_row_by_row, empty_list_has_no_rows, row_may_include_the_whole_object,
      v1beta1_is_used_for_table_and_objects, conditions_are_between_cells_and_object,
      initial_events_bookmark_keeps_its_metadata, include_object_is_parsed,
      unknown_include_object_is_refused)
