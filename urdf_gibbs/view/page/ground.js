// The ground: a grid and the shadows on it, below the robot wherever that goes; behind it where a motion in a plane is seen face-on.

const FADES = 5; // times the size of the scene: where the ground has faded out

class Ground {
  constructor(stage) {
    this.stage = stage;
    const { size, robot_size, grid, ground, target } = stage.data.camera;
    const faceOn = Math.abs(stage.home.dot(stage.up)) < 1e-6;
    this.normal = faceOn ? stage.home.clone() : stage.up.clone();
    this.margin = (stage.robot.stick ? 0.012 : 0.001) * robot_size; // a stick figure has rods about its lines
    this.known = faceOn || ground === null ? Infinity : ground;
    this.reach = FADES * size;
    this.object = new THREE.Group(); // its z is the normal
    const upwards = faceOn ? stage.up : new THREE.Vector3(0, 1, 0).applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.normal));
    const across = upwards.clone().cross(this.normal);
    this.object.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(across, upwards, this.normal));
    this.centre = new THREE.Vector3(...target);
    const sheet = new THREE.PlaneGeometry(2 * this.reach, 2 * this.reach);
    this.lines = new THREE.Mesh(sheet, this.gridMaterial(grid));
    this.lines.renderOrder = -1;
    this.shade = new THREE.Mesh(new THREE.CircleGeometry(1, 48), new THREE.ShadowMaterial({ opacity: 0.3, depthWrite: false }));
    this.shade.renderOrder = -2; // both behind what is glass
    this.shade.receiveShadow = true;
    this.object.add(this.lines, this.shade);
    stage.viewer.scene.add(this.object);
    stage.onMove(() => this.settle());
  }

  // Lines of the width of a pixel at any distance, fading where they would run into each other and far away.
  gridMaterial(cell) {
    return new THREE.ShaderMaterial({
      uniforms: { cell: { value: cell }, reach: { value: this.reach }, origin: { value: new THREE.Vector2() }, ink: { value: new THREE.Color() }, floor: { value: new THREE.Color() } },
      vertexShader: "varying vec2 at; uniform vec2 origin; void main() { at = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 ); }",
      fragmentShader: `varying vec2 at; uniform float cell, reach; uniform vec2 origin; uniform vec3 ink, floor;
        float lines( vec2 p ) {
          vec2 step = fwidth( p ), off = abs( fract( p - 0.5 ) - 0.5 ) / step;
          vec2 on = ( 1.0 - min( off, 1.0 ) ) * clamp( 1.0 - 2.5 * step, 0.0, 1.0 );
          return max( on.x, on.y );
        }
        void main() {
          vec2 p = ( at + origin ) / cell;
          float far = length( at ) / reach, fade = exp( -9.0 * far * far ) * ( 1.0 - smoothstep( 0.7, 1.0, far ) );
          float line = max( 0.45 * lines( p ), 0.9 * lines( 0.1 * p ) );
          gl_FragColor = vec4( mix( floor, ink, line ), fade * ( 0.45 + 0.55 * line ) );
        }`,
      transparent: true, depthWrite: false, side: THREE.DoubleSide, extensions: { derivatives: true },
    });
  }

  // Below the lowest point that is drawn of the robot, as it stands now.
  settle() {
    const level = Math.min(this.known, this.stage.lowest(this.normal)) - this.margin;
    const height = level - this.centre.dot(this.normal);
    this.object.position.copy(this.centre).addScaledVector(this.normal, height);
    const inverse = this.object.quaternion.clone().invert(), moved = this.object.position.clone().applyQuaternion(inverse);
    this.lines.material.uniforms.origin.value.set(moved.x, moved.y);
    this.level = level;
  }

  // Only where the shadow of a ball can be: light comes along ``way``.
  shadeBelow(centre, way, radius) {
    const drop = (centre.dot(this.normal) - this.level) / way.dot(this.normal);
    const foot = centre.clone().addScaledVector(way, -drop);
    this.object.worldToLocal(foot.applyMatrix4(this.stage.viewer.scene.matrixWorld));
    this.shade.position.set(foot.x, foot.y, 0);
    this.shade.scale.setScalar(radius / way.dot(this.normal));
  }

  colours(dark) {
    const { ink, floor } = this.lines.material.uniforms;
    ink.value.setHex(dark ? 0x59616c : 0xa9b3c0);
    floor.value.setHex(dark ? 0x20242b : 0xffffff);
    this.shade.material.opacity = dark ? 0.55 : 0.3;
  }
}
