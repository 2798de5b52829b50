/**
 * A static listener whose name an earlier one has is ignored, as in Envoy: static listeners
 * are never updated. What stands in its filters is then nobody's business, but the user is told.
 */
import { type MessageObject, isMessageObject } from '../convert/message-object.ts';
import { type Place, type Problem, at } from '../problem.ts';

export interface RepeatedListeners {
  readonly warnings: readonly Problem[];
  /** Whether a place lies in a listener that is ignored. */
  readonly contains: (place: Place | undefined) => boolean;
}

export function findRepeatedListeners(bootstrap: MessageObject): RepeatedListeners {
  const resources = bootstrap['static_resources'];
  const listeners = isMessageObject(resources) ? resources['listeners'] : undefined;
  const ignored = new Set<number>();
  const warnings: Problem[] = [];
  const firstByName = new Map<string, number>();
  for (const [index, listener] of (Array.isArray(listeners)
    ? (listeners as unknown[])
    : []
  ).entries()) {
    const name = isMessageObject(listener) ? listener['name'] : undefined;
    const first = typeof name === 'string' ? firstByName.get(name) : undefined;
    if (first !== undefined) {
      ignored.add(index);
      warnings.push(warning(index, first, String(name)));
    } else if (typeof name === 'string') {
      firstByName.set(name, index);
    }
  }
  return { warnings, contains: (place) => ignored.size > 0 && ignored.has(listenerOf(place)) };
}

function warning(index: number, first: number, name: string): Problem {
  return {
    severity: 'warning',
    place: at(at(at(undefined, 'static_resources'), 'listeners'), index),
    message: `this listener is not served: listeners[${first}] has the name '${name}' too and is served`,
    rule: 'repeated_listener',
  };
}

/** The index in `static_resources.listeners`, or -1. */
function listenerOf(place: Place | undefined): number {
  for (let step = place; step !== undefined; step = step.parent) {
    const { parent } = step;
    const isListener = parent?.key === 'listeners' && parent.parent?.key === 'static_resources';
    if (typeof step.key === 'number' && isListener && parent.parent?.parent === undefined) {
      return step.key;
    }
  }
  return -1;
}
