// Numbers for people.

const MINUS = "\u2212";
const THIN = "\u202f"; // narrow no-break space, between a number and its unit
export const NONE = "\u2013"; // what does not apply

type Maybe = number | null | undefined;

const present = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

// Trailing zeros say how exact a number is, but whole numbers are counts.
const plain = (value: number, digits: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 10 ** (digits - 1)
    ? String(Number(value.toPrecision(Math.max(digits, Number.isInteger(value) ? 6 : 0))))
    : value.toPrecision(digits);

/** Three digits, as 0.0123, 12.3, 1.23e-7; whole numbers in full. */
export function number(value: Maybe, digits = 3): string {
  if (!present(value)) return NONE;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : plain(value, digits);
  return text.replace("e+", "e").replace(/-/g, MINUS);
}

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "\u00b5"],
  [1e-9, "n"],
  [1e-12, "p"],
  [1e-15, "f"],
];

/** 12.3 µs, 4.56 mm/s: three digits and a prefix. Values that no prefix reaches keep their power of ten. */
export function si(value: Maybe, unit: string): string {
  if (!present(value)) return NONE;
  if (value === 0) return `0${THIN}${unit}`;
  const size = Math.abs(Number(value.toPrecision(3)));
  const found = PREFIXES.find(([scale]) => size >= scale);
  if (!found || size >= 1e12) return `${number(value)}${THIN}${unit}`;
  return plain(value / found[0], 3).replace("-", MINUS) + `${THIN}${found[1]}${unit}`;
}

/** Seconds with a prefix up to a minute, then minutes and hours. */
export function seconds(value: Maybe): string {
  if (!present(value)) return NONE;
  if (value < 60) return si(value, "s");
  if (value < 3600) return `${number(value / 60)}${THIN}min`;
  return `${number(value / 3600)}${THIN}h`;
}

/** A value of a metric. Times get prefixes; everything else keeps powers of ten, which compare at a glance. */
export function measure(value: Maybe, unit: string): string {
  if (!present(value)) return NONE;
  if (unit === "s") return seconds(value);
  if (unit === "" || unit === "1" || unit === "mixed") return number(value);
  return `${number(value)}${THIN}${unit}`;
}

export function percent(value: Maybe, digits = 0): string {
  return present(value) ? `${(100 * value).toFixed(digits)}${THIN}%` : NONE;
}

export function count(value: Maybe): string {
  return present(value) ? Math.round(value).toLocaleString("en-GB").replace(/,/g, THIN) : NONE;
}

export function bytes(value: Maybe): string {
  return si(value, "B");
}

/** "1 run", "2 runs". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A round number for an axis: no zeros at its end. */
export function tick(value: number): string {
  return number(Number(value.toPrecision(3)))
    .replace(/(\.\d*?)0+(?=e|$)/, "$1")
    .replace(/\.(?=e|$)/, "");
}

/** A power of ten for an axis or a list: 10⁻⁴; other numbers as number(). */
export function power(value: number): string {
  const exponent = Math.log10(value);
  if (!Number.isFinite(exponent) || Math.abs(exponent - Math.round(exponent)) > 1e-9) return tick(value);
  if (exponent >= -2 - 1e-9 && exponent <= 3 + 1e-9) return String(Number(value.toPrecision(3)));
  const digits = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return (
    "10" +
    String(Math.round(exponent))
      .replace("-", "\u207b")
      .replace(/\d/g, (digit) => digits[Number(digit)])
  );
}
