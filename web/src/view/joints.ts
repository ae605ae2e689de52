// Joints: a ring where the bodies are joined, the axis of a hinge or slide, and lines to the centres of both bodies. The colour
// of a ring goes from violet to the strong end of the heat colours with the error of its joint.
import * as THREE from "three";
import type { FrameData } from "./data";
import { Points, roomFor } from "./marks";
import { colours, place, rgbOfHex } from "./palette";

export const jointColour = 0x7048e8;
const jointRgb = rgbOfHex(jointColour);

export class Joints {
  readonly object = new THREE.Group();
  private readonly points = new Points();
  private readonly material = new THREE.LineBasicMaterial({ color: jointColour, transparent: true, depthTest: false });
  private readonly lines = new THREE.LineSegments(new THREE.BufferGeometry(), this.material);
  private position = new Float32Array(0);

  constructor() {
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 2;
    this.object.add(this.lines, this.points.object);
  }

  style(size: number, edge: number): void {
    this.points.style(size, edge, true);
  }

  /** axis: half its length, in m; size: of the scene, of which a thousandth is a bad error. */
  update(frame: FrameData, on: boolean, axis: number, size: number, chosen: number, accent: number): void {
    const count = on ? frame.jointPair.length / 2 : 0;
    this.object.visible = count > 0;
    if (count === 0) return;
    this.points.reserve(count + 1);
    if (this.position.length < 18 * count) {
      this.position = new Float32Array(18 * roomFor(count));
      this.lines.geometry.dispose();
      this.lines.geometry = new THREE.BufferGeometry();
      this.lines.geometry.setAttribute("position", new THREE.BufferAttribute(this.position, 3).setUsage(THREE.DynamicDrawUsage));
    }
    let at = 0;
    const line = (a: ArrayLike<number>, i: number, b: ArrayLike<number>, k: number) => {
      for (let c = 0; c < 3; c++) this.position[at++] = a[i + c];
      for (let c = 0; c < 3; c++) this.position[at++] = b[k + c];
    };
    const ends = new Float32Array(6), strong = colours().heat.linear.subarray(3 * 255), scale = { low: 1e-6 * size, high: 1e-3 * size, log: true };
    for (let j = 0; j < count; j++) {
      const bad = place(scale, frame.jointError[2 * j]);
      for (let c = 0; c < 3; c++) {
        this.points.position[3 * j + c] = frame.jointPoint[3 * j + c];
        this.points.tint[3 * j + c] = jointRgb[c] + bad * (strong[c] - jointRgb[c]);
        ends[c] = frame.jointPoint[3 * j + c] - axis * frame.jointAxis[3 * j + c];
        ends[3 + c] = frame.jointPoint[3 * j + c] + axis * frame.jointAxis[3 * j + c];
      }
      this.points.form[j] = 0;
      line(ends, 0, ends, 3);
      for (let side = 0; side < 2; side++) {
        const body = frame.jointPair[2 * j + side];
        if (body >= 0) line(frame.jointPoint, 3 * j, frame.position, 3 * body);
      }
    }
    if (chosen >= 0 && chosen < count) {
      this.points.position.set(frame.jointPoint.subarray(3 * chosen, 3 * chosen + 3), 3 * count);
      this.points.tint.set(rgbOfHex(accent), 3 * count);
      this.points.form[count] = 4;
      this.points.finish(count + 1);
    } else this.points.finish(count);
    this.lines.geometry.setDrawRange(0, at / 3);
    this.lines.geometry.getAttribute("position").needsUpdate = true;
  }
}
