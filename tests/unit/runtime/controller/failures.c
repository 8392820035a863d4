/* SPDX-License-Identifier: Apache-2.0 */
/* The failed keys of a controller with their reasons. */
#include "runtime/controller/failures.h"
#include "testing.h"

#include "kc/clock.h"

static void note(kc__failures *f, const char *name, const char *why, int64_t now)
{
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_CONFLICT, "%s", why);
    kc__failures_note(f, KC_KEY("plant", name), &err, false, now);
}

static void assert_shown(kc__failures *f, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc__failures_write(f, 10 * KC_SECOND, &out);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void failure_is_shown_with_its_reason(void **state)
{
    (void)state;
    kc__failures *f = kc__failures_new();
    assert_shown(f, "[]");
    note(f, "a", "somebody \"was\" faster", 8 * KC_SECOND);
    assert_shown(f, "[{\"key\":\"plant/a\",\"error\":\"somebody \\\"was\\\" faster\","
                    "\"reason\":\"Conflict\",\"terminal\":false,\"ago\":\"2s\"}]");
    kc__failures_free(f);
}

static void last_failure_of_a_key_is_kept(void **state)
{
    (void)state;
    kc__failures *f = kc__failures_new();
    kc_scoped(kc_error) err = {0};
    note(f, "a", "first", 0);
    kc_error_set(&err, KC_INVALID, "second");
    kc__failures_note(f, KC_KEY("plant", "a"), &err, true, 10 * KC_SECOND);
    assert_shown(f, "[{\"key\":\"plant/a\",\"error\":\"second\",\"reason\":\"Invalid\","
                    "\"terminal\":true,\"ago\":\"0s\"}]");
    kc__failures_free(f);
}

static void success_clears_the_failure(void **state)
{
    (void)state;
    kc__failures *f = kc__failures_new();
    kc__failures_clear(f, KC_KEY("plant", "a"));
    note(f, "a", "x", 0);
    kc__failures_clear(f, KC_KEY("plant", "b"));
    kc__failures_clear(f, KC_KEY("", "a"));
    kc_scoped(kc_buf) out = {0};
    kc__failures_write(f, 0, &out);
    assert_contains(kc_buf_cstr(&out), "plant/a");
    kc__failures_clear(f, KC_KEY("plant", "a"));
    assert_shown(f, "[]");
    kc__failures_free(f);
}

static void oldest_failure_is_dropped_beyond_the_limit(void **state)
{
    (void)state;
    kc__failures *f = kc__failures_new();
    for (int i = 0; i < 100; i++) {
        kc_autofree char *name = kc_asprintf("robot-%d-", i);
        note(f, name, "x", i * KC_SECOND);
    }
    kc_scoped(kc_buf) out = {0};
    kc__failures_write(f, 100 * KC_SECOND, &out);
    assert_contains(kc_buf_cstr(&out), "robot-99-");
    assert_contains(kc_buf_cstr(&out), "robot-36-");
    assert_null(strstr(kc_buf_cstr(&out), "robot-35-"));
    kc__failures_free(f);
}

static void long_message_is_truncated(void **state)
{
    (void)state;
    kc__failures *f = kc__failures_new();
    char text[4000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    note(f, "a", text, 0);
    kc_scoped(kc_buf) out = {0};
    kc__failures_write(f, 0, &out);
    assert_true(out.n < 700);
    kc__failures_free(f);
}

TESTS(failure_is_shown_with_its_reason, last_failure_of_a_key_is_kept, success_clears_the_failure,
      oldest_failure_is_dropped_beyond_the_limit, long_message_is_truncated)
