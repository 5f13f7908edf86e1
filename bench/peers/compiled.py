"""LinUCB in loops, compiled by numba when this is imported."""

import numpy as np
from numba import njit


@njit(fastmath=True)
def index_of_four(x, first, inverse, estimate, noise, square, index):
    """Squared norms and indices of four actions, which share every number of the matrix that is read.

    Half of a symmetric matrix is enough for a quadratic form; its rows are contiguous.
    """
    a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
    square_a = square_b = square_c = square_d = 0.0
    mean_a = mean_b = mean_c = mean_d = 0.0
    for i in range(len(estimate)):
        row = inverse[i]
        half_a = half_b = half_c = half_d = 0.0
        for j in range(i):
            half_a += row[j] * a[j]
            half_b += row[j] * b[j]
            half_c += row[j] * c[j]
            half_d += row[j] * d[j]
        square_a += a[i] * (2.0 * half_a + row[i] * a[i])
        square_b += b[i] * (2.0 * half_b + row[i] * b[i])
        square_c += c[i] * (2.0 * half_c + row[i] * c[i])
        square_d += d[i] * (2.0 * half_d + row[i] * d[i])
        mean_a += a[i] * estimate[i]
        mean_b += b[i] * estimate[i]
        mean_c += c[i] * estimate[i]
        mean_d += d[i] * estimate[i]
    square[first], square[first + 1], square[first + 2], square[first + 3] = square_a, square_b, square_c, square_d
    index[first] = mean_a + noise * np.sqrt(square_a)
    index[first + 1] = mean_b + noise * np.sqrt(square_b)
    index[first + 2] = mean_c + noise * np.sqrt(square_c)
    index[first + 3] = mean_d + noise * np.sqrt(square_d)


@njit(fastmath=True)
def index_of_one(x, action, inverse, estimate, noise, square, index):
    """The same for one action."""
    a = x[action]
    square_a = mean_a = 0.0
    for i in range(len(estimate)):
        row, half = inverse[i], 0.0
        for j in range(i):
            half += row[j] * a[j]
        square_a += a[i] * (2.0 * half + row[i] * a[i])
        mean_a += a[i] * estimate[i]
    square[action] = square_a
    index[action] = mean_a + noise * np.sqrt(square_a)


@njit("int64[::1](float64[:,:,::1], float64[:,::1], float64[:,::1], float64[::1], float64)", fastmath=True)
def play(features, rewards, inverse, estimate, noise):
    """Plays rounds in place: `inverse` is that of the ridge plus all outer products, `estimate` the coefficients."""
    count, actions, dimension = features.shape
    product, square, index = np.empty(dimension), np.empty(actions), np.empty(actions)
    played = np.empty(count, np.int64)
    for t in range(count):
        x = features[t]
        fours = actions - actions % 4
        for first in range(0, fours, 4):
            index_of_four(x, first, inverse, estimate, noise, square, index)
        for action in range(fours, actions):
            index_of_one(x, action, inverse, estimate, noise, square, index)
        chosen = index.argmax()
        error = rewards[t, chosen]
        for i in range(dimension):
            row, total = inverse[i], 0.0
            for j in range(dimension):
                total += row[j] * x[chosen, j]
            product[i] = total
            error -= x[chosen, i] * estimate[i]
        for i in range(dimension):
            row, factor = inverse[i], product[i] / (1.0 + square[chosen])
            for j in range(dimension):
                row[j] -= factor * product[j]
            estimate[i] += error * factor
        played[t] = chosen
    return played
