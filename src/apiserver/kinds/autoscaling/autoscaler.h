/* SPDX-License-Identifier: Apache-2.0 */
/* autoscaler.h: the two versions of HorizontalPodAutoscalers, and their validation. */
#ifndef KC_APISERVER_AUTOSCALER_H
#define KC_APISERVER_AUTOSCALER_H

#include "apiserver/kinds/location.h"
#include "kc/edit.h"

/* autoscaler_conversion.c: converts from autoscaling/v1 to v2, the stored form, and back. NULL
 * on error; the caller drops the reference. */
kc_object *kc__autoscaler_to_v2(const kc_object *object, kc_error *err);
kc_object *kc__autoscaler_to_v1(const kc_object *object, kc_error *err);
/* Removes the annotations in which v1 keeps the fields that only v2 has. */
void kc__autoscaler_drop_annotations(kc_edit *edit);

/* Returns the default metric: CPU utilization in percent. */
kc_node *kc__autoscaler_cpu_metric(kc_edit *edit, int64_t percent);

/* autoscaler_metrics.c: converts a metric of a spec or status from v1 to v2, and back. `metric`
 * must be typed; returns NULL for NULL. */
kc_node *kc__autoscaler_metric_to_v2(kc_edit *edit, const kc_node *metric, bool status);
kc_node *kc__autoscaler_metric_to_v1(kc_edit *edit, const kc_node *metric, bool status);

/* autoscaler_rules.c: validates a new object, or one that replaces `old`; adds field errors. */
void kc__autoscaler_check(const kc_value *object, kc_field_errors *errors);
void kc__autoscaler_check_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors);
void kc__autoscaler_check_status(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors);

#endif
