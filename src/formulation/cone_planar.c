/* A planar problem as a spatial one. Body dofs (x, y, theta) become 0, 1 and 5 of six; mass along z and
 * moments of inertia about x and y are those of the plane, so that the body is isotropic. The columns (N, T)
 * of a contact keep their numbers, and the second tangent is T2 = n x t = sigma z, sigma = det [n t] = +1 or
 * -1. Its lever arm follows from r x n = A_N and r x t = A_T (scalars): r = sigma (A_T n - A_N t). Nothing
 * moves along z, so T2 carries no impulse. */
#include "formulation/cone_to_frame.h"

#include "linalg/triplets.h"

static const int spatial_dof[3] = {0, 1, 5};

static int map_dof(int dof)
{
    return 6 * (dof / 3) + spatial_dof[dof % 3];
}

static void add_mapped(ss_triplets *to, const ss_sparse *from, int per_contact, bool square)
{
    for (int j = 0; j < from->cols; j++) {
        int column = square ? map_dof(j) : j / per_contact * (per_contact == 2 ? 3 : 1) + j % per_contact;
        for (int at = from->start[j]; at < from->start[j + 1]; at++) {
            ss_triplets_add(to, map_dof(from->row[at]), column, from->value[at]);
        }
    }
}

static ss_sparse *embed_mass(const ss_cone *planar, ss_error *err)
{
    ss_triplets M;
    int n = planar->dofs;
    if (!ss_triplets_start(&M, (size_t)ss_sparse_nonzeros(planar->M) + (size_t)n, err)) return NULL;
    add_mapped(&M, planar->M, 1, true);
    for (int b = 0; b < n / 3; b++) {
        double inertia = ss_sparse_get(planar->M, 3 * b + 2, 3 * b + 2);
        ss_triplets_add(&M, 6 * b + 2, 6 * b + 2, ss_sparse_get(planar->M, 3 * b, 3 * b));
        ss_triplets_add(&M, 6 * b + 3, 6 * b + 3, inertia);
        ss_triplets_add(&M, 6 * b + 4, 6 * b + 4, inertia);
    }
    return ss_triplets_finish(&M, 2 * n, 2 * n, err);
}

static void read_column(const ss_sparse *H, int column, int body, double values[3])
{
    for (int i = 0; i < 3; i++) values[i] = ss_sparse_get(H, 3 * body + i, column);
}

static ss_sparse *embed_contacts(const ss_cone *planar, ss_error *err)
{
    ss_triplets H;
    size_t count = (size_t)ss_sparse_nonzeros(planar->H) + 6 * (size_t)planar->contacts;
    if (!ss_triplets_start(&H, count, err)) return NULL;
    add_mapped(&H, planar->H, 2, false);
    for (int c = 0; c < planar->contacts; c++) {
        /* The last body that a contact touches is b, the first one a; one alone is b. */
        int bodies[2] = {-1, -1}, first = 2 * c;
        for (int at = planar->H->start[first]; at < planar->H->start[first + 2]; at++) {
            int body = planar->H->row[at] / 3;
            if (bodies[1] < body) bodies[1] = body;
            if (bodies[0] < 0 || body < bodies[0]) bodies[0] = body;
        }

        /* The column T2 on each of them. */
        for (int k = bodies[0] == bodies[1] ? 1 : 0; k < 2 && bodies[1] >= 0; k++) {
            int row = 6 * bodies[k], column = 3 * c + 2;
            double N[3], T[3], sign = k == 0 ? -1.0 : 1.0;
            read_column(planar->H, first, bodies[k], N);
            read_column(planar->H, first + 1, bodies[k], T);
            if (T[0] == 0.0 && T[1] == 0.0 && T[2] == 0.0) continue; // a limit
            double sigma = N[0] * T[1] - N[1] * T[0];
            double r[2] = {sigma * (T[2] * N[0] - N[2] * T[0]), sigma * (T[2] * N[1] - N[2] * T[1])};
            ss_triplets_add(&H, row + 2, column, sign * sigma);
            ss_triplets_add(&H, row + 3, column, sign * sigma * r[1]);
            ss_triplets_add(&H, row + 4, column, -sign * sigma * r[0]);
        }
    }
    return ss_triplets_finish(&H, 2 * planar->dofs, 3 * planar->contacts, err);
}

ss_cone *ss_cone_embed(const ss_cone *planar, ss_error *err)
{
    int dofs = 2 * planar->dofs;
    ss_cone *spatial = ss_cone_create(SS_CONE_GLOBAL, 3, planar->contacts, dofs, planar->equations, err);
    if (!spatial) return NULL;
    for (int i = 0; i < planar->dofs; i++) spatial->f[map_dof(i)] = planar->f[i];
    for (int c = 0; c < planar->contacts; c++) {
        spatial->mu[c] = planar->mu[c];
        for (int j = 0; j < 2; j++) spatial->w[3 * c + j] = planar->w[2 * c + j];
    }
    for (int i = 0; i < planar->equations; i++) spatial->b[i] = planar->b[i];

    spatial->M = embed_mass(planar, err);
    spatial->H = spatial->M ? embed_contacts(planar, err) : NULL;
    bool good = spatial->H != NULL;
    if (good && planar->equations) {
        ss_triplets G;
        good = ss_triplets_start(&G, (size_t)ss_sparse_nonzeros(planar->G), err);
        if (good) add_mapped(&G, planar->G, 1, false);
        if (good) spatial->G = ss_triplets_finish(&G, dofs, planar->equations, err);
        good = spatial->G != NULL;
    }
    if (good) return spatial;
    ss_cone_destroy(spatial);
    return NULL;
}
