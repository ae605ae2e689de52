// The canvas: one renderer, one camera, one or two stages beside each other. Draws only when something changed.
import * as THREE from "three";
import type { FrameData, Replay } from "./data";
import { compose, readPose } from "./bodies";
import { Orbit, steer, upAxis } from "./camera";
import { quickColours } from "./light";
import { NOT_CHOSEN } from "./palette";
import { legendColours, Stage, themes, type Measure, type Selection, type Settings } from "./stage";
import type { Moment } from "./ghost";
import { Geometries, partsOf, type Part } from "./shapes";

export interface Hit { kind: "body" | "contact" | "joint"; id: number } // id of the body (0 = scenery), or index

/** What frames fill: centre, half diagonal, how low it goes against the vertical, and the balls (x y z radius) it is made of. */
interface Bounds { centre: THREE.Vector3; size: number; lowest: number; balls: number[] }

const PICK_PIXELS = 9;
const SLOW = 45; // ms from picture to picture
const COARSE = 0.6; // fewest pixels drawn for each of the page

export class Picture {
  readonly orbit: Orbit;
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly software: boolean;
  private stages: Stage[] = [];
  private readonly ghosts: { parts: Part[]; geometries: Geometries } | null;
  private readonly reaches = new Map<number, number>();
  private asked = false;
  private dark = false;
  private size = 1;
  private readonly ray = new THREE.Raycaster();
  private readonly spot = new THREE.Vector3();
  private readonly times: number[] = []; // when the last pictures were drawn
  /** Called before a picture is drawn; must not allocate. */
  before: (now: number) => void = () => undefined;
  /** Called after one. */
  after: () => void = () => undefined;
  through = true;
  drawn = 0; // pictures since the beginning
  private readonly fine: number; // pixels drawn for each of the page, when it stands still
  private readonly quick: number; // ... while it moves, without a graphics card
  private refining = false; // the next picture is of something that stands still
  private restore = 0; // timer
  private changed = 0; // pictures drawn when the number of pixels last changed
  private moved = false; // shadows are no longer right

  /** Throws where there is no WebGL. */
  constructor(private readonly replay: Replay, private readonly parts: Part[], private readonly geometries: Geometries,
    canvas: HTMLCanvasElement, picked: (hit: Hit | null) => void, private readonly turned: () => void) {
    this.canvas = canvas;
    const ghostParts = replay.other ? partsOf(replay.other).filter((part) => part.body > 0).map((part) => ({ ...part, colour: legendColours.ghostColour })) : [];
    this.ghosts = replay.other ? { parts: ghostParts, geometries: new Geometries(replay.other.meshes, ghostParts.length) } : null;
    const software = (this.software = isSoftware()), heavy = isMany(parts.length);
    if (software) quickColours();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software, powerPreference: "high-performance" });
    // Without a graphics card smooth edges take half of the time: what stands still is drawn once more with more pixels instead.
    this.fine = software ? (heavy ? 1 : 1.5) : Math.min(devicePixelRatio, heavy ? 1 : 2);
    this.quick = Math.min(1, this.fine);
    this.renderer.setPixelRatio(software ? this.quick : this.fine);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = software ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false; // shadows do not change when the camera moves
    this.renderer.autoClear = false;
    this.renderer.localClippingEnabled = true;
    this.orbit = new Orbit(upAxis(replay.gravity));
    for (const part of parts) {
      if (part.body > 0) this.reaches.set(part.body, Math.max(this.reaches.get(part.body) ?? 0, part.reach));
    }
    steer(canvas, this.orbit, () => this.steered(), (event) => picked(this.pick(event.clientX, event.clientY)));
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
  }

  private steered(): void {
    this.ask();
    this.turned();
  }

  /** Which answers are shown: one, or two beside each other. */
  setResults(results: number[]): void {
    this.stages = results.map((r) => this.stages.find((s) => s.result === r)
      ?? new Stage(this.replay, this.parts, this.geometries, r, this.orbit.up, this.software, this.ghosts));
    this.dress(this.dark);
    this.resize();
  }

  dress(dark: boolean): void {
    this.dark = dark;
    for (const stage of this.stages) stage.dress(dark ? themes.dark : themes.light);
    this.ask();
  }

  update(frame: FrameData, next: FrameData | null, share: number, set: Settings, measure: Measure, chosen: Selection,
    ghost: Moment | null): void {
    this.through = set.through;
    for (const stage of this.stages) stage.update(frame, next, share, set, measure, chosen, ghost);
    this.moved = set.shadows;
    this.ask();
  }

  /** Half the diagonal of what happens; also sets ground and light. */
  settle(frames: readonly FrameData[]): number {
    const all = this.bounds(frames);
    this.size = all.size;
    this.orbit.setReach(all.size);
    for (const stage of this.stages) stage.settle(all.centre, all.lowest, all.size);
    return all.size;
  }

  /** Of bodies, from their centre, m. */
  usualReach(): number {
    return median([...this.reaches.values()]);
  }

  /** Shows all that is in these frames, as large as it can be. */
  fit(frames: readonly FrameData[]): void {
    const { centre, balls } = this.bounds(frames);
    this.orbit.fit(centre, balls);
    this.ask();
  }

  /** The frames together, unless what moves goes so far that it would be a speck: then the first of them. */
  fitAll(frames: readonly FrameData[]): void {
    const far = this.bounds(frames).size > 3.5 * this.bounds(frames.slice(0, 1)).size;
    this.fit(far ? frames.slice(0, 1) : frames);
  }

  /** Steps back, smoothly, when more than a third of the bodies have left the picture; the user's own view is left alone. */
  widen(frame: FrameData): void {
    const { orbit } = this, count = frame.id.length;
    if (orbit.touched || orbit.flying || count === 0) return;
    let out = 0;
    for (let b = 0; b < count; b++) {
      this.spot.fromArray(frame.position, 3 * b).project(orbit.camera);
      if (!(Math.abs(this.spot.x) <= 1 && Math.abs(this.spot.y) <= 1 && this.spot.z <= 1)) out++;
    }
    if (3 * out <= count) return;
    const { centre, balls } = this.bounds([frame]);
    orbit.fly(centre, Math.max(orbit.distance, 1.15 * orbit.distanceFor(centre, balls)));
    this.ask();
  }

  /** Looks at a place with what is within a radius around it, from no farther than now. */
  approach(point: ArrayLike<number>, radius: number): void {
    const centre = new THREE.Vector3().fromArray(point);
    this.orbit.touched = true;
    this.orbit.fly(centre, Math.min(this.orbit.distance, this.orbit.distanceFor(centre, [...centre.toArray(), radius])));
    this.ask();
  }

  /** Of a body from its centre, m; of the world: as bodies are usually. */
  reachOf(id: number): number {
    return this.reaches.get(id) || this.usualReach() || 0.1 * this.size;
  }

  private bounds(frames: readonly FrameData[]): Bounds {
    const places: number[] = [], balls: number[] = []; // x y z reach
    for (const frame of frames) {
      for (let b = 0; b < frame.id.length; b++) {
        places.push(frame.position[3 * b], frame.position[3 * b + 1], frame.position[3 * b + 2], this.reaches.get(frame.id[b]) ?? 0);
      }
      if (frame.id.length === 0) for (let i = 0; i < frame.point.length; i += 3) places.push(...frame.point.subarray(i, i + 3), 0);
    }
    // One body that flew away must not make the others specks.
    const column = (k: number) => places.filter((_v, i) => i % 4 === k);
    const middle = [0, 1, 2].map((k) => median(column(k)));
    const away = column(0).map((_x, i) => Math.hypot(...middle.map((m, k) => places[4 * i + k] - m)));
    const usual = median(away), finite = away.filter(Number.isFinite).length;
    for (let i = 0; i < away.length; i++) {
      if (Number.isFinite(away[i]) && (finite <= 20 || away[i] <= 6 * usual)) balls.push(...places.slice(4 * i, 4 * i + 4));
    }
    const moving = balls.length ? boxOf(balls).getSize(this.spot).length() / 2 : 0;
    for (const part of this.parts) {
      if (part.body > 0 || (moving > 0 && part.radius >= 1.5 * moving)) continue;
      for (const frame of part.scenery >= 0 ? frames : frames.slice(0, 1)) balls.push(...ballsOfScenery(part, frame));
    }
    const box = balls.length ? boxOf(balls) : new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    const centre = box.getCenter(new THREE.Vector3()), size = Math.max(box.getSize(this.spot).length() / 2, 1e-6);
    return { centre, size, balls, lowest: Math.min(box.min.dot(this.orbit.up), box.max.dot(this.orbit.up)) };
  }

  /** Draws with the next picture of the screen. */
  ask(): void {
    if (this.asked || this.held) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      if (this.software && !this.refining && this.renderer.getPixelRatio() > this.quick) {
        this.renderer.setPixelRatio(this.quick);
        this.fill();
      }
      this.refining = false;
      this.before(now);
      this.orbit.advance(now);
      this.draw();
      if (this.orbit.flying) this.ask();
      this.drawn++;
      this.times.push(performance.now());
      if (this.times.length > 90) this.times.shift();
      this.adapt();
    });
  }

  /** Where drawing is slow, what moves is drawn with fewer pixels, and in full once it stands still. */
  private adapt(): void {
    const ratio = this.renderer.getPixelRatio(), last = this.times.length - 1;
    clearTimeout(this.restore);
    if (ratio < this.fine) {
      this.restore = window.setTimeout(() => {
        this.refining = true;
        this.renderer.setPixelRatio(this.fine);
        this.resize();
      }, this.software ? 800 : 400);
    }
    if (last < 8 || this.drawn - this.changed < 9 || this.times[last] - this.times[last - 8] > 8 * 400) return;
    if (this.times[last] - this.times[last - 8] < 8 * SLOW || ratio <= COARSE) return;
    this.renderer.setPixelRatio(Math.max(COARSE, ratio * 0.8));
    this.resize();
    this.changed = this.drawn;
  }

  /** Pictures a second, over the last ones that followed each other. */
  get rate(): number {
    const last = this.times.length - 1;
    let first = last;
    while (first > 0 && this.times[first] - this.times[first - 1] < 1500 && this.times[last] - this.times[first] < 3000) first--;
    return last > first ? (1000 * (last - first)) / (this.times[last] - this.times[first]) : 0;
  }

  /** Nothing moves, and it is drawn in full. */
  get still(): boolean {
    return !this.asked && this.renderer.getPixelRatio() >= this.fine;
  }

  private resize(): void {
    this.fill();
    this.ask();
  }

  private fill(): void {
    const box = this.canvas.parentElement!;
    const width = Math.max(1, box.clientWidth), height = Math.max(1, box.clientHeight);
    this.renderer.setSize(width, height, false);
    this.orbit.setAspect(width / Math.max(1, this.stages.length) / height);
  }

  draw(): void {
    const size = this.renderer.getSize(new THREE.Vector2()), wide = Math.floor(size.x / Math.max(1, this.stages.length));
    const dots = (wide < 500 ? 9.5 : 10.5) * this.renderer.getPixelRatio();
    this.renderer.setScissorTest(this.stages.length > 1);
    this.stages.forEach((stage, i) => {
      this.renderer.setViewport(i * wide, 0, wide, size.y);
      this.renderer.setScissor(i * wide, 0, wide - (i === 0 && this.stages.length > 1 ? 1 : 0), size.y);
      this.renderer.clear();
      this.renderer.shadowMap.needsUpdate = this.moved;
      stage.frameCamera(this.orbit.camera.position, this.orbit.distance, this.size, dots, this.through);
      this.renderer.render(stage.scene, this.orbit.camera);
    });
    this.moved = false;
    this.after();
  }

  /** Of the page, at the distance of what the camera looks at. */
  pixelsPerMetre(): number {
    return this.canvas.clientHeight / (2 * this.orbit.distance * Math.tan((this.orbit.camera.fov * Math.PI) / 360));
  }

  /** Draws at once and in full, for a caller that copies the canvas before the browser clears it. */
  drawFull(film: boolean): void {
    const ratio = film && this.software ? this.quick : this.fine;
    if (this.renderer.getPixelRatio() !== ratio) {
      this.renderer.setPixelRatio(ratio);
      this.fill();
    }
    this.draw();
  }

  get ratio(): number {
    return this.renderer.getPixelRatio();
  }

  held = false; // while a film is made, only the film draws

  /** In the first stage. */
  markedContacts(): number[] {
    const [stage] = this.stages;
    return stage && this.frame ? Array.from(this.frame.gap, (_g, i) => i).filter((i) => stage.isMarked(i)) : [];
  }

  /** Where a point of the scene is on the page, in the first stage; null: behind the camera. */
  locate(x: number, y: number, z: number): { x: number; y: number } | null {
    this.spot.set(x, y, z).project(this.orbit.camera);
    if (this.spot.z > 1) return null;
    const box = this.canvas.getBoundingClientRect(), wide = box.width / Math.max(1, this.stages.length);
    return { x: box.left + ((this.spot.x + 1) / 2) * wide, y: box.top + ((1 - this.spot.y) / 2) * box.height };
  }

  frame: FrameData | null = null; // what clicks refer to
  contactsShown = true;
  othersShown = true;
  jointsShown = true;

  private pick(x: number, y: number): Hit | null {
    const box = this.canvas.getBoundingClientRect(), wide = box.width / Math.max(1, this.stages.length);
    const which = Math.min(this.stages.length - 1, Math.floor((x - box.left) / wide)), stage = this.stages[which];
    if (!stage || !this.frame) return null;
    const at = new THREE.Vector2((2 * (x - box.left - which * wide)) / wide - 1, 1 - (2 * (y - box.top)) / box.height);
    this.ray.setFromCamera(at, this.orbit.camera);
    const body = stage.bodies.pick(this.ray);
    const contact = this.contactsShown ? this.nearestContact(stage, at, wide, box.height, this.through ? Infinity : body?.distance ?? Infinity) : -1;
    if (contact >= 0) return { kind: "contact", id: contact };
    const joint = this.jointsShown ? this.nearestPoint(this.frame.jointPoint, () => true, at, wide, box.height, Infinity) : -1;
    if (joint >= 0) return { kind: "joint", id: joint };
    return body ? { kind: "body", id: body.body } : null;
  }

  /** The contact point nearest to a click, within a few pixels and not behind `limit`. */
  private nearestContact(stage: Stage, at: THREE.Vector2, width: number, height: number, limit: number): number {
    const states = this.frame!.results[stage.result]?.state;
    const seen = (i: number) => stage.isMarked(i) && (this.othersShown || states?.[i] !== NOT_CHOSEN);
    return this.nearestPoint(this.frame!.point, seen, at, width, height, limit);
  }

  private nearestPoint(points: Float32Array, seen: (i: number) => boolean, at: THREE.Vector2, width: number, height: number, limit: number): number {
    let best = -1, least = PICK_PIXELS ** 2;
    for (let i = 0; 3 * i < points.length; i++) {
      if (!seen(i)) continue;
      this.spot.fromArray(points, 3 * i);
      if (this.spot.distanceTo(this.orbit.camera.position) > limit + 0.02 * this.size) continue;
      this.spot.project(this.orbit.camera);
      const away = ((this.spot.x - at.x) * width / 2) ** 2 + ((this.spot.y - at.y) * height / 2) ** 2;
      if (this.spot.z < 1 && away < least) [best, least] = [i, away];
    }
    return best;
  }
}

function boxOf(balls: readonly number[]): THREE.Box3 {
  const box = new THREE.Box3(), corner = new THREE.Vector3();
  for (let i = 0; i < balls.length; i += 4) {
    const [x, y, z, r] = balls.slice(i, i + 4);
    box.expandByPoint(corner.set(x - r, y - r, z - r)).expandByPoint(corner.set(x + r, y + r, z + r));
  }
  return box;
}

/** The corners of a box, which may be long, or the ball around another part; x y z radius. */
function ballsOfScenery(part: Part, frame: FrameData): number[] {
  const pose = Float64Array.of(0, 0, 0, 1, 0, 0, 0), matrix = new THREE.Matrix4(), spot = new THREE.Vector3();
  if (3 * part.scenery >= frame.sceneryPosition.length) return [];
  if (part.scenery >= 0) readPose(frame.sceneryPosition, frame.sceneryQuaternion, part.scenery, pose);
  compose(pose, part, matrix.elements as unknown as Float64Array, 0);
  if (part.geometry !== "box") {
    const [x, y, z, w, i, j, k] = pose;
    return [...spot.fromArray(part.middle).applyQuaternion(new THREE.Quaternion(i, j, k, w)).add(new THREE.Vector3(x, y, z)).toArray(), part.radius];
  }
  const corners: number[] = [];
  for (let i = 0; i < 8; i++) {
    corners.push(...spot.set((i & 1) - 0.5, ((i >> 1) & 1) - 0.5, (i >> 2) - 0.5).applyMatrix4(matrix).toArray(), 0);
  }
  return corners;
}

function median(values: number[]): number {
  const sorted = values.filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

/** So many bodies that shadows and smooth edges cost more than they are worth. */
export const isMany = (bodies: number) => bodies > (isSoftware() ? 60 : 300);

let software: boolean | null = null;

/** Whether there is no graphics card. */
function isSoftware(): boolean {
  software ??= findSoftware();
  return software;
}

function findSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
