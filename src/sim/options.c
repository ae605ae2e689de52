#include "sim/state.h"

#include "base/option_rows.h"
#include "solver/core/names.h"

#include <string.h>

#define DEFAULT_SOLVER "batched-nncg"
#define DEFAULT_FINISHER "interior-point"

const ss_option ss_sim_option_table[] = {
    {SS_ROW_AS("dt", SS_OPTION_REAL, ss_sim_options, h, "0.01"), .min = 1e-300, .max = 1e300,
     .value_name = "seconds", .help = "time step, in s"},
    {SS_ROW_OF(SS_OPTION_INT, ss_sim_options, substeps, "1"), .min = 1, .max = 1e6, .value_name = "N",
     .help = "number of substeps per step, each with its own contacts and frame"},
    SS_ROW_BOOL(
        ss_sim_options, fast, "false",
        "real-time steps: soft contacts in small steps instead of a formulation and a solver; errors of "
        "millimetres, at a fraction of the time"),
    {SS_ROW_OF(SS_OPTION_INT, ss_sim_options, small_steps, "4"), .min = 1, .max = 1e6, .value_name = "N",
     .help = "with fast, number of small steps per step, which share contacts and Jacobians"},
    {SS_ROW_OF(SS_OPTION_TEXT, ss_sim_options, formulation, "cone"), .value_name = "FORMULATION",
     .letter = 'f', .help = "formulation that turns a step into a problem"},
    {SS_ROW_OF(SS_OPTION_TEXT, ss_sim_options, solver, DEFAULT_SOLVER), .value_name = "SOLVER", .letter = 's',
     .help = "solver of the problem"},
    {SS_ROW_OF(SS_OPTION_TEXT, ss_sim_options, finisher, "default"), .value_name = "SOLVER",
     .help = "second solver, for islands at rest or with joints in which the first one missed the stop "
             "rule; none = no finisher; default = " DEFAULT_FINISHER
             " behind the default solver, none behind any other, whose answers are then its own"},
    {SS_ROW_OF(SS_OPTION_LIST, ss_sim_options, with, NULL), .value_name = "KEY=VALUE",
     .help = "option of the formulation, for instance gap_term=zero; repeatable"},
    {SS_ROW_OF(SS_OPTION_LIST, ss_sim_options, set, NULL), .value_name = "KEY=VALUE",
     .help = "option of the solver; repeatable"},
    {SS_ROW_AS("iterations", SS_OPTION_INT, ss_sim_options, max_iterations, "60"), .min = 0, .max = 1e9,
     .value_name = "N", .help = "largest number of iterations per step"},
    {SS_ROW_OF(SS_OPTION_TEXT, ss_sim_options, stop, "relative_energy<1e-4"), .value_name = "RULE",
     .help = "an island is solved if GAUGE<VALUE holds; none = always do all iterations"},
    {SS_ROW_OF(SS_OPTION_TEXT, ss_sim_options, keep, "answer"), .value_name = "RULE",
     .help = "iterate that moves the world when the iterations end before the stop rule holds: answer = the "
             "solver's own; last; best:GAUGE = the best by a gauge"},
    SS_ROW_CHOICE(
        ss_sim_options, gyro, "implicit", "implicit|explicit|off",
        "gyroscopic torque: by the midpoint rule, which conserves the energy of free rotation; from "
        "the start of the step; none"),
    SS_ROW_CHOICE(
        ss_sim_options, coordinates, "maximal", "maximal|minimal",
        "velocities of the step: six of every body, or those of the joints that hold bodies in trees, "
        "which are then exact"),
    SS_ROW_CHOICE(
        ss_sim_options, bias, "midway", "midway|explicit|carried",
        "Coriolis and centrifugal forces in minimal coordinates: those of the whole move, which keeps "
        "energy; from the start of the step, as MuJoCo, which costs least; or by the momenta that "
        "bodies bring along, which loses energy"),
    SS_ROW_CHOICE(
        ss_sim_options, integrator, "euler", "euler|runge-kutta|leapfrog",
        "mechanisms in minimal coordinates: steps as always; where nothing touches and only smooth forces "
        "act integrated to a tolerance, in pieces of a step, which have no frame; or half of each move "
        "before the forces and half after, of second order"),
    SS_ROW_REAL(ss_sim_options, integrator_tolerance, "1e-3", 1e-12, 0.1,
                "error of the rates in a piece of a step, as a share of them (integrator=runge-kutta)"),
    SS_ROW_CHOICE(
        ss_sim_options, joints, "baumgarte", "baumgarte|none|spook|projection|impulse",
        "stabilisation of joints: correct a fraction of the error per step; none; damped with a "
        "relaxation time; project positions after the step; correction impulses before and after the move"),
    SS_ROW_REAL(ss_sim_options, joint_gamma, "0.2", 0.0, 1.0,
                "fraction of joint errors (joints=baumgarte) and of limit violations removed per step"),
    {SS_ROW_OF(SS_OPTION_REAL, ss_sim_options, joint_relaxation, "2"), .min = 0.0, .max = 1e6,
     .value_name = "steps", .help = "relaxation time of joint errors, in steps (joints=spook)"},
    {SS_ROW_OF(SS_OPTION_REAL, ss_sim_options, joint_tolerance, "1e-5"), .min = 0.0, .max = 1e300,
     .value_name = "m", .help = "joint error, in m and rad, below which projection and impulse stop"},
    SS_ROW_BOOL(ss_sim_options, islands, "true",
                "solve groups of bodies that do not touch separately, in parallel"),
    SS_ROW_BOOL(ss_sim_options, warm_start, "true", "start from the impulses of the previous step"),
    {SS_ROW_OF(SS_OPTION_REAL, ss_sim_options, max_speed, "0"), .min = 0.0, .max = 1e300, .value_name = "m/s",
     .help = "speed, in m/s or rad/s, above which a step counts as diverged; 0 = 1e4 times the size of the "
             "world, or 1e4 rad, per step"},
    SS_ROW_CHOICE(ss_sim_options, peg, "off", SS_PEG_MODES,
                  "polyhedral exact geometry between boxes and hulls: none; select the face that keeps them "
                  "apart; the same by trying all selections; all near faces as ordinary contacts"),
    {SS_ROW_OF(SS_OPTION_INT, ss_sim_options, refine, "8"), .min = 0, .max = 100, .value_name = "N",
     .help = "with peg, how often a step may be solved again with the geometry at its end"},
    {SS_ROW_OF(SS_OPTION_INT, ss_sim_options, halvings, "6"), .min = 0, .max = 20, .value_name = "N",
     .help = "with peg and refine, how often a step may be halved because bodies turn too far within it"},
    {SS_ROW_OF(SS_OPTION_INT, ss_sim_options, threads, "0"), .min = 0, .max = 1024, .value_name = "N",
     .help = "number of threads; 0 = one per core. The result does not depend on it"},
    SS_ROW_INT(ss_sim_options, seed, "1", 0, 2147483647,
               "seed of all random numbers, of the scene and of solvers"),
    {0}};

const char *ss_sim_choose_finisher(const ss_sim_options *options)
{
    if (options->fast) return "none";
    if (!options->finisher || strcmp(options->finisher, "default") != 0) return options->finisher;
    return ss_solver_same(options->solver, DEFAULT_SOLVER) ? DEFAULT_FINISHER : "none";
}
