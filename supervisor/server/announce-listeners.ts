/** Says at the start where the server can be reached: a newcomer's first question. */
import { escapeControls } from '../../shared/logging/escape.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { describeAddress } from '../admin/bind-admin.ts';

/** A file may have ten thousand; `/listeners` has all. */
const LINES_MAX = 20;

interface Announced {
  readonly name: string;
  readonly addresses: readonly BoundAddress[];
}

/** One line for each listener, the last one for those that are left out. */
export function listenerLines(listeners: readonly Announced[]): readonly string[] {
  const open = listeners.filter(({ addresses }) => addresses.length > 0);
  const lines = open
    .slice(0, LINES_MAX)
    .map(
      ({ name, addresses }) =>
        `listener '${escapeControls(name)}' on ${escapeControls(addresses.map(describeAddress).join(', '))}`,
    );
  const left = open.length - lines.length;
  return left === 0 ? lines : [...lines, `and ${left} listeners more: see /listeners`];
}
