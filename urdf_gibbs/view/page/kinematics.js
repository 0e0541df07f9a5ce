// Forward kinematics: q (nq) -> frames of the moving bodies in the world, 16 numbers row by row, in double precision.

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function multiply(a, b) {
  const c = new Array(16);
  for (let i = 0; i < 16; i += 4) {
    for (let j = 0; j < 4; j++) {
      c[i + j] = a[i] * b[j] + a[i + 1] * b[4 + j] + a[i + 2] * b[8 + j] + a[i + 3] * b[12 + j];
    }
  }
  return c;
}

function transformed(m, p) {
  return [0, 4, 8].map((i) => m[i] * p[0] + m[i + 1] * p[1] + m[i + 2] * p[2] + m[i + 3]);
}

function rotationAbout(axis, angle) {
  const [x, y, z] = axis, c = Math.cos(angle), s = Math.sin(angle), t = 1 - c;
  return [
    t * x * x + c, t * x * y - s * z, t * x * z + s * y, 0,
    t * x * y + s * z, t * y * y + c, t * y * z - s * x, 0,
    t * x * z - s * y, t * y * z + s * x, t * z * z + c, 0,
    0, 0, 0, 1,
  ];
}

function rotationOfQuaternion(x, y, z, w) {
  const n = 2 / (x * x + y * y + z * z + w * w);
  return [
    1 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w), 0,
    n * (x * y + z * w), 1 - n * (x * x + z * z), n * (y * z - x * w), 0,
    n * (x * z - y * w), n * (y * z + x * w), 1 - n * (x * x + y * y), 0,
    0, 0, 0, 1,
  ];
}

// The motion of one joint, in the frame in which it stands at q = 0.
function jointMotion(joint, q) {
  const i = joint.iq;
  let m;
  switch (joint.type) {
    case "prismatic": {
      const d = joint.ratio * q[i] + joint.offset;
      m = IDENTITY.slice();
      [m[3], m[7], m[11]] = joint.axis.map((x) => d * x);
      return m;
    }
    case "floating":
      m = rotationOfQuaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6]);
      [m[3], m[7], m[11]] = [q[i], q[i + 1], q[i + 2]];
      return m;
    case "planar": {
      const p = joint.plane;
      m = rotationAbout(joint.axis, q[i + 2]);
      [m[3], m[7], m[11]] = [0, 3, 6].map((r) => p[r] * q[i] + p[r + 1] * q[i + 1]);
      return m;
    }
    default:
      return rotationAbout(joint.axis, joint.ratio * q[i] + joint.offset);
  }
}

function bodyFrames(robot, q) {
  const frames = [];
  for (const joint of robot.joints) {
    const parent = joint.parent < 0 ? IDENTITY : frames[joint.parent];
    frames.push(multiply(multiply(parent, joint.placement), jointMotion(joint, q)));
  }
  return frames;
}

function frameOf(frames, body) {
  return body < 0 ? IDENTITY : frames[body];
}

function centreOfMass(robot, frames) {
  let mass = 0;
  const moment = [0, 0, 0];
  robot.bodies.forEach(([m, ...c], i) => {
    const p = transformed(frames[i], c);
    mass += m;
    for (let k = 0; k < 3; k++) moment[k] += m * p[k];
  });
  return mass > 0 ? moment.map((x) => x / mass) : null;
}

// Roll, pitch, yaw [rad] (URDF's order) of a quaternion, and back: what sliders of a free base show.
function rpyOfQuaternion(x, y, z, w) {
  const m = rotationOfQuaternion(x, y, z, w);
  return [Math.atan2(m[9], m[10]), Math.asin(Math.max(-1, Math.min(1, -m[8]))), Math.atan2(m[4], m[0])];
}

function quaternionOfRpy(roll, pitch, yaw) {
  const [a, b, c] = [roll / 2, pitch / 2, yaw / 2];
  const [ca, sa, cb, sb, cc, sc] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b), Math.cos(c), Math.sin(c)];
  return [sa * cb * cc - ca * sb * sc, ca * sb * cc + sa * cb * sc, ca * cb * sc - sa * sb * cc, ca * cb * cc + sa * sb * sc];
}
