/* Full-batch epochs of one register with two inputs and ten units: mean absolute error, Adam at its defaults.
   Parameters lie as torch lists them: v1 (2, R), v2 (2, R), w_sign, w_zero, bias. */
#include <math.h>
#include <string.h>

#define R 10
#define P (7 * R)
#define MOST 4096

static float step[R][MOST], z[MOST], g[MOST];

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
            for (int j = 0; j < rows; j++) step[r][j] = tanhf(selection * difference[j]);
            for (int j = 0; j < rows; j++) {
                const float t = step[r][j];
                z[j] += w_sign[r] * t + w_zero[r] * (1 - 2 * t * t) + bias[r];
            }
        }
        float all = 0;
        for (int j = 0; j < rows; j++) {
            const float y = 1 / (1 + expf(-z[j]));
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
