// The state of the page as the part of its address after "#": what is shown can be sent as a link, and a report can point at a
// frame, a solver and a contact. Only what differs from the beginning is written.
import type { Settings } from "./stage";

export interface Place {
  frame: number | null; // index
  path: string | null; // of a frame in the file: thinned pages count differently
  solvers: string[]; // names; [] = not said
  kind: "contact" | "body" | "joint" | null; chosen: number; // index of the contact or joint in the frame, id of the body
  camera: number[] | null; // azimuth, elevation, distance, x y z of the target
  marks: number[]; // frames, as indices
  set: Partial<Settings>;
}

/** Names of layers in the address, as on the tick boxes. */
const layers: [string, BooleanSettings][] = [
  ["contacts", "contacts"], ["others", "others"], ["normals", "normals"], ["forces", "forces"], ["split", "split"], ["sliding", "sliding"],
  ["cones", "cones"], ["x-ray", "through"], ["joints", "joints"], ["shadows", "shadows"], ["ground", "grid"], ["log", "log"], ["ghost", "ghost"],
];
type BooleanSettings = { [K in keyof Settings]: Settings[K] extends boolean ? K : never }[keyof Settings];
const words: [string, "colour" | "body"][] = [["colour", "colour"], ["bodies", "body"]];
const numbers: [string, "opacity" | "stretch" | "most", number, number][] = [
  ["opacity", "opacity", 0, 1], ["arrows", "stretch", 0.01, 1000], ["worst", "most", 1, 1e9],
];

const whole = (text: string | null): number | null => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null);

/** What is not understood is left out. */
export function readAddress(hash: string): Place {
  const query = new URLSearchParams(hash.replace(/^#/, "")), place: Place = {
    frame: null, path: query.get("path"), solvers: query.getAll("solver").slice(0, 2), kind: null, chosen: 0, camera: null, marks: [], set: {},
  };
  const frame = whole(query.get("frame"));
  if (frame !== null && frame > 0) place.frame = frame - 1;
  for (const kind of ["contact", "body", "joint"] as const) {
    const chosen = whole(query.get(kind));
    if (chosen !== null) [place.kind, place.chosen] = [kind, chosen];
  }
  const camera = query.get("camera")?.split(",").map(Number) ?? [];
  if (camera.length === 6 && camera.every(Number.isFinite) && camera[2] > 0) place.camera = camera;
  place.marks = (query.get("marks") ?? "").split(",").map(whole).filter((n): n is number => n !== null && n > 0).slice(0, 100).map((n) => n - 1);
  for (const [name, on] of [["show", true], ["hide", false]] as const) {
    for (const layer of (query.get(name) ?? "").split(",")) {
      const found = layers.find(([key]) => key === layer);
      if (found) place.set[found[1]] = on;
    }
  }
  for (const [name, key] of words) {
    const word = query.get(name);
    if (word !== null && /^[a-z]+$/.test(word)) place.set[key] = word;
  }
  for (const [name, key, low, high] of numbers) {
    const value = query.has(name) ? Number(query.get(name)) : NaN;
    if (value >= low && value <= high) place.set[key] = value;
    else if (key === "most" && query.get(name) === "all") place.set.most = Infinity;
  }
  return place;
}

const short = (value: number) => String(Number(value.toPrecision(5)));

/** The address of a place; settings that are as at the beginning are left out. */
export function writeAddress(place: Place, usual: Settings): string {
  const parts: string[] = [];
  const put = (name: string, value: string | number) => parts.push(`${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`);
  if (place.frame !== null) put("frame", place.frame + 1);
  for (const solver of place.solvers) put("solver", solver);
  if (place.kind) put(place.kind, place.chosen);
  const changed = layers.filter(([, key]) => place.set[key] !== undefined && place.set[key] !== usual[key]);
  for (const [name, on] of [["show", true], ["hide", false]] as const) {
    const list = changed.filter(([, key]) => place.set[key] === on).map(([layer]) => layer);
    if (list.length) put(name, list.join(","));
  }
  for (const [name, key] of words) if (place.set[key] !== usual[key]) put(name, place.set[key]!);
  for (const [name, key] of numbers) {
    if (place.set[key] !== usual[key]) put(name, place.set[key] === Infinity ? "all" : short(place.set[key]!));
  }
  if (place.marks.length) put("marks", place.marks.map((m) => m + 1).join(","));
  if (place.camera) put("camera", place.camera.map(short).join(","));
  return `#${parts.join("&")}`;
}
