/* Sixteen numbers at a time, in GCC's vector extensions: one AVX-512 register, or two of AVX2, or four of SSE.

   Built without contraction (a * b + c stays two roundings) and with every sum in a written order, so that the
   numbers are the same on every CPU. */
#pragma once
#include <stdint.h>
#include <string.h>

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

/* e^x for x <= 0, within 2 ulp; below -87 it stays at e^-87. */
INLINE vec exponential(vec x) {
    x = at_least(x, -87.0f);
    const vec shifted = x * all(1.44269504f) + all(12582912.0f), n = shifted - all(12582912.0f);
    const vec r = (x - n * all(0.693359375f)) - n * all(-2.12194440e-4f);
    vec p = all(1.9875691500e-4f);
    p = p * r + all(1.3981999507e-3f);
    p = p * r + all(8.3334519073e-3f);
    p = p * r + all(4.1665795894e-2f);
    p = p * r + all(1.6666665459e-1f);
    p = p * r + all(5.0000001201e-1f);
    p = (p * (r * r) + r) + all(1.0f);
    const mask power = ((mask)shifted - same(0x4b400000) + same(127)) << 23; /* 2^n: n lies in the last bits of shifted */
    return p * (vec)power;
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

INLINE vec tangent(vec x) {
    const vec size = absolute(x), z = size * size;
    const vec e = exponential(size * all(-2.0f)), far = (all(1.0f) - e) / (all(1.0f) + e);
    vec p = all(-5.70498872745e-3f);
    p = p * z + all(2.06390887954e-2f);
    p = p * z + all(-5.37397155531e-2f);
    p = p * z + all(1.33314422036e-1f);
    p = p * z + all(-3.33332819422e-1f);
    const vec near = size + size * (z * p);
    return with_sign(either(size < all(0.625f), near, far), x);
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
