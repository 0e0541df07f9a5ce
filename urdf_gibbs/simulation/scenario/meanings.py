"""What each key of a scenario means, with its unit: one sentence for people, in templates and in the documentation.

The keys stand as explained.py names their tables: "robot.file", "walls.radius". Types, limits and defaults are not said here: they are
read from schema.py and from the classes and functions that take the values.
"""

from typing import NamedTuple


class Meaning(NamedTuple):
    """``unit`` as text, "" where there is none; ``without``: what counts where a key without a default is not given."""

    unit: str
    text: str
    without: str = ""


_MEANINGS: dict[str, tuple[str, str] | tuple[str, str, str]] = {
    # at the top
    "title": ("", "what the scene is called in reports and on pages"),
    "duration": ("s", "how long to simulate"),
    "gravity": ("m/s^2", "in world axes"),
    "scheme": ("", "events: each impact at its time, exact to the tolerances; time_stepping: steps of one length, for many contacts"),
    "step": ("s", "length of the steps of time_stepping"),
    "law": ("", "how impulses follow from the velocities before an impact; time_stepping takes newton or moreau"),
    "restitution": ("", "from 0 (no bounce) to 1 (no loss), of all that has none of its own"),
    "friction": ("", 'of contacts: a number, [static, kinetic], "urdf" (as the links say), or ["urdf", number of the others]'),
    "paradox": ("", "where no contact forces obey Coulomb's law: an impact without collision, or a stop with an error"),
    # [robot]
    "robot.file": (
        "",
        "its file, from the folder of this file on, or the name of a robot that comes with a package, such as a bundled model",
    ),
    "robot.base": ("", "what the root link may do"),
    "robot.mimic": ("", "whether mimic joints follow their masters; false: they are free"),
    "robot.package_dirs": ("", "folders that hold the packages of package:// names, or other meshes"),
    # the tables that name joints
    "start.JOINT": ("rad, m", "where the joint starts; planar: [x, y, angle], floating: a table of the keys below", "zero"),
    "start.JOINT.position": ("m", "of a floating base, or another floating joint"),
    "start.JOINT.rpy": ("rad", "roll, pitch and yaw, in the place of quaternion"),
    "start.JOINT.quaternion": ("", "x, y, z, w, in the place of rpy"),
    "start_velocity.JOINT": (
        "rad/s, m/s",
        "of the joint at the start; floating: [vx, vy, vz, wx, wy, wz] in the moved frame, planar: [vx, vy, w]",
        "zero",
    ),
    "torques.JOINT": ("N m, N", "constant torque or force of the joint; lists as in start_velocity", "zero"),
    # [contacts]
    "contacts.points": (
        "",
        'what can touch: "collision" (the shapes of <collision>), or a list of links and of the tables below',
        "joint origins and tips",
    ),
    "contacts.pairs": ("", '[point, point], also with a distance [m] and a friction, for points that can touch each other; "auto": all'),
    "contacts.joint_limits": ("", "whether the limits of the joints act"),
    "contacts.damping": ("", "whether <dynamics damping> of the joints acts"),
    "contacts.joint_friction": ("N m, N", 'dry friction of the joints: "urdf", one number for all, or a table of numbers by joint'),
    "contacts.cylinders": ("", "how cylinders of <collision> touch: roll on their rims, stand on points; auto: wheels roll"),
    "contacts.rims": ("", "of each wheel, evenly over its width", "2, or as many as the grid of a terrain needs"),
    "contacts.crown": ("m", "by how much the outer rims of a wheel are smaller: a tread that is an arc"),
    "contacts.tyres": ("m", "radius of the edges of wheels: one for all, or a table by link; half of the width makes a torus"),
    "contacts.points.name": ("", "of the point, in reports", "the link's"),
    "contacts.points.link": ("", "that carries the point"),
    "contacts.points.position": ("m", "in the frame of the link"),
    "contacts.points.radius": ("m", "of a sphere about the point"),
    "contacts.points.friction": ("", "of this point on any wall: a number, or [static, kinetic]", "the wall's"),
    # [controller]
    "controller.kind": (
        "",
        "pd: kp (pose - q) - kd v; gravity_compensation: and what holds the joints against gravity; "
        "computed_torque: M (kp (pose - q) - kd v) + h; drive: wheels",
    ),
    "controller.rate": ("1/s", "how often the controller is asked; its answer is kept in between"),
    "controller.kp": ("N m/rad, N/m", "for all joints, or a table by joint; of computed_torque in 1/s^2"),
    "controller.kd": ("N m s/rad, N s/m", "for all joints, or a table by joint; of computed_torque in 1/s"),
    "controller.pose": ("rad, m", "a table as [start]: where to hold the joints; those not named as they start"),
    "controller.path": ("", "a list of {time = seconds, joint = angle, ...}: where to be when, at rest there"),
    "controller.drive.rate": ("1/s", "how often the controller is asked; its answer is kept in between"),
    "controller.drive.wheels": ("", "joints of the driven wheels"),
    "controller.drive.steering": ("", "joints that steer; without any the wheels turn at different speeds"),
    "controller.drive.speed": ("m/s", "of the body; negative: backwards"),
    "controller.drive.ramp": ("s", "in which the speed and a given angle are reached"),
    "controller.drive.kp": ("1/s^2", "of the steering"),
    "controller.drive.kd": ("1/s", "of the steering"),
    "controller.drive.gain": ("N m s/rad", "of the speeds of the wheels"),
    "controller.drive.slip": ("", "a limiter holds the slip of each wheel below this", "no limiter"),
    "controller.drive.steer": ("rad", "of the first steered wheel, the others by Ackermann's geometry"),
    "controller.drive.heading": ("rad", "from x, in the place of steer"),
    "controller.drive.path": ("m", "points [x, y] in the plane, in the place of steer and heading"),
    "controller.drive.look_ahead": ("m", "how far ahead on a path, or towards a heading, the robot looks"),
    # [soil]
    "soil.kind": ("", "the numbers that the others change; the whole table stands for soil that yields under wheels"),
    "soil.n": ("", "exponent of the sinkage"),
    "soil.kc": ("N/m^(n+1)", "cohesive modulus"),
    "soil.kphi": ("N/m^(n+2)", "frictional modulus"),
    "soil.cohesion": ("Pa", "of the soil"),
    "soil.friction_angle": ("rad", "of the soil"),
    "soil.shear_modulus": ("m", "of the deformation by shear"),
    "soil.a0": ("", "where the stress is largest, without slip, over the angle at which the wheel enters the soil"),
    "soil.a1": ("", "how much that grows with the slip"),
    "soil.damping": ("Pa s/m", "pressure for each m/s of sinking"),
    # [[flexible]]
    "flexible.link": ("", "that is elastic; what is not given is as the URDF's own <flexible> of the link has it"),
    "flexible.direction": ("", "from the link's origin to the tip, in the link's frame", "towards the farthest child joint"),
    "flexible.J": ("kg m", "inertia of the sections for each metre, about x, y and z"),
    "flexible.damping": ("", "ratio of every mode, or [alpha, beta] of alpha M + beta K"),
    "flexible.modes": ("", '"clamped-free:2", or for each direction "y=clamped-free:2 torsion=clamped-free:1"'),
    "flexible.theory": ("", "of bending"),
    "flexible.foreshortening": ("", "whether bending shortens the link, which stiffens it when it turns fast"),
    "flexible.elastic_rotary": ("", "whether the sections have inertia when they turn by bending"),
    "flexible.length": ("m", "of the beam", "to the farthest child joint"),
    "flexible.mass_per_length": ("kg/m", "of the beam", "mass of the link / length"),
    "flexible.EI_y": ("N m^2", "stiffness of bending along y", "rigid"),
    "flexible.EI_z": ("N m^2", "stiffness of bending along z", "rigid"),
    "flexible.EA": ("N", "stiffness of stretch", "rigid"),
    "flexible.GJ": ("N m^2", "stiffness of torsion", "rigid"),
    "flexible.kGA": ("N", "shear stiffness of the theory of Timoshenko"),
    # [links.LINK]
    "links.LINK.mass": ("kg", "in the place of the URDF's"),
    "links.LINK.centre_of_mass": ("m", "in the link's frame, in the place of the URDF's"),
    "links.LINK.inertia": ("kg m^2", "ixx, ixy, ixz, iyy, iyz, izz about it, in the link's axes, in the place of the URDF's"),
    "links.LINK.scale": ("", "of mass and inertia together, in the place of the other three keys"),
    # [[walls]]
    "walls.kind": ("", "each has keys of its own"),
    "walls.normal": ("", "a vector of any length that points to the free side"),
    "walls.point": ("m", "of the plane"),
    "walls.radius": ("m", "of the wall"),
    "walls.centre": ("m", "where its middle is"),
    "walls.axis": ("", "a vector of any length"),
    "walls.side": ("", "where the robot is"),
    "walls.semi_axes": ("m", "of the ellipsoid"),
    "walls.size": ("m", "edges of the box"),
    "walls.rotation": ("", "three lists of three numbers, whose columns are the wall's axes in the world"),
    "walls.rpy": ("rad", "roll, pitch and yaw, in the place of rotation"),
    "walls.width": ("m", "between the two planes"),
    "walls.heights": ("m", "a list for each x of the heights over all y; between them the ground is smooth"),
    "walls.x": ("m", "[first, last] of the ground"),
    "walls.y": ("m", "[first, last] of the ground"),
    "walls.file": ("", "in the place of heights, x and y: an .npz as walls.save_terrain writes it"),
    "walls.seed": ("", "another number makes another ground of the same kind"),
    "walls.spacing": ("m", "of the grid, at most"),
    "walls.roughness": ("m", "root mean square of the height of the random part"),
    "walls.hurst": ("", "of its spectrum, in (0, 1]: small is jagged, large is rolling"),
    "walls.wavelengths": ("m", "[shortest, longest] of the random part; four spacings or more"),
    "walls.craters": ("1/(100 m^2)", "how many, on average"),
    "walls.crater_sizes": ("m", "[smallest, largest] diameter"),
    "walls.crater_depth": ("", "over the diameter"),
    "walls.rocks": ("1/(100 m^2)", "how many, on average"),
    "walls.rock_sizes": ("m", "[smallest, largest] diameter"),
    "walls.rock_height": ("", "over the diameter"),
    "walls.slope": ("rad", "of the whole ground"),
    "walls.uphill": ("", "[x, y]: direction of the slope"),
    "walls.level": ("m", "[x, y, radius] of an even place to start from", "none"),
    "walls.restitution": ("", "of this wall", "the scene's"),
    "walls.friction": ("", "of this wall: a number, or [static, kinetic]", "the scene's"),
    "walls.motion": ("", "a table of the keys below", "it stands"),
    "walls.name": ("", "in reports", "the kind"),
    "walls.motion.kind": ("", "vibration: amplitude sin(omega t + phase); drift: at a velocity"),
    "walls.motion.amplitude": ("m", "in world axes"),
    "walls.motion.omega": ("rad/s", "of the vibration"),
    "walls.motion.phase": ("rad", "of the vibration"),
    "walls.motion.velocity": ("m/s", "of the drift, in world axes"),
    # [tolerances]
    "tolerances.rtol": ("", "relative, for each step of the integrator"),
    "tolerances.atol": ("rad, m, rad/s, m/s", "absolute, for each step of the integrator"),
    "tolerances.max_step": ("s", "longest step of the integrator"),
    "tolerances.tie": ("s", "contacts that would close within this time of each other are solved together"),
    "tolerances.zeno": ("s", "a bounce shorter than this is the last"),
    "tolerances.cycle": ("s", "of contacts that pass impacts back and forth within this time a bounce shorter than it is the last"),
    "tolerances.resolution": ("s", "what is faster on a wall that is a Python function may be missed"),
    # [reference]
    "reference.source": ("", "where the results to compare with come from; they change nothing"),
    "reference.impacts.time": ("s", "of a published impact"),
    "reference.impacts.points": ("", "that strike"),
    "reference.impacts.angle": ("deg", "of attack"),
    "reference.impacts.velocity": ("m/s", "change of the normal velocity of each point"),
    "reference.impacts.impulse": ("N s", "on each point"),
}

MEANINGS = {name: Meaning(*entry) for name, entry in _MEANINGS.items()}
