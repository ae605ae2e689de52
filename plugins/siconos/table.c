#include "table.h"

#include <Friction_cst.h>

/* iparam[0] is the number of iterations and never set here, so that 0 can end a list. */
#define FORMULATION(which)                                                               \
    {                                                                                    \
        SICONOS_FRICTION_3D_NSN_FORMULATION, SICONOS_FRICTION_3D_NSN_FORMULATION_##which \
    }
#define SEARCH(which)                                                                  \
    {                                                                                  \
        SICONOS_FRICTION_3D_NSN_LINESEARCH, SICONOS_FRICTION_3D_NSN_LINESEARCH_##which \
    }
#define HYBRID(which)                                                                            \
    {                                                                                            \
        SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY, SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_##which \
    }
#define LOOK(which)                                                                                    \
    {                                                                                                  \
        SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION, SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_##which \
    }
#define LOOK_EVERY(sweeps)                                            \
    {                                                                 \
        SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY, sweeps \
    }
#define SHUFFLE                                                                           \
    {                                                                                     \
        SICONOS_FRICTION_3D_NSGS_SHUFFLE, SICONOS_FRICTION_3D_NSGS_SHUFFLE_TRUE_EACH_LOOP \
    }
#define REGULARISED                                                                               \
    {                                                                                             \
        SICONOS_FRICTION_3D_PROXIMAL_IPARAM_STRATEGY, SICONOS_FRICTION_3D_PROXIMAL_REGULARIZATION \
    }
#define RHO(which)                                                                                  \
    {                                                                                               \
        SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY, SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_##which \
    }
#define FIRST_RHO(which)                                                                          \
    {                                                                                             \
        SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO, SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_##which \
    }

#define NSGS SICONOS_FRICTION_3D_NSGS
#define LOCAL(which) SICONOS_FRICTION_3D_ONECONTACT_##which
#define PROX SICONOS_FRICTION_3D_PROX
#define NEWTON SICONOS_FRICTION_3D_NSN_AC
#define WIDE(which) SICONOS_GLOBAL_FRICTION_3D_##which

#define SPATIAL(title, ...)                                          \
    {                                                                \
        .name = title, .kind = SS_SICONOS_SPATIAL, .id = __VA_ARGS__ \
    }
#define PLANAR(title, ...)                                          \
    {                                                               \
        .name = title, .kind = SS_SICONOS_PLANAR, .id = __VA_ARGS__ \
    }
#define ROLLING(title, ...)                                          \
    {                                                                \
        .name = title, .kind = SS_SICONOS_ROLLING, .id = __VA_ARGS__ \
    }
#define GLOBAL(title, ...)                                          \
    {                                                               \
        .name = title, .kind = SS_SICONOS_GLOBAL, .id = __VA_ARGS__ \
    }
#define GLOBAL_ROLLING(title, ...)                                          \
    {                                                                       \
        .name = title, .kind = SS_SICONOS_GLOBAL_ROLLING, .id = __VA_ARGS__ \
    }

/* Left out: SOCLCP and IPM, which solve the convex relaxation; those that need GAMS or PATH, which
 * Debian has not. */
const ss_siconos_variant ss_siconos_variants[] = {
    /* sweeps, by what solves one contact */
    SPATIAL("NSGS", NSGS, .set = {LOOK(FULL)}),
    SPATIAL("NSGS-light", NSGS, .set = {LOOK(LIGHT_WITH_FULL_FINAL)}),
    SPATIAL("NSGS-adaptive", NSGS, .set = {LOOK(ADAPTIVE), LOOK_EVERY(10)}),
    SPATIAL("NSGS-shuffled", NSGS, .set = {SHUFFLE}),
    SPATIAL("NSGS-AC", NSGS, .inner = LOCAL(NSN)),
    SPATIAL("NSGS-JM", NSGS, .inner = LOCAL(NSN), .inner_set = {FORMULATION(JEANMOREAU_STD)}),
    SPATIAL("NSGS-AC-GP", NSGS, .inner = LOCAL(NSN_GP)),
    SPATIAL("NSGS-JM-GP", NSGS, .inner = LOCAL(NSN_GP), .inner_set = {FORMULATION(JEANMOREAU_STD)}),
    SPATIAL("NSGS-P", NSGS, .inner = LOCAL(ProjectionOnCone)),
    SPATIAL("NSGS-PLI", NSGS, .inner = LOCAL(ProjectionOnConeWithLocalIteration)),
    SPATIAL("NSGS-P-regularised", NSGS, .inner = LOCAL(ProjectionOnConeWithRegularization)),
    SPATIAL("NSGS-P34", NSGS, .inner = LOCAL(ProjectionOnConeWithDiagonalization)),
    SPATIAL("NSGS-quartic", NSGS, .inner = LOCAL(QUARTIC)),
    SPATIAL("NSGS-FB", NSGS, .inner = SICONOS_FRICTION_3D_NCPGlockerFBNewton),
    SPATIAL("NSGSV", SICONOS_FRICTION_3D_NSGSV, .inner = LOCAL(ProjectionOnCone_velocity)),
    /* proximal points, by what solves the inner problem */
    SPATIAL("PROX-NSN", PROX),
    SPATIAL("PROX-NSN-hybrid", PROX, .inner = NEWTON, .inner_set = {HYBRID(VI_EG_NSN)}),
    SPATIAL("PROX-NSGS", PROX, .inner = NSGS),
    SPATIAL("PROX-reg-NSN", PROX, .set = {REGULARISED}),
    SPATIAL("PROX-reg-NSGS", PROX, .inner = NSGS, .set = {REGULARISED}),
    /* fixed points, with convex problems or projections inside */
    SPATIAL("TFP-PLI", SICONOS_FRICTION_3D_TFP),
    SPATIAL("TFP-VI-FPP", SICONOS_FRICTION_3D_TFP, .inner = SICONOS_FRICTION_3D_VI_FPP_Cylinder),
    SPATIAL("TFP-PG", SICONOS_FRICTION_3D_TFP, .inner = SICONOS_FRICTION_3D_CONVEXQP_PG_CYLINDER),
    SPATIAL("PFP", SICONOS_FRICTION_3D_PFP),
    SPATIAL("ACLMFP", SICONOS_FRICTION_3D_ACLMFP),
    SPATIAL("DSFP", SICONOS_FRICTION_3D_DSFP),
    SPATIAL("FPP", SICONOS_FRICTION_3D_FPP),
    SPATIAL("EG", SICONOS_FRICTION_3D_EG),
    SPATIAL("VI-FPP", SICONOS_FRICTION_3D_VI_FPP),
    SPATIAL("VI-EG", SICONOS_FRICTION_3D_VI_EG),
    SPATIAL("HP", SICONOS_FRICTION_3D_HP),
    /* splitting */
    SPATIAL("ADMM", SICONOS_FRICTION_3D_ADMM),
    SPATIAL("ADMM-balanced", SICONOS_FRICTION_3D_ADMM, .set = {RHO(RESIDUAL_BALANCING), FIRST_RHO(NORM_INF)}),
    SPATIAL("ADMM-scaled", SICONOS_FRICTION_3D_ADMM, .set = {RHO(SCALED_RESIDUAL_BALANCING)}),
    /* Newton's method on all contacts at once */
    SPATIAL("NSN-AC", NEWTON),
    SPATIAL("NSN-AC-std", NEWTON, .set = {FORMULATION(ALARTCURNIER_STD)}),
    SPATIAL("NSN-JM", NEWTON, .set = {FORMULATION(JEANMOREAU_GENERATED)}),
    SPATIAL("NSN-JM-std", NEWTON, .set = {FORMULATION(JEANMOREAU_STD)}),
    SPATIAL("NSN-AC-armijo", NEWTON, .set = {SEARCH(ARMIJO)}),
    SPATIAL("NSN-AC-full-step", NEWTON, .set = {SEARCH(NO)}),
    SPATIAL("NSN-AC-hybrid", NEWTON, .set = {HYBRID(VI_EG_NSN)}),
    SPATIAL("NSN-AC-new", SICONOS_FRICTION_3D_NSN_AC_TEST),
    SPATIAL("NSN-FB", SICONOS_FRICTION_3D_NSN_FB),
    SPATIAL("NSN-NM", SICONOS_FRICTION_3D_NSN_NM),
    /* the plane */
    PLANAR("2D-NSGS", SICONOS_FRICTION_2D_NSGS),
    PLANAR("2D-CPG", SICONOS_FRICTION_2D_CPG),
    PLANAR("2D-Lemke", SICONOS_FRICTION_2D_LEMKE),
    PLANAR("2D-enumerate", SICONOS_FRICTION_2D_ENUM, .most_contacts = 8),
    /* rolling friction */
    ROLLING("rolling-NSGS", SICONOS_ROLLING_FRICTION_3D_NSGS),
    ROLLING("rolling-NSGS-P", SICONOS_ROLLING_FRICTION_3D_NSGS,
            .inner = SICONOS_ROLLING_FRICTION_3D_ONECONTACT_ProjectionOnCone),
    ROLLING("rolling-ADMM", SICONOS_ROLLING_FRICTION_3D_ADMM),
    GLOBAL_ROLLING("global-rolling-NSGS", SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR),
    /* the global form; WR: it is reduced to contact space first */
    GLOBAL("global-NSGS-WR", WIDE(NSGS_WR)),
    GLOBAL("global-NSGSV-WR", WIDE(NSGSV_WR)),
    GLOBAL("global-PROX-WR", WIDE(PROX_WR)),
    GLOBAL("global-DSFP-WR", WIDE(DSFP_WR)),
    GLOBAL("global-TFP-WR", WIDE(TFP_WR)),
    GLOBAL("global-NSN-AC-WR", WIDE(NSN_AC_WR)),
    GLOBAL("global-ADMM-WR", WIDE(ADMM_WR)),
    GLOBAL("global-NSGS", WIDE(NSGS)),
    GLOBAL("global-NSN-AC", WIDE(NSN_AC)),
    GLOBAL("global-VI-FPP", WIDE(VI_FPP)),
    GLOBAL("global-VI-EG", WIDE(VI_EG)),
    GLOBAL("global-ACLMFP", WIDE(ACLMFP)),
    GLOBAL("global-ADMM", WIDE(ADMM)),
    GLOBAL("global-ADMM-balanced", WIDE(ADMM), .set = {RHO(RESIDUAL_BALANCING)}),
};

const int ss_siconos_variant_count = sizeof ss_siconos_variants / sizeof *ss_siconos_variants;
