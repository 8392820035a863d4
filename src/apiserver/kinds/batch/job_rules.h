/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.h: validation of the spec of a Job, of its own and in a CronJob. */
#ifndef KC_APISERVER_JOB_RULES_H
#define KC_APISERVER_JOB_RULES_H

#include "apiserver/kinds/validate_rules.h"

/* Validates everything but the selector. */
void kc__validate_job_spec(const kc__location *spec);
/* job_policy_rules.c: validate spec.podFailurePolicy and spec.successPolicy, if set. */
void kc__validate_failure_policy(const kc__location *spec);
void kc__validate_success_policy(const kc__location *spec);
/* Validates the name of a time zone: "Europe/Berlin". */
void kc__validate_time_zone(const kc__location *zone);

#endif
