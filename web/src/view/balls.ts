// Many spheres and ellipsoids without a graphics card: each is a square that faces the camera, and every pixel of it looks for
// the surface along its ray. Four corners take the place of a hundred, and the outline is round however near one comes.
import * as THREE from "three";
import { quickFog, quickLight, quickShading } from "./light";

/** Squares for this many copies. */
export function squares(copies: number): THREE.BufferGeometry {
  const corners = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], index = [0, 1, 2, 0, 2, 3];
  const position = new Float32Array(12 * copies), slot = new Float32Array(4 * copies), all = new Uint32Array(6 * copies);
  for (let i = 0; i < copies; i++) {
    position.set(corners, 12 * i);
    slot.fill(i, 4 * i, 4 * i + 4);
    for (let k = 0; k < 6; k++) all[6 * i + k] = 4 * i + index[k];
  }
  const geometry = new THREE.BufferGeometry().setIndex(new THREE.BufferAttribute(all, 1));
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  return geometry.setAttribute("slot", new THREE.BufferAttribute(slot, 1));
}

const varyings = `flat varying vec3 vEye;
flat varying vec3 vFlat;
flat varying vec3 vUp;
flat varying vec3 vSun;
flat varying vec3 vTint;
flat varying vec4 vFog;
varying vec3 vCorner;
varying float vDepth;
`;

// In the space of a ball its surface is the unit sphere and a ray stays a straight line: the eye there is the same for all
// four corners, and the corner itself is interpolated. Light comes from directions of that space too.
export const ballVertex = `${quickLight}${quickFog}${varyings}
void main() {
  mat4 ball = crowdMatrix();
  vec3 squared = max(vec3(dot(ball[0], ball[0]), dot(ball[1], ball[1]), dot(ball[2], ball[2])), vec3(1e-30));
  vec3 middle = ball[3].xyz, look = middle - cameraPosition;
  float radius = sqrt(max(squared.x, max(squared.y, squared.z))), away = length(look);
  vec3 across = normalize(cross(look, abs(look.z) < 0.9 * away ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
  // As wide as the cone of rays that touch the ball.
  float wide = radius * away / sqrt(max(away * away - radius * radius, 1e-30));
  vec3 corner = wide * (position.x * across + position.y * cross(across, look / max(away, 1e-30)));
  mat3 back = mat3(ball[0].xyz / squared.x, ball[1].xyz / squared.y, ball[2].xyz / squared.z);
  vEye = -look * back;
  vCorner = corner * back;
  vFlat = 1.0 / squared;
  vUp = upwards * back;
  vSun = sunwards * back;
  vTint = seen(crowdTint());
  vec4 place = viewMatrix * vec4(middle + corner, 1.0);
  vDepth = -place.z;
  vFog = faded(vDepth);
  gl_Position = away > radius ? projectionMatrix * place : vec4(2.0, 2.0, 2.0, 1.0);
}`;

export const ballFragment = `${quickShading}${varyings}
uniform mat4 projectionMatrix;
uniform float opacity;
void main() {
  vec3 ray = vCorner - vEye;
  float a = dot(ray, ray), b = dot(ray, vEye), rest = b * b - a * (dot(vEye, vEye) - 1.0);
  if (rest < 0.0) discard;
  float along = -(b + sqrt(rest)) / a, deep = vDepth * along;
  vec3 hit = vEye + along * ray;
  gl_FragDepth = 0.5 + 0.5 * (projectionMatrix[3][2] / deep - projectionMatrix[2][2]);
  // The eighths of a ball are light and dark, as in shapes.ts.
  float unit = inversesqrt(dot(hit * hit, vFlat)); // the normal is back * hit, not of length 1
  float light = shine(unit * dot(hit, vUp), unit * dot(hit, vSun)) * (hit.x * hit.y * hit.z < 0.0 ? 0.805 : 1.0);
  vec3 colour = vTint * light;
  gl_FragColor = vec4(mix(colour, vFog.rgb, vFog.a), opacity);
}`;
