/* Included once for each side of the images: SIDE, PATCH and STRIDE are those of the images and of the first layer. */

#define ROW ((SIDE - PATCH) / STRIDE + 1) /* patches along the side of an image */
#define ACROSS (ROW / BLOCK)              /* blocks of them */
#define BLOCKS (ACROSS * ACROSS)
#define INPUTS (BLOCKS * SECOND) /* numbers that the hidden layer takes */
#define PADDED (INPUTS + WIDTH)  /* so that the rows of a batch do not compete for the same places of the cache */

/* Weights with the outputs along the rows of memory; also their gradients, and both moments of Adam. */
struct NAME(weights) {
    float first[PATCH * PATCH][FIRST], first_bias[FIRST];
    float second[INSIDE][SECOND], second_bias[SECOND];
    float hidden[INPUTS][HIDDEN], hidden_bias[HIDDEN];
    float classes[HIDDEN][WIDTH], classes_bias[WIDTH];
    struct comparator comparator;
};

struct NAME(state) {
    struct NAME(weights) weights, mean, square, gradient;
};

/* What the layers computed for a batch, and what flows back; every array takes complete lines of the cache. */
struct NAME(batch) {
    float images[IMAGES][SIDE * SIDE];
    float first[IMAGES][BLOCKS][INSIDE]; /* in the order in which the second layer takes it */
    float second[IMAGES][PADDED];
    float hidden[IMAGES][HIDDEN], logits[IMAGES][WIDTH], probabilities[IMAGES][WIDTH];
    float numbers[COLUMNS], log_sums[COLUMNS];
    float logit_slopes[IMAGES][WIDTH], hidden_slopes[IMAGES][HIDDEN], second_slopes[IMAGES][PADDED];
    float first_slopes[BLOCKS][INSIDE];
    float hidden_by_output[HIDDEN][PADDED], second_by_output[SECOND][INSIDE], classes_by_output[WIDTH][HIDDEN];
    struct pairs pairs;
};

long NAME(digits_state_size)(void) { return sizeof(struct NAME(state)); }
long NAME(digits_batch_size)(void) { return sizeof(struct NAME(batch)); }

/* Where the patch of a place inside a block begins. */
INLINE int NAME(corner)(int block, int inside) {
    const int y = block / ACROSS * BLOCK + inside / BLOCK, x = block % ACROSS * BLOCK + inside % BLOCK;
    return y * STRIDE * SIDE + x * STRIDE;
}

static void NAME(first_layer)(const struct NAME(weights) *w, const float *image, float *out) {
    for (int y = 0; y < ROW; y++)
        for (int x = 0; x < ROW; x += 6) {
            const float *corner = image + y * STRIDE * SIDE + x * STRIDE;
            vec sums[6];
            UNROLL for (int i = 0; i < 6; i++) sums[i] = load(w->first_bias);
            for (int row = 0; row < PATCH; row++)
                UNROLL for (int column = 0; column < PATCH; column++) {
                    const vec factor = load(w->first[row * PATCH + column]);
                    UNROLL for (int i = 0; i < 6; i++) 
                        sums[i] = fused(all(corner[row * SIDE + column + i * STRIDE]), factor, sums[i]);
                }
            UNROLL for (int i = 0; i < 6; i++) {
                const int block = y / BLOCK * ACROSS + (x + i) / BLOCK, inside = y % BLOCK * BLOCK + (x + i) % BLOCK;
                store(out + block * INSIDE + inside * FIRST, where(sums[i] > all(0), sums[i]));
            }
        }
}

static void NAME(first_gradient)(const float *image, const float *slopes, struct NAME(weights) *gradient) {
    vec bias = load(gradient->first_bias), sums[PATCH * PATCH];
    for (int row = 0; row < PATCH; row += TILE(PATCH, 1)) {
        UNROLL for (int i = 0; i < TILE(PATCH, 1) * PATCH; i++) sums[i] = load(gradient->first[row * PATCH + i]);
        for (int block = 0; block < BLOCKS; block++)
            for (int inside = 0; inside < BLOCK * BLOCK; inside++) {
                const float *corner = image + NAME(corner)(block, inside) + row * SIDE;
                const vec slope = load(slopes + block * INSIDE + inside * FIRST);
                if (row == 0) bias += slope;
                UNROLL for (int i = 0; i < TILE(PATCH, 1) * PATCH; i++)
                    sums[i] = fused(all(corner[i / PATCH * SIDE + i % PATCH]), slope, sums[i]);
            }
        UNROLL for (int i = 0; i < TILE(PATCH, 1) * PATCH; i++) store(gradient->first[row * PATCH + i], sums[i]);
    }
    store(gradient->first_bias, bias);
}

/* The logits, probabilities and numbers of the images of a batch. Images beyond its number are empty. */
static void NAME(read)(const struct NAME(weights) *w, const float *levels, const uint8_t *images, const int64_t *order,
                       int count, struct NAME(batch) *b) {
    for (int n = 0; n < IMAGES; n++) {
        if (n < count) {
            const uint8_t *pixels = images + order[n] * SIDE * SIDE;
            for (int i = 0; i < SIDE * SIDE; i++) b->images[n][i] = levels[pixels[i]];
        } else {
            memset(b->images[n], 0, sizeof b->images[n]);
        }
        NAME(first_layer)(w, b->images[n], b->first[n][0]);
        product(BLOCKS, TILE(BLOCKS / 2, 2), 2, 2, INSIDE, b->first[n][0], INSIDE, 1, w->second[0], SECOND,
                w->second_bias, 0, b->second[n], SECOND, 1, NULL);
    }
    product(IMAGES, 5, 4, TILE(4, 1), INPUTS, b->second[0], PADDED, 1, w->hidden[0], HIDDEN, w->hidden_bias, 0,
            b->hidden[0], HIDDEN, 1, NULL);
    product(IMAGES, 5, 1, 1, HIDDEN, b->hidden[0], HIDDEN, 1, w->classes[0], WIDTH, w->classes_bias, 0, b->logits[0],
            WIDTH, 0, NULL);
    memset(b->numbers, 0, sizeof b->numbers);
    for (int n = 0; n < count; n++) {
        const vec p = softmax(b->logits[n], b->log_sums + n);
        store(b->probabilities[n], p);
        b->numbers[n] = total(p * DIGITS);
    }
}

/* The loss of a batch, and its derivatives by the logits of the classes. */
static float NAME(compare)(struct NAME(state) *s, const struct objective *objective, float scale,
                           struct NAME(batch) *b) {
    const int count = b->pairs.count;
    float slopes[IMAGES], loss = 0;
    memset(b->logit_slopes, 0, sizeof b->logit_slopes);
    if (objective->model == CLASSIFIER) {
        for (int n = 0; n < count; n++) {
            const int digit = b->pairs.digit[n];
            loss += b->log_sums[n] - b->logits[n][digit];
            b->probabilities[n][digit] -= 1;
            store(b->logit_slopes[n], load(b->probabilities[n]) / all(count));
        }
        return loss / count;
    }
    weigh(objective, &b->pairs);
    const struct comparator *c = &s->weights.comparator;
    loss = objective->model == REGISTER
               ? register_step(c, &s->gradient.comparator, &b->pairs, objective->loss, scale, b->numbers, slopes)
               : mlp_step(c, &s->gradient.comparator, &b->pairs, objective->loss, b->numbers, slopes);
    for (int n = 0; n < count; n++)
        store(b->logit_slopes[n], load(b->probabilities[n]) * (DIGITS - all(b->numbers[n])) * all(slopes[n]));
    return loss;
}

/* The gradients of the reader. */
static void NAME(backward)(const struct NAME(weights) *w, struct NAME(weights) *g, struct NAME(batch) *b) {
    transpose(HIDDEN, WIDTH, w->classes[0], b->classes_by_output[0], HIDDEN);
    transpose(INPUTS, HIDDEN, w->hidden[0], b->hidden_by_output[0], PADDED);
    transpose(INSIDE, SECOND, w->second[0], b->second_by_output[0], INSIDE);
    product(HIDDEN, 4, 1, 1, IMAGES, b->hidden[0], 1, HIDDEN, b->logit_slopes[0], WIDTH, NULL, 0, g->classes[0], WIDTH,
            0, NULL);
    sum_rows(IMAGES, 1, b->logit_slopes[0], WIDTH, g->classes_bias);
    product(IMAGES, 5, 4, TILE(4, 1), CLASSES, b->logit_slopes[0], WIDTH, 1, b->classes_by_output[0], HIDDEN, NULL, 0,
            b->hidden_slopes[0], HIDDEN, 0, b->hidden[0]);
    product(INPUTS, 4, 4, TILE(4, 1), IMAGES, b->second[0], 1, PADDED, b->hidden_slopes[0], HIDDEN, NULL, 0,
            g->hidden[0], HIDDEN, 0, NULL);
    sum_rows(IMAGES, 4, b->hidden_slopes[0], HIDDEN, g->hidden_bias);
    product(IMAGES, 5, INPUTS / WIDTH, TILE(4, 1), HIDDEN, b->hidden_slopes[0], HIDDEN, 1, b->hidden_by_output[0],
            PADDED, NULL, 0, b->second_slopes[0], PADDED, 0, b->second[0]);
    memset(g->first, 0, sizeof g->first + sizeof g->first_bias + sizeof g->second + sizeof g->second_bias);
    for (int n = 0; n < b->pairs.count; n++) {
        const float *slopes = b->second_slopes[n];
        float sums[SECOND];
        sum_rows(BLOCKS, 2, slopes, SECOND, sums);
        for (int c = 0; c < SECOND; c++) g->second_bias[c] += sums[c];
        product(INSIDE, TILE(8, 2), 2, 2, BLOCKS, b->first[n][0], 1, INSIDE, slopes, SECOND, g->second[0], SECOND,
                g->second[0], SECOND, 0, NULL);
        product(BLOCKS, TILE(4, 2), INSIDE / WIDTH, 3, SECOND, slopes, SECOND, 1, b->second_by_output[0], INSIDE, NULL,
                0, b->first_slopes[0], INSIDE, 0, b->first[n][0]);
        NAME(first_gradient)(b->images[n], b->first_slopes[0], g);
    }
}

/* Train on the images of order, one batch after the other; the loss of each step, before it, goes to losses. */
void NAME(digits_train)(struct NAME(state) *s, struct NAME(batch) *b, const struct objective *objective,
                        const uint8_t *images, const uint8_t *digits, const int64_t *order, int64_t count,
                        const struct step *steps, float *losses) {
    const uint64_t before = flush_denormals();
    const long reader = offsetof(struct NAME(weights), comparator) / sizeof(float);
    const long rest = sizeof(struct comparator) / sizeof(float);
    for (int64_t start = 0; start < count; start += IMAGES, order += IMAGES, steps++) {
        b->pairs.count = count - start < IMAGES ? (int)(count - start) : IMAGES;
        for (int n = 0; n < b->pairs.count; n++) b->pairs.digit[n] = digits[order[n]];
        NAME(read)(&s->weights, objective->levels, images, order, b->pairs.count, b);
        *losses++ = NAME(compare)(s, objective, steps->scale, b);
        NAME(backward)(&s->weights, &s->gradient, b);
        adam(reader, (float *)&s->weights, (float *)&s->gradient, (float *)&s->mean, (float *)&s->square,
             steps->reader_rate, steps);
        if (objective->model != CLASSIFIER)
            adam(rest, s->weights.comparator.all, s->gradient.comparator.all, s->mean.comparator.all,
                 s->square.comparator.all, steps->comparator_rate, steps);
    }
    restore_denormals(before);
}

/* The logits of the classes of consecutive images and, unless for a classifier, of all pairs of each batch of them. */
void NAME(digits_test)(struct NAME(state) *s, struct NAME(batch) *b, const struct objective *objective,
                       const uint8_t *images, int64_t count, float scale, float *classes, float *pairs) {
    const struct comparator *c = &s->weights.comparator;
    const uint64_t before = flush_denormals();
    float selection[WIDTH];
    store(selection, first_of_two(c->nsr.v1[0]) - first_of_two(c->nsr.v2[0]));
    for (int64_t start = 0; start < count; start += IMAGES) {
        const int number = count - start < IMAGES ? (int)(count - start) : IMAGES;
        int64_t order[IMAGES];
        for (int n = 0; n < number; n++) order[n] = start + n;
        NAME(read)(&s->weights, objective->levels, images, order, number, b);
        for (int n = 0; n < number; n++, classes += CLASSES) memcpy(classes, b->logits[n], CLASSES * sizeof(float));
        if (objective->model == CLASSIFIER) continue;
        for (int i = 0; i < number; i++, pairs += IMAGES) {
            float row[COLUMNS];
            for (int q = 0; q < ACROSS_IMAGES; q++) {
                vec bits[UNITS], hidden[NEURONS];
                const vec second = load(b->numbers + q * WIDTH);
                const vec z = objective->model == REGISTER
                                  ? register_logits(c, selection, scale, all(b->numbers[i]) - second, bits)
                                  : mlp_logits(c, b->numbers[i], second, hidden);
                store(row + q * WIDTH, z);
            }
            memcpy(pairs, row, IMAGES * sizeof(float));
        }
    }
    restore_denormals(before);
}

#undef ROW
#undef ACROSS
#undef BLOCKS
#undef INPUTS
#undef PADDED
