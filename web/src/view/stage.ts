// One picture: bodies, ground, and the contacts with the answer of one solver. Two solvers side by side are two stages.
import * as THREE from "three";
import type { FrameData, Replay } from "./data";
import { Bodies } from "./bodies";
import { skyLight, sunLight, towardsSun } from "./light";
import { jointColour, Joints } from "./joints";
import { Arrows, Cones, Points } from "./marks";
import {
  NOT_CHOSEN, colours, notChosenHex, place, rgbOfHex, stateColour, worldColour, type Rgb, type Scale,
} from "./palette";
import { bodyQuantities, contactQuantities, worstOfBodies, type Quantity } from "./quantities";
import type { Moment } from "./ghost";
import type { Geometries, Part } from "./shapes";

export interface Settings {
  opacity: number; // of bodies
  contacts: boolean;
  colour: string; // of contacts: "state" or the key of a quantity
  log: boolean; // colours of contacts
  others: boolean; // points of alternatives that were not chosen
  most: number; // contacts that are marked: the worst ones
  normals: boolean; forces: boolean; sliding: boolean;
  split: boolean; // normal and friction apart
  cones: boolean; // of all contacts, not only of the selected one
  through: boolean; // contacts are seen through bodies
  joints: boolean;
  stretch: number; // of arrows, on top of the automatic scale
  body: string; // colour of bodies: "own", a key of a quantity of bodies, or "worst"
  shadows: boolean;
  grid: boolean;
  ghost: boolean; // the second recording
}

/** What is the same for all frames: sizes and scales. */
export interface Measure {
  size: number; // of the scene, m: half its diagonal
  long: number; // m: of an arrow that most are shorter than
  force: number; // m of arrow for each N s
  slide: number; // m of arrow for each m/s
  bar: number; // m: length of bars, whose width is the force
  contact: Scale; // of contact colours
  body: Scale;
}

export interface Selection { body: number; contact: number; joint: number } // id, 0 = none; indices in the frame, -1 = none

const STEEPEST = 10; // friction coefficient of a cone that is drawn: some files have infinite ones
const CLIPPED = 3; // times the usual length of arrows, or width of bars: what is more is broken
const slidingColour = 0x2b9348;
const frictionColour = 0xb58900;
const ghostColour = 0x2f9e8f;
const normalColour = 0x6c757d;
const plainColour = 0x3d6c99; // contacts without an answer

interface Theme { background: number; ground: number; lines: number; edge: number; accent: number; neutral: number }
export const themes: { light: Theme; dark: Theme } = {
  light: { background: 0xf1f3f3, ground: 0xdfded9, lines: 0xc5cbcd, edge: 0xffffff, accent: 0xd9480f, neutral: 0xe4e4df },
  dark: { background: 0x16191d, ground: 0x212528, lines: 0x3a4148, edge: 0x0f1113, accent: 0xffa94d, neutral: 0x5b6269 },
};

/** Radius of a bar, m, in its usual width. */
export const barRadius = (measure: Measure) => 0.055 * measure.bar;

export class Stage {
  readonly scene = new THREE.Scene();
  readonly bodies: Bodies;
  private readonly ghosts: Bodies | null;
  private readonly points = new Points();
  private readonly normals = new Arrows(4, false);
  private readonly bars = new Arrows(4, false, false); // forces: symmetric about the contact
  private readonly inward = new Arrows(8, true); // forces on the selected body
  private readonly jointBars = new Arrows(4, false, false);
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
  private ranked = new Float32Array(0); // how bad contacts are
  private marked = new Uint32Array(0); // contacts that are drawn
  private markedCount = 0;
  private marks = new Uint8Array(0); // the same, by contact
  private theme: Theme = themes.light;
  private painted = ""; // settings of body colours that are in the buffers

  constructor(replay: Replay, parts: Part[], geometries: Geometries, readonly result: number, private readonly up: THREE.Vector3,
    software: boolean, ghosts: { parts: Part[]; geometries: Geometries } | null) {
    this.ghosts = ghosts ? new Bodies(ghosts.parts, ghosts.geometries, up, software, true) : null;
    if (this.ghosts) this.scene.add(this.ghosts.object);
    this.bodies = new Bodies(parts, geometries, up, software);
    this.bare = software && parts.length > 300;
    this.scene.add(skyLight());
    this.scene.add(this.sun, this.sun.target, this.ground, this.bodies.object, this.points.object, this.normals.object);
    this.scene.add(this.bars.object, this.inward.object, this.jointBars.object, this.slides.object, this.cones.object, this.chosen.object, this.joints.object);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.intensity = 0.55;
    this.sun.shadow.bias = -3e-4;
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
    // The map covers the scene and what it throws its shadows on, no more: its grain is what one sees at their edges.
    const shadow = this.sun.shadow.camera, wide = 1.2 * size;
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
    this.bodies.setNeutral(rgbOfHex(theme.neutral));
    this.painted = "";
  }

  /** Whether a contact has a mark in this picture. */
  isMarked(contact: number): boolean {
    return this.marks[contact] === 1;
  }

  /** Fog and dots depend on the camera and the screen. */
  frameCamera(eye: THREE.Vector3, distance: number, size: number, pixels: number, through: boolean): void {
    // Many marks are small ones.
    const dots = pixels * Math.max(0.42, Math.min(1, Math.sqrt(80 / Math.max(1, this.markedCount))));
    // Planes are solid below: from there one looks through them.
    this.ground.children.forEach((object, i) => (object.visible = !this.solid[i] || this.solid[i].distanceToPoint(eye) > 0));
    const fog = this.scene.fog as THREE.Fog;
    fog.near = distance + 2.2 * size;
    fog.far = distance + 7.5 * size;
    this.points.style(dots, this.theme.edge, through);
    this.joints.style(1.15 * pixels, this.theme.edge);
  }

  update(frame: FrameData, next: FrameData | null, share: number, set: Settings, measure: Measure, chosen: Selection, ghost: Moment | null): void {
    if (this.ghosts) {
      this.ghosts.object.visible = set.ghost && ghost !== null;
      if (ghost) this.ghosts.update(ghost.frame, ghost.next, ghost.share);
    }
    this.sun.castShadow = set.shadows;
    for (const catcher of this.catchers) catcher.visible = set.shadows && set.opacity > 0.6;
    this.ground.visible = set.grid;
    this.bodies.look(set.opacity, set.shadows);
    this.bodies.select(chosen.body, this.theme.accent);
    this.bodies.update(frame, next, share);
    this.paintBodies(frame, set, measure);
    this.showContacts(frame, set, measure, chosen);
    this.joints.update(frame, set.joints, 0.09 * measure.size, measure.size, chosen.joint, this.theme.accent);
    this.showJointForces(frame, set, measure);
  }

  private paintBodies(frame: FrameData, set: Settings, measure: Measure): void {
    if (set.body === "own") {
      const pale = set.contacts && frame.gap.length > 0, wanted = pale ? "pale" : "own";
      if (this.painted !== wanted) this.bodies.paint(null, pale);
      this.painted = wanted;
      return;
    }
    this.painted = set.body;
    const count = frame.id.length, table = colours().heat.linear;
    if (this.worst.length < count) this.worst = new Float32Array(count);
    const own = bodyQuantities.find((q) => q.key === set.body);
    if (own) for (let i = 0; i < count; i++) this.worst[i] = own.of(frame, this.result, i);
    else worstOfBodies(frame, this.result, worstQuantity(set, frame), this.worst);
    this.bodies.paint((body, out, at) => {
      const k = 3 * Math.round(255 * place(measure.body, this.worst[body]));
      out[at] = table[k];
      out[at + 1] = table[k + 1];
      out[at + 2] = table[k + 2];
    }, false);
  }

  /** Chooses which contacts are marked: the `most` worst, by the quantity of the colours or by their error. */
  private choose(frame: FrameData, set: Settings): void {
    const all = frame.gap.length, most = set.contacts ? Math.min(all, set.most) : 0;
    if (this.marks.length < all) {
      this.marks = new Uint8Array(all);
      this.marked = new Uint32Array(all);
      this.ranked = new Float32Array(all);
    }
    this.marks.fill(0);
    this.markedCount = 0;
    const mark = (i: number) => {
      this.marks[i] = 1;
      this.marked[this.markedCount++] = i;
    };
    if (most >= all) {
      for (let i = 0; i < most; i++) mark(i);
      return;
    }
    const quantity = worstQuantity(set, frame), down = quantity.key === "gap" ? -1 : 1, bad = this.ranked.subarray(0, all);
    for (let i = 0; i < all; i++) {
      const value = down * quantity.of(frame, this.result, i);
      bad[i] = Number.isNaN(value) ? -Infinity : value;
    }
    const limit = bad.slice().sort()[all - most];
    for (let i = 0; i < all; i++) if (bad[i] > limit) mark(i);
    for (let i = 0; i < all && this.markedCount < most; i++) if (bad[i] === limit) mark(i);
  }

  private showContacts(frame: FrameData, set: Settings, measure: Measure, chosen: Selection): void {
    const answer = frame.results[this.result] ?? null, thick = measure.long * 0.023;
    this.choose(frame, set);
    const points = this.points, count = this.markedCount, picked = chosen.contact >= 0 && chosen.contact < frame.gap.length ? chosen.contact : -1;
    points.reserve(count + 1);
    const tint = this.tints(frame, answer, set, measure);
    for (let n = 0; n < count; n++) {
      const i = this.marked[n], state = answer ? answer.state[i] : -1;
      for (let c = 0; c < 3; c++) points.position[3 * n + c] = frame.point[3 * i + c];
      points.form[n] = state === NOT_CHOSEN ? (set.others ? 5 : 6) : answer ? Math.min(state, 3) : 1;
      tint(i, points.tint, 3 * n);
    }
    let drawn = count;
    if (picked >= 0) {
      for (let c = 0; c < 3; c++) points.position[3 * drawn + c] = frame.point[3 * picked + c];
      points.tint.set(rgbOfHex(this.theme.accent), 3 * drawn);
      points.form[drawn++] = 4;
    }
    points.finish(drawn);
    this.showArrows(frame, answer, set, measure, thick);
    this.showForces(frame, answer, set, measure, tint);
    this.showBodyForces(frame, answer, set, measure, chosen.body, thick);
    this.showCones(frame, answer, set, measure, picked, thick);
  }

  /** Writes the colour of a contact. */
  private tints(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure): (i: number, out: Float32Array, at: number) => void {
    const quantity = quantityOf(set.colour, answer !== null), { heat: { linear: heat }, stateRgb } = colours();
    return (i, out, at) => {
      const state = answer ? answer.state[i] : -1;
      if (quantity && state !== NOT_CHOSEN) {
        const k = 3 * Math.round(255 * place(measure.contact, quantity.of(frame, this.result, i)));
        for (let c = 0; c < 3; c++) out[at + c] = heat[k + c];
        return;
      }
      const rgb = state === NOT_CHOSEN ? notChosenRgb : answer ? stateRgb[state] ?? plainRgb : plainRgb;
      for (let c = 0; c < 3; c++) out[at + c] = rgb[c];
    };
  }

  /** Normals and sliding velocities of the contacts that are marked. */
  private showArrows(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure, thick: number): void {
    const { point, normal } = frame;
    const begin = (arrows: Arrows, wanted: boolean) => {
      const n = wanted ? this.markedCount : 0;
      arrows.reserve(n);
      arrows.setThrough(set.through);
      return n;
    };
    const stick = 0.35 * measure.long, slide = measure.slide * set.stretch;
    const normals = begin(this.normals, set.normals), slides = begin(this.slides, set.sliding && answer !== null);
    for (let n = 0; n < normals; n++) {
      const i = this.marked[n], k = 3 * i, other = answer?.state[i] === NOT_CHOSEN, long = !other ? stick : set.others ? 0.5 * stick : 0;
      this.normals.set(n, point, k, long * normal[k], long * normal[k + 1], long * normal[k + 2], other ? notChosenRgb : normalRgb, 0);
    }
    for (let n = 0; n < slides; n++) {
      const k = 3 * this.marked[n], v = answer!.sliding;
      this.slides.set(n, point, k, slide * v[k], slide * v[k + 1], slide * v[k + 2], slidingRgb, 0);
    }
    this.normals.finish(normals, thick * 0.8);
    this.slides.finish(slides, thick * 0.8);
  }

  /** A bar through a point along a force, as wide as the force is large. */
  private bar(bars: Arrows, n: number, point: ArrayLike<number>, at: number, [x, y, z]: readonly number[], measure: Measure, set: Settings, tint: ArrayLike<number>): void {
    const size = Math.hypot(x, y, z), wide = (size * measure.force * set.stretch) / measure.long;
    const long = wide > 0.02 ? measure.bar / size : 0;
    for (let c = 0; c < 3; c++) this.begin[c] = point[at + c] - (0.5 * long * (c === 0 ? x : c === 1 ? y : z));
    bars.set(n, this.begin, 0, long * x, long * y, long * z, tint, 0, Math.min(wide, CLIPPED), wide > CLIPPED);
  }

  private readonly begin = [0, 0, 0];

  /** Bars of all contacts, marked or not: what carries little is thin. */
  private showForces(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure,
    tint: (i: number, out: Float32Array, at: number) => void): void {
    const { point, normal } = frame, colour = new Float32Array(3), count = set.forces && answer ? frame.gap.length : 0;
    this.bars.reserve(set.split ? 2 * count : count);
    this.bars.setThrough(set.through);
    let n = 0;
    for (let i = 0; i < count; i++) {
      const k = 3 * i, nu = answer!.impulse[i], f = answer!.friction;
      tint(i, colour, 0);
      const along = (share: number, friction: number) => [0, 1, 2].map((c) => share * nu * normal[k + c] + friction * f[k + c]);
      this.bar(this.bars, n++, point, k, along(1, set.split ? 0 : 1), measure, set, colour);
      if (set.split) this.bar(this.bars, n++, point, k, along(0, 1), measure, set, frictionRgb);
    }
    this.bars.finish(n, barRadius(measure));
  }

  private showJointForces(frame: FrameData, set: Settings, measure: Measure): void {
    const impulse = frame.results[this.result]?.jointImpulse ?? null, count = impulse && set.forces && set.joints ? impulse.length / 3 : 0;
    this.jointBars.reserve(count);
    this.jointBars.setThrough(set.through);
    for (let j = 0; j < count; j++) {
      this.bar(this.jointBars, j, frame.jointPoint, 3 * j, impulse!.subarray(3 * j, 3 * j + 3) as unknown as number[], measure, set, jointRgb);
    }
    this.jointBars.finish(count, barRadius(measure));
  }

  /** Arrows of what acts on the selected body, all with their tips where they act. */
  private showBodyForces(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure, body: number, thick: number): void {
    const index = body > 0 && answer && set.forces ? frame.id.indexOf(body) : -1, { inward } = this;
    const mine: number[] = [], force = measure.force * set.stretch, longest = CLIPPED * measure.long;
    for (let i = 0; index >= 0 && i < frame.gap.length; i++) if (frame.pair[2 * i] === index || frame.pair[2 * i + 1] === index) mine.push(i);
    inward.reserve(2 * mine.length);
    let n = 0;
    for (const i of mine) {
      const k = 3 * i, sign = frame.pair[2 * i + 1] === index ? 1 : -1;
      const arrow = (normal: number, friction: number, rgb: Rgb) => {
        const vector = [0, 1, 2].map((c) => sign * force * (normal * answer!.impulse[i] * frame.normal[k + c] + friction * answer!.friction[k + c]));
        const size = Math.hypot(...vector), fits = size > longest ? longest / size : 1;
        for (let c = 0; c < 3; c++) this.begin[c] = frame.point[k + c] - fits * vector[c];
        inward.set(n++, this.begin, 0, fits * vector[0], fits * vector[1], fits * vector[2], rgb, 0, 1, fits < 1);
      };
      arrow(1, set.split ? 0 : 1, rgbOfHex(this.theme.accent));
      if (set.split) arrow(0, 1, frictionRgb);
    }
    inward.finish(n, 1.15 * thick);
  }

  /** Cones, and force, friction and sliding of the selected contact, which are seen through everything. */
  private showCones(frame: FrameData, answer: FrameData["results"][0] | null, set: Settings, measure: Measure, picked: number,
    thick: number): void {
    const all = set.cones ? this.markedCount : 0;
    this.cones.reserve(all + 1);
    let n = 0;
    const cone = (i: number, least: number) => {
      const height = Math.max(least, answer ? measure.force * set.stretch * Math.max(0, answer.impulse[i]) : least);
      if (!(height > 0)) return;
      const radius = height * Math.min(STEEPEST, Math.max(1e-3, frame.mu[i]));
      this.cones.set(n++, frame.point, frame.normal, i, radius, height, answer ? stateColour(answer.state[i]) : plainColour);
    };
    for (let m = 0; m < all; m++) {
      const i = this.marked[m];
      if (i !== picked && answer?.state[i] !== NOT_CHOSEN) cone(i, answer ? 0 : 0.25 * measure.long);
    }
    if (picked >= 0) cone(picked, 0.45 * measure.long);
    this.cones.finish(n, set.through);
    const arrows = this.chosen;
    arrows.reserve(4);
    let m = 0;
    const arrow = (vector: (c: number) => number, rgb: Rgb) => {
      const size = Math.hypot(vector(0), vector(1), vector(2)), fits = Math.min(1, (2 * CLIPPED * measure.long) / (size || 1));
      arrows.set(m++, frame.point, 3 * picked, fits * vector(0), fits * vector(1), fits * vector(2), rgb, 0, 1, fits < 1);
    };
    if (picked >= 0) {
      const at = 3 * picked, force = measure.force * set.stretch;
      if (!answer) arrow((c) => 0.8 * measure.long * frame.normal[at + c], normalRgb);
      else {
        const whole = set.split ? 0 : 1;
        arrow((c) => force * (answer.impulse[picked] * frame.normal[at + c] + whole * answer.friction[at + c]), rgbOfHex(this.theme.accent));
        if (set.split) arrow((c) => force * answer.friction[at + c], frictionRgb);
        arrow((c) => measure.slide * set.stretch * answer.sliding[at + c], slidingRgb);
      }
    }
    arrows.finish(m, 1.25 * thick);
  }
}

const plainRgb = rgbOfHex(plainColour), normalRgb = rgbOfHex(normalColour);
const slidingRgb = rgbOfHex(slidingColour), notChosenRgb = rgbOfHex(notChosenHex), frictionRgb = rgbOfHex(frictionColour);
const jointRgb = rgbOfHex(jointColour);
export const legendColours = { ghostColour, slidingColour, normalColour, plainColour, worldColour, frictionColour };

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
