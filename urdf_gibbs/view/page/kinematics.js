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

// exp of a rotation vector (3), as the nine numbers of a matrix, row by row.
function exponential([x, y, z]) {
  const square = x * x + y * y + z * z, size = Math.sqrt(square);
  const near = square < 1e-6; // the series is exact to round-off there, the quotients are not
  const a = near ? 1 - square / 6 * (1 - square / 20) : Math.sin(size) / size;
  const half = Math.sin(size / 2) / size;
  const b = near ? 0.5 - square / 24 * (1 - square / 30) : 2 * half * half;
  return [
    1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y,
    b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x,
    b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y),
  ];
}

// p (M) of an elastic joint: its coordinates, and with foreshortening their products.
function amplitudes(joint, q) {
  const { names, pairs } = joint.beam, delta = names.map((name, j) => q[joint.iq + j]);
  return [...delta, ...pairs.map(([j, k]) => (j === k ? 0.5 : 1) * delta[j] * delta[k])];
}

// sum_a factors_a vectors_a (3), over as many as there are vectors.
function combined(factors, vectors) {
  const total = [0, 0, 0];
  vectors.forEach((vector, a) => { for (let i = 0; i < 3; i++) total[i] += factors[a] * vector[i]; });
  return total;
}

// q as it is drawn: elastic coordinates times a factor.
function exaggerated(robot, q, factor) {
  if (factor === 1) return q;
  const drawn = Array.from(q);
  for (const joint of robot.joints) if (joint.beam) for (let j = 0; j < joint.nq; j++) drawn[joint.iq + j] *= factor;
  return drawn;
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
    case "elastic": {
      const p = amplitudes(joint, q), r = exponential(combined(p, joint.beam.turn)), d = combined(p, joint.beam.tip);
      return [r[0], r[1], r[2], d[0], r[3], r[4], r[5], d[1], r[6], r[7], r[8], d[2], 0, 0, 0, 1];
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

// Of a bent elastic link, in the frame of the body at its root.
function beamCentre(joint, q) {
  const { mass, first, moments } = joint.beam, moved = combined(amplitudes(joint, q), moments);
  return first.map((x, i) => (x + moved[i]) / mass);
}

function centreOfMass(robot, frames, q) {
  let mass = 0;
  const moment = [0, 0, 0];
  robot.bodies.forEach(([m, ...c], i) => {
    const p = transformed(frames[i], c);
    mass += m;
    for (let k = 0; k < 3; k++) moment[k] += m * p[k];
  });
  for (const joint of robot.joints) {
    if (!joint.beam) continue;
    const p = transformed(frameOf(frames, joint.parent), beamCentre(joint, q));
    mass += joint.beam.mass;
    for (let k = 0; k < 3; k++) moment[k] += joint.beam.mass * p[k];
  }
  return mass > 0 ? moment.map((x) => x / mass) : null;
}

// Of a rigid motion.
function inverse(m) {
  const r = [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]];
  const p = [0, 3, 6].map((k) => -(r[k] * m[3] + r[k + 1] * m[7] + r[k + 2] * m[11]));
  return [r[0], r[1], r[2], p[0], r[3], r[4], r[5], p[1], r[6], r[7], r[8], p[2], 0, 0, 0, 1];
}

// The unit quaternion (x, y, z, w) of a frame, w not negative: from the largest of its entries, so that nothing cancels.
function quaternionOf(m) {
  const squares = [1 + m[0] - m[5] - m[10], 1 - m[0] + m[5] - m[10], 1 - m[0] - m[5] + m[10], 1 + m[0] + m[5] + m[10]];
  const k = squares.indexOf(Math.max(...squares));
  const rows = [
    [squares[0], m[1] + m[4], m[2] + m[8], m[9] - m[6]],
    [m[1] + m[4], squares[1], m[6] + m[9], m[2] - m[8]],
    [m[2] + m[8], m[6] + m[9], squares[2], m[4] - m[1]],
    [m[9] - m[6], m[2] - m[8], m[4] - m[1], squares[3]],
  ];
  const scale = (rows[k][3] < 0 ? -1 : 1) / Math.hypot(...rows[k]);
  return rows[k].map((x) => x * scale);
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
