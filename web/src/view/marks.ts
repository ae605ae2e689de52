// Contacts as points, arrows and cones: each kind is one draw call, whose buffers are written from the arrays of the frame.
import * as THREE from "three";

/** Room for at least n items: grows in powers of two, so that a rising count does not allocate again and again. */
export const roomFor = (n: number) => 2 ** Math.ceil(Math.log2(Math.max(64, n)));

const pointVertex = `
attribute vec3 tint;
attribute float form;
uniform float size;
varying vec3 vTint;
varying float vForm;
void main() {
  vTint = tint;
  vForm = form;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = form > 3.5 && form < 4.5 ? size * 1.9 : size;
  if (form > 5.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

// Forms: 0 ring, 1 disc, 2 diamond, 3 triangle, 4 the frame of the selected one, 5 a thin broken ring, 6 not drawn.
const pointFragment = `
uniform vec3 edge;
varying vec3 vTint;
varying float vForm;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float d;
  if (vForm < 1.5) d = length(p);
  else if (vForm < 2.5) d = abs(p.x) + abs(p.y);
  else if (vForm < 3.5) d = max(p.y + 0.25, abs(p.x) * 1.15 - p.y * 0.65 - 0.1) * 1.25;
  else d = length(p);
  if (d > 1.0) discard;
  vec3 c = d > 0.74 ? edge : vTint;
  if (vForm < 0.5) { if (d < 0.42) discard; c = d > 0.88 ? edge : vTint; }
  if (vForm > 4.5) { if (d < 0.66 || fract(atan(p.y, p.x) * 0.9549297) < 0.3) discard; c = vTint; }
  else if (vForm > 3.5) { if (d < 0.72) discard; c = vTint; }
  gl_FragColor = vec4(c, 1.0);
  #include <colorspace_fragment>
}`;

// "Transparent" without blending: drawn after bodies that are clear, at no cost.
/** Contact points of a constant size on the screen; the state decides on the form, so that colour is not alone. */
export class Points {
  readonly object: THREE.Points;
  private readonly material: THREE.ShaderMaterial;
  position = new Float32Array(0);
  tint = new Float32Array(0);
  form = new Float32Array(0);

  constructor() {
    this.material = new THREE.ShaderMaterial({
      vertexShader: pointVertex, fragmentShader: pointFragment, transparent: true, blending: THREE.NoBlending, depthWrite: false,
      uniforms: { size: { value: 9 }, edge: { value: new THREE.Color(0xffffff) } },
    });
    this.object = new THREE.Points(new THREE.BufferGeometry(), this.material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
    this.reserve(64);
  }

  reserve(n: number): void {
    if (this.form.length >= n) return;
    const room = roomFor(n), geometry = new THREE.BufferGeometry();
    this.position = new Float32Array(3 * room);
    this.tint = new Float32Array(3 * room);
    this.form = new Float32Array(room);
    const add = (name: string, array: Float32Array, size: number) =>
      geometry.setAttribute(name, new THREE.BufferAttribute(array, size).setUsage(THREE.DynamicDrawUsage));
    add("position", this.position, 3);
    add("tint", this.tint, 3);
    add("form", this.form, 1);
    this.object.geometry.dispose();
    this.object.geometry = geometry;
  }

  finish(n: number): void {
    this.object.geometry.setDrawRange(0, n);
    for (const name of ["position", "tint", "form"]) this.object.geometry.getAttribute(name).needsUpdate = true;
  }

  style(size: number, edge: number, through: boolean): void {
    this.material.uniforms.size.value = size;
    this.material.uniforms.edge.value.set(edge);
    this.material.depthTest = !through;
  }
}

// What is clipped is broken: two slanted cuts through the middle of the shaft.
const arrowVertex = `
attribute vec3 origin;
attribute vec3 along;
attribute vec3 tint;
attribute vec2 kind;
attribute float head;
uniform float thick;
uniform bool tipped;
varying vec3 vTint;
varying vec3 vNormal;
varying vec3 vCut;
void main() {
  float size = length(along);
  vec3 z = size > 0.0 ? along / size : vec3(0.0, 0.0, 1.0);
  // x lies across what the camera sees, so that flat arrows show their face.
  vec3 look = cameraPosition - origin;
  vec3 x = cross(look, z);
  x = dot(x, x) > 1e-12 * dot(look, look) ? normalize(x) : normalize(cross(z, vec3(0.31, 0.87, 0.38)));
  vec3 y = cross(z, x);
  float tip = tipped ? min(size * 0.5, thick * 5.5) : 0.0;
  float wide = tipped ? thick * min(1.0, size / (thick * 6.0)) : thick * kind.x;
  float radius = head > 0.5 ? (tipped ? wide * 2.4 : 0.0) : wide;
  float where = position.z < 0.25 ? 0.0 : position.z < 0.75 ? size - tip : size;
  vec3 p = origin + radius * (position.x * x + position.y * y) + where * z;
  vTint = tint;
  vNormal = normalize(normalMatrix * (position.x * x + position.y * y + 0.3 * z));
  vCut = vec3((where - 0.5 * size) / wide, position.x * radius / wide, kind.y);
  gl_Position = size > 0.0 && wide > 0.0 ? projectionMatrix * modelViewMatrix * vec4(p, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const arrowFragment = `
varying vec3 vTint;
varying vec3 vNormal;
varying vec3 vCut;
void main() {
  if (vCut.z > 0.5 && abs(abs(vCut.x + 0.7 * vCut.y) - 0.8) < 0.45) discard;
  float light = 0.62 + 0.38 * max(0.0, dot(normalize(vNormal), vec3(0.3, 0.5, 0.81)));
  gl_FragColor = vec4(vTint * light, 1.0);
  #include <colorspace_fragment>
}`;

/** A prism and a pyramid of this many sides; 2 = flat, for when there are thousands. */
function arrowShape(sides: number): { position: number[]; head: number[]; index: number[] } {
  const position: number[] = [], head: number[] = [], index: number[] = [];
  const ring = (z: number, part: number) => {
    const first = position.length / 3;
    for (let i = 0; i < sides; i++) {
      const a = (2 * Math.PI * i) / sides;
      position.push(Math.cos(a), Math.sin(a), z);
      head.push(part);
    }
    return first;
  };
  const low = ring(0, 0), high = ring(0.5, 0), wide = ring(0.5, 1), tip = position.length / 3;
  position.push(0, 0, 1);
  head.push(1);
  for (let i = 0; i < (sides > 2 ? sides : 1); i++) {
    const j = (i + 1) % sides;
    index.push(low + i, low + j, high + i, low + j, high + j, high + i, wide + i, wide + j, tip);
  }
  return { position, head, index };
}

const FLAT_FROM = 400; // arrows
const FIELDS = [["origin", 3], ["along", 3], ["tint", 3], ["kind", 2]] as const;

/** Arrows whose heads keep their size however long the arrow is. Not instanced: without a graphics card an instance costs as
 * much as hundreds of corners, and a flat arrow has seven. Bars have no heads, and each has a width of its own. */
export class Arrows {
  readonly object: THREE.Mesh;
  private readonly material: THREE.ShaderMaterial;
  private room = 0;
  private corners = 0; // of one arrow
  private triangles = 0;
  private readonly fields: Record<(typeof FIELDS)[number][0], Float32Array> = {
    origin: new Float32Array(0), along: new Float32Array(0), tint: new Float32Array(0), kind: new Float32Array(0),
  };

  constructor(private readonly sides: number, through: boolean, tipped = true) {
    this.material = new THREE.ShaderMaterial({
      vertexShader: arrowVertex, fragmentShader: arrowFragment, uniforms: { thick: { value: 0.01 }, tipped: { value: tipped } },
      side: THREE.DoubleSide, transparent: true, blending: THREE.NoBlending, depthTest: !through,
    });
    this.object = new THREE.Mesh(new THREE.BufferGeometry(), this.material);
    this.object.frustumCulled = false;
    this.object.renderOrder = through ? 4 : 2;
    this.reserve(8);
  }

  reserve(n: number): void {
    if (this.room >= n) return;
    const room = (this.room = n > 16 ? roomFor(n) : 16), shape = arrowShape(room > FLAT_FROM ? 2 : this.sides);
    const corners = (this.corners = shape.head.length);
    this.triangles = shape.index.length / 3;
    const position = new Float32Array(3 * corners * room), head = new Float32Array(corners * room);
    const index = new Uint32Array(shape.index.length * room);
    for (let i = 0; i < room; i++) {
      position.set(shape.position, 3 * corners * i);
      head.set(shape.head, corners * i);
      for (let k = 0; k < shape.index.length; k++) index[shape.index.length * i + k] = shape.index[k] + corners * i;
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
    geometry.setAttribute("head", new THREE.BufferAttribute(head, 1));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    for (const [name, size] of FIELDS) {
      this.fields[name] = new Float32Array(size * corners * room);
      geometry.setAttribute(name, new THREE.BufferAttribute(this.fields[name], size).setUsage(THREE.DynamicDrawUsage));
    }
    this.object.geometry.dispose();
    this.object.geometry = geometry;
  }

  /** Arrow i: from three numbers of `origin`, in the colour of three numbers of `tint`; `wide` counts for bars only. */
  set(i: number, origin: ArrayLike<number>, at: number, x: number, y: number, z: number, tint: ArrayLike<number>, colour: number,
    wide = 1, broken = false): void {
    const { origin: o, along: a, tint: t, kind } = this.fields, first = this.corners * i, end = first + this.corners;
    for (let c = first, k = 3 * first; c < end; c++, k += 3) {
      o[k] = origin[at];
      o[k + 1] = origin[at + 1];
      o[k + 2] = origin[at + 2];
      a[k] = x;
      a[k + 1] = y;
      a[k + 2] = z;
      t[k] = tint[colour];
      t[k + 1] = tint[colour + 1];
      t[k + 2] = tint[colour + 2];
      kind[2 * c] = wide;
      kind[2 * c + 1] = broken ? 1 : 0;
    }
  }

  finish(n: number, thick: number): void {
    this.object.visible = n > 0;
    this.object.geometry.setDrawRange(0, 3 * this.triangles * n);
    this.material.uniforms.thick.value = thick;
    if (n > 0) for (const [name] of FIELDS) this.object.geometry.getAttribute(name).needsUpdate = true;
  }

  setThrough(through: boolean): void {
    this.material.depthTest = !through;
  }
}

/** Friction cones: open, clear, the apex at the contact. */
export class Cones {
  readonly object = new THREE.Group();
  private mesh: THREE.InstancedMesh | null = null;
  private room = 0;
  private readonly geometry: THREE.BufferGeometry;
  private readonly material = new THREE.MeshBasicMaterial({
    transparent: true, opacity: 0.28, depthWrite: false, side: THREE.DoubleSide,
  });
  private readonly matrix = new THREE.Matrix4();
  private readonly from = new THREE.Vector3(0, 0, 1);
  private readonly to = new THREE.Vector3();
  private readonly turn = new THREE.Quaternion();
  private readonly place = new THREE.Vector3();
  private readonly scale = new THREE.Vector3();
  private readonly tint = new THREE.Color();

  constructor() {
    // Apex at the origin, opening along z: radius 1 at height 1.
    this.geometry = new THREE.ConeGeometry(1, 1, 28, 1, true).translate(0, -0.5, 0).rotateX(-Math.PI / 2);
  }

  reserve(n: number): void {
    if (this.room >= n) return;
    this.room = Math.max(4, roomFor(n));
    if (this.mesh) {
      this.object.remove(this.mesh);
      this.mesh.dispose();
    }
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, this.room);
    this.mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * this.room), 3);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    this.object.add(this.mesh);
  }

  set(slot: number, point: Float32Array, normal: Float32Array, i: number, radius: number, height: number, colour: number): void {
    this.place.fromArray(point, 3 * i);
    this.to.fromArray(normal, 3 * i).normalize();
    this.turn.setFromUnitVectors(this.from, this.to);
    this.matrix.compose(this.place, this.turn, this.scale.set(radius, radius, height));
    this.mesh!.setMatrixAt(slot, this.matrix);
    this.mesh!.setColorAt(slot, this.tint.set(colour));
  }

  finish(n: number, through: boolean): void {
    if (!this.mesh) return;
    this.material.depthTest = !through;
    this.mesh.count = n;
    this.mesh.visible = n > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor!.needsUpdate = true;
  }
}
