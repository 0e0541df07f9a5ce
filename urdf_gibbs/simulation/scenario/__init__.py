"""Scenario files: a simulation described in TOML, read by ``read_scenario``.

::

    title = "..."
    duration = 1.5                  # s; required
    gravity = [0.0, 0.0, -9.81]     # m/s^2
    scheme = "events"               # or time_stepping
    step = 1e-3                     # s, of time_stepping
    law = "newton"                  # newton, newton_equality, poisson, moreau, energetic
    restitution = 1.0               # of walls and pairs that have none of their own
    friction = 0.5                  # or [static, kinetic], "urdf", ["urdf", 0.5]; of what has none of its own
    paradox = "impact"              # or "stop": where no contact forces obey Coulomb's law

    [robot]
    file = "branched12.urdf"        # from the folder of this file, or the name of a bundled model; required
    base = "fixed"                  # fixed, floating, planar
    mimic = true
    package_dirs = []

    [[flexible]]                    # an elastic link; what it does not give is as the URDF's own <flexible> of that link has it
    link = "link1"
    modes = "y=clamped-free:2"      # and length, direction, mass_per_length, EI_y, EI_z, EA, GJ, kGA, J = [J'x, J'y, J'z],
    EI_z = 1000.0                   # damping = zeta or [alpha, beta], theory, foreshortening, elastic_rotary

    [links.link2]                   # another inertia than the URDF's of a rigid link; what it does not give stays
    mass = 1.2                      # kg
    centre_of_mass = [0.1, 0, 0]    # m, in the link's frame
    inertia = [0.1, 0, 0, 0.1, 0, 0.1]        # ixx, ixy, ixz, iyy, iyz, izz about it [kg m^2]
    # scale = 1.1                   # in their place: of mass and inertia together

    [start]                         # by joint; what is not named is at zero
    q1 = "pi/6"                     # planar joint: [x, y, angle]
    "link1.elastic" = [0.01, 0.0]   # of an elastic link; or "link1.elastic.y1" = 0.01
    root_joint = {position = [0, 0, 1], rpy = [0, 0, 0]}      # floating; or quaternion = [x, y, z, w]

    [start_velocity]                # by joint; floating: [vx, vy, vz, wx, wy, wz] in the moved frame, planar: [vx, vy, w]
    q1 = 0.5

    [torques]                       # constant, N m or N; as the velocities
    q1 = 2.0

    [controller]                    # in the place of torques, for all joints that turn or slide
    kind = "pd"                     # kp (pose - q) - kd v; gravity_compensation: the same and what holds the joints against gravity;
                                    # computed_torque: M (kp (pose - q) - kd v) + h, kp in 1/s^2, kd in 1/s
    rate = 1000.0                   # calls per second
    kp = 40.0                       # N m/rad, N/m: for all joints, or {q1 = 40.0, ...}; 0 where it is not given
    kd = {q1 = 1.0, q2 = 0.5}       # N m s/rad, N s/m
    pose = {q1 = "pi/6"}            # as in [start]; what is not named is as it is at the start
    path = [{time = 1.0, q1 = 0.5}, {time = 3.0, q1 = 0.0, q2 = 1.0}]         # from the pose on: where to be when, at rest there

    [controller]                    # of a robot on wheels, on a floating base (simulation/drive.py)
    kind = "drive"
    wheels = ["LFW", "RFW", "LRW"]  # joints of the driven wheels
    steering = ["LFD", "RFD"]       # direction joints that carry some of these; without any the wheels turn at different speeds
    speed = 0.3                     # m/s
    steer = "5 deg"                 # of the first steered wheel, the others by Ackermann's geometry; or heading, or path = [[x, y], ...]
    look_ahead = 1.0                # m, on a path or to a heading
    ramp = 1.0                      # s, in which speed and angle are reached
    kp = 4000.0                     # 1/s^2 and 1/s, of steering by computed torque
    kd = 120.0
    gain = 2.0                      # N m s/rad, of the wheels' speeds
    slip = 0.2                      # a limiter holds the slip of each wheel below this; none where it is not given
    rate = 200.0

    [soil]                          # that yields under the wheels, in the place of rigid ground, with either scheme
    kind = "lunar"                  # or fjs1; and n, kc, kphi, cohesion, friction_angle, shear_modulus, a0, a1, damping (contact/soil.py)
    cohesion = 170.0

    [tolerances]                    # rtol, atol, max_step, tie, zeno, cycle, resolution
    rtol = 1e-10

    [contacts]                      # points = "collision": the shapes of <collision>
    points = ["O1", {link = "link2", position = [0.5, 0, 0], radius = 0.1, friction = 0.8, name = "middle"}]
    pairs = [["O1", "middle"], ["O1", "O5", 0.2, 0.5]]        # the distance of the centres at contact [m], friction; or "auto"
    cylinders = "auto"              # of points = "collision": wheels roll; "roll" or "stand": all do
    rims = 3                        # of each wheel, evenly over its width; without it 2, or as many as a terrain's grid needs
    crown = 0.01                    # m: the outer rims are smaller by this, as a tread that is an arc
    tyres = 0.05                    # m: radius of the edges of all wheels, or {link = 0.05, ...}; with half of the width a wheel is a torus
    joint_limits = false
    damping = false
    joint_friction = "urdf"         # dry, or one bound for all joints [N, N m], or {q1 = 0.5, ...}; none where it is not given

    [[walls]]                       # plane, circle, cylinder, sphere, ellipsoid, box, corridor, heightfield, terrain
    kind = "circle"                 # the other keys are the arguments of that class of urdf_gibbs.walls; a heightfield may have
                                    # file = "ground.npz" in the place of heights, x and y, as walls.save_terrain writes it
    radius = 2.5
    motion = {kind = "vibration", amplitude = [0, 0.1, 0], omega = 6.0, phase = 0.0}          # or drift, velocity

    [reference]                     # results to compare with; they change nothing
    source = "Shafei 2018, Table 3"

    [[reference.impacts]]           # time and points are required
    time = 0.3851                   # s
    points = ["O1", "O5"]
    angle = 33.12                   # of attack, degrees
    velocity = 6.32                 # change of the normal velocity of each point, m/s
    impulse = 5.26                  # on each point, N s

SI units and world axes; a number may be written as a formula in quotes. ``rpy = [...]`` may stand for a wall's ``rotation``.
schema.py holds this layout as data, reader.py reads it, lines.py finds the lines of its mistakes.
"""

from urdf_gibbs.simulation.scenario.model import Reference, ReferenceImpact, Scenario
from urdf_gibbs.simulation.scenario.problems import Problem, ScenarioError
from urdf_gibbs.simulation.scenario.reader import parse_scenario, read_scenario

__all__ = ["Problem", "Reference", "ReferenceImpact", "Scenario", "ScenarioError", "parse_scenario", "read_scenario"]
