/* SPDX-License-Identifier: Apache-2.0 */
/* phase_internal.h: what the files of phase machines share: notes of handlers, records in objects.
 */
#ifndef KC_PHASE_INTERNAL_H
#define KC_PHASE_INTERNAL_H

#include "kc/arena.h"
#include "kc/phase.h"
#include "kc/vec.h"

/* What a handler has said while it ran; written into its record afterwards (record.c). */
typedef struct kc__phase_note {
    kc_arena arena;
    const char *state;   /* JSON; NULL: nothing new. */
    const char *warning; /* NULL: nothing new. */
    const char *target;  /* Of kc_phase_goto. */
    int64_t later;       /* 0: the machine's. */
    bool counted;        /* Progress was said. */
    int64_t done, total;
    KC_VEC(kc_phase_object) objects;
    const kc_value *record; /* What is known from before. */
} kc__phase_note;

void kc__phase_note_done(kc__phase_note *note);

/* How a handler's run ended. */
typedef struct kc__phase_end {
    kc_phase_verdict verdict;
    bool fatal; /* With KC_PHASE_FAIL. */
    const kc_error *error;
} kc__phase_end;

/* ---- record.c: records in an edit ---- */

/* The record of a phase, made if it is not there. */
kc_node *kc__phase_record(kc_edit *edit, kc_str phase);
/* That of a step in it. */
kc_node *kc__phase_step_record(kc_edit *edit, kc_node *record, const char *step);
/* Writes down what was said, and how it ended. */
void kc__phase_note_down(kc_edit *edit, kc_node *record, const kc__phase_note *note,
                         const kc__phase_end *end, const kc_clock *clock);
void kc__phase_forget(kc_edit *edit, kc_str phase);
bool kc__phase_record_is_done(const kc_value *record);
const kc_value *kc__phase_record_of(const kc_value *root, kc_str phase);
/* "2026-01-02T03:04:05Z" */
kc_node *kc__phase_now(kc_edit *edit, const kc_clock *clock);

/* ---- machine.c ---- */

/* NULL: terminal, or none of the machine's. */
const kc_phase_def *kc__phase_find(const kc_phase_machine *machine, kc_str phase);
/* The one whose `failed` (or, else, `next`) it is; NULL: none. */
const kc_phase_def *kc__phase_failing_to(const kc_phase_machine *machine, kc_str phase);
const kc_phase_def *kc__phase_before(const kc_phase_machine *machine, kc_str phase);
const char *kc__phase_machine_name(const kc_phase_machine *machine, kc_buf *out);

#endif
