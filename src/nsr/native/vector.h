/* Sixteen numbers at a time, in GCC's vector extensions: one AVX-512 register, or two of AVX2, or four of SSE.

   Numbers are the same on every CPU: sums have a written order, and a product and a sum are rounded once where
   ``fused`` is written and twice elsewhere (the library is built without contraction and without -ffast-math). */
#pragma once
#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#define WIDTH 16
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t mask __attribute__((vector_size(4 * WIDTH))); /* -1 where a comparison holds, else 0 */

INLINE vec all(float x) { return x - (vec){0}; }
INLINE mask same(int32_t x) { return x - (mask){0}; }
INLINE vec either(mask m, vec a, vec b) { return (vec)(((mask)a & m) | ((mask)b & ~m)); }
INLINE vec where(mask m, vec a) { return (vec)((mask)a & m); }
INLINE vec absolute(vec x) { return (vec)((mask)x & same(0x7fffffff)); }
INLINE vec with_sign(vec size, vec sign) { return (vec)((mask)size | ((mask)sign & same((int32_t)0x80000000))); }
INLINE vec at_most(vec x, float most) { return either(x > all(most), all(most), x); }
INLINE vec at_least(vec x, float least) { return either(x < all(least), all(least), x); }
INLINE vec load(const float *x) { vec v; memcpy(&v, x, sizeof v); return v; }
INLINE void store(float *x, vec v) { memcpy(x, &v, sizeof v); }

/* a * b + c, rounded once. */
INLINE vec fused(vec a, vec b, vec c) {
#if defined(__AVX512F__)
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    typedef union { vec all; __m256 half[2]; } Halves;
    const Halves x = {a}, y = {b}, z = {c};
    const Halves sum = {.half = {_mm256_fmadd_ps(x.half[0], y.half[0], z.half[0]),
                                 _mm256_fmadd_ps(x.half[1], y.half[1], z.half[1])}};
    return sum.all;
#else
    for (int i = 0; i < WIDTH; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#endif
}

INLINE vec square_root(vec x) {
    float root[WIDTH];
    store(root, x);
    for (int i = 0; i < WIDTH; i++) root[i] = __builtin_sqrtf(root[i]);
    return load(root);
}

#ifdef __clang__
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLED(a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif

/* The sums of neighbours in a, then those in b. */
INLINE vec neighbours(vec a, vec b) {
    return SHUFFLED(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           SHUFFLED(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/* The sum of each of sixteen vectors. */
INLINE vec totals(const vec *x) {
    vec part[WIDTH / 2];
    for (int i = 0; i < WIDTH / 2; i++) part[i] = neighbours(x[2 * i], x[2 * i + 1]);
    for (int left = WIDTH / 4; left; left /= 2)
        for (int i = 0; i < left; i++) part[i] = neighbours(part[2 * i], part[2 * i + 1]);
    return part[0];
}

INLINE float total(vec x) {
    x = neighbours(x, x);
    x = neighbours(x, x);
    x = neighbours(x, x);
    return x[0] + x[1];
}

/* The nearest integer; ties go to the even one. For |x| < 2^22. */
INLINE vec nearest(vec x) { return (x + all(12582912.0f)) - all(12582912.0f); }

/* For x <= 0, x = n log 2 + r: returns e^r - 1, within 2 ulp, and 2^n. Below -87 all is as at -87. */
INLINE vec reduced_power(vec x, vec *power_of_two) {
    x = at_least(x, -87.0f);
    const vec shifted = fused(x, all(1.44269504f), all(12582912.0f)), n = shifted - all(12582912.0f);
    const vec r = fused(n, all(2.12194440e-4f), fused(n, all(-0.693359375f), x));
    vec p = all(1.9875691500e-4f);
    p = fused(p, r, all(1.3981999507e-3f));
    p = fused(p, r, all(8.3334519073e-3f));
    p = fused(p, r, all(4.1665795894e-2f));
    p = fused(p, r, all(1.6666665459e-1f));
    p = fused(p, r, all(5.0000001201e-1f));
    *power_of_two = (vec)(((mask)shifted - same(0x4b400000 - 127)) << 23); /* n lies in the last bits of shifted */
    return fused(p, r * r, r);
}

/* e^x for x <= 0. */
INLINE vec exponential(vec x) {
    vec power;
    const vec less_one = reduced_power(x, &power);
    return fused(less_one, power, power);
}

/* Both sigmoids, of x and of -x, each with all of its digits. */
INLINE void sigmoids(vec x, vec *of_x, vec *of_minus_x) {
    const vec e = exponential(-absolute(x)), large = all(1.0f) / (all(1.0f) + e), small = e * large;
    const mask positive = x >= all(0.0f);
    *of_x = either(positive, large, small);
    *of_minus_x = either(positive, small, large);
}

INLINE vec sigmoid(vec x) {
    vec y, negated;
    sigmoids(x, &y, &negated);
    return y;
}

/* tanh x = (1 - e) / (1 + e) with e = e^(-2 |x|), of which only the distance from 1 is computed. */
INLINE vec tangent(vec x) {
    vec power;
    const vec less_one = reduced_power(absolute(x) * all(-2.0f), &power);
    const vec distance = fused(less_one, power, power - all(1.0f)); /* e - 1 */
    return with_sign(-distance / (all(2.0f) + distance), x);
}

/* Numbers below 1e-38 become zero while training runs: a CPU takes a hundred times longer for them. */
INLINE uint64_t flush_denormals(void) {
#if defined(__x86_64__)
    const uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040);
    return before;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (1ull << 24)));
    return before;
#else
    return 0;
#endif
}

INLINE void restore_denormals(uint64_t before) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)before);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
#else
    (void)before;
#endif
}
