#define _GNU_SOURCE
#include "dataset/flight.h"

#include "base/option_rows.h"
#include "base/number.h"
#include "base/words.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const ss_option ss_recording_option_table[] = {
    {SS_ROW_OF(SS_OPTION_REAL, ss_recording_options, survive, "5"), .min = 0, .max = 1e9,
     .value_name = "seconds",
     .help = "Frames older than this, in s of wall time, can be recovered if the program dies; 0 = none."},
    {SS_ROW_OF(SS_OPTION_INT, ss_recording_options, ring, "0"), .min = 0, .max = 1e8, .value_name = "N",
     .help = "Flight recorder: keep only the last N steps, and write them when something trips; 0 = write "
             "everything."},
    {SS_ROW_OF(SS_OPTION_LIST, ss_recording_options, trip, NULL), .value_name = "NAME>VALUE",
     .help =
         "What trips the flight recorder: nan; overlap (m), joint_error, speed (m/s), contacts or a metric "
         "above (>) or below (<) a value; repeatable."},
    {SS_ROW_OF(SS_OPTION_INT, ss_recording_options, after, "0"), .min = 0, .max = 1e8, .value_name = "N",
     .help = "Steps that the flight recorder keeps after the one that tripped."},
    {SS_ROW_OF(SS_OPTION_INT, ss_recording_options, trips, "10"), .min = 1, .max = 1e8, .value_name = "N",
     .help = "How often the flight recorder writes at most."},
    {SS_ROW_OF(SS_OPTION_REAL, ss_recording_options, ring_megabytes, "512"), .min = 0.001, .max = 1e9,
     .value_name = "MB", .help = "Limit for the ring; fewer steps are kept when they need more."},
    SS_ROW_CHOICE(ss_recording_options, trip_signal, "none", "none|usr1|usr2",
                  "Signal that trips the flight recorder."),
    SS_ROW_BOOL(ss_recording_options, no_ring_file, NULL,
                "Keep the ring in memory that is lost in a crash, instead of a file beside the target."),
    {0}};

/* ---- what trips --------------------------------------------------------------------------------------- */

enum { TRIP_NAN, TRIP_OVERLAP, TRIP_JOINT_ERROR, TRIP_SPEED, TRIP_CONTACTS, TRIP_METRIC };
static const char *const quantities[] = {"nan", "overlap", "joint_error", "speed", "contacts"};

static bool parse_trip(const char *text, ss_trip *trip, ss_error *err)
{
    size_t length = strcspn(text, "<>");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    *trip = (ss_trip){.quantity = -1, .below = text[length] == '<'};
    for (int q = 0; q < TRIP_METRIC; q++)
        if (strcmp(name, quantities[q]) == 0) trip->quantity = q;
    if (trip->quantity < 0 && ss_metric_index(name) >= 0)
        trip->quantity = TRIP_METRIC + ss_metric_index(name);
    if (trip->quantity < 0) {
        ss_unknown unknown = ss_unknown_start("quantity", name);
        for (int q = 0; q < TRIP_METRIC; q++) ss_unknown_offer(&unknown, quantities[q]);
        for (int m = 0; m < ss_metric_count(); m++) ss_unknown_offer(&unknown, ss_metric_at(m)->name);
        return ss_unknown_fail(&unknown, err);
    }
    bool bare = text[length] == '\0';
    bool good = trip->quantity == TRIP_NAN ? bare : !bare && ss_number_read(text + length + 1, &trip->limit);
    return good || ss_fail(err, SS_ERROR_USAGE,
                           "invalid value \"%.100s\" for trip: expected nan, NAME>VALUE or NAME<VALUE", text);
}

/* The first reason of a step counts. */
static void judge_quantity(ss_flight *flight, int quantity, double value)
{
    for (int i = 0; i < flight->trip_count; i++) {
        const ss_trip *trip = &flight->trip[i];
        if (trip->quantity != quantity || flight->reason[0]) continue;
        const char *name =
            quantity < TRIP_METRIC ? quantities[quantity] : ss_metric_at(quantity - TRIP_METRIC)->name;
        if (trip->below ? value < trip->limit : value > trip->limit)
            snprintf(flight->reason, sizeof flight->reason, "%s %.6g %c %.6g", name, value,
                     trip->below ? '<' : '>', trip->limit);
    }
}

static bool trips_on(const ss_flight *flight, int quantity)
{
    for (int i = 0; i < flight->trip_count; i++)
        if (flight->trip[i].quantity == quantity) return true;
    return false;
}

static void judge_finite(ss_flight *flight, const double *values, size_t count, const char *what)
{
    if (flight->reason[0] || !values || !trips_on(flight, TRIP_NAN)) return;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            snprintf(flight->reason, sizeof flight->reason, "nan: %s[%zu] is %g", what, i, values[i]);
            return;
        }
}

/* Metrics that came with the result, and, if one is missing, all of them. */
static bool judge_result(ss_flight *flight, const ss_stored_result *result, ss_error *err)
{
    const ss_answer *answer = result->answer;
    if (answer) {
        judge_finite(flight, answer->velocity ? &answer->velocity[0][0] : NULL, 6 * (size_t)answer->bodies,
                     "new velocities");
        judge_finite(flight, answer->normal_impulse, (size_t)answer->contacts, "normal impulses");
    }

    bool missing = false;
    for (int i = 0; i < flight->trip_count; i++) {
        int metric = flight->trip[i].quantity - TRIP_METRIC;
        bool found = metric < 0;
        for (int m = 0; !found && m < result->measure_count; m++) {
            const ss_measure *measure = &result->measures[m];
            if (measure->count != 1 || strcmp(measure->name, ss_metric_at(metric)->name) != 0) continue;
            judge_quantity(flight, TRIP_METRIC + metric, measure->values[0]);
            found = true;
        }
        missing |= !found;
    }

    // an answer with numbers that are not finite has tripped, or cannot be judged
    if (!missing || result->measure_count > 0 || flight->reason[0] || !ss_answer_is_complete(answer))
        return true;

    ss_step_options step;
    ss_metric_value *values = ss_allocate((size_t)ss_metric_count(), sizeof *values);
    bool good =
        values != NULL || ss_fail(err, SS_ERROR_RESOURCES, "flight recorder: out of memory for metrics");
    good = good && ss_stored_result_step(result, &step, err) &&
           ss_judge_frame(flight->frame, &step, answer, values, NULL, err);
    for (int m = 0; good && m < ss_metric_count(); m++)
        if (values[m].applies) judge_quantity(flight, TRIP_METRIC + m, values[m].value);
    ss_release(values);
    return good;
}

/* ---- signals ------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t signals_received;

static void note_signal(int number)
{
    (void)number;
    signals_received++;
}

static bool listen_to(int number, ss_error *err)
{
    struct sigaction before, action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_DFL &&
        before.sa_handler != note_signal)
        return ss_fail(err, SS_ERROR_USAGE, "trip_signal: the program handles this signal already");
    return sigaction(number, &action, NULL) == 0 ||
           ss_fail(err, SS_ERROR_RESOURCES, "trip_signal: cannot be set");
}

/* ---- life --------------------------------------------------------------------------------------------- */

ss_flight *ss_flight_create(const ss_recording_options *options, char *path, uint64_t word, ss_error *err)
{
    ss_flight *flight = ss_allocate(1, sizeof *flight);
    if (!flight) {
        ss_release(path);
        ss_fail(err, SS_ERROR_RESOURCES, "flight recorder: out of memory");
        return NULL;
    }
    flight->ring = (ss_ring){
        .path = path, .wanted = options->ring, .most_bytes = 1e6 * options->ring_megabytes, .word = word};
    flight->after = options->after;
    flight->most_trips = options->trips;
    flight->steps_to_dump = -1;
    flight->signal_number = options->trip_signal == 1 ? SIGUSR1 : options->trip_signal == 2 ? SIGUSR2 : 0;
    flight->signals_seen = signals_received;
    bool good = true;
    for (int i = 0; good && i < options->trip.count; i++)
        good = parse_trip(options->trip.items[i], &flight->trip[flight->trip_count++], err);
    good = good && (!flight->signal_number || listen_to(flight->signal_number, err));
    if (good) return flight;
    flight->signal_number = 0;
    ss_flight_destroy(flight);
    return NULL;
}

void ss_flight_destroy(ss_flight *flight)
{
    if (!flight) return;
    if (flight->signal_number) signal(flight->signal_number, SIG_DFL);
    char *path = flight->ring.path;
    ss_ring_free(&flight->ring);
    ss_release(path);
    ss_packet_free(&flight->step);
    ss_release(flight);
}

/* ---- a step ------------------------------------------------------------------------------------------- */

void ss_flight_frame(ss_flight *flight, const ss_frame *frame)
{
    ss_packet_clear(&flight->step);
    ss_packet_add_frame(&flight->step, frame);
    flight->frame = frame;
    flight->results = 0;

    /* What the numbers of the frame show by themselves. */
    const ss_bodies *bodies = &frame->bodies;
    const ss_constraints *joints = &frame->constraints;
    size_t count = (size_t)bodies->count;
    judge_finite(flight, &bodies->position[0][0], 3 * count, "positions");
    judge_finite(flight, &bodies->velocity[0][0], 6 * count, "velocities");
    judge_finite(flight, &bodies->force[0][0], 6 * count, "forces");
    judge_finite(flight, frame->contacts.gap, (size_t)frame->contacts.count, "gaps");

    double overlap = 0, error = 0, speed = 0;
    for (int c = 0; trips_on(flight, TRIP_OVERLAP) && c < frame->contacts.count; c++)
        overlap = fmax(overlap, -frame->contacts.gap[c]);
    for (int r = 0; trips_on(flight, TRIP_JOINT_ERROR) && r < joints->row_count; r++)
        if (isinf(joints->bounds[r][0]) && isinf(joints->bounds[r][1]))
            error = fmax(error, fabs(joints->violation[r]));
    for (int b = 0; trips_on(flight, TRIP_SPEED) && b < bodies->count; b++) {
        const double *v = bodies->velocity[b];
        speed = fmax(speed, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    judge_quantity(flight, TRIP_OVERLAP, overlap);
    judge_quantity(flight, TRIP_JOINT_ERROR, error);
    judge_quantity(flight, TRIP_SPEED, speed);
    judge_quantity(flight, TRIP_CONTACTS, frame->contacts.count);
}

bool ss_flight_result(ss_flight *flight, const ss_stored_result *result, ss_error *err)
{
    ss_packet_add_result(&flight->step, result);
    return flight->results++ > 0 || judge_result(flight, result, err);
}

bool ss_flight_end_step(ss_flight *flight, bool *due, ss_error *err)
{
    *due = false;
    if (!flight->frame) return true;
    flight->frame = NULL;
    if (flight->signals_seen != signals_received) {
        flight->signals_seen = signals_received;
        if (!flight->reason[0]) snprintf(flight->reason, sizeof flight->reason, "signal");
    }

    // a cause that lasts trips once, until the ring is full of later steps
    bool trips = flight->reason[0] && flight->steps_to_rest == 0 && flight->steps_to_dump < 0 &&
                 flight->trips < flight->most_trips;
    if (trips) ss_packet_add_note(&flight->step, flight->reason);
    flight->reason[0] = '\0';

    if (flight->steps_to_rest > 0) flight->steps_to_rest--;
    if (flight->step.out_of_memory)
        return ss_fail(err, SS_ERROR_RESOURCES, "flight recorder: out of memory for a step");
    if (!ss_ring_push(&flight->ring, flight->step.bytes, flight->step.size, err)) return false;

    if (trips) {
        flight->trips++;
        flight->steps_to_dump = flight->after;
        flight->steps_to_rest = flight->ring.wanted + flight->after;
    }
    *due = flight->steps_to_dump == 0;
    if (flight->steps_to_dump >= 0) flight->steps_to_dump--;
    return true;
}
