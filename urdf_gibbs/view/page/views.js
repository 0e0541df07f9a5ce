// Where the camera stands: at home, so that the robot fills the picture, or along an axis.

const MARGIN = 1.1; // of a robot that fills the picture
const BAR = 34; // px at the top for the buttons
const LEAST = 0.2; // of the picture that buttons and names leave to the robot

class Views {
  constructor(stage) {
    this.stage = stage;
    const up = stage.up, axis = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0)].find((one) => Math.abs(one.dot(up)) < 0.7);
    const front = axis.addScaledVector(up, -axis.dot(up)).normalize(), right = front.clone().cross(up);
    this.ways = { front, side: right, top: up.clone().addScaledVector(right, 1e-4).normalize() }; // from above x points to the right
    this.last = "";
    this.margin = MARGIN;
  }

  // From the front, the right side or above; once more: from the other side.
  along(name) {
    const back = this.last === name;
    this.fit(this.ways[name].clone().multiplyScalar(back ? -1 : 1));
    this.last = back ? "" : name;
  }

  reset() {
    const { position, target } = this.stage.data.camera;
    this.last = "";
    if (this.stage.alone) return this.fit(this.stage.home);
    const from = new THREE.Vector3(...position), to = new THREE.Vector3(...target);
    const narrow = Math.max(1, 1 / this.stage.viewer.camera.aspect);
    this.look(to.clone().add(from.sub(to).multiplyScalar(narrow)), to);
  }

  // The robot fills the picture, seen from where the camera is, or from a direction in the world.
  fit(direction) {
    const { camera, controls } = this.stage.viewer, turned = this.stage.viewer.scene.quaternion;
    const corners = this.stage.corners();
    const box = new THREE.Box3().setFromPoints(corners), target = box.getCenter(new THREE.Vector3());
    const away = direction ? direction.clone().applyQuaternion(turned) : camera.position.clone().sub(controls.target).normalize();
    const frame = new THREE.Matrix4().lookAt(away, new THREE.Vector3(), new THREE.Vector3(0, 1, 0));
    const [right, above] = [0, 1].map((k) => new THREE.Vector3().setFromMatrixColumn(frame, k));
    for (const axis of [right, above]) { // the middle of what is seen, which is not that of the box
      const along = corners.map((corner) => corner.dot(axis));
      target.addScaledVector(axis, 0.5 * (Math.min(...along) + Math.max(...along)) - target.dot(axis));
    }
    const steep = Math.tan(0.5 * camera.fov * DEGREE), wide = steep * camera.aspect * this.room();
    const high = steep * Math.min(1, this.margin * Math.max(LEAST, 1 - 2 * BAR / this.stage.viewer.dom_element.offsetHeight));
    let distance = 2 * camera.near;
    for (const corner of corners) {
      const p = corner.sub(target);
      distance = Math.max(distance, p.dot(away) + this.margin * Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(above)) / high));
    }
    const back = turned.clone().invert();
    target.applyQuaternion(back);
    this.last = "";
    this.look(target.clone().addScaledVector(away.clone().applyQuaternion(back), distance), target);
  }

  // The share of the picture's width that is not taken by names.
  room() {
    const { overlays, viewer } = this.stage;
    return overlays?.labels?.on ? Math.max(LEAST, 1 - 2 * overlays.labels.aside / viewer.dom_element.offsetWidth) : 1;
  }

  // Both in the world.
  look(position, target) {
    const { camera, controls, scene } = this.stage.viewer;
    camera.position.copy(position).applyQuaternion(scene.quaternion);
    controls.target.copy(target).applyQuaternion(scene.quaternion);
    controls.update();
    this.stage.viewer.set_dirty();
  }
}
