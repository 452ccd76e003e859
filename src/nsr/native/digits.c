/* Section 4.7: steps of training on batches of images, all pairs of which are compared.

   Every step reads its images once, compares all pairs of the numbers (or classifies the images), and updates all
   weights with Adam. digits_reader.h holds what depends on the side of the images; here is what does not. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include "vector.h"

enum { IMAGES = 50, ACROSS_IMAGES = 4, COLUMNS = WIDTH * ACROSS_IMAGES }; /* images of a batch; columns of pairs */
enum { CLASSES = 10, FIRST = 16, SECOND = 32, BLOCK = 3, HIDDEN = 64 };   /* sizes of the reader's layers */
enum { UNITS = 10, NEURONS = 20 };                                        /* of the register and of the MLP */
enum { INSIDE = BLOCK * BLOCK * FIRST };                                  /* numbers that the second layer takes */
enum { CLASSIFIER, REGISTER, MLP };
enum { MAE, BCE };

#if defined(__AVX512F__)
#define TILE(wide, narrow) wide /* 32 registers of 16 numbers */
#else
#define TILE(wide, narrow) narrow /* 16 registers of 8 numbers or 4 */
#endif
#define UNROLL _Pragma("GCC unroll 32")
enum { LARGEST_TILE = 25 };

/* What a training minimises. The tables are indexed by the digits of the first and the second image of a pair. */
struct objective {
    int32_t model, loss, balanced, unused;
    float shown[CLASSES][CLASSES], holds[CLASSES][CLASSES];
    float levels[256]; /* the standardised value of each pixel value */
};

/* What changes from one step to the next. */
struct step {
    float reader_rate, comparator_rate; /* learning rates, over Adam's first bias correction */
    float momentum;                     /* 1 - beta1 */
    float correction;                   /* 1 / root of Adam's second bias correction */
    float scale;                        /* lambda of the register */
};

/* Lanes beyond the units, and beyond the neurons, are zero and stay zero. */
struct comparator {
    union {
        struct { float v1[2][WIDTH], v2[2][WIDTH], sign[WIDTH], zero[WIDTH], bias[WIDTH]; } nsr;
        struct { float v[2][2 * WIDTH], bias_v[2 * WIDTH], h[2 * WIDTH], bias[WIDTH]; } mlp;
        float all[9 * WIDTH];
    };
};

/* What is known about the pairs of a batch, by the digit of the first image: columns are the second images. */
struct pairs {
    int32_t count, digit[COLUMNS - 1];
    float weight[CLASSES][COLUMNS], truth[CLASSES][COLUMNS];
};

/* out = start + x w, with the tile of rows x columns (of 16 numbers) in registers; each sum runs over depth in order.
   Then ReLU, or zero where the gate is not positive. Without start the sums begin at zero. */
INLINE void product(const int rows, const int tile_rows, const int columns, const int tile_columns, const int depth,
                    const float *x, const long x_row, const long x_step, const float *w, const long w_row,
                    const float *start, const long start_row, float *out, const long out_row, const int relu,
                    const float *gate) {
    for (int c = 0; c < columns; c += tile_columns)
        for (int r = 0; r < rows; r += tile_rows) {
            vec sums[LARGEST_TILE]; /* of fixed size, else the compiler keeps it in memory */
            UNROLL for (int i = 0; i < tile_rows; i++)
                UNROLL for (int j = 0; j < tile_columns; j++)
                    sums[i * tile_columns + j] = start ? load(start + (r + i) * start_row + (c + j) * WIDTH) : all(0);
            for (int k = 0; k < depth; k++) {
                vec factors[LARGEST_TILE];
                UNROLL for (int j = 0; j < tile_columns; j++) factors[j] = load(w + k * w_row + (c + j) * WIDTH);
                UNROLL for (int i = 0; i < tile_rows; i++) {
                    const vec value = all(x[(r + i) * x_row + k * x_step]);
                    UNROLL for (int j = 0; j < tile_columns; j++) 
                        sums[i * tile_columns + j] = fused(value, factors[j], sums[i * tile_columns + j]);
                }
            }
            UNROLL for (int i = 0; i < tile_rows; i++)
                UNROLL for (int j = 0; j < tile_columns; j++) {
                    const long at = (r + i) * out_row + (c + j) * WIDTH;
                    vec sum = sums[i * tile_columns + j];
                    if (relu) sum = where(sum > all(0), sum);
                    if (gate) sum = where(load(gate + at) > all(0), sum);
                    store(out + at, sum);
                }
        }
}

/* The sum of the rows of a matrix. */
INLINE void sum_rows(const int rows, const int columns, const float *x, const long row, float *out) {
    for (int c = 0; c < columns; c++) {
        vec sum = all(0);
        for (int r = 0; r < rows; r++) sum += load(x + r * row + c * WIDTH);
        store(out + c * WIDTH, sum);
    }
}

INLINE void transpose(const int rows, const int columns, const float *x, float *out, const long out_row) {
    for (int c = 0; c < columns; c += WIDTH)
        for (int r = 0; r < rows; r += WIDTH)
            for (int j = 0; j < WIDTH; j++)
                for (int i = 0; i < WIDTH; i++) out[(c + j) * out_row + r + i] = x[(long)(r + i) * columns + c + j];
}

/* Adam with torch's defaults. */
INLINE void adam(const long count, float *x, const float *gradient, float *mean, float *square, float rate,
                 const struct step *step) {
    for (long i = 0; i < count; i += WIDTH) {
        const vec g = load(gradient + i), m = load(mean + i), v = load(square + i);
        const vec new_m = m + all(step->momentum) * (g - m), new_v = v * all(0.999f) + all(0.001f) * (g * g);
        store(mean + i, new_m);
        store(square + i, new_v);
        store(x + i, load(x + i) - all(rate) * new_m / (square_root(new_v) * all(step->correction) + all(1e-8f)));
    }
}

/* log(1 + e) for 0 <= e <= 1: the series of 2 atanh(e / (2 + e)). */
INLINE vec log_of_1_plus(vec e) {
    const vec s = e / (all(2) + e), z = s * s;
    vec p = all(1.0f / 15);
    for (int n = 13; n >= 1; n -= 2) p = p * z + all(1.0f / n);
    return all(2) * s * p;
}

/* The loss of 16 logits and its derivative, both times the weights. */
INLINE vec loss_of(int loss, vec z, vec truth, vec weight, vec *slope) {
    vec y, rest;
    sigmoids(z, &y, &rest);
    const vec difference = y - truth;
    if (loss == BCE) {
        *slope = difference * weight;
        const vec positive = where(z > all(0), z);
        return weight * (positive - z * truth + log_of_1_plus(exponential(-absolute(z))));
    }
    const mask right = difference == all(0);
    *slope = either(right, all(0), with_sign(weight, difference)) * y * rest;
    return absolute(difference) * weight;
}

INLINE vec first_of_two(const float *v) { /* softmax of two numbers, in every lane */
    const vec a = load(v), b = load(v + WIDTH), largest = either(a > b, a, b);
    const vec e = exponential(a - largest), f = exponential(b - largest);
    return e / (e + f);
}

/* The logits of a register for image i and 16 others: of weights times differences of numbers, units in order. */
INLINE vec register_logits(const struct comparator *c, const float *selection, float scale, vec difference, vec *bits) {
    vec z = all(0), zeros = all(0), biases = all(0);
    UNROLL for (int u = 0; u < UNITS; u++) {
        bits[u] = tangent(all(scale) * (all(selection[u]) * difference));
        z += all(c->nsr.sign[u]) * bits[u];
        zeros += all(c->nsr.zero[u]) * (all(1) - all(2) * (bits[u] * bits[u]));
        biases += all(c->nsr.bias[u]);
    }
    return z + zeros + biases;
}

INLINE vec mlp_logits(const struct comparator *c, float first, vec second, vec *hidden) {
    vec z = all(0);
    for (int u = 0; u < NEURONS; u++) {
        hidden[u] = sigmoid((all(c->mlp.v[0][u] * first) + all(c->mlp.v[1][u]) * second) + all(c->mlp.bias_v[u]));
        z += hidden[u] * all(c->mlp.h[u]);
    }
    return z + all(c->mlp.bias[0]);
}

/* The loss of all pairs; gradients of the comparator and of the numbers. */
static float register_step(const struct comparator *c, struct comparator *gradient, const struct pairs *pairs, int loss,
                           float scale, const float *numbers, float *slopes) {
    float selection[WIDTH];
    const vec p1 = first_of_two(c->nsr.v1[0]), p2 = first_of_two(c->nsr.v2[0]);
    store(selection, p1 - p2);
    vec sum = all(0), bias = all(0), sign[UNITS], zero[UNITS], select[UNITS], columns[ACROSS_IMAGES];
    for (int u = 0; u < UNITS; u++) sign[u] = zero[u] = select[u] = all(0);
    for (int q = 0; q < ACROSS_IMAGES; q++) columns[q] = all(0);
    for (int i = 0; i < pairs->count; i++) {
        vec row = all(0);
        for (int q = 0; q < ACROSS_IMAGES; q++) {
            vec bits[UNITS], slope, down = all(0);
            const vec difference = all(numbers[i]) - load(numbers + q * WIDTH);
            const vec weight = load(pairs->weight[pairs->digit[i]] + q * WIDTH);
            const vec truth = load(pairs->truth[pairs->digit[i]] + q * WIDTH);
            const vec z = register_logits(c, selection, scale, difference, bits);
            sum += loss_of(loss, z, truth, weight, &slope);
            bias += slope;
            UNROLL for (int u = 0; u < UNITS; u++) {
                const vec square = bits[u] * bits[u];
                sign[u] += slope * bits[u];
                zero[u] += slope * (all(1) - all(2) * square);
                const vec into = slope * (all(c->nsr.sign[u]) - all(4 * c->nsr.zero[u]) * bits[u]);
                const vec through = into * (all(1) - square) * all(scale);
                select[u] += through * difference;
                down += through * all(selection[u]);
            }
            row += down;
            columns[q] -= down;
        }
        slopes[i] = total(row);
    }
    float selected[WIDTH] = {0};
    const float of_bias = total(bias);
    memset(gradient, 0, sizeof *gradient);
    for (int u = 0; u < UNITS; u++) {
        gradient->nsr.sign[u] = total(sign[u]);
        gradient->nsr.zero[u] = total(zero[u]);
        gradient->nsr.bias[u] = of_bias;
        selected[u] = total(select[u]);
    }
    const vec of1 = load(selected) * p1 * (all(1) - p1), of2 = load(selected) * p2 * (all(1) - p2);
    store(gradient->nsr.v1[0], of1);
    store(gradient->nsr.v1[1], -of1);
    store(gradient->nsr.v2[0], -of2);
    store(gradient->nsr.v2[1], of2);
    for (int i = 0; i < pairs->count; i++) slopes[i] += columns[i / WIDTH][i % WIDTH];
    return total(sum);
}

static float mlp_step(const struct comparator *c, struct comparator *gradient, const struct pairs *pairs, int loss,
                      const float *numbers, float *slopes) {
    vec sum = all(0), bias = all(0), v0[NEURONS], v1[NEURONS], bias_v[NEURONS], h[NEURONS], columns[ACROSS_IMAGES];
    for (int u = 0; u < NEURONS; u++) v0[u] = v1[u] = bias_v[u] = h[u] = all(0);
    for (int q = 0; q < ACROSS_IMAGES; q++) columns[q] = all(0);
    for (int i = 0; i < pairs->count; i++) {
        vec row = all(0);
        for (int q = 0; q < ACROSS_IMAGES; q++) {
            vec hidden[NEURONS], slope;
            const vec second = load(numbers + q * WIDTH);
            const vec weight = load(pairs->weight[pairs->digit[i]] + q * WIDTH);
            const vec truth = load(pairs->truth[pairs->digit[i]] + q * WIDTH);
            const vec z = mlp_logits(c, numbers[i], second, hidden);
            sum += loss_of(loss, z, truth, weight, &slope);
            bias += slope;
            for (int u = 0; u < NEURONS; u++) {
                h[u] += slope * hidden[u];
                const vec down = slope * all(c->mlp.h[u]) * (hidden[u] * (all(1) - hidden[u]));
                bias_v[u] += down;
                v0[u] += down * all(numbers[i]);
                v1[u] += down * second;
                row += down * all(c->mlp.v[0][u]);
                columns[q] += down * all(c->mlp.v[1][u]);
            }
        }
        slopes[i] = total(row);
    }
    memset(gradient, 0, sizeof *gradient);
    for (int u = 0; u < NEURONS; u++) {
        gradient->mlp.v[0][u] = total(v0[u]);
        gradient->mlp.v[1][u] = total(v1[u]);
        gradient->mlp.bias_v[u] = total(bias_v[u]);
        gradient->mlp.h[u] = total(h[u]);
    }
    gradient->mlp.bias[0] = total(bias);
    for (int i = 0; i < pairs->count; i++) slopes[i] += columns[i / WIDTH][i % WIDTH];
    return total(sum);
}

/* The weights of all pairs of a batch, which sum to one, and whether the comparison holds. */
static void weigh(const struct objective *objective, struct pairs *pairs) {
    float number[CLASSES] = {0}, held = 0, not_held = 0, sum = 0;
    for (int i = 0; i < pairs->count; i++) number[pairs->digit[i]]++;
    for (int a = 0; a < CLASSES; a++)
        for (int b = 0; b < CLASSES; b++) {
            const float shown = objective->shown[a][b] * number[a] * number[b];
            *(objective->holds[a][b] > 0 ? &held : &not_held) += shown;
        }
    if (held < 1) held = 1;
    if (not_held < 1) not_held = 1;
    float weight[CLASSES][CLASSES];
    for (int a = 0; a < CLASSES; a++)
        for (int b = 0; b < CLASSES; b++) {
            const float parts = !objective->balanced ? 1 : objective->holds[a][b] > 0 ? held : not_held;
            weight[a][b] = objective->shown[a][b] / parts;
            sum += weight[a][b] * number[a] * number[b];
        }
    memset(pairs->weight, 0, sizeof pairs->weight);
    memset(pairs->truth, 0, sizeof pairs->truth);
    for (int a = 0; a < CLASSES; a++)
        for (int i = 0; i < pairs->count; i++) {
            pairs->weight[a][i] = weight[a][pairs->digit[i]] / sum;
            pairs->truth[a][i] = objective->holds[a][pairs->digit[i]];
        }
}

/* Probabilities of the classes from their logits, and the logarithm of the sum that they are divided by. */
INLINE vec softmax(const float *logits, float *log_sum) {
    const mask lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    float largest = logits[0];
    for (int c = 1; c < CLASSES; c++) largest = logits[c] > largest ? logits[c] : largest;
    const vec e = where(lane < same(CLASSES), exponential(at_most(load(logits) - all(largest), 0)));
    const float sum = total(e);
    *log_sum = largest + (float)log(sum);
    return e / all(sum);
}

static const vec DIGITS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

#define SIDE 28
#define PATCH 5
#define STRIDE 2
#define NAME(name) name##_28
#include "digits_reader.h"

#undef SIDE
#undef PATCH
#undef STRIDE
#undef NAME
#define SIDE 8
#define PATCH 3
#define STRIDE 1
#define NAME(name) name##_8
#include "digits_reader.h"
