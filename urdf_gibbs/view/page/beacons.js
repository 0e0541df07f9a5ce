// Beacons: a ball at the origin of each lit link that has nothing drawn that could light up.

class Beacons {
  constructor(stage) {
    this.stage = stage;
    this.balls = new Map();
    stage.onMove(() => this.place());
  }

  show(names) {
    for (const ball of this.balls.values()) ball.removeFromParent();
    this.balls.clear();
    const radius = this.stage.data.camera.robot_size * 0.025;
    for (const link of this.stage.robot.links) {
      if (link.visuals || !names.includes(link.name)) continue;
      const material = new THREE.MeshBasicMaterial({ color: tint(0xd55e00), toneMapped: false, depthTest: false, transparent: true, opacity: 0.85 });
      const ball = new THREE.Mesh(new THREE.SphereGeometry(radius, 20, 14), material);
      ball.renderOrder = 9; // seen through what is in front of it
      this.balls.set(link.name, this.stage.add(ball));
    }
    this.place();
  }

  place() {
    for (const [name, ball] of this.balls) place(ball, this.stage.linkMatrix(name));
    this.stage.viewer.set_dirty();
  }
}
