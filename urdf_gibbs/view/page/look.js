// How the scene looks: colours in linear light, a studio that lights the robot from all sides, a sun with soft shadows, and the ground.

const { THREE } = MeshCat;

const SHADOWS = 1536; // texels across the shadow map
const COLLISION = 0xe69f00;
const MOST_SHADOWED = 1.5e6; // triangles: more take too long to be drawn twice

// Colours of files and pages are meant for the screen; light adds up in linear numbers.
function tint(colour) {
  return new THREE.Color(colour).convertSRGBToLinear();
}

// The same for colours of vertices, given as bytes.
const LINEAR = Uint16Array.from({ length: 256 }, (_, i) => Math.round(65535 * new THREE.Color(i / 255, 0, 0).convertSRGBToLinear().r));

function linearVertices(geometry) {
  const given = geometry.attributes.color;
  if (!given || !(given.array instanceof Uint8Array)) return;
  const array = new Uint16Array(given.array.length);
  for (let i = 0; i < array.length; i++) array[i] = given.itemSize === 4 && i % 4 === 3 ? 257 * given.array[i] : LINEAR[given.array[i]];
  geometry.setAttribute("color", new THREE.BufferAttribute(array, given.itemSize, true));
}

// Tone mapping that keeps the colours of the file as they are and only bends what is brighter than the screen: Khronos' PBR neutral curve.
THREE.ShaderChunk.tonemapping_pars_fragment = THREE.ShaderChunk.tonemapping_pars_fragment.replace(
  "vec3 CustomToneMapping( vec3 color ) { return color; }",
  `vec3 CustomToneMapping( vec3 color ) {
    color *= toneMappingExposure;
    float low = min( color.r, min( color.g, color.b ) );
    color -= low < 0.08 ? low - 6.25 * low * low : 0.04;
    float peak = max( color.r, max( color.g, color.b ) );
    const float knee = 0.76, room = 1.0 - knee;
    if ( peak < knee ) return color;
    float bent = 1.0 - room * room / ( peak + room - knee );
    return mix( vec3( bent ), color * bent / peak, 1.0 / ( 0.15 * ( peak - bent ) + 1.0 ) );
  }`);

// The room that the robot stands in, seen by nobody: a pale ceiling, a darker floor and three soft boxes, of which each surface sees
// a blur as wide as it is rough. In closed form: a map of a real room would take longer to make and to look up than all else.
const STUDIO = `
  float softBox( vec3 way, vec3 at, float sharp ) { return exp( sharp * ( dot( way, at ) - 1.0 ) ); }
  vec3 studio( vec3 way, float rough ) {
    float sharp = 1.0 / ( rough * rough + 0.02 );
    float height = 0.5 + 0.5 * way.y, level = mix( 0.10, 0.30, smoothstep( 0.0, 1.0, height ) );
    level += 0.24 * softBox( way, vec3( 0.20, 0.97, 0.14 ), sharp );
    level += 0.16 * softBox( way, vec3( 0.83, 0.28, 0.48 ), sharp );
    level += 0.12 * softBox( way, vec3( -0.89, 0.33, -0.31 ), sharp );
    return level * mix( vec3( 1.03, 1.0, 0.96 ), vec3( 0.97, 1.0, 1.05 ), height );
  }
`;

function inStudio(material) {
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\n" + STUDIO)
      .replace("#include <lights_fragment_maps>", `
        iblIrradiance += PI * studio( inverseTransformDirection( geometry.normal, viewMatrix ), 1.0 );
        radiance += studio( inverseTransformDirection( reflect( - geometry.viewDir, geometry.normal ), viewMatrix ), material.roughness );
        #ifdef GLASS
          float grazing = 1.0 - abs( dot( geometry.normal, geometry.viewDir ) );
          diffuseColor.a *= mix( 0.16, 0.72, grazing * grazing );
        #endif`);
  };
  material.customProgramCacheKey = () => "studio";
  return material;
}

class Look {
  constructor(stage) {
    this.stage = stage;
    const viewer = stage.viewer, renderer = viewer.renderer;
    renderer.outputEncoding = THREE.sRGBEncoding;
    renderer.toneMapping = THREE.CustomToneMapping;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    renderer.shadowMap.autoUpdate = false;
    viewer.show_background = () => { viewer.scene.background = null; }; // the page's own is behind the canvas
    viewer.show_background();
    viewer.delete_path(["Grid"]);
    viewer.delete_path(["Lights"]);
    this.sun = new THREE.DirectionalLight(0xfffaf2, 0.62);
    this.sun.shadow.mapSize.set(SHADOWS, SHADOWS);
    this.sun.shadow.radius = 4;
    this.sun.shadow.bias = -0.0004;
    viewer.scene.add(this.sun, this.sun.target);
    this.clothe(stage.meshes);
  }

  // The sun stands above, to the left of the camera at home, and its shadows are as sharp as the robot is large.
  follow() {
    const { stage } = this, { normal, level } = stage.ground;
    const sphere = new THREE.Box3().setFromPoints(stage.corners()).getBoundingSphere(new THREE.Sphere());
    const centre = sphere.center.applyQuaternion(stage.viewer.scene.quaternion.clone().invert());
    const radius = Math.max(sphere.radius, this.radius || 1e-4 * stage.data.camera.size); // growing only: shadows do not shimmer
    const height = Math.max(0, centre.dot(normal) - level);
    const left = stage.up.clone().cross(stage.home).negate(), aside = normal.dot(stage.up) > 0.5 ? stage.home : stage.up;
    const way = normal.clone().addScaledVector(left, 0.45).addScaledVector(aside, 0.35).normalize();
    this.sun.position.copy(centre).addScaledVector(way, 4 * radius);
    this.sun.target.position.copy(centre);
    this.radius = radius;
    stage.ground.shadeBelow(centre, way, radius);
    Object.assign(this.sun.shadow.camera, { left: -radius, right: radius, top: radius, bottom: -radius, near: radius, far: 6 * radius + 2 * height });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 2.5 * radius / SHADOWS;
    this.changed();
  }

  // Materials of the robot: those that come with the commands are made for a viewer that adds up light as the screen shows it.
  clothe(meshes) {
    let triangles = 0;
    for (const { mesh } of meshes) {
      linearVertices(mesh.geometry);
      triangles += (mesh.geometry.index || mesh.geometry.attributes.position).count / 3;
      const { color, opacity, transparent, vertexColors, side } = mesh.material;
      mesh.material = inStudio(new THREE.MeshStandardMaterial({ color: tint(color), opacity, transparent, vertexColors, side, roughness: 0.5, metalness: 0 }));
      mesh.castShadow = mesh.receiveShadow = true;
    }
    this.shadowed = triangles < MOST_SHADOWED;
  }

  // Collision shapes: glass over whatever the robot looks like.
  glaze(meshes) {
    for (const { mesh } of meshes) {
      mesh.material = material(COLLISION, 0.45, { side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: -1 });
      mesh.castShadow = mesh.receiveShadow = false;
    }
  }

  shadows(on) {
    this.sun.castShadow = on;
    this.stage.ground.shade.visible = on;
    this.changed();
  }

  // Something came into sight or went: shadows are drawn anew, which they are not while only the camera moves.
  changed() {
    this.stage.viewer.renderer.shadowMap.needsUpdate = true;
    this.stage.viewer.set_dirty();
  }
}
