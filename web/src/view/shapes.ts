// From the shapes of a replay to geometries and their places.
import * as THREE from "three";
import { mergeVertices } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import type { Mesh, Replay, Shape } from "./data";
import { bodyColour, worldColour } from "./palette";

/** One drawn piece: a geometry, scaled, placed in the frame of its owner. */
export interface Part {
  geometry: string; // key of Geometries
  body: number; // id, 0 = none
  scenery: number; // -1 = none
  position: [number, number, number];
  quaternion: [number, number, number, number]; // w first
  scale: [number, number, number];
  colour: number;
  reach: number; // farthest point from the origin of the owner, m
  middle: [number, number, number]; radius: number; // the ball around it, in the frame of the owner
}

/** Unit geometries by key, made when they are first asked for. */
export class Geometries {
  private readonly made = new Map<string, THREE.BufferGeometry>();
  private readonly outlines = new Map<string, THREE.BufferGeometry>();
  private readonly fine: number; // 2 few bodies, 1 some, 0 many

  constructor(private readonly meshes: Mesh[], count: number) {
    this.fine = count <= 80 ? 2 : count <= 600 ? 1 : 0;
  }

  get(key: string): THREE.BufferGeometry {
    let geometry = this.made.get(key);
    if (!geometry) {
      geometry = this.make(key);
      this.made.set(key, geometry);
    }
    return geometry;
  }

  /** Lines that show which one is selected. */
  outline(key: string): THREE.BufferGeometry {
    let lines = this.outlines.get(key);
    if (!lines) {
      lines = rings(key) ?? new THREE.EdgesGeometry(this.get(key), 12);
      this.outlines.set(key, lines);
    }
    return lines;
  }

  private make(key: string): THREE.BufferGeometry {
    const [kind, detail] = key.split(":");
    const around = [8, 16, 32][this.fine];
    switch (kind) {
      case "sphere": return patterned(new THREE.SphereGeometry(1, around, Math.max(6, around / 2)), true);
      case "cylinder":
        return patterned(new THREE.CylinderGeometry(1, 1, 1, around).rotateX(Math.PI / 2), false);
      case "capsule": {
        const straight = Number(detail);
        return patterned(new THREE.CapsuleGeometry(1, straight, [1, 4, 8][this.fine], around).rotateX(Math.PI / 2), false);
      }
      case "hull": case "mesh": return rimmed(ofMesh(this.meshes[Number(detail)], kind === "hull"));
      default: return rimmed(new THREE.BoxGeometry(1, 1, 1));
    }
  }
}

/** A few circles and lines around a round body: all edges of its triangles would fill it. Null: it has edges of its own. */
function rings(key: string): THREE.BufferGeometry | null {
  const [kind, detail] = key.split(":"), ends: number[] = [], half = kind === "capsule" ? Number(detail) / 2 : 0.5, around = 48;
  const arc = (from: number, to: number, at: (a: number) => [number, number, number]) => {
    const steps = Math.max(1, Math.round((around * (to - from)) / (2 * Math.PI)));
    for (let i = 0; i < steps; i++) ends.push(...at(from + ((to - from) * i) / steps), ...at(from + ((to - from) * (i + 1)) / steps));
  };
  const turn = 2 * Math.PI;
  if (kind === "sphere") {
    arc(0, turn, (a) => [Math.cos(a), Math.sin(a), 0]);
    arc(0, turn, (a) => [Math.cos(a), 0, Math.sin(a)]);
    arc(0, turn, (a) => [0, Math.cos(a), Math.sin(a)]);
  } else if (kind === "capsule" || kind === "cylinder") {
    for (const end of [-half, half]) arc(0, turn, (a) => [Math.cos(a), Math.sin(a), end]);
    for (const [x, y] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) ends.push(x, y, -half, x, y, half);
    for (const [x, y] of kind === "capsule" ? [[1, 0], [0, 1]] : []) {
      for (const side of [-1, 1]) arc(0, Math.PI, (a) => [x * Math.cos(a), y * Math.cos(a), side * (half + Math.sin(a))]);
    }
  } else return null;
  return new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(ends, 3));
}

/** Light and dark parts, so that one sees round things turn. */
function patterned(smooth: THREE.BufferGeometry, octants: boolean): THREE.BufferGeometry {
  const geometry = smooth.index ? smooth.toNonIndexed() : smooth;
  const at = geometry.getAttribute("position"), colours = new Float32Array(3 * at.count);
  for (let i = 0; i < at.count; i += 3) {
    let sign = 1;
    for (let axis = 0; axis < (octants ? 3 : 2); axis++) {
      sign *= at.getComponent(i, axis) + at.getComponent(i + 1, axis) + at.getComponent(i + 2, axis);
    }
    colours.fill(sign < 0 ? 0.62 : 1, 3 * i, 3 * i + 9);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  geometry.deleteAttribute("uv");
  return mergeVertices(geometry);
}

const SHARP = Math.cos((12 * Math.PI) / 180); // between the normals of two faces that meet in an edge
const MOST_RIMMED = 1000; // triangles: finer meshes are seen well enough without

/** Marks where the edges between faces are, for the shader in light.ts: each corner of a triangle has a number for each side,
 * 0 on it and 1 opposite; sides within a flat face have 1 everywhere. */
function rimmed(smooth: THREE.BufferGeometry): THREE.BufferGeometry {
  const geometry = smooth.index ? smooth.toNonIndexed() : smooth, at = geometry.getAttribute("position");
  if (at.count > 3 * MOST_RIMMED) return geometry;
  const corners = Array.from({ length: at.count }, (_x, i) => new THREE.Vector3().fromBufferAttribute(at, i));
  const size = new THREE.Box3().setFromPoints(corners).getSize(new THREE.Vector3()).length() || 1;
  const name = (p: THREE.Vector3) => p.toArray().map((c) => Math.round((c / size) * 1e5)).join();
  const names = corners.map(name), normals: THREE.Vector3[] = [], sides = new Map<string, number[]>();
  for (let t = 0; 3 * t < corners.length; t++) {
    const [a, b, c] = corners.slice(3 * t, 3 * t + 3);
    normals.push(b.clone().sub(a).cross(c.clone().sub(a)).normalize());
    for (let k = 0; k < 3; k++) {
      const key = [names[3 * t + ((k + 1) % 3)], names[3 * t + ((k + 2) % 3)]].sort().join("|");
      sides.set(key, [...(sides.get(key) ?? []), t]);
    }
  }
  const rim = new Float32Array(3 * at.count);
  for (let t = 0; 3 * t < corners.length; t++) {
    for (let k = 0; k < 3; k++) {
      const met = sides.get([names[3 * t + ((k + 1) % 3)], names[3 * t + ((k + 2) % 3)]].sort().join("|"))!;
      const flat = met.length === 2 && normals[met[0]].dot(normals[met[1]]) > SHARP;
      for (let corner = 0; corner < 3; corner++) rim[9 * t + 3 * corner + k] = flat || corner === k ? 1 : 0;
    }
  }
  return geometry.setAttribute("rim", new THREE.BufferAttribute(rim, 3));
}

function ofMesh(mesh: Mesh | undefined, convex: boolean): THREE.BufferGeometry {
  const vertices = mesh?.vertices ?? [];
  if (vertices.length < 9) return new THREE.BoxGeometry(1e-3, 1e-3, 1e-3);
  if (convex && mesh!.triangles.length === 0) {
    const points: THREE.Vector3[] = [];
    for (let i = 0; i + 2 < vertices.length; i += 3) points.push(new THREE.Vector3().fromArray(vertices, i));
    return points.length >= 4 ? new ConvexGeometry(points) : new THREE.BoxGeometry(1e-3, 1e-3, 1e-3);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(vertices, 3));
  geometry.setIndex(mesh!.triangles);
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

/** The ball around a shape in the frame of its owner: its middle, its radius, and the farthest point from the owner's origin.
 * Vertices of hulls and meshes may be far from the origin of their own frame, which the place of the shape makes up for. */
function ballOf(shape: Shape, mesh: Mesh | undefined): { middle: [number, number, number]; radius: number; reach: number } {
  const [a, b, c] = shape.size, away = Math.hypot(...shape.position);
  const solid = (radius: number) => ({ middle: shape.position, radius, reach: away + radius });
  switch (shape.kind) {
    case "sphere": return solid(a);
    case "box": return solid(Math.hypot(a, b, c) / 2);
    case "capsule": return solid(a + b / 2);
    case "cylinder": return solid(Math.hypot(a, b / 2));
    case "ellipsoid": return solid(Math.max(a, b, c));
    default: {
      const [w, x, y, z] = shape.quaternion, turn = new THREE.Quaternion(x, y, z, w), from = new THREE.Vector3(...shape.position);
      const box = new THREE.Box3(), spot = new THREE.Vector3(), v = mesh?.vertices ?? [];
      let reach = 0;
      for (let i = 0; i + 2 < v.length; i += 3) {
        spot.fromArray(v, i).applyQuaternion(turn).add(from);
        reach = Math.max(reach, spot.length());
        box.expandByPoint(spot);
      }
      if (box.isEmpty()) return solid(0);
      return { middle: box.getCenter(spot).toArray(), radius: box.getSize(new THREE.Vector3()).length() / 2, reach };
    }
  }
}

/** How many capsules may differ in shape before they share geometries, slightly squeezed. */
const CAPSULE_KINDS = 40;

/** Everything but planes, which have no end and are drawn as ground. */
export function partsOf(replay: Replay): Part[] {
  const ratios = new Set(replay.shapes.filter((s) => s.kind === "capsule").map((s) => (s.size[1] / s.size[0]).toFixed(4)));
  const parts: Part[] = [];
  for (const shape of replay.shapes) {
    if (shape.kind === "plane") continue;
    const [a, b, c] = shape.size;
    let geometry: string = shape.kind, scale: [number, number, number] = [a, b, c];
    switch (shape.kind) {
      case "sphere": scale = [a, a, a]; break;
      case "ellipsoid": geometry = "sphere"; break;
      case "cylinder": scale = [a, a, b]; break;
      case "capsule": {
        const exact = b / a;
        const ratio = ratios.size <= CAPSULE_KINDS ? Number(exact.toFixed(4)) : Math.max(0.25, Math.round(exact * 4) / 4);
        geometry = `capsule:${ratio}`;
        scale = [a, a, (a * (exact + 2)) / (ratio + 2)];
        break;
      }
      case "hull": case "mesh": case "heightfield":
        geometry = `${shape.kind === "hull" ? "hull" : "mesh"}:${shape.mesh}`;
        scale = [1, 1, 1];
        break;
      default: break;
    }
    const owned = shape.id > 0;
    parts.push({
      geometry, scale, body: owned ? shape.id : 0, scenery: owned ? -1 : shape.scenery,
      position: shape.position, quaternion: shape.quaternion,
      colour: shape.colour || (owned ? bodyColour(shape.id) : worldColour),
      ...ballOf(shape, replay.meshes[shape.mesh]),
    });
  }
  return parts;
}

/** The number of bodies the frames speak of. */
export const mostBodies = (replay: Replay) => replay.frames.reduce((most, f) => Math.max(most, f.bodies), 0);

/** The most contacts of a frame. */
export const mostContacts = (replay: Replay) => replay.frames.reduce((most, f) => Math.max(most, f.contacts), 0);
