// Colours of the picture. Numbers become colours by a table of 256 entries made once, in linear light as three.js wants it.
import { HEAT, hexOf, STATES } from "../common/palette";
import { isDark } from "../common/theme";

export type Rgb = [number, number, number];

export const linear = (byte: number) => {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};
export const rgbOfHex = (hex: number): Rgb => [linear((hex >> 16) & 255), linear((hex >> 8) & 255), linear(hex & 255)];
export const css = (hex: number) => `#${hex.toString(16).padStart(6, "0")}`;

/** By index of Replay.states. What is open is quiet, but it is to be seen on pale bodies as well. */
const kinds = [STATES.open, STATES.stick, STATES.slip, STATES.bad];
const openHex = 0x8a929b, otherStates = 0x5f6670;
export const stateSigns = [...kinds.map((kind) => kind.sign), "?", "\u25cc"];
/** The state of a point of an alternative that was not chosen, and its colour. */
export const NOT_CHOSEN = 5;
export const notChosenHex = 0x9a86b8;
/** For elements of the page, which follow the theme by themselves. */
export const stateStyle = (state: number) => (state === 0 ? "var(--ink-faint)" : state === NOT_CHOSEN ? css(notChosenHex) : kinds[state]?.colour ?? css(otherStates));

/** Colours of the theme of now, for the picture. */
export interface Colours { heat: Heat; states: number[]; stateRgb: Rgb[] }
const made = new Map<boolean, Colours>();
export function colours(): Colours {
  let found = made.get(isDark());
  if (!found) {
    const states = kinds.map((kind, i) => (i === 0 ? openHex : hexOf(kind.colour)));
    found = { heat: table(HEAT.map(hexOf)), states, stateRgb: states.map(rgbOfHex) };
    made.set(isDark(), found);
  }
  return found;
}
/** Of a state, in the theme of now. */
export const stateColour = (state: number) => (state === NOT_CHOSEN ? notChosenHex : colours().states[state] ?? otherStates);

/** Bodies without a colour of their own: calm, and neighbours differ. */
const bodyHex = [0x7f9cba, 0xc9b382, 0x86b3ad, 0xbd8f85, 0x8fa77c, 0xa28db0, 0xc79f77, 0x93a3ad];
export const bodyColour = (id: number) => bodyHex[((id % bodyHex.length) + bodyHex.length) % bodyHex.length];
export const worldColour = 0xa3abb3;

// The heat colours of common.css serve contacts and bodies alike: quiet is good or little, strong is bad or much.
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
