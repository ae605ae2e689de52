// What the program puts into a replay: src/report/replay.c writes it. The page holds <script type="application/json"
// id="replay"> with a Replay, and for each chunk <script type="application/octet-stream" id="chunk-K"> with base64 of zlib
// data; a page that is served has none of these: it gets replay.json, and chunk/K as the zlib data itself.

export interface Replay {
  stickslip: string; // version
  title: string;
  file: string; simulation: string; // "/simulation_000001"
  toolkit: string | null; description: string | null;
  gravity: [number, number, number] | null;
  total: number; // frames in the file
  frames: FrameInfo[]; // those that are here, in order
  chunks: number[]; // first frame (index into frames) of every chunk
  shapes: Shape[];
  boxes: boolean; // the file has no shapes: these are boxes with the mass and inertia of the bodies
  meshes: Mesh[];
  results: Result[]; // answers that are stored, [] = none
  series: Series[]; // of the frames themselves: kinetic energy, contacts, overlap
  states: string[]; // names of contact states: ["open", "sticking", "sliding", "driving friction"], and
  // "unknown" where a frame lacks an answer that others have; with alternatives both "unknown" and "not chosen", the points of
  // alternatives that the answer did not choose
  decimated: boolean; // frames were left out to keep the page small
  other?: Replay; // a second recording of the same bodies, without contacts; its chunks are other-K, or other/K
}

export interface FrameInfo {
  path: string; time: number | null; h: number; bodies: number; scenery: number; contacts: number;
  joints?: number; // that have a place; absent = 0
  alternatives?: boolean; // contacts are points of alternatives (docs/peg.md), chosen or not
}

// A shape belongs to a body of the frames (id > 0), to a piece of scenery that moves as told (scenery >= 0), or to the world.
export interface Shape {
  kind: "sphere" | "plane" | "box" | "capsule" | "cylinder" | "ellipsoid" | "hull" | "mesh" | "heightfield";
  id: number; // of the body; 0 = none
  scenery: number; // index; -1 = none
  size: [number, number, number]; // as ss_shape.size
  position: [number, number, number]; quaternion: [number, number, number, number]; // in the body frame; w first
  colour: number; // 0xRRGGBB; 0 = choose
  ghost: boolean; // meets nothing
  mesh: number; // index into meshes, -1 = none; heightfields come as meshes
}
export interface Mesh { vertices: number[]; triangles: number[] } // flat

export interface Result {
  solver: string; // "nsgs"
  answers: boolean; // false: only errors are stored, no impulses
  rules: string | null; // how answers treat gaps and joints, as they are judged: "gap_term=stabilised gamma=0.2 joint_term=zero"
  rulesStored: boolean; // false: the file does not say, the rules are assumed
  rulesGiven: boolean; // by view --with, in the place of those in the file
  rulesDiffer: boolean; // rules are those of the first answer, not of all
  series: Series[]; // metrics, iterations, seconds
}
export interface Series { name: string; unit: string; values: (number | null)[] } // one per frame of `frames`

// A chunk, inflated: its frames one after another. Little endian; every array begins at a multiple of 4 bytes, so byte arrays
// are padded with zeros. B bodies, S scenery, C contacts as in FrameInfo:
//   int32   id[B]
//   float32 position[B][3]      int16 quaternion[B][4]  (w x y z, times 32767)
//   float32 mass[B]             float32 velocity[B][6]  (before the step)
//   float32 position[S][3]      int16 quaternion[S][4]
//   int32   joint pair[J][2]    (J = FrameInfo.joints; index of body in this frame, -1 = world)
//   float32 joint point[J][3]   float32 joint axis[J][3] (unit length, 0 = none)
//   float32 joint error[J][2]   (m and rad: of rows that hold a point, and of those that hold a direction)
//   int32   pair[C][2]          (index of body in this frame, -1 = world)
//   float32 point[C][3]         float32 normal[C][3]    float32 gap[C]     float32 mu[C]
//   int16   alternative[C][2]   (with FrameInfo.alternatives: its number from 1, of how many; 0 0 = an ordinary contact)
//   then for every result with answers:
//   float32 impulse[C]          (N s, normal)
//   float32 friction[C][3]      (N s, on body b, world)
//   float32 sliding[C][3]       (m/s, of b against a at the end of the step, tangential)
//   float32 energy[C]           (J, energy error)
//   uint8   state[C]            (index into states)
//   float32 joint impulse[J][3] (N s, on body b)
export interface FrameData {
  id: Int32Array;
  position: Float32Array; quaternion: Int16Array; mass: Float32Array; velocity: Float32Array;
  sceneryPosition: Float32Array; sceneryQuaternion: Int16Array;
  jointPair: Int32Array; jointPoint: Float32Array; jointAxis: Float32Array; jointError: Float32Array;
  pair: Int32Array; point: Float32Array; normal: Float32Array; gap: Float32Array; mu: Float32Array;
  alternative: Int16Array | null;
  apart?: Float32Array; // m: of bodies from those of the second recording, worked out by the page
  results: { impulse: Float32Array; friction: Float32Array; sliding: Float32Array; energy: Float32Array; state: Uint8Array; jointImpulse: Float32Array }[];
}
