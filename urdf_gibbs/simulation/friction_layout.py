"""What the driver knows of friction: room for rows and impulses in three directions, and which contacts stick or slide."""

from __future__ import annotations

from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.engine.struct import Float, Float1, Float2, Int, Int1, Struct, struct

# How a contact is held: not at all, at rest, while it slides, while it slides slowly or begins to, without friction.
FREE, STICKS, SLIDES, STARTS, SMOOTH = range(5)
STATIC, KINETIC = range(2)  # columns of Contacts.friction


@struct
class Friction(Struct):
    """Contact i of those under consideration has the rows at[i] ... at[i + 1]: its normal, and two tangents where it is rough.

    The dry friction of a joint is one more of them, with one row: its velocity. All arrays are empty where there is no friction;
    ``rows`` is three times the number of contacts.
    """

    acts: Int  # whether there is friction, in contacts or in joints
    rough: Int  # whether there is friction in contacts, so that impacts have it: the forces of joints are bounded
    joints: Int  # the first contact that is the dry friction of a joint; their number where there is none
    span: Float  # time over which forces act [s]: a step of time stepping, 1 for forces themselves
    # the contacts under consideration
    at: Int1  # (contacts + 1,)
    D: Float2  # (rows, 3) directions, world axes
    R: Float2  # (rows, nv) of the Jacobian
    B: Float2  # (rows, nv), B Bᵀ = R M^-1 Rᵀ
    U: Float1  # (rows,) relative velocities [m/s]
    W: Float1  # (rows,) their rates without contact forces [m/s^2]
    p: Float1  # (rows,) forces [N] or impulses [N s]
    K: Float1  # (rows^2,) R M^-1 Rᵀ, as an n x n matrix of the n rows that count
    b: Float1  # (rows,) of a contact problem: velocities or accelerations without its forces
    member: Int1  # (contacts,) whether a contact takes part in the problem
    own: Int1  # (rows,) the rows of those that take part
    problem: Problem
    trial: Int1  # (contacts,) the mode that the problem assumes
    # all contacts
    mode: Int1  # (contacts,) FREE, STICKS, SLIDES, STARTS or SMOOTH; FREE of a joint: not known yet
    way: Float2  # (contacts, 3) unit direction in which it slides, or has slid last, world axes; of a joint 1 or -1, then zeros
    slow: Float1  # (contacts,) the speed below which it slides slowly [m/s]
    lag: Float1  # (contacts,) how far the friction of one that slides slowly looks ahead [s]
    ahead: Float2  # (contacts, 2) the direction that the friction of one that slides slowly opposes, in its tangents
    soft: Float2  # (contacts, 3) forces with which these directions were found last, along normal and tangents [N]
    dual: Float2  # (contacts, 3) what the shortest allowed forces were the projection of, the last time [N]
    stop: Float1  # (contacts,) after which time sliding would end if it went on like this [s]
    force: Float2  # (contacts, 3) tangential force [N], world axes
    stopping: Int  # whether a contact that slides has come to its end
    in_stage: Int  # 1: forces are those of a stage of a step; whether allowed ones exist is asked where its events are looked for
