/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_validation.c: the checks of every object's metadata, in the order and with the messages
 * of Kubernetes; names.c has the rules for names.
 *
 * An error contains the invalid value. If that is a whole list, only a few such errors are created:
 * a list of ten thousand owners must not produce ten thousand errors that each contain it.
 */
#include "kc/metadata_validation.h"

#include "kc/json.h"
#include "kc/kind.h"
#include "kc/map.h"
#include "kc/time.h"
#include "object/gofmt/go_quote.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_WITH_A_LIST = 8, SUBRESOURCE_MAX = 256 };

/* "metadata.labels"; the errors keep their own copy. Every object passes here for each member, so
 * the path is joined without printf. */
static const char *child_path(kc_arena *arena, const char *path, const char *name)
{
    const size_t n_path = strlen(path), n_name = strlen(name);
    char *joined = kc_arena_alloc(arena, n_path + n_name + 2);
    memcpy(joined, path, n_path);
    joined[n_path] = '.';
    memcpy(joined + n_path + 1, name, n_name + 1);
    return joined;
}
#define CHILD(path, name) child_path(arena, path, name)

static void invalid_text(kc_field_errors *errors, const char *field, kc_str text,
                         const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, text);
    kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&quoted), "%s", detail);
}

static bool metadata_validation_is_absent(const kc_value *value)
{
    kc_json_type type = kc_value_type(value);
    return type == KC_JSON_ABSENT || type == KC_JSON_NULL;
}

/* False when the value is absent, or has the wrong type, which adds an error. */
static bool has_type(kc_field_errors *errors, const char *field, const kc_value *value,
                     kc_json_type type)
{
    if (metadata_validation_is_absent(value))
        return false;
    if (kc_value_type(value) == type)
        return true;
    kc_field_errors_add_value(errors, KC_FIELD_TYPE_INVALID, field, value,
                              "must be of type %s: \"%s\"", kc_json_type_name(type),
                              kc_json_type_name(kc_value_type(value)));
    return false;
}

/* A string; "" when it is absent or has the wrong type, which adds an error. */
static kc_str metadata_validation_text_of(kc_field_errors *errors, const char *field,
                                          const kc_value *value)
{
    return has_type(errors, field, value, KC_JSON_STRING) ? kc_value_as_str(value) : KC_STR("");
}

void kc_validate_labels(kc_field_errors *errors, const char *field, const kc_value *labels)
{
    if (!has_type(errors, field, labels, KC_JSON_OBJECT))
        return;
    kc_value_each_member (labels, name, value) {
        kc_validate_name(errors, field, KC_NAME_QUALIFIED, name);
        if (has_type(errors, field, value, KC_JSON_STRING))
            kc_validate_name(errors, field, KC_NAME_LABEL_VALUE, kc_value_as_str(value));
    }
}

void kc_validate_annotations(kc_field_errors *errors, const char *field,
                             const kc_value *annotations)
{
    size_t total = 0;
    if (!has_type(errors, field, annotations, KC_JSON_OBJECT))
        return;
    kc_value_each_member (annotations, name, value) {
        kc_validate_name(errors, field, KC_NAME_ANNOTATION_KEY, name);
        total += name.n + metadata_validation_text_of(errors, field, value).n;
    }
    if (total > KC_ANNOTATIONS_MAX)
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, field, (kc_str){0},
                            "may not be more than %d bytes", KC_ANNOTATIONS_MAX);
}

/* In the format of Kubernetes, independent of the order of members. */
static void write_owner(kc_buf *out, const kc_value *owner)
{
    static const char *const always[] = {"apiVersion", "kind", "name", "uid"};
    static const char *const if_set[] = {"controller", "blockOwnerDeletion"};
    for (size_t i = 0; i < KC_COUNT(always); i++) {
        kc_buf_printf(out, "%s\"%s\":", i ? "," : "{", always[i]);
        kc_json_quote(out, kc_value_as_str(kc_value_get(owner, always[i])));
    }
    for (size_t i = 0; i < KC_COUNT(if_set); i++)
        if (kc_value_type(kc_value_get(owner, if_set[i])) == KC_JSON_BOOL)
            kc_buf_printf(out, ",\"%s\":%s", if_set[i],
                          kc_value_as_bool(kc_value_get(owner, if_set[i]), false) ? "true"
                                                                                  : "false");
    kc_buf_putc(out, '}');
}

static void metadata_validation_check_owner(kc_field_errors *errors, kc_arena *arena,
                                            const char *field, const kc_value *owner)
{
    static const char *const texts[] = {"kind", "name", "uid"};
    const char *version_field = CHILD(field, "apiVersion");
    kc_str api_version =
        metadata_validation_text_of(errors, version_field, kc_value_get(owner, "apiVersion"));
    kc_gvk gvk = kc_gvk_of(api_version, kc_value_as_str(kc_value_get(owner, "kind")));
    if (gvk.version.n == 0)
        invalid_text(errors, version_field, api_version, "version must not be empty");
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        const char *text_field = CHILD(field, texts[i]);
        if (metadata_validation_text_of(errors, text_field, kc_value_get(owner, texts[i])).n == 0)
            invalid_text(errors, text_field, KC_STR(""), "must not be empty");
    }
    has_type(errors, CHILD(field, "controller"), kc_value_get(owner, "controller"), KC_JSON_BOOL);
    has_type(errors, CHILD(field, "blockOwnerDeletion"), kc_value_get(owner, "blockOwnerDeletion"),
             KC_JSON_BOOL);
    if (gvk.group.n == 0 && kc_str_is(gvk.version, "v1") && kc_str_is(gvk.kind, "Event")) {
        kc_scoped(kc_buf) shown = {0};
        write_owner(&shown, owner);
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&shown),
                            "/v1, Kind=Event is disallowed from being an owner");
    }
}

static void add_second_controller(kc_field_errors *errors, const char *field,
                                  const kc_value *owners, const kc_value *first,
                                  const kc_value *second)
{
    kc_scoped(kc_buf) shown = {0};
    kc_value_each_item (owners, owner) {
        kc_buf_putc(&shown, shown.n ? ',' : '[');
        write_owner(&shown, owner);
    }
    kc_buf_putc(&shown, ']');
    kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&shown),
                        "Only one reference can have Controller set to true. Found \"true\" in "
                        "references for %.*s/%.*s and %.*s/%.*s",
                        KC_ARG(kc_value_as_str(kc_value_get(first, "kind"))),
                        KC_ARG(kc_value_as_str(kc_value_get(first, "name"))),
                        KC_ARG(kc_value_as_str(kc_value_get(second, "kind"))),
                        KC_ARG(kc_value_as_str(kc_value_get(second, "name"))));
}

void kc_validate_owners(kc_field_errors *errors, const char *field, const kc_value *owners)
{
    kc_scoped(kc_arena) scratch = {0};
    kc_arena *arena = &scratch;
    const kc_value *controller = NULL;
    int more_controllers = 0;
    if (!has_type(errors, field, owners, KC_JSON_ARRAY))
        return;
    kc_value_each_item (owners, owner) {
        kc_arena_clear(arena);
        if (!has_type(errors, field, owner, KC_JSON_OBJECT))
            continue;
        metadata_validation_check_owner(errors, arena, field, owner);
        if (!kc_value_as_bool(kc_value_get(owner, "controller"), false))
            continue;
        if (!controller)
            controller = owner;
        else if (more_controllers++ < MOST_WITH_A_LIST)
            add_second_controller(errors, field, owners, controller, owner);
    }
}

void kc_validate_finalizers(kc_field_errors *errors, const char *field, const kc_value *finalizers)
{
    bool orphan = false, foreground = false;
    if (!has_type(errors, field, finalizers, KC_JSON_ARRAY))
        return;
    kc_value_each_item (finalizers, item) {
        if (!has_type(errors, field, item, KC_JSON_STRING))
            continue;
        kc_validate_name(errors, field, KC_NAME_QUALIFIED, kc_value_as_str(item));
        orphan |= kc_str_is(kc_value_as_str(item), "orphan");
        foreground |= kc_str_is(kc_value_as_str(item), "foregroundDeletion");
    }
    if (orphan && foreground)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, field, finalizers,
                                  "finalizer orphan and foregroundDeletion cannot be both set");
}

static void check_managed_fields(kc_field_errors *errors, kc_arena *arena, const char *field,
                                 const kc_value *entry)
{
    const char *operation_field = CHILD(field, "operation"),
               *type_field = CHILD(field, "fieldsType"), *manager_field = CHILD(field, "manager"),
               *subresource_field = CHILD(field, "subresource");
    kc_str operation =
        metadata_validation_text_of(errors, operation_field, kc_value_get(entry, "operation"));
    kc_str type =
        metadata_validation_text_of(errors, type_field, kc_value_get(entry, "fieldsType"));
    if (!kc_str_is(operation, "Apply") && !kc_str_is(operation, "Update"))
        invalid_text(errors, operation_field, operation, "must be `Apply` or `Update`");
    if (type.n && !kc_str_is(type, "FieldsV1"))
        invalid_text(errors, type_field, type, "must be `FieldsV1`");
    kc_validate_field_manager(
        errors, manager_field,
        metadata_validation_text_of(errors, manager_field, kc_value_get(entry, "manager")));
    if (metadata_validation_text_of(errors, subresource_field, kc_value_get(entry, "subresource"))
            .n > SUBRESOURCE_MAX)
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, subresource_field, (kc_str){0},
                            "may not be more than %d bytes", SUBRESOURCE_MAX);
}

void kc_validate_managed_fields(kc_field_errors *errors, const char *field,
                                const kc_value *managed_fields)
{
    kc_scoped(kc_arena) scratch = {0};
    kc_arena *arena = &scratch;
    size_t i = 0;
    if (!has_type(errors, field, managed_fields, KC_JSON_ARRAY))
        return;
    kc_value_each_item (managed_fields, entry) {
        kc_arena_clear(arena);
        const char *entry_field = kc_arena_printf(arena, "%s[%zu]", field, i++);
        if (has_type(errors, entry_field, entry, KC_JSON_OBJECT))
            check_managed_fields(errors, arena, entry_field, entry);
    }
}

static void metadata_validation_check_namespace(kc_field_errors *errors, const char *field,
                                                bool namespaced, kc_str ns)
{
    if (namespaced && ns.n == 0)
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, field, (kc_str){0}, "%s", "");
    else if (namespaced)
        kc_validate_name(errors, field, KC_NAME_DNS_LABEL, ns);
    else if (ns.n)
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, field, (kc_str){0},
                            "not allowed on this type");
}

static void metadata_validation_check_names(kc_field_errors *errors, kc_arena *arena,
                                            const char *path, const kc_value *metadata,
                                            const kc_metadata_rules *rules)
{
    const char *prefix_field = CHILD(path, "generateName"), *name_field = CHILD(path, "name"),
               *ns_field = CHILD(path, "namespace");
    kc_str prefix =
        metadata_validation_text_of(errors, prefix_field, kc_value_get(metadata, "generateName"));
    kc_str name = metadata_validation_text_of(errors, name_field, kc_value_get(metadata, "name"));
    if (prefix.n)
        kc_validate_generate_name(errors, prefix_field, rules->name, prefix);
    if (name.n)
        kc_validate_name(errors, name_field, rules->name, name);
    else
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, name_field, (kc_str){0},
                            "name or generateName is required");
    metadata_validation_check_namespace(
        errors, ns_field, rules->namespaced,
        metadata_validation_text_of(errors, ns_field, kc_value_get(metadata, "namespace")));
}

static void check_generation(kc_field_errors *errors, const char *field, const kc_value *generation)
{
    int64_t number;
    if (has_type(errors, field, generation, KC_JSON_INT) && kc_value_as_i64(generation, &number) &&
        number < 0)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, field, generation,
                                  "must be greater than or equal to 0");
}

static const char *metadata_validation_path_of(const kc_metadata_rules *rules)
{
    return rules && rules->field ? rules->field : "metadata";
}

void kc_validate_metadata(kc_field_errors *errors, const kc_value *metadata,
                          const kc_metadata_rules *rules)
{
    static const kc_metadata_rules defaults;
    kc_scoped(kc_arena) scratch = {0};
    kc_arena *arena = &scratch;
    const char *path = metadata_validation_path_of(rules);
    if (!metadata_validation_is_absent(metadata) &&
        !has_type(errors, path, metadata, KC_JSON_OBJECT))
        return;
    metadata_validation_check_names(errors, arena, path, metadata, rules ? rules : &defaults);
    check_generation(errors, CHILD(path, "generation"), kc_value_get(metadata, "generation"));
    kc_validate_labels(errors, CHILD(path, "labels"), kc_value_get(metadata, "labels"));
    kc_validate_annotations(errors, CHILD(path, "annotations"),
                            kc_value_get(metadata, "annotations"));
    kc_validate_owners(errors, CHILD(path, "ownerReferences"),
                       kc_value_get(metadata, "ownerReferences"));
    kc_validate_finalizers(errors, CHILD(path, "finalizers"), kc_value_get(metadata, "finalizers"));
    kc_validate_managed_fields(errors, CHILD(path, "managedFields"),
                               kc_value_get(metadata, "managedFields"));
}

/* An object that is being deleted may lose finalizers, but not gain any. */
static void check_no_new_finalizers(kc_field_errors *errors, const char *field,
                                    const kc_value *finalizers, const kc_value *old)
{
    KC_VEC(kc_str) added = {0};
    kc_scoped(kc_map) before = {0};
    kc_scoped(kc_buf) shown = {0};
    kc_value_each_item (old, item)
        kc_map_put(&before, kc_value_as_str(item), (void *)item);
    kc_value_each_item (finalizers, item) {
        if (kc_value_type(item) == KC_JSON_STRING &&
            !kc_map_put(&before, kc_value_as_str(item), (void *)item))
            kc_vec_push(&added, kc_value_as_str(item));
    }
    kc_vec_sort(&added, kc_str_compare);
    kc_vec_each (&added, name) {
        kc_buf_puts(&shown, shown.n ? ", " : "");
        kc__go_quote(&shown, *name);
    }
    if (added.n)
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, field, (kc_str){0},
                            "no new finalizers can be added if the object is being deleted, found "
                            "new finalizers []string{%s}",
                            kc_buf_cstr(&shown));
    kc_vec_done(&added);
}

static bool is_same_time(kc_str a, kc_str b)
{
    char out_a[KC_TIME_TEXT], out_b[KC_TIME_TEXT];
    kc_str time_a, time_b;
    return kc_time_rewrite(a, out_a, &time_a, NULL) == 0 &&
           kc_time_rewrite(b, out_b, &time_b, NULL) == 0 && kc_str_eq(time_a, time_b);
}

/* Compares scalars; absent, null and "" are equal. */
static bool metadata_validation_is_same(const kc_value *a, const kc_value *b)
{
    kc_str text_a = kc_value_as_str(a), text_b = kc_value_as_str(b);
    int64_t number_a, number_b;
    if (kc_value_as_i64(a, &number_a) && kc_value_as_i64(b, &number_b))
        return number_a == number_b;
    bool textual = (metadata_validation_is_absent(a) || kc_value_type(a) == KC_JSON_STRING) &&
                   (metadata_validation_is_absent(b) || kc_value_type(b) == KC_JSON_STRING);
    return textual && (kc_str_eq(text_a, text_b) || is_same_time(text_a, text_b));
}

/* In the format of Kubernetes: no text as "", no time and no number as null, times in UTC. */
static void write_scalar(kc_buf *out, const kc_value *value, bool is_text)
{
    char utc[KC_TIME_TEXT];
    kc_str time;
    if (metadata_validation_is_absent(value) && is_text)
        kc_buf_puts(out, "\"\"");
    else if (!is_text && kc_time_rewrite(kc_value_as_str(value), utc, &time, NULL) == 0 && time.n)
        kc_json_quote(out, time);
    else
        kc_json_write(out, value);
}

static void check_immutable(kc_field_errors *errors, kc_arena *arena, const char *path,
                            const kc_value *metadata, const kc_value *old)
{
    static const struct {
        const char *name;
        bool is_text;
    } members[] = {
        {"name", true},
        {"namespace", true},
        {"uid", true},
        {"creationTimestamp", false},
        {"deletionTimestamp", false},
        {"deletionGracePeriodSeconds", false},
    };
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        const kc_value *now = kc_value_get(metadata, members[i].name);
        if (metadata_validation_is_same(now, kc_value_get(old, members[i].name)))
            continue;
        kc_scoped(kc_buf) shown = {0};
        write_scalar(&shown, now, members[i].is_text);
        kc_field_errors_add(errors, KC_FIELD_INVALID, CHILD(path, members[i].name),
                            kc_buf_str(&shown), "field is immutable");
    }
}

static void check_generation_grows(kc_field_errors *errors, const char *field,
                                   const kc_value *generation, const kc_value *old)
{
    int64_t number = kc_value_as_i64_or(generation, 0);
    char text[24];
    if (number >= kc_value_as_i64_or(old, 0))
        return;
    int n = snprintf(text, sizeof(text), "%" PRId64, number);
    kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_str_of(text, (size_t)n),
                        "must not be decremented");
}

void kc_validate_metadata_update(kc_field_errors *errors, const kc_value *metadata,
                                 const kc_value *old, const kc_metadata_rules *rules)
{
    kc_scoped(kc_arena) scratch = {0};
    kc_arena *arena = &scratch;
    const char *path = metadata_validation_path_of(rules);
    if (!metadata_validation_is_absent(metadata) &&
        !has_type(errors, path, metadata, KC_JSON_OBJECT))
        return;
    if (!metadata_validation_is_absent(kc_value_get(old, "deletionTimestamp")))
        check_no_new_finalizers(errors, CHILD(path, "finalizers"),
                                kc_value_get(metadata, "finalizers"),
                                kc_value_get(old, "finalizers"));
    if (kc_value_as_str(kc_value_get(metadata, "resourceVersion")).n == 0)
        invalid_text(errors, CHILD(path, "resourceVersion"), KC_STR(""),
                     "must be specified for an update");
    check_generation_grows(errors, CHILD(path, "generation"), kc_value_get(metadata, "generation"),
                           kc_value_get(old, "generation"));
    check_immutable(errors, arena, path, metadata, old);
    kc_validate_labels(errors, CHILD(path, "labels"), kc_value_get(metadata, "labels"));
    kc_validate_annotations(errors, CHILD(path, "annotations"),
                            kc_value_get(metadata, "annotations"));
    kc_validate_owners(errors, CHILD(path, "ownerReferences"),
                       kc_value_get(metadata, "ownerReferences"));
    kc_validate_managed_fields(errors, CHILD(path, "managedFields"),
                               kc_value_get(metadata, "managedFields"));
}
