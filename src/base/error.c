/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c: errors, which gain context as they are returned. KC_REASONS in error.h is the table of
 * reasons and codes; to add a reason, add a line there.
 */
#include "kc/error.h"

#include "kc/buf.h"

static const struct {
    const char *text;
    int code;
} reasons[] = {[KC_OK] = {"", 200},
#define REASON_ROW(name, text, code) [KC_##name] = {text, code},
               KC_REASONS(REASON_ROW)
#undef REASON_ROW
};

const char *kc_reason_text(kc_reason reason)
{
    return (size_t)reason < KC_COUNT(reasons) ? reasons[reason].text : "";
}

int kc_reason_code(kc_reason reason)
{
    return (size_t)reason < KC_COUNT(reasons) ? reasons[reason].code : 500;
}

kc_reason kc_reason_from(kc_str text)
{
    for (size_t i = KC_OK + 1; i < KC_UNKNOWN; i++)
        if (kc_str_is(text, reasons[i].text))
            return (kc_reason)i;
    return KC_UNKNOWN;
}

void kc_error_done(kc_error *err)
{
    if (!err)
        return;
    kc_vec_each (&err->causes, cause) {
        free(cause->reason);
        free(cause->field);
        free(cause->message);
    }
    kc_vec_done(&err->causes);
    free(err->message);
    free(err->group);
    free(err->kind);
    free(err->name);
    free(err->uid);
    *err = (kc_error){0};
}

int kc_error_set(kc_error *err, kc_reason reason, const char *fmt, ...)
{
    if (!err)
        return -(int)reason;
    kc_buf message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    kc_error_done(err);
    err->reason = reason;
    err->code = kc_reason_code(reason);
    err->message = kc_buf_take(&message);
    return -(int)reason;
}

int kc_error_out_of_memory(kc_error *err)
{
    const int result = kc_error_set(err, KC_TOO_MANY_REQUESTS,
                                    "the server is short of memory, please try again later");
    if (err)
        err->retry_after_seconds = 1;
    return result;
}

int kc_error_result(const kc_error *err)
{
    return err && err->reason ? -(int)err->reason : -(int)KC_UNKNOWN;
}

int kc_error_wrap(kc_error *err, const char *fmt, ...)
{
    if (!err)
        return kc_error_result(NULL);
    kc_buf message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    kc_buf_printf(&message, ": %s", kc_error_text(err));
    free(err->message);
    err->message = kc_buf_take(&message);
    if (!err->reason) {
        err->reason = KC_UNKNOWN;
        err->code = kc_reason_code(KC_UNKNOWN);
    }
    return kc_error_result(err);
}

void kc_error_add_cause(kc_error *err, const char *reason, kc_str field, kc_str message)
{
    if (!err)
        return;
    kc_vec_push(&err->causes, (kc_cause){.reason = kc_strdup(reason),
                                         .field = kc_str_dup(field),
                                         .message = kc_str_dup(message)});
}

static void replace(char **field, kc_str value)
{
    free(*field);
    *field = value.n ? kc_str_dup(value) : NULL;
}

void kc_error_about(kc_error *err, kc_str group, kc_str kind, kc_str name)
{
    if (!err)
        return;
    replace(&err->group, group);
    replace(&err->kind, kind);
    replace(&err->name, name);
}

int kc_error_move(kc_error *to, kc_error *from)
{
    int ret = -(int)from->reason;
    if (to && to != from) {
        kc_error_done(to);
        *to = *from;
        *from = (kc_error){0};
    } else if (!to) {
        kc_error_done(from);
    }
    return ret;
}

const char *kc_error_text(const kc_error *err)
{
    return err && err->message ? err->message : "no error";
}
