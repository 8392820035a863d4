/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_rules.c: what is checked in the spec of a Job: how often its pods must succeed, how often
 * they may fail, and that they come to an end.
 */
#include "apiserver/kinds/job_rules.h"

#include "apiserver/kinds/pod_rules.h"

#include <unistd.h>

#define MAX_PARALLEL         100000 /* Of an Indexed job; also of indexes that may fail … */
#define MANY_COMPLETIONS     100000 /* … and with more completions than this, */
#define MAX_PARALLEL_OF_MANY 10000  /* of both. */

static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
static const char *const ends[] = {"OnFailure", "Never", NULL};

/* ---- indexes ---- */

/* With many completions, and a limit for each, little may go on at once. */
static void check_many(const kc__place *parallel, const kc__place *failed)
{
    static const char why[] = "must be less than or equal to %d when completions are above %d and "
                              "used with backoff limit per index";
    if (!failed->value)
        kc__wrong(failed, KC_FIELD_REQUIRED, "must be specified when completions is above %d",
                  MANY_COMPLETIONS);
    if (kc__number(parallel) > MAX_PARALLEL_OF_MANY)
        kc__wrong(parallel, KC_FIELD_INVALID, why, MAX_PARALLEL_OF_MANY, MANY_COMPLETIONS);
    if (kc__number(failed) > MAX_PARALLEL_OF_MANY)
        kc__wrong(failed, KC_FIELD_INVALID, why, MAX_PARALLEL_OF_MANY, MANY_COMPLETIONS);
}

static void check_indexed(const kc__place *spec)
{
    kc__place completions = kc__member(spec, "completions");
    kc__place parallel = kc__member(spec, "parallelism");
    kc__place failed = kc__member(spec, "maxFailedIndexes");
    if (!completions.value)
        kc__wrong(&completions, KC_FIELD_REQUIRED, "when completion mode is Indexed");
    if (kc__number(&parallel) > MAX_PARALLEL)
        kc__wrong(&parallel, KC_FIELD_INVALID,
                  "must be less than or equal to %d when completion mode is Indexed", MAX_PARALLEL);
    if (completions.value && kc__number(&failed) > kc__number(&completions))
        kc__wrong(&failed, KC_FIELD_INVALID, "must be less than or equal to completions");
    if (kc__number(&failed) > MAX_PARALLEL)
        kc__wrong(&failed, KC_FIELD_INVALID, "must be less than or equal to %d", MAX_PARALLEL);
    if (kc__number(&completions) > MANY_COMPLETIONS &&
        kc__member(spec, "backoffLimitPerIndex").value)
        check_many(&parallel, &failed);
}

static void check_not_indexed(const kc__place *spec)
{
    static const char *const names[] = {"backoffLimitPerIndex", "maxFailedIndexes"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc__place member = kc__member(spec, names[i]);
        if (member.value)
            kc__wrong(&member, KC_FIELD_INVALID, "requires indexed completion mode");
    }
}

static void check_failed(const kc__place *spec)
{
    kc__place per_index = kc__member(spec, "backoffLimitPerIndex");
    if (kc__member(spec, "maxFailedIndexes").value && !per_index.value)
        kc__wrong(&per_index, KC_FIELD_REQUIRED, "when maxFailedIndexes is specified");
}

static void check_index(const kc__place *spec)
{
    kc_str mode = kc__text_in(spec, "completionMode");
    if (kc_str_is(mode, "Indexed"))
        check_indexed(spec);
    else if (!mode.n || kc_str_is(mode, "NonIndexed"))
        check_not_indexed(spec);
}

/* ---- who cares for it ---- */

static void check_manager(const kc__place *manager)
{
    if (!manager->value)
        return;
    kc__check_domain_path(manager);
    if (kc__text(manager).n > 63)
        kc__wrong(manager, KC_FIELD_TOO_LONG, "may not be more than 63 bytes");
}

/* ---- pods ---- */

static void check_replacement(const kc__place *spec)
{
    static const char *const any[] = {"Failed", "TerminatingOrFailed", NULL};
    static const char *const failed[] = {"Failed", NULL};
    kc__place policy = kc__member(spec, "podReplacementPolicy");
    if (policy.value)
        kc__check_one_of(&policy, kc__member(spec, "podFailurePolicy").value ? failed : any);
}

/* A job comes to an end, so its pods do. */
static void check_template(const kc__place *job)
{
    kc__place template = kc__member(job, "template"), spec = kc__member(&template, "spec");
    kc__place policy = kc__member(&spec, "restartPolicy");
    kc__check_pod_template(&template);
    if (kc__text_is(&policy, "Always") || !kc__there(&policy))
        kc__wrong(&policy, KC_FIELD_REQUIRED, "valid values: \"OnFailure\", \"Never\"");
    else if (!kc__text_is(&policy, "OnFailure") && !kc__text_is(&policy, "Never"))
        kc__not_supported(&policy, ends);
    else if (kc__member(job, "podFailurePolicy").value && !kc__text_is(&policy, "Never"))
        kc__wrong(&policy, KC_FIELD_INVALID,
                  "only \"Never\" is supported when podFailurePolicy is specified");
}

static const kc__rule job_[] = {
    {"parallelism", .number = KC__AT_LEAST_0},
    {"completions", .number = KC__AT_LEAST_0},
    {"activeDeadlineSeconds", .number = KC__AT_LEAST_0},
    {"backoffLimit", .number = KC__AT_LEAST_0},
    {"ttlSecondsAfterFinished", .number = KC__AT_LEAST_0},
    {"backoffLimitPerIndex", .number = KC__AT_LEAST_0},
    {"maxFailedIndexes", .number = KC__AT_LEAST_0},
    {.code = check_failed},
    {"managedBy", .code = check_manager},
    {"completionMode", .one_of = modes},
    {.code = check_index},
    {.code = kc__check_failure_policy},
    {.code = kc__check_success_policy},
    {.code = check_replacement},
    {.code = check_template},
};
static const kc__rules job_rules = KC__RULES(job_);

void kc__check_job_spec(const kc__place *spec)
{
    kc__rules_check(&job_rules, spec);
}

/* ---- time zones ---- */

#define ZONES "/usr/share/zoneinfo"

/* A file of the system's zones, where it has them. */
static bool is_zone(kc_str name, kc_arena *arena)
{
    if (name.p[0] == '/' || name.p[0] == '\\' || kc_str_contains(name, KC_STR("..")))
        return false;
    if (kc_str_is(name, "UTC") || access(ZONES, R_OK) < 0)
        return true;
    const char *path = kc_arena_printf(arena, ZONES "/%.*s", KC_ARG(name));
    return name.n < 100 && access(path, R_OK) == 0;
}

void kc__check_time_zone(const kc__place *zone)
{
    kc_str name = kc__text(zone);
    if (!zone->value)
        return;
    if (!name.n)
        kc__wrong(zone, KC_FIELD_INVALID, "timeZone must be nil or non-empty string");
    else if (name.n == 5 && strncasecmp(name.p, "local", 5) == 0)
        kc__wrong(zone, KC_FIELD_INVALID,
                  "timeZone must be an explicit time zone as defined in "
                  "https://www.iana.org/time-zones");
    else if (!is_zone(name, &zone->errors->arena))
        kc__wrong(zone, KC_FIELD_INVALID, "unknown time zone %.*s", KC_ARG(name));
}
