/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.h: parses and checks one line "+name:argument=value,argument=value".
 *
 *     kc__gen_marker marker;
 *     switch (kc__gen_marker_parse(line, at, KC__GEN_SCOPE_FIELD, &model->arena, &marker, err)) …
 */
#ifndef KC_GENERATE_MARKERS_H
#define KC_GENERATE_MARKERS_H

#include "generate/markers/table.h"
#include "generate/model/model.h"

/* Whether the line starts with '+'. The marker may be for another program. */
bool kc__gen_marker_is_line(kc_str line);

/* Whether the line is text that contains a marker with a value, joined by a formatter that fills
 * comments: the marker would silently be lost. Text may mention markers without a value. */
bool kc__gen_marker_is_misplaced(kc_str line);

/*
 * Parses one line that starts with '+'. 1: a marker; 0: it is for another program, or for another
 * scope where that is allowed (kubebuilder:rbac). Negative, with the marker's position in the
 * error: an unknown name (with a suggestion), a value of another type, an unknown or missing
 * argument, a wrong scope. The result is allocated from the arena.
 */
int kc__gen_marker_parse(kc_str line, kc__gen_at at, kc__gen_marker_scope scope, kc_arena *arena,
                         kc__gen_marker *ret_marker, kc_error *err);

#endif
