/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_event.c: columns of Events, in both forms: v1 and events.k8s.io/v1 have the same content
 * under different names, and a row must not depend on the requested version.
 *
 * The time of an event is stored in one of three generations of fields: first and last timestamp
 * with a count; eventTime for a new event that occurred once; the time and count of a series.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/ascii.h"

/* The member by its v1 name, or else by its events.k8s.io/v1 name. */
static const kc_value *either(kc__print_row *row, const char *core, const char *events)
{
    const kc_value *value = kc_value_get(kc__print_row_root(row), core);
    return value ? value : kc_value_get(kc__print_row_root(row), events);
}

static kc_str event_text_of(kc__print_row *row, const char *name)
{
    return kc_value_as_str(kc_value_get(kc__print_row_root(row), name));
}

static const kc_value *about(kc__print_row *row)
{
    return either(row, "involvedObject", "regarding");
}

/* NULL if the event is not a series. */
static const kc_value *series(kc__print_row *row)
{
    const kc_value *value = kc_value_get(kc__print_row_root(row), "series");
    return kc_value_type(value) == KC_JSON_OBJECT ? value : NULL;
}

/* ---- times and counts ---- */

static kc_str first_seen(kc__print_row *row)
{
    kc_str first = kc_value_as_str(either(row, "firstTimestamp", "deprecatedFirstTimestamp"));
    return kc_str_empty(first) ? event_text_of(row, "eventTime") : first;
}

static kc_str last_seen(kc__print_row *row)
{
    if (series(row))
        return kc_value_as_str(kc_value_get(series(row), "lastObservedTime"));
    kc_str last = kc_value_as_str(either(row, "lastTimestamp", "deprecatedLastTimestamp"));
    return kc_str_empty(last) ? first_seen(row) : last;
}

static void cell_first_seen(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_since(out, row, first_seen(row));
}

static void cell_last_seen(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_since(out, row, last_seen(row));
}

static void cell_count(kc_buf *out, kc__print_row *row)
{
    if (series(row)) {
        kc__print_cell_put_number(out, kc_value_as_i64_or(kc_value_get(series(row), "count"), 0));
        return;
    }
    int64_t count = kc_value_as_i64_or(either(row, "count", "deprecatedCount"), 0);
    kc__print_cell_put_number(out, count ? count : 1);
}

/* ---- the involved object ---- */

/* "pod/web": the kind in lower case. */
static void cell_object(kc_buf *out, kc__print_row *row)
{
    kc_str kind = kc_value_as_str(kc_value_get(about(row), "kind"));
    kc_str name = kc_value_as_str(kc_value_get(about(row), "name"));
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < kind.n; i++)
        kc_buf_putc(&text, kc_lower(kind.p[i]));
    if (!kc_str_empty(name)) {
        kc_buf_putc(&text, '/');
        kc_buf_append(&text, name);
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_subobject(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_value_as_str(kc_value_get(about(row), "fieldPath")));
}

/* ---- message and source ---- */

static void cell_type(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, event_text_of(row, "type"));
}

static void cell_reason(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, event_text_of(row, "reason"));
}

static void cell_message(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_str_trim(kc_value_as_str(either(row, "message", "note"))));
}

static kc_str first_event_value(kc_str a, kc_str b)
{
    return kc_str_empty(a) ? b : a;
}

/* "kubelet, node-1": the reporter and its host. */
static void cell_source(kc_buf *out, kc__print_row *row)
{
    const kc_value *source = either(row, "source", "deprecatedSource");
    kc_str reporter = kc_value_as_str(either(row, "reportingComponent", "reportingController"));
    kc_str component =
        first_event_value(kc_value_as_str(kc_value_get(source, "component")), reporter);
    kc_str instance = first_event_value(kc_value_as_str(kc_value_get(source, "host")),
                                        event_text_of(row, "reportingInstance"));
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, component);
    if (!kc_str_empty(instance)) {
        kc_buf_puts(&text, ", ");
        kc_buf_append(&text, instance);
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

/* ---- the columns ---- */

static const kc__print_column event[] = {
    KC__PRINT_TEXT_COLUMN(
        "Last Seen", cell_last_seen,
        "The time at which the most recent occurrence of this event was recorded."),
    KC__PRINT_TEXT_COLUMN(
        "Type", cell_type,
        "Type of this event (Normal, Warning), new types could be added in the future"),
    KC__PRINT_TEXT_COLUMN(
        "Reason", cell_reason,
        "This should be a short, machine understandable string that gives the reason "
        "for the transition into the object's current status."),
    KC__PRINT_TEXT_COLUMN("Object", cell_object, "The object that this event is about."),
    KC__PRINT_WIDE_COLUMN(
        "Subobject", cell_subobject,
        "If referring to a piece of an object instead of an entire object, this string should "
        "contain a valid JSON/Go field access statement, such as "
        "desiredState.manifest.containers[2]. For example, if the object reference is to a "
        "container within a pod, this would take on a value like: \"spec.containers{name}\" "
        "(where \"name\" refers to the name of the container that triggered the event) or if no "
        "container name is specified \"spec.containers[2]\" (container with index 2 in this pod). "
        "This syntax is chosen only to have some well-defined way of referencing a part of an "
        "object."),
    KC__PRINT_WIDE_COLUMN("Source", cell_source,
                          "The component reporting this event. Should be a short machine "
                          "understandable string."),
    KC__PRINT_TEXT_COLUMN("Message", cell_message,
                          "A human-readable description of the status of this operation."),
    KC__PRINT_WIDE_COLUMN(
        "First Seen", cell_first_seen,
        "The time at which the event was first recorded. (Time of server receipt is "
        "in TypeMeta.)"),
    KC__PRINT_WIDE_COLUMN("Count", cell_count, "The number of times this event has occurred."),
    {.name = "Name",
     .type = "string",
     .format = "name",
     .description = KC__PRINT_NAME_TEXT,
     .priority = 1,
     .cell = kc__print_cell_name},
};
const kc__print_columns kc__print_event_columns = {.list = event, .n = KC_COUNT(event)};
