// Which problems are meant: the language of --where (src/collection/where.h), with the same meaning and the same mistakes.
import type { Column, Row } from "./data";

export type Test = (row: Row) => boolean;

const SIGNS = ["<=", ">=", "!=", "==", "<", ">", "=", "~"];

interface Word {
  text: string;
  at: number;
  quoted: boolean;
  closed: boolean; // a text in quotes that ends with one
}

/** NaN where it is none. */
function number(text: string): number {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}

function words(text: string): Word[] {
  const found: Word[] = [];
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const blank = /^\s+/.exec(rest);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const quoted = /^"([^"]*)"?|^'([^']*)'?/.exec(rest);
    const sign = SIGNS.find((candidate) => rest.startsWith(candidate));
    const plain = quoted?.[0] ?? sign ?? /^[^\s()<>=!~]+/.exec(rest)?.[0] ?? rest[0];
    const closed = quoted === null || (plain.length > 1 && plain.endsWith(plain[0]));
    found.push({ text: quoted ? (quoted[1] ?? quoted[2]) : plain, at, quoted: quoted !== null, closed });
    at += plain.length;
  }
  return found;
}

/** Throws an Error that says where and what was expected. */
export function readWhere(text: string, columns: Column[], levels: string[]): Test {
  const list = words(text);
  let next = 0;
  const is = (word: string): boolean => {
    const own = list[next];
    return own !== undefined && !own.quoted && own.text.toLowerCase() === word;
  };
  const fail = (expected: string): never => {
    const own = list[next];
    throw new Error(own ? `at "${text.slice(own.at, own.at + 40)}": expected ${expected}` : `ends too early: expected ${expected}`);
  };

  function comparison(): Test {
    const word = list[next];
    if (!word || word.quoted || !/^[a-z]/i.test(word.text)) fail("a column");
    const column = columns.find((candidate) => candidate.name === word.text);
    if (!column) throw new Error(`unknown column '${word.text}'; there are ${columns.map((own) => own.name).join(", ")}`);
    next++;
    const sign = list[next] && !list[next].quoted ? SIGNS.find((candidate) => candidate === list[next].text) : undefined;
    if (!sign) return fail("<, <=, >, >=, =, != or ~");
    next++;
    const value = list[next];
    if (!value || (!value.quoted && /^[()]$/.test(value.text))) fail("a value");
    if (!value.closed) fail("a closing quote");
    const { name, kind } = column;

    if (sign === "~") {
      if (kind === "whole" || kind === "real") return fail(`<, <=, >, >=, = or != after ${name}, which is a number`);
      next++;
      return (row) => String(row[name] ?? "").includes(value.text);
    }
    if (kind === "text") {
      if (sign !== "=" && sign !== "==" && sign !== "!=") return fail(`=, != or ~ after ${name}, which is a text`);
      next++;
      return (row) => (String(row[name] ?? "") === value.text) === (sign !== "!=");
    }
    const wanted = kind === "level" ? levels.indexOf(value.text) : number(value.text);
    if (kind === "level" && wanted < 0) throw new Error(`unknown level '${value.text}'; there are ${levels.join(", ")}`);
    if (Number.isNaN(wanted)) return fail(`a number after ${name}`);
    next++;
    return (row) => {
      const own = kind === "level" ? levels.indexOf(String(row[name])) : row[name];
      if (typeof own !== "number" || (kind === "level" && own < 0)) return false; // what is not known fulfils no comparison
      if (sign === "<") return own < wanted;
      if (sign === "<=") return own <= wanted;
      if (sign === ">") return own > wanted;
      if (sign === ">=") return own >= wanted;
      return (own === wanted) === (sign !== "!=");
    };
  }

  function not(): Test {
    if (is("not")) {
      next++;
      const inner = not();
      return (row) => !inner(row);
    }
    if (!is("(")) return comparison();
    next++;
    const inner = or();
    if (!is(")")) return fail("and, or, or a closing bracket");
    next++;
    return inner;
  }

  function and(): Test {
    const parts = [not()];
    while (is("and")) {
      next++;
      parts.push(not());
    }
    return (row) => parts.every((part) => part(row));
  }

  function or(): Test {
    const parts = [and()];
    while (is("or")) {
      next++;
      parts.push(and());
    }
    return (row) => parts.some((part) => part(row));
  }

  const whole = or();
  if (next < list.length) fail("and, or, or the end");
  return whole;
}
