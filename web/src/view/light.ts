// Light, as three.js works it out for bodies, and a way to get nearly the same for a third of the time: without a graphics card
// most of a picture goes into the many terms of its shaders.
import * as THREE from "three";

const sky = { above: 0xffffff, below: 0xc4beb6, strength: 1.85 };
const sun = { colour: 0xfff6ea, strength: 1.95 };
const height = 2.9, aside: [number, number] = [-0.9, -2.1]; // of the sun, in sizes of the scene

export const skyLight = () => new THREE.HemisphereLight(sky.above, sky.below, sky.strength);
export const sunLight = () => new THREE.DirectionalLight(sun.colour, sun.strength);

/** From the scene to the sun, not of length 1. */
export function towardsSun(up: THREE.Vector3): THREE.Vector3 {
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
  return new THREE.Vector3(...aside, 0).applyQuaternion(turn).addScaledVector(up, height);
}

const grey = (hex: number) => {
  const { r, g, b } = new THREE.Color(hex);
  return (r + g + b) / 3;
};

/** What the shaders below need. */
export function quickUniforms(up: THREE.Vector3): Record<string, THREE.IUniform> {
  const least = sky.strength * grey(sky.below), most = sky.strength * grey(sky.above);
  return {
    ...THREE.UniformsUtils.clone(THREE.UniformsLib.fog),
    opacity: { value: 1 },
    upwards: { value: up.clone().multiplyScalar((most - least) / 2 / Math.PI) },
    sunwards: { value: towardsSun(up).normalize().multiplyScalar((sun.strength * grey(sun.colour)) / Math.PI) },
    ambient: { value: (most + least) / 2 / Math.PI },
  };
}

/** shine(up, sun): how bright a surface is that looks so far upwards and to the sun (its normal times these), as a factor of
 * colours as screens have them. Light is taken to be white, and its power of 1/2.2 is a parabola to within 0.02, between 0.2
 * and 1.3. */
export const quickLight = `uniform vec3 upwards;
uniform vec3 sunwards;
`;
export const quickShading = `uniform float ambient;
float shine(float up, float sun) {
  float light = ambient + up + max(sun, 0.0);
  return 0.327 + light * (0.911 - 0.233 * light);
}
`;
/** seen(colour): a linear colour as screens have it; faded(depth): colour and share of the fog. */
export const quickFog = `uniform vec3 fogColor;
uniform float fogNear;
uniform float fogFar;
vec3 seen(vec3 colour) { return pow(colour, vec3(0.4545)); }
vec4 faded(float depth) { return vec4(fogColor, smoothstep(fogNear, fogFar, depth)); }
`;

/** edge(rim): how dark a point of a face is, by how far it is from the edges of its triangle (0 at an edge, 1 at the corner
 * opposite; 1 everywhere for edges within a flat face): a line of a pixel or so, so that bodies of one colour are told apart.
 * Triangles of a few pixels have none. */
export const darkEdges = `float edge(vec3 rim) {
  vec3 pixel = max(fwidth(rim), vec3(1e-6)), away = rim / pixel;
  float seen = smoothstep(0.15, 0.05, max(pixel.x, max(pixel.y, pixel.z)));
  return mix(1.0, 0.62, seen * (1.0 - smoothstep(0.5, 1.5, min(away.x, min(away.y, away.z)))));
}
`;

/** Gives a material its edges; its geometries have the attribute "rim". */
export function addEdges(shader: { vertexShader: string; fragmentShader: string }): void {
  shader.vertexShader = shader.vertexShader.replace("void main() {", "attribute vec3 rim;\nvarying vec3 vRim;\nvoid main() {\nvRim = rim;");
  shader.fragmentShader = `varying vec3 vRim;\n${darkEdges}${shader.fragmentShader}`
    .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= edge(vRim);");
}

/** Without a graphics card the powers by which linear colours become those of the screen are what costs most in a pixel. Roots
 * come within 0.02 of them. */
export function quickColours(): void {
  THREE.ShaderChunk.colorspace_fragment = `vec3 root = sqrt(clamp(gl_FragColor.rgb, 0.0, 1.0));
gl_FragColor.rgb = root * (1.167 - 0.167 * root);`;
}
