// Tracks that wheels leave on the ground: ribbons as far as the motion has come, coloured by the slip of the wheel.

const ROLLS = [0.043, 0.04, 0.033], SLIPS = [0.6, 0.033, 0.004], FULL_SLIP = 0.3; // colours at no slip, and from this slip on

class Tracks {
  constructor(motion) {
    this.ribbons = (motion.record.tracks || []).map((track) => this.ribbon(motion, track));
    if (!this.ribbons.length) return;
    const help = `of wheels on the ground: dark where they roll, red where they slip by ${100 * FULL_SLIP} % or more`;
    const layer = motion.overlays.layer("tracks", "Tracks", "k", true, help);
    for (const ribbon of this.ribbons) layer.objects.push(ribbon.mesh);
  }

  // Two triangles for each pair of frames in which the wheel touches.
  ribbon(motion, track) {
    const edges = track.edges.data, slip = track.slip.data, touches = track.touches.data, colours = [], index = [], upTo = [];
    for (let k = 0; k < touches.length; k++) {
      const s = Math.min(1, Math.abs(slip[k]) / FULL_SLIP), colour = ROLLS.map((x, i) => x + s * (SLIPS[i] - x));
      colours.push(...colour, ...colour);
      if (k && touches[k] && touches[k - 1]) index.push(2 * k - 2, 2 * k - 1, 2 * k, 2 * k - 1, 2 * k + 1, 2 * k);
      upTo.push(index.length);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(edges, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
    geometry.setIndex(index);
    const mesh = motion.stage.add(new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ vertexColors: true, toneMapped: false, side: THREE.DoubleSide })));
    mesh.name = "track " + track.name;
    mesh.frustumCulled = false;
    return { mesh, upTo };
  }

  draw(frame) {
    for (const { mesh, upTo } of this.ribbons) mesh.geometry.setDrawRange(0, upTo[frame]);
  }
}
