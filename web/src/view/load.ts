// Where the frames come from: blocks in the page itself, or the server that gave the page. Chunks are inflated when they are
// needed and the oldest are forgotten, so that memory stays bounded however long the recording is.
import { inflate, streamOf } from "../common/packed";
import type { FrameData, FrameInfo, Replay } from "./data";

const CACHE_BYTES = 160 * 1024 * 1024;

/** The description of the replay; served: from the server of the page. */
export async function loadReplay(): Promise<{ replay: Replay; served: boolean }> {
  const block = document.getElementById("replay");
  if (block) return { replay: JSON.parse(block.textContent ?? "") as Replay, served: false };
  if (location.protocol === "file:") throw new Error("This page contains no recording.");
  const answer = await fetch("replay.json");
  if (!answer.ok) throw new Error(`The server did not return replay.json (status ${answer.status}).`);
  return { replay: (await answer.json()) as Replay, served: true };
}

async function compressed(name: string, chunk: number, served: boolean): Promise<ReadableStream<BufferSource>> {
  if (served) {
    const answer = await fetch(`${name}/${chunk}`);
    if (!answer.ok || !answer.body) throw new Error(`the server did not return it (status ${answer.status})`);
    return answer.body as ReadableStream<BufferSource>;
  }
  const block = document.getElementById(`${name}-${chunk}`);
  if (!block) throw new Error("it is not in this page");
  return streamOf(block);
}

const padded = (bytes: number) => (bytes + 3) & ~3;

/** Bytes of one frame in an inflated chunk. */
export function frameBytes(info: FrameInfo, answers: number): number {
  const { bodies: B, scenery: S, contacts: C } = info;
  const J = info.joints ?? 0;
  return 52 * B + 20 * S + 40 * J + (info.alternatives ? 44 : 40) * C + answers * (32 * C + padded(C) + 12 * J);
}

function readFrame(buffer: ArrayBuffer, start: number, info: FrameInfo, answers: number): FrameData {
  const { bodies: B, scenery: S, contacts: C } = info;
  let at = start;
  const ints = (n: number) => {
    const a = new Int32Array(buffer, at, n);
    at += 4 * n;
    return a;
  };
  const floats = (n: number) => {
    const a = new Float32Array(buffer, at, n);
    at += 4 * n;
    return a;
  };
  const shorts = (n: number) => {
    const a = new Int16Array(buffer, at, n);
    at += padded(2 * n);
    return a;
  };
  const bytes = (n: number) => {
    const a = new Uint8Array(buffer, at, n);
    at += padded(n);
    return a;
  };
  const id = ints(B), position = floats(3 * B), quaternion = shorts(4 * B), mass = floats(B), velocity = floats(6 * B);
  const sceneryPosition = floats(3 * S), sceneryQuaternion = shorts(4 * S);
  const J = info.joints ?? 0, jointPair = ints(2 * J), jointPoint = floats(3 * J), jointAxis = floats(3 * J), jointError = floats(2 * J);
  const pair = ints(2 * C), point = floats(3 * C), normal = floats(3 * C), gap = floats(C), mu = floats(C);
  const alternative = info.alternatives ? shorts(2 * C) : null;
  const results: FrameData["results"] = [];
  for (let r = 0; r < answers; r++) {
    const impulse = floats(C), friction = floats(3 * C), sliding = floats(3 * C), energy = floats(C), state = bytes(C), jointImpulse = floats(3 * J);
    results.push({ impulse, friction, sliding, energy, state, jointImpulse });
  }
  return {
    id, position, quaternion, mass, velocity, sceneryPosition, sceneryQuaternion,
    jointPair, jointPoint, jointAxis, jointError, pair, point, normal, gap, mu, alternative, results,
  };
}

interface Chunk { frames: FrameData[]; bytes: number; used: number }

/** The frames of a replay, by number. */
export class Frames {
  readonly count: number;
  private readonly answers: number;
  private readonly chunks = new Map<number, Chunk>();
  private readonly coming = new Map<number, Promise<Chunk>>();
  private readonly broken = new Map<number, string>();
  private clock = 0;

  constructor(readonly replay: Replay, readonly served: boolean, private readonly name: "chunk" | "other" = "chunk") {
    this.count = replay.frames.length;
    this.answers = replay.results.filter((r) => r.answers).length;
  }

  /** The chunk that holds a frame: the last one that does not begin after it. */
  chunkOf(frame: number): number {
    const starts = this.replay.chunks;
    let low = 0, high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= frame) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The frame if it is at hand. */
  peek(frame: number): FrameData | null {
    const k = this.chunkOf(frame), chunk = this.chunks.get(k);
    if (!chunk) return null;
    chunk.used = ++this.clock;
    return chunk.frames[frame - this.replay.chunks[k]] ?? null;
  }

  /** The frame; throws an Error with a message for people when its chunk cannot be had. */
  async get(frame: number): Promise<FrameData> {
    const k = this.chunkOf(frame);
    const chunk = await this.fetchChunk(k);
    const data = chunk.frames[frame - this.replay.chunks[k]];
    if (!data) throw new Error(`Frame ${frame + 1} is not in its chunk.`);
    return data;
  }

  /** Begins to get what comes after a frame, so that playing does not wait for it. */
  prefetch(frame: number, loop: boolean): void {
    let next = this.chunkOf(frame) + 1;
    if (next >= this.replay.chunks.length) {
      if (!loop) return;
      next = 0;
    }
    if (!this.broken.has(next)) this.fetchChunk(next).catch(() => undefined);
  }

  /** All frames of the chunk of a frame, at hand or not: for scales that should not change from frame to frame. */
  siblings(frame: number): readonly FrameData[] {
    return this.chunks.get(this.chunkOf(frame))?.frames ?? [];
  }

  /** Lets a chunk that failed be asked for again. */
  forgive(): void {
    this.broken.clear();
  }

  private fetchChunk(k: number): Promise<Chunk> {
    const known = this.chunks.get(k);
    if (known) {
      known.used = ++this.clock;
      return Promise.resolve(known);
    }
    const reason = this.broken.get(k);
    if (reason) return Promise.reject(new Error(reason));
    let promise = this.coming.get(k);
    if (!promise) {
      promise = this.inflate(k).finally(() => this.coming.delete(k));
      this.coming.set(k, promise);
    }
    return promise;
  }

  private async inflate(k: number): Promise<Chunk> {
    const { frames, chunks } = this.replay;
    const first = chunks[k], end = k + 1 < chunks.length ? chunks[k + 1] : frames.length;
    try {
      const buffer = await inflate(await compressed(this.name, k, this.served)).arrayBuffer();
      let bytes = 0;
      for (let i = first; i < end; i++) bytes += frameBytes(frames[i], this.answers);
      if (buffer.byteLength !== bytes) throw new Error(`it has ${buffer.byteLength} bytes where ${bytes} were expected`);
      const chunk: Chunk = { frames: [], bytes, used: ++this.clock };
      for (let i = first, at = 0; i < end; i++) {
        chunk.frames.push(readFrame(buffer, at, frames[i], this.answers));
        at += frameBytes(frames[i], this.answers);
      }
      this.chunks.set(k, chunk);
      this.forget(k);
      return chunk;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `Frames ${first + 1} to ${end} cannot be shown: ${why}.`;
      this.broken.set(k, message);
      throw new Error(message);
    }
  }

  /** Drops the chunks that were not used for the longest time, but never this one nor the last but it. */
  private forget(keep: number): void {
    let total = 0;
    for (const chunk of this.chunks.values()) total += chunk.bytes;
    while (total > CACHE_BYTES && this.chunks.size > 2) {
      let oldest = -1, used = Infinity;
      for (const [k, chunk] of this.chunks) {
        if (k !== keep && chunk.used < used) [oldest, used] = [k, chunk.used];
      }
      total -= this.chunks.get(oldest)!.bytes;
      this.chunks.delete(oldest);
    }
  }
}
