"""The record that the compiled variational equation works on, beside the System of the simulation."""

from __future__ import annotations

from urdf_gibbs.engine.struct import Float, Float1, Float2, Float3, Int, Struct, struct


@struct
class Variation(Struct):
    """A state, its sensitivities and working memory. n = nq + nv; m columns; room for k contacts.

    ``z`` is q (nq,), v (nv,), then X (2 nv, m) row by row: d(q, v)/d(columns), q in the tangent space of the configuration.
    """

    derivatives: Int  # address of the robot's derivatives of forward dynamics
    regressor: Int  # address of its torque regressor, 0: no column needs it
    columns: Int  # m
    torque_column: Int  # the first of nv columns of a constant torque, -1: none
    parameter_column: Int  # the first of 10 nb columns of inertial parameters, -1: none
    tolerance: Float  # of X in one step, relative to the largest entry of its column
    rtol: Float  # of q and v in one step
    atol: Float
    length: Float  # of the next step [s]
    spacing: Float  # of differences of the contacts' rows [rad, m]
    time_spacing: Float  # and in time [s]
    mismatch: Float  # how much differences with one and two spacings disagree, the most since it was last set to 0
    # state and stages
    z: Float1  # (n + 2 nv m,)
    new: Float1  # (n + 2 nv m,)
    K: Float2  # (13, n + 2 nv m)
    scale: Float1  # (m,)
    # derivatives of the acceleration: with respect to q, v and generalised forces
    D: Float3  # (3, nv, nv)
    Y: Float2  # (nv, 10 nb) regressor
    tau: Float1  # (nv,) generalised forces, those of held contacts included
    a: Float1  # (nv,) acceleration
    # contacts
    lam: Float1  # (k,) forces of held contacts
    J: Float2  # (k, nv) rows of the gaps' rates
    rate: Float1  # (k,) the gaps' rates
    accel: Float1  # (k,) their accelerations where no joint accelerates
    DJ: Float3  # (k, nv, nv): DJ[c, i, j] = derivative of J[c, i] along the j-th tangent of q
    Dr: Float2  # (k, nv) derivative of the rate along q, at the same v
    Da: Float2  # (k, nv) derivative of the acceleration along q, at the same v
    Dv: Float2  # (k, nv) derivative of the acceleration along v
    Jt: Float2  # (k, nv) derivative of J with time, where the wall moves
    rt: Float1  # (k,) derivative of the rate with time, at the same v
    far: Float2  # (k, nv + 2) differences with two spacings: of J, rate and acceleration
    q: Float1  # (nq,) where differences are taken
    v: Float1  # (nv,)
    move: Float1  # (nv,)
    turn: Float1  # (nq,)
    G: Float2  # (nv, nv)
    W: Float2  # (nv, k)
    P: Float2  # (k, k)
