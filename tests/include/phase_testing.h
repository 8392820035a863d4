/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_testing.h: a phase machine for tests, whose handlers do what the test sets, and helpers
 * that take objects through it.
 */
#ifndef KC_PHASE_TESTING_H
#define KC_PHASE_TESTING_H

#include "kc/phase.h"
#include "testing.h"

#include <stdio.h>

static const kc_kind banana_kind = {.group = "demo.wukong.com",
                                    .version = "v1",
                                    .kind = "Banana",
                                    .plural = "bananas",
                                    .singular = "banana",
                                    .namespaced = true};

/* An object on its way through the machine. */
typedef struct walk {
    const kc_phase_machine *machine;
    kc_clock *clock;
    kc_object *object;
    kc_phase_step_result last;
} walk;

static inline KC_UNUSED walk walk_begin(const kc_phase_machine *machine, const char *json)
{
    return (walk){.machine = machine,
                  .clock = kc_clock_virtual_new(INT64_C(1767323045) * KC_SECOND),
                  .object = object_of(json)};
}

static inline KC_UNUSED void walk_done(walk *w)
{
    kc_object_unref(w->object);
    kc_clock_free(w->clock);
}

/* One step; a second later the object is as it was stored. */
static inline KC_UNUSED void walk_step(walk *w)
{
    kc_scoped(kc_error) err = {0};
    if (kc_phase_step(w->machine, w->object, &(kc_phase_env){.clock = w->clock, .user = w},
                      &w->last, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    if (w->last.object) {
        kc_object_unref(w->object);
        w->object = w->last.object;
    }
    kc_clock_advance(w->clock, KC_SECOND);
}

/* The value at a path, as JSON; "" if there is none. Valid until the next call. */
static inline KC_UNUSED const char *walk_at(const walk *w, const char *path)
{
    static char text[2048];
    kc_auto(kc_view) *view = kc_view_of(w->object);
    kc_scoped(kc_buf) out = {0};
    const kc_value *value = kc_value_nested(kc_view_root(view), path);
    if (value)
        kc_json_write(&out, value);
    snprintf(text, sizeof(text), "%s", kc_buf_cstr(&out));
    return text;
}

#define BANANA "{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':'b'}"

#endif
