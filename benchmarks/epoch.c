/* Full-batch epochs of one register with two inputs and ten units: mean absolute error, Adam at its defaults.
   Parameters lie as torch lists them: v1 (2, R), v2 (2, R), w_sign, w_zero, bias.

   The limit to compare with: plain loops that the compiler vectorises as it likes (-Ofast), and the cheapest tanh
   that is right to float32, a ratio of polynomials (its coefficients are those of Eigen). */
#include <math.h>
#include <string.h>

#define R 10
#define P (7 * R)
#define MOST 4096

static float step[R][MOST], z[MOST], g[MOST];

static inline float tangent(float x) {
    x = x < -7.99881f ? -7.99881f : x > 7.99881f ? 7.99881f : x;
    const float z = x * x;
    float p = -2.76076847742355e-16f;
    p = p * z + 2.00018790482477e-13f;
    p = p * z - 8.60467152213735e-11f;
    p = p * z + 5.12229709037114e-08f;
    p = p * z + 1.48572235717979e-05f;
    p = p * z + 6.37261928875436e-04f;
    p = p * z + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * z + 1.18534705686654e-04f;
    q = q * z + 2.26843463243900e-03f;
    q = q * z + 4.89352518554385e-03f;
    return x * p / q;
}

void train(float *p, const float *difference, const float *target, int rows, int epochs) {
    float m[P], v[P], grad[P];
    memset(m, 0, sizeof m);
    memset(v, 0, sizeof v);
    const float *w_sign = p + 4 * R, *w_zero = p + 5 * R, *bias = p + 6 * R;

    for (int epoch = 1; epoch <= epochs; epoch++) {
        float first[R], second[R];
        for (int j = 0; j < rows; j++) z[j] = 0;
        for (int r = 0; r < R; r++) {
            first[r] = 1 / (1 + expf(p[R + r] - p[r]));           /* softmax over two: weight of input one */
            second[r] = 1 / (1 + expf(p[3 * R + r] - p[2 * R + r]));
            const float selection = first[r] - second[r];
            for (int j = 0; j < rows; j++) step[r][j] = tangent(selection * difference[j]);
            for (int j = 0; j < rows; j++) {
                const float t = step[r][j];
                z[j] += w_sign[r] * t + w_zero[r] * (1 - 2 * t * t) + bias[r];
            }
        }
        float all = 0;
        for (int j = 0; j < rows; j++) {
            const float y = 0.5f + 0.5f * tangent(0.5f * z[j]);
            g[j] = (y > target[j] ? 1.0f : -1.0f) * y * (1 - y) / rows;
            all += g[j];
        }
        for (int r = 0; r < R; r++) {
            float by_sign = 0, by_square = 0, by_selection = 0;
            for (int j = 0; j < rows; j++) {
                const float t = step[r][j], gt = g[j] * t;
                by_sign += gt;
                by_square += gt * t;
                by_selection += g[j] * (1 - t * t) * (w_sign[r] - 4 * w_zero[r] * t) * difference[j];
            }
            const float by_first = by_selection * first[r] * (1 - first[r]);
            const float by_second = by_selection * second[r] * (1 - second[r]);
            grad[r] = by_first;
            grad[R + r] = -by_first;
            grad[2 * R + r] = -by_second;
            grad[3 * R + r] = by_second;
            grad[4 * R + r] = by_sign;
            grad[5 * R + r] = all - 2 * by_square;
            grad[6 * R + r] = all;
        }
        const float rate = 1e-3f / (1 - powf(0.9f, epoch)), root = sqrtf(1 - powf(0.999f, epoch));
        for (int i = 0; i < P; i++) {
            m[i] += 0.1f * (grad[i] - m[i]);
            v[i] += 0.001f * (grad[i] * grad[i] - v[i]);
            p[i] -= rate * m[i] / (sqrtf(v[i]) / root + 1e-8f);
        }
    }
}
