/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks.c: the checks before a migration. They write nothing.
 *
 * A check is a row of the table and shown as an object of the phase, with an error if it failed.
 * All checks run, so that the user sees all problems at once; only the first two, which connect,
 * stop at a failure. The phase's error is the first one.
 */
#include "migration.h"

#include "kc/ascii.h"

#include <stdio.h>

typedef struct redismigration_checks_inspect {
    migration *m;
    const kc_value *root;
} redismigration_checks_inspect;

static int open_source(const redismigration_checks_inspect *l, kc_error *err)
{
    return side_open(l->m, &l->m->source, err);
}

static int open_dest(const redismigration_checks_inspect *l, kc_error *err)
{
    return side_open(l->m, &l->m->dest, err);
}

/* Compared by run id: a server may have many addresses. */
static int are_two(const redismigration_checks_inspect *l, kc_error *err)
{
    const migration *m = l->m;
    const bool known = side_info(&m->source, "run_id").n > 0;
    if (strcmp(m->source.at.place, m->dest.at.place) != 0 &&
        !(known && !strcmp(m->source.id, m->dest.id)))
        return 0;
    return kc_error_set(err, KC_INVALID, "source and destination are the same database");
}

static int are_no_cluster(const redismigration_checks_inspect *l, kc_error *err)
{
    const side *sides[] = {&l->m->source, &l->m->dest};
    for (size_t i = 0; i < KC_COUNT(sides); i++)
        if (side_number(sides[i], "cluster_enabled"))
            return kc_error_set(err, KC_INVALID,
                                "the %s is a cluster node, which has only a part of the keys",
                                sides[i]->role);
    return 0;
}

static int are_loaded(const redismigration_checks_inspect *l, kc_error *err)
{
    const side *sides[] = {&l->m->source, &l->m->dest};
    for (size_t i = 0; i < KC_COUNT(sides); i++)
        if (side_number(sides[i], "loading"))
            return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the %s is still loading its data set",
                                sides[i]->role);
    return 0;
}

static int is_writable(const redismigration_checks_inspect *l, kc_error *err)
{
    const side *dest = &l->m->dest;
    if (!kc_str_is(side_info(dest, "role"), "slave") || !side_number(dest, "slave_read_only"))
        return 0;
    return kc_error_set(err, KC_INVALID, "the destination is a read-only replica");
}

/* ---- versions ---- */

/* The DUMP format has a version: a server restores its own and older ones. Newest first. */
static const struct redismigration_checks_format {
    int major, minor, version;
} formats[] = {
    {7, 4, 12}, {7, 2, 11}, {7, 0, 10}, {5, 0, 9}, {4, 0, 8}, {3, 2, 7}, {2, 6, 6}, {0, 0, 0},
};

static int format_of(kc_str version)
{
    int64_t major = 0, minor = 0;
    kc_str_to_i64(kc_str_cut(&version, '.'), &major);
    kc_str_to_i64(kc_str_cut(&version, '.'), &minor);
    const struct redismigration_checks_format *f = formats;
    while (major < f->major || (major == f->major && minor < f->minor))
        f++;
    return f->version;
}

bool reads_dumps_of(kc_str version, kc_str of)
{
    return format_of(version) >= format_of(of);
}

static int are_compatible(const redismigration_checks_inspect *l, kc_error *err)
{
    const kc_str source = side_info(&l->m->source, "redis_version");
    const kc_str dest = side_info(&l->m->dest, "redis_version");
    if (!source.n || !dest.n || reads_dumps_of(dest, source))
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the destination's Redis %.*s cannot restore dumps of the source's %.*s",
                        KC_ARG(dest), KC_ARG(source));
}

/* ---- memory ---- */

static int redismigration_checks_is_empty(const redismigration_checks_inspect *l, kc_error *err)
{
    int64_t n = 0;
    if (kc_value_as_bool(kc_value_nested(l->root, "spec.overwrite"), false))
        return 0;
    if (side_count(&l->m->dest, &n, err) < 0)
        return kc_error_result(err);
    if (!n)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the destination already has %lld keys; set spec.overwrite: true to "
                        "allow that",
                        (long long)n);
}

/* Number of keys in all databases of the server: db0:keys=3,expires=0,avg_ttl=0 */
static int64_t count_all(const side *s)
{
    int64_t all = 0;
    kc_str rest = kc_cstr(s->info);
    while (rest.p) {
        const kc_str line = kc_str_cut(&rest, '\n');
        int64_t n = 0;
        if (!kc_str_starts(line, KC_STR("db")) || line.n < 4 || !kc_is_digit(line.p[2]))
            continue;
        kc_str numbers = line;
        kc_str_cut(&numbers, '=');
        if (kc_str_to_i64(kc_str_cut(&numbers, ','), &n))
            all += n;
    }
    return all;
}

/* Estimate: the source's memory, scaled to the keys of this database. */
static int has_room(const redismigration_checks_inspect *l, kc_error *err)
{
    const side *source = &l->m->source, *dest = &l->m->dest;
    const int64_t most = side_number(dest, "maxmemory"), used = side_number(dest, "used_memory");
    const int64_t all = count_all(source);
    int64_t mine = 0;
    if (!most)
        return 0;
    if (side_count(source, &mine, err) < 0)
        return kc_error_result(err);
    const double share = all > 0 ? KC_MIN((double)mine / (double)all, 1.0) : 1.0;
    const int64_t needed = (int64_t)((double)side_number(source, "used_memory_dataset") * share);
    if (!mine || needed <= most - used)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the destination has too little memory: maxmemory %lld bytes, used "
                        "%lld, about %lld needed",
                        (long long)most, (long long)used, (long long)needed);
}

/* ---- table ---- */

static const struct redismigration_checks_check {
    const char *id, *name;
    int (*run)(const redismigration_checks_inspect *redismigration_checks_inspect, kc_error *err);
    bool needed; /* Used by the following checks. */
} checks[] = {
    {"source-answers", "Source accepts the connection", open_source, true},
    {"dest-answers", "Destination accepts the connection", open_dest, true},
    {"two-databases", "Source and destination differ", are_two, false},
    {"no-cluster", "Neither is a cluster node", are_no_cluster, false},
    {"loaded", "Both have loaded their data sets", are_loaded, false},
    {"versions", "Destination can restore the source's dumps", are_compatible, false},
    {"dest-writable", "Destination is writable", is_writable, false},
    {"dest-empty", "Destination is empty or may be overwritten", redismigration_checks_is_empty,
     false},
    {"dest-memory", "Destination has enough memory", has_room, false},
};

int migration_check(kc_phase_call *call, migration *m, kc_error *err)
{
    const redismigration_checks_inspect l = {m, call->root};
    bool goes_on = true;
    kc_scoped(kc_error) first = {0};
    for (size_t i = 0; i < KC_COUNT(checks) && goes_on; i++) {
        const struct redismigration_checks_check *c = &checks[i];
        kc_scoped(kc_error) failure = {0};
        const bool passed = c->run(&l, &failure) >= 0;
        kc_phase_set_object(call,
                            &(kc_phase_object){.id = c->id,
                                               .name = c->name,
                                               .done = passed,
                                               .error = passed ? NULL : kc_error_text(&failure)});
        goes_on = passed || !c->needed;
        if (!passed && !first.reason)
            kc_error_move(&first, &failure);
    }
    return first.reason ? kc_error_move(err, &first) : 0;
}
