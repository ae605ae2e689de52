// The bodies of one picture: an instanced mesh for each geometry, whose matrices and colours are written straight from the
// arrays of the frame.
import * as THREE from "three";
import type { FrameData } from "./data";
import { Crowd, isCrowd } from "./crowd";
import { addEdges } from "./light";
import { rgbOfHex } from "./palette";
import type { Geometries, Part } from "./shapes";

const Q = 1 / 32767;

/** Where a body is: position and quaternion (w first) at [0..6]. */
export type Pose = Float64Array;

/** From body ids to indices of a frame; the table is made again only when the ids change. */
export class BodyIndex {
  private ids: Int32Array | null = null;
  private readonly table = new Map<number, number>();

  use(frame: FrameData): void {
    const ids = frame.id;
    if (this.ids && this.ids.length === ids.length && this.ids.every((id, i) => id === ids[i])) return;
    this.table.clear();
    for (let i = 0; i < ids.length; i++) this.table.set(ids[i], i);
    this.ids = ids.slice();
  }

  of(id: number): number {
    return this.table.get(id) ?? -1;
  }
}

/** The pose of a body between two frames; share 0 = exactly the first. */
export function readPose(position: Float32Array, quaternion: Int16Array, i: number, pose: Pose): void {
  for (let k = 0; k < 3; k++) pose[k] = position[3 * i + k];
  let norm = 0;
  for (let k = 0; k < 4; k++) {
    const q = quaternion[4 * i + k] * Q;
    pose[3 + k] = q;
    norm += q * q;
  }
  if (norm > 0) for (let k = 3; k < 7; k++) pose[k] /= Math.sqrt(norm);
  else pose[3] = 1;
}

function blend(a: Pose, b: Pose, share: number): void {
  let dot = 0;
  for (let k = 3; k < 7; k++) dot += a[k] * b[k];
  const sign = dot < 0 ? -1 : 1;
  for (let k = 0; k < 3; k++) a[k] += share * (b[k] - a[k]);
  let norm = 0;
  for (let k = 3; k < 7; k++) {
    a[k] += share * (sign * b[k] - a[k]);
    norm += a[k] * a[k];
  }
  norm = Math.sqrt(norm) || 1;
  for (let k = 3; k < 7; k++) a[k] /= norm;
}

/** pose * (position, quaternion, scale) of a part as a column-major matrix at out[at..]. */
export function compose(pose: Pose, part: Part, out: Float32Array | Float64Array, at: number): void {
  const [aw, ax, ay, az] = [pose[3], pose[4], pose[5], pose[6]];
  const [bw, bx, by, bz] = part.quaternion;
  const w = aw * bw - ax * bx - ay * by - az * bz, x = aw * bx + ax * bw + ay * bz - az * by;
  const y = aw * by - ax * bz + ay * bw + az * bx, z = aw * bz + ax * by - ay * bx + az * bw;
  const [sx, sy, sz] = part.scale, [px, py, pz] = part.position;
  out[at] = (1 - 2 * (y * y + z * z)) * sx;
  out[at + 1] = 2 * (x * y + w * z) * sx;
  out[at + 2] = 2 * (x * z - w * y) * sx;
  out[at + 3] = 0;
  out[at + 4] = 2 * (x * y - w * z) * sy;
  out[at + 5] = (1 - 2 * (x * x + z * z)) * sy;
  out[at + 6] = 2 * (y * z + w * x) * sy;
  out[at + 7] = 0;
  out[at + 8] = 2 * (x * z + w * y) * sz;
  out[at + 9] = 2 * (y * z - w * x) * sz;
  out[at + 10] = (1 - 2 * (x * x + y * y)) * sz;
  out[at + 11] = 0;
  // The place of the part, turned by the body: v + 2 u x (u x v + w v).
  const tx = 2 * (ay * pz - az * py), ty = 2 * (az * px - ax * pz), tz = 2 * (ax * py - ay * px);
  out[at + 12] = pose[0] + px + aw * tx + ay * tz - az * ty;
  out[at + 13] = pose[1] + py + aw * ty + az * tx - ax * tz;
  out[at + 14] = pose[2] + pz + aw * tz + ax * ty - ay * tx;
  out[at + 15] = 1;
}

interface Group {
  mesh: THREE.InstancedMesh; parts: Part[];
  own: Float32Array; pale: Float32Array; // colours of the parts
  crowd: Crowd | null; // is drawn instead
}

const GHOSTLY = 0.38; // opacity of ghosts
const FADING = 0.66; // share of the neutral colour in pale bodies

export class Bodies {
  readonly object = new THREE.Group();
  readonly index = new BodyIndex();
  private readonly groups: Group[] = [];
  private readonly plain = new THREE.MeshLambertMaterial();
  private readonly patterned = new THREE.MeshLambertMaterial({ vertexColors: true });
  private readonly edged = new THREE.MeshLambertMaterial(); // with dark lines along edges
  private readonly materials: THREE.Material[] = [this.plain, this.patterned, this.edged];
  private readonly selection = new THREE.Group();
  private readonly outline = new THREE.LineBasicMaterial({ color: 0xff5d00, depthTest: false, transparent: true });
  private selected: { body: number; lines: { object: THREE.LineSegments; part: Part }[] } = { body: 0, lines: [] };
  private readonly still = Float64Array.of(0, 0, 0, 1, 0, 0, 0);
  private readonly pose: Pose = new Float64Array(7);
  private readonly other: Pose = new Float64Array(7);

  /** ghost: clear, all of one colour, behind bodies that are at the same place, without shadows. */
  constructor(private readonly parts: Part[], private readonly geometries: Geometries, up: THREE.Vector3, software: boolean, ghost = false) {
    this.edged.onBeforeCompile = addEdges;
    if (ghost) {
      for (const material of [this.plain, this.patterned, this.edged]) {
        Object.assign(material, { transparent: true, opacity: GHOSTLY, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 1.5, polygonOffsetUnits: 6 });
      }
    }
    const byKey = new Map<string, Part[]>();
    for (const part of parts) {
      const list = byKey.get(part.geometry);
      if (list) list.push(part);
      else byKey.set(part.geometry, [part]);
    }
    for (const [key, list] of byKey) {
      const geometry = geometries.get(key);
      const material = geometry.hasAttribute("color") ? this.patterned : geometry.hasAttribute("rim") ? this.edged : this.plain;
      const mesh = new THREE.InstancedMesh(geometry, material, list.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * list.length), 3);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      if (ghost) {
        mesh.castShadow = mesh.receiveShadow = false;
        mesh.renderOrder = 1;
      }
      const crowd = software && !ghost && isCrowd(geometry, list.length)
        ? new Crowd(geometry, mesh.instanceMatrix.array as Float32Array, list.length, up, key === "sphere") : null;
      if (crowd) this.materials.push(...crowd.materials);
      const own = Float32Array.from(list.flatMap((part) => rgbOfHex(part.colour)));
      this.groups.push({ mesh, parts: list, own, pale: own.slice(), crowd });
      this.object.add(crowd?.object ?? mesh);
    }
    this.selection.renderOrder = 5;
    this.object.add(this.selection);
    this.paint(null, false);
  }

  /** What pale bodies are mixed with, so that marks on them are seen. */
  setNeutral(neutral: ArrayLike<number>): void {
    for (const { parts, own, pale } of this.groups) {
      parts.forEach((part, i) => {
        for (let c = 3 * i; part.body > 0 && c < 3 * i + 3; c++) pale[c] = own[c] + FADING * (neutral[c % 3] - own[c]);
      });
    }
  }

  /** Moves everything to a frame, or between it and the next. */
  update(frame: FrameData, next: FrameData | null, share: number): void {
    this.index.use(frame);
    for (const group of this.groups) {
      const matrices = group.mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < group.parts.length; i++) {
        const part = group.parts[i];
        if (this.place(part, frame, next, share)) compose(this.pose, part, matrices, 16 * i);
        else matrices.fill(0, 16 * i, 16 * i + 16);
      }
      group.mesh.instanceMatrix.needsUpdate = true;
      group.crowd?.moved();
      group.mesh.boundingSphere = null;
    }
    for (const { object, part } of this.selected.lines) {
      object.visible = this.place(part, frame, next, share);
      if (object.visible) compose(this.pose, part, object.matrix.elements as unknown as Float64Array, 0);
      object.matrixWorldNeedsUpdate = true;
    }
  }

  /** Sets this.pose to that of the owner of a part; false: it is not there in this frame. */
  private place(part: Part, frame: FrameData, next: FrameData | null, share: number): boolean {
    if (part.body > 0) {
      const i = this.index.of(part.body);
      if (i < 0) return false;
      readPose(frame.position, frame.quaternion, i, this.pose);
      if (next && share > 0 && next.id[i] === part.body) {
        readPose(next.position, next.quaternion, i, this.other);
        blend(this.pose, this.other, share);
      }
      return true;
    }
    if (part.scenery >= 0) {
      if (3 * part.scenery >= frame.sceneryPosition.length) return false;
      readPose(frame.sceneryPosition, frame.sceneryQuaternion, part.scenery, this.pose);
      if (next && share > 0 && 3 * part.scenery < next.sceneryPosition.length) {
        readPose(next.sceneryPosition, next.sceneryQuaternion, part.scenery, this.other);
        blend(this.pose, this.other, share);
      }
      return true;
    }
    this.pose.set(this.still);
    return true;
  }

  /** Colours: of the index of a body in the frame, or null = as they are, or paler. `write` puts three numbers into out[at..]. */
  paint(write: ((body: number, out: Float32Array, at: number) => void) | null, pale: boolean): void {
    for (const group of this.groups) {
      const colours = group.mesh.instanceColor!.array as Float32Array;
      colours.set(pale ? group.pale : group.own);
      for (let i = 0; write && i < group.parts.length; i++) {
        const part = group.parts[i], body = part.body > 0 ? this.index.of(part.body) : -1;
        if (body >= 0) write(body, colours, 3 * i);
      }
      group.mesh.instanceColor!.needsUpdate = true;
      group.crowd?.paint(colours);
    }
  }

  /** Bodies that are nearly clear cast no shadows. */
  look(opacity: number, shadows: boolean): void {
    const clear = opacity < 0.999;
    for (const material of this.materials) {
      if (material.transparent !== clear) material.needsUpdate = true;
      material.transparent = clear;
      material.opacity = opacity;
      material.depthWrite = !clear;
    }
    for (const { mesh, crowd } of this.groups) {
      mesh.visible = opacity > 0.01;
      mesh.castShadow = opacity > 0.6;
      if (!crowd) continue;
      crowd.object.visible = mesh.visible;
      crowd.look(opacity, shadows);
    }
  }

  /** Draws the edges of a body over everything; 0 = of none. */
  select(body: number, colour: number): void {
    this.outline.color.set(colour);
    if (body === this.selected.body) return;
    this.selection.clear();
    this.selected = { body, lines: [] };
    if (body === 0) return;
    for (const part of this.parts) {
      if (part.body !== body) continue;
      const object = new THREE.LineSegments(this.geometries.outline(part.geometry), this.outline);
      object.matrixAutoUpdate = false;
      object.frustumCulled = false;
      object.renderOrder = 5;
      this.selection.add(object);
      this.selected.lines.push({ object, part });
    }
  }

  /** The body (id, 0 = scenery) that a ray meets first, or null. */
  pick(ray: THREE.Raycaster): { body: number; distance: number } | null {
    let best: { body: number; distance: number } | null = null;
    for (const { mesh, parts } of this.groups) {
      if (!mesh.visible) continue;
      for (const hit of ray.intersectObject(mesh, false)) {
        if (hit.instanceId === undefined || (best && best.distance <= hit.distance)) continue;
        best = { body: parts[hit.instanceId].body, distance: hit.distance };
      }
    }
    return best;
  }
}
