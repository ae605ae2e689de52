// Pictures that leave the page: one with a strip that says what it shows, or many of them as a film (WebM) or as an archive of PNG
// files.
import { choice, h } from "../common/dom";
import { number } from "../common/format";
import type { Bar } from "./legend";
import { webm, type Coded } from "./webm";

/** What the strip below a picture says. */
export interface Caption {
  title: string; source: string; // the file, time and frame
  names: string[]; // above each picture
  states: { sign: string; text: string; colour: string }[][]; // of each solver
  bars: Bar[];
  scale: { text: string; long: number; wide: number } | null; // pixels of the page
  ink: string; soft: string; paper: string;
}

const STRIP = 46, MARGIN = 12; // pixels of the page

/** Copies the picture with its caption; `ratio`: pixels drawn for each of the page. */
export function compose(to: HTMLCanvasElement, picture: HTMLCanvasElement, ratio: number, caption: Caption): void {
  const pen = to.getContext("2d")!, width = to.width / ratio, height = to.height / ratio - STRIP;
  const font = (size: number, bold = false) => (pen.font = `${bold ? "600 " : ""}${size}px system-ui, sans-serif`);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = caption.paper;
  pen.fillRect(0, 0, width, height + STRIP);
  pen.drawImage(picture, 0, 0, width, height);
  pen.textBaseline = "alphabetic";
  const write = (text: string, x: number, y: number, colour = caption.ink, most = Infinity) => {
    let length = text.length;
    while (length > 0 && pen.measureText(text.slice(0, length) + (length < text.length ? "\u2026" : "")).width > most) length--;
    if (length < text.length) text = `${text.slice(0, length).trimEnd()}\u2026`;
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
    return x + pen.measureText(text).width;
  };
  font(13, true);
  caption.names.forEach((name, i) => write(name, MARGIN + (i * width) / caption.names.length, 20));
  if (caption.scale) {
    pen.fillStyle = caption.soft;
    pen.fillRect(MARGIN, height - 16 - caption.scale.wide / 2, caption.scale.long, caption.scale.wide);
    font(12);
    write(caption.scale.text, MARGIN + caption.scale.long + 8, height - 12, caption.soft);
  }
  font(13, true);
  write(caption.title, MARGIN, height + 18, caption.ink, 0.52 * width - MARGIN);
  font(12);
  write(caption.source, MARGIN, height + 36, caption.soft, 0.52 * width - MARGIN);
  // Right of it what colours mean: bars if numbers are colours, else states and their counts.
  let y = height + 18, x = 0.55 * width;
  for (const { label, low, high, colours } of caption.bars.slice(0, 2)) {
    font(12);
    const long = Math.min(120, 0.12 * width);
    x = write(`${label}  ${number(low)}`, 0.55 * width, y, caption.ink, 0.45 * width - long - 90) + 8;
    colours.forEach((colour, k) => {
      pen.fillStyle = colour;
      pen.fillRect(x + (k * long) / colours.length, y - 10, long / colours.length + 0.5, 11);
    });
    write(number(high), x + long + 8, y);
    y += 18;
  }
  if (caption.bars.length === 0) {
    for (const states of caption.states.slice(0, 2)) {
      x = 0.55 * width;
      for (const { sign, text, colour } of states) x = write(text, write(`${sign} `, x, y, colour), y) + 12;
      y += 18;
    }
  }
}

/** A canvas for pictures of this size with their strip; films want even numbers of pixels. */
export function sheet(picture: HTMLCanvasElement, ratio: number): HTMLCanvasElement {
  const even = (n: number) => 2 * Math.ceil(n / 2);
  return h("canvas", { width: even(picture.width), height: even(picture.height + STRIP * ratio) });
}

export const png = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the browser could not make a PNG"))), "image/png"));

// ---- films ----------------------------------------------------------------------------------------------------------------

const codecs = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** What this browser makes films by: an encoder that takes any time it needs, or a recorder that runs in real time. */
export const filmMaker = (): "encoder" | "recorder" | null =>
  typeof VideoEncoder !== "undefined" ? "encoder"
    : typeof MediaRecorder !== "undefined" && "captureStream" in HTMLCanvasElement.prototype && codecs.some((type) => MediaRecorder.isTypeSupported(type)) ? "recorder" : null;

export interface Shots {
  count: number; rate: number; // pictures, and how many of them a second takes
  show: (i: number) => Promise<void>; // draws picture i on the sheet
  sheet: HTMLCanvasElement;
  told: (done: number) => void;
  ended: () => boolean; // the user has had enough
}

/** Null: it was broken off. */
export async function recordFilm(shots: Shots): Promise<Blob | null> {
  const { width, height } = shots.sheet;
  for (const [codec, name] of filmMaker() === "encoder" ? [["vp09.00.41.08", "V_VP9"], ["vp8", "V_VP8"]] as const : []) {
    const config = { codec, width, height, bitrate: 6e6, framerate: shots.rate };
    if ((await VideoEncoder.isConfigSupported(config).catch(() => null))?.supported) return encodeFilm(shots, config, name);
  }
  return typeof MediaRecorder === "undefined" ? Promise.reject(new Error("This browser cannot make a WebM video.")) : filmInTime(shots);
}

async function encodeFilm(shots: Shots, config: VideoEncoderConfig, name: "V_VP8" | "V_VP9"): Promise<Blob | null> {
  const pictures: Coded[] = [], { width, height } = shots.sheet, each = 1e6 / shots.rate; // microseconds
  let trouble: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      pictures.push({ bytes, time: Math.round(chunk.timestamp / 1000), key: chunk.type === "key" });
    },
    error: (error) => (trouble = error),
  });
  encoder.configure(config);
  for (let i = 0; i < shots.count && !shots.ended() && !trouble; i++) {
    await shots.show(i);
    const picture = new VideoFrame(shots.sheet, { timestamp: Math.round(i * each), duration: Math.round(each) });
    encoder.encode(picture, { keyFrame: i % (2 * shots.rate) === 0 });
    picture.close();
    // Lets the page breathe, and the encoder follow.
    do await new Promise((done) => setTimeout(done)); while (encoder.encodeQueueSize > 3 && !trouble);
    shots.told(i + 1);
  }
  if (!trouble && !shots.ended()) await encoder.flush();
  if (encoder.state !== "closed") encoder.close();
  if (trouble) throw trouble as Error;
  return shots.ended() ? null : webm(pictures, name, width, height, (shots.count * each) / 1000);
}

/** By the recorder: a picture that is late is late in the film as well. */
async function filmInTime(shots: Shots): Promise<Blob | null> {
  const stream = shots.sheet.captureStream(0), [track] = stream.getVideoTracks() as CanvasCaptureMediaStreamTrack[];
  const mimeType = codecs.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 6e6 }), parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const complete = new Promise<void>((done, fail) => {
    recorder.onstop = () => done();
    recorder.onerror = () => fail(new Error("the browser's recorder failed"));
  });
  recorder.start();
  for (let i = 0, due = performance.now(); i < shots.count && !shots.ended(); i++) {
    await shots.show(i);
    track.requestFrame();
    due = Math.max(performance.now(), due + 1000 / shots.rate);
    await new Promise((done) => setTimeout(done, due - performance.now()));
    shots.told(i + 1);
  }
  recorder.stop();
  await complete;
  track.stop();
  return shots.ended() ? null : new Blob(parts, { type: "video/webm" });
}

/** All pictures as PNG files in an archive. */
export async function recordPictures(shots: Shots): Promise<Blob | null> {
  const files: { name: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  for (let i = 0; i < shots.count && !shots.ended(); i++) {
    await shots.show(i);
    files.push({ name: `frame-${String(i + 1).padStart(5, "0")}.png`, bytes: new Uint8Array(await (await png(shots.sheet)).arrayBuffer()) });
    shots.told(i + 1);
  }
  return shots.ended() ? null : archive(files);
}

const crcTable = Uint32Array.from({ length: 256 }, (_x, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** A ZIP file; PNG is compressed already, so the files are stored as they are. */
export function archive(files: readonly { name: string; bytes: Uint8Array<ArrayBuffer> }[]): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = [], index: Uint8Array<ArrayBuffer>[] = [];
  let at = 0, indexed = 0;
  for (const { name, bytes } of files) {
    let crc = 0xffffffff;
    for (const byte of bytes) crc = crcTable[(crc ^ byte) & 255] ^ (crc >>> 8);
    const letters = new TextEncoder().encode(name), DATE = 0x21; // 1 January 1980
    // Version, flags, method, time, date, checksum, both sizes, lengths of the name and of what follows it.
    const head = (size: number, from: number, sign: number) => {
      const block = new Uint8Array(size + letters.length), view = new DataView(block.buffer);
      view.setUint32(0, sign, true);
      view.setUint16(from, 20, true);
      view.setUint16(from + 8, DATE, true);
      view.setUint32(from + 10, (crc ^ 0xffffffff) >>> 0, true);
      view.setUint32(from + 14, bytes.length, true);
      view.setUint32(from + 18, bytes.length, true);
      view.setUint16(from + 22, letters.length, true);
      block.set(letters, size);
      return { block, view };
    };
    const local = head(30, 4, 0x04034b50), central = head(46, 6, 0x02014b50);
    central.view.setUint16(4, 20, true);
    central.view.setUint32(42, at, true);
    parts.push(local.block, bytes);
    index.push(central.block);
    at += local.block.length + bytes.length;
    indexed += central.block.length;
  }
  const end = new Uint8Array(22), view = new DataView(end.buffer);
  view.setUint32(0, 0x06054b50, true);
  view.setUint16(8, files.length, true);
  view.setUint16(10, files.length, true);
  view.setUint32(12, indexed, true);
  view.setUint32(16, at, true);
  return new Blob([...parts, ...index, end], { type: "application/zip" });
}

// ---- the dialog -----------------------------------------------------------------------------------------------------------

export interface FilmOrder { video: boolean; first: number; last: number; rate: number; told: (done: number, of: number) => void; ended: () => boolean }

const MOST_PICTURES = 5000; // a ZIP file without extensions has room for 65,535, and memory is not endless

/** Asks which frames, makes the film and hands it over. `length`: seconds that frames take at the speed that is chosen. */
export function filmDialog(frames: number, length: (first: number, last: number) => number, make: (order: FilmOrder) => Promise<void>): HTMLDialogElement {
  const type = filmMaker();
  const box = (label: string, value: number) => {
    const input = h("input", { type: "number", min: 1, max: frames, value, oninput: () => estimate() });
    return { input, label: h("label", null, `${label} `, input) };
  };
  const first = box("Frames", 1), last = box("to", frames);
  const kind = choice("Format", [...(type ? [["webm", "WebM video"] as [string, string]] : []), ["png", "PNG pictures (ZIP)"]], type ? "webm" : "png", () => estimate());
  const rate = choice("Pictures a second", ["10", "15", "25", "30", "60"].map((n): [string, string] => [n, n]), "30", () => estimate());
  const guess = h("p", { class: "hint" }), bar = h("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: true }), said = h("p", { role: "status" });
  const go = h("button", { type: "button", onclick: () => void start() }, "Make"), leave = h("button", { type: "button", onclick: () => stop() }, "Close");
  let running = false, broken = false;
  const value = (label: HTMLElement) => label.querySelector("select")!.value;
  const range = () => [first, last].map(({ input }) => Math.min(frames, Math.max(1, Math.round(Number(input.value) || 1))) - 1).sort((a, b) => a - b);
  const video = () => value(kind) === "webm";
  function estimate(): void {
    const [a, b] = range(), seconds = length(a, b);
    rate.hidden = !video();
    guess.textContent = video() ? `${number(seconds, 3)} s at the speed that is chosen below the picture.${type === "recorder" ? " It takes as long to make." : ""}`
      : `${Math.min(b - a + 1, MOST_PICTURES)} pictures.${type ? "" : " This browser cannot record WebM."}`;
  }
  function stop(): void {
    broken = true;
    if (!running) dialog.close();
  }
  async function start(): Promise<void> {
    const [a, b] = range();
    running = true;
    broken = false;
    go.disabled = true;
    bar.hidden = false;
    leave.textContent = "Cancel";
    said.textContent = "";
    try {
      await make({ video: video(), first: a, last: video() ? b : Math.min(b, a + MOST_PICTURES - 1), rate: Number(value(rate)), ended: () => broken,
        told: (done, of) => {
          bar.value = done / of;
          bar.textContent = `${done} of ${of}`;
        } });
      said.textContent = broken ? "Cancelled." : "Saved.";
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : String(error);
    }
    running = false;
    go.disabled = false;
    bar.hidden = true;
    leave.textContent = "Close";
  }
  const dialog: HTMLDialogElement = h("dialog", { class: "film", "aria-label": "Film" }, h("h2", null, "Film"), kind,
    h("div", { class: "line" }, first.label, last.label), rate, guess, bar, said, h("div", { class: "line" }, go, leave));
  dialog.addEventListener("cancel", (event) => {
    if (running) event.preventDefault();
    stop();
  });
  dialog.addEventListener("toggle", () => estimate());
  estimate();
  return dialog;
}
