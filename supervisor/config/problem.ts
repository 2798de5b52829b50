/**
 * What is wrong with a configuration, and where. Every check of the configuration pipeline reports
 * here instead of throwing, so that a user sees all mistakes at once.
 */

/** A position in a message as a path from its root: a linked list, so that a step costs nothing. */
export interface Place {
  readonly parent: Place | undefined;
  readonly key: string | number;
}

export function at(parent: Place | undefined, key: string | number): Place {
  return { parent, key };
}

/** `static_resources.listeners[0].filter_chains[0]`, as the user would write it. */
export function formatPlace(place: Place | undefined): string {
  const steps: string[] = [];
  for (let step = place; step !== undefined; step = step.parent) {
    steps.unshift(typeof step.key === 'number' ? `[${step.key}]` : `.${step.key}`);
  }
  return steps.join('').replace(/^\./, '');
}

/**
 * As Envoy's JSON reader says where it stands, and at what: ` @ path: what`; nothing at the root. A
 * message in an Any, one of `anys`, is a step of its own to it.
 */
export function describePlace(
  place: Place | undefined,
  anys: WeakSet<Place>,
  what: string | undefined,
): string {
  if (place === undefined) return '';
  let path = '';
  for (let step: Place | undefined = place; step !== undefined; step = step.parent) {
    const name = typeof step.key === 'number' ? `[${step.key}]` : `.${step.key}`;
    path = `${name}${anys.has(step) ? '.<any>' : ''}${path}`;
  }
  return ` @ ${path.replace(/^\./, '')}${what === undefined ? '' : `: ${what}`}`;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly place: Place | undefined;
  readonly message: string;
  /**
   * A short name of the rule that was broken, such as `unknown_field` or `validate.string.min_len`.
   */
  readonly rule: string;
  /** What to write instead, such as `did you mean port_value?`. */
  readonly suggestion?: string;
  /** Envoy's words for this mistake, where tools match on them; printed first. */
  readonly reference?: string;
  /** Where it stands, when that is known already; otherwise found from the place. */
  readonly position?: SourcePosition;
}

/** Lines and columns count from 1. */
export interface SourcePosition {
  /** A file's path as it was given, or an option such as `--config-yaml`. */
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

export interface ProblemSink {
  report(problem: Problem): void;
}
