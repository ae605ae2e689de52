// Many copies of one geometry as a single mesh. Without a graphics card an instance costs as much as hundreds of corners, so
// the corners are written out once and each finds its matrix and colour in a texture. Where there are no shadows, light is
// worked out at the corners, or the copies are balls.
import * as THREE from "three";
import { ballFragment, ballVertex, squares } from "./balls";
import { addEdges, darkEdges, quickFog, quickLight, quickShading, quickUniforms } from "./light";

const MOST_CORNERS = 600_000;
const MOST_COPIES = 4096; // rows of a texture that every machine takes

/** Whether writing out the copies is worth it. */
export const isCrowd = (geometry: THREE.BufferGeometry, copies: number) =>
  copies > 24 && copies <= MOST_COPIES && copies * geometry.getAttribute("position").count <= MOST_CORNERS;

function texture(data: Float32Array, width: number, height: number): THREE.DataTexture {
  const made = new THREE.DataTexture(data as Float32Array<ArrayBuffer>, width, height, THREE.RGBAFormat, THREE.FloatType);
  made.needsUpdate = true;
  return made;
}

function repeat(geometry: THREE.BufferGeometry, copies: number): THREE.BufferGeometry {
  const corners = geometry.getAttribute("position").count, all = new THREE.BufferGeometry();
  for (const name of ["position", "normal", "color", "rim"]) {
    if (!geometry.hasAttribute(name)) continue;
    const { array, itemSize } = geometry.getAttribute(name), one = array as Float32Array, many = new Float32Array(one.length * copies);
    for (let i = 0; i < copies; i++) many.set(one, i * one.length);
    all.setAttribute(name, new THREE.BufferAttribute(many, itemSize));
  }
  const slot = new Float32Array(corners * copies);
  for (let i = 0; i < copies; i++) slot.fill(i, i * corners, (i + 1) * corners);
  all.setAttribute("slot", new THREE.BufferAttribute(slot, 1));
  const one = geometry.index ? Array.from(geometry.index.array) : Array.from({ length: corners }, (_x, i) => i);
  const index = new Uint32Array(one.length * copies);
  for (let i = 0; i < copies; i++) for (let k = 0; k < one.length; k++) index[i * one.length + k] = one[k] + i * corners;
  return all.setIndex(new THREE.BufferAttribute(index, 1));
}

/** How a corner finds the matrix and the colour of its copy. */
const lookup = `attribute float slot;
uniform highp sampler2D crowdMatrices;
uniform highp sampler2D crowdTints;
mat4 crowdMatrix() {
  int row = int(slot + 0.5);
  return mat4(texelFetch(crowdMatrices, ivec2(0, row), 0), texelFetch(crowdMatrices, ivec2(1, row), 0),
    texelFetch(crowdMatrices, ivec2(2, row), 0), texelFetch(crowdMatrices, ivec2(3, row), 0));
}
vec3 crowdTint() { return texelFetch(crowdTints, ivec2(0, int(slot + 0.5)), 0).rgb; }
// Normals of scaled copies turn by the inverse transpose; lengths are made 1 later.
vec3 crowdNormal(mat4 copy, vec3 normal) {
  mat3 turn = mat3(copy);
  return turn * (normal / max(vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2])), vec3(1e-30)));
}
`;

const quickVertex = `${quickLight}${quickShading}${quickFog}
varying vec3 vSeen;
#ifdef EDGES
attribute vec3 rim;
varying vec3 vRim;
varying vec4 vFog;
#endif
void main() {
  mat4 copy = crowdMatrix();
  vec4 place = viewMatrix * copy * vec4(position, 1.0), fog = faded(-place.z);
  vec3 colour = crowdTint();
#ifdef USE_COLOR
  colour *= color;
#endif
  vec3 face = normalize(crowdNormal(copy, normal));
#ifdef EDGES
  vRim = rim;
  vFog = fog;
  vSeen = seen(colour) * shine(dot(face, upwards), dot(face, sunwards));
#else
  vSeen = mix(seen(colour) * shine(dot(face, upwards), dot(face, sunwards)), fog.rgb, fog.a);
#endif
  gl_Position = projectionMatrix * place;
}`;

const quickFragment = `varying vec3 vSeen;
uniform float opacity;
#ifdef EDGES
varying vec3 vRim;
varying vec4 vFog;
${darkEdges}
void main() { gl_FragColor = vec4(mix(vSeen * edge(vRim), vFog.rgb, vFog.a), opacity); }
#else
void main() { gl_FragColor = vec4(vSeen, opacity); }
#endif`;

export class Crowd {
  readonly object = new THREE.Group();
  readonly materials: THREE.Material[];
  private readonly full: THREE.Mesh; // with shadows
  private readonly quick: THREE.Mesh; // without
  private readonly uniforms: { crowdMatrices: { value: THREE.DataTexture }; crowdTints: { value: THREE.DataTexture } };
  private readonly tintData: Float32Array;

  /** `matrices`: 16 numbers for each copy; the caller writes them and calls moved(). `balls`: the geometry is the unit sphere. */
  constructor(geometry: THREE.BufferGeometry, matrices: Float32Array, private readonly copies: number, up: THREE.Vector3, balls: boolean) {
    const edges = geometry.hasAttribute("rim");
    this.tintData = new Float32Array(4 * copies);
    this.uniforms = { crowdMatrices: { value: texture(matrices, 4, copies) }, crowdTints: { value: texture(this.tintData, 1, copies) } };
    const vertexColors = geometry.hasAttribute("color"), all = repeat(geometry, copies);
    const material = new THREE.MeshLambertMaterial({ vertexColors }), depth = new THREE.MeshDepthMaterial();
    this.patch(material, true, edges);
    this.patch(depth, false, false);
    this.full = new THREE.Mesh(all, material);
    this.full.customDepthMaterial = depth;
    this.full.castShadow = this.full.receiveShadow = true;
    const quick = new THREE.ShaderMaterial({
      vertexShader: lookup + (balls ? ballVertex : quickVertex), fragmentShader: balls ? ballFragment : quickFragment,
      uniforms: { ...quickUniforms(up), ...this.uniforms }, fog: true, vertexColors: vertexColors && !balls,
      defines: edges ? { EDGES: 1 } : {},
    });
    this.quick = new THREE.Mesh(balls ? squares(copies) : all, quick);
    this.materials = [material, quick];
    this.full.frustumCulled = this.quick.frustumCulled = false;
    this.object.add(this.full, this.quick);
  }

  look(opacity: number, shadows: boolean): void {
    this.full.visible = shadows;
    this.quick.visible = !shadows;
    this.full.castShadow = opacity > 0.6;
    (this.quick.material as THREE.ShaderMaterial).uniforms.opacity.value = opacity;
  }

  moved(): void {
    this.uniforms.crowdMatrices.value.needsUpdate = true;
  }

  /** Three numbers for each copy. */
  paint(colours: Float32Array): void {
    for (let i = 0; i < this.copies; i++) {
      for (let c = 0; c < 3; c++) this.tintData[4 * i + c] = colours[3 * i + c];
    }
    this.uniforms.crowdTints.value.needsUpdate = true;
  }

  private patch(material: THREE.Material, colours: boolean, edges: boolean): void {
    material.onBeforeCompile = (shader) => {
      if (edges) addEdges(shader);
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = `${lookup}varying vec3 vCrowd;\n${shader.vertexShader}`
        .replace("#include <beginnormal_vertex>", "mat4 crowd = crowdMatrix();\nvec3 objectNormal = crowdNormal(crowd, normal);")
        .replace("#include <begin_vertex>", `vec3 transformed = (${colours ? "crowd" : "crowdMatrix()"} * vec4(position, 1.0)).xyz;
vCrowd = crowdTint();`);
      if (!colours) return;
      shader.fragmentShader = `varying vec3 vCrowd;\n${shader.fragmentShader}`
        .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= vCrowd;");
    };
  }
}
