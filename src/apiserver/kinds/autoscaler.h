/* SPDX-License-Identifier: Apache-2.0 */
/* autoscaler.h: HorizontalPodAutoscalers: the two forms they have, and what is checked. */
#ifndef KC_APISERVER_AUTOSCALER_H
#define KC_APISERVER_AUTOSCALER_H

#include "apiserver/kinds/place.h"
#include "kc/edit.h"

/* autoscaler_conversion.c: from autoscaling/v1 to v2, which is stored, and back. NULL on error; the
 * caller drops the reference. */
kc_object *kc__autoscaler_to_v2(const kc_object *object, kc_error *err);
kc_object *kc__autoscaler_to_v1(const kc_object *object, kc_error *err);
/* Drops the annotations in which v1 keeps what only v2 has. */
void kc__autoscaler_drop_annotations(kc_edit *edit);

/* The metric of who names none: how busy the processor is, in percent. */
kc_node *kc__autoscaler_cpu_metric(kc_edit *edit, int64_t percent);

/* autoscaler_metrics.c: a metric of a spec, or of a status, of v1 as v2 has it, and back. `metric`
 * has its type; NULL for none. */
kc_node *kc__metric_to_v2(kc_edit *edit, const kc_node *metric, bool status);
kc_node *kc__metric_to_v1(kc_edit *edit, const kc_node *metric, bool status);

/* autoscaler_rules.c: adds what is wrong with a new one, or with one that replaces `old`. */
void kc__autoscaler_check(const kc_value *object, kc_field_errors *errors);
void kc__autoscaler_check_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors);
void kc__autoscaler_check_status(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors);

#endif
