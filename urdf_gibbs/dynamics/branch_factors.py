"""M = Lᵀ D L from the last row to the first, over any scalar: zeros between branches stay, with the fill that mimic joints make."""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars
from urdf_gibbs.dynamics.scalar import is_zero, mul, reciprocal, sub


@dataclass(frozen=True, slots=True)
class Factors:
    """L: its rows without the ones of the diagonal; the diagonal of D (``pivots``), reciprocals. ``above``: by row, where L is not 0."""

    L: list[list[Scalar]]
    pivots: list[Scalar]
    inverse: list[Scalar]
    above: list[list[int]]

    def solve(self, b: Scalars) -> list[Scalar]:
        """x (n) with M x = b: Lᵀ y = b, L x = D⁻¹ y. Zeros of b that no entry fills cost nothing."""
        x = list(b)
        for k in range(len(x) - 1, -1, -1):
            for i in self.above[k]:
                x[i] = sub(x[i], mul(self.L[k][i], x[k]))
        for k, inverse in enumerate(self.inverse):
            x[k] = mul(x[k], inverse)
            for i in self.above[k]:
                x[k] = sub(x[k], mul(self.L[k][i], x[i]))
        return x

    def inverse_matrix(self) -> Matrix:
        """M⁻¹ (n x n), full and symmetric: of each column the part above the diagonal."""
        n = len(self.pivots)
        X = Matrix.zeros(n, n)
        for j in range(n):
            x: list[Scalar] = [0.0] * n
            x[j] = 1.0
            for k in range(j, -1, -1):
                for i in self.above[k]:
                    x[i] = sub(x[i], mul(self.L[k][i], x[k]))
            for k in range(j + 1):
                x[k] = mul(x[k], self.inverse[k])
                for i in self.above[k]:
                    x[k] = sub(x[k], mul(self.L[k][i], x[i]))
                X[k][j] = X[j][k] = x[k]
        return X


def factorised(M: list[list[Scalar]]) -> Factors:
    """The factors of a symmetric matrix (n x n), of which the lower triangle is read."""
    L = [list(row) for row in M]
    n = len(L)
    pivots: list[Scalar] = [0.0] * n
    inverse: list[Scalar] = [0.0] * n
    above: list[list[int]] = [[] for _ in range(n)]
    for k in range(n - 1, -1, -1):
        pivots[k], inverse[k] = L[k][k], reciprocal(L[k][k])
        above[k] = [i for i in range(k) if not is_zero(L[k][i])]
        for i in above[k]:
            factor = mul(L[k][i], inverse[k])
            for j in above[k]:
                if j <= i:
                    L[i][j] = sub(L[i][j], mul(factor, L[k][j]))
        for i in above[k]:
            L[k][i] = mul(L[k][i], inverse[k])
    return Factors(L, pivots, inverse, above)
