// What src/collection/page.c puts into the page.

export type Kind = "text" | "whole" | "real" | "level";

export interface Column {
  name: string;
  kind: Kind;
  unit: string;
  meaning: string;
}

export interface Sequence {
  file: string;
  picture?: string; // data: address
  replay?: string; // page beside this one
}

export type Value = string | number | null; // null: not known

export interface Collection {
  collection: string;
  version: string;
  title: string;
  part: string;
  levels: string[]; // the ladder, from nothing to everything
  columns: Column[];
  families: { name: string; about: string }[];
  sequences: Sequence[];
  problems: Value[][]; // in the order of the columns
}

/** A problem by the names of its columns. */
export type Row = Record<string, Value>;

export function rowsOf(data: Collection): Row[] {
  return data.problems.map((cells) => Object.fromEntries(data.columns.map((column, i) => [column.name, cells[i]])));
}
