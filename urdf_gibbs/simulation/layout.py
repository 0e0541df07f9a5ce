"""The records that compiled code works on: the robot and its contacts (System), where the run is (State), what has happened (Record).

Single numbers are read and written by name. Arrays that other machine code reads by position, and small tables, have named columns.
"""

from __future__ import annotations

from urdf_gibbs.contact.kinematics import Contacts, Tree
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.soil_forces import SoilWheels
from urdf_gibbs.contact.surfaces import Surfaces
from urdf_gibbs.engine.struct import Float, Float1, Float2, Float3, Int, Int1, Int2, Struct, struct
from urdf_gibbs.simulation.friction_layout import Friction
from urdf_gibbs.simulation.stepping_layout import Stepping

# Status codes; the driver stops at every one but OK.
OK, SINGULAR, CONTROLLER, NOT_FINITE, UNDERFLOW, BAD_WALL, JAMMED, CHATTER, NOT_LANDED, CRAWLING, PARADOX = range(11)
# Returned by ``advance``: the end is reached (FINISHED), or Python has to read the record (PAUSED). RETRY: repeat the step, shorter.
FINISHED, PAUSED, RETRY = -1, -2, -3

# Numbers of the blocks.
SOLVE, FACTORISE_MASS, CONTACT_ROWS, FREE_ROWS, DERIVATIVE, STEP, DENSE, UPDATE_GAPS = range(8)
FIRST_CLOSING, OPENING_RATE, IMPACT, CHOOSE_HELD, PROJECT, RESOLVE_CONTACTS, LAND, ADVANCE, REPORT, SAFE_STEP = range(8, 18)
ROUGH_ROWS, ROUGH_SOLVE, ROUGH_FORCES, ROUGH_OPENING, ROUGH_IMPACT, ROUGH_CHOOSE, ROUGH_PROJECT, ROUGH_PARADOX = range(18, 26)
ADVANCE_STEPS, IMPLICIT, SOIL, KEEP_HELD = 26, 27, 28, 29

PARAMETERS = 3  # where the inertial parameters begin in System.constants

LCP, LEAST_NORM, LEAST_NORM_PUSH = range(len(LAWS), len(LAWS) + 3)  # problems that ``solve`` knows besides the impact laws

PRESENT, NEXT, WORK = range(3)  # which state vector: y, new or work of State
APART, LEAVING, RESTING = range(3)  # State.mode: how a contact starts a step

# Columns of State.gaps and State.new_gaps: phi, its first and second time derivative, |grad phi|, speed of the point.
GAP, RATE, ACCEL, GRADIENT, SPEED = range(5)
SPIN, TRAVEL, LEVER, HUB, DISTANCE, SLIDE = range(6)  # columns of State.turning
RTOL, ATOL = range(2)  # State.tolerance
LENGTH, ERROR, COMPUTED_LENGTH, COMPUTED_ERROR = range(4)  # State.trial
STRUCK, ROUNDS, LAW, CYCLE = range(4)  # columns of Record.impact_counts
TIME, CERTIFICATE, KINETIC_BEFORE, KINETIC_AFTER, POTENTIAL, IMPACT_WIDTH = range(6)  # columns of Record.impact_numbers
# Columns of Record.contact_numbers; a velocity is (3,), followed by its normal component.
POSITION, NORMAL, VELOCITY_BEFORE, VELOCITY_AFTER, IMPULSE, RESTITUTION, TANGENTIAL, CONTACT_WIDTH = 0, 3, 6, 10, 14, 15, 16, 19
NORMAL_PART = 3  # offset of the normal component from VELOCITY_BEFORE and VELOCITY_AFTER


@struct
class Code(Struct):
    """Addresses of the robot's machine code; 0 where it has none.

    The last input of ``forward``, ``careful``, ``bias`` and ``potential``, before the output, is System.constants.
    """

    forward: Int  # fast forward dynamics; may report failure
    careful: Int  # slow forward dynamics, used where the fast one fails
    mass: Int
    bias: Int
    placements: Int
    control: Int  # the user's controller
    elastic: Int
    potential: Int
    switches: Int  # values of the controller's switches
    sides: Int  # chooses the sides of the controller's switches
    step: Int  # own_step.py
    dense: Int
    contacts: Int  # contact/own_contacts.py


@struct
class System(Struct):
    """A robot, what it can touch, and working memory."""

    tree: Tree
    contacts: Contacts
    surfaces: Surfaces
    blocks: Int1
    code: Code
    in_stages: Int  # 1: the controller is called in each stage of a step
    constant_torque: Int  # 1: nothing but the constant torque in s.tau acts on the joints
    q_rate_is_v: Int  # 1: dq/dt = v
    damping: Float1  # (nv,)
    torque: Float1  # (nv,)
    mass: Float1  # (nb,)
    com: Float2  # (nb, 3)
    constants: Float1  # gravity (3,), then, where the dynamics read them, the inertial parameters of all bodies (10 nb,)
    has_parameters: Int  # 1: the mass matrix has the inertial parameters as an input as well
    remaining: Int2  # (k, 2) contacts that the robot's own kernel leaves to the walls' code, and their rows of ``moves``
    # working memory
    moves: Float2  # (points, 9) position, velocity and acceleration of each contact point
    tau: Float1  # (nv,)
    b: Float1  # (nv,) joint accelerations used for the second derivatives of the gaps
    q: Float1  # (nq,)
    v: Float1  # (nv,)
    a: Float1  # (nv,)
    h: Float1  # (nv,) bias force, or a right-hand side to solve for
    M: Float2  # (nv, nv)
    T: Float2  # (nb, 12)
    S: Float2  # (columns, 6)
    E: Float1  # elastic joints: their columns in world axes, and the velocity-product terms
    V: Float2  # (nb, 6)
    A: Float2  # (nb, 6)
    x: Float1  # (26,)
    out: Float1  # (7,) GAP, RATE, ACCEL and GRADIENT of a contact, then its unit normal
    evaluations: Int  # of the dynamics
    least_force: Float  # the smallest contact force seen
    time: Float1  # (1,) for the controller
    switches: Float1  # (switches,) of the controller: positive until one has to be thrown
    # the selected contacts, k of them, in rows 0 ... k - 1
    selected: Int1
    J: Float2  # (contacts, nv)
    B: Float2  # (contacts, nv), B Bᵀ = J M^-1 Jᵀ
    gap: Float1  # [m]
    rate: Float1  # [m/s]
    accel: Float1  # [m/s^2]
    K: Float1  # (contacts^2,) Delassus matrix J M^-1 Jᵀ, k x k
    u: Float1  # right-hand side
    e: Float1  # restitution
    lam: Float1  # forces or impulses
    friction: Friction
    stepping: Stepping
    soil: SoilWheels  # none where the ground is rigid


@struct
class State(Struct):
    """Where the run is."""

    # times [s]
    time: Float
    step_length: Float  # proposed step; after a landing, the step taken; of time stepping, every step
    next_call: Float  # of the controller
    settled_at: Float  # when the held contacts were last chosen
    last_impact: Float
    counted_at: Float  # when impacts were last counted
    # steps and impacts
    accepted: Int
    rejected: Int
    impacts: Int
    cycles: Int  # impacts that ended a cycle
    rounds: Int  # of the last impact
    fresh: Int  # 1: derivative, forces and gaps belong to the present y
    retrying: Int  # 1: the last step was rejected
    stalls: Int  # consecutive steps that hardly advanced time
    repeats: Int  # how often contacts have been settled at the present time
    held_count: Int  # number of held contacts
    suspect_count: Int  # number of valid entries of ``suspects``
    target: Int  # the contact that closes first, -1: none
    ends_cycle: Int  # 1: the impact ends a cycle
    friction_work: Float  # energy [J] that friction has taken away
    power: Float1  # (16,) that friction takes away in each stage of a step [W]
    energy_at_rest: Float  # kinetic energy [J] removed by ends of cycles and by contacts coming to rest
    # limits
    end: Float  # [s]
    max_step: Float  # [s]
    tie: Float  # [s]
    zeno: Float  # [s]
    cycle: Float  # [s]
    controller_rate: Float  # calls per second, 0: none
    law: Int
    applied_law: Int  # of the last impact
    impact_in_paradox: Int  # 1: where no contact forces exist there is an impact without collision
    crawls: Int  # how many of the last steps were very short
    slow_since: Float  # when explicit steps were last counted [s]
    slow_steps: Int  # how many there had been then
    together: Int  # how many implicit steps are to follow
    in_a_row: Int  # how many followed each other the last time
    brief: Float  # length of an implicit step [s]
    last_implicit: Float  # time of the last one [s]
    implicit_steps: Int  # how many there were
    implicit_time: Float  # their lengths together [s]
    hurried: Int  # how many groups of HURRIED_IMPACTS impacts have been fast
    hurried_at: Float  # time of the last impact whose number is a multiple of HURRIED_IMPACTS [s]
    dense: Int  # 1: interpolants are wanted
    tolerance: Float1  # (2,) RTOL, ATOL
    # the step that is being tried
    # (4,) LENGTH of the last step, and its ERROR relative to the tolerance (-1: not yet known); the same of one that has been computed
    # in advance (0: none)
    trial: Float1
    table: Int1  # (9,) addresses for the robot's own step
    y: Float1  # (n,) q and v at the start of the step
    new: Float1  # (n,) q and v at its end
    work: Float1  # (n,)
    K: Float2  # (16, n) stage derivatives
    F: Float2  # (7, n) coefficients of the interpolant
    # contacts
    gaps: Float2  # (contacts, 5) at y: GAP, RATE, ACCEL, GRADIENT, SPEED
    new_gaps: Float2  # (contacts, 5) at new
    held: Int1  # (contacts,) 1: held closed
    force: Float1  # (contacts,) at new
    mode: Int1  # (contacts,) APART, LEAVING or RESTING
    suspects: Int1  # (contacts,) those that may close within the step; while contacts are resolved, those held before
    closed: Int1  # (contacts,)
    bounce_ends: Float1  # (contacts,) time at which a sequence of bounces ends
    last_struck: Float1  # (contacts,) time of the contact's last impact
    # upper bounds of the bodies' rotation
    turning: Float2  # (nb, 6) SPIN and TRAVEL of the body; LEVER, HUB, DISTANCE of its joint; SLIDE: its entry of q, -1: none
    fastest_turn: Float  # [rad/s] of all bodies
    longest_lever: Float  # [m]
    farthest_point: Float  # [m] contact point from its body's origin
    # progress with a controller that is called in stages
    watched_since: Float
    watched_steps: Int  # tried since
    # time stepping
    worst_certificate: Float  # of the contact problems
    deepest: Float  # [m] penetration in the middle of a step
    bounces: Int  # contacts that restitution has thrown back


@struct
class Record(Struct):
    """What has happened since Python last emptied the record."""

    # numbers of rows, impacts, contacts of impacts, and contacts that began or ceased to be held
    rows: Int
    impacts: Int
    impact_contacts: Int
    phase_changes: Int
    # rows
    t: Float1
    y: Float2  # (rows, n)
    F: Float3  # (rows, 7, n) of the step that ends here; (0, 7, n) where no interpolants are wanted
    force: Float2  # (rows, contacts)
    work: Float1  # (rows,) energy that friction has taken away since the start [J]
    friction: Float2  # (rows, 3 contacts) tangential forces, world axes; (rows, 0) without friction
    # impacts
    impact_y: Float2  # (impacts, n) before
    impact_v: Float2  # (impacts, nv) after
    impact_counts: Int2  # (impacts, 4) number of contacts STRUCK, ROUNDS, LAW, CYCLE (1: it ends one)
    impact_numbers: Float2  # (impacts, 5) TIME [s], CERTIFICATE, KINETIC_BEFORE, KINETIC_AFTER, POTENTIAL [J]
    # contacts of the impacts, impact after impact
    contact: Int1
    contact_numbers: Float2  # (impact_contacts, 19) POSITION, NORMAL, VELOCITY_BEFORE, VELOCITY_AFTER, IMPULSE, RESTITUTION, TANGENTIAL
    # contacts that begin or cease to be held, or are held in another way
    mode: Int1  # (contacts,) how each is held
    change_contact: Int1
    change_mode: Int1  # how it is held from now on (friction_layout.py), FREE: it is released
    change_time: Float1
    change_accumulation: Float1  # when its bouncing ends
