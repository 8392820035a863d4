/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.h: one line "+name:argument=value,argument=value" to a marker, checked.
 *
 *     kc__gen_marker marker;
 *     switch (kc__marker_parse(line, at, KC__ON_FIELD, &model->arena, &marker, err)) …
 */
#ifndef KC_GENERATE_MARKERS_H
#define KC_GENERATE_MARKERS_H

#include "generate/marker_table.h"
#include "generate/model.h"

/* The line is a marker's: its first sign is '+'. It may yet be for somebody else. */
bool kc__marker_is_line(kc_str line);

/* The line is text with a marker and its value within it, which a formatter that fills comments put
 * there: nobody would see that it is gone. Text may speak of markers, without a value. */
bool kc__marker_is_lost(kc_str line);

/*
 * Reads one line, which begins with '+'. 1: a marker; 0: it is for somebody else, or for another
 * kind of thing than `scope` where that is allowed (kubebuilder:rbac). Negative, with the marker's
 * position in the error: a name that is not there (and what may have been meant), a value of
 * another type, an argument too many or too few, a place it is not for. What it gives lives in the
 * arena.
 */
int kc__marker_parse(kc_str line, kc__gen_at at, kc__marker_scope scope, kc_arena *arena,
                     kc__gen_marker *ret_marker, kc_error *err);

#endif
