/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_orders.c: user actions on a machine, requested by an annotation:
 *
 *     kubectl annotate banana one kubecontroller.io/phase-action=reset
 *
 * An action is executed exactly once, though annotation and status cannot be written atomically:
 *
 *     reset ──▶ "reset@417"  claims the annotation: 417 is the resourceVersion it was seen with
 *           ──▶ status       changed, with the entry {action: reset, id: "417"} in its audit
 *           ──▶ (removed)    the annotation
 *
 * After a crash a claimed action whose id is in the audit is only removed; one that is not is
 * executed. A new request in between writes another value, which is another action. An event
 * reports the result; an impossible action is reported and removed too.
 */
#include "app/phase_internal.h"

#include "kc/finalizer.h"

/* Slices of `text`. */
typedef struct request {
    char *text, *user, *id;
    kc_str word;
} request;

static void request_done(request *r)
{
    free(r->text);
    free(r->user);
    free(r->id);
}

static char *app_phase_orders_annotation(const kc__app_phase_walk *w, kc_str name)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str value = kc_object_annotation(w->object, name, &arena);
    return value.p ? kc_str_dup(value) : NULL;
}

static bool read_request(const kc__app_phase_walk *w, request *ret)
{
    char *text = app_phase_orders_annotation(w, KC_STR(KC_PHASE_ACTION));
    if (!text)
        return false;
    kc_str rest = kc_cstr(text);
    const kc_str word = kc_str_cut(&rest, '@');
    *ret = (request){.text = text, .word = kc_str_trim(word)};
    ret->id = rest.p ? kc_str_dup(rest) : NULL;
    ret->user = app_phase_orders_annotation(w, KC_STR(KC_PHASE_ACTION_BY));
    return true;
}

/* ---- the annotation ---- */

static int app_phase_orders_claim(kc__app_phase_walk *w, const request *r, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    kc_autofree char *value =
        kc_asprintf("%.*s@%.*s", KC_ARG(r->word), KC_ARG(kc_object_resource_version(w->object)));
    kc_edit_set_annotation(edit, KC_STR(KC_PHASE_ACTION), kc_cstr(value));
    kc_auto(kc_object) *claimed = kc_edit_freeze(edit, err);
    return claimed ? kc__app_phase_walk_patch(w, claimed, err) : kc_error_result(err);
}

static int remove_it(kc__app_phase_walk *w, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    kc_edit_remove_annotation(edit, KC_STR(KC_PHASE_ACTION));
    kc_edit_remove_annotation(edit, KC_STR(KC_PHASE_ACTION_BY));
    kc_auto(kc_object) *without = kc_edit_freeze(edit, err);
    return without ? kc__app_phase_walk_patch(w, without, err) : kc_error_result(err);
}

/* ---- event ---- */

static void app_phase_orders_count(kc__app_phase_walk *w, kc_str word, const char *response)
{
    const kc__app_phase_controller *c = w->controller;
    kc_counter_inc(kc_metric_counter(c->orders, kc_cstr(c->name), word, kc_cstr(response)));
}

/* The annotation is removed first: an impossible action changes nothing, so a repetition is
 * harmless. */
static int app_phase_orders_reject(kc__app_phase_walk *w, const request *r, const char *why,
                                   kc_error *err)
{
    if (remove_it(w, err) < 0)
        return kc_error_result(err);
    app_phase_orders_count(w, r->word, "refused");
    kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_WARNING, "ActionRefused", "%s",
                      why);
    return 1;
}

static int refuse_word(kc__app_phase_walk *w, const request *r, kc_error *err)
{
    const char *words[KC_PHASE_ACTIONS];
    for (size_t i = 0; i < KC_PHASE_ACTIONS; i++)
        words[i] = kc_phase_action_name((kc_phase_action)i);
    const char *nearest = kc_str_nearest(r->word, words, KC_COUNT(words));
    kc_autofree char *why = kc_asprintf("unknown action \"%.*s\": %s%s%s", KC_ARG(r->word),
                                        nearest ? "did you mean \""
                                                : "supported actions: reset, revert, continue, "
                                                  "purge",
                                        nearest ? nearest : "", nearest ? "\"?" : "");
    return app_phase_orders_reject(w, r, why, err);
}

/* ---- execution ---- */

/* Purge removes the finalizer, so that the object can be deleted. */
static int app_phase_orders_release(kc__app_phase_walk *w, kc_error *err)
{
    kc_object *object = kc_object_ref(w->object);
    const int removed = kc_finalizer_remove(w->ctx->client, &object, KC_PHASE_FINALIZER, err);
    kc_object_unref(object);
    if (removed < 0)
        return removed;
    kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_NORMAL, "ActionDone",
                      "purge: released in phase %.*s", KC_ARG(kc__app_phase_walk_phase(w)));
    app_phase_orders_count(w, KC_STR("purge"), "done");
    w->gone = true;
    return 1;
}

static int app_phase_orders_execute(kc__app_phase_walk *w, const request *r,
                                    const kc_phase_action_request *order, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_autofree char *before = kc_str_dup(kc__app_phase_walk_phase(w));
    kc_auto(kc_object) *changed =
        kc_phase_apply_action(w->controller->machine, w->object, order, w->ctx->clock, &why);
    if (!changed)
        return app_phase_orders_reject(w, r, kc_error_text(&why), err);
    if (!r->id)
        return app_phase_orders_claim(w, r, err) < 0 ? kc_error_result(err) : 1;
    if (kc__app_phase_walk_status(w, changed, err) < 0)
        return kc_error_result(err);
    app_phase_orders_count(w, r->word, "done");
    kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_NORMAL, "ActionDone",
                      "%.*s: from %s to %.*s", KC_ARG(r->word), before,
                      KC_ARG(kc__app_phase_walk_phase(w)));
    return 1;
}

static int obey(kc__app_phase_walk *w, const request *r, kc_error *err)
{
    kc_phase_action_request order = {.user = r->user, .id = r->id};
    if (!kc_phase_action_of(r->word, &order.action))
        return refuse_word(w, r, err);
    if (order.action == KC_PHASE_PURGE && kc_object_being_deleted(w->object))
        return app_phase_orders_release(w, err);
    if (r->id && kc_phase_action_was_applied(kc_view_root(w->view), kc_cstr(r->id)))
        return remove_it(w, err) < 0 ? kc_error_result(err) : 1;
    return app_phase_orders_execute(w, r, &order, err);
}

int kc__app_phase_walk_actions(kc__app_phase_walk *w, kc_error *err)
{
    request r;
    if (!read_request(w, &r))
        return 0;
    const int done = obey(w, &r, err);
    request_done(&r);
    return done;
}
