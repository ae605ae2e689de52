// A camera that goes round a point. Angles are about the vertical of the scene, which gravity tells.
import * as THREE from "three";

export type View = "angle" | "top" | "front" | "side";

/** The axis nearest to the one against gravity; z where there is none. */
export function upAxis(gravity: readonly number[] | null): THREE.Vector3 {
  if (gravity) {
    let axis = 2;
    for (let k = 0; k < 3; k++) if (Math.abs(gravity[k]) > Math.abs(gravity[axis]) * 1.0001) axis = k;
    if (gravity[axis] !== 0) return new THREE.Vector3().setComponent(axis, gravity[axis] < 0 ? 1 : -1);
  }
  return new THREE.Vector3(0, 0, 1);
}

const STEEP = Math.PI / 2 - 1e-4; // straight down would leave the direction of "up" on the screen open
const FLIGHT = 550; // ms

export class Orbit {
  readonly camera = new THREE.PerspectiveCamera(36, 1, 0.01, 100);
  readonly target = new THREE.Vector3();
  azimuth = 0;
  elevation = 0;
  distance = 5;
  private readonly east: THREE.Vector3; // the first two axes of the scene, as seen from above
  private readonly north: THREE.Vector3;
  private readonly right = new THREE.Vector3();
  private readonly above = new THREE.Vector3();
  private reach = 1; // of the scene, for the clipping planes
  touched = false; // the camera was moved: it is no longer ours to move
  private flight: { from: THREE.Vector3; to: THREE.Vector3; near: number; far: number; begun: number } | null = null;

  constructor(readonly up: THREE.Vector3) {
    const axis = [up.x, up.y, up.z].findIndex((c) => c !== 0);
    this.east = new THREE.Vector3().setComponent((axis + 1) % 3, 1);
    this.north = new THREE.Vector3().crossVectors(up, this.east);
    this.camera.up.copy(up);
    this.view("angle");
  }

  view(view: View): void {
    // Azimuth 0 looks along north.
    const angles: Record<View, [number, number]> = {
      angle: [-0.55, 0.36], top: [0, STEEP], front: [0, 0.04], side: [Math.PI / 2, 0.04],
    };
    [this.azimuth, this.elevation] = angles[view];
    this.place();
  }

  rotate(across: number, upwards: number): void {
    this.azimuth -= across;
    this.elevation = Math.min(STEEP, Math.max(-STEEP, this.elevation + upwards));
    this.place();
  }

  /** By shares of the height of the picture. */
  pan(across: number, upwards: number): void {
    this.flight = null;
    const height = 2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360);
    this.camera.updateMatrixWorld();
    this.right.setFromMatrixColumn(this.camera.matrixWorld, 0);
    this.above.setFromMatrixColumn(this.camera.matrixWorld, 1);
    this.target.addScaledVector(this.right, -across * height).addScaledVector(this.above, -upwards * height);
    this.place();
  }

  /** Azimuth, elevation, distance and target, for an address. */
  get place6(): number[] {
    return [this.azimuth, this.elevation, this.distance, ...this.target.toArray()];
  }

  set place6([azimuth, elevation, distance, ...target]: number[]) {
    this.flight = null;
    this.azimuth = azimuth;
    this.elevation = Math.min(STEEP, Math.max(-STEEP, elevation));
    this.distance = distance;
    this.target.fromArray(target);
    this.place();
  }

  zoom(factor: number): void {
    this.flight = null;
    this.distance = Math.min(this.reach * 60, Math.max(this.reach * 1e-3, this.distance * factor));
    this.place();
  }

  /** Goes as near as all balls (x y z radius) stay in the picture. */
  fit(centre: THREE.Vector3, balls: readonly number[]): void {
    this.flight = null;
    this.distance = this.distanceFor(centre, balls) || this.distance;
    this.target.copy(centre);
    this.place();
  }

  /** From where all balls are in the picture, looking at this centre as now; 0 = there are none. */
  distanceFor(centre: THREE.Vector3, balls: readonly number[]): number {
    this.place();
    const { camera } = this, tall = (camera.fov * Math.PI) / 360, wide = Math.atan(Math.tan(tall) * camera.aspect);
    const ball = new THREE.Vector3(), look = new THREE.Vector3();
    camera.getWorldDirection(look);
    this.right.setFromMatrixColumn(camera.matrixWorld, 0);
    this.above.setFromMatrixColumn(camera.matrixWorld, 1);
    let distance = 0;
    for (let i = 0; i < balls.length; i += 4) {
      ball.fromArray(balls, i).sub(centre);
      for (const [half, across] of [[wide, this.right], [tall, this.above]] as const) {
        const needed = (balls[i + 3] + Math.abs(ball.dot(across)) * Math.cos(half)) / Math.sin(half) - ball.dot(look);
        distance = Math.max(distance, needed);
      }
    }
    return 1.08 * distance;
  }

  /** Moves to another target and distance, smoothly unless the reader wants no motion. */
  fly(to: THREE.Vector3, distance: number): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.target.copy(to);
      this.distance = distance;
      this.place();
    } else this.flight = { from: this.target.clone(), to: to.clone(), near: this.distance, far: distance, begun: -1 };
  }

  get flying(): boolean {
    return this.flight !== null;
  }

  /** One picture of a flight. */
  advance(now: number): void {
    const { flight } = this;
    if (!flight) return;
    if (flight.begun < 0) flight.begun = now;
    const share = Math.min(1, (now - flight.begun) / FLIGHT), eased = share * share * (3 - 2 * share);
    this.target.lerpVectors(flight.from, flight.to, eased);
    this.distance = flight.near * (flight.far / flight.near) ** eased;
    this.place();
    if (share === 1) this.flight = null;
  }

  setReach(reach: number): void {
    this.reach = reach;
  }

  setAspect(aspect: number): void {
    if (!(aspect > 0) || this.camera.aspect === aspect) return;
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  place(): void {
    const flat = Math.cos(this.elevation), camera = this.camera;
    camera.position.copy(this.target)
      .addScaledVector(this.east, this.distance * flat * Math.sin(this.azimuth))
      .addScaledVector(this.north, -this.distance * flat * Math.cos(this.azimuth))
      .addScaledVector(this.up, this.distance * Math.sin(this.elevation));
    camera.lookAt(this.target);
    camera.near = Math.max(this.distance * 0.01, this.reach * 1e-4);
    camera.far = this.distance + this.reach * 40;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }
}

/** Mouse, pen and touch. `picked` gets clicks that were no drags, `changed` after every move of the camera. */
export function steer(canvas: HTMLCanvasElement, orbit: Orbit, changed: () => void, picked: (event: PointerEvent) => void): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    canvas.setPointerCapture(event.pointerId);
    moved = fingers.size > 1 ? Infinity : 0;
    orbit.touched = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    const dx = event.clientX - finger.x, dy = event.clientY - finger.y, height = canvas.clientHeight || 1;
    const before = fingers.size === 2 ? spread() : 0;
    finger.x = event.clientX;
    finger.y = event.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 2) {
      orbit.zoom(before / Math.max(1, spread()));
      orbit.pan(dx / height / 2, -dy / height / 2);
    } else if (event.buttons & 1 && !event.shiftKey) orbit.rotate((dx / height) * 4, (dy / height) * 4);
    else orbit.pan(dx / height, -dy / height);
    changed();
  });
  const release = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && event.button === 0 && moved < 5) picked(event);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    orbit.touched = true;
    const lines = event.deltaMode === 1 ? 24 : 1;
    orbit.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * 0.0012))));
    changed();
  }, { passive: false });
}
