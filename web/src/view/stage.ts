// One picture: bodies, ground, and the contacts with the answer of one solver. Two solvers side by side are two stages.
import * as THREE from "three";
import type { FrameData, Replay } from "./data";
import { Bodies } from "./bodies";
import { skyLight, sunLight, towardsSun } from "./light";
import { Joints } from "./joints";
import { Arrows, Cones, Points } from "./marks";
import {
  NOT_CHOSEN, bodyHeat, contactHeat, notChosenHex, place, rgbOfHex, stateColour, stateHex, worldColour, type Rgb, type Scale,
} from "./palette";
import { bodyQuantities, contactQuantities, worstOfBodies, type Quantity } from "./quantities";
import type { Geometries, Part } from "./shapes";

export interface Settings {
  opacity: number; // of bodies
  contacts: boolean;
  colour: string; // of contacts: "state" or the key of a quantity
  log: boolean; // colours of contacts
  others: boolean; // points of alternatives that were not chosen
  normals: boolean; forces: boolean; sliding: boolean;
  cones: boolean; // of all contacts, not only of the selected one
  through: boolean; // contacts are seen through bodies
  joints: boolean;
  stretch: number; // of arrows, on top of the automatic scale
  body: string; // colour of bodies: "own", a key of a quantity of bodies, or "worst"
  shadows: boolean;
  grid: boolean;
}

/** What is the same for all frames: sizes and scales. */
export interface Measure {
  size: number; // of the scene, m: half its diagonal
  long: number; // m: of an arrow that most are shorter than
  force: number; // m of arrow for each N s
  slide: number; // m of arrow for each m/s
  contact: Scale; // of contact colours
  body: Scale;
}

export interface Selection { body: number; contact: number } // id, 0 = none; index in the frame, -1 = none

const STEEPEST = 10; // friction coefficient of a cone that is drawn: some files have infinite ones
const slidingColour = 0x2b9348;
const normalColour = 0x6c757d;
const plainColour = 0x3d6c99; // contacts without an answer

interface Theme { background: number; ground: number; lines: number; edge: number; accent: number }
export const themes: { light: Theme; dark: Theme } = {
  light: { background: 0xf1f3f3, ground: 0xdfded9, lines: 0xc5cbcd, edge: 0xffffff, accent: 0xd9480f },
  dark: { background: 0x16191d, ground: 0x212528, lines: 0x3a4148, edge: 0x0f1113, accent: 0xffa94d },
};

export class Stage {
  readonly scene = new THREE.Scene();
  readonly bodies: Bodies;
  private readonly points = new Points();
  private readonly normals = new Arrows(4, false);
  private readonly forces = new Arrows(6, false);
  private readonly slides = new Arrows(6, false);
  private readonly chosen = new Arrows(12, true);
  private readonly cones = new Cones();
  private readonly joints = new Joints();
  private readonly sun = sunLight();
  private readonly ground = new THREE.Group();
  private readonly grounds: THREE.MeshBasicMaterial[] = [];
  private readonly catchers: THREE.Mesh[] = [];
  private readonly gridLines: THREE.LineBasicMaterial[] = [];
  private solid: THREE.Plane[] = []; // of the planes of the file, in their order
  private readonly clear = new THREE.Color();
  private worst = new Float32Array(0);
  private theme: Theme = themes.light;
  private painted = ""; // settings of body colours that are in the buffers

  constructor(replay: Replay, parts: Part[], geometries: Geometries, readonly result: number, private readonly up: THREE.Vector3,
    software: boolean) {
    this.bodies = new Bodies(parts, geometries, up, software);
    this.bare = software && parts.length > 300;
    this.scene.add(skyLight());
    this.scene.add(this.sun, this.sun.target, this.ground, this.bodies.object, this.points.object, this.normals.object);
    this.scene.add(this.forces.object, this.slides.object, this.cones.object, this.chosen.object, this.joints.object);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.intensity = 0.55;
    this.sun.shadow.bias = -5e-4;
    this.sun.shadow.normalBias = 0.02;
    this.scene.fog = new THREE.Fog(0xffffff, 1, 100);
    this.scene.background = this.clear;
    this.planes = replay.shapes.filter((s) => s.kind === "plane" && s.id === 0);
  }

  private readonly planes: Replay["shapes"];
  private readonly bare: boolean; // ground and walls without their faces: to fill the screen takes half as long as the bodies

  /** Ground and light for the place where things happen. */
  settle(centre: THREE.Vector3, lowest: number, size: number): void {
    this.ground.clear();
    this.grounds.length = this.gridLines.length = this.catchers.length = 0;
    this.solid = this.planes.map((plane) => {
      const [w, x, y, z] = plane.quaternion, normal = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion(x, y, z, w).normalize());
      return new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3().fromArray(plane.position));
    });
    const step = 10 ** Math.floor(Math.log10(size)) * (size / 10 ** Math.floor(Math.log10(size)) > 4 ? 1 : 0.5);
    const floors = this.planes.length > 0 ? this.planes : [null];
    floors.forEach((plane, number) => {
      const object = new THREE.Group();
      // What lies inside another plane's solid is not seen.
      const clippingPlanes = this.solid.filter((_p, i) => i !== number);
      if (plane) {
        const [w, x, y, z] = plane.quaternion;
        object.quaternion.set(x, y, z, w).normalize();
        object.position.fromArray(plane.position);
      } else {
        object.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
        object.position.copy(this.up).multiplyScalar(lowest);
      }
      // The middle of what is drawn of it: below the scene, on whole squares.
      const local = centre.clone().sub(object.position).applyQuaternion(object.quaternion.clone().invert());
      const wall = new THREE.Vector3(0, 0, 1).applyQuaternion(object.quaternion).dot(this.up) < 0.3;
      const half = step * Math.ceil(((wall ? 1.3 : 9) * size) / step);
      const middle = new THREE.Vector3(Math.round(local.x / step) * step, Math.round(local.y / step) * step, 0);
      if (plane && !this.bare) {
        const material = new THREE.MeshBasicMaterial({ polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2, clippingPlanes });
        if (wall) Object.assign(material, { transparent: true, opacity: 0.5, depthWrite: false });
        const face = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), material);
        face.position.copy(middle);
        this.grounds.push(material);
        object.add(face);
      }
      if (plane && !wall) object.add(this.shadowCatcher(middle, 1.9 * size, clippingPlanes));
      const pen = new THREE.LineBasicMaterial({ clippingPlanes });
      this.gridLines.push(pen);
      const lines = new THREE.LineSegments(gridGeometry(half, step, wall ? 1 : 2), pen);
      lines.position.copy(middle);
      object.add(lines);
      this.ground.add(object);
    });
    this.sun.position.copy(centre).addScaledVector(towardsSun(this.up), size);
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera, wide = 1.7 * size;
    Object.assign(shadow, { left: -wide, right: wide, top: wide, bottom: -wide, near: 0.1 * size, far: 9 * size });
    shadow.updateProjectionMatrix();
    this.dress(this.theme);
  }

  /** Shadows fall on a part of the ground only: looking them up is what costs most without a graphics card. */
  private shadowCatcher(middle: THREE.Vector3, half: number, clippingPlanes: THREE.Plane[]): THREE.Mesh {
    const material = new THREE.ShadowMaterial({
      opacity: 0.3, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, clippingPlanes, fog: false,
    });
    material.onBeforeCompile = clipShadows;
    const catcher = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), material);
    catcher.position.copy(middle);
    catcher.receiveShadow = true;
    catcher.renderOrder = -1;
    this.catchers.push(catcher);
    return catcher;
  }

  dress(theme: Theme): void {
    this.theme = theme;
    this.clear.set(theme.background);
    this.scene.fog!.color.set(theme.background);
    for (const material of this.gridLines) material.color.set(theme.lines);
    for (const material of this.grounds) material.color.set(theme.ground);
  }

  /** Fog and dots depend on the camera and the screen. */
  frameCamera(eye: THREE.Vector3, distance: number, size: number, dots: number, through: boolean): void {
    // Planes are solid below: from there one looks through them.
    this.ground.children.forEach((object, i) => (object.visible = !this.solid[i] || this.solid[i].distanceToPoint(eye) > 0));
    const fog = this.scene.fog as THREE.Fog;
    fog.near = distance + 2.2 * size;
    fog.far = distance + 7.5 * size;
    this.points.style(dots, this.theme.edge, through);
    this.joints.style(1.15 * dots, this.theme.edge);
  }

  update(frame: FrameData, next: FrameData | null, share: number, set: Settings, measure: Measure, chosen: Selection): void {
    this.sun.castShadow = set.shadows;
    for (const catcher of this.catchers) catcher.visible = set.shadows && set.opacity > 0.6;
    this.ground.visible = set.grid;
    this.bodies.look(set.opacity, set.shadows);
    this.bodies.select(chosen.body, this.theme.accent);
    this.bodies.update(frame, next, share);
    this.paintBodies(frame, set, measure);
    this.showContacts(frame, set, measure, chosen);
    this.joints.update(frame, set.joints, 0.09 * measure.size);
  }

  private paintBodies(frame: FrameData, set: Settings, measure: Measure): void {
    if (set.body === "own") {
      if (this.painted !== "own") this.bodies.paint(null);
      this.painted = "own";
      return;
    }
    this.painted = set.body;
    const count = frame.id.length, table = bodyHeat.linear;
    if (this.worst.length < count) this.worst = new Float32Array(count);
    const own = bodyQuantities.find((q) => q.key === set.body);
    if (own) for (let i = 0; i < count; i++) this.worst[i] = own.of(frame, this.result, i);
    else worstOfBodies(frame, this.result, worstQuantity(set, frame), this.worst);
    this.bodies.paint((body, out, at) => {
      const k = 3 * Math.round(255 * place(measure.body, this.worst[body]));
      out[at] = table[k];
      out[at + 1] = table[k + 1];
      out[at + 2] = table[k + 2];
    });
  }

  private showContacts(frame: FrameData, set: Settings, measure: Measure, chosen: Selection): void {
    const answer = frame.results[this.result] ?? null, count = set.contacts ? frame.gap.length : 0;
    const points = this.points, thick = measure.long * 0.023;
    points.reserve(count + 1);
    points.position.set(set.contacts ? frame.point : [], 0);
    const quantity = quantityOf(set.colour, answer !== null);
    for (let i = 0; i < count; i++) {
      const state = answer ? answer.state[i] : -1;
      points.form[i] = state === NOT_CHOSEN ? (set.others ? 5 : 6) : answer ? Math.min(state, 3) : 1;
      if (state === NOT_CHOSEN) points.tint.set(notChosenRgb, 3 * i);
      else if (quantity) {
        const k = 3 * Math.round(255 * place(measure.contact, quantity.of(frame, this.result, i)));
        for (let c = 0; c < 3; c++) points.tint[3 * i + c] = contactHeat.linear[k + c];
      } else {
        const rgb = answer ? stateRgb[state] ?? plainRgb : plainRgb;
        for (let c = 0; c < 3; c++) points.tint[3 * i + c] = rgb[c];
      }
    }
    const picked = chosen.contact >= 0 && chosen.contact < frame.gap.length ? chosen.contact : -1;
    let drawn = count;
    if (picked >= 0) {
      for (let c = 0; c < 3; c++) points.position[3 * drawn + c] = frame.point[3 * picked + c];
      points.tint.set(rgbOfHex(this.theme.accent), 3 * drawn);
      points.form[drawn++] = 4;
    }
    points.finish(drawn);
    this.arrows(frame, answer, set, measure, thick, count);
    this.showCones(frame, answer, set, measure, picked, thick);
  }

  private arrows(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure, thick: number,
    count: number): void {
    const { point, normal } = frame, tint = this.points.tint;
    const begin = (arrows: Arrows, wanted: boolean) => {
      const n = wanted ? count : 0;
      arrows.reserve(n);
      arrows.setThrough(set.through);
      arrows.finish(n, thick * 0.8);
      return n;
    };
    const stick = 0.35 * measure.long, force = measure.force * set.stretch, slide = measure.slide * set.stretch;
    for (let i = 0, n = begin(this.normals, set.normals); i < n; i++) {
      const k = 3 * i, other = answer?.state[i] === NOT_CHOSEN, long = !other ? stick : set.others ? 0.5 * stick : 0;
      this.normals.set(i, point, k, long * normal[k], long * normal[k + 1], long * normal[k + 2], other ? notChosenRgb : normalRgb, 0);
    }
    for (let i = 0, n = begin(this.forces, set.forces && answer !== null); i < n; i++) {
      const k = 3 * i, nu = answer!.impulse[i], f = answer!.friction;
      this.forces.set(i, point, k, force * (nu * normal[k] + f[k]), force * (nu * normal[k + 1] + f[k + 1]),
        force * (nu * normal[k + 2] + f[k + 2]), tint, k);
    }
    for (let i = 0, n = begin(this.slides, set.sliding && answer !== null); i < n; i++) {
      const k = 3 * i, v = answer!.sliding;
      this.slides.set(i, point, k, slide * v[k], slide * v[k + 1], slide * v[k + 2], slidingRgb, 0);
    }
  }

  /** Cones, and force, friction and sliding of the selected contact, which are seen through everything. */
  private showCones(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure, picked: number,
    thick: number): void {
    const all = set.cones && set.contacts ? frame.gap.length : 0;
    this.cones.reserve(all + 1);
    let n = 0;
    const cone = (i: number, least: number) => {
      const height = Math.max(least, answer ? measure.force * set.stretch * Math.max(0, answer.impulse[i]) : least);
      if (!(height > 0)) return;
      const radius = height * Math.min(STEEPEST, Math.max(1e-3, frame.mu[i]));
      this.cones.set(n++, frame.point, frame.normal, i, radius, height, answer ? stateColour(answer.state[i]) : plainColour);
    };
    for (let i = 0; i < all; i++) if (i !== picked && answer?.state[i] !== NOT_CHOSEN) cone(i, answer ? 0 : 0.25 * measure.long);
    if (picked >= 0) cone(picked, 0.45 * measure.long);
    this.cones.finish(n, set.through);
    const arrows = this.chosen;
    arrows.reserve(4);
    let m = 0;
    const arrow = (vector: (c: number) => number, rgb: Rgb) =>
      arrows.set(m++, frame.point, 3 * picked, vector(0), vector(1), vector(2), rgb, 0);
    if (picked >= 0) {
      const at = 3 * picked, force = measure.force * set.stretch;
      if (!answer) arrow((c) => 0.8 * measure.long * frame.normal[at + c], normalRgb);
      else {
        arrow((c) => force * (answer.impulse[picked] * frame.normal[at + c] + answer.friction[at + c]), rgbOfHex(this.theme.accent));
        arrow((c) => measure.slide * set.stretch * answer.sliding[at + c], slidingRgb);
      }
    }
    arrows.finish(m, 1.25 * thick);
  }
}

const stateRgb = stateHex.map(rgbOfHex), plainRgb = rgbOfHex(plainColour), normalRgb = rgbOfHex(normalColour);
const slidingRgb = rgbOfHex(slidingColour), notChosenRgb = rgbOfHex(notChosenHex);
export const legendColours = { slidingColour, normalColour, plainColour, worldColour };

/** The quantity of contacts that a colour choice asks for; null: by state. */
export function quantityOf(key: string, answers: boolean): Quantity | null {
  const quantity = contactQuantities.find((q) => q.key === key);
  return quantity && (answers || !quantity.answer) ? quantity : null;
}

/** What "worst contact" means for bodies: the quantity chosen for contacts, else the energy error, else the overlap. */
export function worstQuantity(set: Settings, frame: FrameData): Quantity {
  const answers = frame.results.length > 0;
  return quantityOf(set.colour, answers) ?? quantityOf(answers ? "energy" : "penetration", answers)!;
}

/** Shadows end where their plane does; three.js clips every material but this one. */
function clipShadows(shader: THREE.WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = shader.vertexShader.replace("void main() {", "#include <clipping_planes_pars_vertex>\nvoid main() {")
    .replace("#include <project_vertex>", "#include <project_vertex>\n#include <clipping_planes_vertex>");
  shader.fragmentShader = shader.fragmentShader
    .replace("void main() {", "#include <clipping_planes_pars_fragment>\nvoid main() {\n#include <clipping_planes_fragment>");
}

/** Lines are in pieces of a few squares: SwiftShader leaves out what reaches behind the camera. */
function gridGeometry(half: number, step: number, coarse: number): THREE.BufferGeometry {
  const lines: number[] = [], n = Math.min(200, Math.round(half / step)), reach = n * step, piece = 4 * step;
  for (let i = -n; i <= n; i += coarse) {
    const at = i * step;
    for (let from = -reach; from < reach - step / 2; from += piece) {
      const to = Math.min(reach, from + piece);
      lines.push(at, from, 0, at, to, 0, from, at, 0, to, at, 0);
    }
  }
  return new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
}
