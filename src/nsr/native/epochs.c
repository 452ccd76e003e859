/* Full-batch epochs of one member: loss, gradient and Adam update, written out (Appendix A has the derivatives).

   Rows are taken sixteen at a time through the forward and the backward pass, so that everything stays in the
   fastest cache; gradients are summed in sixteen parts each and added up at the end of an epoch. */
#include <math.h>
#include <stdlib.h>
#include "vector.h"

enum { REGISTER, MLP };                                        /* gates */
enum { COMPARISON, PIECEWISE, MINIMUM, COUNT, NODE };          /* what the gate is part of */
enum { ABSOLUTE, SQUARED, ENTROPY };                           /* losses */

typedef struct {
    int32_t gate, inputs, units; /* of the gate */
    int32_t head, loss;
    int32_t columns; /* numbers in a row of x */
    int32_t rows;    /* a multiple of WIDTH; those added have weight 0 */
    int32_t message; /* NODE: whether the message is learned */
    float scale;     /* lambda */
} Problem;

/* Where the parameters lie: the gate's in the order in which torch lists them, then those of the NAU. */
typedef struct {
    int v1, v2, w_sign, w_zero, bias;   /* register */
    int v, bias_v, h, bias_h;           /* MLP */
    int arms, bias_arms;                /* NAU: weight (outputs, inputs), bias */
    int all;                            /* number of parameters */
} Places;

static Places places_of(const Problem *p) {
    const int n = p->inputs, r = p->units;
    Places at = {0};
    int next;
    if (p->gate == REGISTER) {
        at.v2 = n * r, at.w_sign = 2 * n * r, at.w_zero = at.w_sign + r, at.bias = at.w_zero + r;
        next = at.bias + r;
    } else {
        at.bias_v = n * r, at.h = at.bias_v + r, at.bias_h = at.h + r;
        next = at.bias_h + 1;
    }
    at.arms = next;
    const int outputs = p->head == PIECEWISE ? 2 : p->head == NODE && p->message ? 1 : 0;
    const int inputs = p->head == PIECEWISE ? n : 2;
    at.bias_arms = at.arms + outputs * inputs;
    at.all = at.bias_arms + outputs;
    return at;
}

int32_t parameters_of(const Problem *p) { return places_of(p).all; }

typedef struct {
    const Problem *problem;
    Places at;
    const float *p;               /* parameters */
    int stride;                   /* units, filled to whole vectors */
    float *first, *second;        /* register: softmax of v1 and v2, (inputs, stride) */
    float *selection;             /* register: their difference */
    int *reference;               /* register: the input that each unit measures from */
    vec *sum;                     /* gradients, in sixteen parts; those of a register by selection in place of v1 */
} Epoch;

/* Softmax over the inputs of each unit, sixteen units at a time. */
static void softmax(const float *v, int n, int units, int stride, float *share) {
    for (int r = 0; r < units; r += WIDTH) {
        vec most = load(v + r), sum = all(0);
        for (int k = 1; k < n; k++) {
            const vec next = load(v + k * units + r);
            most = either(next > most, next, most);
        }
        for (int k = 0; k < n; k++) {
            const vec power = exponential(load(v + k * units + r) - most);
            store(share + k * stride + r, power);
            sum += power;
        }
        for (int k = 0; k < n; k++) store(share + k * stride + r, load(share + k * stride + r) / sum);
    }
}

static void select_operands(Epoch *e) {
    const int n = e->problem->inputs, units = e->problem->units;
    const float *v1 = e->p + e->at.v1;
    softmax(v1, n, units, e->stride, e->first);
    softmax(e->p + e->at.v2, n, units, e->stride, e->second);
    for (int i = 0; i < n * e->stride; i += WIDTH)
        store(e->selection + i, load(e->first + i) - load(e->second + i));
    for (int r = 0; r < units; r++) {
        int most = 0;
        for (int k = 1; k < n; k++) most = v1[k * units + r] > v1[most * units + r] ? k : most;
        e->reference[r] = most;
    }
}

/* The gate's logit for sixteen rows. ``kept`` holds what the backward pass needs: a number per unit. */
INLINE vec register_logit(const Epoch *e, const vec *x, vec *kept, int n) {
    const int units = e->problem->units;
    const float *w_sign = e->p + e->at.w_sign, *w_zero = e->p + e->at.w_zero, *bias = e->p + e->at.bias;
    const vec scale = all(e->problem->scale);
    vec z = all(0);
    for (int r = 0; r < units; r++) {
        const int from = e->reference[r];
        vec difference = all(0);
        for (int k = 0; k < n; k++)
            if (k != from) difference = fused(all(e->selection[k * e->stride + r]), x[k] - x[from], difference);
        const vec step = tangent(scale * difference);
        kept[r] = step;
        z = fused(all(w_zero[r]), fused(all(-2) * step, step, all(1)), fused(all(w_sign[r]), step, z + all(bias[r])));
    }
    return z;
}

/* Add the gradients of the parameters, and those of the inputs to ``by_x`` unless it is null. */
INLINE void register_backward(Epoch *e, const vec *x, const vec *kept, vec by_z, vec *by_x, int n) {
    const int units = e->problem->units;
    const float *w_sign = e->p + e->at.w_sign, *w_zero = e->p + e->at.w_zero;
    const vec scale = all(e->problem->scale);
    for (int r = 0; r < units; r++) {
        const vec step = kept[r], by_step = by_z * fused(all(-4 * w_zero[r]), step, all(w_sign[r]));
        const vec by_difference = by_step * fused(-step, step, all(1)) * scale;
        e->sum[e->at.w_sign + r] = fused(by_z, step, e->sum[e->at.w_sign + r]);
        e->sum[e->at.w_zero + r] = fused(by_z, fused(all(-2) * step, step, all(1)), e->sum[e->at.w_zero + r]);
        const int from = e->reference[r];
        for (int k = 0; k < n; k++) {
            vec *by_selection = e->sum + e->at.v1 + k * units + r;
            if (k != from) *by_selection = fused(by_difference, x[k] - x[from], *by_selection);
            if (by_x) by_x[k] = fused(by_difference, all(e->selection[k * e->stride + r]), by_x[k]);
        }
    }
    e->sum[e->at.bias] += by_z; /* the same for every unit */
}

INLINE vec mlp_logit(const Epoch *e, const vec *x, vec *kept, int n) {
    const int units = e->problem->units;
    const float *v = e->p + e->at.v, *bias_v = e->p + e->at.bias_v, *h = e->p + e->at.h;
    vec z = all(e->p[e->at.bias_h]);
    for (int r = 0; r < units; r++) {
        vec sum = all(bias_v[r]);
        for (int k = 0; k < n; k++) sum = fused(all(v[k * units + r]), x[k], sum);
        kept[r] = sigmoid(sum);
        z = fused(kept[r], all(h[r]), z);
    }
    return z;
}

INLINE void mlp_backward(Epoch *e, const vec *x, const vec *kept, vec by_z, vec *by_x, int n) {
    const int units = e->problem->units;
    const float *v = e->p + e->at.v, *h = e->p + e->at.h;
    for (int r = 0; r < units; r++) {
        const vec hidden = kept[r], by_sum = by_z * all(h[r]) * ((all(1) - hidden) * hidden);
        e->sum[e->at.h + r] = fused(by_z, hidden, e->sum[e->at.h + r]);
        e->sum[e->at.bias_v + r] += by_sum;
        for (int k = 0; k < n; k++) {
            vec *by_v = e->sum + e->at.v + k * units + r;
            *by_v = fused(by_sum, x[k], *by_v);
            if (by_x) by_x[k] = fused(by_sum, all(v[k * units + r]), by_x[k]);
        }
    }
    e->sum[e->at.bias_h] += by_z;
}

/* Most gates have two inputs: a copy of the loops for these. */
INLINE vec logit(const Epoch *e, const vec *x, vec *kept) {
    const int n = e->problem->inputs;
    if (e->problem->gate == REGISTER)
        return n == 2 ? register_logit(e, x, kept, 2) : register_logit(e, x, kept, n);
    return n == 2 ? mlp_logit(e, x, kept, 2) : mlp_logit(e, x, kept, n);
}

INLINE void backward(Epoch *e, const vec *x, const vec *kept, vec by_z, vec *by_x) {
    const int n = e->problem->inputs;
    if (e->problem->gate == REGISTER) {
        if (n == 2) register_backward(e, x, kept, by_z, by_x, 2);
        else register_backward(e, x, kept, by_z, by_x, n);
    } else {
        if (n == 2) mlp_backward(e, x, kept, by_z, by_x, 2);
        else mlp_backward(e, x, kept, by_z, by_x, n);
    }
}

/* The gradient of the loss of an output, times the weight of its row; the loss itself is added to ``loss``. */
INLINE vec loss_of(const Problem *p, vec output, vec target, vec weight, vec *loss) {
    const vec error = output - target;
    if (p->loss == SQUARED) {
        *loss += weight * error * error;
        return all(2) * error * weight;
    }
    *loss += weight * absolute(error);
    return where(error != all(0), with_sign(weight, error));
}

typedef struct { vec y, not_y; } Both;

INLINE vec slope(vec y) { return (all(1) - y) * y; }

static void comparison(Epoch *e, const vec *x, vec target, vec weight, vec *kept, vec *loss, int last) {
    Both out;
    const vec z = logit(e, x, kept);
    sigmoids(z, &out.y, &out.not_y);
    vec by_z;
    if (e->problem->loss == ENTROPY) {
        by_z = weight * (out.y - target);
        if (last)
            for (int i = 0; i < WIDTH; i++)
                (*loss)[i] += weight[i] * ((z[i] > 0 ? z[i] : 0) - z[i] * target[i] + log1pf(expf(-fabsf(z[i]))));
    } else {
        by_z = loss_of(e->problem, out.y, target, weight, loss) * slope(out.y);
    }
    backward(e, x, kept, by_z, NULL);
}

/* y A(x) + (1 - y) B(x), Section 4.3. */
static void piecewise(Epoch *e, const vec *x, vec target, vec weight, vec *kept, vec *loss) {
    const int n = e->problem->inputs;
    const float *arms = e->p + e->at.arms, *bias = e->p + e->at.bias_arms;
    Both out;
    sigmoids(logit(e, x, kept), &out.y, &out.not_y);
    vec a = all(bias[0]), b = all(bias[1]);
    for (int k = 0; k < n; k++) a += all(arms[k]) * x[k], b += all(arms[n + k]) * x[k];
    const vec by = loss_of(e->problem, out.y * a + out.not_y * b, target, weight, loss);
    const vec by_a = by * out.y, by_b = by * out.not_y;
    for (int k = 0; k < n; k++) {
        e->sum[e->at.arms + k] += by_a * x[k];
        e->sum[e->at.arms + n + k] += by_b * x[k];
    }
    e->sum[e->at.bias_arms] += by_a;
    e->sum[e->at.bias_arms + 1] += by_b;
    backward(e, x, kept, by * a * slope(out.y) - by * b * slope(out.not_y), NULL);
}

/* c <- c + y(first, x_i), Section 4.5. */
static void count(Epoch *e, const vec *x, vec target, vec weight, vec *kept, vec *loss) {
    const int steps = e->problem->columns - 1, units = e->problem->units;
    vec total_count = all(0), y[steps];
    for (int i = 0; i < steps; i++) {
        const vec both[2] = {x[0], x[i + 1]};
        y[i] = sigmoid(logit(e, both, kept + i * units));
        total_count += y[i];
    }
    const vec by = loss_of(e->problem, total_count, target, weight, loss);
    for (int i = 0; i < steps; i++) {
        const vec both[2] = {x[0], x[i + 1]};
        backward(e, both, kept + i * units, by * slope(y[i]), NULL);
    }
}

/* m <- y m + (1 - y) x_i over ``steps`` items, each row over as many as ``length`` says (Sections 4.5 and 4.6).
   The gradients of the items go to ``by_items`` unless it is null. */
static void minimum(Epoch *e, vec state, const vec *items, int steps, mask length, vec target, vec weight, vec *kept,
                    vec *loss, vec *by_items) {
    const int units = e->problem->units;
    vec states[steps + 1];
    Both out[steps + 1];
    states[0] = state;
    for (int i = 0; i < steps; i++) {
        const mask present = length > same(i);
        const vec both[2] = {states[i], either(present, items[i], states[i])};
        sigmoids(logit(e, both, kept + i * units), &out[i].y, &out[i].not_y);
        states[i + 1] = either(present, out[i].y * both[0] + out[i].not_y * both[1], states[i]);
    }
    vec by = loss_of(e->problem, states[steps], target, weight, loss);
    for (int i = steps - 1; i >= 0; i--) {
        const mask present = length > same(i);
        const vec both[2] = {states[i], either(present, items[i], states[i])};
        const vec here = where(present, by);
        const vec by_z = here * both[0] * slope(out[i].y) - here * both[1] * slope(out[i].not_y);
        vec by_x[2] = {here * out[i].y, here * out[i].not_y};
        backward(e, both, kept + i * units, by_z, by_x);
        by = either(present, by_x[0], by);
        if (by_items) by_items[i] = where(present, by_x[1]);
    }
}

/* The update of a node in one round: a fold over its distance and its messages (Section 4.6). Rows are a count, a
   distance, and for each message the distance it comes from and the weight of its edge. */
static void node(Epoch *e, const vec *x, vec target, vec weight, vec *kept, vec *loss) {
    const int most = e->problem->columns / 2 - 1, learned = e->problem->message;
    const float *w = e->p + e->at.arms, bias = learned ? e->p[e->at.bias_arms] : 0;
    mask length;
    int steps = 0;
    for (int i = 0; i < WIDTH; i++) {
        length[i] = (int32_t)x[0][i];
        if (weight[i] != 0 && length[i] > steps) steps = length[i];
    }
    steps = steps < most ? steps : most;
    vec items[most + 1], by_items[most + 1];
    for (int i = 0; i < steps; i++) {
        const vec from = x[2 + 2 * i], edge = x[3 + 2 * i];
        items[i] = learned ? (all(w[0]) * from + all(w[1]) * edge) + all(bias) : from + edge;
    }
    minimum(e, x[1], items, steps, length, target, weight, kept, loss, learned ? by_items : NULL);
    if (!learned) return;
    for (int i = 0; i < steps; i++) {
        e->sum[e->at.arms] += by_items[i] * x[2 + 2 * i];
        e->sum[e->at.arms + 1] += by_items[i] * x[3 + 2 * i];
        e->sum[e->at.bias_arms] += by_items[i];
    }
}

/* From sums of sixteen parts to the gradient of every parameter. */
static void finish(const Epoch *e, float *gradient) {
    const int n = e->problem->inputs, units = e->problem->units, stride = e->stride;
    for (int i = 0; i < e->at.all; i += WIDTH) store(gradient + i, totals(e->sum + i));
    if (e->problem->gate != REGISTER) return;
    for (int r = 1; r < units; r++) gradient[e->at.bias + r] = gradient[e->at.bias];
    float *v1 = gradient + e->at.v1, *v2 = gradient + e->at.v2;
    for (int r = 0; r < units; r++) {
        float first = 0, second = 0;
        for (int k = 0; k < n; k++) {
            first += e->first[k * stride + r] * v1[k * units + r];
            second += e->second[k * stride + r] * v1[k * units + r];
        }
        for (int k = 0; k < n; k++) {
            const float by = v1[k * units + r];
            v1[k * units + r] = e->first[k * stride + r] * (by - first);
            v2[k * units + r] = -e->second[k * stride + r] * (by - second);
        }
    }
}

/* Adam with torch's defaults; weights of a NAU stay in [-1, 1] and are pulled towards integers. */
static void adam(const Epoch *e, float *p, float *mean, float *square, const float *gradient, const float *factors) {
    const vec rate = all(factors[0]), root = all(factors[1]);
    const int padded = (e->at.all + WIDTH - 1) / WIDTH * WIDTH;
    for (int i = 0; i < padded; i += WIDTH) {
        const vec g = load(gradient + i), m = load(mean + i), s = load(square + i);
        const vec new_mean = m + all(0.1f) * (g - m), new_square = all(0.999f) * s + all(0.001f) * (g * g);
        store(mean + i, new_mean);
        store(square + i, new_square);
        store(p + i, load(p + i) - rate * new_mean / (square_root(new_square) / root + all(1e-8f)));
    }
    for (int i = e->at.arms; i < e->at.bias_arms; i++) {
        float value = p[i] < -1 ? -1 : p[i] > 1 ? 1 : p[i];
        float off = value - nearest(all(value))[0];
        off = off < -factors[2] ? -factors[2] : off > factors[2] ? factors[2] : off;
        p[i] = value - off;
    }
}

/* Train one member for some epochs, in place. ``p``, ``mean`` and ``square`` are filled with zeros to whole vectors,
   and one more; x is (columns, rows); ``factors`` has three numbers per epoch. Returns the loss before the last step, or
   -1 if there is no memory. */
float train(const Problem *problem, float *p, float *mean, float *square, const float *x, const float *y,
            const float *weight, const float *factors, int32_t epochs) {
    const uint64_t denormals = flush_denormals();
    const int columns = problem->columns, n = problem->inputs, units = problem->units, rows = problem->rows;
    Epoch e = {.problem = problem, .at = places_of(problem), .p = p, .stride = (units + WIDTH - 1) / WIDTH * WIDTH};
    const int padded = (e.at.all + WIDTH - 1) / WIDTH * WIDTH, steps = columns; /* steps of a loop: fewer than columns */
    vec *vectors = aligned_alloc(sizeof(vec), sizeof(vec) * (padded + columns + (size_t)steps * units));
    float *numbers = calloc(padded + 3 * n * e.stride, sizeof(float));
    int *reference = calloc(units, sizeof(int));
    vec loss = all(-1.0f / WIDTH);
    if (vectors && numbers && reference) {
        float *gradient = numbers;
        e.first = numbers + padded, e.second = e.first + n * e.stride, e.selection = e.second + n * e.stride;
        e.reference = reference, e.sum = vectors;
        vec *row = vectors + padded, *kept = row + columns;
        for (int epoch = 0; epoch < epochs; epoch++) {
            const int last = epoch == epochs - 1;
            loss = all(0);
            for (int i = 0; i < padded; i++) e.sum[i] = all(0);
            if (problem->gate == REGISTER) select_operands(&e);
            for (int at = 0; at < rows; at += WIDTH) {
                for (int k = 0; k < columns; k++) row[k] = load(x + (size_t)k * rows + at);
                const vec target = load(y + at), share = load(weight + at);
                switch (problem->head) {
                case COMPARISON: comparison(&e, row, target, share, kept, &loss, last); break;
                case PIECEWISE: piecewise(&e, row, target, share, kept, &loss); break;
                case COUNT: count(&e, row, target, share, kept, &loss); break;
                case MINIMUM:
                    minimum(&e, row[0], row + 1, columns - 1, same(columns), target, share, kept, &loss, NULL);
                    break;
                default: node(&e, row, target, share, kept, &loss);
                }
            }
            finish(&e, gradient);
            adam(&e, p, mean, square, gradient, factors + 3 * epoch);
        }
    }
    free(vectors), free(numbers), free(reference);
    restore_denormals(denormals);
    return total(loss);
}
