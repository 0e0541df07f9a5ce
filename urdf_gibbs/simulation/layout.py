"""The records that compiled code works on, field by field: a robot and what it can touch, where a run is, and what has happened.

Fields that are one number are read and written by their names; arrays that other machine code reads by position, and small tables,
have named columns.
"""

from __future__ import annotations

from urdf_gibbs.contact.kinematics import Contacts, Tree
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.surfaces import Surfaces
from urdf_gibbs.engine.struct import Float, Float1, Float2, Float3, Int, Int1, Int2, Struct, struct
from urdf_gibbs.simulation.friction_layout import Friction

# What can be the matter; the driver stops at all but OK.
OK, SINGULAR, CONTROLLER, NOT_FINITE, UNDERFLOW, BAD_WALL, JAMMED, CHATTER, NOT_LANDED, CRAWLING, PARADOX = range(11)
FINISHED, PAUSED, AGAIN = -1, -2, -3  # of ``advance``: the end is reached, Python is asked for; of its parts: begin the next step

# Numbers of the blocks.
SOLVE, FACTORS, CONTACT_ROWS, FREE_ROWS, DERIVATIVE, STEP, DENSE, CONTACTS = range(8)
CLOSING, OPENING, IMPACT, SETTLE, PROJECT, STRIKE, LAND, ADVANCE, REPORT, VOUCHED = range(8, 18)
ROUGH_ROWS, ROUGH_SOLVE, ROUGH_FORCES, ROUGH_OPENING, ROUGH_IMPACT, ROUGH_SETTLE, ROUGH_PROJECT = range(18, 25)

LCP, LEAST_NORM, PRESS = range(len(LAWS), len(LAWS) + 3)  # asked of ``solve`` beside the impact laws

PRESENT, NEXT, WORK = range(3)  # states: y, new, work of State
APART, LEAVING, RESTING = range(3)  # how a contact starts a step, in State.how

# Columns: of State.gaps and State.after, of State.turning, of State.tolerance and of State.trial.
GAP, RATE, RISE, UNIT, SPEED = range(5)  # phi, its first and second rate, |grad phi|, speed of the point
SPIN, TRAVEL, LEVER, HUB, DISTANCE, SLIDE = range(6)
RTOL, ATOL = range(2)
LENGTH, ERROR = range(2)
# Columns of Record: of blow_counts, of blow_numbers and of part_numbers.
PARTS, ROUNDS, LAW, CYCLE = range(4)
MOMENT, CERTIFICATE, KINETIC, LEFT, POTENTIAL, BLOW_WIDTH = range(6)
PLACE, NORMAL, BEFORE, AFTER, IMPULSE, RESTITUTION, TANGENTIAL, PART_WIDTH = 0, 3, 6, 10, 14, 15, 16, 19
NORMAL_PART = 3  # behind BEFORE and AFTER, which are velocities (3,)


@struct
class Code(Struct):
    """Addresses of the robot's machine code, 0 where it has none."""

    forward: Int  # forward dynamics, quick: may refuse
    careful: Int  # and slow
    mass: Int
    bias: Int
    placements: Int
    control: Int  # the user's controller
    elastic: Int
    potential: Int
    switches: Int  # of the controller
    sides: Int
    step: Int  # own_step.py
    dense: Int
    contacts: Int  # contact/own_contacts.py


@struct
class System(Struct):
    """A robot, what it can touch, and room to work in."""

    tree: Tree
    contacts: Contacts
    surfaces: Surfaces
    blocks: Int1
    code: Code
    in_stages: Int  # whether the controller is called in each stage
    alone: Int  # whether nothing but a constant torque acts, which s.tau holds
    flat: Int  # whether dq/dt is v
    damping: Float1  # (nv,)
    torque: Float1  # (nv,)
    mass: Float1  # (nb,)
    com: Float2  # (nb, 3)
    gravity: Float1  # (3,)
    rest: Int2  # (k, 2) contacts that the robot's own kernel leaves to their walls, and their rows of moves
    # room to work in
    moves: Float2  # (points, 9)
    tau: Float1  # (nv,)
    b: Float1  # (nv,) accelerations for the second rates of gaps
    q: Float1  # (nq,)
    v: Float1  # (nv,)
    a: Float1  # (nv,)
    h: Float1  # (nv,) bias, or what is left to solve for
    M: Float2  # (nv, nv)
    T: Float2  # (nb, 12)
    S: Float2  # (columns, 6)
    E: Float1  # of elastic joints: their columns in world axes, and what rates alone contribute
    V: Float2  # (nb, 6)
    A: Float2  # (nb, 6)
    x: Float1  # (24,)
    out: Float1  # (7,) gap, rate, rise and unit of a contact, its unit normal
    evaluations: Int  # of the dynamics
    least: Float  # the least contact force seen
    time: Float1  # (1,) for the controller
    switches: Float1  # (switches,) of the controller: positive until one must be thrown
    # the contacts under consideration, k of them in rows 0 ... k - 1
    which: Int1
    J: Float2  # (contacts, nv)
    B: Float2  # (contacts, nv), B Bᵀ = J M^-1 Jᵀ
    gap: Float1  # [m]
    rate: Float1  # [m/s]
    rise: Float1  # [m/s^2]
    K: Float1  # (contacts^2,) Delassus matrix J M^-1 Jᵀ, k x k
    u: Float1  # right-hand side
    e: Float1  # restitution
    lam: Float1  # forces or impulses
    friction: Friction


@struct
class State(Struct):
    """Where the simulation is."""

    # times [s]
    time: Float
    stride: Float  # proposed step
    call: Float  # next call of the controller
    settled: Float  # last time at which it was asked which contacts hold
    struck: Float  # last impact
    counted: Float  # last time at which impacts were counted
    # steps and impacts
    accepted: Int
    rejected: Int
    impacts: Int
    cycles: Int  # impacts that ended a cycle
    rounds: Int  # of the last impact
    fresh: Int  # whether derivative, forces and gaps are those of y
    again: Int  # whether the last step was refused
    stalls: Int  # steps in a row that got nowhere
    repeats: Int  # how often contacts were settled at this time
    holding: Int  # how many contacts hold
    suspected: Int  # how many entries of ``suspects`` count
    target: Int  # the contact that closes first, -1: none
    ends_cycle: Int  # whether the impact ends a cycle
    taken: Float  # kinetic energy [J] that ends of cycles and contacts coming to rest have taken
    # limits
    end: Float  # [s]
    longest: Float  # step [s]
    tie: Float  # [s]
    zeno: Float  # [s]
    cycle: Float  # [s]
    rate: Float  # calls of the controller per second, 0: none
    law: Int
    dense: Int  # whether interpolants are wanted
    tolerance: Float1  # (2,) RTOL, ATOL
    # the step that is tried
    trial: Float1  # (2,) LENGTH of the last step and its ERROR against the tolerance, -1: not known yet
    table: Int1  # (8,) addresses for the robot's own step
    y: Float1  # (n,)
    new: Float1  # (n,)
    work: Float1  # (n,)
    K: Float2  # (16, n)
    F: Float2  # (7, n)
    # contacts
    gaps: Float2  # (contacts, 5) of y: GAP, RATE, RISE, UNIT, SPEED
    after: Float2  # (contacts, 5) of new
    held: Int1  # (contacts,) 1: holds
    force: Float1  # (contacts,) of new
    spare: Float1  # (contacts,)
    how: Int1  # (contacts,) APART, LEAVING or RESTING
    suspects: Int1  # (contacts,)
    closed: Int1  # (contacts,)
    ends: Float1  # (contacts,) when bouncing ends
    last: Float1  # (contacts,) when it was struck last
    # how fast bodies turn
    turning: Float2  # (nb, 6) SPIN and TRAVEL of the body, LEVER, HUB, DISTANCE of joints, SLIDE: its entry of q, -1 where it has none
    fastest: Float  # turn of all bodies
    lever: Float  # the longest
    farthest: Float  # point from its body's origin
    # a controller called in stages
    watched_since: Float
    watched_steps: Int  # tried since


@struct
class Record(Struct):
    """What has happened since Python last looked."""

    # how many rows, impacts, contacts of impacts and turns there are
    rows: Int
    blows: Int
    parts: Int
    turns: Int
    # rows
    t: Float1
    y: Float2  # (rows, n)
    F: Float3  # (rows, 7, n) of the step that ends here; (0, 7, n) where it is not wanted
    force: Float2  # (rows, contacts)
    friction: Float2  # (rows, 3 contacts) tangential forces, world axes; (rows, 0) where nothing is rough
    # impacts
    blow_y: Float2  # (impacts, n) before
    blow_v: Float2  # (impacts, nv) after
    blow_counts: Int2  # (impacts, 4) PARTS, ROUNDS, LAW, CYCLE: whether it ends one
    blow_numbers: Float2  # (impacts, 5) MOMENT [s], CERTIFICATE, KINETIC before, what is LEFT of it and POTENTIAL energy [J]
    # contacts of impacts, one impact behind the other
    part: Int1  # contact
    part_numbers: Float2  # (parts, 19) PLACE, NORMAL, velocities BEFORE and AFTER with their normal parts, IMPULSE, RESTITUTION, TANGENTIAL
    # contacts that begin to hold or are let go
    turn_contact: Int1
    turn_begins: Int1  # 1: begins to hold, 0: is let go
    turn_t: Float1
    turn_ends: Float1  # when its bouncing ends
