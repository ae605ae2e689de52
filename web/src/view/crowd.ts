// Many copies of one geometry as a single mesh. Without a graphics card an instance costs as much as hundreds of corners, so
// the corners are written out once and each finds its matrix and colour in a texture.
import * as THREE from "three";

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
  for (const name of ["position", "normal", "color"]) {
    if (!geometry.hasAttribute(name)) continue;
    const one = geometry.getAttribute(name).array as Float32Array, many = new Float32Array(one.length * copies);
    for (let i = 0; i < copies; i++) many.set(one, i * one.length);
    all.setAttribute(name, new THREE.BufferAttribute(many, 3));
  }
  const slot = new Float32Array(corners * copies);
  for (let i = 0; i < copies; i++) slot.fill(i, i * corners, (i + 1) * corners);
  all.setAttribute("slot", new THREE.BufferAttribute(slot, 1));
  const one = geometry.index ? Array.from(geometry.index.array) : Array.from({ length: corners }, (_x, i) => i);
  const index = new Uint32Array(one.length * copies);
  for (let i = 0; i < copies; i++) for (let k = 0; k < one.length; k++) index[i * one.length + k] = one[k] + i * corners;
  return all.setIndex(new THREE.BufferAttribute(index, 1));
}

export class Crowd {
  readonly mesh: THREE.Mesh;
  readonly material: THREE.MeshLambertMaterial;
  private readonly matrices: THREE.DataTexture;
  private readonly tints: THREE.DataTexture;
  private readonly tintData: Float32Array;

  /** `matrices`: 16 numbers for each copy; the caller writes them and calls moved(). */
  constructor(geometry: THREE.BufferGeometry, matrices: Float32Array, private readonly copies: number) {
    this.matrices = texture(matrices, 4, copies);
    this.tintData = new Float32Array(4 * copies);
    this.tints = texture(this.tintData, 1, copies);
    this.material = new THREE.MeshLambertMaterial({ vertexColors: geometry.hasAttribute("color") });
    this.patch(this.material, true);
    this.mesh = new THREE.Mesh(repeat(geometry, copies), this.material);
    const depth = new THREE.MeshDepthMaterial();
    this.patch(depth, false);
    this.mesh.customDepthMaterial = depth;
    this.mesh.frustumCulled = false;
  }

  moved(): void {
    this.matrices.needsUpdate = true;
  }

  /** Three numbers for each copy. */
  paint(colours: Float32Array): void {
    for (let i = 0; i < this.copies; i++) {
      for (let c = 0; c < 3; c++) this.tintData[4 * i + c] = colours[3 * i + c];
    }
    this.tints.needsUpdate = true;
  }

  private patch(material: THREE.Material, colours: boolean): void {
    material.onBeforeCompile = (shader) => {
      shader.uniforms.crowdMatrices = { value: this.matrices };
      shader.uniforms.crowdTints = { value: this.tints };
      shader.vertexShader = `attribute float slot;
uniform highp sampler2D crowdMatrices;
uniform highp sampler2D crowdTints;
varying vec3 vCrowd;
mat4 crowdMatrix() {
  int row = int(slot + 0.5);
  return mat4(texelFetch(crowdMatrices, ivec2(0, row), 0), texelFetch(crowdMatrices, ivec2(1, row), 0),
    texelFetch(crowdMatrices, ivec2(2, row), 0), texelFetch(crowdMatrices, ivec2(3, row), 0));
}
${shader.vertexShader}`
        // Normals of scaled copies turn by the inverse transpose; lengths are made 1 later.
        .replace("#include <beginnormal_vertex>", `mat4 crowd = crowdMatrix();
mat3 turn = mat3(crowd);
vec3 objectNormal = turn * (normal / max(vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2])), vec3(1e-30)));`)
        .replace("#include <begin_vertex>", `vec3 transformed = (${colours ? "crowd" : "crowdMatrix()"} * vec4(position, 1.0)).xyz;
vCrowd = texelFetch(crowdTints, ivec2(0, int(slot + 0.5)), 0).rgb;`);
      if (!colours) return;
      shader.fragmentShader = `varying vec3 vCrowd;\n${shader.fragmentShader}`
        .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= vCrowd;");
    };
  }
}
