/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c: displays a machine: the progress of an object (JSON for a console), and the machine
 * itself (a diagram).
 *
 * The path shown is the normal one, from the initial phase by `next`; for a failed object also the
 * phase in which it failed.
 */
#include "phase/phase_internal.h"

#include "kc/json.h"

/* ---- progress ---- */

typedef struct view {
    const kc_phase_machine *machine;
    const kc_value *root;
    kc_str phase; /* The current phase. */
    kc_buf *out;
} view;

static bool has_warning(const kc_value *record)
{
    bool warned = !kc_str_empty(kc_value_as_str(kc_value_get(record, "warning")));
    kc_value_each_member (kc_value_get(record, "steps"), name, step) {
        (void)name;
        warned = warned || !kc_str_empty(kc_value_as_str(kc_value_get(step, "warning")));
    }
    return warned;
}

static const char *result_of(const kc_value *record, bool current)
{
    if (kc_value_as_bool(kc_value_get(record, "failed"), false) && kc__phase_record_is_done(record))
        return "Failed";
    if (kc__phase_record_is_done(record))
        return has_warning(record) ? "Warning" : "Succeeded";
    return current ? "Doing" : "Pending";
}

static void member(kc_buf *out, const char *before, const char *name, kc_str text)
{
    kc_buf_printf(out, "%s\"%s\":", before, name);
    kc_json_quote(out, text);
}

static void write_result(kc_buf *out, const kc_value *record, bool current)
{
    kc_str time = kc_value_as_str(kc_value_get(record, "endTime"));
    if (kc_str_empty(time))
        time = kc_value_as_str(kc_value_get(record, "startTime"));
    member(out, ",", "result", kc_cstr(result_of(record, current)));
    if (!kc_str_empty(time))
        member(out, ",", "timestamp", time);
}

static void write_phase(view *v, const char *name, const char *desc, const kc_value *record,
                        bool current, const char *comma)
{
    kc_buf_puts(v->out, comma);
    member(v->out, "{", "phase", kc_cstr(name));
    member(v->out, ",", "desc", kc_cstr(desc ? desc : name));
    write_result(v->out, record, current);
    kc_buf_puts(v->out, "}");
}

static void write_phases(view *v)
{
    const char *comma = "", *last = v->machine->initial;
    kc_buf_puts(v->out, ",\"phases\":[");
    for (const kc_phase_def *p = kc__phase_find(v->machine, kc_cstr(v->machine->initial)); p;
         p = kc__phase_find(v->machine, kc_cstr(p->next))) {
        write_phase(v, p->name, p->desc, kc__phase_record_of(v->root, kc_cstr(p->name)),
                    kc_str_is(v->phase, p->name), comma);
        comma = ",";
        last = p->next;
    }
    kc_buf_puts(v->out, comma);
    member(v->out, "{", "phase", kc_cstr(last));
    member(v->out, ",", "desc", kc_cstr(last));
    member(v->out, ",", "result",
           kc_str_is(v->phase, last) ? KC_STR("Succeeded") : KC_STR("Pending"));
    kc_buf_puts(v->out, "}]");
}

static void write_checklist(view *v, const kc_phase_def *phase, const kc_value *record)
{
    const char *comma = "";
    kc_buf_puts(v->out, "{\"view\":\"checklist\",\"items\":[");
    for (const kc_phase_step_def *s = phase->steps; s->name; s++) {
        const kc_value *step = kc_value_get(kc_value_get(record, "steps"), s->name);
        write_phase(v, s->name, s->desc, step, kc_str_is(v->phase, phase->name) && step, comma);
        comma = ",";
    }
    kc_buf_puts(v->out, "]}");
}

static void phase_show_write_value(kc_buf *out, const char *name, const kc_value *value)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_write(out, value);
}

static void write_detail(view *v)
{
    const kc_phase_def *phase = kc__phase_find(v->machine, v->phase);
    phase = phase ? phase : kc__phase_find_failing_to(v->machine, v->phase);
    const kc_value *record = phase ? kc__phase_record_of(v->root, kc_cstr(phase->name)) : NULL;
    const kc_value *objects = kc_value_get(record, "objects"),
                   *progress = kc_value_get(record, "progress");
    kc_buf_puts(v->out, ",\"detail\":");
    if (objects) {
        kc_buf_puts(v->out, "{\"view\":\"objectdetail\"");
        phase_show_write_value(v->out, "objects", objects);
        kc_buf_puts(v->out, "}");
    } else if (progress) {
        kc_buf_puts(v->out, "{\"view\":\"progress\"");
        phase_show_write_value(v->out, "progress", progress);
        kc_buf_puts(v->out, "}");
    } else if (phase && phase->steps) {
        write_checklist(v, phase, record);
    } else {
        kc_buf_puts(v->out, "{\"view\":\"none\"}");
    }
}

void kc_phase_view(const kc_phase_machine *machine, const kc_object *object, kc_buf *out)
{
    kc_auto(kc_view) *parsed = kc_view_of(object);
    view v = {.machine = machine, .root = kc_view_root(parsed), .out = out};
    v.phase = kc_phase_of(machine, v.root);
    member(out, "{", "phase", v.phase);
    write_phases(&v);
    write_detail(&v);
    kc_buf_puts(out, "}");
}

/* ---- diagram ---- */

/* The syntax of each diagram format. */
static const struct form {
    const char *begin, *initial, *step, *next, *failed, *terminal, *end;
} forms[] = {
    [KC_PHASE_DOT] = {"digraph %s {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n",
                      "  start [shape=point];\n  start -> \"%s\";\n",
                      "  \"%s\" [label=\"%s\\n%s\"];\n", "  \"%s\" -> \"%s\";\n",
                      "  \"%s\" -> \"%s\" [style=dashed, label=\"fails\"];\n",
                      "  \"%s\" [peripheries=2];\n", "}\n"},
    [KC_PHASE_MERMAID] = {"---\ntitle: %s\n---\nstateDiagram-v2\n", "    [*] --> %s\n",
                          "    %s: %s (%s)\n", "    %s --> %s\n", "    %s --> %s: fails\n",
                          "    %s --> [*]\n", ""},
};

static void write_steps(const struct form *form, const kc_phase_def *p, kc_buf *out)
{
    kc_scoped(kc_buf) list = {0};
    for (const kc_phase_step_def *s = p->steps; s && s->name; s++)
        kc_buf_printf(&list, "%s%s", list.n ? (p->parallel ? " | " : ", ") : "", s->name);
    if (list.n)
        kc_buf_printf(out, form->step, p->name, p->name, kc_buf_cstr(&list));
}

void kc_phase_graph(const kc_phase_machine *machine, kc_phase_graph_form form, kc_buf *out)
{
    const struct form *f = &forms[form];
    kc_scoped(kc_buf) name = {0};
    kc_buf_printf(out, f->begin, kc__phase_machine_name(machine, &name));
    kc_buf_printf(out, f->initial, machine->initial);
    for (const kc_phase_def *p = machine->phases; p->name; p++) {
        write_steps(f, p, out);
        kc_buf_printf(out, f->next, p->name, p->next);
        if (p->failed)
            kc_buf_printf(out, f->failed, p->name, p->failed);
    }
    for (const char *const *t = machine->terminal; *t; t++)
        kc_buf_printf(out, f->terminal, *t);
    kc_buf_puts(out, f->end);
}
