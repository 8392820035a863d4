/* SPDX-License-Identifier: Apache-2.0 */
/* phase_internal.h: shared by the files of phase machines: notes of handlers, records in
 * objects. */
#ifndef KC_PHASE_INTERNAL_H
#define KC_PHASE_INTERNAL_H

#include "kc/arena.h"
#include "kc/phase.h"
#include "kc/vec.h"

/* What a handler reported while it ran; stored in its record afterwards (record.c). */
typedef struct kc__phase_call_notes {
    kc_arena arena;
    const char *state;   /* JSON; NULL: unchanged. */
    const char *warning; /* NULL: unchanged. */
    const char *target;  /* Set by kc_phase_goto. */
    int64_t later;       /* 0: the machine's default. */
    bool counted;        /* Progress was reported. */
    int64_t done, total;
    KC_VEC(kc_phase_object) objects;
    const kc_value *record; /* The stored record. */
} kc__phase_call_notes;

void kc__phase_call_notes_done(kc__phase_call_notes *note);

/* Result of a handler. */
typedef struct kc__phase_end {
    kc_phase_result verdict;
    bool fatal; /* With KC_PHASE_FAIL. */
    const kc_error *error;
} kc__phase_end;

/* ---- record.c: records in an edit ---- */

/* The record of a phase, created if missing. */
kc_node *kc__phase_record(kc_edit *edit, kc_str phase);
/* The record of a step in it. */
kc_node *kc__phase_step_record(kc_edit *edit, kc_node *record, const char *step);
/* Stores the notes and the result. */
void kc__phase_record_write(kc_edit *edit, kc_node *record, const kc__phase_call_notes *note,
                            const kc__phase_end *end, const kc_clock *clock);
void kc__phase_record_remove(kc_edit *edit, kc_str phase);
bool kc__phase_record_is_done(const kc_value *record);
const kc_value *kc__phase_record_of(const kc_value *root, kc_str phase);
/* "2026-01-02T03:04:05Z" */
kc_node *kc__phase_timestamp(kc_edit *edit, const kc_clock *clock);

/* ---- machine.c ---- */

/* NULL: terminal, or not a phase of the machine. */
const kc_phase_def *kc__phase_find(const kc_phase_machine *machine, kc_str phase);
/* The phase whose `failed` (or, else, `next`) it is; NULL: none. */
const kc_phase_def *kc__phase_find_failing_to(const kc_phase_machine *machine, kc_str phase);
const kc_phase_def *kc__phase_before(const kc_phase_machine *machine, kc_str phase);
const char *kc__phase_machine_name(const kc_phase_machine *machine, kc_buf *out);

#endif
