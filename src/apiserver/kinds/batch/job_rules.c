/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_rules.c: validates the spec of a Job: completions, backoff limits, and that its pods
 * terminate.
 */
#include "apiserver/kinds/batch/job_rules.h"

#include "apiserver/kinds/core/pod_rules.h"

#include <unistd.h>

#define MAX_PARALLEL         100000 /* Indexed: limit of parallelism, maxFailedIndexes … */
#define MANY_COMPLETIONS     100000 /* … but with more completions than this, */
#define MAX_PARALLEL_OF_MANY 10000  /* this is the limit of both. */

static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
static const char *const ends[] = {"OnFailure", "Never", NULL};

/* ---- indexes ---- */

/* With many completions and a backoff limit per index, parallelism and maxFailedIndexes are
 * limited further. */
static void check_many(const kc__location *parallel, const kc__location *failed)
{
    static const char why[] = "must be less than or equal to %d when completions are above %d and "
                              "used with backoff limit per index";
    if (!failed->value)
        kc__location_error(failed, KC_FIELD_REQUIRED,
                           "must be specified when completions is above %d", MANY_COMPLETIONS);
    if (kc__location_number(parallel) > MAX_PARALLEL_OF_MANY)
        kc__location_error(parallel, KC_FIELD_INVALID, why, MAX_PARALLEL_OF_MANY, MANY_COMPLETIONS);
    if (kc__location_number(failed) > MAX_PARALLEL_OF_MANY)
        kc__location_error(failed, KC_FIELD_INVALID, why, MAX_PARALLEL_OF_MANY, MANY_COMPLETIONS);
}

static void check_indexed(const kc__location *spec)
{
    kc__location completions = kc__location_member(spec, "completions");
    kc__location parallel = kc__location_member(spec, "parallelism");
    kc__location failed = kc__location_member(spec, "maxFailedIndexes");
    if (!completions.value)
        kc__location_error(&completions, KC_FIELD_REQUIRED, "when completion mode is Indexed");
    if (kc__location_number(&parallel) > MAX_PARALLEL)
        kc__location_error(&parallel, KC_FIELD_INVALID,
                           "must be less than or equal to %d when completion mode is Indexed",
                           MAX_PARALLEL);
    if (completions.value && kc__location_number(&failed) > kc__location_number(&completions))
        kc__location_error(&failed, KC_FIELD_INVALID, "must be less than or equal to completions");
    if (kc__location_number(&failed) > MAX_PARALLEL)
        kc__location_error(&failed, KC_FIELD_INVALID, "must be less than or equal to %d",
                           MAX_PARALLEL);
    if (kc__location_number(&completions) > MANY_COMPLETIONS &&
        kc__location_member(spec, "backoffLimitPerIndex").value)
        check_many(&parallel, &failed);
}

static void check_not_indexed(const kc__location *spec)
{
    static const char *const names[] = {"backoffLimitPerIndex", "maxFailedIndexes"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc__location member = kc__location_member(spec, names[i]);
        if (member.value)
            kc__location_error(&member, KC_FIELD_INVALID, "requires indexed completion mode");
    }
}

static void check_failed(const kc__location *spec)
{
    kc__location per_index = kc__location_member(spec, "backoffLimitPerIndex");
    if (kc__location_member(spec, "maxFailedIndexes").value && !per_index.value)
        kc__location_error(&per_index, KC_FIELD_REQUIRED, "when maxFailedIndexes is specified");
}

static void check_index(const kc__location *spec)
{
    kc_str mode = kc__location_member_text(spec, "completionMode");
    if (kc_str_is(mode, "Indexed"))
        check_indexed(spec);
    else if (!mode.n || kc_str_is(mode, "NonIndexed"))
        check_not_indexed(spec);
}

/* ---- managedBy ---- */

static void check_manager(const kc__location *manager)
{
    if (!manager->value)
        return;
    kc__validate_domain_path(manager);
    if (kc__location_text(manager).n > 63)
        kc__location_error(manager, KC_FIELD_TOO_LONG, "may not be more than 63 bytes");
}

/* ---- pods ---- */

static void check_replacement(const kc__location *spec)
{
    static const char *const any[] = {"Failed", "TerminatingOrFailed", NULL};
    static const char *const failed[] = {"Failed", NULL};
    kc__location policy = kc__location_member(spec, "podReplacementPolicy");
    if (policy.value)
        kc__validate_one_of(&policy,
                            kc__location_member(spec, "podFailurePolicy").value ? failed : any);
}

/* A Job terminates, so its pods must not have the restart policy Always. */
static void check_template(const kc__location *job)
{
    kc__location template = kc__location_member(job, "template"),
                 spec = kc__location_member(&template, "spec");
    kc__location policy = kc__location_member(&spec, "restartPolicy");
    kc__validate_pod_template(&template);
    if (kc__location_text_is(&policy, "Always") || !kc__location_is_set(&policy))
        kc__location_error(&policy, KC_FIELD_REQUIRED, "valid values: \"OnFailure\", \"Never\"");
    else if (!kc__location_text_is(&policy, "OnFailure") && !kc__location_text_is(&policy, "Never"))
        kc__location_not_supported(&policy, ends);
    else if (kc__location_member(job, "podFailurePolicy").value &&
             !kc__location_text_is(&policy, "Never"))
        kc__location_error(&policy, KC_FIELD_INVALID,
                           "only \"Never\" is supported when podFailurePolicy is specified");
}

static const kc__validate_rule job_[] = {
    {"parallelism", .number = KC__VALIDATE_AT_LEAST_0},
    {"completions", .number = KC__VALIDATE_AT_LEAST_0},
    {"activeDeadlineSeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"backoffLimit", .number = KC__VALIDATE_AT_LEAST_0},
    {"ttlSecondsAfterFinished", .number = KC__VALIDATE_AT_LEAST_0},
    {"backoffLimitPerIndex", .number = KC__VALIDATE_AT_LEAST_0},
    {"maxFailedIndexes", .number = KC__VALIDATE_AT_LEAST_0},
    {.code = check_failed},
    {"managedBy", .code = check_manager},
    {"completionMode", .one_of = modes},
    {.code = check_index},
    {.code = kc__validate_failure_policy},
    {.code = kc__validate_success_policy},
    {.code = check_replacement},
    {.code = check_template},
};
static const kc__validate_rule_table job_rules = KC__VALIDATE_RULES(job_);

void kc__validate_job_spec(const kc__location *spec)
{
    kc__validate_by_rules(&job_rules, spec);
}

/* ---- time zones ---- */

#define ZONES "/usr/share/zoneinfo"

/* Whether the name is a file of the system's time zone database, if it has one. */
static bool is_zone(kc_str name, kc_arena *arena)
{
    if (name.p[0] == '/' || name.p[0] == '\\' || kc_str_contains(name, KC_STR("..")))
        return false;
    if (kc_str_is(name, "UTC") || access(ZONES, R_OK) < 0)
        return true;
    const char *path = kc_arena_printf(arena, ZONES "/%.*s", KC_ARG(name));
    return name.n < 100 && access(path, R_OK) == 0;
}

void kc__validate_time_zone(const kc__location *zone)
{
    kc_str name = kc__location_text(zone);
    if (!zone->value)
        return;
    if (!name.n)
        kc__location_error(zone, KC_FIELD_INVALID, "timeZone must be nil or non-empty string");
    else if (name.n == 5 && strncasecmp(name.p, "local", 5) == 0)
        kc__location_error(zone, KC_FIELD_INVALID,
                           "timeZone must be an explicit time zone as defined in "
                           "https://www.iana.org/time-zones");
    else if (!is_zone(name, &zone->errors->arena))
        kc__location_error(zone, KC_FIELD_INVALID, "unknown time zone %.*s", KC_ARG(name));
}
