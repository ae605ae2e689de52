// A second recording in step with the first: its bodies at the time of the frame that is shown, and how far they are away.
import type { FrameData, Replay } from "./data";
import { BodyIndex } from "./bodies";
import { Frames } from "./load";
import { abscissa } from "./plots";

/** A frame of the second recording, and how far on the way to the next one. */
export interface Moment { frame: FrameData; next: FrameData | null; share: number }

export class Ghost {
  private readonly frames: Frames;
  private readonly times: Float64Array;
  private readonly index = new BodyIndex();

  constructor(readonly replay: Replay, served: boolean) {
    this.frames = new Frames(replay, served, "other");
    this.times = abscissa(replay).values;
  }

  /** Where it is at a time; null: not in this recording, or not here yet: then `came` is called when it is. */
  at(time: number, came: () => void): Moment | null {
    const { times } = this, last = times.length - 1;
    // A little more than nothing, because times are sums.
    const slack = 1e-9 * Math.max(1, Math.abs(time));
    if (last < 0 || time < times[0] - slack || time > times[last] + slack) return null;
    let low = 0, high = last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time + slack) low = middle;
      else high = middle - 1;
    }
    const frame = this.frames.peek(low), between = low < last && time - times[low] > slack, next = between ? this.frames.peek(low + 1) : null;
    if (frame && (next || !between)) {
      this.frames.prefetch(low, false);
      return { frame, next, share: next ? (time - times[low]) / (times[low + 1] - times[low]) : 0 };
    }
    Promise.all([this.frames.get(low), between ? this.frames.get(low + 1) : null]).then(came, () => undefined);
    return null;
  }

  /** Writes the distance of every body of the first recording into its frame. */
  measure(data: FrameData, moment: Moment | null): void {
    data.apart ??= new Float32Array(data.id.length);
    data.apart.fill(NaN);
    if (!moment) return;
    const { frame, next, share } = moment;
    this.index.use(frame);
    for (let i = 0; i < data.id.length; i++) {
      const k = this.index.of(data.id[i]);
      if (k < 0) continue;
      let square = 0;
      for (let c = 0; c < 3; c++) {
        const from = frame.position[3 * k + c], to = next && next.id[k] === data.id[i] ? next.position[3 * k + c] : from;
        square += (data.position[3 * i + c] - from - share * (to - from)) ** 2;
      }
      data.apart[i] = Math.sqrt(square);
    }
  }
}
