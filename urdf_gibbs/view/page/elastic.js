// Visuals of elastic links: straight triangles in the frame of the link, bent with the beam.

class Skin {
  constructor(stage, data, node) {
    this.data = data;
    this.joint = stage.robot.joints[data.joint];
    this.axis = data.axis;
    this.eta = data.eta.data;
    this.phi = data.phi;
    this.theta = data.theta;
    this.section = Uint32Array.from(data.section.data);
    let mesh = null;
    node.traverse((object) => { mesh = mesh || (object.isMesh ? object : null); });
    this.geometry = mesh.geometry;
    this.normals = Float32Array.from(this.geometry.attributes.normal.array);
    const rest = this.geometry.attributes.position.array;
    this.arms = new Float64Array(rest.length); // from the axis to the vertices
    for (let n = 0; n < this.section.length; n++) {
      for (let k = 0; k < 3; k++) this.arms[3 * n + k] = rest[3 * n + k] - this.eta[this.section[n]] * this.axis[k];
    }
    this.last = null;
  }

  // Where each section is and how it is turned: 12 numbers, row by row.
  sections(p) {
    const count = this.eta.length, frames = new Float64Array(12 * count);
    const sum = ({ shape, data }, s) => {
      const total = [0, 0, 0], size = shape[1];
      for (let a = 0; a < size; a++) for (let k = 0; k < 3; k++) total[k] += p[a] * data[3 * (s * size + a) + k];
      return total;
    };
    for (let s = 0; s < count; s++) {
      const r = exponential(sum(this.theta, s)), d = sum(this.phi, s);
      for (let k = 0; k < 3; k++) {
        for (let j = 0; j < 3; j++) frames[12 * s + 4 * k + j] = r[3 * k + j];
        frames[12 * s + 4 * k + 3] = d[k] + this.eta[s] * this.axis[k];
      }
    }
    return frames;
  }

  bend(q) {
    const p = amplitudes(this.joint, q);
    if (this.last && p.every((x, a) => x === this.last[a])) return;
    this.last = p;
    const f = this.sections(p), { position, normal } = this.geometry.attributes;
    const x = this.arms, n = this.normals, to = position.array, out = normal.array;
    for (let v = 0, i = 0; v < this.section.length; v++, i += 3) {
      const s = 12 * this.section[v];
      for (let k = 0, o = s; k < 3; k++, o += 4) {
        to[i + k] = f[o] * x[i] + f[o + 1] * x[i + 1] + f[o + 2] * x[i + 2] + f[o + 3];
        out[i + k] = f[o] * n[i] + f[o + 1] * n[i + 1] + f[o + 2] * n[i + 2];
      }
    }
    position.needsUpdate = true;
    normal.needsUpdate = true;
    this.geometry.boundingSphere = null; // made anew when a click or the camera asks
    this.geometry.boundingBox = null;
  }
}
