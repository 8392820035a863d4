/* SPDX-License-Identifier: Apache-2.0 */
/* pod_warnings.h: warnings about pods. The functions add texts to `warnings`, which frees them. */
#ifndef KC_APISERVER_POD_WARNINGS_H
#define KC_APISERVER_POD_WARNINGS_H

#include "kc/json.h"
#include "kc/view.h"

void kc__warnings_pod(const kc_value *pod, kc_paths *warnings);
/* Adds warnings for kinds with a pod template at spec.template, of a PodTemplate, of Jobs and of
 * CronJobs. */
void kc__warnings_pod_template(const kc_value *object, kc_paths *warnings);
void kc__warnings_bare_template(const kc_value *object, kc_paths *warnings);
void kc__warnings_job(const kc_value *job, kc_paths *warnings);
void kc__warnings_cron_job(const kc_value *job, kc_paths *warnings);
/* volume_warnings.c: files of one volume whose paths overlap. Adds up to `max` warnings. */
void kc__warnings_volume_paths(const kc_value *volumes, size_t max, kc_paths *warnings);

#endif
