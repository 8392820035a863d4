/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.h: what is checked in the spec of a Job, on its own and in a CronJob. */
#ifndef KC_APISERVER_JOB_RULES_H
#define KC_APISERVER_JOB_RULES_H

#include "apiserver/kinds/rules.h"

/* All but the selector. */
void kc__check_job_spec(const kc__place *spec);
/* job_policy_rules.c: spec.podFailurePolicy and spec.successPolicy, where they are there. */
void kc__check_failure_policy(const kc__place *spec);
void kc__check_success_policy(const kc__place *spec);
/* The name of a place on Earth: "Europe/Berlin". */
void kc__check_time_zone(const kc__place *zone);

#endif
