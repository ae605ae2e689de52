// Colours of the picture. Numbers become colours by a table of 256 entries made once, in linear light as three.js wants it.

export type Rgb = [number, number, number];

export const linear = (byte: number) => {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};
export const rgbOfHex = (hex: number): Rgb => [linear((hex >> 16) & 255), linear((hex >> 8) & 255), linear(hex & 255)];
export const css = (hex: number) => `#${hex.toString(16).padStart(6, "0")}`;

/** By index of Replay.states: open, stick, slip, negative friction. Told apart with every kind of colour vision. */
export const stateHex = [0x8a929b, 0x1f78c8, 0xf08a12, 0xd6246e];
export const stateSigns = ["\u25cb", "\u25cf", "\u25c6", "\u25b2", "?", "\u25cc"];
/** The state of a point of an alternative that was not chosen, and its colour. */
export const NOT_CHOSEN = 5;
export const notChosenHex = 0x9a86b8;
const otherStates = 0x5f6670;
export const stateColour = (state: number) => (state === NOT_CHOSEN ? notChosenHex : stateHex[state] ?? otherStates);

/** Bodies without a colour of their own: calm, and neighbours differ. */
const bodyHex = [0x7f9cba, 0xc9b382, 0x86b3ad, 0xbd8f85, 0x8fa77c, 0xa28db0, 0xc79f77, 0x93a3ad];
export const bodyColour = (id: number) => bodyHex[((id % bodyHex.length) + bodyHex.length) % bodyHex.length];
export const worldColour = 0xa3abb3;

// One language for contacts and bodies, and for the report: quiet is good or little, strong is bad or much. On white the strong
// end is dark, on black it is bright; lightness changes evenly, so that it reads in grey as well.
const lightStops: number[] = [0xd9dcd8, 0xe8cfa6, 0xf0b06e, 0xe78246, 0xcf4f35, 0xa1242f, 0x560a26];
const darkStops: number[] = [0x3b4248, 0x59404c, 0x87384f, 0xbb4748, 0xe3743f, 0xf7ab4a, 0xffe9a3];

export interface Heat { linear: Float32Array; hex: number[] }

function table(stops: number[]): Heat {
  const colours = new Float32Array(3 * 256), hex: number[] = [];
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at)), share = at - k;
    let sum = 0;
    for (let c = 0; c < 3; c++) {
      const shift = 16 - 8 * c, a = (stops[k] >> shift) & 255, b = (stops[k + 1] >> shift) & 255;
      const byte = Math.round(a + share * (b - a));
      sum |= byte << shift;
      colours[3 * i + c] = linear(byte);
    }
    hex.push(sum);
  }
  return { linear: colours, hex };
}
export const heats: { light: Heat; dark: Heat } = { light: table(lightStops), dark: table(darkStops) };

/** How numbers become places in a colour table. Below `low`: its beginning. */
export interface Scale { low: number; high: number; log: boolean; down?: boolean } // down: small values are the strong ones

export function place(scale: Scale, value: number): number {
  if (scale.down) return Number.isNaN(value) ? 0 : 1 - place({ ...scale, down: false }, value);
  if (!(value > scale.low)) return 0;
  if (value >= scale.high) return 1;
  return scale.log
    ? Math.log(value / scale.low) / Math.log(scale.high / scale.low)
    : (value - scale.low) / (scale.high - scale.low);
}

export function valueAt(scale: Scale, share: number): number {
  return scale.log ? scale.low * (scale.high / scale.low) ** share : scale.low + share * (scale.high - scale.low);
}

/** A scale up to the largest value; logarithmic ones span five powers of ten. */
export function scaleTo(high: number, low: number, log: boolean): Scale {
  if (log) return high > 0 ? { low: high * 1e-5, high, log } : { low: 1e-5, high: 1, log };
  if (!(high > low)) high = low + (low === 0 ? 1 : Math.abs(low));
  return { low, high, log };
}
