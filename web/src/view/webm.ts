// A WebM file of encoded pictures: EBML elements, written by hand because pages bring no library for it. Times are exact, whatever
// the machine does meanwhile. See www.webmproject.org/docs/container and RFC 9559.

export interface Coded { bytes: Uint8Array; time: number; key: boolean } // time in ms

const letters = (text: string) => new TextEncoder().encode(text);

function whole(value: number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  for (let i = bytes - 1; i >= 0; i--, value = Math.floor(value / 256)) out[i] = value % 256;
  return out;
}

function real(value: number): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setFloat64(0, value);
  return out;
}

/** Its identifier, its size in eight bytes, its content. */
function element(id: number, ...content: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const name = whole(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1), size = content.reduce((sum, part) => sum + part.length, 0);
  const out = new Uint8Array(name.length + 8 + size);
  out.set(name);
  out.set(whole(size, 8), name.length);
  out[name.length] = 1; // a size of eight bytes
  let at = name.length + 8;
  for (const part of content) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const LONGEST = 30000; // ms: times within a cluster have 16 bits

/** Every picture that can be decoded alone may begin a cluster, and is listed so that players can go there. */
export function webm(pictures: readonly Coded[], codec: "V_VP8" | "V_VP9", width: number, height: number, duration: number): Blob {
  const groups: Coded[][] = [];
  for (const picture of pictures) {
    const last = groups.at(-1);
    if (!last || picture.key || picture.time - last[0].time > LONGEST) groups.push([picture]);
    else last.push(picture);
  }
  const clusters = groups.map((group) => element(0x1f43b675, element(0xe7, whole(group[0].time, 8)), ...group.map(({ bytes, time, key }) =>
    element(0xa3, Uint8Array.of(0x81), whole(time - group[0].time, 2), Uint8Array.of(key ? 0x80 : 0), bytes))));
  const info = element(0x1549a966, element(0x2ad7b1, whole(1000000, 4)), element(0x4489, real(duration)), element(0x4d80, letters("stickslip")),
    element(0x5741, letters("stickslip")));
  const track = element(0x1654ae6b, element(0xae, element(0xd7, whole(1, 1)), element(0x73c5, whole(1, 1)), element(0x83, whole(1, 1)),
    element(0x86, letters(codec)), element(0xe0, element(0xb0, whole(width, 2)), element(0xba, whole(height, 2)))));
  const cues = (first: number) => {
    let at = first;
    return element(0x1c53bb6b, ...groups.map((group, i) => {
      const point = element(0xbb, element(0xb3, whole(group[0].time, 8)), element(0xb7, element(0xf7, whole(1, 1)), element(0xf1, whole(at, 8))));
      at += clusters[i].length;
      return point;
    }));
  };
  const index = cues(info.length + track.length + cues(0).length);
  const head = element(0x1a45dfa3, element(0x4286, whole(1, 1)), element(0x42f7, whole(1, 1)), element(0x42f2, whole(4, 1)), element(0x42f3, whole(8, 1)),
    element(0x4282, letters("webm")), element(0x4287, whole(4, 1)), element(0x4285, whole(2, 1)));
  const body = [info, track, index, ...clusters], segment = element(0x18538067, whole(0, 0));
  segment.set(whole(body.reduce((sum, part) => sum + part.length, 0), 7), 5);
  return new Blob([head, segment, ...body], { type: "video/webm" });
}
