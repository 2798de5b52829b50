/**
 * Maps that the modules of all workers share. The supervisor puts all changes into one order; each
 * worker has a copy.
 */

export const MAPS_MAX = 100;
export const MAP_ENTRIES_MAX = 100_000;
/** In characters, as are the next ones. */
export const MAP_KEY_MAX = 1_024;
export const MAP_VALUE_MAX = 64 * 1024;
/** Keys and values of all maps; with their messages they must fit into the queue of a channel. */
export const MAPS_CHARACTERS_MAX = 4 * 1024 * 1024;

export interface SharedChange {
  readonly map: string;
  readonly key: string;
  /** JSON; absent: the entry goes. */
  readonly value?: string;
  /** Wall clock; absent: it does not expire. */
  readonly untilMs?: number;
}

/** A sum of what several workers add, of which none is lost: the supervisor adds. */
export interface SharedSum {
  readonly map: string;
  readonly key: string;
  readonly by: number;
  /** The worker's own. */
  readonly ticket: number;
}

/** A worker wants a map, or has changed one. */
export interface SharedNotice {
  readonly kind: 'shared_changes';
  /** Counted by the worker, from 1. */
  readonly batch: number;
  readonly opens: readonly { readonly map: string; readonly entriesMax: number }[];
  readonly changes: readonly SharedChange[];
  readonly sums: readonly SharedSum[];
}

/** What all workers have changed, in its order. */
export interface SharedCommand {
  readonly kind: 'shared_changed';
  /** Changes of this worker up to this batch are part of it. */
  readonly seen: number;
  /** These maps begin from nothing. */
  readonly whole: readonly string[];
  readonly changes: readonly SharedChange[];
  readonly sums: readonly { readonly ticket: number; readonly value: number }[];
}
