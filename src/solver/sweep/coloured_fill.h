/* solver/sweep/coloured_fill.h - part of coloured_kernel.h: the numbers of a batch from the rows of the
 * problem. */
/* j L for the angular part j of a row */
INLINE void scale_turn(const vec *L, const vec j[3], vec scaled[3])
{
    scaled[0] = j[0] * L[0] + j[1] * L[1] + j[2] * L[3];
    scaled[1] = j[1] * L[2] + j[2] * L[4];
    scaled[2] = j[2] * L[5];
}

/* The rows of the lanes, row by row; returns the lanes whose bodies are not pushed by opposite impulses. */
INLINE mask fill_rows(const ss_batch_source *from, int at, ss_batch *batch)
{
    vec root[2][8];
    mask odd = {0};
    gather(from->root[0] + at, 8, root[0]);
    gather(from->root[1] + at, 8, root[1]);
    PUT(batch->root[0], root[0][0]);
    PUT(batch->root[1], root[1][0]);
    mask both = (root[0][0] > 0.0) & (root[1][0] > 0.0), second = root[1][0] > 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row[KERNEL_WIDTH];
        vec j[12], scaled[3];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = from->row[at + lane] + 12 * i;
        gather(row, 12, j);
        UNROLL for (int c = 0; c < 3; c++)
        {
            odd |= both & (j[c] != -j[6 + c]);
            PUT(batch->direction[i][c], choose(second, j[6 + c], -j[c]));
        }
        UNROLL for (int side = 0; side < 2; side++)
        {
            scale_turn(root[side] + 1, j + 6 * side + 3, scaled);
            UNROLL for (int c = 0; c < 3; c++) PUT(batch->turn[side][i][c], scaled[c]);
        }
    }
    return odd;
}

/* A_ij without compliance */
INLINE vec couple(const ss_batch *batch, int at, int i, int j)
{
    vec root[2] = {GET(batch->root[0]), GET(batch->root[1])}, straight = {0}, turned = {0};
    UNROLL for (int c = 0; c < 3; c++)
    {
        straight += GET(batch->direction[i][c]) * GET(batch->direction[j][c]);
        turned += GET(batch->turn[0][i][c]) * GET(batch->turn[0][j][c]) +
                  GET(batch->turn[1][i][c]) * GET(batch->turn[1][j][c]);
    }
    return (root[0] * root[0] + root[1] * root[1]) * straight + turned;
}

/* Without friction tangents stay what they are: zero. Returns the lanes where the solution above could fail:
 * A_cc nearly singular, or friction that acts on the normal row so strongly that 1 + mu n.t may vanish. */
INLINE mask fill_own(const vec compliance[3], int at, ss_batch *batch)
{
    static const double singular = 1e-6, steep = 0.9;
    vec mu = GET(batch->mu);
    mask rough = mu >= SS_NO_FRICTION;
    vec nn = couple(batch, at, 0, 0) + compliance[0];
    mask usable = nn > 0.0;
    vec normal = where(usable, 1.0 / nn);
    vec skew0 = where(rough, couple(batch, at, 0, 1) * normal),
        skew1 = where(rough, couple(batch, at, 0, 2) * normal);
    vec A0 = choose(rough, couple(batch, at, 1, 1) + compliance[1] - skew0 * skew0 * nn, nn);
    vec A1 = where(rough, couple(batch, at, 1, 2) - skew0 * skew1 * nn);
    vec A2 = choose(rough, couple(batch, at, 2, 2) + compliance[2] - skew1 * skew1 * nn, nn);
    vec trace = A0 + A2, determinant = A0 * A2 - A1 * A1, lean = mu * mu * (skew0 * skew0 + skew1 * skew1);
    usable &= (determinant > singular * trace * trace) & (lean < steep * steep) & (mu < HUGE_VAL);
    PUT(batch->normal, normal);
    PUT(batch->skew[0], skew0);
    PUT(batch->skew[1], skew1);
    PUT(batch->tangent[0], A0);
    PUT(batch->tangent[1], A1);
    PUT(batch->tangent[2], A2);
    PUT(batch->inverse, where(usable & rough, 1.0 / determinant));
    PUT(batch->slip, 0.25 * trace);
    return ~usable;
}

/* Steps instead: 1 / A_NN and 1 / lambda_max(A_TT), times the relaxation. Returns the lanes that need
 * something else. */
INLINE mask fill_steps(const vec compliance[3], double relaxation, int at, ss_batch *batch)
{
    vec nn = couple(batch, at, 0, 0) + compliance[0], b = couple(batch, at, 1, 2);
    vec a = couple(batch, at, 1, 1) + compliance[1], d = couple(batch, at, 2, 2) + compliance[2];
    vec half = 0.5 * (a - d), largest = 0.5 * (a + d) + KERNEL_ROOT(half * half + b * b);
    mask usable = (nn > 0.0) & (GET(batch->mu) < HUGE_VAL);
    PUT(batch->normal, where(nn > 0.0, relaxation / nn));
    PUT(batch->skew[0], couple(batch, at, 0, 1));
    PUT(batch->skew[1], couple(batch, at, 0, 2));
    PUT(batch->tangent[0], a);
    PUT(batch->tangent[1], b);
    PUT(batch->tangent[2], d);
    PUT(batch->inverse, where(largest > 0.0, relaxation / largest));
    PUT(batch->slip, nn);
    return ~usable;
}

KERNEL static unsigned fill(const ss_batch_source *from, ss_batch *batch)
{
    unsigned bits = 0;
    for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) {
        vec compliance[3];
        UNROLL for (int i = 0; i < 3; i++) compliance[i] = GET(from->compliance[i]);
        mask odd = fill_rows(from, at, batch);
        odd |= from->method == SS_BATCH_EXACT ? fill_own(compliance, at, batch)
                                              : fill_steps(compliance, from->relaxation, at, batch);
        for (int lane = 0; lane < KERNEL_WIDTH; lane++) bits |= odd[lane] ? 1u << (at + lane) : 0;
    }
    return bits;
}
